"""`silosim simulate` and `silosim validate`: what cannot be simulated is one line and exit code 2."""

import pytest

from topologies import load_underlay

PLACES = [option for place in ("Tokyo", "Oregon", "Sydney", "Virginia") for option in ("--silo-at", place)]
DEAF_TO_TOKYO = [
    option for other in ("Oregon", "Sydney", "Virginia") for option in ("--blocked", f"Tokyo -> {other}")
]
PAIR = ["--silo-at", "Tokyo", "--silo-at", "Tokyo", "--latency", "per_link", "--model-size", "0 MB"]

FAILED_CUT = """
[network]
underlay = "geant"
[workload]
preset = "inaturalist"
[overlays]
kinds = ["ring"]
[simulation]
rounds = 100
[[simulation.failure]]
link = "PL - UA"
from = "1 s"
"""


@pytest.fixture
def refused(silosim):
    """Standard error of a command that is refused."""

    def run(*arguments):
        result = silosim(*arguments)
        assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
        assert result.err.startswith("silosim: error: ")
        return result.err

    return run


@pytest.mark.parametrize("command", ["simulate", "validate"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rounds", 0], "rounds(=0) must be >= 1."),
        (["--rounds", 10**12, "--kind", "matcha"], "rounds(=1000000000000) must be <= 2147483648."),
        (["--compute", "-3 ms"], "compute(='-3 ms') must be >= 0."),
        (["--compute", "nan s"], "compute(='nan s') must be finite."),
        (["--compute-times", "lognormal nan"], "cv(=nan) must be finite and >= 0."),
        ([*PAIR, "--compute", "0 s"], "take 0 s must not form a circuit, but silos 1 -> 0 -> 1 do."),
        (["--model-size", "1e400 GB"], "model_size(='1e400 GB') must be finite."),
        (["--model-size", "1e298 GB", "--kind", "ring"], "message_bits(=8e+307) must not pass 1.8e308 bits"),
        (
            [
                *("--access", "1e17 Gbps", "--core", "1e18 Gbps", "--access-at", "Tokyo=1 bps"),
                *("--kind", "ring", "--rounds", 100),
            ],
            "must be longer than what floating point loses at",
        ),
        (
            [*PLACES, *DEAF_TO_TOKYO, "--kind", "complete"],
            "must be strongly connected, but nothing that Tokyo sends can reach Oregon.",
        ),
        (
            [*PLACES, *DEAF_TO_TOKYO, "--kind", "ring"],
            "no ring exists, since Tokyo can send to no other silo.",
        ),
        ([*PLACES, *DEAF_TO_TOKYO, "--kind", "matcha"], "none joins the silos of Oregon with those of"),
    ],
)
def test_options(refused, command, options, message):
    assert message in refused(command, "gaia", *options)


@pytest.mark.parametrize("command", ["simulate", "validate"])
@pytest.mark.parametrize(
    ("cell", "rows", "message"),
    [
        ("0.1", 3, "has 3 rows, but 100 rounds need as many, or repeat = true."),
        ("-0.1", 100, "'{label}' in row 1(=-0.1) must be finite and >= 0."),
        ("nan", 100, "'{label}' in row 1(=nan) must be finite and >= 0."),
        ("soon", 100, "row 1 must hold 11 numbers, in seconds."),
    ],
)
def test_traces(refused, tmp_path, command, cell, rows, message):
    labels, path = load_underlay("gaia").labels, tmp_path / "times.csv"
    path.write_text("\n".join([",".join(labels), *[",".join([cell] * len(labels))] * rows]))
    error = refused(command, "gaia", "--rounds", 100, "--compute-times", path)

    assert f"{path}: {message.format(label=labels[0])}" in error


@pytest.mark.parametrize("samples", ["-0.1", "nan", "inf"])
def test_samples(refused, tmp_path, samples):
    path = tmp_path / "times.csv"
    path.write_text(f"compute_s\n0.1\n{samples}\n")

    rule = f"'compute_s' in row 2(={samples}) must be finite and >= 0."
    assert rule in refused("simulate", "gaia", "--compute-times", path)


@pytest.mark.parametrize("command", ["simulate", "validate"])
def test_a_route_over_a_cut_that_failed(refused, tmp_path, command):
    path = tmp_path / "cut.toml"
    path.write_text(FAILED_CUT)

    assert "while PL - UA is down, no route is left between" in refused(command, path)


@pytest.mark.parametrize(
    ("rounds", "first", "missed", "message"),
    [
        (100, 10**20, 2, "simulation.away[0].from_round + rounds(=100000000000000000002) must be <= 100"),
        (
            100,
            9 * 10**18,
            9 * 10**18,
            "simulation.away[0].from_round + rounds(=18000000000000000000) must be <= 100",
        ),
        (10**20, 5 * 10**19, 2, "simulation.rounds(=100000000000000000000) must be <= 2147483648."),
    ],
)
def test_more_rounds_than_an_integer_holds(refused, tmp_path, rounds, first, missed, message):
    path = tmp_path / "away.toml"
    failure = FAILED_CUT.index("[[")
    path.write_text(
        FAILED_CUT[:failure].replace("rounds = 100", f"rounds = {rounds}")
        + f'[[simulation.away]]\nsilo = "UA"\nfrom_round = {first}\npolicy = "go_on"\nrounds = {missed}\n'
    )

    assert f"{path}: {message}" in refused("simulate", path)


@pytest.mark.parametrize("command", ["simulate", "validate"])
def test_a_silo_that_never_hears_of_others_again(refused, tmp_path, command):
    path = tmp_path / "away.toml"
    away = (
        f'[[simulation.away]]\nsilo = "{label}"\nfrom_round = 50\npolicy = "go_on"\nrounds = 50\n'
        for label in load_underlay("geant").labels[1:]
    )
    path.write_text(FAILED_CUT[: FAILED_CUT.index("[[")] + "".join(away))

    error = refused(command, path)
    assert f"silosim: error: {path}: simulation.away[" in error
    assert "].from_round + rounds(=100) must leave time to come back: from round 99 on" in error
