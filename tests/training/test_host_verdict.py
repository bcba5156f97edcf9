"""Who is to blame among ranks of several hosts, by what each host says that it sees."""

import pytest

from training.engine.progress import Stage
from training.mpi.host_verdict import HEARD_S, HUB, Host, HostVerdict
from training.mpi.rank_progress import NOBODY, RankState
from training.mpi.rank_watch import LOOK_S, Seen

LIMIT_S = 60.0
HOSTS = (Host(name="a", ranks=(0, 1)), Host(name="b", ranks=(2,)), Host(name="c", ranks=(3, 4)))
LOST = (
    "nothing was heard for longer than rank_timeout(='1 minute') of {}, as where a host is lost or the network to "
    "it is cut; all ranks were ended."
)


class Ranks:
    """Ranks of three hosts as one host's watch hears of them."""

    def __init__(self, own=HUB, limit_s=LIMIT_S):
        self.judge = HostVerdict(HOSTS, own, limit_s=limit_s, stated="1 minute")
        self.own = own
        self.steps = dict.fromkeys(range(5), 0)
        self.stage = dict.fromkeys(range(5), Stage.WAITING)
        self.thread_s = dict.fromkeys(range(5), 0.0)
        self.stopped = set()

    def seen(self, host):
        name = HOSTS[host].name
        return {
            rank: Seen(
                state=RankState(
                    process=100 + rank, steps=self.steps[rank], stage=self.stage[rank], host=name
                ),
                thread_s=self.thread_s[rank],
                is_stopped=rank in self.stopped,
            )
            for rank in HOSTS[host].ranks
        }

    def pass_time(self, seconds, heard=(0, 1, 2), steps=()):
        """Let time pass in which some hosts are heard and some ranks make steps; the first verdict."""
        for _ in range(round(seconds / LOOK_S)):
            for rank in steps:
                self.steps[rank] += 1
            for host in heard:
                # The hub judges for others, and says nothing of its ranks.
                self.judge.hear(host, self.seen(host) if self.own in (HUB, host) else {})
            if (verdict := self.judge.look(LOOK_S)) is not None:
                return verdict
        return None


def test_a_silent_rank_of_another_host_is_named_and_the_first_that_is_not_speaks():
    ranks = Ranks()
    ranks.stage[3] = Stage.HOST
    assert ranks.pass_time(LIMIT_S) is None
    verdict = ranks.pass_time(1)
    assert verdict.message == (
        "rank 3 on c (process 103) made no progress for longer than rank_timeout(='1 minute'); all ranks were ended."
    )
    assert verdict.speaker == 0


def test_a_stopped_rank_0_does_not_speak():
    ranks = Ranks()
    ranks.stopped = {0}
    verdict = ranks.pass_time(LIMIT_S + 1)
    assert verdict.message.startswith("rank 0 on a (process 100), which is stopped, made no progress")
    assert verdict.speaker == 1


def test_nobody_speaks_where_all_are_to_blame():
    ranks = Ranks()
    ranks.stopped = set(range(5))
    assert ranks.pass_time(LIMIT_S + 1).speaker == NOBODY


@pytest.mark.parametrize("progress", ["steps", "processor time"])
def test_ranks_that_wait_for_a_slow_one_end_nothing(progress):
    ranks = Ranks()
    ranks.stage[4] = Stage.HOST
    for _ in range(round(10 * LIMIT_S / LOOK_S)):
        ranks.thread_s[4] += 0.01 * (progress != "steps")
        assert ranks.pass_time(LOOK_S, steps=[4] * (progress == "steps")) is None


def test_all_that_wait_for_each_other_are_named():
    ranks = Ranks()
    assert ranks.pass_time(LIMIT_S) is None
    verdict = ranks.pass_time(1)
    assert verdict.message.startswith(
        "all ranks have waited for each other for longer than rank_timeout(='1 minute')"
    )
    assert "rank 0 on a, rank 1 on a, rank 2 on b, rank 3 on c, rank 4 on c" in verdict.message


