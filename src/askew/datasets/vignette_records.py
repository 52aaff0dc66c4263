"""Records to vignettes: what counts once, and how little of a patient a message may show."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from askew.cache import cache_folder
from askew.datasets.base import BadRecord, DataSpec, Report
from askew.datasets.files import File, Record
from askew.datasets.locate import not_found
from askew.datasets.pins import PUBLISHED
from askew.errors import DataError
from askew.vignettes import Vignette

_EXCERPT = 40  # characters; a vignette may be about a real patient


class Vignettes:
    """The vignettes of one data set, in the order of reading, each counted once.

    The same id with the same content is a duplicate: reported, counted once. The same id with
    other content is rejected, as nothing says which of the two is meant.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self._by_id: dict[str, Vignette] = {}

    def __iter__(self) -> Iterator[Vignette]:
        return iter(self._by_id.values())

    def add(self, vignette: Vignette) -> None:
        """Take a vignette in, or write down why not.

        Raises:
            BadRecord: another vignette has this id.
        """
        earlier = self._by_id.setdefault(vignette.id, vignette)
        if earlier is vignette:
            return
        first = f"line {earlier.provenance.line}"
        if replace(vignette, provenance=earlier.provenance) != earlier:
            raise BadRecord(
                f"same id, other content than {first}. Give each vignette an id of its own", "id"
            )
        place = vignette.provenance
        message = f"same id and content as {first}; counted once"
        name = excerpt(place.record)
        self._report.add("duplicate", message, path=place.path, line=place.line, record=name)


def collect(
    records: Iterable[Record],
    make: Callable[[Record], Vignette | None],
    vignettes: Vignettes,
    report: Report,
    *,
    path: str,
    name_field: str = "id",
) -> None:
    """Make a vignette of each record; one that cannot be made is reported with line and name.

    Args:
        records: what the file holds.
        make: raises `BadRecord` where a record cannot be used; None leaves it out, reported by
            `make` itself.
        vignettes: takes the vignettes in.
        report: takes the rejected records.
        path: the file, for messages.
        name_field: the field that holds the record's own name.
    """
    for record in records:
        try:
            vignette = make(record)
            if vignette is not None:
                vignettes.add(vignette)
        except BadRecord as bad:
            name = record.fields.get(name_field)
            report.add(
                "rejected",
                bad.message,
                path=path,
                line=record.line,
                record="" if name is None else excerpt(name),
                field=bad.field,
            )


def excerpt(value: Any) -> str:
    """As much of a value as a message may show.

    >>> excerpt("A 47-year-old woman who lives in Mombasa presents with fever.")
    'A 47-year-old woman who lives in Mombasa…'
    """
    text = " ".join((value if isinstance(value, str) else repr(value)).split())
    return text if len(text) <= _EXCERPT else text[:_EXCERPT].rstrip() + "…"


def not_here(spec: DataSpec, wanted: str) -> DataError:
    """The error for a published set whose files are not where they were looked for.

    Args:
        spec: a set of `pins.PUBLISHED` that is read from the user's folder alone.
        wanted: the file that was looked for.
    """
    if spec.path is not None:
        return not_found(spec, wanted)
    published = PUBLISHED[spec.name]
    return DataError(
        f"data set {spec.name!r} is not here yet: no {wanted} in {cache_folder()}. It is not "
        f"fetched; get a copy of {published.repository} (licence: {published.licence}) and name "
        f"its folder: --data {spec.name}=FOLDER."
    )


def note_other_version(file: File, name: str, set_name: str, report: Report) -> None:
    """Note a file of a published set that is not the version whose checksum is known.

    Args:
        file: the file as read, packed or not.
        name: its name in the published set, without `.gz`.
        set_name: a key of `pins.PUBLISHED`.
        report: takes the note.
    """
    known = {pin.file.rpartition("/")[2]: pin.sha256 for pin in PUBLISHED[set_name].pins}
    expected = known.get(name)
    if expected is None or hashlib.sha256(file.data).hexdigest() == expected:
        return
    report.add(
        "note",
        f"is not the version of {set_name} that is known (sha256 of the text {expected[:12]}…): "
        "counts and ids may differ",
        path=file.label,
    )
