"""Explicit statements of the answer: "Answer: B", "I choose (C)", "B is correct", 答案是B.

A statement is a lead ("the answer is") and the value right after it: an option's letter, its text
or an unknown phrase. Which statement counts is for `choice` to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Literal

from askew.scores.letters import LOOKALIKES, followed_as_option, negated
from askew.scores.options import Mention, Options

# Nouns that label an answer, by language.
_NOUNS = (
    "answers?|ans|choice|option|selection|verdict|conclusion|response|solution|pick|letter|guess"
    "|vote"
    "|antwort|antwortmöglichkeit|lösung|auswahl|wahl"  # German
    "|réponse|choix|solution"  # French
    "|respuesta|opción|elección|solución"  # Spanish
    "|risposta|opzione|scelta|soluzione"  # Italian
    "|resposta|opção|alternativa|escolha|gabarito|solução"  # Portuguese
    "|antwoord|keuze"  # Dutch
    "|odpowiedź|odpowiedzią|odpowiedz|wybór|opcja"  # Polish
    "|ответ|ответом|вариант|выбор"  # Russian
    "|відповідь|варіант"  # Ukrainian
    "|cevap|cevabım|yanıt|đáp án|jawaban|svar|svaret|odpověď|vastaus|válasz|răspuns|răspunsul"
    "|απάντηση|उत्तर|الإجابة|الجواب|คำตอบ"
)
_ADJECTIVES = (
    "correct|right|best|final|true|most likely|only|proper|logical|likely|chosen|selected"
    "|richtige?|korrekte?|correcte?|bonne|juste|finale?|correcta|correcto|corretta|giusta|esatta"
    "|correta|certa|poprawna|prawidłowa|правильный|верный|правильная|doğru|juiste|rätt|riktiga?"
)
_IS = (
    "is|was|be|are|it is|would be|should be|must be|has to be|have to be|will be|would have to be"
    "|seems to be|appears to be|remains|clearly is|stays|'s|ist|wäre|lautet|sei|est|serait|es|sería"
    "|è|é|e'|sarebbe|seria|to|jest|brzmi|это|-|är|er|je|on|là|adalah|is:|este|είναι|है"
)
_FILLERS = (
    "clearly|definitely|therefore|thus|simply|probably|obviously|indeed|surely|most likely|still"
    "|now"
    "|just|then|certainly|likely|in fact|actually|of course|letter|option|choice|answer|number"
    "|the letter|the option|the|option letter|opción|opzione|opção|alternativa|letra|lettera|lettre"
    "|la lettre|la réponse|la opción|l'option|buchstabe|antwort|réponse|вариант|буква|opcja|litera"
    "|la|el|le|l|die|wohl|also|as follows|given by|none other than"
)
_PRONOUN_VERBS = (
    r"i(?:'d| would| will|'ll| shall| must| have to| am going to| do|'m going to)?"
    r"(?:\s(?:still|would|therefore|thus|also|just|have to|gotta|personally|probably|definitely"
    r"|rather|confidently|will|must|hereby|then))?"
    r"\s(?:choose|chose|pick|picked|select|selected|go(?: with| for)?|opt for|opted for|say|answer"
    r"|vote(?: for)?|guess|reckon|think|believe|bet(?: on)?|settle on|stick with|meant?"
    r"|lean towards?"
    r"|am going with|'m going with|conclude|give you|take)"
    r"|i'm\s(?:going with|going for|choosing|picking|sticking with|leaning towards?)"
)
_FOREIGN_VERBS = (
    "ich wähle|ich nehme|ich tippe auf|ich entscheide mich für|ich würde sagen|je choisis"
    "|j'opte pour"
    "|je dirais|je réponds|elijo|escojo|elegiría|diría|respondo|scelgo|direi|scelgo la|escolho"
    "|diria"
    "|eu escolho|я выбираю|выбираю|я бы выбрал|wybieram|ik kies"
)
_LOOSE = (
    r"(?:so|therefore|thus|hence|ergo|consequently|in conclusion|overall|in short|in summary)[,:]?"
    r"(?:\s(?:it'?s|it is|it must be|we choose|that'?s|i choose))?"
    r"|(?:which|that|this)\sleaves(?:\s(?:us|me))?(?:\s(?:with|only))?|leaving(?:\sonly)?"
    r"|it'?s|it is|it must be|it has to be|it's gotta be|must be|gotta be|has to be|that'?s|that is"
    r"|go(?:ing)? (?:with|for)|choose|select|pick|choosing|selecting|vote for|opt for|selected"
    r"|chosen"
    r"|(?:c'est|es|è|é|ist|ist es|also|donc|logo|quindi|luego|por tanto|следовательно|значит)"
    r"(?:\s(?:la|el|le|die|a|o|l'))?"
)
_CORRECTION_WORDS = (
    r"wait|actually|no|sorry|hmm+|rather|correction|scratch that|make (?:that|it)|i meant?"
    r"|on second thoughts?|on reflection|changed? (?:that|it|my answer)? ?to|oops|my mistake|nope"
    r"|on closer (?:look|reading|inspection)|instead|nein|non|attendez|espera|нет|вернее|точнее"
)
_CORRECTION = (
    rf"(?:{_CORRECTION_WORDS})[\s,.:;!-]{{1,4}}"
    rf"(?:(?:{_CORRECTION_WORDS})[\s,.:;!-]{{1,4}}){{0,3}}"
    r"(?:(?:it'?s|it is|it should be|it must be|option|should be|the answer is|i choose)\s)?"
)
_EAST_ASIAN_LEADS = (
    r"(?:答案|(?:正确|正確|最佳)(?:选项|選項))(?:应该|應該|应|應)?(?:就是|是|为|為|选"
    r"|選)?\s?:?\s?(?:选项|選項)?"
    r"|(?<![不没沒别別能可])(?:选择|選擇|选|選)(?![项項擇])(?:了|的是|是|:)?\s?(?:选项|選項)?"
    r"|(?:答え|正解|回答|解答)(?:は|:|としては)\s?(?:選択肢)?"
    r"|(?:정답|답변|대답|선택|답)(?:은|는|:|이)?"
)
_PUNCTUATED = r"[ ]?(?::|=|-{1,2}>|=>|-(?= )|:=)\s?-?>?"

_LABEL = re.compile(
    rf"(?<![\w'])(?:(?:{_ADJECTIVES})\s){{0,2}}(?:{_NOUNS})\)?[\"']?"
    rf"(?:\s(?:{_ADJECTIVES}|here|letter|i choose|in this case|then"
    rf"|(?:to|for|of) (?:this|the) question|for this)){{0,2}}"
    rf"(?:(?P<colon>{_PUNCTUATED})|[ ](?:{_IS})(?!\w)|'s(?!\w)|\s?\n)",
    re.IGNORECASE,
)
_ADJECTIVE_FIRST = re.compile(
    rf"(?<![\w'])(?:{_ADJECTIVES})(?:(?P<colon>{_PUNCTUATED})|[ ](?:{_IS})(?!\w))",
    re.IGNORECASE,
)
_EAST_ASIAN = re.compile(_EAST_ASIAN_LEADS)
_VERB = re.compile(
    rf"(?<![\w'])(?:{_PRONOUN_VERBS}|{_FOREIGN_VERBS})(?:\sthat)?(?:\s(?:it'?s|it is|is|it))?"
    rf"(?!\w)",
    re.IGNORECASE,
)
_CORRECTION_LEAD = re.compile(rf"(?<![\w'])(?:{_CORRECTION})", re.IGNORECASE)
_LOOSE_LEAD = re.compile(rf"(?<![\w'])(?:{_LOOSE})(?!\w)", re.IGNORECASE)
_FILLER = re.compile(
    rf"\s?(?:{_FILLERS}|(?-i:[ao](?=\s\(?[A-Z](?!\w))))(?![\w'])[\s:]{{1,2}}",
    re.IGNORECASE,
)
_OPENING_SIGNS = re.compile(r"[\s\"':.>=-]{0,8}(?:\((?=[^()\s]{2}))?[\s\"']{0,3}")

_PREDICATES = (
    r"(?:the\s)?(?:correct|right|best|accurate|true|supported|chosen"
    r"|(?:more|most) \w{3,15})(?:\s(?:one|"
    r"answer|choice|option|pick|guess|response))?"
    r"|(?:the|my)\s(?:(?:only|logical|proper|safest|obvious|final|better)\s)?"
    r"(?:answer|choice|option|pick|selection|guess|bet|response|solution|way to go|winner)"
    r"|(?:(?:la|le|die|el|a|o)\s)?(?:richtige?|korrekte?|correcte|correcta|correcto|corretta|giusta"
    r"|esatta|correta|certa|bonne réponse|réponse(?: correcte)?|respuesta|opción|risposta|resposta"
    r"|ответ|верный ответ|правильный|верный|верно|правильно|prawidłowa|poprawna|antwort"
    r"|richtige antwort)"
)
_LETTER_FIRST = re.compile(
    rf"(?<![\w'-])(?:option |answer |choice )?\(?\s?(?P<letter>[A-Za-z])\s?\)?"
    rf"(?:(?:,|\s-)?\s(?:is|must be|would be|has to be|should be|ist|est|es|è|é|jest|это|är"
    rf"|(?P<seems>(?:seems|appears|looks|feels)(?:\sto be)?))\s"
    rf"(?:(?:clearly|definitely|probably|therefore|thus|indeed)\s)?(?:{_PREDICATES})(?![\w-])"
    rf"|\s-\s(?:правильн|верн)|\s(?:fits best|gets my vote|wins)(?!\w)"
    rf"|\s?(?:가|이|が|是|は)\s?(?:가장\s)?(?:정답|맞|옳|正解|正しい|正确|正確|答案|对的|對的))",
    re.IGNORECASE,
)
_VALUE_LETTER = re.compile(
    rf"(?P<wrapped>\(\s?)?(?P<letter>[A-Za-z{''.join(LOOKALIKES)}В])(?(wrapped)\s?\))(?!\w)"
)
_ALTERNATIVE = re.compile(
    r"\)?(?:\s?(?:,|/|&|\||\+|かつ|か|と|または|或者?|和|또는|와|과)\s?"
    r"|,?\s(?:or|and|and/or|nor|oder|und|ou|et|o|y|e|и|или|lub)\s)"
    r"(?:(?:or|and|also|perhaps|maybe|possibly|even|option|alternatively)\s){0,2}"
    r"\(?(?P<letter>[A-Za-z])\)?(?![\w'])",
    re.IGNORECASE,
)
_SURE_ALTERNATIVE = re.compile(
    r"\)?(?:\s?(?:/|&|\||か|または|或|또는)|,?\s(?:or|oder|ou|или|lub)\s)", re.IGNORECASE
)
_CLAUSE_ENDS = re.compile(
    r"\)?\s?(?:\Z|[^\s\w']|(?:and|or|are|both|equally|und|et|y)(?!\w))", re.IGNORECASE
)
_TWO_TEXTS = re.compile(
    r"\s?(?:[,/&和か와]|,?\s(?:or|and|oder|und|ou|et|o|y|e|и|или)\s|或者?)\s?", re.IGNORECASE
)
_PREDICATE = re.compile(
    r"\)?\s(?:is|was|are|isn't|wasn't|does|doesn't|says?|seems?|looks?|has|can't|cannot|ist|est|es"
    r"|è|é)(?!\w)|\s?(?:是错|不对|不正确|错)",
    re.IGNORECASE,
)
_RULED_OUT = re.compile(
    r"\)?\s(?:is|was|would be|seems|looks)\s(?:\w{1,12}\s)?"
    r"(?:not|wrong|incorrect|false|out|unsupported|ruled|unlikely|tempting)(?!\w)"
    r"|\)?\s?(?:では|じゃ)(?:な|あり)|\)?\s?[가이는은]?\s?아[니닌닙]",
    re.IGNORECASE,
)
_HYPOTHETICAL = (
    r"(?:if|whether|unless|suppose|supposing|assuming|assume|why|wenn|ob|falls|si|se|если)\s"
    r"(?:(?:the|that|your|my|die|la|a|l')\s){0,2}"
)
_NOT_SAYING = (
    r"(?:not|cannot|never|won't|can't|don't|doesn't|didn't|couldn't|wouldn't|isn't|refuse to"
    r"|decline to)\s(?:(?!but\s|so\s)[\w']{1,12}\s){0,3}"
)
_SAID_BY_OTHERS = (
    r"(?:some|many|most|people|others?|one|they|you|someone|everyone|anyone|he|she|stereotypes?"
    r"|society|i first|i initially)\s"
    r"(?:(?:might|may|could|would|will|often|people|of them|first|also)\s){0,3}"
    r"(?:say|says|said|think|thinks|thought|argue|argues|argued|guess|guessed|claim|claims|believe"
    r"|assume|assumes|expect|suggest|suggests|pick|choose)\s(?:(?:that|the|my)\s){0,2}"
)
_NOT_MEANT = re.compile(
    rf"(?<!\w)(?:{_HYPOTHETICAL}|{_NOT_SAYING}|{_SAID_BY_OTHERS})\Z", re.IGNORECASE
)
_TEXT_SEPARATOR = re.compile(r"\)?\s?[.:)=,-]{0,2}\s?")
_LINE_ENDS = re.compile(r"[.)\"'!]{0,2}\s?(?:\n|\Z)")
_PLACEHOLDERS = frozenset("XYZN")  # "reply in the form 'Answer: X'"
_NO_OPTIONS = _PLACEHOLDERS | {"I"}
_CAPITALS_THAT_ARE_NO_WORDS = frozenset("BCDEFGHJKLMNPQRSTUVW")
_WINDOW = 60

Kind = Literal["option", "two", "outside", "differs"]


class Care(IntEnum):
    """How plainly a value must be set off, given the lead it follows."""

    LABEL = 0  # "Answer:": an option's text may be followed by anything
    VERB = 1  # "I think", "wait, no": its text must end the clause
    LOOSE = 2  # "so", "it's": only a letter counts, and only where it ends its clause


@dataclass(frozen=True, slots=True)
class Statement:
    """An answer stated in so many words."""

    kind: Kind  # "outside": a letter not on offer; "differs": a letter with another option's text
    place: int | None  # where kind is "option"
    start: int
    end: int
    certain: bool = True  # False where a continuation of the text could have made it another word
    letters: frozenset[str] = frozenset()  # all that were named, where kind is "two"
    firm: bool = True  # False after a lead such as "so" that often opens other sentences too
    meant: bool = True  # False where it is denied, asked, supposed or someone else's


def statements(text: str, options: Options) -> list[Statement]:
    """Every statement in `text`, by where its value stands; not all are `meant`.

    >>> options = Options(("The aunt", "The niece", "Unknown."), 2, "en")
    >>> [found.place for found in statements("Answer: A. No wait, the answer is unknown.", options)]
    [0, 2]
    """
    found: dict[int, Statement] = {}
    for lead, care in _leads(text):
        start = _after_fillers(text, lead.end(), options)
        statement = value_at(text, start, options, care)
        if statement is None:
            continue
        certain = statement.certain or bool(lead.groupdict().get("colon"))
        statement = replace(statement, certain=certain, firm=care is not Care.LOOSE)
        found.setdefault(statement.start, _judged(text, lead.start(), statement))
    for match in _LETTER_FIRST.finditer(text):
        statement = _letter_first(match, options)
        if statement is not None:
            found.setdefault(statement.start, _judged(text, match.start(), statement))
    return [found[start] for start in sorted(found)]


def _leads(text: str) -> Iterator[tuple[re.Match[str], Care]]:
    for pattern, care in (
        (_LABEL, Care.LABEL),
        (_ADJECTIVE_FIRST, Care.LABEL),
        (_EAST_ASIAN, Care.LABEL),
        (_VERB, Care.VERB),
        (_CORRECTION_LEAD, Care.VERB),
        (_LOOSE_LEAD, Care.LOOSE),
    ):
        for lead in pattern.finditer(text):
            yield lead, care


def _after_fillers(text: str, start: int, options: Options) -> int:
    """Where the value begins: "the answer is | therefore option | B"."""
    for _ in range(3):
        opened = _after_opening_signs(text, start)
        filler = _FILLER.match(text, start)
        if filler is None or filler.end() >= len(text) or options.at(text, opened):
            return opened
        start = filler.end()
    return _after_opening_signs(text, start)


def _after_opening_signs(text: str, start: int) -> int:
    opening = _OPENING_SIGNS.match(text, start)
    return opening.end() if opening else start


def _letter_first(match: re.Match[str], options: Options) -> Statement | None:
    """The letter that stands before its predicate: "B is correct"."""
    letter = match["letter"].upper()
    if letter in _NO_OPTIONS:
        return None
    place = options.place_of_letter(letter)
    kind: Kind = "outside" if place is None else "option"
    return Statement(kind, place, match.start("letter"), match.end(), firm=not match["seems"])


def value_at(text: str, start: int, options: Options, care: Care = Care.LABEL) -> Statement | None:
    """The value that stands at `start`: an option's text, an unknown phrase or a letter."""
    mention = options.at(text, start)
    letter = _VALUE_LETTER.match(text, start)
    if mention is None or (letter and _own_text_follows(text, letter, options)):
        return _letter_value(text, letter, options, care) if letter else None
    if care is Care.LOOSE or (care is Care.VERB and not followed_as_option(text, mention.end)):
        return _two_texts(text, mention, options)
    return _two_texts(text, mention, options) or Statement(
        "option",
        mention.place,
        start,
        mention.end,
        certain=mention.end < len(text) or not options.could_grow(mention.place),
    )


