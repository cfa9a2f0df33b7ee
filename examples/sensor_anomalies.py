"""Which readings of a sensor are not to be believed? Those outside the interval predicted just before they came.

Nothing is set up for this sensor: the model that ships learns its daily course and its noise while it streams.
"""

import datetime as dt

import numpy as np

from inctnp import StreamingRegressor

HOURS, LEVEL = 480, 0.99
FAULTS = {200: 12.0, 290: -9.0, 371: 15.0, 430: -14.0}
"""Hours at which the sensor is wrong, and by how much."""


def readings() -> list[tuple[dt.datetime, float]]:
    """A temperature with a daily course, slow weather and noise; and the faults."""
    rng = np.random.default_rng(0)
    weather = np.convolve(rng.normal(size=HOURS + 23), np.ones(24) / 24, mode="valid") * 6
    hours = np.arange(HOURS)
    values = 15 + weather + 5 * np.sin(2 * np.pi * hours / 24) + 0.4 * rng.normal(size=HOURS)
    start = dt.datetime(2024, 5, 1, tzinfo=dt.UTC)
    return [(start + dt.timedelta(hours=i), float(values[i]) + FAULTS.get(i, 0.0)) for i in range(HOURS)]


def main() -> None:
    """Predict every reading; learn it if it is plausible."""
    regressor = StreamingRegressor("tabular", lags=(1, 2, 24))
    flagged = []
    for hour, (moment, value) in enumerate(readings()):
        ticket = regressor.ask({"time": moment})
        low, high = (bound.item() for bound in regressor.asked(ticket).interval(LEVEL))
        if low <= value <= high or hour < 48:
            regressor.tell(ticket, value)
            continue
        regressor.withdraw(ticket)
        flagged.append(hour)
        print(f"{moment:%d %b %H:%M}  {value:6.2f} is outside {low:6.2f} to {high:6.2f}")
    found = [hour for hour in FAULTS if hour in flagged]
    print(f"{len(found)} of {len(FAULTS)} faults found, {len(flagged) - len(found)} false alarms in {HOURS} hours.")


if __name__ == "__main__":
    main()
