"""What a person sees after a run: tables in the terminal, a page that opens offline, pictures of worlds.

Everything is made from a run folder; the figures are those of ``portico.evaluate.aggregate``.
"""

from portico.report.html import ReportOptions, write_report
from portico.report.tables import print_runs, print_summary

__all__ = ["ReportOptions", "print_runs", "print_summary", "write_report"]
