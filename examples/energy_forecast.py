"""Forecast the load of the next hour and say how sure that is, row by row, beside two rules of thumb."""

import datetime as dt

import numpy as np

from inctnp import StreamingRegressor

HOURS, LEVEL = 24 * 28, 0.9


def hourly_load() -> list[tuple[dict[str, object], float]]:
    """Four weeks: days, weekends, heating by the temperature outside, and unrest in the morning."""
    rng = np.random.default_rng(1)
    start, unrest, rows = dt.datetime(2024, 1, 1, tzinfo=dt.UTC), 0.0, []
    for i in range(HOURS):
        moment = start + dt.timedelta(hours=i)
        outside = 4 + 4 * np.sin(2 * np.pi * (moment.hour - 9) / 24) + 3 * np.sin(i / 60) + 0.5 * rng.normal()
        unrest = 0.8 * unrest + rng.normal() * (3.0 if 6 <= moment.hour < 10 else 1.0)
        work = 30 * (7 <= moment.hour < 19) * (moment.weekday() < 5)
        row = {"time": moment, "outside": float(outside), "weekday": f"{moment:%a}"}
        rows.append((row, float(80 + work - 2.5 * min(outside, 8) + unrest)))
    return rows


def main() -> None:
    """Every hour: predict, compare, learn."""
    rows = hourly_load()
    regressor = StreamingRegressor("tabular", lags=(1, 2, 24), level=LEVEL)
    errors = {"inctnp": [], "as an hour ago": [], "as yesterday": []}  # type: dict[str, list[float]]
    for i, (row, load) in enumerate(rows):
        expected = regressor.step(row, load)
        if i >= 24:
            errors["inctnp"].append(expected.mean.item() - load)
            errors["as an hour ago"].append(rows[i - 1][1] - load)
            errors["as yesterday"].append(rows[i - 24][1] - load)
    for name, values in errors.items():
        print(f"{name:15}  root mean square error {np.sqrt(np.mean(np.square(values))):5.2f} MW")
    scores = regressor.monitor.scores
    print(f"{scores.coverage:.1%} of the outcomes were inside their {LEVEL:.0%} interval.")


if __name__ == "__main__":
    main()
