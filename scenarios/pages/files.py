"""Which page a file or folder has, and writing it."""

from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.runfile.claims import claimed
from scenarios.runfile.paths import PARTIAL, RUN_ENDINGS, check_ending, write_whole
from scenarios.runfile.study_table import ENDINGS, is_csv
from scenarios.runtime.progress import heartbeat
from topologies import InputError
from topologies.regular_files import is_file, is_folder, no_file

if TYPE_CHECKING:
    from scenarios.studies.run_seeds import SeedFiles

HTML = ".html"


def default_page(source: Path) -> Path:
    """The page beside a file or folder, with its name."""
    beside = source if source.name else source.resolve()
    name = beside.name.removesuffix(PARTIAL)
    return beside.with_name(f"{name if is_folder(source) else Path(name).stem}{HTML}")


def report(source: Path, output: Path, *, force: bool) -> int:
    """Write the page of a run, of runs with several seeds, of a study's table, or of a validation.

    Parameters
    ----------
    source : Path
        HDF5 file of a run, complete or cut short, or of a validation; table of seeds (``NAME-seeds.csv``, beside its
        runs) or of a study (CSV or Parquet); folder that ``silosim validate -o`` wrote.
    output : Path
        HTML.
    force : bool
        Whether an existing file is replaced.

    Returns
    -------
    int
        Bytes of the page.

    Raises
    ------
    InputError
        If the output has another ending, exists or cannot be written, or the source is none of these.
    """
    check_ending(output, (HTML,))
    # What cannot be read is said first: no other name of the page mends it.
    _check_source(source)
    with claimed([output], force=force):
        return write_page(source, output, force=force)


def write_page(source: Path, output: Path, *, force: bool) -> int:
    """Write a page as `report`, into a file that the caller has claimed."""
    with heartbeat(f"page of {source.name}"):
        page = page_of(source).encode()
    write_whole(output, page, force=force)
    return len(page)


def write_seeds_page(files: "SeedFiles", *, force: bool) -> int:
    """Write the page of runs with several seeds, as `write_page`."""
    # Here since h5py takes long to import.
    from scenarios.pages.seeds_page import seeds_page
    from scenarios.runfile.reader import read_run

    page = seeds_page(files, {seed: read_run(path) for seed, path in files.runs.items()}).encode()
    write_whole(files.page, page, force=force)
    return len(page)


def page_of(source: Path) -> str:
    """The page of a file or folder; see `report`."""
    # Here since h5py, pandas and matplotlib take long to import.
    if is_folder(source):
        from scenarios.pages.validation_page import validation_page

        return validation_page(source)
    name = source.name.removesuffix(PARTIAL)
    if name.lower().endswith(ENDINGS):
        from scenarios.report.seeds_table import is_seeds_table

        if is_csv(source) and is_seeds_table(source):
            from scenarios.pages.seeds_page import table_page

            return table_page(source)
        from scenarios.pages.study_page import study_page

        return study_page(source)
    from scenarios.runfile.reader import open_file

    with open_file(source) as file:
        schema = str(file.attrs.get("schema", ""))
    if schema.startswith("silosim-validation"):
        from scenarios.pages.validation_page import validation_page

        return validation_page(source)
    from scenarios.pages.run_page import run_page

    return run_page(source)


def _check_source(source: Path) -> None:
    """Raise an error for what has no page, by its name and its first bytes."""
    name = source.name.removesuffix(PARTIAL).lower()
    if is_folder(source) or name.endswith(ENDINGS):
        return
    from scenarios.runfile.reader import is_hdf5, no_hdf5

    if not is_file(source):
        raise no_file(source, otherwise="there is no such file or folder")
    if is_hdf5(source):
        return
    kinds = (
        f"must be the HDF5 file of a run ({' or '.join(RUN_ENDINGS)}), the table of a study ({' or '.join(ENDINGS)}) "
        "or the folder of a validation"
    )
    raise InputError(
        f"{no_hdf5(source)}: {kinds}." if name.endswith(RUN_ENDINGS) else f"{kinds}.", source=str(source)
    )
