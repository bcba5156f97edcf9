"""The built-in training backend: DPASGD on MPI ranks."""

import os
import sys
import traceback
from collections.abc import Iterator

from topologies.errors import InputError, MachineError, TrainingError
from training.backend import exchanged_numbers
from training.compression import BITS_PER_NUMBER, compressor_of
from training.config import TrainingConfig
from training.job import TrainingJob
from training.mpi.launcher import run_ranks
from training.mpi_environment import World, abort, check_size, mpiexec_path, start_mpi, world
from training.notice import Notice, Report


class MpiBackend:
    """Trains on MPI ranks, each with a block of silos.

    Notes
    -----
    Without an outer launcher, it starts ``min(ranks, silos)`` processes with the `mpiexec` beside the interpreter; a
    single rank is the program itself, without MPI. Under ``mpiexec -n R`` or ``srun`` the program's own processes are
    the ranks (those beyond the number of silos have none). The same code trains in all three cases.
    """

    mixes_lags = True
    mixes_without_steps = True
    steps_by_silo = True
    compresses = True

    def check(self, config: TrainingConfig) -> None:
        """Check that `mpiexec` is there if ranks will be started, and the device.

        Parameters
        ----------
        config : TrainingConfig
            The settings that `train` will get.

        Raises
        ------
        MachineError
            If `mpiexec` is missing, or a device is not there.

        Notes
        -----
        Starts no MPI. Whether a launcher belongs to another MPI shows only when the ranks start.
        """
        if world() is None and config.ranks > 1:
            mpiexec_path()
        if config.device != "cpu":
            from training.engine.device import resolve_device

            resolve_device(config.device, rank=0)

    def message_bits(self, config: TrainingConfig) -> float:
        """Return the size of a message in bits: parameters, buffers if they are exchanged; compressed where asked for.

        Parameters
        ----------
        config : TrainingConfig
            Names model and data set.

        Raises
        ------
        InputError
            As `training.backend.exchanged_numbers`.
        """
        numbers, compressor = exchanged_numbers(config), compressor_of(config)
        return float(BITS_PER_NUMBER * numbers) if compressor is None else compressor.bits(numbers)

    def train(self, job: TrainingJob) -> Iterator[Report]:
        """Train and yield the history while the training runs.

        Yields
        ------
        HistoryRow
            In round order, on process 0 only.
        Notice
            On process 0 only.

        Raises
        ------
        InputError
            If there are more silos than training samples.
        MachineError
            If `mpiexec` is missing or belongs to another MPI, a device is not there, or a rank makes no progress.
        TrainingError
            If a model diverged, or a rank failed: then the message ends with its traceback.

        Notes
        -----
        Under ``mpiexec`` or ``srun`` all processes raise the errors that all of them see (bad input, divergence). An
        error of one process alone is printed by it and ends all of them, which would wait for it. If a rank makes no
        progress, process 0 raises and has ten seconds to end, or another one prints why and ends all of them. An error
        of the rows' consumer is not seen here: closing the generator on process 0 ends this training on all processes,
        and the program must `mpi_environment.abort` the others before they start the next one.
        """
        place = world()
        asked = job.config.ranks if place is None else place.size
        ranks = min(asked, job.silos)
        if asked > ranks and (place is None or place.rank == 0):
            yield Notice(f"ranks used: {ranks} of {asked}, one per silo")
        if place is None and ranks > (processors := len(os.sched_getaffinity(0))):
            few = "one processor" if processors == 1 else f"{processors} processors"
            yield Notice(f"{ranks} ranks share {few}; more ranks than processors train no faster")
        if place is not None and place.size > 1:
            yield from _in_world(job, place)
        elif place is None and ranks > 1:
            yield from run_ranks(job, ranks)
        else:
            from training.dpasgd import train_rank
            from training.engine.communicator import SingleRank

            yield from train_rank(job, SingleRank())


def _in_world(job: TrainingJob, place: World) -> Iterator[Report]:
    """Train on the processes that a launcher started, this one among them."""
    start_mpi(started=place.size)
    from training.dpasgd import train_rank
    from training.mpi.mpi_communicator import MpiCommunicator
    from training.mpi.rank_progress import SilentRanksError
    from training.mpi.world_watch import wait_for_the_end, watched

    check_size(started=place.size, found=MpiCommunicator().size)
    try:
        with watched(job.config) as (progress, is_unheard):
            if is_unheard and place.rank == 0:
                yield Notice(
                    "hosts do not hear each other's UDP: rank_timeout finds ranks that hang, but no host that is lost"
                )
            communicator = MpiCommunicator(gpu_aware=job.config.gpu_aware_mpi, progress=progress)
            yield from train_rank(job, communicator, progress)
    except SilentRanksError as error:
        if error.speaker == place.rank == 0:
            raise
        if error.speaker == place.rank:
            print(f"silosim: error: {error}", file=sys.stderr)
        else:
            wait_for_the_end()
        abort(3)
    except (InputError, TrainingError):
        raise
    except MachineError as error:
        print(f"rank {place.rank}: {error}", file=sys.stderr)
        abort(3)
    except Exception:
        print(f"rank {place.rank} failed:\n{traceback.format_exc()}", file=sys.stderr)
        abort(1)
