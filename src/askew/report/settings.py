"""In what runs that are set side by side were not asked alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from askew.report.estimates import Run

NOT_SET = "not set"


def differing(runs: Sequence[Run], but: Sequence[str] = ()) -> dict[str, list[str]]:
    """The settings, the seed among them, that are not the same in all runs.

    Args:
        runs: any number.
        but: settings to pass over, by their names as people read them: "shot kind".

    Returns:
        Setting -> its value in each run, "not set" where a file lacks it.
    """
    texts = [setting_texts(run) for run in runs]
    names = dict.fromkeys(name for text in texts for name in text if name not in but)
    found = {name: [text.get(name, NOT_SET) for text in texts] for name in names}
    return {name: values for name, values in found.items() if len(set(values)) > 1}


def setting_texts(run: Run) -> dict[str, str]:
    """Every setting of a run and its seed; tables are taken apart: "wording: adjective"."""
    return {"seed": value_text(run.estimates.get("seed")), **_flat(run.part("settings"))}


def value_text(value: object) -> str:
    """One value of the settings, for people.

    >>> value_text(["a", "b"]), value_text(True), value_text([{"name": "bbq", "options": {}}])
    ('a; b', 'yes', 'name bbq')
    """
    match value:
        case None:
            return NOT_SET
        case bool():
            return "yes" if value else "no"
        case Mapping():
            parts = [
                f"{name} {value_text(part)}"
                for name, part in value.items()
                if part not in (None, "", [], {})
            ]
            return ", ".join(parts) or "none"
        case list() | tuple():
            return "; ".join(map(value_text, value)) or "none"
        case _:
            return str(value)


def _flat(settings: Mapping[str, object], above: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in settings.items():
        name = above + key.replace("_", " ")
        if isinstance(value, Mapping):
            found |= _flat(value, f"{name}: ")
        else:
            found[name] = value_text(value)
    return found
