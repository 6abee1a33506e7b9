"""The report of a model as one HTML file."""

from dpgp.report.html.page import report_html

__all__ = ["report_html"]
