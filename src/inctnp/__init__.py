"""Streaming probabilistic regression with transformer neural processes."""

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
