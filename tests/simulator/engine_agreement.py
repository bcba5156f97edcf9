"""What both engines must give alike."""

import numpy as np

from simulator import simulate_flows

DATES = ("start_s", "last_bit_s", "arrival_s")


def check_both_engines_agree(**values):
    """Simulate flows in both engines: round starts and messages to 1e-9, bits on links to 1e-12; their timelines."""
    slow, fast = (simulate_flows(**values, messages=True, engine=engine) for engine in ("simpy", "compiled"))
    np.testing.assert_allclose(fast.round_start_s, slow.round_start_s, rtol=1e-9)
    for table in DATES:
        np.testing.assert_allclose(getattr(fast.messages, table), getattr(slow.messages, table), rtol=1e-9)
    np.testing.assert_allclose(fast.link_bits, slow.link_bits, rtol=1e-12)
    return slow, fast
