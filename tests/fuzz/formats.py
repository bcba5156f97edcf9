"""Generators of whole files, one for each format that silosim reads, with the structure that the format has."""

import html
import io
import json
import struct
import zipfile
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from values import LABELS, Draw, cell, quoted

from scenarios.metrics_import.event_checksum import masked_crc32c


def _table(draw: Draw, head: Sequence[str], rows: Sequence[Sequence[str]]) -> bytes:
    """CSV text, sometimes with another separator, a BOM or other line ends."""
    separator = draw.choice((",", ",", ",", ";", "\t"))
    end = draw.choice(("\n", "\n", "\r\n"))
    lines = [separator.join(map(cell, row)) for row in (head, *rows)]
    if draw.flag(draw.odd):
        lines.insert(draw.randrange(len(lines) + 1), draw.choice(("", "# x", separator, "a", '"')))
    return (draw.choice(("", "", "\ufeff")) + end.join(lines) + end).encode(errors="surrogatepass")


def _columns(draw: Draw, columns: dict[str, Callable[[], str]], rows: int) -> bytes:
    """CSV text of columns, some of them left out, out of order or with another name."""
    chosen = {name: make for name, make in columns.items() if not draw.flag(draw.odd)}
    names = list(chosen)
    if draw.flag(0.2):
        draw.shuffle(names)
    head = [draw.pick((name,)) for name in names]
    return _table(draw, head, [[chosen[name]() for name in names] for _ in range(rows)])


def pairs(draw: Draw) -> bytes:
    """Measured pairs."""
    ends = [(a, b) for a in LABELS[:3] for b in LABELS[:3] if a != b]
    place = iter(ends * 4)
    kept: list[str] = []

    def start() -> str:
        kept[:] = next(place)
        return draw.pick((kept[0],))

    def end() -> str:
        return draw.pick((kept[1] if kept else "A",))

    columns: dict[str, Callable[[], str]] = {"from": start, "to": end}
    columns[draw.choice(("bandwidth_bps", "bandwidth_mbps"))] = lambda: draw.number(1, 1e9)
    columns[draw.choice(("latency_ms", "rtt_ms"))] = lambda: draw.number(0, 300)
    table = {name: make for name, make in columns.items() if not draw.flag(draw.odd)}
    rows = [[make() for make in table.values()] for _ in ends]
    return _table(draw, [draw.pick((name,)) for name in table], rows)


def _nodes(draw: Draw) -> list[dict[str, Any]]:
    nodes = []
    for number, label in enumerate(LABELS[: draw.choice((1, 2, 3, 5, 5))]):
        node: dict[str, Any] = {"id": number, "label": draw.pick((label,))}
        if not draw.flag(0.1):
            node["Latitude"], node["Longitude"] = draw.number(-80, 80), draw.number(-170, 170)
        if draw.flag(0.1):
            node["Internal"] = draw.number(0, 1, whole=True)
        nodes.append(node)
    return nodes


def _links(draw: Draw, nodes: int) -> list[dict[str, Any]]:
    links = []
    for target in range(1, nodes):
        link: dict[str, Any] = {"source": draw.randrange(target), "target": target}
        if draw.flag(draw.odd):
            link["source"] = draw.choice((-1, nodes, "x", 1.5, None, 10**30))
        if draw.flag(0.5):
            link[draw.choice(("distance", "dist", "length_km"))] = draw.number(1, 3000)
        if draw.flag(0.4):
            link[draw.choice(("capacity", "LinkSpeedRaw"))] = draw.number(1e6, 1e10)
        if draw.flag(0.2):
            link["LinkSpeed"], link["LinkSpeedUnits"] = draw.number(1, 100), draw.pick(("K", "M", "G", "T"))
        links.append(link)
    return links


def gml(draw: Draw) -> bytes:
    """GML text."""
    nodes = _nodes(draw)

    def block(name: str, values: dict[str, Any]) -> str:
        inner = []
        for key, value in values.items():
            text = str(value)
            plain = isinstance(value, int) or (key not in ("label", "LinkSpeedUnits") and text[:1].isdigit())
            inner.append(f"{key} {text if plain else quoted(text)}")
        return f"  {name} [ {' '.join(inner)} ]"

    lines = [block("node", node) for node in nodes] + [
        block("edge", link) for link in _links(draw, len(nodes))
    ]
    head = "directed 1" if draw.flag(0.1) else ""
    return f"graph [ {head}\n{chr(10).join(lines)}\n]\n".encode(errors="surrogatepass")


