"""The command line: reads arguments, calls an audit, prints.

Every command is a function of a module beside this one; they are imported when the command runs,
so that `askew --help` stays quick.
"""

from __future__ import annotations

import sys

from askew.errors import AskewError

ERROR = 3  # bad arguments, unreadable data, a run that cannot be made
INTERRUPTED = 130


def main() -> None:
    """Entry point of the `askew` command."""
    from askew.cli.app import app

    try:
        app()
    except AskewError as trouble:
        print(f"askew: {trouble}", file=sys.stderr)
        sys.exit(ERROR)
    except KeyboardInterrupt:
        print("askew: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
