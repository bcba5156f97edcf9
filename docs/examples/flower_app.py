"""Federated averaging of a softmax regression with Flower; the server keeps what was measured in result.json."""

import json

import numpy as np
from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg
from silo_data import CLASSES, first_model, silo_data, test_data

SILOS, ROUNDS, LOCAL_STEPS, RATE = 11, 30, 2, 0.1
client = ClientApp()
server = ServerApp()


@client.train()
def train(message: Message, context: Context) -> Message:
    """Make a silo's steps from the server's model."""
    x, y = silo_data(int(context.node_config["partition-id"]))
    (model,) = message.content["arrays"].to_numpy_ndarrays()
    for _ in range(LOCAL_STEPS):
        model = model - RATE * measure(model, x, y)[2]
    metrics = MetricRecord({"train_loss": measure(model, x, y)[0], "num-examples": len(y)})
    return Message(RecordDict({"arrays": ArrayRecord([model]), "metrics": metrics}), reply_to=message)


@server.main()
def main(grid: Grid, _: Context) -> None:
    """Average the silos' models, weighted by their samples, in every round."""

    def evaluate(_: int, arrays: ArrayRecord) -> MetricRecord:
        loss, accuracy, _ = measure(*arrays.to_numpy_ndarrays(), *test_data())
        return MetricRecord({"loss": loss, "accuracy": accuracy})

    everyone = {"min_train_nodes": SILOS, "min_available_nodes": SILOS, "fraction_evaluate": 0.0}
    result = FedAvg(**everyone).start(
        grid, ArrayRecord([first_model()]), num_rounds=ROUNDS, evaluate_fn=evaluate
    )
    parts = ("train_metrics_clientapp", "evaluate_metrics_clientapp", "evaluate_metrics_serverapp")
    with open("result.json", "w", encoding="utf-8") as file:
        json.dump({part: getattr(result, part) for part in parts}, file, default=dict)


def measure(model, x, y):
    """Return mean cross-entropy, accuracy and gradient."""
    scores = x @ model.T
    log_p = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    gradient = (np.exp(log_p) - np.eye(CLASSES)[y]).T @ x / len(y)
    return -log_p[range(len(y)), y].mean().item(), (scores.argmax(axis=1) == y).mean().item(), gradient


if __name__ == "__main__":
    from flwr.simulation import run_simulation

    run_simulation(server, client, num_supernodes=SILOS, backend_config={"client_resources": {"num_cpus": 1}})