def node_link(draw: Draw) -> bytes:
    """Node-link JSON."""
    nodes = _nodes(draw)

    def number(value: Any) -> Any:
        try:
            return float(value) if isinstance(value, str) and draw.flag(0.9) else value
        except ValueError:
            return value

    made = [
        {key: number(value) if key != "label" else value for key, value in node.items()} for node in nodes
    ]
    links = [{key: number(value) for key, value in link.items()} for link in _links(draw, len(nodes))]
    whole: Any = {
        "nodes": made,
        draw.choice(("links", "edges")): links,
        "directed": draw.flag(0.1),
        "graph": {},
    }
    if draw.flag(draw.odd):
        whole[draw.choice(("nodes", "links", "graph", "directed"))] = draw.choice(
            (None, [], {}, 1, "x", [1], [[]], [{}])
        )
    return json.dumps(whole).encode()


def graphml(draw: Draw) -> bytes:
    """GraphML."""
    nodes = _nodes(draw)
    links = _links(draw, len(nodes))
    keys = sorted({key for one in (*nodes, *links) for key in one} - {"id", "source", "target"})
    declared = "".join(
        f'<key id="d{number}" for="all" attr.name="{key}" attr.type="{draw.pick(("string", "double", "int"))}"/>'
        for number, key in enumerate(keys)
    )

    def data(one: dict[str, Any]) -> str:
        return "".join(
            f'<data key="d{keys.index(key)}">{html.escape(str(value))}</data>'
            for key, value in one.items()
            if key in keys
        )

    inner = "".join(f'<node id="{node["id"]}">{data(node)}</node>' for node in nodes)
    inner += "".join(
        f'<edge source="{link["source"]}" target="{link["target"]}">{data(link)}</edge>' for link in links
    )
    kind = draw.pick(("undirected",), ("directed", "", "x"))
    return (
        f'<?xml version="1.0"?><graphml>{declared}<graph edgedefault="{kind}">{inner}</graph></graphml>'
    ).encode(errors="surrogatepass")


def sites(draw: Draw) -> bytes:
    """A table of sites."""
    names = iter([*LABELS, *LABELS])
    return _columns(
        draw,
        {
            "name": lambda: draw.pick((next(names),)),
            "latitude": lambda: draw.number(-80, 80),
            "longitude": lambda: draw.number(-170, 170),
            "access": lambda: draw.quantity("Gbps", "Mbps"),
            "compute": lambda: draw.quantity("ms", "s"),
        },
        draw.choice((1, 2, 5, 5, 5, 5)),
    )


def links(draw: Draw) -> bytes:
    """A table of links between the sites of `LABELS`."""
    ends = iter([(LABELS[i], LABELS[i + 1]) for i in range(4)] * 2)
    kept = ["A", "B"]

    def start() -> str:
        kept[:] = next(ends)
        return draw.pick((kept[0],))

    columns: dict[str, Callable[[], str]] = {"from": start, "to": lambda: draw.pick((kept[1],))}
    columns["capacity"] = lambda: draw.quantity("Gbps", "Mbps")
    columns["length_km"] = lambda: draw.number(1, 3000)
    rows = [[make() for make in columns.values()] for _ in range(4)]
    return _table(draw, [draw.pick((name,)) for name in columns], rows)


def matrix(draw: Draw) -> bytes:
    """Weights of the silos of `LABELS`, most rows summing to 1."""
    rows = []
    for label in LABELS:
        row = ["0.2"] * 5 if not draw.flag(draw.odd) else [draw.number(0, 1) for _ in LABELS]
        rows.append(
            [draw.pick((label,)), *(draw.pick((value,), ("", "-", "nan", "1e999", "x")) for value in row)]
        )
    if draw.flag(0.3):
        return "\n".join(",".join(row[1:]) for row in rows).encode()
    return _table(draw, ["", *LABELS], rows)


