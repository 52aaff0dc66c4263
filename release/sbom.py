"""What an installed askew is made of, as CycloneDX 1.6: every package with its version and licence.

    python release/sbom.py --extras all > sbom.json

Read from what is installed beside this Python, so that it names what really runs. The same packages
give the same bytes: no clock, no random number.
"""

from __future__ import annotations

import argparse
import json
import re
import uuid
from collections import deque
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Any

from packaging.requirements import Requirement

ROOT = "askew"
_NAMESPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")  # RFC 4122's for URLs


def canonical(name: str) -> str:
    """A package's name as PyPI compares names (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def closure(extras: Iterable[str], root: str = ROOT) -> dict[str, tuple[Distribution, set[str]]]:
    """The packages that `root` with these extras needs here: name -> (package, what it needs).

    What a marker rules out on this platform, and what is not installed, is left out.
    """
    found: dict[str, tuple[Distribution, set[str]]] = {}
    waiting: deque[tuple[str, frozenset[str]]] = deque([(root, frozenset(extras))])
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, wanted = waiting.popleft()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue
        _, needs = found.setdefault(canonical(name), (package, set()))
        for line in package.requires or ():
            needed = Requirement(line)
            environments = [{"extra": extra} for extra in ("", *wanted)]
            if needed.marker and not any(map(needed.marker.evaluate, environments)):
                continue
            needs.add(canonical(needed.name))
            waiting.append((needed.name, frozenset(needed.extras)))
    return found


def sbom(extras: Iterable[str]) -> dict[str, Any]:
    """The bill of materials as JSON values."""
    packages = closure(extras)
    there = {name: _reference(name, one.version) for name, (one, _) in packages.items()}
    main, _ = packages[ROOT]
    components = [
        _component(name, one) for name, (one, _) in sorted(packages.items()) if name != ROOT
    ]
    dependencies = [
        {"ref": there[name], "dependsOn": sorted(there[need] for need in needs if need in there)}
        for name, (_, needs) in sorted(packages.items())
    ]
    listed = json.dumps(components, sort_keys=True)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(_NAMESPACE, listed)}",
        "version": 1,
        "metadata": {"component": {**_component(ROOT, main), "type": "application"}},
        "components": components,
        "dependencies": dependencies,
    }


def _component(name: str, package: Distribution) -> dict[str, Any]:
    reference = _reference(name, package.version)
    made: dict[str, Any] = {
        "type": "library",
        "bom-ref": reference,
        "name": name,
        "version": package.version,
        "purl": reference,
    }
    if licence := _licence(package):
        made["licenses"] = [licence]
    return made


def _licence(package: Distribution) -> dict[str, Any] | None:
    """The licence as the package's own metadata say it."""
    metadata = package.metadata
    if expression := metadata.get("License-Expression"):
        return {"expression": expression}
    classified = [
        line.rpartition(" :: ")[2]
        for line in metadata.get_all("Classifier") or ()
        if line.startswith("License ::")
    ]
    written = (metadata.get("License") or "").strip()
    named = classified[0] if classified else written.splitlines()[0][:80] if written else ""
    return {"license": {"name": named}} if named else None


def _reference(name: str, version: str) -> str:
    return f"pkg:pypi/{name}@{version.partition('+')[0]}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--extras", default="all", help="of askew, with commas between them")
    print(json.dumps(sbom(parser.parse_args().extras.split(",")), indent=2))
