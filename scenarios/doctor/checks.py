"""What is checked. Each function is called in a process of its own, and imports what it needs itself."""

import ctypes.util
import importlib
import importlib.util
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scenarios.doctor.finding import Finding, Status, one_line
from scenarios.doctor.version_ranges import Requirement, is_in, normalized, parse_requirements

if TYPE_CHECKING:
    from training import LauncherTrial

PROGRAM = "silosim"
OWN_PACKAGES = ("topologies", "simulator", "training", "scenarios", "silosim")
_OWN_CHECK = ("h5py", "llvmlite", "mpi4py", "mpich", "numba", "torch")
NOT_FOR_USERS = ("docs", "release", "test")
"""Extras that developers install."""
LITTLE_SPACE_BYTES, NO_SPACE_BYTES = 10**9, 10**7
"""Free space below which a disk gets a warning or an error: a run of 40 silos has some 10 MB to 1 GB."""
RANKS, RANKS_LIMIT_S = 2, 7.0
_REINSTALL = "python -m pip install --force-reinstall"
_MPI_REMEDY = f"{_REINSTALL} mpich mpi4py; until then train with ranks = 1"
_CLASSIFIER = "Programming Language :: Python :: "
_PYTHON = (sys.version_info.major, sys.version_info.minor)


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One part of the machine.

    Parameters
    ----------
    run : callable
        Gets the name of a folder that does not exist, which it may make in the current folder and whoever called it
        removes; yields what was found.
    remedy : str
        What to do if the check itself fails.
    """

    run: Callable[[Path], Iterator[Finding]]
    remedy: str


def python(_scratch: Path) -> Iterator[Finding]:
    """Version of Python, and whether one copy of silosim is imported."""
    asked = metadata.metadata(PROGRAM).json
    ranges = str(asked.get("requires_python", ""))
    tested = [
        text.removeprefix(_CLASSIFIER) for text in asked.get("classifier", ()) if text.startswith(_CLASSIFIER)
    ]
    version = platform.python_version()
    status: Status = "ok"
    text, action = f"Python {version} ({ranges or 'any'}): {sys.executable}", ""
    if not is_in(version, ranges):
        status, action = "error", f"make an environment with Python {', '.join(tested) or ranges}"
    elif tested and ".".join(map(str, _PYTHON)) not in tested:
        status = "warning"
        action = f"if something fails, use one of the tested versions, {' or '.join(tested)}"
    details = {"version": version, "range": ranges, "tested": tested, "executable": sys.executable}
    yield Finding(check="python", status=status, text=text, action=action, details=details)
    yield _own_packages()


def _own_packages() -> Finding:
    """Where silosim's packages are imported from: others on PyPI have two of the names."""
    places: dict[str, str | None] = {}
    for name in OWN_PACKAGES:
        spec = importlib.util.find_spec(name)
        origin = None if spec is None else spec.origin
        places[name] = None if origin is None else str(Path(origin).parents[1])
    version = metadata.version(PROGRAM)
    folders = list(dict.fromkeys(places.values()))
    if len(folders) == 1 and folders[0] is not None:
        text, status, action = f"silosim {version} in {folders[0]}", "ok", ""
    else:
        shown = "; ".join(f"{name}: {place or 'missing'}" for name, place in places.items())
        text, status = f"silosim {version} is imported from several places: {shown}", "error"
        action = "install silosim in an environment of its own: packages of others have these names, too"
    return Finding(
        check="silosim",
        status="ok" if status == "ok" else "error",
        text=text,
        action=action,
        details={"version": version, "folders": places},
    )


def packages(_scratch: Path) -> Iterator[Finding]:
    """Packages that silosim needs: installed, and in their ranges."""
    needed = [each for each in _requirements() if not each.extra]
    installed = {each.name: _version(each.name) for each in needed}
    good = [each for each in needed if (own := installed[each.name]) is not None and is_in(own, each.ranges)]
    for each in needed:
        if each not in good:
            yield _missing(each, installed[each.name], "error")
    yield Finding(
        check="packages",
        status="ok",
        text=f"{len(good)} of {len(needed)} packages are installed in their ranges: "
        f"{', '.join(f'{each.name} {installed[each.name]}' for each in good)}",
        details={
            each.name: {"version": installed[each.name], "range": each.ranges, "is_in_range": each in good}
            for each in needed
        },
    )


