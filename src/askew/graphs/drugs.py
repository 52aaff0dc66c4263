"""Whether a drug is taken, was, will be, or is refused; and what the patient is allergic to."""

from __future__ import annotations

import re
from collections.abc import Sequence

from askew.graphs.page import Page
from askew.graphs.wordlist import last_of, word_set
from askew.vignettes import Status

# The nearest of these before a drug, in its sentence, says how it stands with it. Status by name.
_BEFORE = re.compile(
    "|".join(
        f"(?P<{name}>{pattern})"
        for name, pattern in (
            (
                "absent",
                r"\b(?:declin(?:es|ed|ing)|refus(?:es|ed|ing))(?: to (?:take|start|use|"
                r"try|have|begin))?\b"
                r"|\b(?:has |had |have |was |is |does |did |do |were )?(?:never|not|"
                r"n't)(?: been| yet| currently| ever| even| be)* (?:take[ns]?|taking|"
                r"took|us(?:e[sd]?|ing)|on|given|prescribed|tried|received?|had|"
                r"need(?:s|ed)?|want(?: to take)?|willing to (?:take|start|try)|"
                r"require[sd]?|start(?:ed)?|agree\w* to)\b"
                r"|\b(?:doesn't|doesn’t|didn't|didn’t|hasn't|hasn’t|isn't|isn’t|don't|"
                r"don’t|won't|wasn't|haven't|haven’t)(?: been| ever)? (?:take[ns]?|"
                r"taking|us(?:e[sd]?|ing)|on|given|prescribed|want(?: to take)?|tried|"
                r"received?|had|need)\b"
                r"|\bwithout (?:taking|using)\b|\brather not take\b|\bden(?:ies|ied|"
                r"ying) (?:the )?(?:tak(?:ing|es)|us(?:e of|ing|e)|ever (?:taking|"
                r"using)|any (?:use of )?)?|\bavoids?\b|\bturned down\b|\breject(?:s|"
                r"ed)\b|\b(?:takes|uses|on|is on|taking) no\b|\bno (?:current )?use "
                r"of\b|\bnor\b|\bneither\b",
            ),
            (
                "past",
                r"\bno longer(?: (?:takes|uses|taking|using|on|needs|requires))?\b|"
                r"\bstopp(?:ed|ing)(?: taking| using)?\b|\bstops\b|\bdiscontinu(?:ed|es|"
                r"ing)\b|\bd/?c['’]?(?:d|ed)\b|\bd/c\b|\bfinish(?:ed|es|ing)\b|"
                r"\bcomplet(?:ed|es|ing)\b|\bceased\b|\bquit\b|\bcame off\b|\bcome "
                r"off\b|\btaken off\b|\boff\b(?! and)|\bwean(?:ed|ing)(?: herself| "
                r"himself)?(?: off| from)?\b"
                r"|\bused to (?:take|use|be on)\b|\b(?:previously|formerly|earlier|"
                r"once)(?: (?:on|took|used|treated with|taking|prescribed|received|had|"
                r"been on|taken))?\b|\bpast (?:use of|treatment with|course of)?\b|"
                r"\bhold(?:s|ing)?\b|\bheld\b|\bpaus(?:ed|ing)\b|\bsuspend(?:ed|ing)?\b|"
                r"\bran out of\b|\brun out of\b|\bswitched from\b|\bchanged from\b|"
                r"\bprior (?:use of|treatment with)?\b|\bhistory of (?:taking|using|"
                r"treatment with)\b|\b(?:was|had been) (?:on|taking|using)\b|"
                r"\bwithdr(?:ew|awn)(?: from)?\b|\bgave up\b|\bgiven up\b|\blast took\b|"
                r"\bremoved\b|\b(?:course|courses) of\b(?=[^.;]*\b(?:ago|last|in \d{4}|"
                r"completed|finished)\b)",
            ),
            (
                "planned",
                r"\b(?:will|plans? to|going to|about to|due to|scheduled to|agree[sd]? "
                r"to|intends? to|would like to|wants? to|ready to|set to|shall|advised "
                r"to|recommended to|hopes? to|considering|consider|planning to|planned "
                r"to|decided to|is to|offered to|willing to|supposed to|asked to) "
                r"(?:also |soon |be )*(?:start(?:ed|ing)?|begin|begun|commence[d]?|"
                r"initiat(?:e|ed|ing)|add(?:ed)?|tak(?:e|ing)|tr(?:y|ying)|given|"
                r"prescribed|receive|be(?:gin)?|switch(?:ed)? to|go on|try|put on|"
                r"use)(?: on| taking| with)?\b"
                r"|\bto (?:start|begin|commence|add|initiate|be (?:started|added|begun|"
                r"given))\b(?: on| taking)?|\bconsider(?:s|ed|ing)?\b(?: starting| "
                r"adding| a trial of)?|\bplan(?:s|ned|ning)?(?: for| is| to| on)?\b|"
                r"\bschedul(?:ed|ing)(?: for| to)?\b|\brecommend(?:s|ed|ing)?\b|"
                r"\bawaiting\b|\boffered\b|\bpropos(?:ed|es|ing)\b|\bsuggested\b|"
                r"\bdiscuss(?:ed|ing) (?:starting|adding)\b|\bintend(?:s|ing)?\b|"
                r"\b(?:tomorrow|next (?:week|month|visit))\b[^.;]*\b(?:starts?|"
                r"begins?)\b|\bnot yet (?:started|begun|taken|filled)\b|\bhas yet to "
                r"(?:start|take|begin|try)\b|\bhas(?: not|n't) (?:yet )?(?:started|"
                r"begun|filled)\b",
            ),
            (
                "present",
                r"\b(?:now |currently |still |also |just )?(?:takes?|taking|took|taken|"
                r"us(?:es|ing|ed)|on|continu(?:es|ed|ing)|maintain(?:ed|s)|start(?:ed|"
                r"s)|began|begins|commenced|initiated|given|gave|prescribed|receiv(?:es|"
                r"ed|ing)|treated|managed|controlled|inject(?:s|ing)|inhal(?:es|ing)|"
                r"appl(?:ies|ying)|put on|switched to|changed to|tried|trying|need(?:s|"
                r"ed)|requir(?:es|ed|ing)|medications?(?: are| include[sd]?|:)?|meds:?|"
                r"drinks|relies on|swallow(?:s|ed)|accept(?:s|ed)|agree[sd]? to|"
                r"ingested|resumed|restarted|added|increased|replaced with|instead)\b",
            ),
        )
    )
)
_AUX = (
    r"(?:\s*(?:,|(?:which|that|has|have|had|is|was|were|are|been|be|being|will|to|"
    r"should|he|she|they|it|since|then|now|also|just|both|recently|subsequently|again|later|"
    r"therefore|temporarily|currently|only|soon|all|\w+ly)\b))*\s*"
)
_AFTER = re.compile(
    "|".join(
        f"(?P<{name}>{_AUX}(?:{pattern}))"
        for name, pattern in (
            (
                "absent",
                r"(?:offered|recommended|suggested|prescribed|proposed|"
                r"advised)[^.;]{0,12}\bbut (?:he |she |they |i |was |were |has |had "
                r")*(?:declined|refused|never (?:took|started|filled)|(?:did|has|had) "
                r"not)\b",
            ),
            (
                "planned",
                r"(?:will|is to|are to|to|shall|is going to|is due to|is scheduled to|"
                r"may|might) (?:soon |also )?be (?:\w+ly )?(?:started|added|given|begun|"
                r"commenced|prescribed|initiated|considered|tried|resumed|restarted|"
                r"offered|introduced|administered)\b|(?:planned|being considered|"
                r"considered|recommended|proposed|pending|scheduled|suggested|advised|"
                r"to start (?:tomorrow|today|next|on|after)|starts? (?:tomorrow|next|on "
                r"monday)|under consideration|due to (?:start|begin)|will (?:start|"
                r"begin)(?= (?:tomorrow|next|on|in|after|soon))|from tomorrow|not yet "
                r"(?:started|begun|filled))\b",
            ),
            (
                "past",
                r"(?:stopped|discontinued|d/?c['’]?(?:d|ed)|withdrawn|held|on hold|paused|"
                r"suspended|"
                r"finished|completed|ceased|switched to|replaced (?:by|with)|changed to|"
                r"weaned|tapered off|put on hold|abandoned|until (?:last|\d|she|he|two|"
                r"three|a|the|it)|in the past|years ago|(?:\w+ ){1,4}ago(?= (?:but|and) "
                r"stopped)|as a child|no longer taken|given up|ended|but (?:it was "
                r")?(?:stopped|quit|discontinued|gave it up)|any ?more|any longer)\b",
            ),
            (
                "declined",
                r"(?:declined|refused|never (?:taken|started|used|given|filled|tried)|"
                r"not (?:taken|used|given|started|tolerated|prescribed)|avoided|turned "
                r"down|contraindicated)\b",
            ),
        )
    )
)
# "…, has never taken", "…, stopped": with an object the verb speaks of that.
_ACTIVE = re.compile(
    r"\s*(?:,\s*)?(?:(?:which|that|and|has|have|had|he|she|they|i|also|then|since|"
    r"\w+ly)\s+)*(?:has|"
    r"have|had|he|she|they|i|never|stopped|discontinued|finished|completed|declined|refused)\b"
    r"(?!.*\b(?:was|were|is|been|being|be)\b)"
)
_NO_OBJECT = re.compile(
    r"\s*(?:$|[.,;:)]|(?:last|in|on|at|two|three|four|five|six|several|some|many|a|about|around|"
    r"over|"
    r"because|after|when|due|as|for|yesterday|recently|this|since|and|but|by|before|today|"
    r"following|"
    r"prior|years?|months?|weeks?|days?|early|it|them|taking it|earlier|months|long|once|while|"
    r"despite|during|without|although|owing|so|until|or|to)\b|\d)"
)
# "Zinc will be added to his aspirin": what the new drug comes on top of is taken.
_ADDED_TO = re.compile(
    r"\b(?:add(?:ed|ing|ition)?|on top of|alongside|combined|together)\b[^.;,]{0,25}?(?:\b(?:to|"
    r"of|with) )?"
    r"(?:his|her|their|my|the (?:current|existing|usual)|existing|current) (?:\w+ )?$"
)
_PAST_TIME = re.compile(
    r"\b(?:last (?:month|year|spring|summer|fall|autumn|winter)|(?:months?|years?) ago|"
    r"in (?:19|20)\d\d|as a child|in childhood|in the past|during (?:her|his) (?:first|"
    r"last|previous|earlier) \w+|when (?:he|she) was)\b"
)
_FROM_TO = re.compile(
    r"\b(?:switched|changed|transitioned|converted|moved)\b[^.;]{0,20}?\bfrom "
    r"(?P<old>[^.;]+?) to (?P<new>[^.;,]+)"
)
_ALLERGIC = re.compile(
    r"\ballerg(?:ic|y|ies)(?: reactions?)? (?:to|include[sd]?|are)\b|\ballerg(?:y|"
    r"ies)\s*[:=-]|\ballerg(?:y|ies) listed\b[^.;]{0,12}|\banaphyla(?:xis|ctic)(?: "
    r"reaction| shock)? (?:to|after|from)\b|\b(?:reacts?|reacted) (?:badly|severely) "
    r"to\b|\bintoleran(?:t|ce) (?:of|to)\b|\bhypersensitiv(?:e|ity) to\b|\bcannot "
    r"tolerate\b|\bnkda except\b|\ball:"
)
_ALLERGY_AFTER = re.compile(
    r"^(?:[\s-]*(?:and|or|,)[\s\w]{0,25})?[\s-]*(?:allerg(?:y|ies|ic)\b|"
    r"hypersensitivity\b|intolerance\b)"
    r"|^[^.;,]{0,12}\b(?:gives?|gave|causes?|caused|makes?|made|brings?|"
    r"brought)\b[^.;]{0,20}\b(?:hives|rash|swell\w*|anaphyla\w*|itch\w*|welts)\b|"
    r"^\s*\((?:hives|rash|anaphylaxis|swelling|itching)"
)
_NO_ALLERGY = re.compile(
    r"\b(?:not|no|never|denies|denied|without|isn't|isn’t|negative for)\b[^.;,]{0,30}$"
)
_REACTION = re.compile(
    r"\b(?:which|that|it|with|causing|caus(?:es|ed)|g[ai]ve[s]?|mak(?:es|ing)|made|"
    r"resulting|develop\w*|reaction)\b|\("
)
_SUBSTANCE = re.compile(
    r"\s*(?:to )?(?:any |the |a |all |both )?(?P<what>[a-z][a-z-]+(?: (?:nuts?|stings?|pollen|"
    r"dander|hair|venom|drugs?|dust|mites?|oil|milk|proteins?|whites?|tape|dye|"
    r"contrast))?)"
)
# "A nickel allergy" is to nickel; "a food allergy" names no substance.
_NAMED_ALLERGY = re.compile(
    r"\b(?:has|have|had|with|and|known|an?|no|of|her|his|their|severe|mild|,|:) "
    r"(?P<what>(?!food|drug|medication|medicine|seasonal|known|skin|contact|nasal|multiple|"
    r"environmental|severe|mild|perennial|respiratory|eye|insect|animal|no|any|an?|his|her|their|"
    r"the|"
    r"new|other|significant|and|or|with|family|history|spring|summer|childhood|suspected|possible)"
    r"[a-z]{3,}(?: (?:sting|nut|pollen|dander|venom|mite|dust|milk|egg|protein|"
    r"wool))?) allerg(?:y|ies)\b"
    r"(?! (?:tests?|testing|clinics?|medic\w+|seasons?|relief|shots?|tablets?|pills?|specialist))"
)
_NO_SUBSTANCE = word_set(
    """
    which that and to but has had she he they who is was with in takes denies reports presents
    have are was were does did will can no not never also tried uses used lives live works says
    said there taking currently medications medication drugs anything foods food none known her
    his the it them nothing something
    """
)


