"""Tables as rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from inctnp.regressor.columns import Row

Rows = list[Row]


def rows_of_frame(frame: Any) -> Rows:
    """Of a pandas data frame: values as they are, names as texts.

    >>> import pandas as pd
    >>> rows_of_frame(pd.DataFrame({"speed": [1.5, None], "line": ["A", "B"]}))[0]
    {'speed': 1.5, 'line': 'A'}
    """
    names = [str(name) for name in frame.columns]
    columns = [frame.iloc[:, place].tolist() for place in range(len(names))]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def rows_of_array(array: np.ndarray, names: Sequence[str]) -> Rows:
    """Of numbers, [row, column].

    >>> rows_of_array(np.array([[1.0, 2.0]]), ["x0", "x1"])
    [{'x0': 1.0, 'x1': 2.0}]
    """
    return [dict(zip(names, values, strict=True)) for values in array.tolist()]
