"""The invariants every model keeps, as functions that a model of your own can be held to as well."""
