"""The TOML file of a study's table, which the table itself does not hold: found beside it, and told by its points."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.config.network import build_network
from scenarios.config.study import StudyText, find_study, parse_study, study_presets
from scenarios.pages.assumptions import assumptions
from scenarios.runfile.paths import PARTIAL
from scenarios.runfile.reader import read_run
from scenarios.runfile.study_rows import POINT
from scenarios.studies.study import study_points
from scenarios.studies.study_points import Point
from topologies import InputError, MachineError

if TYPE_CHECKING:
    import pandas

_MOST_FILES, _MOST_BYTES = 50, 2**20
_MOST_NETWORKS = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class StudySource:
    """The study of a table.

    Attributes
    ----------
    name : str
        Of its file, or of the package's own study.
    text : str
        TOML.
    run_scenario : str
        TOML of the run that its points replay; empty where they replay none.
    assumed : tuple of str
        What its networks and workloads assume, of the first of its points.
    """

    name: str
    text: str
    run_scenario: str
    assumed: tuple[str, ...]


def study_source(path: Path, table: "pandas.DataFrame") -> StudySource | None:
    """The study whose points are those of a table.

    Parameters
    ----------
    path : Path
        The table. Studies of its folder are looked at, that of its own name first, and the package's of that name.
    table : DataFrame

    Returns
    -------
    StudySource or None
        None where no study has all points of the table: a point's name is a hash of all its inputs, its files and the
        version of silosim.
    """
    wanted = set(table[POINT].dropna())
    for found in _candidates(path):
        with suppress(InputError, MachineError):
            study = parse_study(found.text, source=found.source, folder=found.folder)
            points = study_points(study) if study.config.size >= len(wanted) else []
            if wanted and wanted <= {each.identity for each in points}:
                return StudySource(
                    name=Path(found.source).name,
                    text=found.text,
                    run_scenario="" if study.run is None else read_run(study.run).scenario,
                    assumed=_assumed(points),
                )
    return None


def _candidates(path: Path) -> Iterator[StudyText]:
    """Texts of studies that may be that of the table."""
    stem = Path(path.name.removesuffix(PARTIAL)).stem
    files = [
        file for file in path.parent.glob("*.toml") if file.is_file() and file.stat().st_size <= _MOST_BYTES
    ]
    for file in sorted(files, key=lambda file: (file.stem != stem, file.name))[:_MOST_FILES]:
        with suppress(InputError):
            yield find_study(file)
    if stem in study_presets():
        yield find_study(Path(stem))


def _assumed(points: Sequence[Point]) -> tuple[str, ...]:
    """What the networks and workloads of the first networks assume."""
    sentences: dict[str, None] = {}
    scenarios = {repr(point.scenario.network): point.scenario for point in points}
    for scenario in [*scenarios.values()][:_MOST_NETWORKS]:
        graph = build_network(scenario.network)
        sentences |= dict.fromkeys(assumptions(graph, scenario.network, scenario.workload.preset))
    return tuple(sentences)
