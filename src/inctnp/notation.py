"""The axis names used in every signature, with the paper's symbol for each.

| axis | paper | meaning |
|---|---|---|
| batch | B | tasks or streams handled together |
| context | N_c, N_s | points the prediction may see |
| target | N_t | points to predict |
| point | N | points of either kind |
| draw | S | sampled continuations |
| dim_x, dim_y | D_x, D_y | inputs and outputs of one point |
| width | D_z | size of a token |
| head, depth | H, D_z / H | attention heads and the width of one |
| layer | L | blocks of the transformer |
| component | K | parts of a mixture |
"""

from jaxtyping import Float
from torch import Tensor

# One function often takes points of several kinds, so the number of points has no name here.
Inputs = Float[Tensor, "*batch _ dim_x"]
"""Where: one row per point."""
Outputs = Float[Tensor, "*batch _ dim_y"]
"""What was seen there."""
Tokens = Float[Tensor, "batch _ width"]
"""Embedded points; the draws of a rollout are part of the batch."""
Rows = Float[Tensor, "2 _ head _ _ depth"]
"""Keys and values of one attention, stacked: batch, head, draw, row, depth."""
