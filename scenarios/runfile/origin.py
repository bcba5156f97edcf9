"""Where a file comes from, as its root attributes say."""

from collections.abc import Mapping
from typing import Any

from scenarios.runfile.attributes import json_attribute

NETWORK_DIGEST = "network as read (links, lengths, capacities, latencies, names of silos), SHA-256"
"""What the attribute ``graph_sha256`` is of."""
_UNSTATED = "not stated"


def recorded_origin(attrs: Mapping[str, Any]) -> dict[str, str]:
    """Versions, seed and hash of the network; older files state fewer versions.

    Parameters
    ----------
    attrs : mapping from str
        Root attributes of the file of a run or validation.
    """
    versions = json_attribute(attrs, "library_versions")
    libraries = ", ".join(f"{name} {value}" for name, value in versions.items())
    return {
        "silosim version": str(attrs.get("silosim_version", _UNSTATED)),
        **({"library versions": libraries} if libraries else {}),
        "seed": str(attrs.get("seed", _UNSTATED)),
        NETWORK_DIGEST: str(attrs.get("graph_sha256", _UNSTATED)),
    }
