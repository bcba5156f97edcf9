"""Write docs/validation.csv: five networks, three access capacities, published and corrected inputs."""

from pathlib import Path
from typing import Literal

from scenarios.config.network import NetworkConfig
from scenarios.report.table_formats import write_tables
from scenarios.report.tables import Table
from scenarios.simulation.experiment import network_experiment
from scenarios.validation.table import validation_row
from scenarios.validation.validation_study import validate
from topologies import Workload, published_underlays

Variant = Literal["published", "corrected"]
VARIANTS: tuple[Variant, ...] = ("published", "corrected")
ROUNDS = 2000
ACCESS_BPS = (1e8, 1e9, 1e10)


def rows_of(network: str, variant: Variant, bps: float) -> list[dict[str, object]]:
    """Rows of one network with one capacity of all access links."""
    config = NetworkConfig(underlay=network, variant=variant, access=f"{bps:.0f} bps")
    work = Workload.preset("inaturalist", local_steps=1, variant=variant)
    experiment = network_experiment(config, work, rounds=ROUNDS)
    about = {"network": network, "inputs": variant, "access_bps": bps}
    return [about | validation_row(result) for result in validate(experiment)]


def main() -> None:
    """Simulate all of them and write the table."""
    rows = [
        row
        for variant in VARIANTS
        for network in published_underlays()
        for bps in ACCESS_BPS
        for row in rows_of(network, variant, bps)
    ]
    path = Path(__file__).parents[1] / "docs" / "validation.csv"
    write_tables(path, [Table(caption="", columns=(), rows=rows)])


if __name__ == "__main__":
    main()
