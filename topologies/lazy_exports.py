"""Public names of a package, each imported when it is first used (PEP 562)."""

import ast
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any


def lazy_exports(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose ``__init__`` imports for type checkers only.

    Parameters
    ----------
    package : str
        Its ``__name__``; the names that it exports are imported from their modules in ``if TYPE_CHECKING:``.

    Returns
    -------
    getattr : callable
        Imports the module of a name. Other names raise AttributeError.
    dir : callable
        Lists these names and what the package holds already.

    Notes
    -----
    The ``__init__`` is read once, in about a millisecond, so that each name is written down in one place, for type
    checkers and at run time. Scientific Python's SPEC 1 does the same with a stub file.

    A submodule may have the name of an export, as ``topologies.connectivity`` has: the attribute of the package is the
    export, as it would be if the ``__init__`` imported everything at once.
    """
    module = sys.modules[package]
    homes = _homes(Path(str(module.__file__)))

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(module, name, value)
        return value

    class Package(ModuleType):
        """A package in which an export goes before a submodule of the same name."""

        def __setattr__(self, name: str, value: object) -> None:
            # The import system sets a submodule as an attribute of its package once it is loaded.
            is_hidden = isinstance(value, ModuleType) and value.__name__ == homes.get(name)
            super().__setattr__(name, getattr(value, name) if is_hidden else value)

    module.__class__ = Package
    return load, lambda: sorted({*vars(module), *homes})


def _homes(init: Path) -> Mapping[str, str]:
    """Module of each name that is imported for type checkers."""
    tree = ast.parse(init.read_text(encoding="utf-8"))
    return {
        alias.name: statement.module
        for block in tree.body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for statement in block.body
        if isinstance(statement, ast.ImportFrom) and statement.module is not None
        for alias in statement.names
    }
