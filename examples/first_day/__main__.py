"""What a scientist does on the first day, each task checked against NumPy, SciPy or plain Python.

``python examples/first_day`` runs all tasks, ``python examples/first_day gradients threads`` some. A task that uses a
library which is not installed says so and is left out.
"""

import sys

import functions  # noqa: F401  each module registers its tasks
import libraries  # noqa: F401
import programs  # noqa: F401
from tasks import run

if __name__ == "__main__":
    run(sys.argv[1:])
