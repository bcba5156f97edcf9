"""A tracker: gets the rows of a training while it runs, here for a CSV file of each overlay beside the run."""


class CsvLines:
    """What `scenarios.trackers.tracker.Tracker` asks for; there is one of each training."""

    def __init__(self, training):
        self.file = training.path.with_name(f"{training.path.stem}-{training.overlay}.csv").open("w")
        print("round,time_s,train_loss,test_accuracy", file=self.file)

    def row(self, row, time_s):
        """All rows come in order; after a resume those from before the checkpoint, too."""
        numbers = (row.round, time_s, row.train_loss, row.test_accuracy)
        print(*numbers, sep=",", file=self.file, flush=True)

    def end(self, error):
        """The training is complete, or an error or Ctrl-C ended it."""
        print("# complete" if error is None else f"# ended by {type(error).__name__}", file=self.file)
        self.file.close()
