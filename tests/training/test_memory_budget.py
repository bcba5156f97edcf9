"""Which machine or GPU is too small, and what would fit, on numbers worked out by hand."""

import math
import mmap
import resource
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from topologies.errors import MachineError
from training.engine.hardware import gpu_number, hardware_name, machine_number, processor_name
from training.memory.memory_budget import (
    Place,
    available_bytes,
    check_fits,
    gigabytes,
    gpu_bytes,
    places_of,
    plan_text,
    resident_bytes,
)
from training.memory.memory_plan import MemoryPlan

GB = 1e9


def place(**changes):
    fields = {
        "kind": "machine",
        "ranks": (0, 1),
        "silos": 22,
        "need": 24 * GB,
        "available": 12.9 * GB,
        "per_silo": 1 * GB,
        "fixed": 1 * GB,
    }
    return Place(**{**fields, **changes})


def test_what_fits_exactly_is_let_through_and_one_byte_less_is_not():
    check_fits([place(available=24 * GB)], silos=22)

    with pytest.raises(MachineError):
        check_fits([place(available=24 * GB - 1)], silos=22)


def test_message_says_need_available_memory_and_how_many_silos_per_rank_would_fit():
    # 12.9 GB for 2 ranks: 6.45 each, less 1 fixed: 5 silos of 1 GB; 22 silos are 5 ranks, on 3 machines of 2.
    with pytest.raises(MachineError) as error:
        check_fits([place()], silos=22)

    assert str(error.value) == (
        "training must fit into memory: 2 ranks with 22 silos on the machine of rank 0 would take 24.0 GB more, "
        "12.9 GB are available; 5 silos per rank would fit: 5 ranks on 3 machines like this."
    )


def test_the_machine_that_lacks_most_is_named():
    places = [place(available=23 * GB), place(ranks=(2, 3), available=20 * GB), place(available=math.inf)]

    with pytest.raises(MachineError, match=r"machine of rank 2 would take 24\.0 GB more, 20\.0 GB"):
        check_fits(places, silos=44)


def test_where_not_one_silo_fits_no_number_of_ranks_is_promised():
    with pytest.raises(
        MachineError, match="not one silo per rank would fit: take fewer ranks or a smaller batch"
    ):
        check_fits([place(available=3.9 * GB)], silos=22)


@pytest.mark.parametrize(
    ("ranks", "per_silo", "available", "advice"),
    [
        ((0, 1), 1, 4, "1 silo per rank would fit: 22 ranks on 11 machines like this."),
        ((0,), 1, 3, "2 silos per rank would fit: 11 ranks on 11 machines like this."),
        # A rank alone whose silos take nothing: neither fewer ranks nor fewer silos are a help.
        ((0,), 0, 3, "take a machine with more memory."),
    ],
)
def test_what_would_fit(ranks, per_silo, available, advice):
    short = place(ranks=ranks, per_silo=per_silo * GB, available=available * GB)

    with pytest.raises(MachineError) as error:
        check_fits([short], silos=22)

    assert str(error.value).endswith(f"; {advice}")


def test_a_rank_alone_is_not_told_to_take_fewer():
    with pytest.raises(MachineError, match=r"not one silo per rank would fit: take a smaller batch_size\.$"):
        check_fits([place(ranks=(0,), available=1.9 * GB)], silos=22)


def test_a_machine_too_small_for_the_rows_between_its_gpus_is_told_to_take_fewer_ranks():
    with pytest.raises(MachineError, match=r"12\.9 GB are available; take fewer ranks per machine\.$"):
        check_fits([place(per_silo=0, fixed=12 * GB)], silos=22)


def test_unknown_memory_lets_everything_through():
    check_fits([place(available=math.inf)], silos=22)

    assert place(available=math.inf).fitting == 22


def test_ranks_that_share_a_machine_share_its_memory():
    table = np.array(
        [
            [7, 0, 10, 0, 4, 2, 100, math.inf],
            [9, 0, 8, 0, 3, 2, 50, math.inf],
            [7, 0, 8, 0, 3, 2, 90, math.inf],
        ],
        dtype=float,
    )

    assert places_of(table) == [
        place(ranks=(0, 2), silos=7, need=18, available=90, per_silo=2, fixed=2),
        place(ranks=(1,), silos=3, need=8, available=50, per_silo=2, fixed=2),
    ]


