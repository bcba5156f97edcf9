"""Errors in the use of the command line have the style of all others: one line, exit code 2, and where the help is."""

import pytest


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run",), "Missing argument 'SCENARIO'. Try 'silosim run --help'."),
        (("design", "gaia", "--bonud"), "No such option: --bonud"),
        (("design", "gaia", "more"), "(more). Try 'silosim design --help'."),
        (("design", "gaia", "two\nlines"), ". Try 'silosim design --help'."),
        (("design", "gaia", "--access"), "'--access' requires an argument. Try 'silosim design --help'."),
        (("design", "gaia", "--bound=3"), "'--bound' does not take a value. Try 'silosim design --help'."),
        (("sweep", "gaia"), "Missing option '--access'. Try 'silosim sweep --help'."),
        (("run", "x.toml"), "Missing option '-o' / '--output'. Try 'silosim run --help'."),
        (("import-metrics",), "Try 'silosim import-metrics --help'."),
        (("--nope",), "No such option: --nope. Try 'silosim --help'."),
        (("desing", "gaia"), "No such command 'desing'. Did you mean 'design'? Try 'silosim --help'."),
        (
            ("simulate", "gaia", "--rounds", "many"),
            "rounds(='many') must be an integer. Try 'silosim simulate --help'.",
        ),
        (("design", "gaia", "--local-steps", "1.5"), "local_steps(='1.5') must be an integer."),
        (("partition", "gaia", "--alpha", "0,5"), "alpha(='0,5') must be a number."),
        (("partition", "gaia", "--seed", ""), "seed(='') must be an integer."),
    ],
)
def test_an_error_in_the_use_is_one_line_with_a_hint(silosim, arguments, message):
    result = silosim(*arguments).failed(2)

    assert (result.out, result.err.count("\n")) == ("", 1)
    assert result.err.startswith("silosim: error: ")
    assert message in result.err
    assert result.err.endswith(" --help'.\n")


def test_without_arguments_there_is_help_and_no_error(silosim):
    result = silosim()

    assert "Commands, in the order of use:" in result.out + result.err
    assert "error" not in result.err
