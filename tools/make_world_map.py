"""Write the land of the maps: ``npm pack world-atlas``, then ``python tools/make_world_map.py TGZ``."""

import json
import sys
import tarfile
from pathlib import Path
from typing import Any

import numpy as np

TARGET = Path(__file__).parents[1] / "scenarios" / "data" / "land.json"
MEMBER = "package/land-50m.json"
QUANTUM_DEG = 0.02
"""Coordinates are whole multiples of this, 2 km."""
TOLERANCE_DEG = 0.03
"""How far a point that is left out may lie from the outline that remains."""
LEAST_DEG = 0.15
"""Islands whose box has both sides below this are left out."""

Points = np.ndarray[Any, np.dtype[np.float64]]


def rings(topology: dict[str, Any]) -> list[Points]:
    """Outer and inner rings of a TopoJSON topology of one layer, in degrees east and north."""
    scale, shift = (np.array(topology["transform"][key]) for key in ("scale", "translate"))
    arcs = [np.cumsum(np.array(arc), axis=0) * scale + shift for arc in topology["arcs"]]
    found = []
    (layer,) = topology["objects"].values()
    for geometry in layer["geometries"]:
        polygons = geometry["arcs"] if geometry["type"] == "MultiPolygon" else [geometry["arcs"]]
        for polygon in polygons:
            for ring in polygon:
                # ~i is arc i from its end; an arc begins where the one before it ends.
                parts = [arcs[arc] if arc >= 0 else arcs[~arc][::-1] for arc in ring]
                found.append(unrolled(np.concatenate([part[:-1] for part in parts])))
    return found


def unrolled(ring: Points) -> Points:
    """A ring that goes on beyond 180 degrees; one around a pole is closed along the edge of the map."""
    east = np.unwrap(np.append(ring[:, 0], ring[0, 0]), period=360)
    whole = np.column_stack([east[:-1], ring[:, 1]])
    if abs(east[-1] - east[0]) < 180:
        return whole
    pole = np.copysign(90, ring[:, 1].mean())
    return np.concatenate([whole, [(east[-1], ring[0, 1]), (east[-1], pole), (east[0], pole)]])


def simplified(line: Points, tolerance: float) -> Points:
    """Douglas and Peucker's line of fewer points; both ends stay."""
    keep = np.zeros(len(line), dtype=bool)
    keep[[0, -1]] = True
    parts = [(0, len(line) - 1)]
    while parts:
        first, last = parts.pop()
        if last - first < 2:
            continue
        between, chord = line[first + 1 : last] - line[first], line[last] - line[first]
        length = np.hypot(*chord)
        if length == 0:
            away = np.hypot(*between.T)
        else:
            away = np.abs(between[:, 0] * chord[1] - between[:, 1] * chord[0]) / length
        farthest = int(away.argmax())
        if away[farthest] > tolerance:
            keep[first + 1 + farthest] = True
            parts += [(first, first + 1 + farthest), (first + 1 + farthest, last)]
    return line[keep]


def quantised(ring: Points) -> list[int]:
    """First point and steps from point to point, as multiples of the quantum; empty where no area is left."""
    if (np.ptp(ring, axis=0) < LEAST_DEG).all():
        return []
    half = len(ring) // 2
    halves = (ring[: half + 1], np.concatenate([ring[half:], ring[:1]]))
    short = np.concatenate([simplified(part, TOLERANCE_DEG)[:-1] for part in halves])
    whole = np.rint(short / QUANTUM_DEG).astype(int)
    whole = whole[np.any(whole != np.roll(whole, 1, axis=0), axis=1)]
    if len(whole) < 3:
        return []
    steps = np.diff(whole, axis=0, prepend=np.zeros((1, 2), dtype=int))
    return [int(step) for step in steps.ravel()]


def main() -> int:
    """Write the file."""
    with tarfile.open(sys.argv[1]) as archive:
        member = archive.extractfile(MEMBER)
        assert member is not None
        topology = json.load(member)
    made = [ring for ring in map(quantised, rings(topology)) if ring]
    made.sort(key=len, reverse=True)
    lines = ",\n".join(json.dumps(ring, separators=(",", ":")) for ring in made)
    TARGET.write_text(f'{{"quantum_deg": {QUANTUM_DEG}, "rings": [\n{lines}\n]}}\n', encoding="utf-8")
    print(f"{TARGET}: {len(made)} rings, {sum(map(len, made)) // 2} points, {TARGET.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
