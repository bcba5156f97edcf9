"""What bounds an overlay's cycle time: its explanation, slack, free arcs, sensitivities, curves.

``silosim explain`` prints `explain`; the rest is library only.
"""

from topologies.analysis.curve import AccessCurve, access_curve
from topologies.analysis.explain import ArcExplanation, Explanation, explain
from topologies.analysis.explanation_text import explanation_lines, explanation_rows
from topologies.analysis.free_arcs import FreeArc, free_arcs
from topologies.analysis.resources import Resources
from topologies.analysis.sensitivity import Sensitivities, sensitivities
from topologies.analysis.slack import arc_slack, event_slack
from topologies.analysis.upgrades import AccessUpgrade, JointUpgrade, access_upgrades, joint_upgrades

__all__ = [
    "AccessCurve",
    "AccessUpgrade",
    "ArcExplanation",
    "Explanation",
    "FreeArc",
    "JointUpgrade",
    "Resources",
    "Sensitivities",
    "access_curve",
    "access_upgrades",
    "arc_slack",
    "event_slack",
    "explain",
    "explanation_lines",
    "explanation_rows",
    "free_arcs",
    "joint_upgrades",
    "sensitivities",
]
