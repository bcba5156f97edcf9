"""How fast silos train on a GPU; `training_speed` with ``--device cuda`` prints it."""

import time
from collections.abc import Callable

import torch
from gpu_checks import curves
from torch import nn
from training_cases import Case, dataset_of, job_of, plain_of, rank_silos_of

from training.dpasgd import train_round
from training.engine.communicator import SingleRank
from training.engine.device import reproducible
from training.engine.executors.base import unchanged
from training.engine.executors.graphs import GraphsExecutor
from training.engine.executors.loop import LoopExecutor
from training.engine.hardware import hardware_name
from training.models import build_model

SECONDS = 8.0
"""Time for one measurement."""

CASES = {
    "iNaturalist ResNet-18": Case(
        model="resnet18", shape=(3, 224, 224), classes=80, silos=22, batch_size=16, least=8.0
    ),
    "FEMNIST CNN": Case(
        model="femnist_cnn", shape=(1, 28, 28), classes=62, silos=22, batch_size=128, least=8.0
    ),
}
LEAST_OF_ONE_MODEL = 0.5
LARGEST_DIFFERENCE = 1e-3


def seconds_of(work: Callable[[], object], device: torch.device) -> float:
    """Mean time of a work over a few seconds, after two runs that do not count."""
    for _ in range(2):
        work()
    torch.cuda.synchronize(device)
    start, runs = time.perf_counter(), 0
    while time.perf_counter() - start < SECONDS:
        work()
        torch.cuda.synchronize(device)
        runs += 1
    return (time.perf_counter() - start) / runs


def one_model(case: Case, device: torch.device) -> Callable[[], None]:
    """A step of a single model on the batches of all silos as one, in bfloat16 with channels last."""
    batch = case.silos * case.batch_size
    data = dataset_of(case)
    inputs = torch.from_numpy(data.train_inputs[:batch]).to(device, memory_format=torch.channels_last)
    labels = torch.from_numpy(data.train_labels[:batch]).to(device)
    model = build_model(case.model, input_shape=case.shape, classes=case.classes, seed=1)
    model = model.to(device).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)

    def step() -> None:
        optimizer.zero_grad()
        with torch.autocast(device.type, dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    return step


def difference(case: Case, device: torch.device) -> float:
    """Largest relative difference of a silo's gradient, or loss, between graphs and loop in single precision."""
    job = job_of(case, device=device.type, executor="loop")
    rank_silos = rank_silos_of(case, job, SingleRank(), device)
    models, found = rank_silos.models, []
    for make in (LoopExecutor, GraphsExecutor):
        executor = make(models, rank_silos.shards, "float32")
        with unchanged(models):
            steps = [(executor.gradients(step), models.gradients.clone()) for step in range(2)]
        models.mix(torch.eye(case.silos, device=device), 0)
        found.append(steps)
    loop, graphs = found
    errors = [
        ((ours - theirs).norm(dim=-1) / theirs.norm(dim=-1)).max()
        for own, other in zip(graphs, loop, strict=True)
        for ours, theirs in zip(own, other, strict=True)
    ]
    return float(torch.stack(errors).max())


def compare(name: str, device: torch.device) -> bool:
    """Print one case; whether it is right and fast enough."""
    case = CASES[name]
    samples = case.silos * case.batch_size
    plain_s = seconds_of(plain_of(case, device).round, device)
    single_s = seconds_of(one_model(case, device), device)
    with reproducible(device):
        apart = difference(case, device)
        job = job_of(case, device=device.type, executor="graphs", precision="bf16")
        rank_silos = rank_silos_of(case, job, SingleRank(), device)
        rounds = iter(range(10**6))
        ours_s = seconds_of(lambda: train_round(job, rank_silos, next(rounds)), device)
    ratio, share = plain_s / ours_s, single_s / ours_s
    print(
        f"{name}: {case.silos} silos, batch {case.batch_size}; samples/s: graphs bf16 {samples / ours_s:.0f}, "
        f"plain fp32 loop {samples / plain_s:.0f} (ratio {ratio:.2f}, target {case.least:.0f}), one model of batch "
        f"{samples} {samples / single_s:.0f} (share {share:.2f}, target {LEAST_OF_ONE_MODEL}); "
        f"graphs and loop differ by {apart:.1e} (at most {LARGEST_DIFFERENCE:.0e})",
        flush=True,
    )
    return ratio >= case.least and share >= LEAST_OF_ONE_MODEL and apart <= LARGEST_DIFFERENCE


def card() -> bool:
    """Check the trainings on a GPU, time its cases, and print both; whether all are right and fast enough."""
    device = torch.device("cuda", 0)
    print(f"{hardware_name(device)}, torch {torch.__version__}, CUDA {torch.version.cuda}")
    results = [curves(), *(compare(name, device) for name in CASES)]
    return all(results)
