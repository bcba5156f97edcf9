"""Price lists: which row goes before which, units and currencies, and wrong lists."""

import numpy as np
import pytest

from topologies import AccessLinks, InputError, Workload, build_overlay, connectivity
from topologies.analysis import upgrade_links
from topologies.analysis.link_prices import read_prices

WORK = Workload(model_bits=1e7, compute_s=0.0)


@pytest.fixture
def overlay(make_underlay):
    graph = connectivity(
        make_underlay(3, [(0, 1, 0.0), (1, 2, 0.0)]), access=AccessLinks(up_bps=5e8, down_bps=1e9)
    )
    return build_overlay("line", graph, WORK, [(0, 1), (1, 0), (1, 2), (2, 1)])


@pytest.fixture
def price_list(tmp_path, overlay):
    """Prices of a text, by the names of the links."""

    def read(text):
        path = tmp_path / "prices.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        found = read_prices(path, overlay.graph)
        return found, {link.name: found.price(link) for link in upgrade_links(overlay)}

    return read


def test_a_link_goes_before_its_class_and_a_narrow_class_before_a_wide_one(price_list):
    found, prices = price_list(
        "link,price per Gbps\naccess,10\ndownlink,20\nr1 downlink,30\ncore,7\ncore link r1 - r0,8\nr2 uplink,\n"
    )

    # Uplinks get 0.5 Gbps more, all others 1 Gbps. A row without a price leaves the link to its class.
    assert prices == {
        "r0 uplink": 5.0,
        "r1 uplink": 5.0,
        "r2 uplink": 5.0,
        "r0 downlink": 20.0,
        "r1 downlink": 30.0,
        "r2 downlink": 20.0,
        "core link r0 - r1": 8.0,
        "core link r1 - r2": 7.0,
    }
    assert found.currency == ""


def test_a_link_without_a_price_has_none(price_list):
    _, prices = price_list("link,price per Gbps\nr0 uplink,4\nr1 - r2,6\n")

    assert {name: price for name, price in prices.items() if price is not None} == {
        "r0 uplink": 2.0,
        "core link r1 - r2": 6.0,
    }


@pytest.mark.parametrize(
    ("text", "currency", "price"),
    [
        ("class;price per Gbps (EUR)\nuplink;1,5\n", "EUR", 0.75),
        (b"\xef\xbb\xbfclass,price per Mbps [USD]\r\nuplink,0.5\r\n", "USD", 250.0),
        ("name\tcost [CHF/Mbps]\nuplink\t0.5\n", "CHF", 250.0),
        ("class,price\nuplink,3\n", "", 1.5),
        ("class,price (EUR)\nuplink,3\n", "EUR", 1.5),
        *(
            (f"class,{header}\nuplink,3\n", currency, 3 * times * 0.5)
            for header, currency, times in (
                ("price (per Mbps)", "", 1e3),
                ("Price (EUR per Mbps)", "EUR", 1e3),
                ("price (EUR per mbps)", "EUR", 1e3),
                ("price (EUR per Gbps)", "EUR", 1),
                ("PRICE [EUR PER TBPS]", "EUR", 1e-3),
                ("price (per Tbps)", "", 1e-3),
                ("price per Tbit/s (CHF)", "CHF", 1e-3),
                ("price (EUR/MB/s)", "EUR", 125),
                ("price_per_mbps", "", 1e3),
                ("price_(EUR_per_Mbps)", "EUR", 1e3),
                ("price (super EUR)", "super EUR", 1),
            )
        ),
    ],
)
def test_dialects_units_and_currencies(price_list, text, currency, price):
    found, prices = price_list(text)

    assert found.currency == currency
    assert prices["r0 uplink"] == pytest.approx(price, rel=1e-12)
    assert found.note.startswith("prices.csv: price per Gbps")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("link,price\nr9 uplink,1\n", r"row 2, link\(='r9 uplink'\) must be one of .*did you mean"),
        ("link,price\nr0 uplink,much\n", r"row 2, price\(='much'\) must be a number\.$"),
        ("link,price\nr0 uplink,-1\n", r"row 2, price\(='-1'\) must be finite and >= 0\.$"),
        ("link,price\nr0 uplink,inf\n", r"row 2, price\(='inf'\) must be finite and >= 0\.$"),
        (
            "link,price\nr0 - r1,1\n\ncore link r1 - r0,2\n",
            r"row 4, link\(='core link r1 - r0'\) must be unique, is in row 2, too\.$",
        ),
        (
            "link,gbps\nr0 uplink,1\n",
            r"needs a column 'price per Gbps' or 'price per Mbps \(EUR\)' or .*; it has 'link', 'gbps'\.$",
        ),
        (
            "link,EUR/Gbps\nr0 uplink,1\n",
            r"needs a column 'price per Gbps' or .* for the price; it has 'link', 'EUR/Gbps'\.$",
        ),
        ("link,price (EUR)\nr0 uplink,-1\n", r"row 2, price \(EUR\)\(='-1'\) must be finite and >= 0\.$"),
        (
            'link,price per Gbps (EUR)\ncore,"1,5"\n',
            r"row 2, price per Gbps \(EUR\)\(='1,5'\) must have a decimal",
        ),
        ("price,gbps\n1,1\n", r"needs a column 'link' or 'class' or .* for links or classes"),
        (
            "link,price per km\ncore,1\n",
            r"the column 'price per km' must be per a data rate, such as 'price per Gbps'",
        ),
    ],
)
def test_wrong_lists_are_named_with_file_and_row(price_list, text, message):
    with pytest.raises(InputError, match=rf"prices\.csv: {message}"):
        price_list(text)