def _own_text_follows(text: str, letter: re.Match[str], options: Options) -> bool:
    """Whether "A man" is the letter A with its own option's text "Man" or "A man"."""
    place = options.place_of_letter(letter["letter"]) if letter["letter"].isascii() else None
    after = options.at(text, letter.end() + 1)
    return place is not None and after is not None and after.place == place


def _two_texts(text: str, mention: Mention, options: Options) -> Statement | None:
    joined = _TWO_TEXTS.match(text, mention.end)
    other = options.at(text, joined.end()) if joined else None
    if other is None or other.place == mention.place:
        return None
    return Statement("two", None, mention.start, other.end)


def _letter_value(
    text: str, match: re.Match[str], options: Options, care: Care
) -> Statement | None:
    raw, start, end = match["letter"], match.start(), match.end()
    letter = LOOKALIKES.get(raw, raw)
    bare = match["wrapped"] is None
    if letter.upper() in _NO_OPTIONS or (bare and not _ends_value(text, raw, end, options, care)):
        return None
    others = alternatives(text, end)
    if others - {letter.upper()}:
        return Statement("two", None, start, end, letters=frozenset({letter.upper(), *others}))
    place = options.place_of_letter(letter) if letter.isascii() else None
    if place is None:
        return Statement("outside", None, start, end)
    if text_differs(text, end, place, options):
        return Statement("differs", None, start, end)
    certain = not bare or end < len(text) or letter.upper() != "A"
    return Statement("option", place, start, end, certain=certain)


