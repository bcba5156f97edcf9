"""Network and access capacities in a sentence."""

from dataclasses import replace

import numpy as np
import pytest
from pair_run import pair_graph

from scenarios.config.place_text import place_text


@pytest.mark.parametrize(
    ("up", "down", "said"),
    [
        ((1e8, 1e8), (1e8, 1e8), "pair at 100 Mbps"),
        ((1e8, 1e9), (1e8, 1e9), "pair with access links of 100 Mbps to 1 Gbps"),
        ((1e8, 1e8), (1e9, 1e9), "pair at 100 Mbps up, 1 Gbps down"),
        ((1e7, 1e8), (1e9, 1e9), "pair at 10 Mbps to 100 Mbps up, 1 Gbps down"),
        ((np.inf, np.inf), (np.inf, np.inf), "pair with unlimited access links"),
        ((1e8, np.inf), (1e8, np.inf), "pair with access links of 100 Mbps to unlimited"),
        ((1e8, np.inf), (np.inf, np.inf), "pair at 100 Mbps to unlimited up, unlimited down"),
        ((np.inf, np.inf), (1e8, 1e9), "pair at unlimited up, 100 Mbps to 1 Gbps down"),
    ],
)
def test_what_access_links_have_is_said(up, down, said):
    graph = replace(pair_graph(), up_bps=np.array(up), down_bps=np.array(down))

    assert place_text(graph.underlay, graph) == said