@pytest.mark.parametrize(
    "header",
    [
        "price (per month)",
        "price (EUR per km)",
        "price (EUR per Mbps per month)",
        "price (EUR/Mbps/month)",
        "price (EUR per 100 Mbps)",
        "price (EUR per Mb)",
        "price per Gbps (EUR/month)",
        "price per Gbps (EUR per Mbps)",
        "price (Mbps)",
        "cost [EUR Mbps]",
        "price (EUR per )",
        "price (EURperMbps)",
        "price (EUR pro Gbit)",
        "price (EUR Gb/s)",
        "price EUR",
        "price per Gbps EUR",
        "price per link",
    ],
)
def test_prices_per_what_is_not_understood_are_refused(price_list, header):
    with pytest.raises(
        InputError, match=r"prices\.csv: the column .* must be per a data rate, such as"
    ) as caught:
        price_list(f"class,{header}\nuplink,3\n")
    assert header in str(caught.value)


def test_the_note_says_what_was_assumed_and_ignored(price_list):
    bare, _ = price_list("class,price (EUR),price list,supplier\nuplink,3,A,B\n")
    stated, _ = price_list("class,price per Gbps (EUR)\nuplink,3\n")

    assert bare.note == (
        "prices.csv: price per Gbps in EUR from 'price (EUR)', which states no rate; ignored: 'price list', 'supplier'."
    )
    assert stated.note == "prices.csv: price per Gbps in EUR from 'price per Gbps (EUR)'."


def test_measured_pairs_are_priced_by_direction(make_underlay, tmp_path):
    rates = np.array([[np.inf, 3e8], [1e8, np.inf]])
    graph = connectivity(
        make_underlay(2, [(0, 1, 0.0)]), access=AccessLinks(up_bps=1e9, down_bps=1e9), bandwidth=rates
    )
    (tmp_path / "p.csv").write_text("link,price\nmeasured,10\nr1 -> r0,20\n")
    prices = read_prices(tmp_path / "p.csv", graph)
    links = upgrade_links(build_overlay("pair", graph, WORK, [(0, 1), (1, 0)]))[-2:]

    assert [prices.price(link) for link in links] == pytest.approx([3.0, 2.0])
