"""Decentralized SGD in plain PyTorch: silos step on their own data, then average with their in-neighbours."""

import copy
import csv

import h5py
import torch
from silo_data import CLASSES, FEATURES, first_model, silo_data, test_data
from torch.nn.functional import cross_entropy

ROUNDS, LOCAL_STEPS, RATE = 30, 2, 0.1
torch.set_num_threads(1)  # such small models gain nothing from more

with h5py.File("overlays.h5") as file:  # of silosim
    labels = file["connectivity/silo_labels"].asstr()[:]
    weights = torch.from_numpy(file["overlays/ring/consensus"][:]).float()  # row i: how silo i averages

silos = [tuple(map(torch.from_numpy, silo_data(silo))) for silo in range(len(labels))]
test_x, test_y = map(torch.from_numpy, test_data())
average = torch.nn.Linear(FEATURES, CLASSES, bias=False)
average.load_state_dict({"weight": torch.from_numpy(first_model())})
models = [copy.deepcopy(average) for _ in silos]


def local_steps(model, x, y):
    """Make the steps of a silo in a round."""
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    for _ in range(LOCAL_STEPS):
        optimizer.zero_grad()
        cross_entropy(model(x), y).backward()
        optimizer.step()


@torch.no_grad()
def mix():
    """Replace each silo's model by its average of its own and those that it receives."""
    for parameters in zip(*(model.parameters() for model in models), strict=True):
        mixed = torch.tensordot(weights, torch.stack(parameters), dims=1)
        for parameter, value in zip(parameters, mixed, strict=True):
            parameter.copy_(value)


@torch.no_grad()
def metrics():
    """Return loss and accuracy of the average model, and the loss of each silo's own."""
    for mean, *parameters in zip(*(model.parameters() for model in (average, *models)), strict=True):
        mean.copy_(torch.stack(parameters).mean(dim=0))
    scores = average(test_x)
    return {
        "train_loss": sum(cross_entropy(average(x), y).item() for x, y in silos) / len(silos),
        "test_loss": cross_entropy(scores, test_y).item(),
        "test_accuracy": (scores.argmax(dim=1) == test_y).double().mean().item(),
    } | {
        f"silo_loss/{label}": cross_entropy(model(x), y).item()
        for label, model, (x, y) in zip(labels, models, silos, strict=True)
    }


with open("metrics.csv", "w", newline="", encoding="utf-8") as file:
    log = csv.DictWriter(file, ["round", *metrics()])
    log.writeheader()
    log.writerow({"round": 0} | metrics())
    for k in range(1, ROUNDS + 1):
        for model, (x, y) in zip(models, silos, strict=True):
            local_steps(model, x, y)
        mix()
        log.writerow({"round": k} | metrics())
