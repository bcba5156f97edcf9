"""What a page says of the scenario of runs: network, training, messages, and all values that are assumed."""

from collections.abc import Iterable

from scenarios.config.quantities import format_bits
from scenarios.config.scenario import RecordedScenario
from scenarios.pages.assumptions import assumed_list, assumptions, recorded_preset
from scenarios.pages.glossary import glossary
from scenarios.report.web_page import text
from scenarios.runfile.reader import RunRecord
from scenarios.studies.underlay import facts_text, underlay_facts
from topologies import Connectivity


def compared_section(record: RunRecord, scenario: RecordedScenario, graph: Connectivity) -> Iterable[str]:
    """The section of a page on what was compared.

    Parameters
    ----------
    record : RunRecord
    scenario : RecordedScenario
        Of the record.
    graph : Connectivity
        Likewise.
    """
    assumed = assumptions(graph, record.network, recorded_preset(record.scenario, record.work))
    lines = [*record.about.splitlines(), *training_lines(record, scenario)]
    return (
        "<h2>What was compared</h2>",
        f"<p>{'<br>'.join(text(line) for line in lines)}</p>",
        assumed_list(assumed),
        glossary(),
        f"<details><summary>Scenario (TOML)</summary><pre>{text(record.scenario)}</pre></details>",
        f"<details><summary>Network</summary><pre>{text(facts_text(underlay_facts(record.underlay)))}</pre></details>",
    )


def training_lines(record: RunRecord, scenario: RecordedScenario) -> list[str]:
    """What was trained, and what messages are of the model, where silos do not send it whole."""
    if not any(overlay.history for overlay in record.overlays):
        return []
    lines = [f"trained: {scenario.trained}, {scenario.trained_rounds:,} rounds"] if scenario.trained else []
    if scenario.compression:
        share = record.work.message_share
        whole = format_bits(record.work.model_bits / share)
        lines.append(
            f"messages: compressed by {scenario.compression}: {100 * share:.3g} % of the model's {whole}"
        )
    return lines
