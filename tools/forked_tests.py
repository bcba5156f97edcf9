"""Run the tests that a change may break in a forked process, where the changed function has the changed code.

All tests are collected once. Each change then costs a fork and the tests that run its lines, not a new interpreter, its
imports and a collection.
"""

import gc
import importlib
import os
import pkgutil
import resource
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType

import pytest

MEMORY_BYTES = 8 * 2**30
"""A changed loop may ask for all memory."""


@dataclass(frozen=True)
class Change:
    """A file's text in which only the code of one function differs.

    Attributes
    ----------
    function
        Qualified name and first line, decorators included.
    tests
        Node ids, the most likely to fail first.
    """

    path: Path
    text: str
    function: tuple[str, int]
    tests: tuple[str, ...]


def codes(code: CodeType) -> Iterator[CodeType]:
    """A code object and all that are defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def import_all(packages: Iterable[str]) -> None:
    """Import every module, so that each function is there to be changed."""
    for package in map(importlib.import_module, packages):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                importlib.import_module(found.name)


def living_functions() -> dict[tuple[str, str, int], list[FunctionType]]:
    """All functions by file, qualified name and first line."""
    found: dict[tuple[str, str, int], list[FunctionType]] = {}
    for function in gc.get_objects():
        if type(function) is FunctionType:  # not isinstance, which asks lazy objects for their class
            code = function.__code__
            key = (code.co_filename, code.co_qualname, code.co_firstlineno)
            found.setdefault(key, []).append(function)
    return found


class ForkedTests:
    """A plugin of pytest that runs, in place of its loop, the tests of each change in a process of its own.

    Parameters
    ----------
    changes
        Each with its number.
    report
        Called with the number and the verdict of each as it ends.
    """

    def __init__(
        self,
        changes: Sequence[tuple[int, Change]],
        report: Callable[[int, str], None],
        packages: Sequence[str],
        processes: int,
        limit_s: float,
    ) -> None:
        self.changes, self.report, self.packages = changes, report, packages
        self.processes, self.limit_s = processes, limit_s

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Keep so many processes at work."""
        import_all(self.packages)
        # The collector does not say which objects are frozen.
        gc.unfreeze()
        functions = living_functions()
        items = {item.nodeid: item for item in session.items}
        waiting, running = list(reversed(self.changes)), {}
        while waiting or running:
            while waiting and len(running) < self.processes:
                number, change = waiting.pop()
                folder = tempfile.mkdtemp(prefix="mutant-")
                # Unchanged objects stay in the pages of the parent.
                gc.freeze()
                process = os.fork()
                if not process:
                    os.environ["PYTEST_DEBUG_TEMPROOT"] = folder
                    self._run(session, functions, items, change)
                running[process] = (number, folder, time.monotonic())
            process, status = os.waitpid(-1, os.WNOHANG)
            if process:
                number, folder, _ = running.pop(process)
                shutil.rmtree(folder, ignore_errors=True)
                code = os.waitstatus_to_exitcode(status)
                self.report(
                    number, {0: "survived", 3: "unchanged", -signal.SIGKILL: "too long"}.get(code, "killed")
                )
                continue
            for process, (_, _, started) in running.items():
                if time.monotonic() - started > self.limit_s:
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.01)
        return True

    def _run(
        self,
        session: pytest.Session,
        functions: dict[tuple[str, str, int], list[FunctionType]],
        items: dict[str, pytest.Item],
        change: Change,
    ) -> None:
        """Change the function and run its tests until one fails; never returns."""
        code = 2
        try:
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nothing, stream)
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
            new = compile(change.text, str(change.path), "exec", dont_inherit=True)
            changed = next(
                (one for one in codes(new) if (one.co_qualname, one.co_firstlineno) == change.function), None
            )
            found = functions.get((str(change.path), *change.function), [])
            if changed is None or not found:
                os._exit(3)
            for function in found:
                function.__code__ = changed
            chosen = [items[test] for test in change.tests if test in items]
            session.testsfailed = 0
            code = 0
            for item, following in zip(chosen, [*chosen[1:], None], strict=True):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if session.testsfailed:
                    code = 1
                    break
        finally:
            os._exit(code)
