"""The clock of the SimPy engine."""

from simpy.events import NORMAL, Event

from simulator.simpy_engine.clock import CHANGE, LAST, LATE, Clock


def test_events_of_one_date_happen_by_their_kind_not_by_who_came_first():
    clock, seen = Clock(), []
    for number, kind in enumerate((LAST, LATE, CHANGE, NORMAL, CHANGE, LATE, LAST)):
        event = Event(clock)
        event.callbacks.append(lambda _, number=number: seen.append((clock.now, number)))
        clock.succeed_at(event, 0.3, kind)
    clock.run()

    assert seen == [(0.3, number) for number in (3, 2, 4, 1, 5, 0, 6)]
