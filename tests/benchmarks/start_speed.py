"""CPU seconds of starting silosim: ``python tests/benchmarks/start_speed.py``."""

import resource
import statistics
import subprocess
import sys

CASES = {
    "python": [sys.executable, "-c", "pass"],
    "import silosim": [sys.executable, "-c", "import silosim"],
    "silosim --help": [sys.executable, "-c", "from scenarios.cli.main import main; main()", "--help"],
    "silosim design --help": [
        *(sys.executable, "-c", "from scenarios.cli.main import main; main()"),
        *("design", "--help"),
    ],
    "silosim show --help": [
        *(sys.executable, "-c", "from scenarios.cli.main import main; main()"),
        *("show", "--help"),
    ],
}
TARGETS_S = {"import silosim": 0.2, "silosim --help": 0.4}
TIMES = 11


def cpu_s(command: list[str]) -> float:
    """CPU time of a process, in s: its own and that of its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Print the median of each case; 1 where one is over its target."""
    missed = False
    for name, command in CASES.items():
        cpu_s(command)  # compiles what Python keeps
        median_s, target_s = statistics.median(cpu_s(command) for _ in range(TIMES)), TARGETS_S.get(name)
        missed |= target_s is not None and median_s > target_s
        print(f"{name:<22} {median_s:.3f} s" + ("" if target_s is None else f"   target {target_s} s"))
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
