"""Choice of the reader for a file of metrics that another program wrote."""

from functools import partial
from pathlib import Path

from scenarios.metrics_import.csv_rows import table_rows
from scenarios.metrics_import.json_files import json_rows
from scenarios.metrics_import.rows import MetricsRows
from scenarios.metrics_import.tensorboard_runs import event_rows, is_of_tensorboard
from topologies import InputError
from topologies.plain_text import open_utf8
from topologies.regular_files import is_file, is_folder, no_file

_TABLE_ENDINGS = (".csv", ".tsv")
_JSON_ENDINGS = (".jsonl", ".ndjson", ".json")


def read_rows(path: Path, run: str | None = None) -> MetricsRows:
    """Rows of a file of metrics.

    Parameters
    ----------
    path : Path
        CSV (``.csv``, ``.tsv``; comma, semicolon or tab), JSON lines (``.jsonl``, ``.ndjson``, ``.json``), one JSON
        text (``.json``, see `json_rows`), a TensorBoard event file (``*tfevents*``), or a folder of these.
    run : str, optional
        The run of a folder, as `event_rows` takes it.

    Returns
    -------
    MetricsRows
        Lines of CSV and JSON lines are read anew in every walk, which raises their errors.

    Raises
    ------
    InputError
        If the file cannot be read, has another ending, or breaks its format.
    MachineError
        If the format needs a package that is not installed.
    """
    if not (is_file(path) or is_folder(path)):
        raise no_file(path)
    if is_of_tensorboard(path):
        return event_rows(path, run)
    ending = path.suffix.lower()
    if ending not in (*_TABLE_ENDINGS, *_JSON_ENDINGS):
        open_utf8(path).close()  # what is compressed has another ending
        endings = ", ".join((*_TABLE_ENDINGS, *_JSON_ENDINGS))
        raise InputError(
            f"must end in one of {endings}, or be a TensorBoard event file (*tfevents*) or a folder of these.",
            source=str(path),
        )
    if run is not None:
        raise InputError(
            "is no folder of TensorBoard's: --run must not be given, which names a run in one.",
            source=str(path),
        )
    return MetricsRows(start=partial(table_rows, path)) if ending in _TABLE_ENDINGS else json_rows(path)
