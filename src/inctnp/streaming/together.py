"""One row for each of many streams in one call, whatever their lengths."""

from collections.abc import Sequence
from dataclasses import replace

import torch

from inctnp.errors import ConfigError, ShapeError
from inctnp.predictive.base import Predictive
from inctnp.streaming.session import Rows, Stream


def step_together(streams: Sequence[Stream], x: Rows, y: Rows) -> Predictive:
    """Predict row i for stream i, then let it learn the row; what comes back has a row for every stream.

    The streams are of one model, storage and backend and keep everything. With `backend="fused"` this is one compiled
    call; nothing is learned if any row is refused.

    >>> import inctnp
    >>> model = inctnp.build(inctnp.ModelConfig(name="inctnp-prior", dim_x=1)).eval()
    >>> streams = [model.stream() for _ in range(3)]
    >>> streams[1].observe([[0.1], [0.2]], [1.0, 2.0])
    >>> step_together(streams, [[0.3], [0.4], [0.5]], [1.0, 1.0, 1.0]).mean.shape, [len(s) for s in streams]
    (torch.Size([3, 1]), [1, 3, 1])
    """
    _check_alike(streams)
    first = streams[0]
    xs, single = first._inputs(x)
    if single or len(xs) != len(streams):
        raise ShapeError(f"Give one row to each of the {len(streams)} streams, not {1 if single else len(xs)}.")
    ys = first._outputs(y, xs)
    contexts = [stream._memory.context for stream in streams]
    with torch.inference_mode(False), torch.no_grad():
        predictive, learned = first._computing.query_then_extend_each(contexts, xs, ys)
    for i, (stream, context) in enumerate(zip(streams, learned, strict=True)):
        stream._keep(xs[i : i + 1], ys[i : i + 1])
        stream._memory = replace(stream._memory, context=context, seen=stream._memory.seen + 1)
    return predictive


def _check_alike(streams: Sequence[Stream]) -> None:
    if not streams or len({id(stream) for stream in streams}) < len(streams):
        raise ConfigError(f"Give one or more streams, each of them once, not {len(streams)} with repetitions or none.")
    kinds = {(id(s.model), s.storage, s.backend, s.policy, s.batch) for s in streams}
    if len(kinds) > 1 or streams[0].policy != "all" or streams[0].batch:
        raise ConfigError(
            "Streams that step together are single streams of one model, storage and backend, with policy='all': "
            "let the others step one by one."
        )