def numpy_matrix(draw: Draw) -> bytes:
    """A file of numpy.save."""
    kind: Any = draw.choice((*[np.float64] * 6, np.float32, np.int64, np.complex128, "S3", np.bool_))
    shape = draw.choice((*[(5, 5)] * 9, (5,), (5, 4), (0, 0), ()))
    made = io.BytesIO()
    np.save(made, np.full(shape, 0.2).astype(kind))
    return made.getvalue()


def arcs(draw: Draw) -> bytes:
    """Arcs of an overlay on the silos of `LABELS`."""
    ends = iter([(LABELS[i], LABELS[(i + 1) % 5]) for i in range(5)] * 2)
    kept = ["A", "B"]

    def start() -> str:
        kept[:] = next(ends)
        return draw.pick((kept[0],))

    columns: dict[str, Callable[[], str]] = {"from": start, "to": lambda: draw.pick((kept[1],))}
    if draw.flag(0.3):
        columns["weight"] = lambda: draw.number(0.1, 0.5)
    return _table(
        draw,
        [draw.pick((name,)) for name in columns],
        [[make() for make in columns.values()] for _ in range(5)],
    )


def schedule(draw: Draw) -> bytes:
    """A periodic overlay on the silos of `LABELS`."""
    rows = []
    for state in range(draw.randint(1, 3)):
        for i in range(5):
            lag = draw.number(1, 3, whole=True) if draw.flag(0.2) else "1"
            rows.append(
                [draw.pick((str(state),)), draw.pick((LABELS[i],)), draw.pick((LABELS[(i + 1) % 5],)), lag]
            )
    return _table(draw, ["state", "from", "to", draw.pick(("lag",))], rows)


def routes(draw: Draw) -> bytes:
    """Stated routes on the line of `links`."""
    rows = []
    for i, j in draw.sample([*combinations(range(5), 2)], draw.randint(1, 3)):
        between = draw.pick((" - ", ";", " -> "))
        path = between.join(draw.pick((LABELS[k],)) for k in range(i, j + 1))
        rows.append([draw.pick((LABELS[i],)), draw.pick((LABELS[j],)), path])
    return _table(draw, ["source", "target", draw.pick(("path",))], rows)


def prices(draw: Draw) -> bytes:
    """Prices of links."""
    names = ("uplink", "downlink", "core", "A uplink", "B downlink", "core link A - B")
    rows = [[draw.pick((name,)), draw.number(0, 1000)] for name in draw.sample(names, draw.randint(1, 4))]
    return _table(draw, ["link", draw.pick(("price per Gbps", "price", "price (EUR per Mbps)"))], rows)


def traffic(draw: Draw) -> bytes:
    """Demands as a table."""
    rows = []
    for date in range(draw.randint(1, 3)):
        for i in range(4):
            ends = draw.sample(LABELS, 2)
            rows.append([draw.pick((str(date),)), *(draw.pick((end,)) for end in ends), draw.number(0, 100)])
            del i
    return _table(
        draw,
        [draw.pick(("time_s", "time")), "from", "to", draw.pick(("demand [Mbps]",))],
        rows,
    )


def sndlib(draw: Draw) -> bytes:
    """Demands as SNDlib's XML."""
    inner = "".join(
        f'<demand id="d{i}"><source>{draw.pick((LABELS[i],))}</source><target>{draw.pick((LABELS[i + 1],))}</target>'
        f"<demandValue>{draw.number()}</demandValue></demand>"
        for i in range(draw.randint(0, 4))
    )
    meta = (
        f"<meta><granularity>{draw.pick(('5min',))}</granularity><time>{draw.pick(('20040501-0000',))}</time>"
    )
    meta += f"<unit>{draw.pick(('MBITPERSEC', 'KBITPERSEC'))}</unit></meta>"
    return f'<?xml version="1.0"?><network>{meta}<demands>{inner}</demands></network>'.encode(
        errors="surrogatepass"
    )


