"""Ask pip-audit what is known against the pinned versions, and say what was not looked at.

    python release/audit.py constraints.txt

A package that the source of advisories does not know is passed over by pip-audit, which then ends
as if all were well. Here that counts: it ends with 1 where something is known against a version,
and with 3 where a package could not be looked up, all of them where the source is not reached.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

KNOWN, NOT_AUDITED = 1, 3
_SHOWN = 5


def verdict(report: Mapping[str, Any]) -> tuple[int, list[str]]:
    """What pip-audit's report comes to: an exit status, and lines.

    Args:
        report: as `--format json` writes it.
    """
    packages = report.get("dependencies") or []
    passed = [one["name"] for one in packages if "skip_reason" in one]
    against = [one for one in packages if one.get("vulns")]
    lines = [
        f"{one['name']} {one['version']}: {', '.join(known['id'] for known in one['vulns'])}"
        for one in against
    ]
    looked_at = len(packages) - len(passed)
    if not looked_at:
        lines.append(
            f"NOTHING WAS AUDITED: none of {len(packages)} packages could be looked up. Ask again "
            "where PyPI itself is reached."
        )
    elif passed:
        shown = ", ".join(passed[:_SHOWN]) + (", …" if len(passed) > _SHOWN else "")
        lines.append(f"NOT AUDITED: {len(passed)} of {len(packages)} packages: {shown}")
    if looked_at:
        lines.append(f"audited: {looked_at} packages, {len(against)} with something known")
    return (KNOWN if against else NOT_AUDITED if passed or not looked_at else 0), lines


def main() -> int:
    """Run pip-audit, print what it comes to, and return the exit status."""
    parser = argparse.ArgumentParser(description="Audit the pinned versions.")
    parser.add_argument("requirements")
    wanted = parser.parse_args().requirements
    command = [sys.executable, "-m", "pip_audit", "--requirement", wanted]
    command += ["--no-deps", "--disable-pip", "--format", "json", "--progress-spinner", "off"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        report = json.loads(done.stdout)
    except ValueError:  # the source was not reached, or the file is none
        print("\n".join(done.stderr.strip().splitlines()[-_SHOWN:]), file=sys.stderr)
        report = {}
    status, lines = verdict(report)
    print("\n".join(lines), file=sys.stderr if status else sys.stdout)
    return status


if __name__ == "__main__":
    sys.exit(main())
