"""A user's own callables, named in a scenario as ``my_models.py:build`` or ``my_module:build``.

Names are checked without running anything; code runs where a training, a partition or the size of a message needs it.
"""

import importlib
import inspect
import os
import re
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from itertools import takewhile
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from topologies.entry_points import reason
from topologies.errors import Field, InputError, SilosimError, TrainingError
from topologies.regular_files import is_file

_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_ENDING = ".py"
_PACKAGES = tuple(
    str(Path(__file__).parents[1] / package) + os.sep
    for package in ("silosim", "scenarios", "simulator", "training", "topologies")
)


def is_own(name: object) -> bool:
    """Return whether a setting names a callable of the user's: ``module:callable``, not a registered part."""
    return isinstance(name, str) and ":" in name


def split_name(name: str) -> tuple[str, str]:
    """Return module (dotted, or the path of a file) and callable of ``module:callable``.

    Examples
    --------
    >>> split_name("my_models.py:build"), split_name("lab.models:Net")
    (('my_models.py', 'build'), ('lab.models', 'Net'))
    """
    module, _, attribute = name.rpartition(":")
    return module, attribute


def check_name(name: str, *, field: str) -> None:
    """Raise InputError unless a text is ``module:callable`` or ``file.py:callable``; looks for neither."""
    module, attribute = split_name(name)
    is_file = module.endswith(_ENDING) and module != _ENDING
    if not (is_file or _NAME.fullmatch(module)) or not _NAME.fullmatch(attribute):
        raise InputError(
            "must be file.py:callable or module:callable to name code of your own.",
            field=Field(field, value=name),
        )


def own_files(name: str) -> tuple[str, ...]:
    """Return the paths, from a folder, of the files in which the module of ``module:callable`` may be; or none."""
    if not is_own(name):
        return ()
    module, _attribute = split_name(name)
    if module.endswith(_ENDING):
        return (module,)
    path = module.replace(".", "/")
    return (f"{path}{_ENDING}", f"{path}/__init__{_ENDING}")


def load_own(name: str, *, field: str) -> Any:
    """Return what ``module:callable`` names, after its module has run.

    Parameters
    ----------
    name : str
        A path is taken from the working directory, and so is the file of a dotted module, where there is one;
        otherwise the module is imported as any other.
    field : str
        The setting that holds the name, for messages.

    Returns
    -------
    object
        The same in every call while the file has the same content.

    Raises
    ------
    InputError
        If there is no such file or module, or no such name in it.
    TrainingError
        If the module fails, with the user's traceback.
    """
    check_name(name, field=field)
    place, attribute = split_name(name)
    found: Any = _module(name, field)
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise InputError(f"has no {attribute}, which {field}(={name!r}) names.", source=_shown(place))
        found = getattr(found, part)
    return found


def load_callable(name: str, *, field: str) -> Any:
    """Return the callable that ``module:callable`` names; as `load_own`, and an InputError where it is none."""
    found = load_own(name, field=field)
    if not callable(found):
        raise refused(field, name, f"must be a callable, not {type(found).__name__}")
    return found


def call_own(name: str, *, field: str, offered: Mapping[str, object]) -> Any:
    """Call a user's callable with those of some arguments that it takes.

    Parameters
    ----------
    name : str
        ``module:callable``.
    field : str
        The setting that holds the name, for messages.
    offered : mapping from str to object
        The callable gets, by name, what it has parameters for. If it has none of these names but as many parameters
        without a default as there are arguments, it gets them in order.

    Raises
    ------
    InputError
        If there is no such callable, or it needs other arguments.
    """
    function = load_callable(name, field=field)
    parameters = _parameters(function)
    given = {each: value for each, value in offered.items() if each in parameters}
    required = [each for each in parameters.values() if each.default is each.empty]
    if not given and len(required) == len(offered):
        return function(*offered.values())
    if not given and required:
        names = " and ".join(offered)
        raise refused(
            field, name, f"must take {names}, by these names or as its only {len(offered)} arguments"
        )
    return call_with(name, field=field, given=given)


def call_with(name: str, *, field: str, given: Mapping[str, object]) -> Any:
    """Call a user's callable with arguments by name; InputError as `call_own`, also where it does not take them all."""
    function = load_callable(name, field=field)
    check_takes(function, name, field=field, given=given)
    return function(**given)


def check_takes(
    function: Any, name: str, *, field: str, given: Mapping[str, object], in_order: bool = False
) -> None:
    """Raise InputError unless a user's callable takes some arguments.

    Parameters
    ----------
    function : callable
        What `name` names.
    name, field
        As in `call_own`.
    given : mapping from str to object
        The arguments.
    in_order : bool
        Whether they are passed by their order, not by their names.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return  # of a callable in C
    try:
        signature.bind(*given.values()) if in_order else signature.bind(**given)
    except TypeError as error:
        what = f"with {', '.join(given)}" if given else "without arguments"
        raise refused(field, name, f"must be called {what}: {error}") from None


def _parameters(function: Any) -> dict[str, inspect.Parameter]:
    """Parameters of a callable that take one argument each."""
    with suppress(TypeError, ValueError):
        many = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        found = inspect.signature(function).parameters
        return {name: each for name, each in found.items() if each.kind not in many}
    return {}


def file_of(name: str) -> str:
    """Return the user's file (or module, if it is an installed one) of ``module:callable``, for messages."""
    for path in own_files(name):
        if is_file(Path(path)):
            return path
    return split_name(name)[0]


