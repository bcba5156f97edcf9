"""silosim."""

from typing import TYPE_CHECKING

from topologies.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from topologies.closed_forms import ClosedForms

__all__ = ["ClosedForms"]
__getattr__, __dir__ = lazy_exports(__name__)
