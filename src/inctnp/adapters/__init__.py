"""The streaming regressor behind other libraries' interfaces; each needs its extra."""
