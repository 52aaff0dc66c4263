"""ConText, our own: what is denied, doubted, over, or only spoken of.

After NegEx and ConText (Chapman et al., 2001; Harkema et al., 2009): a cue opens a scope that runs
to the end of its clause. What differs: clauses end where a new finite verb begins (spaCy's tags), so
that "no fever and has a cough" ends the negation without a conjunction of contrast; cues after a
finding ("chest pain is absent") reach a whole list only where the list is the clause's subject.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from askew.graphs.page import Page, Sentence
from askew.vignettes import Status

_ADVERB = r"(?:\w+ly |ever |yet |really |at all |known to |also |currently |since |even |otherwise |thus far |so far )*"
_NOT = r"(?:not|never|n't|n’t)"
_HELP = r"(?:does|do|did|has|have|had|is|was|are|were|would|could|can)"
_CHANGE = (
    r"(?:change|changes|increase|decrease|improvement|worsening|progression|deterioration|difference"
    r"|relief|let-?up|reduction|exacerbation|relation|response|resolution|alteration|recovery|respite)s?"
)
# Words with "no" or "not" in them that deny nothing of what follows.
_PSEUDO = (
    rf"\bno (?:\w+ )?{_CHANGE} (?:in|of|to|from|with|for)\b"
    rf"|\bwithout (?:any |much )?(?:\w+ )?{_CHANGE} (?:in|of|to|from|with)\b"
    rf"|\b(?:{_HELP} )?{_NOT} (?:only|just|merely|solely|simply)\b|\bnot necessarily\b"
    rf"|\b(?:does|do|did|can|could|would|will)\s?{_NOT} (?:\w+ )?deny\b|\bcannot deny\b|\bnot denied\b|\bnor (?:does|did) (?:he|she|they) deny\b"
    r"|\b(?:never|not) (?:\w+ )?den(?:y|ies|ied)\b|\bno (?:doubt|question|secret)\b"
    rf"|\b(?:{_HELP}\s?)?(?:not|n't|never) (?:without|free of|free from)\b"
    rf"|\b(?:cannot|can't|can’t|could not|couldn't|couldn’t|does not|did not|doesn't|unable to) (?:say|claim|state|swear)(?: that)?(?: (?:he|she|they|i))?(?: (?:has|have|had))? ?(?:{_NOT})?\b"
    rf"|\b(?:{_HELP}\s?)?{_NOT} (?:been )?(?:respond(?:ed|ing)?|improv(?:e|ed|ing)|reliev(?:e|ed|ing)|help(?:ed|ing)?|eas(?:e|ed|ing)|settl(?:e|ed|ing)|associated|related|due|caused|explained|triggered|brought on|controlled|affected|changed|adher\w*|complian\w*)\b"
    r"|\b(?:no|not|without) (?:clear |obvious |known |apparent )?(?:cause|reason|explanation|trigger|idea|matter|wonder|longer than|less than|more than|later than|fewer than)\b(?: (?:for|of))?"
    r"|\bno longer able\b|\bnot (?:fully |completely |entirely |quite |well )?(?:resolved|gone|recovered|cleared|controlled|sure why)\b"
    r"|\bno (?:further )?(?:improvement|relief|benefit|better|luck)\b|\bnever (?:improved|resolved|got better|fully went away)\b"
    rf"|\b{_NOT} (?:stop(?:ped)?|ceased?)\b|\bcould not (?:sleep|rest|work)\b|\bnot unusual\b|\bno sooner\b"
    r"|\bno known (?:drug |medication |food )?allerg(?:y|ies)\b|\bnone the less\b|\bnon-?\s?specific\b"
)
_POSSIBLE_NEGATED = (
    r"\b(?:cannot|can't|can’t|could not|couldn't|not possible to|unable to|not been able to|has yet to|yet to|not yet been able to) (?:be )?(?:completely |fully |safely |yet )?(?:rule(?:d)? out|exclude(?:d)?|dismiss(?:ed)?)\b"
    r"|\b(?:not|n't) (?:yet |been |fully )*(?:ruled out|excluded)\b"
)
_NEGATION = (
    r"\bdeni(?:es|ed)\b|\bdeny(?:ing)?\b|\bden(?:ial) of\b|\bno evidence (?:of|for)\b|\bno signs? of\b|\bno symptoms? of\b"
    r"|\bno (?:\w+ )?(?:history|hx|h/o) of\b|\bno (?:complaints?|reports?|mention|indication|suggestion|suspicion|trace) of\b"
    rf"|\b(?:does|do|did|has|have|had|is|was|are|were|would|could|can|should)\s?{_NOT}\b|\b(?:cannot|can't|can’t)\b|\bain't\b"
    r"|\bno one (?:else )?in\b|\bnobody (?:else )?in\b|\bnone of (?:his|her|their|my|the)\b|\bneither\b|\bnor\b|\bno\b|\bnot\b|\bnever\b"
    r"|\bwithout\b|\bw/o\b|\bfree (?:of|from)\b|\bnegative for\b|\bneg for\b|\bneg\b(?=\s\w)|\babsence of\b|\blacks?\b|\blacking\b"
    r"|\brul(?:es|ed|ing) out\b|\bexclud(?:es|ed|ing)\b|\bdeclin(?:es|ed|ing)\b|\brefus(?:es|ed|ing)\b"
    r"|\(\s*[-−–]\s*\)|\bunremarkable for\b|\bfails? to (?:have|show|reveal)\b|\bnot any\b|\bhardly any\b|\bnil\b|\bzero\b(?= \w)|\bdisclaims\b|\bdenying\b|\bnegative (?:history|hx) (?:of|for)\b|\bnegative\b(?= \w+ history)"
)
_UNCERTAIN = (
    r"\bpossibl[ey]\b|\bprobabl[ey]\b|\bsuspect(?:s|ed|ing)?\b|\bsuspicio(?:n|us)(?: of| for)?\b|\blikely\b|\bpresum(?:ed|ably|ptive)\b"
    r"|\bconcern(?:s|ing)? (?:for|about)\b|\b(?:may|might|could)(?: \w+ly| well| also| still| then| in fact)? (?:have|be|also|represent|suggest|indicate|reflect)\b|\bmay ?be\b|\bperhaps\b"
    r"|\bquer(?:y|ied|ies)\b|\?\s?(?=\w)|\br/o\b|\bto (?:rule out|exclude)\b|\brule out\b|\bevaluat(?:ed|ing|ion) for\b|\bwork(?:ed|ing)?[\s-]?up for\b"
    r"|\binvestigat(?:ed|ing|ion|ions) for\b|\bassess(?:ed|ing|ment) for\b|\btest(?:ed|ing) for\b|\bdifferential (?:diagnos[ie]s )?(?:includes|of|:)\b|\bversus\b|\bsuggest(?:s|ed|ive|ing)(?: of)?\b"
    r"|\b(?:thought|believed|felt|considered) to (?:have|be)\b|\bunclear (?:if|whether)\b|\bnot (?:sure|certain|clear) (?:if|whether)\b|\bwhether\b|\bqueries\b|\bequivocal for\b|\bquestion(?:able)?(?: of)?\b(?! )|\bprovisional(?: diagnosis of)?\b|\bworking diagnosis(?: of| is)?\b|\bconsider(?:ed|ing)?\b|\bawaiting (?:\w+ ){0,3}(?:for|to confirm)\b|\bappears to have\b|\bworr(?:y|ied|ies) (?:for|about)\b|\bwonders? (?:if|about|whether)\b"
)
_HYPOTHETICAL = (
    r"\bif\b|\bin case of\b|\bin the event of\b|\bunless\b|\bshould (?=(?:he|she|they|the|any|there|it|new|symptoms|fever|pain|you)\b)|\b(?:return|come back|call|seek|contact|phone|present|attend|go)(?: \w+){0,4} (?:if|for|when|with|should|in case|as soon as)\b(?=.*)"
    r"|\b(?:warn(?:ed|ing|s)?|caution(?:ed|s)?|counsel+(?:ed|ing)|educated|advis(?:ed|es|ing)|instruct(?:ed|ions?|s)|inform(?:ed|ation)|remind(?:ed|s)?|told|taught|asked)\b(?: \w+){0,4} (?:of|about|against|that|to (?:look|watch|return|call|come|seek|report|avoid|monitor|expect|be|go|contact|phone|ring|attend|stop if)|on|for signs|regarding)\b"
    r"|\b(?:watch|look|monitor|check|screen|screened|screening|observe|alert)(?: out)?(?: \w+){0,2} (?:for|out for|to)\b"
    r"|\b(?:at |increased |higher |high |low |elevated )?risks? (?:of|for|factors? for)\b|\bside[\s-]effects?\b(?: \w+){0,2}|\badverse effects?\b|\b(?:can|could|may|might|will|would)(?: also| sometimes| rarely| often)? (?:cause|lead to|trigger|result in|produce|provoke|mask|worsen|increase|develop|prevent|include)\b"
    r"|\bto (?:prevent|avoid|protect against|reduce the risk of)\b|\bprevent(?:s|ion|ing)?(?: of)?\b|\bprophyla(?:xis|ctic)(?: against| for)?\b|\b(?:vaccinat\w+|immuni[sz]\w+)(?: against| for)?\b"
    r"|\bask(?:s|ed|ing)? (?:about|whether|if|for)\b|\bwants? (?:to know|advice|information)\b|\bwants?\b|\brequests?\b|\b(?:is |are |was )?(?:afraid|scared|frightened|terrified) (?:of|that)\b|\bfears?\b(?! of)|\bfear of (?:getting|having|developing)\b|\bworr(?:y|ied|ies|ying) (?:that|about (?:getting|developing|having|catching))\b|\bread (?:about|that)\b|\bleaflet\b|\bexpos(?:ed|ure)(?: \w+)? to\b|\b(?:sick )?contacts? with\b|\bcame into contact with\b|\boutbreaks?\b(?: of)?|\bepidemic\b|\bendemic\b|\buntil\b|\bin order to\b|\bwould like\b|\bhypothetical\w*\b|\bsusceptib\w+ to\b|\bscreen(?:ing|ed)? (?:test |program )?for\b|\beducation (?:on|about)\b|\b(?:tr(?:y|ies|ied|ying)|attempt\w*|unsuccessful|help) (?:to|at|with|in)\b|\b(?:can|could|will|might|would|do) (?:i|he|she|they|we|you) (?:get|catch|contract|have|develop|give|treat)\b|\bto check for\b|\bto look for\b|\bresearch\w*\b"
)
_HISTORY = (
    r"\b(?:past |prior |previous |remote |childhood |personal |known |past medical |medical |significant |strong |distant |old |recent )*(?:history|hx)(?: is| was)?(?: significant| notable| remarkable| positive)?(?: of| for|:| includes?| included| with)\b"
    r"|\bh/o\b|\bpmhx?\b(?: of|:| includes)?|\bhistory (?:includes|of)\b|\bs/p\b|\bstatus post\b|\bprevious(?:ly)?\b|\bprior\b|\bformer(?:ly)?\b|\bin the past,?\b|\bused to (?:have|get|suffer)\b|\bsurvivor of\b|\b(?:recovered|recovering) from\b|\bonce had\b|\bchildhood\b|\bovercame\b|\bcured of\b|\btreated (?:years ago |previously )?for\b(?= [^.;]*\b(?:ago|in (?:19|20)\d\d|last year|as a child))|\bhad (?:been treated|treatment) for\b|\bresolved\b(?= \w)|\bremote\b|\blast (?:pregnancy|year)\b|\b(?:first|second|third|last|previous|earlier|prior) pregnanc(?:y|ies)\b"
)
_FORWARD = re.compile(
    "|".join(
        f"(?P<{name}>{pattern})"
        for name, pattern in (
            ("pseudo", _PSEUDO),
            ("doubt", _POSSIBLE_NEGATED),
            ("hypothetical", _HYPOTHETICAL),
            ("uncertain", _UNCERTAIN),
            ("no", _NEGATION),
            ("history", _HISTORY),
        )
    )
)
_BE = (
    r"\b(?:(?:is|are|was|were|be|been|being|has|have|had|now|also|all|both|currently|never|since|remains?|seems?|"
    r"appears?|of these|ever|still|therefore|thus|subsequently|later|then|respectively|either|"
    r"either of which|which|that|who|reportedly|fortunately|today)\s+)*"
)
_LATER = re.compile(
    "|".join(
        f"(?P<{name}>{pattern})"
        for name, pattern in (
            (
                "no_longer",  # "was considered but excluded"
                rf"{_BE}(?:\w+ly )?(?:considered|suspected|possible|thought likely|queried)(?: at first| initially)?,? (?:but|and) (?:it |was |were |has been |since |then |later |subsequently )*(?:excluded|ruled out|not confirmed|not found|dismissed)\b",
            ),
            (
                "doubt",
                rf"{_BE}(?:(?:could|can|has|have|is|was)\s?(?:not|n't|n’t)|cannot)(?: yet| been| be| fully| completely| entirely)* (?:ruled out|excluded|dismissed)"
                rf"|{_BE}(?:yet to|to|needs? to|must) be (?:ruled out|excluded)"
                rf"|{_BE}(?:suspected|possible|probable|likely|pending|presumed|considered|a possibility|under (?:consideration|investigation)|queried|being (?:considered|investigated|ruled out|excluded)|uncertain|in question|questionable|a concern|thought (?:possible|likely)|on the differential|awaited)\b"
                r"|(?:may|might|could) be (?:present|possible|the (?:cause|reason|diagnosis)|responsible|to blame|underlying|behind)\b|test is pending|seems likely|(?:is|was|are) (?:felt to be )?(?:unlikely|less likely)|is the (?:leading|most likely|working|provisional|suspected|presumed) \w+|\?",
            ),
            (
                "kept",  # "has not resolved", "is no better": still there
                rf"{_BE}(?:has|have|had|is|was|are|were|did|does|do)?\s?(?:not|n't|never|no) (?:\w+ )?(?:resolv\w*|improv\w*|chang\w*|better|gone|eas\w*|settl\w*|reliev\w*|stop\w*|clear\w*|longer controlled|subsid\w*|abat\w*|let up|worse\w*|respond\w*|help\w*)\b",
            ),
            (
                "over",
                rf"{_BE}(?:resolved|gone away|went away|gone|cleared(?: up)?|subsided|settled|disappeared|(?:stopped|ceased)(?=\s*(?:[.,;]|$|after|when|since|on|in|by|\d|two|three|last|yesterday|and|but))|healed|cured|in remission|in the past|no longer (?:present|there|a problem|bothers? (?:him|her|them|me))|outgrown)\b|\b(?:is|are) (?:now )?over\b"
                r"|(?:,? (?:which|that) |has |have |had |was |were )(?:since |now |fully |completely |spontaneously )*(?:resolved|gone|cleared|subsided|settled|stopped|outgrown|healed|disappeared)\b",
            ),
            (
                "no",
                rf"{_BE}(?:absent|denied|excluded|ruled out|negative|lacking|not (?:\w+ )?(?:present|seen|noted|reported|found|observed|detected|evident|a (?:problem|feature|concern|complaint)|described|experienced|endorsed|elicited|confirmed|felt|there|noticed|complained of|been \w+|occurred|developed|happened|an issue|apparent|troublesome|known|mentioned|identified|witnessed)|never (?:\w+ )?(?:present|occurred|happened|noted|been \w+|seen|reported|developed|experienced|diagnosed|noticed))\b"
                r"|(?:have|has|had|did|does|do|was|were|is|are)\s?(?:not|n't|n’t|never) (?:\w+ )?(?:occurred|developed|happened|been (?:a \w+|present|noted|reported|seen|noticed|observed|experienced|felt)|occur|happen|develop|present|noted|reported|seen|recurred|been|exist|there|apparent|evident|found|observed|affected \w+)\b"
                r"|\s*[:=\-–]\s*(?:none|no|nil|negative|neg|absent|denie[sd]|0|never|not present|denied|n|\(-\)|-)(?=\s*(?:[.,;)\n]|$))|\s*\((?:-|−|–|neg|negative|no|none|denied|absent)\)|-ve\b|\s*[:=]\s*(?:none|no|negative|absent|denied)\b|\s+(?:none|nil|neg|negative)(?=\s*(?:[.,;)\n]|$))",
            ),
        )
    )
)
_EXAMINATION = re.compile(
    r"\b(?:physical |clinical |neurologic(?:al)? |abdominal |pelvic |cardiac |lung |chest |skin |rectal |fundoscopic |ophthalmologic |mental status |general |further |initial |on |an? |digital |otoscopic |slit[\s-]lamp |speculum |breast |genital |eye |oral |ear |musculoskeletal )*(?:exam(?:ination)?|o/e|p/e)\b(?! (?:for|because|room|stress|anxiety|table))"
    r"|\b(?:auscultation|palpation|percussion|inspection|otoscopy|fundoscopy|endoscopy|colonoscopy|biops\w+|histolog\w+|ultraso\w+|sonograph\w*|x-?\s?rays?|radiograph\w*|ct|mri|ecg|ekg|electrocardiogra\w+|echocardiogra\w+|imaging|scan|angiogra\w+|laborator(?:y|ies)|labs|blood tests?|urinalysis|cultures?|smear|serolog\w+|spirometry|doppler|vital signs|vitals|work-?up|tests?|studies|investigations?|urine dipstick|lumbar puncture|cerebrospinal)\b[^.;]{0,40}?\b(?:show(?:s|ed|ing)?|reveal(?:s|ed|ing)?|demonstrat\w+|disclos\w+|(?:is|was|are|were) (?:notable|significant|remarkable|positive|normal|unremarkable|negative|within|consistent)|notable|confirm\w*|identif\w+|indicat\w+|(?:is|are|was|were) (?:as|found)|detect\w*|finds?|found)\b"
    r"|\bon (?:auscultation|palpation|inspection|percussion|arrival, (?:his|her) (?:blood|temp))\b|\b(?:appears|is found to have|was found to have|found to have)\b"
    r"|\b(?:hemoglobin|hematocrit|leukocyte|white (?:blood )?cell|platelet|serum|creatinine|sodium|potassium|glucose|bilirubin|troponin|esr|crp|wbc)\b[^.;]{0,25}\d"
)
# Sentences that go on with what an examination found: no patient in them that feels or tells.
_GOES_ON = re.compile(
    r"(?!.*\b(?:he|she|they|i|patient|reports?|denies|complains?|history|takes|feels?|mother|father|wife|husband)\b)"
    r"(?:there (?:is|are|was|were)|the|his|her|no|both|several|a|an|neither|deep|muscle|strength|reflexes)\b",
    re.DOTALL,
)
# An examiner's question speaks of what might be: "Which of the following …?"
_QUESTION = re.compile(r"(?:which|what|why|where|when)\b[^.]*\?", re.DOTALL)
_CAUSES = re.compile(
    r"\s*(?:\w+ )?(?:can|may|might|could)(?: also| sometimes| rarely)? (?:cause|lead|trigger|increase|interact|upset|irritate|harm|damage|make|mask|help|reduce|result|produce|worsen|be (?:a sign|dangerous|fatal|caused|due|triggered|transmitted|prevented))\b"
)
_CONTRAST = frozenset(
    """but although though however except whereas yet besides which who because otherwise only
    instead then while despite until due owing""".split()
)
_KINDS = {"no_longer": "no"}
_STOPS = frozenset({";", "—", "–", "("})
_FINITE = frozenset({"VBZ", "VBD", "VBP", "MD"})
_LINKS = frozenset({",", "and", "or", "nor", "and/or", "&", "/", "-", "‑", "plus"})
_LISTING = frozenset(
    """, and or nor and/or & / - any the a an his her their my of in on other severe mild new recent
    associated significant acute chronic either both such as""".split()
)
_SUBJECTS = frozenset("he she they i we there it patient this his her".split())
_AUXILIARY = frozenset("has have had is are was were does do did".split())


@dataclass(frozen=True, slots=True)
class Reading:
    """What the context of one mention says of it."""

    status: Status
    hypothetical: bool = False
    examination: bool = False
    cue: tuple[int, int] | None = None  # the characters of the cue that decided


@dataclass(frozen=True, slots=True)
class _Cue:
    kind: str
    start: int
    end: int
    until: int  # forward cues: the character at which the scope ends


class Context:
    """The cues of one text, found once and asked for every mention.

    Args:
        page: the text.
        mentions: the (start, end) of all findings and drugs in it: their words end no scope.
        hypothetical: whether instructions, warnings and questions are told apart.
        examination: whether findings of an examination are told apart.
    """

    def __init__(
        self,
        page: Page,
        mentions: Sequence[tuple[int, int]],
        *,
        hypothetical: bool = True,
        examination: bool = True,
    ) -> None:
        self.page = page
        self.mentions = sorted(mentions)
        self._hypothetical = hypothetical
        self._examination = examination
        self._inside = {
            index
            for start, end in self.mentions
            for index in range(page.word_at(start), page.word_at(end))
        }
        self._cues: dict[int, tuple[list[_Cue], list[_Cue]]] = {}

    def read(self, start: int, end: int) -> Reading:
        """The status of the mention at characters `start` to `end`."""
        sentence = self.page.sentence_at(start)
        forward, later = self._of(sentence)
        reaching = [cue for cue in forward if cue.end <= start + 1 and start < cue.until]
        kinds = {cue.kind: cue for cue in reaching}
        if self._hypothetical and _CAUSES.match(self.page.lower[end : end + 40]):
            kinds["hypothetical"] = _Cue("hypothetical", end, end, end)
        # A pseudo-cue stands for what it says only where the finding comes after all of it:
        # "no change in vision" denies the finding "change in vision".
        overlapped = [
            cue for cue in forward if cue.kind == "pseudo" and cue.start < start < cue.end < end
        ]
        after = self._after(sentence, start, end, later)
        exam = self._examined(sentence, start)
        asked = self._hypothetical and _QUESTION.match(
            self.page.lower, sentence.start, sentence.end
        )
        hypothetical = "hypothetical" in kinds or bool(asked)
        status, cue = self._status(kinds, overlapped, after)
        return Reading(status, hypothetical, exam, cue)

    def negated(self, start: int) -> bool:
        """Whether a negation reaches the word that begins at a character."""
        return self.read(start, start + 1).status == Status.ABSENT

    def _status(
        self, kinds: dict[str, _Cue], overlapped: list[_Cue], after: _Cue | None
    ) -> tuple[Status, tuple[int, int] | None]:
        def said(status: Status, cue: _Cue) -> tuple[Status, tuple[int, int]]:
            return status, (cue.start, cue.end)

        if after and after.kind == "doubt":
            return said(Status.POSSIBLE, after)
        if after and after.kind == "no":
            return said(Status.ABSENT, after)
        if "doubt" in kinds:
            return said(Status.POSSIBLE, kinds["doubt"])
        no = kinds.get("no") or (overlapped[0] if overlapped else None)
        pseudo = kinds.get("pseudo")
        if no and not (pseudo and pseudo.start > no.start and pseudo.kind == "pseudo"):
            if "no longer" in self.page.lower[no.start : no.end + 8]:
                return said(Status.PAST, no)
            return said(Status.ABSENT, no)
        if after and after.kind == "over":
            return said(Status.PAST, after)
        if "uncertain" in kinds:
            return said(Status.POSSIBLE, kinds["uncertain"])
        if "history" in kinds:
            return said(Status.PAST, kinds["history"])
        return Status.PRESENT, None

    def _of(self, sentence: Sentence) -> tuple[list[_Cue], list[_Cue]]:
        if sentence.first not in self._cues:
            self._cues[sentence.first] = self._forward(sentence), self._later(sentence)
        return self._cues[sentence.first]

    def _forward(self, sentence: Sentence) -> list[_Cue]:
        cues = []
        for found in _FORWARD.finditer(self.page.lower, sentence.start, sentence.end):
            kind = str(found.lastgroup)
            if kind == "hypothetical" and not self._hypothetical:
                continue
            if kind == "no" and self._is_name(found):
                continue
            until = self._scope(kind, sentence, found.start(), found.end())
            cues.append(_Cue(kind, found.start(), found.end(), until))
        return cues

    def _is_name(self, found: re.Match[str]) -> bool:
        """ "No." before a number, and "not" inside "cannot" that another cue has."""
        return bool(re.match(r"no\.?\s*\d", self.page.lower[found.start() : found.end() + 4]))

    def _scope(self, kind: str, sentence: Sentence, start: int, end: int) -> int:
        """The character at which what a cue says ends."""
        words = self.page.words
        cue = self.page.lower[start:end]
        first = self.page.word_at(end)
        for index in range(first, sentence.last):
            word = words[index]
            if index in self._inside:
                continue
            if kind == "hypothetical":
                if word.text == ";" or (
                    cue in ("if", "unless", "in case of") and self._main_clause(index, sentence)
                ):
                    return word.start
                continue
            if kind != "hypothetical" and self._ends_noun_phrase(kind, cue, index, first):
                return word.start
            if word.lower in ("p/w", "c/o", "presents", "presented", "complains"):
                return word.start
            if cue in ("s/p", "status post") and word.text == ",":
                return word.start
            if word.lower in _CONTRAST or word.text in _STOPS:
                if index == first and word.lower in ("which", "who", "only"):
                    continue
                return word.start
            if kind == "history" and index > first and word.lower in ("presents", "now", "with"):
                if word.lower != "with" or words[index - 1].text == ",":
                    return word.start
            if word.lower in _LINKS and self._new_clause(index, sentence, cue):
                return word.start
            if kind == "uncertain" and word.text == "," and not self._listed(index, sentence):
                return word.start
        return sentence.end

    def _ends_noun_phrase(self, kind: str, cue: str, index: int, first: int) -> bool:
        """Whether a cue that stands in a noun phrase meets the verb: "with no fever has a cough"."""
        if index == first or (kind == "no" and cue not in ("no", "without", "w/o")):
            return False
        word = self.page.words[index]
        return word.tag in ("VBZ", "VBP", "MD") or word.lower in (
            "had",
            "was",
            "were",
            "presented",
            "developed",
            "reported",
            "came",
        )

    def _listed(self, index: int, sentence: Sentence) -> bool:
        """Whether a comma goes on with a list of findings: another one follows within 3 words."""
        return any(place in self._inside for place in range(index + 1, min(index + 4, sentence.last)))

    def _main_clause(self, index: int, sentence: Sentence) -> bool:
        """Whether the word is the comma that ends an if-clause at the head of a sentence."""
        word = self.page.words[index]
        if word.text != ",":
            return False
        rest = self.page.words[index + 1 : index + 3]
        return any(one.lower in _SUBJECTS for one in rest) and self.page.lower[
            sentence.start : sentence.start + 2
        ] != "if"

    def _new_clause(self, index: int, sentence: Sentence, cue: str) -> bool:
        """Whether a clause with its own verb begins after a comma or conjunction."""
        words = self.page.words
        link = words[index].lower
        place = index + 1
        while place < sentence.last and (
            words[place].lower in ("and", "also", "now", "still", "then", "currently", "instead", "since", "today", "but")
            or (words[place].tag == "RB" and words[place].lower not in ("not", "never", "n't"))
        ):
            place += 1
        if place >= sentence.last:
            return False
        after = words[place]
        if place in self._inside:
            return False
        if after.lower in ("with", "w/") and link in (",", "and"):
            return "problem" not in cue
        if after.lower in ("a", "an", "some") and link == "and" and cue in ("no", "without", "w/o"):
            return True
        if after.lower in _SUBJECTS or after.tag == "PRP":
            return self._verb_near(place + 1, sentence)
        if after.tag in _FINITE and link != "or":
            # "does not have fever and is not coughing" begins anew and has its own cue.
            return True
        if after.tag == "VBG" and after.lower in ("complaining", "reporting", "having", "taking", "holding"):
            return True
        if link == "and" and after.lower in ("takes", "reports", "complains", "presents", "admits", "endorses"):
            return True
        if after.tag in ("DT", "PRP$") and link != "or":
            return self._verb_near(place + 1, sentence)
        if link == "," and place in range(sentence.first, sentence.last) and after.tag.startswith("NN"):
            return False
        return False

    def _verb_near(self, index: int, sentence: Sentence) -> bool:
        for place in range(index, min(index + 5, sentence.last)):
            word = self.page.words[place]
            if word.text in (",", ";") or word.lower in ("and", "or"):
                return False
            if word.tag in _FINITE and place not in self._inside:
                return True
            if word.lower in _AUXILIARY:
                return True
        return False

    def _later(self, sentence: Sentence) -> list[_Cue]:
        return [
            _Cue(_KINDS.get(str(found.lastgroup), str(found.lastgroup)), *found.span(), found.end())
            for found in _LATER.finditer(self.page.lower, sentence.start, sentence.end)
        ]

    def _after(
        self, sentence: Sentence, start: int, end: int, later: list[_Cue]
    ) -> _Cue | None:
        """The cue after a finding that speaks of it, alone or as part of the list before it."""
        for cue in later:
            if cue.start < end - 1:
                continue
            between = self.page.between(end, cue.start)
            if not between:
                return cue if self._free(sentence, cue) else None
            if self._only_place(between):
                return cue if self._free(sentence, cue) else None
            if self._list_of_subject(sentence, start, end, cue):
                return cue
            return None
        return None

    def _free(self, sentence: Sentence, cue: _Cue) -> bool:
        return bool(sentence.start <= cue.start)

    def _only_place(self, between: Sequence[object]) -> bool:
        """A few words about where, as in "pain in the left leg is absent"; no list, no verb."""
        words = [word for word in between if hasattr(word, "lower")]
        if len(words) > 5:
            return False
        stop = {",", "and", "or", "nor", "but", "with", "for"}
        if any(getattr(word, "lower", "") in stop for word in words):
            return False
        return not any(getattr(word, "tag", "") in _FINITE for word in words)

    def _list_of_subject(self, sentence: Sentence, start: int, end: int, cue: _Cue) -> bool:
        """Whether only a list of findings stands from the clause's begin to the cue."""
        words = self.page.words
        for index in range(self.page.word_at(end), self.page.word_at(cue.start)):
            if index not in self._inside and words[index].lower not in _LISTING:
                return False
        for index in range(self.page.word_at(start) - 1, sentence.first - 1, -1):
            word = words[index]
            if index in self._inside or word.lower in _LISTING:
                continue
            return word.lower in _CONTRAST or word.text in (";", ":") or word.lower in ("while", "when")
        return True

    def _examined(self, sentence: Sentence, start: int) -> bool:
        """Whether a finding is reported by who examines, here or in a sentence before."""
        if not self._examination:
            return False
        found = _EXAMINATION.search(self.page.lower, sentence.start, sentence.end)
        if found:
            return found.start() < start
        place = self.page.sentences.index(sentence)
        while place > 0 and _GOES_ON.match(
            self.page.lower, self.page.sentences[place].start, self.page.sentences[place].end
        ):
            place -= 1
            one = self.page.sentences[place]
            found = _EXAMINATION.search(self.page.lower, one.start, one.end)
            if found:
                return "exam" in found.group() or "auscult" in found.group()
        return False
