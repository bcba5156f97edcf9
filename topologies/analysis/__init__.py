"""What bounds an overlay's cycle time: its explanation, upgrades, slack, free arcs, sensitivities, curves, relays.

``silosim explain`` prints `explain`, ``silosim upgrade`` what `UpgradeSearch` finds, and the page of ``silosim report``
has `access_forms`; the rest is library only.
"""

from topologies.analysis.access_forms import AccessForms, access_forms
from topologies.analysis.curve import AccessCurve, access_curve
from topologies.analysis.explain import ArcExplanation, Explanation, explain
from topologies.analysis.explanation_text import explanation_lines, explanation_rows, explanation_sentences
from topologies.analysis.free_arcs import FreeArc, free_arcs
from topologies.analysis.relay import relayed_star_s
from topologies.analysis.resources import Resources
from topologies.analysis.sensitivity import Sensitivities, sensitivities
from topologies.analysis.slack import arc_slack, event_slack
from topologies.analysis.upgrade_links import UpgradeLink, upgrade_links, upgraded
from topologies.analysis.upgrade_sets import ProvenSet, UpgradeSearch
from topologies.analysis.upgrade_terms import PricedSet, UpgradeTerms
from topologies.analysis.upgrades import (
    AccessUpgrade,
    JointUpgrade,
    LinkUpgrade,
    access_upgrades,
    joint_upgrades,
    link_upgrade,
    loads_after,
)

__all__ = [
    "AccessCurve",
    "AccessForms",
    "AccessUpgrade",
    "ArcExplanation",
    "Explanation",
    "FreeArc",
    "JointUpgrade",
    "LinkUpgrade",
    "PricedSet",
    "ProvenSet",
    "Resources",
    "Sensitivities",
    "UpgradeLink",
    "UpgradeSearch",
    "UpgradeTerms",
    "access_curve",
    "access_forms",
    "access_upgrades",
    "arc_slack",
    "event_slack",
    "explain",
    "explanation_lines",
    "explanation_rows",
    "explanation_sentences",
    "free_arcs",
    "joint_upgrades",
    "link_upgrade",
    "loads_after",
    "relayed_star_s",
    "sensitivities",
    "upgrade_links",
    "upgraded",
]
