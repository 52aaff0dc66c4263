"""Whether a run folder is as it was left, and by whom: its manifest and its signature together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from askew.errors import MissingDependency, RunError
from askew.manifest import Fault, FaultKind, check_manifest
from askew.models.ledgerfile import refuse_newer
from askew.report.folders.signature import Signature, SignatureState, check_signature


class VerifyState(StrEnum):
    """What came of the check."""

    FINE = "fine"
    CHANGED = "not as it was left"
    CANNOT_BE_CHECKED = "cannot be checked"


@dataclass(frozen=True, slots=True)
class Verified:
    """One run folder, checked.

    Attributes:
        run: the folder.
        state: what came of it.
        faults: where the folder differs from its manifest.
        signature: what came of that; None where there is none and none was asked for, or where it
            could not be checked.
        why: why it could not be checked; "" where it could.
    """

    run: Path
    state: VerifyState
    faults: tuple[Fault, ...] = ()
    signature: Signature | None = None
    why: str = ""

    def lines(self, shown: str) -> list[str]:
        """What to print; `shown` is the folder as it is printed."""
        if self.state is VerifyState.FINE:
            said = [f"{shown}: every file is as the run left it"]
        elif self.faults or self.signature is not None:
            said = [f"{shown} is {self.state}:"]
        else:
            said = [f"{shown} {self.state}: {self.why}"]
        said += [f"  {fault}" for fault in self.faults]
        if self.signature is not None:
            said.append(f"  {self.signature.what}")
        elif self.state is VerifyState.FINE:
            said.append("  not signed")
        if self.why and said[0].endswith(":"):
            said.append(f"  {self.why}")
        return said


def verify_run(run: Path, signer: bytes | None = None, *, allow_extra: bool = False) -> Verified:
    """Check one run folder; whatever keeps it from being checked stands in the result.

    Args:
        run: the folder.
        signer: 32 bytes, the public key that must have signed it; None: any, or nobody.
        allow_extra: files that the manifest does not name are listed and are no fault.
    """
    faults: Sequence[Fault] = ()
    try:
        if not run.is_dir():
            raise RunError(
                f"{run} is not a folder. Name a run folder; an evidence pack is checked, once "
                "unpacked, by sha256sum --check SHA256SUMS."
            )
        faults = check_manifest(run)
        refuse_newer(run / "run.sqlite")  # which may be whole in another way
        signature = check_signature(run, signer)
    except (MissingDependency, RunError) as trouble:
        changed = any(fault.kind is not FaultKind.EXTRA for fault in faults)
        state = VerifyState.CHANGED if changed else VerifyState.CANNOT_BE_CHECKED
        return Verified(run, state, tuple(faults), None, str(trouble))
    counted = [one for one in faults if not (allow_extra and _passes(one))]
    fits = signature is None or signature.state is SignatureState.GOOD
    state = VerifyState.CHANGED if counted or not fits else VerifyState.FINE
    return Verified(run, state, tuple(faults), signature)


def _passes(fault: Fault) -> bool:
    """Whether an extra file can be let pass: not one that changes what the database holds."""
    return fault.kind is FaultKind.EXTRA and not fault.name.startswith("run.sqlite")


def verified_record(found: Verified) -> dict[str, object]:
    """The result as JSON has it."""
    by_kind = {
        kind.value: [fault.name for fault in found.faults if fault.kind is kind]
        for kind in FaultKind
    }
    return {
        "run": str(found.run),
        "state": found.state.value,
        **by_kind,
        "signature": None if found.signature is None else asdict(found.signature),
        "why": found.why,
    }