def drug_status(
    page: Page, start: int, end: int, others: Sequence[tuple[int, int]] = ()
) -> tuple[Status, tuple[int, int] | None]:
    """How it stands with the drug at characters `start` to `end`, and the cue that says so.

    `others` are the other drugs of the text: what is said after a list is said of all of it.
    """
    sentence = page.sentence_at(start)
    clause = page.lower[sentence.start : start]
    swap = _FROM_TO.search(page.lower, sentence.start, sentence.end)
    if swap:
        if swap.start("old") <= start < swap.end("old"):
            return Status.PAST, swap.span("old")
        if swap.start("new") <= start < swap.end("new"):
            return Status.PRESENT, None
    # "Aspirin and zinc were stopped" is said of both, "takes aspirin and zinc was stopped" of one.
    last = last_of(_BEFORE, clause)
    stop = end if last else _list_end(page, end, others)
    after = _after(page, start, stop, sentence.end)
    if after:
        return after
    if last is None:
        return Status.PRESENT, None
    cue = sentence.start + last.start(), sentence.start + last.end()
    if _ADDED_TO.search(clause):
        return Status.PRESENT, cue
    kind = str(last.lastgroup)
    if kind == "absent" and re.search(r"\bbut\b|;", clause[last.end() :]):
        return Status.PRESENT, None
    if (kind == "absent" and "any more" in page.lower[end : end + 14]) or "anymore" in page.lower[
        end : end + 12
    ]:
        return Status.PAST, cue
    if kind == "present":
        rest = page.lower[end : sentence.end]
        over = last.group().split()[-1] in (
            "took",
            "given",
            "received",
            "used",
            "treated",
            "prescribed",
            "tried",
            "taken",
        )
        ended = over and _PAST_TIME.search(rest) and not re.search(r"\bsince\b", rest)
        return (Status.PAST, cue) if ended else (Status.PRESENT, None)
    return Status(kind), cue


