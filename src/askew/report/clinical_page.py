"""`report.html` of a clinical run."""

from __future__ import annotations

from html import escape
from pathlib import Path

from askew.runfolder import RunFolder, json_text, write_whole


def write_clinical_page(folder: RunFolder) -> Path:
    """Write the report of a run and return its path."""
    text = escape(json_text(folder.read_estimates()))
    write_whole(folder.report, f"<!doctype html><title>askew</title><pre>{text}</pre>")
    return folder.report
