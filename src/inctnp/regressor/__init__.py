"""Streaming regression of raw tables: any columns in, calibrated predictive distributions out."""

from inctnp.regressor.bank import StreamingBank
from inctnp.regressor.outputs import StreamingOutputs
from inctnp.regressor.session import StreamingRegressor
from inctnp.regressor.settings import RegressorSettings

__all__ = ["RegressorSettings", "StreamingBank", "StreamingOutputs", "StreamingRegressor"]