def imports(_scratch: Path) -> Iterator[Finding]:
    """Packages that have no check of their own can be imported: their parts fit to each other and to the machine."""
    modules = {
        module: [normalized(owner) for owner in owners]
        for module, owners in metadata.packages_distributions().items()
        if not module.startswith("_")
    }
    needed = [each.name for each in _requirements() if not each.extra and each.name not in _OWN_CHECK]
    good = []
    for name in needed:
        found = [module for module, owners in modules.items() if normalized(name) in owners]
        try:
            for module in sorted(found):
                importlib.import_module(module)
        # Broken packages raise anything.
        except Exception as error:
            yield Finding(
                check="imports",
                status="error",
                text=f"{name} cannot be imported: {one_line(error)}",
                action=f"{_REINSTALL} {name}",
                details={"name": name},
            )
        else:
            good.append(name)
    text = f"{len(good)} of {len(needed)} packages without a check of their own can be imported"
    yield Finding(check="imports", status="ok", text=text, details={"imported": good})


def _missing(requirement: Requirement, version: str | None, status: Status) -> Finding:
    """A package that is not there, or in another version."""
    found = "is not installed" if version is None else f"{version} is installed"
    return Finding(
        check="packages",
        status=status,
        text=f"{requirement.name} {found}, must be {requirement.ranges or 'there'}",
        action=f"python -m pip install {requirement.asked}",
        details={"name": requirement.name, "version": version, "range": requirement.ranges},
    )


def extras(_scratch: Path) -> Iterator[Finding]:
    """Optional packages, and SimGrid, which only tests compare with."""
    shown, details = [], {}
    for each in _requirements():
        if each.extra and each.extra not in NOT_FOR_USERS:
            version = _version(each.name)
            details[each.name] = {"version": version, "range": each.ranges, "extra": each.extra}
            if version is not None and not is_in(version, each.ranges):
                yield _missing(each, version, "warning")
            elif version is None:
                shown.append(f"{each.name} is not there (python -m pip install '{PROGRAM}[{each.extra}]')")
            else:
                shown.append(f"{each.name} {version}")
    yield Finding(check="extras", status="ok", text=f"optional: {', '.join(shown)}", details=details)
    library = ctypes.util.find_library("simgrid")
    text = f"SimGrid: {library or 'not there'}; only silosim's own tests compare with it"
    yield Finding(check="simgrid", status="ok", text=text, details={"library": library})


def parts(_scratch: Path) -> Iterator[Finding]:
    """Parts that other packages register: they can be imported, and these are the options that they declare."""
    every = metadata.entry_points()
    groups = [group for group in every.groups if group.startswith(f"{PROGRAM}.")]
    found = {entry for group in groups for entry in every.select(group=group)}
    if not found:
        yield Finding(check="parts", status="ok", text="no parts of other packages")
        return
    # Not needed without parts, and it fails where numpy is broken.
    from topologies.entry_points import load_entry, named
    from topologies.errors import InputError, MachineError
    from training.backend import GROUP, TrainingBackend
    from training.choices import OPTION_SETTINGS
    from training.declared_options import declared_options

    for entry in sorted(found, key=lambda each: (each.group, each.name, each.value)):
        what = entry.group.removeprefix(f"{PROGRAM}.").removesuffix("s").replace("_", " ")
        details: dict[str, Any] = {"group": entry.group, "name": entry.name, "place": entry.value}
        try:
            part, setting = load_entry(entry, what), OPTION_SETTINGS.get(entry.group)
            if entry.group == GROUP and not (isinstance(part, type) and isinstance(part, TrainingBackend)):
                raise InputError("must be a class with check and train.")
            declared = declared_options(part, field=setting) if setting and isinstance(part, type) else {}
        except (InputError, MachineError) as error:
            yield Finding(
                check="parts",
                status="warning",
                text=str(error) if isinstance(error, MachineError) else f"{named(entry, what)}: {error}",
                action=f"{_REINSTALL} {entry.dist.name if entry.dist else 'its package'}, or remove it",
                details=details,
            )
            continue
        shown = f": {setting} {'; '.join(map(str, declared.values()))}" if declared else ""
        options = {name: {"help": each.help, "values": each.values} for name, each in declared.items()}
        text = f"{what} {entry.name} ({entry.value}){shown}"
        yield Finding(check="parts", status="ok", text=text, details=details | {"options": options})


