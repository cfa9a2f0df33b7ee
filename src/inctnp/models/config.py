"""Every setting of every model; the defaults are the paper's."""

from dataclasses import dataclass

from inctnp.errors import ConfigError, UnknownNameError
from inctnp.transformer.block import BlockConfig

NAMES = ("cnp", "tnp-d", "lbanp", "tnp-a", "inctnp", "inctnp-seq", "inctnp-prior")
"""The rows of the paper's results tables, and incTNP-Prior of its appendix."""


@dataclass(frozen=True, kw_only=True)
class ModelConfig(BlockConfig):
    """What is needed to build a model; stored beside its weights."""

    name: str
    """One of `NAMES`."""
    dim_x: int
    """Inputs per point."""
    dim_y: int = 1
    """Outputs per point, predicted independently of each other."""
    layers: int = 5
    components: int = 1
    """Gaussians in the head: 1 is the paper's; more make heavier tails possible."""
    std_min: float = 0.0
    """Added to every standard deviation; 0.01 for tables (variance 1e-4)."""
    latents: int = 32
    """Latents of LBANP: 32 for GPs, 128 for tables, 256 for stations."""
    hidden_layers: int = 2
    """Hidden layers of the CNP's two MLPs; its published code has 5."""
    prior: bool = False
    """A learned token before the first point, so that no data is a context too (incremental models)."""
    grids: tuple[tuple[float, ...], ...] = ()
    """Fourier wavelengths per input; none feeds the inputs as they are."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.name not in NAMES:
            raise UnknownNameError(f"No model is called {self.name!r}: choose from {', '.join(NAMES)}.")
        sizes = (self.dim_x, self.dim_y, self.layers, self.components, self.latents, self.hidden_layers)
        if min(sizes) < 1:
            raise ConfigError("dim_x, dim_y, layers, components, latents and hidden_layers must be at least 1.")
        if self.grids and len(self.grids) != self.dim_x:
            raise ConfigError(f"{len(self.grids)} Fourier grids were given for {self.dim_x} inputs: one each, or none.")
        if self.prior and not self.name.startswith("inctnp"):
            raise ConfigError(f"{self.name} has no prior token: choose inctnp, inctnp-seq or inctnp-prior.")
        if self.name == "inctnp-prior" and not self.prior:
            object.__setattr__(self, "prior", True)
