"""Where askew keeps what it can make or fetch again."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """`$ASKEW_CACHE`, else askew's own folder in the user's cache; it may not exist yet."""
    if named := os.environ.get("ASKEW_CACHE"):
        return Path(named).expanduser()
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "askew"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "askew"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache").expanduser() / "askew"