def mpi(_scratch: Path) -> Iterator[Finding]:
    """Two ranks, started as a training starts them, must count each other; the launcher on PATH is tried, too."""
    # Here since each check imports what it needs itself.
    from topologies import MachineError
    from training import mpiexec_path, try_launcher, world

    place = world()
    if place is not None and place.size > 1:
        text = f"this program is process {place.rank} of {place.size}, and MPI sees as many"
        yield Finding(check="mpi", status="ok", text=text, details={"size": place.size})
    beside, found = Path(sys.executable).parent / "mpiexec", shutil.which("mpiexec")
    is_own = found is not None and beside.is_file() and os.path.samefile(found, beside)
    other = None if found is None or is_own else Path(found)
    try:
        own = mpiexec_path()
    except MachineError as error:
        own, missing = None, str(error)
    # Side by side: one that hangs must not take the other one's time.
    with ThreadPoolExecutor(2) as threads:
        trials = [
            None if path is None else threads.submit(try_launcher, path, ranks=RANKS, limit_s=RANKS_LIMIT_S)
            for path in (own, other)
        ]
    if own is None or trials[0] is None:
        text = f"there is no mpiexec beside Python: {missing}"
        yield Finding(check="mpi", status="error", text=text, action=_MPI_REMEDY)
    else:
        yield _launcher(own, trials[0].result(), "error", _MPI_REMEDY)
    if other is not None and trials[1] is not None:
        action = f"to start silosim under mpiexec yourself, write {beside} (silosim alone needs nothing)"
        yield _launcher(other, trials[1].result(), "warning", action)


def _launcher(path: Path, trial: "LauncherTrial", status: Status, action: str) -> Finding:
    """What the ranks of a launcher said; the one on PATH is what a user gets by ``mpiexec -n 4 silosim run``."""
    details = {"launcher": str(path), "sizes": list(trial.sizes), "library": trial.library}
    where = f"{path}, first on PATH" if status == "warning" else str(path)
    if not trial.failure:
        text = f"{RANKS} ranks count each other under {where}: {trial.library}"
        return Finding(check="mpi", status="ok", text=text, details=details)
    alone = "; each process would train a run of its own" if 1 in trial.sizes else ""
    text = f"{where}: {trial.failure}{alone}"
    return Finding(check="mpi", status=status, text=text, action=action, details=details)


def torch(_scratch: Path) -> Iterator[Finding]:
    """PyTorch multiplies a matrix on the processor and on each GPU."""
    import torch

    version, threads = str(torch.__version__), torch.get_num_threads()
    _multiply("cpu")
    gpus = [torch.cuda.get_device_name(place) for place in range(torch.cuda.device_count())]
    details: dict[str, Any] = {"version": version, "threads": threads, "gpus": gpus}
    shown = ", ".join(gpus) if gpus else "no GPU"
    text = f"torch {version}, threads: {threads}, {shown}"
    yield Finding(check="torch", status="ok", text=text, details=details)
    for place, name in enumerate(gpus):
        try:
            _multiply(f"cuda:{place}")
        except Exception as error:
            yield Finding(
                check="torch",
                status="warning",
                text=f"GPU {place} ({name}) cannot multiply: {one_line(error)}",
                action='train with device = "cpu", or install the torch that fits the driver: pytorch.org',
                details={"gpu": place, "name": name},
            )


def _multiply(device: str) -> None:
    """Raise an error unless a product of small integers is exact."""
    import torch

    # Integers below 2^11 are exact in all precisions that a GPU may multiply single precision in.
    one = torch.arange(16, dtype=torch.float32, device=device).reshape(4, 4)
    product = (one @ one.T).cpu().tolist()
    expected = [[sum((4 * i + k) * (4 * j + k) for k in range(4)) for j in range(4)] for i in range(4)]
    if product != expected:
        raise ArithmeticError(f"the product of two matrices is wrong on {device}")


def hdf5(scratch: Path) -> Iterator[Finding]:
    """Write the file of a run in the current folder as a run does, with locks and a rename, and read it back."""
    import h5py
    import numpy as np

    from scenarios.runfile.atomic import new_file

    version = f"h5py {h5py.version.version}, HDF5 {h5py.version.hdf5_version}"
    try:
        scratch.mkdir()
    except OSError as error:
        yield Finding(
            check="hdf5",
            status="warning",
            text=f"{scratch.parent} cannot be written: {error.strerror} ({version})",
            action="go to another folder, or name files in one with -o",
        )
        return
    path = scratch / "run.h5"
    values = np.arange(1000.0)
    with new_file(path, size_bytes=100_000) as file:
        file.create_dataset("values", data=values, compression="gzip")
    with h5py.File(path) as file:
        same = np.array_equal(file["values"][:], values)
    if not same:
        raise OSError(f"what was written in {scratch.parent} is read back as something else")
    details = {"h5py": h5py.version.version, "hdf5": h5py.version.hdf5_version, "folder": str(scratch.parent)}
    text = f"{version}: a file in {scratch.parent} is written and read back"
    yield Finding(check="hdf5", status="ok", text=text, details=details)


