"""The result of a simulation: when every silo started every round."""

from dataclasses import dataclass

from topologies.arrays import FloatArray


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeline:
    """Dates and loads of a simulated job of a given number of rounds.

    Parameters
    ----------
    round_start_s : ndarray of shape (rounds + 1, silos)
        ``round_start_s[k, i]`` is t_i(k), when silo `i` starts the computing of round `k`; the last row is
        when the silos have ended the job.
    arrival_s : ndarray of shape (rounds, arcs)
        When the message of each round arrives at the target of each arc.
    link_bits : ndarray of shape (links,)
        Bits of all delivered messages that crossed each link direction.
    cycle_time_s : float
        Time per round in the steady state, in seconds.
    cycle_time_is_exact : bool
        Whether `cycle_time_s` stems from a repeat. With ``sharing="equal"`` that proves it (relative 1e-9);
        with ``sharing="maxmin"`` the whole last half of the rounds repeats. Otherwise `cycle_time_s` is an
        estimate, the mean slope of the last rounds: more rounds make it better.

    See Also
    --------
    simulator.steady : the two rules and their proofs.
    """

    round_start_s: FloatArray
    arrival_s: FloatArray
    link_bits: FloatArray
    cycle_time_s: float
    cycle_time_is_exact: bool
