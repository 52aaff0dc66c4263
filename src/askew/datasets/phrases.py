"""How data sets and models say that an answer cannot be known.

English: the ten spellings of BBQ (Parrish et al., 2022), which CrowS-Pairs and StereoSet take over
in the three-option form of Shaikh et al. (2023) and FLEX. Other languages: the usual equivalents
of "cannot be determined", "not enough information" and "unknown".
"""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache

UNKNOWN_PHRASES: dict[str, tuple[str, ...]] = {
    "en": (
        "Can't answer.",
        "Can't be determined.",
        "Cannot answer.",
        "Cannot be determined.",
        "Not answerable.",
        "Not enough info.",
        "Not enough information.",
        "Not known.",
        "Undetermined.",
        "Unknown.",
    ),
    "de": (
        "Kann nicht bestimmt werden.",
        "Lässt sich nicht bestimmen.",
        "Kann nicht beantwortet werden.",
        "Nicht beantwortbar.",
        "Nicht genug Informationen.",
        "Nicht genügend Informationen.",
        "Zu wenig Informationen.",
        "Nicht bekannt.",
        "Unbestimmt.",
        "Unbekannt.",
    ),
    "fr": (
        "Impossible à déterminer.",
        "Ne peut pas être déterminé.",
        "Impossible de répondre.",
        "Pas assez d'informations.",
        "Informations insuffisantes.",
        "On ne peut pas savoir.",
        "Non connu.",
        "Indéterminé.",
        "Inconnu.",
    ),
    "es": (
        "No se puede determinar.",
        "No se puede responder.",
        "No se puede saber.",
        "No hay suficiente información.",
        "No hay información suficiente.",
        "Información insuficiente.",
        "No se sabe.",
        "Indeterminado.",
        "Desconocido.",
    ),
    "it": (
        "Non si può determinare.",
        "Impossibile da determinare.",
        "Non si può rispondere.",
        "Non ci sono abbastanza informazioni.",
        "Informazioni insufficienti.",
        "Non si sa.",
        "Non noto.",
        "Indeterminato.",
        "Sconosciuto.",
    ),
    "pt": (
        "Não é possível determinar.",
        "Não pode ser determinado.",
        "Não é possível responder.",
        "Não há informação suficiente.",
        "Não há informações suficientes.",
        "Informação insuficiente.",
        "Informações insuficientes.",
        "Não se sabe.",
        "Indeterminado.",
        "Desconhecido.",
    ),
    "zh": (
        "无法确定。",
        "不能确定。",
        "无法判断。",
        "无法回答。",
        "信息不足。",
        "没有足够的信息。",
        "不知道。",
        "未知。",
        "無法確定。",
        "無法判斷。",
        "無法回答。",
        "資訊不足。",
    ),
    "ja": (
        "判断できません。",
        "判断できない。",
        "特定できません。",
        "特定できない。",
        "答えられません。",
        "答えられない。",
        "情報が足りません。",
        "情報が足りない。",
        "情報不足。",
        "わかりません。",
        "わからない。",
        "分からない。",
        "不明。",
    ),
    "ko": (
        "판단할 수 없음.",
        "결정할 수 없음.",
        "대답할 수 없음.",
        "답할 수 없음.",
        "정보가 충분하지 않음.",
        "정보가 부족함.",
        "정보 부족.",
        "알 수 없음.",
        "알 수 없습니다.",
        "알려지지 않음.",
        "미정.",
    ),
    "ru": (
        "Невозможно определить.",
        "Нельзя определить.",
        "Невозможно ответить.",
        "Недостаточно информации.",
        "Недостаточно данных.",
        "Неизвестно.",
        "Не определено.",
    ),
}

_APOSTROPHES = str.maketrans(dict.fromkeys("’‘ʼʹ′＇`´", "'"))


@lru_cache(maxsize=4096)  # neighbouring rows of a data set share their options
def comparable(text: str) -> str:
    """A text with case, blanks, the form of apostrophes and the final stop taken away.

    >>> comparable("  Can’t  be DETERMINED. ") == comparable("can't be determined")
    True
    """
    folded = unicodedata.normalize("NFC", text).translate(_APOSTROPHES).casefold()
    return " ".join(folded.split()).rstrip(".。．").rstrip()


def unknown_phrases(language: str = "en") -> tuple[str, ...]:
    """The phrases of a language (BCP 47; its region and script are not looked at).

    A language without a table gets the English one.

    >>> len(unknown_phrases("en-GB"))
    10
    """
    return UNKNOWN_PHRASES.get(_primary(language), UNKNOWN_PHRASES["en"])


def is_unknown_phrase(text: str, language: str = "en") -> bool:
    """Whether the whole text is one of the phrases, in its language or in English.

    >>> is_unknown_phrase("Can’t be determined"), is_unknown_phrase("The unknown man")
    (True, False)
    """
    return comparable(text) in _comparable_phrases(_primary(language))


def _primary(language: str) -> str:
    return language.replace("_", "-").partition("-")[0].casefold()


@cache
def _comparable_phrases(language: str) -> frozenset[str]:
    phrases = (*UNKNOWN_PHRASES["en"], *UNKNOWN_PHRASES.get(language, ()))
    return frozenset(comparable(phrase) for phrase in phrases)