def test_silos_on_a_gpu_count_there_and_only_rows_on_their_way_on_the_machine():
    table = np.array([[7, 5, 3, 40, 4, 9, 100, 80], [7, 6, 3, 40, 4, 9, 100, 80]], dtype=float)

    gpu = place(kind="GPU", ranks=(0,), silos=4, need=40, available=80, per_silo=9, fixed=4)

    assert places_of(table) == [
        place(silos=8, need=6, available=100, per_silo=0, fixed=3),
        gpu,
        replace(gpu, ranks=(1,)),
    ]


def test_the_rank_that_takes_most_without_silos_counts_for_all():
    # 20 bytes for 4 silos of 3, and 20 for 2 of them: 8 and 14 are left. No rank takes less than nothing.
    table = np.array([[7, 0, 20, 0, 4, 3, 60, math.inf], [7, 0, 20, 0, 2, 3, 60, math.inf]], dtype=float)
    (machine,) = places_of(table)
    table[:, 2] = 1
    (less,) = places_of(table)

    assert (machine.fixed, less.fixed) == (14, 0)
    # Each rank has 30 bytes: 16 beside the fixed ones.
    assert machine.fitting == 5
    assert replace(machine, available=2 * 16).fitting == 0
    assert replace(machine, available=2 * 17).fitting == 1
    assert replace(machine, available=2 * 10).fitting == 0


def test_the_largest_silo_of_a_place_counts_for_all():
    table = np.array([[7, 0, 20, 0, 2, 3, 60, math.inf], [7, 0, 20, 0, 2, 5, 60, math.inf]], dtype=float)
    (machine,) = places_of(table)

    assert (machine.per_silo, machine.fixed) == (5, 14)


PLAN = MemoryPlan(
    silos=3,
    at_once=1,
    models=1.2 * GB,
    gradients=0.6 * GB,
    optimizer=0.3 * GB,
    data=3 * GB,
    weights=0.9 * GB,
    libraries=0.1 * GB,
    step=2 * GB,
    metrics=2.4 * GB,
    staging=0,
)


def test_what_a_silo_adds_is_its_part_and_its_step_where_steps_are_made_together():
    lasting = (1.2 + 0.6 + 0.3 + 3 + 0.9) * GB

    assert PLAN.new == pytest.approx(lasting + 0.1 * GB + 2.4 * GB)
    assert replace(PLAN, step=3 * GB).new == pytest.approx(lasting + 0.1 * GB + 3 * GB)
    assert PLAN.per_silo == pytest.approx(lasting / 3)
    assert replace(PLAN, at_once=2).per_silo == pytest.approx((lasting + 2 * GB) / 3)


def test_what_a_silo_adds_is_exact_to_the_byte():
    small = {
        "models": 8,
        "gradients": 4,
        "optimizer": 2,
        "data": 10,
        "weights": 6,
        "libraries": 100,
        "metrics": 50,
        "staging": 0,
    }
    alone = MemoryPlan(silos=2, at_once=1, step=70, **small)
    assert (alone.new, alone.per_silo) == (30 + 100 + 70, 15)
    assert replace(alone, at_once=2).per_silo == 50
    assert replace(alone, silos=0).per_silo == 0


def test_the_plan_in_lines():
    places = [place(available=30 * GB), place(ranks=(2,), need=9 * GB, available=12 * GB)]
    text = plan_text(PLAN, places, held=0.5 * GB, silos=7, batch_size=16)

    # The place with the least left: 3 GB, not 6.
    assert text.splitlines() == [
        "memory in GB (10^9 bytes) of rank 0, 3 of 7 silos: 9.00",
        "  held already 0.500, models 1.20, gradients 0.600, optimizer 0.300,",
        "  data 3.00, mixing weights 0.900, libraries 0.100;",
        "  a step (batch size 16) 2.00 or metrics 2.40",
        "  the machine of rank 2: it needs 9.00 more, 12.0 available",
    ]


def test_the_plan_is_one_line_where_more_than_twice_the_need_is_there():
    plenty = [place(need=9 * GB, available=18.1 * GB), place(ranks=(2,), need=9 * GB, available=20 * GB)]
    gpu = place(kind="GPU", ranks=(0,), need=9 * GB, available=140 * GB)

    def plan(*places):
        return plan_text(PLAN, places, held=0.5 * GB, silos=7, batch_size=16)

    assert plan(*plenty) == "memory: rank 0 needs 9.00 GB, 18.1 GB available"
    assert (
        plan(*plenty, gpu) == "memory: rank 0 needs 9.00 GB, 18.1 GB available, 140 GB available on the GPU"
    )
    # One place that is tight, or of which nothing is known.
    assert "held already" in plan(*plenty, replace(gpu, available=18 * GB))
    assert "held already" in plan(*plenty, replace(gpu, available=math.inf))