def test_a_host_that_is_no_longer_heard_is_lost_once_all_others_wait():
    ranks = Ranks()
    ranks.stage[3] = Stage.HOST
    assert ranks.pass_time(5) is None
    # Rank 3 was seen at work, and may be.
    assert ranks.pass_time(10 * LIMIT_S, heard=(0, 1), steps=(1,)) is None
    verdict = ranks.pass_time(LIMIT_S + 1, heard=(0, 1))
    assert verdict.message == LOST.format("rank 3 on c, rank 4 on c")
    assert verdict.speaker == 0


def test_of_a_host_that_was_never_heard_nothing_is_concluded():
    ranks = Ranks()
    assert ranks.pass_time(10 * LIMIT_S, heard=(0, 1)) is None
    ranks.stopped = {1}
    assert ranks.pass_time(1, heard=(0, 1)).message.startswith("rank 1 on a")


def test_another_host_leaves_it_to_the_hub_while_that_is_heard():
    ranks = Ranks(own=1)
    ranks.stopped = {2}
    assert ranks.pass_time(10 * LIMIT_S, heard=(0, 1)) is None
    verdict = ranks.pass_time(HEARD_S + 1, heard=(1,))
    assert verdict.message.startswith("rank 2 on b (process 102), which is stopped,")
    assert verdict.speaker == NOBODY


def test_another_host_names_the_ranks_of_the_hub_where_that_is_lost():
    ranks = Ranks(own=2)
    assert ranks.pass_time(10 * LIMIT_S, heard=(0, 2)) is None
    assert ranks.pass_time(LIMIT_S - 1, heard=(2,)) is None
    verdict = ranks.pass_time(2, heard=(2,))
    assert verdict.message == LOST.format("rank 0 on a, rank 1 on a")
    assert verdict.speaker == 3


def test_a_host_that_has_never_heard_the_hub_judges_its_own_ranks_only():
    ranks = Ranks(own=2)
    assert ranks.pass_time(10 * LIMIT_S, heard=(2,)) is None
    ranks.stopped = {4}
    verdict = ranks.pass_time(1, heard=(2,))
    assert verdict.message.startswith("rank 4 on c")
    assert verdict.speaker == 3


def test_a_rank_that_is_about_to_be_to_blame_does_not_speak():
    ranks = Ranks()
    ranks.stopped = {0, 1}
    ranks.pass_time(1, steps=(1,))
    verdict = ranks.pass_time(LIMIT_S)
    assert verdict.message.startswith("rank 0 on a (process 100), which is stopped, made no progress")
    assert verdict.speaker == 2


def test_hosts_have_met_once_the_hub_has_heard_all_and_each_other_one_the_hub():
    hub, other = Ranks(), Ranks(own=2)
    for host, met in ((0, False), (2, False), (1, True)):
        assert hub.judge.has_met is False
        hub.judge.hear(host, {})
        assert hub.judge.has_met is met
    other.judge.hear(2, {})
    other.judge.hear(1, {})
    assert other.judge.has_met is False
    other.judge.hear(HUB, {})
    assert other.judge.has_met is True


def test_a_host_is_heard_and_not_lost_up_to_the_whole_of_its_times():
    ranks = Ranks(own=1)
    ranks.stopped = {2}
    assert ranks.pass_time(2 * LIMIT_S, heard=(0, 1)) is None
    # The last look was half a second after it was heard.
    assert ranks.pass_time(HEARD_S - LOOK_S, heard=(1,)) is None
    assert ranks.pass_time(LOOK_S, heard=(1,)).message.startswith("rank 2 on b (process 102)")

    ranks = Ranks(own=1)
    assert ranks.pass_time(2 * LIMIT_S, heard=(0, 1)) is None
    assert ranks.pass_time(LIMIT_S - LOOK_S, heard=(1,)) is None
    assert ranks.pass_time(LOOK_S, heard=(1,)).message == LOST.format("rank 0 on a, rank 1 on a")
