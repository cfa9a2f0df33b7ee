"""Reports for TensorBoard, which is an extra."""

from collections.abc import Callable
from pathlib import Path

from inctnp.errors import ConfigError
from inctnp.training.progress import Report


def tensorboard_teller(directory: Path) -> Callable[[Report], None]:
    """A function that writes each report as scalars below `directory`."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise ConfigError("--tensorboard takes the tensorboard package: install inctnp[tensorboard].") from error
    writer = SummaryWriter(str(directory))

    def tell(report: Report) -> None:
        for name, value in scalars(report).items():
            writer.add_scalar(name, value, report.step)
        writer.flush()

    return tell


def scalars(report: Report) -> dict[str, float]:
    """What is known, under TensorBoard's grouped names.

    >>> scalars(Report(1, 0.5, 1e-3, 4.0, 1.0, gap=0.1))
    {'train/loss': 0.5, 'train/rate': 0.001, 'train/steps_per_second': 4.0, 'held-out/gap': 0.1}
    """
    known = {
        "train/loss": report.loss,
        "train/rate": report.rate,
        "train/steps_per_second": report.steps_per_second,
        "held-out/log_likelihood": report.log_likelihood,
        "held-out/gap": report.gap,
        "held-out/joint_gap": report.joint_gap,
        **{f"measured/{name}": value for name, value in report.measured.items()},
    }
    return {name: value for name, value in known.items() if value is not None}
