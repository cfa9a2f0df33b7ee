"""Rows out of files and pipes, one at a time, with the number of the line each came from."""

from inctnp.rows.read import Table, open_rows
from inctnp.rows.reading import Reading
from inctnp.rows.refusals import Skipped, stop
from inctnp.rows.roles import Example, Roles

__all__ = ["Example", "Reading", "Roles", "Skipped", "Table", "open_rows", "stop"]
