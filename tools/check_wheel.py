"""A wheel holds the files of the packages as the last commit has them, no others, and metadata.

    python tools/check_wheel.py dist/silosim-0.1.0-py3-none-any.whl

Run in the top folder of the repository.
"""

import io
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

PACKAGES = ("topologies", "simulator", "training", "scenarios", "silosim")


def differences(wheel: Path, root: Path) -> list[str]:
    """What a wheel lacks, has too many, or has with other bytes, one line each."""
    committed = subprocess.run(
        ["git", "archive", "--format=tar", "HEAD", *PACKAGES], cwd=root, check=True, capture_output=True
    )
    with tarfile.open(fileobj=io.BytesIO(committed.stdout)) as archive:
        files = {member.name: archive.extractfile(member) for member in archive if member.isfile()}
        tracked = {name: file.read() for name, file in files.items() if file is not None}
    with zipfile.ZipFile(wheel) as packed:
        names = [name for name in packed.namelist() if not name.partition("/")[0].endswith(".dist-info")]
        held = {name: packed.read(name) for name in names}
    return [
        *(f"{name} is missing" for name in sorted(tracked.keys() - held.keys())),
        *(f"{name} is not in the last commit" for name in sorted(held.keys() - tracked.keys())),
        *(f"{name} differs" for name in sorted(tracked.keys() & held.keys()) if tracked[name] != held[name]),
    ]


def main() -> None:
    """Compare the wheel that the command line names."""
    wheel = Path(sys.argv[1])
    if found := differences(wheel, Path.cwd()):
        raise SystemExit("\n".join(f"{wheel.name}: {line}" for line in found))


if __name__ == "__main__":
    main()
