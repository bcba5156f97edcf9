"""The files of a network that is several tables, and which of them go together."""

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

from topologies.errors import Field, InputError, unknown_key
from topologies.input_limits import MOST_TOML_BYTES
from topologies.networks.csv_table import Table, read_table
from topologies.networks.files import StrPath, files_of, read_file, shown
from topologies.networks.labels import one_line
from topologies.networks.measured_tables import ROUND_TRIP, stated_matrices, stated_pairs
from topologies.networks.site_tables import is_sites, read_sites, stated_sites_and_links
from topologies.networks.stated_network import StatedNetwork
from topologies.plain_text import utf8_text
from topologies.regular_files import is_file, is_folder
from topologies.toml_text import parse_toml

_ENDING = r"\.(csv|tsv)"
_IN_FOLDER = {
    "sites": re.compile(f"(sites|silos|nodes){_ENDING}", re.IGNORECASE),
    "links": re.compile(f"(links|edges){_ENDING}", re.IGNORECASE),
    "pairs": re.compile(f"pairs{_ENDING}", re.IGNORECASE),
    "bandwidth_matrix": re.compile(f"bandwidth.*{_ENDING}", re.IGNORECASE),
    "latency_matrix": re.compile(f"(latency|{ROUND_TRIP}).*{_ENDING}", re.IGNORECASE),
}
"""Names of a folder's files, by what they hold."""
_GENERIC = re.compile(r"(^|[-_. ])(links|edges|pairs)$", re.IGNORECASE)
_GENERIC_MATRIX = re.compile(r"(^|[-_. ])bandwidth.*$", re.IGNORECASE)
"""End of a file's name that says what the file holds, not what the network is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkFiles:
    """CSV files that make one network.

    Parameters
    ----------
    sites : path, optional
        Names, coordinates, access capacities and computing times of the sites: goes with each of the others.
    links : path, optional
        Links between routers at the sites; needs `sites`.
    pairs : path, optional
        A row for each measured pair.
    bandwidth_matrix : path, optional
        Measured bandwidth of all pairs; needs `latency_matrix`, or `sites` with coordinates.
    latency_matrix : path, optional
        Measured latency or round-trip time of all pairs.

    Raises
    ------
    InputError
        If files that do not go together are given, one is missing, or a path is empty.
    """

    sites: StrPath | None = None
    links: StrPath | None = None
    pairs: StrPath | None = None
    bandwidth_matrix: StrPath | None = None
    latency_matrix: StrPath | None = None

    def __post_init__(self) -> None:
        """Check which files are given."""
        for field in _FIELDS:
            if getattr(self, field) == "":
                raise InputError("must be a path.", field=self._field(field))
        ways = [name for name in ("links", "pairs", "bandwidth_matrix") if getattr(self, name) is not None]
        if len(ways) > 1:
            raise InputError(f"goes without {ways[1]}.", field=self._field(ways[0]))
        if self.latency_matrix is not None and "bandwidth_matrix" not in ways:
            raise InputError("goes with bandwidth_matrix.", field=self._field("latency_matrix"))
        if not ways:
            if self.sites is None:
                raise InputError("a network must have links and sites, pairs, or a bandwidth_matrix.")
            raise InputError(
                "needs links, pairs or a bandwidth_matrix beside it.", field=self._field("sites")
            )
        if self.links is not None and self.sites is None:
            raise InputError("needs sites beside it.", field=self._field("links"))
        if self.bandwidth_matrix is not None and self.latency_matrix is None and self.sites is None:
            raise InputError(
                "needs a latency_matrix, or sites with coordinates, beside it.",
                field=self._field("bandwidth_matrix"),
            )

    def _field(self, name: str) -> Field:
        """A file's field, for messages."""
        return Field(name, value=str(getattr(self, name)))

    @property
    def name(self) -> str:
        """Of the network: from the name of a file, without ``_links`` or the like, or of the folder."""
        path = Path(self.links or self.pairs or self.bandwidth_matrix or "")
        generic = _GENERIC if self.bandwidth_matrix is None else _GENERIC_MATRIX
        return generic.sub("", path.stem) or folder_name(path.parent)


def folder_name(folder: StrPath) -> str:
    """Name of a network that is a folder: the folder's own name, also of ``.``, and with all that follows a point."""
    return Path(folder).resolve().name or "network"


