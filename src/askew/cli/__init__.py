"""The command line: reads arguments, calls an audit, prints.

Every command is a function of a module beside this one; they are imported when the command runs,
so that `askew --help` stays quick.

Exit codes: 0 done, 1 records that cannot be used (`askew data check`) or a "no" to a question,
3 an error, wrong arguments included, 4 a run that did not get every reply, 130 interrupted.
"""

from __future__ import annotations

import errno
import sys

from askew.errors import AskewError

ERROR = 3  # bad arguments, unreadable data, a run that cannot be made
INCOMPLETE = 4  # replies are missing, or it could not be told
INTERRUPTED = 130
_USAGE = 2  # the command-line parser's own code for wrong arguments
# What no line of ours can be blamed for: no room, no more files, a disk that fails.
_OF_THE_MACHINE = frozenset(
    {errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EROFS, errno.EIO, errno.EACCES, errno.EPERM}
)


def main() -> None:
    """Entry point of the `askew` command."""
    from askew.cli.guard import guarded

    with guarded():
        try:
            _run()
        except Exception:
            # Printed here, and not by the interpreter: an exception's text may be anybody's.
            import traceback

            from askew.privacy.known_secrets import mask

            print(mask(traceback.format_exc()), end="", file=sys.stderr)
            sys.exit(1)


def _run() -> None:
    from askew.cli.app import app
    from askew.privacy.crashes import without_core_dumps
    from askew.privacy.locality import obey_environment

    without_core_dumps()
    try:
        obey_environment(whole_process=True)
        app()
    except SystemExit as end:
        sys.exit(ERROR if end.code == _USAGE else end.code)
    except AskewError as trouble:
        from askew.privacy.known_secrets import mask
        from askew.report.words import clean

        print(f"askew: {clean(mask(str(trouble)))}", file=sys.stderr)
        sys.exit(ERROR)
    except OSError as trouble:
        if trouble.errno not in _OF_THE_MACHINE:
            raise
        from askew.privacy.known_secrets import mask
        from askew.report.words import clean

        place = "" if trouble.filename is None else f"{trouble.filename}: "
        mend = "See to the disk, its permissions and free space, and to how many files are open."
        print(f"askew: {clean(mask(f'{place}{trouble.strerror}. {mend}'))}", file=sys.stderr)
        sys.exit(ERROR)
    except KeyboardInterrupt:
        print("askew: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