def _list_end(page: Page, end: int, others: Sequence[tuple[int, int]]) -> int:
    """The end of the list of drugs that goes on behind one: "aspirin and clopidogrel"."""
    for start, stop in sorted(others):
        if start >= end and re.fullmatch(
            r"\s*(?:,|/|(?:,\s*)?(?:and|or))\s*", page.lower[end:start]
        ):
            end = stop
    return end


def _after(page: Page, start: int, end: int, stop: int) -> tuple[Status, tuple[int, int]] | None:
    """A cue that follows the drug: "atorvastatin will be started"."""
    found = _AFTER.match(page.lower, end, stop)
    if not found:
        return None
    if found.lastgroup == "past" and re.match(r"[^.;]*\b(?:switched|changed) to\b", found.group()):
        return Status.PAST, found.span()
    if found.lastgroup is None:
        return None
    if _ACTIVE.match(found.group()) and not _NO_OBJECT.match(page.lower, found.end()):
        return None  # "uses no ibuprofen, has never taken steroids": said of the next drug
    kind = "absent" if found.lastgroup == "declined" else found.lastgroup
    # "takes aspirin and stopped smoking": a verb after "and" needs its own subject or auxiliary.
    if re.match(
        r"\s*(?:,|and|or)\s*(?:\w+ly\s*)?(?:stopped|declined|refused|finished|completed|"
        r"quit|discontinued|held)",
        found.group(),
    ):
        return None
    return Status(kind), found.span()