def trace(draw: Draw) -> bytes:
    """Measured computing times."""
    if draw.flag():
        return _table(draw, ["compute_s"], [[draw.number(0.001, 1)] for _ in range(3)])
    return (
        ",".join(LABELS).encode()
        + b"\n"
        + "\n".join(",".join(draw.number(0.001, 1) for _ in LABELS) for _ in range(3)).encode()
    )


_METRICS = (
    "round",
    "loss",
    "accuracy",
    "test_accuracy",
    "train_loss",
    "step",
    "epoch",
    "client",
    "examples",
    "silo_loss/A",
)


def metrics_table(draw: Draw) -> bytes:
    """Metrics as CSV."""
    names = ["round", *draw.sample(_METRICS[1:], draw.randint(1, 4))]
    rows = [
        [draw.pick((str(k),)), *(draw.number(0, 1) for _ in names[1:])] for k in range(draw.randint(1, 5))
    ]
    return _table(draw, [draw.pick((name,)) for name in names], rows)


def _json_value(draw: Draw, depth: int = 0) -> Any:
    odd = draw.flag(2 * draw.odd)
    if odd:
        return draw.choice(
            (None, True, "x", "", [], {}, [1], -1, 1e308, 10**25, float("nan"), float("inf"), "1.5")
        )
    if depth < 3 and draw.flag(0.1):
        return {draw.label(("a", "b")): _json_value(draw, depth + 1)}
    return draw.uniform(0, 1)


def metrics_json(draw: Draw) -> bytes:
    """Metrics as JSON lines, a list, Flower's history or its result."""
    kind = draw.randrange(4)
    rounds = range(draw.randint(1, 4))
    if kind < 2:
        found = [
            {"round": k, "loss": _json_value(draw), draw.pick(("accuracy",)): _json_value(draw)}
            for k in rounds
        ]
        if kind == 0:
            return "\n".join(json.dumps(each) for each in found).encode(errors="surrogatepass")
        return json.dumps(found if draw.flag() else {"history": found, "x": _json_value(draw)}).encode(
            errors="surrogatepass"
        )
    if kind == 2:
        listed = {
            name: [[k, _json_value(draw)] for k in rounds]
            for name in ("losses_distributed", "losses_centralized")
        }
        whole: Any = {**listed, "metrics_centralized": {"accuracy": [[k, _json_value(draw)] for k in rounds]}}
    else:
        whole = {
            name: {
                str(k) if not draw.flag(draw.odd) else draw.label(): {"loss": _json_value(draw)}
                for k in rounds
            }
            for name in ("train_metrics_clientapp", "evaluate_metrics_serverapp")
        }
    if draw.flag(2 * draw.odd):
        whole[draw.choice(list(whole))] = draw.choice(
            (None, [], {}, 1, "x", [[]], [[1]], [[1, 2, 3]], {"1": 1})
        )
    return json.dumps(whole).encode(errors="surrogatepass")


def _varint(number: int) -> bytes:
    out = bytearray()
    while True:
        out.append((number & 0x7F) | (0x80 if number > 0x7F else 0))
        number >>= 7
        if not number:
            return bytes(out)


def tensorboard(draw: Draw) -> bytes:
    """Records of an event file, with the checksums that the format has."""
    out = bytearray()
    for k in range(draw.randint(1, 4)):
        tag = draw.pick(("loss", "accuracy")).encode(errors="ignore")
        value = (
            b"\x0a"
            + _varint(len(tag))
            + tag
            + b"\x15"
            + struct.pack("<f", draw.choice((*[0.5] * 9, 1.5, float("nan"))))
        )
        summary = b"\x0a" + _varint(len(value)) + value
        event = (
            b"\x09"
            + struct.pack("<d", draw.choice((1.0, 2.0, -1.0)))
            + b"\x10"
            + _varint(draw.choice((*[k] * 12, 2**40)))
        )
        event += b"\x2a" + _varint(len(summary)) + summary
        if draw.flag(draw.odd):
            event = event[: draw.randrange(len(event))]
        head = struct.pack("<Q", len(event) if not draw.flag(draw.odd) else draw.choice((0, 2**63, 2**40)))
        out += head + struct.pack("<I", masked_crc32c(head)) + event + struct.pack("<I", masked_crc32c(event))
    return bytes(out)


