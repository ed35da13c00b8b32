"""Portico: can a navigation policy get from a room, along the street, into another building, and where does it fail?"""

import os

# Threads that wait for one another sleep instead of spinning: on a busy machine spinning costs ten times the work itself.
# Read once, when the threads of the kernels start, so it must be set before any of them is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

__version__ = "0.1.0"
