"""The numbers that the paper prints, to stand beside ours."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Reported:
    """A mean and its standard error; NaN where the paper gives none."""

    mean: float
    sem: float = float("nan")


Line = Mapping[str, Reported]
"""By model: TNP-D's log-likelihood, and for the others the difference from it."""


def _line(reference: tuple[float, float], **differences: tuple[float, float]) -> Line:
    others = {model.replace("_", "-"): Reported(*pair) for model, pair in differences.items()}
    return {"tnp-d": Reported(*reference), **others}


FACTORISED: Mapping[str, Line] = {
    "1D GP": _line(
        (0.4309, 0.0019),
        inctnp=(-0.0133, 0.0019),
        inctnp_seq=(-0.0016, 0.0019),
        cnp=(-0.2301, 0.0021),
        lbanp=(0.0040, 0.0019),
    ),
    "Tabular (synthetic)": _line(
        (0.1540, 0.0047),
        inctnp=(-0.0201, 0.0046),
        inctnp_seq=(0.0075, 0.0048),
        cnp=(-0.3304, 0.0038),
        lbanp=(-0.0576, 0.0045),
    ),
    "Skillcraft": _line(
        (-0.9543, 0.0002),
        inctnp=(0.0025, 0.0002),
        inctnp_seq=(0.0078, 0.0002),
        cnp=(-0.1336, 0.0002),
        lbanp=(-0.0310, 0.0002),
    ),
    "Powerplant": _line(
        (-0.0076, 0.0002),
        inctnp=(0.0022, 0.0002),
        inctnp_seq=(0.0028, 0.0002),
        cnp=(-0.2692, 0.0002),
        lbanp=(-0.0244, 0.0001),
    ),
    "Elevators": _line(
        (-0.3219, 0.0003),
        inctnp=(-0.0235, 0.0003),
        inctnp_seq=(-0.0086, 0.0004),
        cnp=(-0.9417, 0.0002),
        lbanp=(-0.2048, 0.0003),
    ),
    "Protein": _line(
        (-1.1524, 0.0001),
        inctnp=(-0.0281, 0.0001),
        inctnp_seq=(0.0363, 0.0001),
        cnp=(-0.1877, 0.0000),
        lbanp=(-0.0239, 0.0001),
    ),
    "Temperature (interpolation), HadISD": _line(
        (-1.7025, 0.0023),
        inctnp=(-0.0112, 0.0023),
        inctnp_seq=(0.0182, 0.0022),
        cnp=(-0.5331, 0.0007),
        lbanp=(-0.0904, 0.0017),
    ),
    "Temperature (forecasting), HadISD": _line(
        (-2.5708, 0.0031),
        inctnp=(0.0302, 0.0039),
        inctnp_seq=(0.6897, 0.0019),
        cnp=(0.1806, 0.0011),
        lbanp=(0.2681, 0.0018),
    ),
}
"""Table 2a; Table 1a is the same rounded."""

AUTOREGRESSIVE: Mapping[str, Line] = {
    "1D GP": _line(
        (0.767, 0.003),
        inctnp=(-0.007, 0.003),
        inctnp_seq=(0.002, 0.003),
        cnp=(-0.230, 0.011),
        lbanp=(-0.001, 0.003),
        tnp_a=(0.004, 0.003),
    ),
    "Temperature (interpolation), HadISD": _line(
        (-1.670, 0.007),
        inctnp=(-0.038, 0.009),
        inctnp_seq=(0.016, 0.007),
        cnp=(-0.552, 0.002),
        lbanp=(-0.097, 0.005),
        tnp_a=(0.031, 0.008),
    ),
    "Temperature (forecasting), HadISD": _line(
        (-1.749, 0.003),
        inctnp=(-0.005, 0.003),
        inctnp_seq=(0.061, 0.004),
        cnp=(-0.559, 0.004),
        lbanp=(-0.120, 0.005),
        tnp_a=(0.035, 0.003),
    ),
}
"""Table 2b."""

HALF_WINDOWS: Mapping[str, Line] = {
    "Temperature (interpolation), HadISD": _line(
        (-1.6695, 0.0022),
        inctnp=(0.0064, 0.0022),
        inctnp_seq=(0.0312, 0.0022),
        cnp=(-0.5024, 0.0007),
        lbanp=(-0.0501, 0.0017),
    ),
    "Temperature (forecasting), HadISD": _line(
        (-1.8108, 0.0026),
        inctnp=(0.0356, 0.0030),
        inctnp_seq=(0.1536, 0.0071),
        cnp=(-0.4390, 0.0040),
        lbanp=(-0.0526, 0.0050),
        tnp_a=(0.0931, 0.0031),
    ),
}
"""Table 3: interpolation factorised, forecasting autoregressive."""

COST_RATIO: Mapping[str, Mapping[str, float]] = {
    "1D GP": {"tnp-d": 1.21, "inctnp": 1.01, "inctnp-seq": 1.0, "cnp": 0.11, "lbanp": 1.38, "tnp-a": 1.04},
    "Temperature (HadISD sizes)": {
        "tnp-d": 3.57,
        "inctnp": 1.0,
        "inctnp-seq": 1.0,
        "cnp": 0.02,
        "lbanp": 1.50,
        "tnp-a": 0.81,
    },
}
"""Table 1b: inference time relative to incTNP-Seq, on GPUs."""

ORDER_AVERAGING: Mapping[str, Mapping[str, Mapping[int, Reported]]] = {
    "1D GP (64)": {
        "inctnp": {1: Reported(-0.0133), 2: Reported(-0.0102), 10: Reported(-0.0077), 100: Reported(-0.0071)},
        "inctnp-seq": {1: Reported(-0.0014), 2: Reported(0.0012), 10: Reported(0.0034), 100: Reported(0.0039)},
    },
    "1D GP (512)": {
        "inctnp": {1: Reported(-0.0037), 2: Reported(-0.0028), 10: Reported(-0.0022), 100: Reported(-0.0020)},
        "inctnp-seq": {1: Reported(0.0027), 2: Reported(0.0033), 10: Reported(0.0038), 100: Reported(0.0039)},
    },
    "Tabular": {
        "inctnp": {1: Reported(-0.0202), 2: Reported(-0.0165), 10: Reported(-0.0137), 100: Reported(-0.0129)},
        "inctnp-seq": {1: Reported(0.0075), 2: Reported(0.0105), 10: Reported(0.0129), 100: Reported(0.0136)},
    },
}
"""Table 8: difference from TNP-D for K context orders averaged."""

ORDER_AVERAGING_REFERENCE: Mapping[str, float] = {"1D GP (64)": 0.4309, "1D GP (512)": 0.7930, "Tabular": 0.1541}
"""TNP-D's own log-likelihoods in Table 8."""
