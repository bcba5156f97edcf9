"""What more capacity would take off a round of a periodic overlay, by each closed form that limits it."""

from dataclasses import dataclass

from scenarios.config.quantities import format_s
from scenarios.report.longer_load import longer_load
from topologies import InputError, PeriodicOverlay
from topologies.analysis.upgrade_terms import Form
from topologies.analysis.upgrades import LinkUpgrade, link_upgrade, loads_after
from topologies.rounding import exceeds
from topologies.wrapping import listed

_WORDS: dict[Form, str] = {
    "paper": "paper",
    "serialized": "serialized",
    "load": "the larger of paper and load",
}
_MOST_TIES = 2
"""Links that are named where several gain as much as the best."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Gain:
    """The best upgrade by one closed form.

    Attributes
    ----------
    form : {"paper", "serialized", "load"}
        The last is the larger of `paper` and `load`.
    cycle_time_s : float
        As the network is.
    upgrade : LinkUpgrade or None
        None where no capacity lowers it.
    loads_s : tuple of float
        `load` with twice the capacity, and with no limit.
    """

    form: Form
    cycle_time_s: float
    upgrade: LinkUpgrade | None
    loads_s: tuple[float, float]

    @property
    def sentence(self) -> str:
        """It in words."""
        by, found = _WORDS[self.form], self.upgrade
        if found is None:
            return f"By {by} no capacity of links lowers this."
        gains = (
            f"with twice the capacity a round takes {format_s(found.doubled_s)} "
            f"({format_s(self.cycle_time_s - found.doubled_s)} less), with no limit {format_s(found.unlimited_s)} "
            f"({format_s(self.cycle_time_s - found.unlimited_s)} less)"
        )
        longer = longer_load((found.doubled_s, found.unlimited_s), self.loads_s)
        gains = f"{gains}. {longer}" if longer else f"{gains}."
        if len(found.links) > 1:
            return (
                f"By {by} no link helps alone, since others limit a model as much or another circuit is as slow: "
                f"{listed(found.links)} are needed together: {gains}"
            )
        ties, more = found.as_good, len(found.as_good) - _MOST_TIES
        named = [*ties[:_MOST_TIES], f"{more} more"] if more > 0 else list(ties)
        as_good = f" Twice the capacity gains as much on {listed(named)}." if named else ""
        return f"By {by} the best upgrade of one link is {found.links[0]}: {gains}{as_good}"

    @property
    def fields(self) -> dict[str, object]:
        """It in JSON."""
        found = self.upgrade
        return {
            "by": self.form,
            "cycle_time_s": self.cycle_time_s,
            "links": [] if found is None else list(found.links),
            "doubled_s": None if found is None else found.doubled_s,
            "unlimited_s": None if found is None else found.unlimited_s,
            "doubled_load_s": None if found is None else self.loads_s[0],
            "unlimited_load_s": None if found is None else self.loads_s[1],
            "as_good": [] if found is None else list(found.as_good),
        }


def periodic_gains(overlay: PeriodicOverlay) -> tuple[Gain, ...]:
    """The best upgrade by `paper`, and by `serialized` and `load` where these are longer.

    Parameters
    ----------
    overlay : PeriodicOverlay

    Returns
    -------
    tuple of Gain
        Empty where rates are not those of Eq. 3, so that it is not known which links limit them.

    Notes
    -----
    Cycle times are those of the same states on the network with these links raised, not derivatives.
    """
    forms = overlay.closed_forms
    by: list[tuple[Form, float]] = [("paper", forms.paper_s)]
    slow = overlay.graph.slow_start
    queued = exceeds(forms.serialized_s, forms.paper_s) and (slow is None or slow.when == "first")
    by += [("serialized", forms.serialized_s)] if queued else []
    if overlay.graph.rules.are_plain_links and exceeds(forms.load_bound_s, forms.paper_s):
        by.append(("load", forms.load_bound_s))
    try:
        return tuple(_gain(overlay, form, value_s) for form, value_s in by)
    except InputError:
        return ()


def _gain(overlay: PeriodicOverlay, form: Form, cycle_time_s: float) -> Gain:
    """The best upgrade by one form."""
    found = link_upgrade(overlay, form)
    if found is None or not overlay.graph.rules.are_plain_links:
        loads_s = (0.0, 0.0)
    else:
        loads_s = loads_after(overlay, found.links)
    return Gain(form=form, cycle_time_s=cycle_time_s, upgrade=found, loads_s=loads_s)
