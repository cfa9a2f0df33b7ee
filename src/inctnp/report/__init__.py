"""One page of HTML that tells how a stream went to someone who was not there."""

from inctnp.report.journal import Journal
from inctnp.report.page import write_report
from inctnp.report.record import Record, plainly, record_of

__all__ = ["Journal", "Record", "plainly", "record_of", "write_report"]
