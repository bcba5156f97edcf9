"""Write docs/validation.csv: five networks, three access capacities, published and corrected inputs."""

from pathlib import Path

from scenarios.outputs import write_text
from scenarios.studies.design import DEFAULT_KINDS
from scenarios.studies.validation import validate, validation_row
from scenarios.tables import Table
from topologies import AccessLinks, Workload, connectivity, load_underlay, shipped_underlays

ROUNDS = 2000
ACCESS_BPS = (1e8, 1e9, 1e10)


def main() -> None:
    """Simulate all of them and write the table."""
    rows: list[dict[str, object]] = []
    for variant in ("published", "corrected"):
        for network in shipped_underlays():
            for bps in ACCESS_BPS:
                graph = connectivity(
                    load_underlay(network, variant=variant), access=AccessLinks(up_bps=bps, down_bps=bps)
                )
                work = Workload.preset("inaturalist", local_steps=1, variant=variant)
                case = {"network": network, "inputs": variant, "access_bps": bps}
                results = validate(graph, work, DEFAULT_KINDS, rounds=ROUNDS)
                rows.extend(case | validation_row(result) for result in results)
    table = Table(caption="", columns=(), rows=rows)
    write_text(Path(__file__).parents[1] / "docs" / "validation.csv", table.to_csv())


if __name__ == "__main__":
    main()
