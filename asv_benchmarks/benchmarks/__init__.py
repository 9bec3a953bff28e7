"""What asv runs. The workloads are those of `compare`; asv follows them over the history of the project.

asv imports this folder as a package of its own, so the repository has to be made visible, and the number of
threads be set, before anything else is imported.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from asv_benchmarks.threads import set_environment

set_environment(os.environ, threads=1)
