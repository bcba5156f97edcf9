"""Headers and encryption on the wire: factors, names, replays, errors."""

import json

import pytest

from scenarios.config.network import WorkloadConfig, build_workload
from scenarios.config.overhead import overhead_factor
from scenarios.runfile.reader import read_run
from topologies import InputError


def test_factors_are_those_of_the_headers():
    """An MTU of 1,500 bytes less 20 of IPv4 and 32 of TCP with time stamps; TLS adds 22 bytes to 16 KiB."""
    assert overhead_factor("tcp") == pytest.approx(1500 / 1448, rel=1e-15)
    assert overhead_factor("tls") == pytest.approx(1500 / 1448 * 16406 / 16384, rel=1e-15)
    assert overhead_factor("5 %") == 1.05
    assert overhead_factor(None) == 1.0


@pytest.mark.parametrize("text", ["x", "", "5", "-5 %", "100 %", "TCP"])
def test_others_are_refused(text):
    with pytest.raises(InputError) as raised:
        WorkloadConfig(preset="femnist", overhead=text)
    assert str(raised.value).startswith("overhead(=")


def test_the_model_grows_and_its_name_says_so():
    plain, larger = (
        build_workload(WorkloadConfig(preset="femnist", overhead=text), "corrected") for text in (None, "tls")
    )

    assert larger.model_bits == pytest.approx(plain.model_bits * overhead_factor("tls"), rel=1e-15)
    assert (plain.name, larger.name) == ("femnist", "femnist, overhead tls")


def test_transmissions_alone_take_longer(silosim):
    """Without latency and computing the cycle time is proportional to the bits on the wire."""
    times = []
    for more in ([], ["--overhead", "7 %"]):
        options = [
            "explain",
            "gaia",
            "--kind",
            "ring",
            "--compute",
            "0 s",
            "--model-size",
            "45 GB",
            *more,
            "--json",
        ]
        found = json.loads(silosim(*options).ok().out)
        times.append([row["transmission_s"] for row in found["rows"]])

    assert times[1] == pytest.approx([1.07 * seconds for seconds in times[0]], rel=1e-12)


@pytest.mark.usefixtures("placeholder_figures")
def test_a_replay_takes_other_headers(silosim, run_file, tmp_path):
    sizes = []
    for name, options in (("a", ["--overhead", "tcp"]), ("b", ["--model-size", "1 MB", "--overhead", "tcp"])):
        result = silosim("replay", str(run_file), "-o", str(tmp_path / f"{name}.h5"), *options)
        assert result.code == 0, result.err
        sizes.append(read_run(tmp_path / f"{name}.h5").work.model_bits)
    before = read_run(run_file).work.model_bits

    assert sizes[0] == pytest.approx(before * 1500 / 1448, rel=1e-12)
    assert sizes[1] == pytest.approx(8e6 * 1500 / 1448, rel=1e-12)