def refused(field: str, name: str, rule: str) -> InputError:
    """Return the error of a user's part that breaks a rule, in front of it the user's file."""
    shown = rule if rule.endswith(".") else f"{rule}."
    return InputError(shown, field=Field(field, value=name), source=file_of(name) if is_own(name) else None)


def code_identity(name: str) -> str:
    """Return file name, callable and a digest of the file's content, wherever the file lies; no code runs.

    Notes
    -----
    Of an installed module there is the name only, and modules that the file imports do not count.
    """
    path = Path(file_of(name))
    return f"{split_name(name)[1]} of {file_identity(path)}" if is_file(path) else name


def file_identity(path: Path) -> str:
    """Return a file's name with a digest of its content."""
    return f"{path.name} ({blake2b(path.read_bytes(), digest_size=6).hexdigest()})"


@contextmanager
def own_code(**names: str) -> Iterator[None]:
    """Within it, an exception out of a user's code, or its exit, is a TrainingError with the user's own traceback.

    Parameters
    ----------
    **names : str
        Settings by field; those that name code of the user's count.

    Raises
    ------
    TrainingError
        Its first line is the traceback's last: the exception, with file and line. The traceback begins in the user's
        code. Errors of silosim pass, and so do exceptions that met no file of the user's.
    """
    try:
        yield
    except SilosimError:
        raise
    except (Exception, SystemExit) as error:
        folders = [_folder(name) for name in names.values() if is_own(name)]
        frame = _first_frame(error.__traceback__, [folder for folder in folders if folder])
        if frame is None:
            raise
        raise failed(error, frame) from None


def failed(error: BaseException, start: TracebackType | None) -> TrainingError:
    """Return the error of a user's code: the exception and its place in the first line, then the traceback.

    Parameters
    ----------
    start : traceback
        Where the user's code begins in the exception's traceback.
    """
    frames = traceback.extract_tb(start)
    where = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    text = "".join(traceback.format_exception(type(error), error, start)).rstrip()
    return TrainingError(f"{reason(error)}{where}\n{text}")


def _folder(name: str) -> str:
    """Folder of the user's file, or of an installed package; empty where nothing is known of it."""
    path = Path(file_of(name))
    if is_file(path):
        return str(path.absolute().parent)
    module = sys.modules.get(split_name(name)[0].partition(".")[0])
    file = getattr(module, "__file__", None)
    return str(Path(file).parent) if file else ""


def _first_frame(frame: TracebackType | None, folders: Sequence[str]) -> TracebackType | None:
    """The part of a traceback that begins with code in one of the folders; None where it meets none."""
    while frame is not None:
        file = frame.tb_frame.f_code.co_filename
        others = file.startswith(_PACKAGES) or (
            f"{os.sep}site-packages{os.sep}" in file and not _installed(folders)
        )
        if not others and any(file.startswith(folder + os.sep) for folder in folders):
            return frame
        frame = frame.tb_next
    return None


def _installed(folders: Sequence[str]) -> bool:
    """Whether one of the folders is that of an installed package."""
    return any(f"{os.sep}site-packages" in folder for folder in folders)


def _module(name: str, field: str) -> ModuleType:
    """The module of ``module:callable``, run once for each content of its file."""
    module = split_name(name)[0]
    path = next((Path(path) for path in own_files(name) if is_file(Path(path))), None)
    try:
        if path is not None:
            return _file_module(path.absolute())
        if not module.endswith(_ENDING):
            return importlib.import_module(module)
    except SilosimError:
        raise
    except ModuleNotFoundError as error:
        if error.name is None or not (module == error.name or module.startswith(f"{error.name}.")):
            raise failed(error, _in_module(error)) from None
    except (Exception, SystemExit) as error:
        # A user's module may raise anything; a SyntaxError names its place itself.
        raise failed(error, _in_module(error)) from None
    what = "file" if module.endswith(_ENDING) else "module, nor a file of that name,"
    raise InputError(
        f"there is no such {what} beside the scenario or in the working directory.",
        field=Field(field, value=name),
    )


def _file_module(path: Path) -> ModuleType:
    """Run a file as a module, with its folder (of a package: the outermost one's) on the path for what it imports."""
    packages = list(takewhile(lambda folder: (folder / "__init__.py").is_file(), path.parents))
    root = str(path.parents[len(packages)])
    if root not in sys.path:
        sys.path.append(root)  # last, so that no file of the user's hides an installed module
    if packages:
        names = [folder.name for folder in reversed(packages)]
        return importlib.import_module(".".join([*names, *([] if path.stem == "__init__" else [path.stem])]))
    content = path.read_bytes()
    known = f"_own_{path.stem}_{blake2b(str(path).encode() + content, digest_size=8).hexdigest()}"
    if known in sys.modules:
        return sys.modules[known]
    made = ModuleType(known)
    made.__file__ = str(path)
    sys.modules[known] = made  # dataclasses look their module up
    try:
        exec(compile(content, str(path), "exec"), made.__dict__)
    except BaseException:
        del sys.modules[known]
        raise
    return made


def _in_module(error: BaseException) -> TracebackType | None:
    """The traceback of a module that failed while it ran, without silosim's and Python's own frames before it."""
    frame, skipped = error.__traceback__, (__file__, "<frozen", importlib.__file__)
    while frame is not None and frame.tb_frame.f_code.co_filename.startswith(skipped):
        frame = frame.tb_next
    return frame


def _shown(place: str) -> str:
    """A file by its path, a module by its name."""
    return place if place.endswith(_ENDING) else f"module {place}"