def files_in(folder: Path) -> NetworkFiles:
    """The files of a folder that holds one network.

    Raises
    ------
    InputError
        If the folder cannot be read, two files hold the same, or the files do not go together.
    """
    found: dict[str, Path] = {}
    for path in files_of(folder):
        for field, pattern in _IN_FOLDER.items():
            if pattern.fullmatch(path.name):
                if field in found:
                    raise InputError(
                        f"{shown(found[field].name)} and {shown(path.name)} both hold {field}; keep one.",
                        source=shown(folder),
                    )
                found[field] = path
    if not found:
        raise InputError(
            "is a directory; one of a network holds sites.csv and links.csv, pairs.csv, or bandwidth*.csv and "
            "latency*.csv or rtt*.csv.",
            source=shown(folder),
        )
    try:
        return NetworkFiles(**found)
    except InputError as error:
        raise error.located(shown(folder)) from None


_FIELDS = tuple(field.name for field in fields(NetworkFiles))


def is_network_file(path: StrPath) -> bool:
    """Whether a TOML file names the tables of a network, and is no scenario."""
    try:
        data = read_file(Path(path), shown(path), most_bytes=MOST_TOML_BYTES)
        tables = parse_toml(utf8_text(data))
    except ValueError:
        return False
    return "network" not in tables and any(field in tables for field in _FIELDS)


def files_named_in(path: Path, data: bytes) -> NetworkFiles:
    """The files that a TOML file names, relative to itself.

    Raises
    ------
    InputError
        If it is no TOML, has other keys, or files that do not go together.
    """
    try:
        text = utf8_text(data, shown(path))
    except UnicodeDecodeError as error:
        raise InputError(f"not valid TOML: {error}", source=shown(path)) from None
    tables = parse_toml(text, source=shown(path))
    if "network" in tables:
        raise InputError(
            "is a scenario; this takes a network: one that names sites, links, pairs or matrices.",
            source=shown(path),
        )
    for key, value in tables.items():
        if key not in _FIELDS:
            raise unknown_key("", key, _FIELDS, source=shown(path))
        if not isinstance(value, str) or not value:
            rule = "must be a path." if value == "" else "must be a path, in quotes."
            raise InputError(rule, field=Field(key, value=value), source=shown(path))
    try:
        return NetworkFiles(**{key: path.parent / value for key, value in tables.items()})
    except InputError as error:
        raise error.located(shown(path)) from None


def read_files(path: Path) -> list[Path]:
    """All files that are read for a path: it itself, those of a folder, or those that a TOML file names beside itself.

    Parameters
    ----------
    path : Path
        That of a network, or of another file; it may not exist.
    """
    if is_folder(path):
        named = files_in(path)
    elif path.suffix.lower() == ".toml" and is_network_file(path):
        named = files_named_in(path, path.read_bytes())
    else:
        return [path] if is_file(path) else []
    own = [] if is_folder(path) else [path]
    return own + [Path(file) for file in (getattr(named, name) for name in _FIELDS) if file is not None]


def stated_by_files(files: NetworkFiles, read: Callable[[StrPath], tuple[bytes, str]]) -> StatedNetwork:
    """What the tables of a network state.

    Parameters
    ----------
    files : NetworkFiles
    read : callable
        Bytes of a file, and how messages call it.

    Returns
    -------
    StatedNetwork

    Raises
    ------
    InputError
        If a table breaks a rule; the message names its file.
    """

    def table(path: StrPath) -> Table:
        return read_table(*read(path))

    if files.links is not None:
        assert files.sites is not None
        return stated_sites_and_links(table(files.sites), table(files.links))
    sites = None if files.sites is None else read_sites(table(files.sites))
    if files.pairs is not None:
        return stated_pairs(table(files.pairs), sites)
    assert files.bandwidth_matrix is not None
    latency = None if files.latency_matrix is None else table(files.latency_matrix)
    return stated_matrices(table(files.bandwidth_matrix), latency, sites)


def stated_by_pairs(data: bytes, source: str) -> StatedNetwork:
    """What one table of pairs states.

    Raises
    ------
    InputError
        If it breaks a rule, or is one of sites, of links or a matrix, which are no network alone.
    """
    table = read_table(data, source)
    if is_sites(table):
        raise InputError(
            "is a table of sites; the links, the pairs or the matrices of the network are missing.",
            source=source,
        )
    if set(map(one_line, table.header[1:])) == set(table.labels(0)):
        raise InputError(
            "is one matrix; a network takes one of bandwidth and one of latency, in a folder or named in a TOML file.",
            source=source,
        )
    return stated_pairs(table)