def data_table(draw: Draw) -> bytes:
    """Samples as CSV."""
    rows = [[draw.number(), draw.number(), draw.pick(("0", "1", "cat"))] for _ in range(draw.randint(1, 12))]
    return _table(draw, ["a", "b", draw.pick(("label",))], rows)


def data_arrays(draw: Draw) -> bytes:
    """Samples as numpy.savez writes them."""
    samples = draw.randint(1, 12)
    arrays: dict[str, Any] = {
        "x": np.zeros(
            (samples, 2), draw.choice((*[np.float32] * 6, np.float64, np.uint8, np.complex64, "S2"))
        ),
        "y": np.arange(samples if not draw.flag(draw.odd) else samples + 1) % 2,
    }
    if draw.flag(draw.odd):
        arrays[draw.choice(("x", "y"))] = draw.choice(
            (np.zeros(()), np.zeros((0, 2)), np.full(samples, np.nan))
        )
    arrays = {
        draw.pick((name,), ("z", "x_train", "y_test", "", "a/b")): array for name, array in arrays.items()
    }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as whole:
        for name, array in arrays.items():
            one = io.BytesIO()
            np.save(one, array)
            whole.writestr(f"{name}.npy", one.getvalue())
    return made.getvalue()


def _key(draw: Draw, name: str, value: str) -> str:
    key = draw.pick((name,), ("x", "access", quoted("a b")))
    return f"{key} = {draw.choice(_ODD_TOML) if draw.flag(draw.odd) else value}"


_ODD_TOML = (
    *(
        "0",
        "-1",
        "1e308",
        "nan",
        "inf",
        "true",
        '""',
        '"x"',
        "[]",
        "{}",
        "[1]",
        "[[]]",
        "{a = 1}",
        "1979-05-27",
    ),
    *(
        "10.0",
        "9223372036854775807",
        "1e-320",
        '"1e308 s"',
        '"1e-300 bit"',
        '"-1 Mbps"',
        '"A - B"',
        '["A", "A"]',
    ),
    *('"\\u0000"', "99999999999999999999999", '"9' + "9" * 400 + ' s"', "[" * 40 + "]" * 40),
)


