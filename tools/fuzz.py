"""Gives generated files to every reader: ``make fuzz INPUTS=200000 READERS=gml``. Exit code 1 where one fails."""

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

_TESTS = Path(__file__).resolve().parents[1] / "tests" / "fuzz"
_MORE_BYTES = 1_000_000_000
"""Memory that a reader may take beside what is taken when it begins."""


def main() -> None:
    """Run the readers that are named, else all, and keep each input that fails."""
    sys.path.insert(0, str(_TESTS))
    from fuzzing import fuzzed
    from readers import READERS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("readers", nargs="*", metavar="READER", help=f"of {', '.join(READERS)}")
    parser.add_argument("--inputs", type=int, default=200_000, help="of each reader")
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--keep", type=Path, default=Path("out/fuzz"), help="folder for inputs that fail")
    wanted = parser.parse_args()
    failed = False
    for name in wanted.readers or READERS:
        began_s = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            # The first inputs import and compile, which takes address space of its own.
            fuzzed(name, READERS[name], range(wanted.first, wanted.first + 20), Path(folder))
            _limit_memory()
            numbers = range(wanted.first, wanted.first + wanted.inputs)
            outcome = fuzzed(name, READERS[name], numbers, Path(folder))
        print(f"{name:<13} {outcome}, {time.monotonic() - began_s:.0f} s", flush=True)
        for number, (place, data) in enumerate(outcome.findings.items()):
            failed = True
            wanted.keep.mkdir(parents=True, exist_ok=True)
            kept = wanted.keep / f"{name}-{number}-{READERS[name].file}"
            kept.write_bytes(data)
            print(f"    {place}: {kept}", flush=True)
    sys.exit(failed)


def _limit_memory() -> None:
    """Let this process take a gigabyte more than it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    taken = pages * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (taken + _MORE_BYTES, hard))


if __name__ == "__main__":
    main()
