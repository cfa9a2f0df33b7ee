"""Streaming probabilistic regression with transformer neural processes."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inctnp.errors import IncTNPError
    from inctnp.models.autoregressive import JointSample
    from inctnp.models.base import NeuralProcess
    from inctnp.models.build import build
    from inctnp.models.config import ModelConfig
    from inctnp.models.order_averaged import OrderAveraged
    from inctnp.models.published import load_published
    from inctnp.predictive.base import Predictive
    from inctnp.pretrained.registry import load
    from inctnp.pretrained.registry import names as model_names
    from inctnp.pretrained.weights import from_pretrained, save_pretrained
    from inctnp.regressor.session import StreamingRegressor
    from inctnp.streaming.context_order import greedy_order
    from inctnp.streaming.session import Stream
    from inctnp.task import Task

__version__ = "0.1.0"

__all__ = [
    "IncTNPError",
    "JointSample",
    "ModelConfig",
    "NeuralProcess",
    "OrderAveraged",
    "Predictive",
    "Stream",
    "StreamingRegressor",
    "Task",
    "build",
    "from_pretrained",
    "greedy_order",
    "load",
    "load_published",
    "model_names",
    "save_pretrained",
]

_HOMES = {
    "IncTNPError": "errors:IncTNPError",
    "JointSample": "models.autoregressive:JointSample",
    "ModelConfig": "models.config:ModelConfig",
    "NeuralProcess": "models.base:NeuralProcess",
    "OrderAveraged": "models.order_averaged:OrderAveraged",
    "Predictive": "predictive.base:Predictive",
    "Stream": "streaming.session:Stream",
    "StreamingRegressor": "regressor.session:StreamingRegressor",
    "Task": "task:Task",
    "build": "models.build:build",
    "from_pretrained": "pretrained.weights:from_pretrained",
    "greedy_order": "streaming.context_order:greedy_order",
    "load": "pretrained.registry:load",
    "load_published": "models.published:load_published",
    "model_names": "pretrained.registry:names",
    "save_pretrained": "pretrained.weights:save_pretrained",
}
"""Where each public name lives."""


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for, so that the command line tells its options without torch."""
    if name not in _HOMES:
        raise AttributeError(f"module 'inctnp' has no attribute {name!r}")
    folder, _, original = _HOMES[name].partition(":")
    globals()[name] = value = getattr(import_module(f"inctnp.{folder}"), original)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
