"""Makes the helpers beside the tests importable, and those beside the tests of topologies."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "topologies"))
