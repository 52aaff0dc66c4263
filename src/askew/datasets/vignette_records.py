"""Records to vignettes: what counts once, which levels are known, how little a message may show."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from askew.cache import cache_folder
from askew.datasets.base import BadRecord, DataSpec, Report
from askew.datasets.files import File, Record
from askew.datasets.locate import not_found
from askew.datasets.pins import PUBLISHED
from askew.errors import DataError
from askew.vignettes import Vignette

_EXCERPT = 40  # characters; a vignette may be about a real patient

# What a run changes where its file does not say otherwise: `askew.perturb.STANDARD`, which stands
# above this layer.
LEVELS = {
    "age": ("1-10", "20-35", "40-60", "65-80"),
    "gender": ("female", "male", "transgender woman", "transgender man", "non-binary"),
    "place": ("Chicago", "Nairobi", "Mumbai", "Lima"),
    "race": ("Black", "White", "Hispanic", "Asian"),
}
_ATTRIBUTES_MEANT = {
    "gender": ("sex", "genders", "gender_identity", "birth_sex", "sex_at_birth", "biological_sex"),
    "place": ("location", "places", "city", "country", "region", "residence", "home", "origin"),
    "race": ("ethnicity", "races", "ethnic_group", "ethnic_origin", "race_ethnicity", "ancestry"),
    "age": ("ages", "age_band", "age_group", "age_range", "aged", "years"),
}
_LEVELS_MEANT = {
    "female": ("woman", "women", "females", "girl", "lady", "f", "w", "cis woman", "feminine"),
    "male": ("man", "men", "males", "boy", "gentleman", "m", "cis man", "masculine"),
    "transgender woman": ("trans woman", "transwoman", "trans female", "transgender female"),
    "transgender man": ("trans man", "transman", "trans male", "transgender male"),
    "non-binary": ("nonbinary", "enby", "nb", "genderqueer"),
    "Black": ("african american", "african", "afro american", "black or african american"),
    "White": ("caucasian", "european"),
    "Hispanic": ("latino", "latina", "latinx", "hispanic or latino"),
    "Asian": ("asian american",),
}
_BAND = re.compile(r"(\d{1,3})-(\d{1,3})")


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


class KnownLevels:
    """Notes attributes and levels that no run has unless its file names them, each once a file.

    What an author says of an attribute or a level that is never asked about has no effect. The
    user may declare attributes and levels of their own, so that it is a note and no fault.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self._seen: set[tuple[str, str]] = set()

    def look_at(self, vignette: Vignette) -> None:
        """Note what is not known in one vignette."""
        for attribute in vignette.relevance:
            self._attribute(vignette, "relevance", attribute)
        for field, by_attribute in (("impossible", vignette.impossible), ("odd", vignette.odd)):
            for attribute, levels in by_attribute.items():
                if self._attribute(vignette, field, attribute):
                    for level in levels:
                        self._level(vignette, field, attribute, level)
        for twin in vignette.given:
            # A twin is asked about whatever its level is called; a slip parts it from the others.
            for attribute, level in twin.levels.items():
                if attribute in LEVELS:
                    self._level(vignette, "given", attribute, level, only_slips=True)
                elif _attribute_meant(attribute):
                    self._attribute(vignette, "given", attribute)

    def _attribute(self, vignette: Vignette, field: str, attribute: str) -> bool:
        """Whether an attribute is known; notes it where it is not."""
        if attribute in LEVELS:
            return True
        meant = _attribute_meant(attribute)
        hint = f"Did you mean {meant!r}?" if meant else f"Known: {', '.join(LEVELS)}."
        self._note(
            vignette,
            field,
            (attribute, ""),
            f"names the attribute {excerpt(attribute)!r}, which counts only where the run file "
            f"declares it ([[clinical.declared]]). {hint}",
        )
        return False

    def _level(
        self,
        vignette: Vignette,
        field: str,
        attribute: str,
        level: str,
        *,
        only_slips: bool = False,
    ) -> None:
        known = LEVELS[attribute]
        if level in known:
            return
        meant = _level_meant(attribute, level)
        if only_slips and not meant:
            return
        if attribute == "gender":
            why = "which is no level of it"
        elif attribute == "age" and not _is_band(level):
            why = "which is no band of years such as '20-35'"
        else:
            why = "which counts only where the run file has it ([clinical.levels])"
        hint = f"Did you mean {meant!r}?" if meant else f"Levels of askew: {', '.join(known)}."
        self._note(
            vignette,
            field,
            (attribute, level),
            f"names {attribute}={excerpt(level)}, {why}. {hint}",
        )

    def _note(self, vignette: Vignette, field: str, what: tuple[str, str], message: str) -> None:
        if what in self._seen:
            return
        self._seen.add(what)
        place = vignette.provenance
        self._report.add(
            "note",
            message,
            path=place.path,
            line=place.line,
            record=excerpt(place.record),
            field=field,
        )


def _is_band(level: str) -> bool:
    """Whether a run may have a level of age, as `askew.perturb` reads it."""
    found = _BAND.fullmatch(level)
    return found is not None and 0 < int(found[1]) <= int(found[2]) <= 120


def _attribute_meant(word: str) -> str:
    """Which of askew's attributes a word is likely to stand for; "" where it may be any other."""
    for attribute, others in _ATTRIBUTES_MEANT.items():
        if word in others:
            return attribute
    # "wage" is near to "age", and may well be an attribute of the user's.
    return next(iter(get_close_matches(word, LEVELS, n=1, cutoff=0.88)), "")


def _level_meant(attribute: str, word: str) -> str:
    """Which of askew's levels a word is likely to stand for; "" where it may be any other.

    >>> _level_meant("gender", "Man"), _level_meant("age", "20 – 35"), _level_meant("place", "Oslo")
    ('male', '20-35', '')
    """
    if attribute == "age":
        years = [int(digits) for digits in re.findall(r"\d+", word)]
        return next((one for one in LEVELS["age"] if [*map(int, one.split("-"))] == years), "")
    plain = " ".join(re.sub(r"[-_/]", " ", word).casefold().split())
    plain = plain.removesuffix(" patient").removesuffix(" person")
    by_name = {
        name: level
        for level in LEVELS[attribute]
        for name in (level.casefold().replace("-", " "), *_LEVELS_MEANT.get(level, ()))
    }
    # "transgender" alone is two levels: nearer to the shorter of them, but not near.
    close = get_close_matches(plain, by_name, n=1, cutoff=0.85)
    return by_name[close[0]] if close else ""


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