def allergy(page: Page, start: int, end: int) -> Status | None:
    """Whether the drug or substance at these characters is one the patient is allergic to.

    Returns:
        The status of the allergy, None where none is spoken of.
    """
    sentence = page.sentence_at(start)
    before = page.lower[sentence.start : start]
    last = last_of(_ALLERGIC, before)
    if last and not re.search(
        r"\b(?:takes?|taking|uses?|used|on|prescribed|given|declined|but|has|have|had|tried|"
        r"continues)\b|;",
        before[last.end() :],
    ):
        return Status.ABSENT if _NO_ALLERGY.search(before[: last.start()]) else Status.PRESENT
    if _ALLERGY_AFTER.match(page.lower[end : min(sentence.end, end + 60)]):
        return Status.ABSENT if _NO_ALLERGY.search(before) else Status.PRESENT
    return None


def substances(page: Page) -> list[tuple[int, int]]:
    """What an allergy is said to be to, drug or not, as (start, end)."""
    found: list[tuple[int, int]] = []
    for cue in _ALLERGIC.finditer(page.lower):
        at = cue.end()
        stop = page.sentence_at(cue.start()).end
        while at < stop:
            item = _SUBSTANCE.match(page.lower, at, stop)
            if not item or item["what"] in _NO_SUBSTANCE:
                break
            found.append(item.span("what"))
            link = re.match(
                r"\s*(?:\([^)]*\)\s*)?(?:,\s*(?:and |or )?|and |or |/)",
                page.lower[item.end() : stop],
            )
            if not link:
                break
            at = item.end() + link.end()
    found += [one.span("what") for one in _NAMED_ALLERGY.finditer(page.lower)]
    return found


def is_reaction(page: Page, start: int) -> bool:
    """Whether a complaint is what an allergy did: "penicillin, which gave her hives"."""
    sentence = page.sentence_at(start)
    cue = _ALLERGIC.search(page.lower, sentence.start, start)
    if not cue:
        return False
    between = page.lower[cue.end() : start]
    return bool(_REACTION.search(between)) and not re.search(
        r"\b(?:and (?:has|reports|presents)|but|;)", between
    )
