"""What a crash of the command line leaves behind: no memory of its process on the disk."""

from __future__ import annotations

import os
from contextlib import suppress

CORE_DUMPS = "ASKEW_CORE_DUMPS"  # set to 1 by who wants them


def without_core_dumps() -> None:
    """Have the system write no core of this process and its children, unless ASKEW_CORE_DUMPS=1.

    A core holds the whole memory, keys and texts of patients in it.
    """
    if os.environ.get(CORE_DUMPS) == "1":
        return
    try:
        import resource
    except ImportError:  # Windows writes none unless its registry says so
        return
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    # A limit of 0 is not heeded where Linux hands cores to a program (core_pattern begins with a
    # bar); at one byte it does not (fs/coredump.c), and that is too little for a file.
    wanted = 1 if hard == resource.RLIM_INFINITY or hard >= 1 else 0
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (wanted, hard))
