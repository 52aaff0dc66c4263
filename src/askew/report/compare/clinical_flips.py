"""The clinical cases that moved with the patient in one run and not in the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from askew.audits.clinical_contrasts import Contrast
from askew.audits.clinical_effects import Key
from askew.report.compare.records import Flip, FlipCount, FlipSide
from askew.report.items.index import id_part
from askew.scores.endpoints import ENDPOINTS, Endpoint
from askew.stats.intervals import Numbers
from askew.vignettes import Answered, AnswerForm, Vignette

Answers = Mapping[tuple[str, AnswerForm], Sequence[Answered]]  # by variant and form


def moved_cases(
    key: Key,
    contrast: Contrast,
    names: Sequence[str],
    values: Numbers,
    vignettes: Mapping[str, Vignette],
    answers: Sequence[Answers],
) -> list[tuple[float, Flip]]:
    """The cases that moved in one run and not in the other, with by how many margins."""
    found = []
    endpoint = ENDPOINTS[key.endpoint]
    for name, before, after in zip(names, *values, strict=True):
        if bool(before) is bool(after):
            continue
        pair = contrast.pairs[name][0]
        levels = ((contrast.base, pair.base), (contrast.changed, pair.changed))
        ident = "/".join([*map(id_part, (key.form, key.attribute, key.contrast)), name])
        texts = []
        for level, variant in levels:
            had = [one[variant, key.form] for one in answers if one.get((variant, key.form))]
            texts += [(level, group[0].variant.text) for group in had[:1]]
        sides = [
            _side(float(effect), endpoint, levels, replies, key.form)
            for effect, replies in zip((before, after), answers, strict=True)
        ]
        flip = Flip(
            "moves_now" if after else "moves_no_more",
            (ident, ident),
            " ".join(vignettes[name].text.split()),
            (("endpoint", endpoint.title), ("comparison", key.contrast)),
            tuple(texts),
            sides[0],
            sides[1],
        )
        found.append((abs(float(after - before)) / endpoint.margin, flip))
    return found


def _side(
    effect: float,
    endpoint: Endpoint,
    levels: Sequence[tuple[str, str]],
    answers: Answers,
    form: AnswerForm,
) -> FlipSide:
    said = f"{endpoint.title}: {effect:+.3g}".replace("-", "−") if effect else "the same"
    texts = [
        (f"reply, {level}", one.answer.text)
        for level, variant in levels
        for one in answers.get((variant, form), ())[:1]
    ]
    return FlipSide(said, "stereotyped" if effect else "neutral", tuple(texts))


def counted_flips(flips: Sequence[tuple[float, Flip]], limit: int) -> tuple[FlipCount, ...]:
    ordered = [flip for _, flip in sorted(flips, key=lambda one: (-one[0], one[1].idents))]
    kinds = (
        ("moves_now", "the same for both → moves with the patient", True),
        ("moves_no_more", "moves with the patient → the same for both", False),
    )
    return tuple(
        FlipCount(
            name,
            title,
            worse,
            sum(flip.kind == name for flip in ordered),
            tuple(flip for flip in ordered if flip.kind == name)[:limit],
        )
        for name, title, worse in kinds
    )
