"""The command line: reads arguments, calls an audit, prints.

Every command is a function of a module beside this one; they are imported when the command runs,
so that `askew --help` stays quick.

Exit codes: 0 done, 1 records that cannot be used (`askew data check`) or a "no" to a question,
3 an error, wrong arguments included, 4 a run that did not get every reply, 130 interrupted.
"""

from __future__ import annotations

import sys

from askew.errors import AskewError

ERROR = 3  # bad arguments, unreadable data, a run that cannot be made
INCOMPLETE = 4  # replies are missing, or it could not be told
INTERRUPTED = 130
_USAGE = 2  # the command-line parser's own code for wrong arguments


def main() -> None:
    """Entry point of the `askew` command."""
    from askew.cli.app import app

    try:
        app()
    except SystemExit as end:
        sys.exit(ERROR if end.code == _USAGE else end.code)
    except AskewError as trouble:
        from askew.report.words import clean

        print(f"askew: {clean(str(trouble))}", file=sys.stderr)
        sys.exit(ERROR)
    except KeyboardInterrupt:
        print("askew: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