def test_the_plan_in_lines_on_gpus_of_a_system_that_tells_nothing():
    places = [
        place(available=math.inf),
        place(kind="GPU", ranks=(0, 1, 2), available=25 * GB),
        place(kind="GPU", ranks=(3,), available=26 * GB),
    ]
    first, *_, machine, gpu = plan_text(
        replace(PLAN, at_once=2), places, held=0, silos=7, batch_size=16
    ).splitlines()

    assert first == "memory in GB (10^9 bytes) of rank 0, 3 of 7 silos, 2 at once: 8.50"
    assert machine == "  the machine of rank 0: 2 ranks need 24.0 more, what is available is unknown"
    assert gpu == "  the GPU of rank 0: 3 ranks need 24.0 more, 25.0 available"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 GB"),
        (1, "0.0000000010 GB"),
        (27_649, "0.000028 GB"),
        (9.94e5, "0.00099 GB"),
        (9.99e5, "0.001 GB"),
        (1e6, "0.001 GB"),
        (1.5e6, "0.002 GB"),
        (9.999e8, "1.00 GB"),
        (1.234e9, "1.23 GB"),
        (9.996e9, "10.0 GB"),
        (1.2345e12, "1230 GB"),
    ],
)
def test_sizes_have_three_digits(number, text):
    assert gigabytes(number) == text


@pytest.fixture
def system(tmp_path):
    """A machine with 8 GiB left, as Linux describes it."""
    proc, cgroup = tmp_path / "proc", tmp_path / "cgroup"
    (proc / "self").mkdir(parents=True)
    (proc / "meminfo").write_text("MemTotal: 99999999 kB\nMemAvailable: 8388608 kB\n")

    def group(path, limit_file, limit, usage_file, usage, cache):
        (cgroup / path).mkdir(parents=True, exist_ok=True)
        (cgroup / path / limit_file).write_text(f"{limit}\n")
        (cgroup / path / usage_file).write_text(f"{usage}\n")
        (cgroup / path / "memory.stat").write_text(f"anon 5\n{cache}\n")

    return SimpleNamespace(proc=proc, cgroup=cgroup, group=group)


def test_without_control_groups_the_machine_counts(system):
    assert available_bytes(system.proc, system.cgroup) == 8 * 2**30


def test_a_limit_of_an_outer_group_counts_and_droppable_files_do_not(system):
    (system.proc / "self" / "cgroup").write_text("0::/job/step\n")
    system.group("job/step", "memory.max", "max", "memory.current", 400, "inactive_file 0")
    system.group("job", "memory.max", 1000, "memory.current", 700, "inactive_file 250")

    assert available_bytes(system.proc, system.cgroup) == 1000 - 700 + 250


def test_version_one_of_control_groups(system):
    (system.proc / "self" / "cgroup").write_text("5:cpu:/x\n4:memory:/not/here\n0::/\n")
    system.group(
        "memory", "memory.limit_in_bytes", 3000, "memory.usage_in_bytes", 1000, "total_inactive_file 1"
    )

    assert available_bytes(system.proc, system.cgroup) == 2001


def test_other_controllers_and_names_with_a_colon(system):
    (system.proc / "self" / "cgroup").write_text("5:cpu,pids:/x\n4:hugetlb,memory:/a:b\n")
    files = "memory.limit_in_bytes", "memory.usage_in_bytes"
    system.group("memory/x", files[0], 1, files[1], 0, "total_inactive_file 0")
    assert available_bytes(system.proc, system.cgroup) == 8 * 2**30

    # Without a line for files that can be dropped there are none.
    system.group("memory/a:b", files[0], 3000, files[1], 1000, "total_active_file 1")
    assert available_bytes(system.proc, system.cgroup) == 2000


def test_a_group_beyond_its_limit_leaves_nothing(system):
    (system.proc / "self" / "cgroup").write_text("0::/job\n")
    system.group("job", "memory.max", 1000, "memory.current", 1200, "inactive_file 0")

    assert available_bytes(system.proc, system.cgroup) == 0


def test_a_system_that_tells_nothing_has_no_limit(tmp_path):
    assert available_bytes(tmp_path, tmp_path) == math.inf
    (tmp_path / "meminfo").write_text("MemTotal: 99 kB\n")
    assert available_bytes(tmp_path, tmp_path) == math.inf


