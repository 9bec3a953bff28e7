"""The machine of a run, for its JSON and its page."""

import os
import platform
from pathlib import Path
from typing import Any


def machine() -> dict[str, Any]:
    return {
        "processor": processor(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[1], 1),  # of the last five minutes, this run's own share included
    }


def processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():  # Linux: `platform.processor` is often empty there
        names = [line for line in information.read_text().splitlines() if line.startswith("model name")]
        return names[0].partition(":")[2].strip() if names else platform.machine()
    return platform.processor()
