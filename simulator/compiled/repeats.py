"""Repeats of the whole state, which prove that a job is periodic."""

from math import inf

from simulator.compiled.slow_start import next_held, starts_slowly
from simulator.compiled.state import NONE, WAITING, Network, Queue, Silos, Window
from simulator.tolerances import DATE_NOISE, REPEATED_STATE
from topologies.arrays import FloatArray
from topologies.jit import compiled


@compiled
def is_repeat(network: Network, silos: Silos, queue: Queue, window: Window, saved: FloatArray) -> bool:
    """Whether the state is the saved one, later; if not, save it at each power of two of rounds.

    Notes
    -----
    Brent's cycle detection: in time a saved state lies in the cycle and is at most as old as the cycle is long. States
    are compared where the job has the same arcs in the rounds that follow, see `simulator.job.Job.period`.

    The state is the event and the round of every silo, the messages that it misses and how much later those that it has
    arrive, and of every arc the messages under way, what they have left, and their rate; where it starts slowly, until
    when messages are held back, and until when it is open.
    """
    clock = network.clock[0]
    k = clock.reference
    clock.reference = NONE
    same_arcs = clock.saved_round >= 0 and (k - clock.saved_round) % clock.period == 0
    if same_arcs and _compare(network, silos, queue, window, saved, k, False):
        return True
    if k >= clock.next_round:
        _compare(network, silos, queue, window, saved, k, True)
        clock.saved_s = clock.now_s
        clock.saved_round = k
        clock.next_round = 2 * k
    return False


@compiled
def _compare(
    network: Network, silos: Silos, queue: Queue, window: Window, saved: FloatArray, k: int, save: bool
) -> bool:
    """Compare the state with the saved one as far as they agree, or save it."""
    clock = network.clock[0]
    now_s = clock.now_s
    noise_s = now_s * (DATE_NOISE / REPEATED_STATE)
    period_s = now_s - clock.saved_s + noise_s
    place = 0
    for number in range(len(silos.table)):
        silo = silos.table[number]
        ahead_s = 0.0 if silo.phase == WAITING else silos.events[number].key - now_s
        if not (
            _same_number(saved, place, silo.round - k, save)
            and _same_number(saved, place + 1, silo.phase, save)
            and _same(saved, place + 2, ahead_s, period_s, save)
        ):
            return False
        place += 3
    for number in range(len(network.arcs)):
        arc = network.arcs[number]
        if not _same_number(saved, place, arc.count + arc.queued, save):
            return False
        place += 1
        if arc.slow:
            if not (
                _same_number(saved, place, arc.held, save)
                and _same_number(saved, place + 1, starts_slowly(arc, now_s), save)
            ):
                return False
            place += 2
            if arc.held:
                if not _same_number(saved, place, arc.held_round - k, save):
                    return False
                place += 1
                round_ = arc.held_round
                for behind in range(arc.held):
                    if behind:
                        round_ = next_held(network, window.messages, number, round_)
                    until_s = window.messages[round_ - clock.base, number].start_s
                    if not _same(saved, place, until_s - now_s, period_s, save):
                        return False
                    place += 1
            elif not arc.count and not starts_slowly(arc, now_s) and arc.open_until_s < inf:
                if not _same(saved, place, arc.open_until_s - now_s, period_s, save):
                    return False
                place += 1
        if not arc.count:
            continue
        left_bits = arc.left_bits - arc.rate_bps * (now_s - arc.since_s)
        if not (
            _same_number(saved, place, arc.head_round - k, save)
            and _same(saved, place + 1, arc.rate_bps, arc.rate_bps, save)
            and _same(saved, place + 2, left_bits, arc.bits + noise_s * arc.rate_bps, save)
        ):
            return False
        place += 3
        for behind in range(1, arc.count):
            gap_bits = queue.gap_bits[(arc.head + behind) % len(queue.gap_bits), number]
            if not _same(saved, place, gap_bits, arc.bits + noise_s * arc.rate_bps, save):
                return False
            place += 1
    if not _same_number(saved, place, clock.latest - k, save):
        return False
    place += 1
    for number in range(len(silos.table)):
        for row in range(silos.table[number].round - clock.base, clock.latest + 1 - clock.base):
            later_s = max(0.0, window.inbox[row, number].latest_s - now_s)
            if not (
                _same_number(saved, place, window.inbox[row, number].missing, save)
                and _same(saved, place + 1, later_s, period_s, save)
            ):
                return False
            place += 2
    return True


@compiled
def _same_number(saved: FloatArray, place: int, value: int, save: bool) -> bool:
    if save:
        saved[place] = value
        return True
    return bool(value == saved[place])


@compiled
def _same(saved: FloatArray, place: int, value: float, scale: float, save: bool) -> bool:
    if save:
        saved[place] = value
        return True
    return bool(abs(value - saved[place]) <= REPEATED_STATE * scale)