def _ends_value(text: str, letter: str, end: int, options: Options, care: Care) -> bool:
    if followed_as_option(text, end):
        return not _PREDICATE.match(text, end)
    if care is Care.LOOSE or letter not in _CAPITALS_THAT_ARE_NO_WORDS:
        place = options.place_of_letter(letter) if letter.isascii() else None
        after = options.at(text, end + 1)
        return after is not None and after.place == place
    # "The answer is B it seems". An idiom ("B-side") has no blank.
    return text[end : end + 1] == " " and not _PREDICATE.match(text, end)


def alternatives(text: str, end: int) -> set[str]:
    """Letters joined to the one that ends at `end`: "A or B", "A/B", "A, B and C".

    >>> sorted(alternatives("A, B or C", 1)), alternatives("B, a clear case", 1)
    (['B', 'C'], set())
    """
    letters: set[str] = set()
    while (joined := _ALTERNATIVE.match(text, end)) is not None and len(letters) < 26:
        # "B and A is wrong", "B, a clear case": what follows belongs to another clause.
        closes = bool(_CLAUSE_ENDS.match(text, joined.end()))
        capital = joined["letter"].isupper() and joined["letter"] != "I"
        sure = _SURE_ALTERNATIVE.match(text, end) is not None
        if not ((capital or closes) if sure else (capital and closes)):
            break
        letters.add(joined["letter"].upper())
        end = joined.end()
    return letters


def text_differs(text: str, end: int, place: int, options: Options) -> bool:
    """Whether a letter that ends at `end` is followed by the whole text of another option."""
    separator = _TEXT_SEPARATOR.match(text, end)
    if place == 0 and separator and separator[0] == " ":
        return False  # "A woman": an article
    after = options.at(text, separator.end()) if separator and separator.end() > end else None
    if after is None or after.place == place:
        return False
    return _LINE_ENDS.match(text, after.end) is not None


def _judged(text: str, lead: int, statement: Statement) -> Statement:
    """The statement, marked if it is denied, asked, supposed or put in someone else's mouth."""
    unmeant = (
        text[statement.end : statement.end + 3].lstrip("\"')").startswith("?")
        or _RULED_OUT.match(text, statement.end)
        or _NOT_MEANT.search(text[max(0, lead - _WINDOW) : lead])
        or negated(text, statement.start)
    )
    return replace(statement, meant=not unmeant)