def scenario(draw: Draw) -> bytes:
    """A scenario on a shipped network."""
    lines = [
        _key(draw, "name", quoted(draw.label())),
        _key(draw, "seed", draw.number(0, 9, whole=True)),
        "[network]",
    ]
    lines.append(_key(draw, "underlay", '"gaia"'))
    silos = ("Oregon", "Dublin", "Tokyo")
    options = [
        ("access", quoted(draw.quantity("Gbps", "Mbps"))),
        ("access_at", f"{{ {quoted(draw.label(silos))} = {quoted(draw.quantity('Mbps', 'Gbps'))} }}"),
        ("silo_at", f"[{', '.join(quoted(draw.label(silos)) for _ in range(draw.randint(1, 4)))}]"),
        ("core", quoted(draw.pick(("1 Gbps", "stated")))),
        ("window", quoted(draw.quantity("kB", "MB"))),
        ("streams", draw.number(1, 8, whole=True)),
        ("routing", quoted(draw.pick(("distance", "hops", "latency")))),
        ("blocked", '["Oregon - Dublin"]'),
        ("slow_start", quoted(draw.pick(("first", "idle", "always")))),
        ("half_duplex", '["access"]'),
        ("latency", quoted(draw.pick(("per_path", "per_link")))),
    ]
    lines += [_key(draw, *option) for option in draw.sample(options, draw.randint(0, 4))]
    lines.append("[workload]")
    options = [
        ("compute", quoted(draw.quantity("ms", "s"))),
        ("local_steps", draw.number(1, 10, whole=True)),
        ("compute_at", f"{{ {quoted(draw.label(silos))} = {quoted(draw.quantity('ms'))} }}"),
        ("overhead", quoted(draw.pick(("tcp", "5 %")))),
        ("overlap", quoted(draw.pick(("backward", "50 %")))),
        ("participation", quoted(draw.pick(("50 %", "90 %")))),
    ]
    lines += [_key(draw, "model_size", quoted(draw.quantity("MB", "Mbit")))]
    lines += [_key(draw, *option) for option in draw.sample(options, draw.randint(0, 3))]
    kinds = (
        "star",
        "ring",
        "mst",
        "delta_mbst",
        "matcha",
        "base",
        "hierarchical",
        "epidemic",
        "multigraph",
        "equi_dyn",
    )
    if draw.flag():
        lines += [
            "[overlays]",
            _key(draw, "kinds", f"[{', '.join(quoted(draw.pick(kinds)) for _ in range(2))}]"),
        ]
        if draw.flag(0.3):
            lines.append(f"matcha = {{ budget = {draw.number(0, 1)} }}")
    else:
        for number in range(draw.randint(1, 3)):
            lines += [
                "[[overlays]]",
                _key(draw, "kind", quoted(draw.pick(kinds))),
                _key(draw, "name", quoted(f"o{number}")),
            ]
    lines += ["[simulation]", _key(draw, "rounds", draw.number(1, 500, whole=True))]
    options = [
        ("sharing", quoted(draw.pick(("maxmin", "equal", "rtt_weighted")))),
        ("queueing", quoted(draw.pick(("fifo", "overlap")))),
        ("engine", quoted(draw.pick(("auto", "simpy", "compiled")))),
        ("until_ci", quoted(f"{draw.number(1, 10)} %")),
        ("messages", "true"),
    ]
    lines += [_key(draw, *option) for option in draw.sample(options, draw.randint(0, 2))]
    events = {
        "background": [("link", '"Oregon - California"'), ("share", quoted(f"{draw.number(1, 90)} %"))],
        "failure": [
            ("link", '"Oregon - California"'),
            ("from", quoted(draw.quantity("s"))),
            ("until", quoted(draw.quantity("h"))),
        ],
        "away": [
            ("silo", quoted(draw.label(silos))),
            ("from_round", draw.number(1, 9, whole=True)),
            ("rounds", "3"),
        ],
        "capacity": [
            ("link", '"Oregon - California"'),
            ("at", '["0 s", "1 s"]'),
            ("capacity", '["1 Gbps", "2 Gbps"]'),
        ],
        "compute": [
            ("distribution", quoted(draw.pick(("lognormal", "exponential")))),
            ("cv", draw.number(0, 1)),
        ],
    }
    for name in draw.sample(list(events), draw.choice((0, 0, 1, 2))):
        lines.append(f"[simulation.{name}]" if name == "compute" else f"[[simulation.{name}]]")
        lines += [_key(draw, *option) for option in events[name]]
    if draw.flag(0.2):
        lines += ["[training]", _key(draw, "rounds", draw.number(1, 20, whole=True))]
        lines += [_key(draw, "learning_rate", draw.number(0, 1)), _key(draw, "model", '"softmax"')]
    return ("\n".join(lines) + "\n").encode(errors="surrogatepass")


def study(draw: Draw) -> bytes:
    """A study of a scenario."""
    keys = {
        "network.access": '["1 Gbps", "100 Mbps"]',
        "workload.local_steps": "[1, 5]",
        "simulation.rounds": "[10, 20]",
        "seed": "[1, 2, 3]",
        'network.access_at."Oregon"': '["1 Mbps"]',
        "overlays.0.kind": '["ring"]',
    }
    lines = [scenario(draw).decode(errors="replace"), "[study]", _key(draw, "simulate", "true")]
    if draw.flag(0.7):
        lines.append("[study.grid]")
        for key in draw.sample(list(keys), draw.randint(1, 3)):
            lines.append(_key(draw, key if draw.flag(0.3) else quoted(key), keys[key]).replace("x =", "x ="))
    else:
        lines.append("[[study.points]]")
        lines.append(_key(draw, quoted("seed"), draw.number(0, 9, whole=True)))
    return ("\n".join(lines) + "\n").encode(errors="surrogatepass")


def network_toml(draw: Draw) -> bytes:
    """A TOML file that names tables."""
    lines = (_key(draw, "sites", quoted(draw.pick(("sites.csv",)))), _key(draw, "links", quoted("links.csv")))
    return "\n".join(lines).encode(errors="surrogatepass")
