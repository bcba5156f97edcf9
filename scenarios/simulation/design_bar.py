"""Design of an overlay with a progress bar, for searches that take seconds."""

from collections.abc import Callable

from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.overlays import AnyOverlay, design_any
from scenarios.runtime.progress import bar, heartbeat
from topologies import Connectivity, Workload
from topologies.arrays import FloatArray
from topologies.sizes import MANY_SILOS

_STEPS = 100


def design_with_bar(
    config: OverlayConfig,
    graph: Connectivity,
    work: Workload,
    *,
    seed: int,
    consensus: str = "",
    label_shares: Callable[[], FloatArray] | None = None,
) -> AnyOverlay:
    """`scenarios.config.overlays.design_any` with a bar named after the overlay, if its designer reports progress.

    On many silos every designer takes long: a line says that it is at work.
    """
    is_large = graph.silos > MANY_SILOS
    with (
        heartbeat(f"{config.name}: design for {graph.silos:,} silos" if is_large else None),
        bar(config.name, _STEPS) as advance,
    ):
        return design_any(
            config,
            graph,
            work,
            seed=seed,
            consensus=consensus,
            label_shares=label_shares,
            progress=lambda share: advance(round(_STEPS * share)),
        )
