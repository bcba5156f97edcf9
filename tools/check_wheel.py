"""A wheel holds the files of the packages as git has them, no others, and metadata.

    python tools/check_wheel.py dist/silosim-0.1.0-py3-none-any.whl

Run in the top folder of the repository.
"""

import subprocess
import sys
import zipfile
from pathlib import Path

PACKAGES = ("topologies", "simulator", "training", "scenarios", "silosim")


def differences(wheel: Path, root: Path) -> list[str]:
    """What a wheel lacks, has too many, or has with other bytes, one line each."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", *PACKAGES], cwd=root, check=True, capture_output=True, text=True
    )
    tracked = {name: (root / name).read_bytes() for name in listed.stdout.split("\0") if name}
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.partition("/")[0].endswith(".dist-info")]
        held = {name: archive.read(name) for name in names}
    return [
        *(f"{name} is missing" for name in sorted(tracked.keys() - held.keys())),
        *(f"{name} is not in git" for name in sorted(held.keys() - tracked.keys())),
        *(f"{name} differs" for name in sorted(tracked.keys() & held.keys()) if tracked[name] != held[name]),
    ]


def main() -> None:
    """Compare the wheel that the command line names."""
    wheel = Path(sys.argv[1])
    if found := differences(wheel, Path.cwd()):
        raise SystemExit("\n".join(f"{wheel.name}: {line}" for line in found))


if __name__ == "__main__":
    main()