def test_free_memory_of_a_gpu_is_the_drivers_and_what_torch_holds_unused(monkeypatch):
    asked = []

    def answer(*numbers):
        return lambda device: (asked.append(device), numbers[0] if len(numbers) == 1 else numbers)[1]

    monkeypatch.setattr("torch.cuda.mem_get_info", answer(50, 80))
    monkeypatch.setattr("torch.cuda.memory_reserved", answer(9))
    monkeypatch.setattr("torch.cuda.memory_allocated", answer(7))

    assert gpu_bytes("gpu 1") == 52
    assert asked == ["gpu 1"] * 3


@pytest.mark.parametrize(("system", "unit"), [("linux", 1024), ("darwin", 1)])
def test_where_the_system_does_not_tell_the_memory_now_its_peak_counts(monkeypatch, tmp_path, system, unit):
    monkeypatch.setattr(
        resource, "getrusage", lambda who: SimpleNamespace(ru_maxrss=7000 + (who == resource.RUSAGE_SELF))
    )
    monkeypatch.setattr("training.memory.memory_budget.sys.platform", system)

    assert resident_bytes(tmp_path) == 7001 * unit


def test_resident_memory_is_in_pages(monkeypatch, tmp_path):
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "statm").write_text("900 12 7 1 0 50 0\n")
    monkeypatch.setattr("training.memory.memory_budget.os.sysconf", {"SC_PAGE_SIZE": 4096}.__getitem__)

    assert resident_bytes(tmp_path) == 12 * 4096


def test_resident_memory_grows_with_what_is_written():
    # A mapping of its own: memory that was freed before could be used again otherwise.
    with mmap.mmap(-1, 64_000_000) as block:
        before = resident_bytes()
        block.write(b"1" * len(block))
        grown = resident_bytes() - before

    assert grown == pytest.approx(64e6, rel=0.1)


def test_the_processor_has_one_name(tmp_path):
    info = tmp_path / "cpuinfo"
    info.write_text("vendor_id : X\nmodel name\t: Some  CPU   @ 2 GHz\nmodel name : Some CPU @ 2 GHz\n")

    assert processor_name(info) == "Some CPU @ 2 GHz"
    assert processor_name(tmp_path / "missing")
    assert hardware_name(SimpleNamespace(type="cpu")).endswith("(1 thread)")
    assert machine_number() == machine_number() < 2**32


def test_a_processor_without_a_name_has_that_of_its_kind(tmp_path, monkeypatch):
    (tmp_path / "cpuinfo").write_text("model name :  \nHardware: board\n")
    monkeypatch.setattr("platform.processor", lambda: "")
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert processor_name(tmp_path / "cpuinfo") == "riscv64"
    monkeypatch.setattr("platform.processor", lambda: "some kind")
    assert processor_name(tmp_path / "missing") == "some kind"


def test_a_machine_is_its_name_and_when_it_was_started(tmp_path, monkeypatch):
    """Containers of one machine may have names of their own; two machines, started from one image, the same name."""
    monkeypatch.setattr("training.engine.hardware._BOOT", tmp_path / "boot")
    found = {}
    for boot in (None, "1", "2"):
        if boot:
            (tmp_path / "boot").write_text(boot)
        for host in ("a", "b"):
            monkeypatch.setattr("socket.gethostname", lambda host=host: host)
            found[boot, host] = machine_number()
            assert machine_number() == found[boot, host]
    assert len(set(found.values())) == len(found)


def test_a_gpu_has_its_own_number_and_the_processor_none(monkeypatch):
    uuids = {0: "GPU-a", 1: "GPU-b", 2: "GPU-a"}
    monkeypatch.setattr(
        "torch.cuda.get_device_properties", lambda device: SimpleNamespace(uuid=uuids[device.index])
    )
    numbers = [gpu_number(SimpleNamespace(type="cuda", index=index)) for index in uuids]

    assert gpu_number(SimpleNamespace(type="cpu")) == 0
    assert numbers[0] == numbers[2] != numbers[1]
    assert all(0 < number <= 2**32 for number in numbers)


def test_the_name_of_a_gpu_and_of_several_threads(monkeypatch):
    monkeypatch.setattr("torch.cuda.get_device_name", lambda device: f"name of {device.type}")
    monkeypatch.setattr("torch.get_num_threads", lambda: 4)
    monkeypatch.setattr("training.engine.hardware.processor_name", lambda: "Some CPU")

    assert hardware_name(SimpleNamespace(type="cuda")) == "name of cuda"
    assert hardware_name(SimpleNamespace(type="cpu")) == "Some CPU (4 threads)"
