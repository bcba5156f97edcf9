"""The table of each silo's part of the training data, as it is shown."""

import numpy as np

from scenarios.studies.partition import Division


def test_silos_are_named_and_numbers_rounded():
    division = Division(
        about="two silos",
        notes=(),
        silos=["Lyon", "Turin"],
        samples=np.array([1200, 34]),
        groups=None,
        label_counts=np.array([[1200, 0], [17, 17]]),
        divergence_bits=np.array([[0.0, 0.31127812], [0.31127812, 0.0]]),
    )
    table = division.silo_table()
    shown = {row["silo"]: [column.text(row) for column in table.columns] for row in table.rows}

    assert shown == {
        "Lyon": ["Lyon", "1200", "-", "1", "0.311", "0.311", "0.311"],
        "Turin": ["Turin", "34", "-", "2", "0.311", "0.311", "0.311"],
    }