def disk(scratch: Path) -> Iterator[Finding]:
    """Free space where results and temporary files go."""
    places = {"current folder": scratch.parent, "temporary files": Path(tempfile.gettempdir())}
    yield from (_space("disk", what, folder) for what, folder in places.items())


def _space(check: str, what: str, folder: Path) -> Finding:
    """Free space of the disk of a folder."""
    free = shutil.disk_usage(folder).free
    status: Status = "ok"
    if free < LITTLE_SPACE_BYTES:
        status = "error" if free < NO_SPACE_BYTES else "warning"
    return Finding(
        check=check,
        status=status,
        text=f"{free / 1e9:.3g} GB are free for {what}: {folder}",
        action="" if status == "ok" else "make room, or use a folder on another disk",
        details={"folder": str(folder), "free_bytes": free},
    )


def cache(_scratch: Path) -> Iterator[Finding]:
    """Where compiled code is kept, and whether there is some."""
    import numba
    from numba.core import config

    from topologies.jit import cache_folders

    settings: Any = config
    packages = [
        folder
        for name in OWN_PACKAGES
        for folder in _package_folder(name).rglob("compiled")
        if _has_code(folder)
    ]
    # No folder is made: this only looks.
    chosen = [_first_writable(cache_folders(folder, settings.CACHE_DIR)) for folder in sorted(packages)]
    kept = [folder for folder in chosen if folder is not None]
    compiled = sum(any(folder.rglob("*.nbi")) for folder in kept)
    details = {
        "numba": numba.__version__,
        "folders": [str(folder) for folder in kept],
        "parts": len(packages),
        "compiled_parts": compiled,
    }
    if len(kept) < len(packages):
        yield Finding(
            check="cache",
            status="warning",
            text="compiled code cannot be kept, so each start of a simulation compiles for about 10 s: "
            "neither silosim's folders nor the user's cache can be written",
            action="set NUMBA_CACHE_DIR to a folder that can be written",
            details=details,
        )
        return
    where = os.path.commonpath([str(folder) for folder in kept])
    said = (
        "all is compiled"
        if compiled == len(packages)
        else f"{compiled} of {len(packages)} parts are compiled, the others at their first use (about 10 s in all)"
    )
    text = f"numba {numba.__version__} keeps compiled code below {where}, which can be written: {said}"
    yield Finding(check="cache", status="ok", text=text, details=details)
    yield _space("cache", "compiled code", _existing(kept[0]))


def _package_folder(name: str) -> Path:
    """Folder of an import package."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise ImportError(f"{name} is not there")
    return Path(spec.origin).parent


def _has_code(folder: Path) -> bool:
    """Whether a folder is a package of compiled functions with more than its ``__init__``."""
    return any(file.name != "__init__.py" for file in folder.glob("*.py"))


def _first_writable(folders: list[Path]) -> Path | None:
    """The first folder that can be written, or that could be made."""
    return next((folder for folder in folders if _is_writable(_existing(folder))), None)


def _existing(folder: Path) -> Path:
    """The folder itself or the nearest one above that is there."""
    return next(each for each in (folder, *folder.parents) if each.exists())


def _is_writable(folder: Path) -> bool:
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def _requirements() -> list[Requirement]:
    """What silosim needs, as its metadata state it."""
    return parse_requirements(metadata.requires(PROGRAM) or ())


def _version(name: str) -> str | None:
    """Installed version of a package."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


CHECKS: Mapping[str, Check] = {
    "python": Check(run=python, remedy="install silosim: python -m pip install -e . in its folder"),
    "packages": Check(run=packages, remedy="install silosim: python -m pip install -e . in its folder"),
    "imports": Check(run=imports, remedy=f"{_REINSTALL} numpy scipy pandas matplotlib cvxpy"),
    "mpi": Check(run=mpi, remedy=_MPI_REMEDY),
    "torch": Check(run=torch, remedy=f"{_REINSTALL} torch; designs and simulations work without it"),
    "hdf5": Check(run=hdf5, remedy=f"{_REINSTALL} h5py numpy, or go to a folder on another disk"),
    "disk": Check(run=disk, remedy="go to a folder that exists"),
    "cache": Check(run=cache, remedy=f"{_REINSTALL} numba llvmlite numpy"),
    "extras": Check(run=extras, remedy="install silosim: python -m pip install -e . in its folder"),
    "parts": Check(run=parts, remedy="remove packages that register parts of silosim until it ends well"),
}
"""By name, in the order of the report."""
