"""The wordings of ConText: what opens a negation, a doubt, a history or a hypothesis."""

from __future__ import annotations

import re

_NOT = r"(?:not|never|n't|n’t)"
_HELP = r"(?:does|do|did|has|have|had|is|was|are|were|would|could|can)"
_CHANGE = (
    r"(?:change|changes|increase|decrease|improvement|worsening|progression|"
    r"deterioration|difference"
    r"|relief|let-?up|reduction|exacerbation|relation|response|resolution|alteration|"
    r"recovery|respite)s?"
)
# Words with "no" or "not" in them that deny nothing of what follows.
_PSEUDO = (
    r"\bno (?:\w+ )?(?:medications?|medicines?|treatment|therapy|drugs|tablets|pills|help)"
    r" (?:for|against)\b|"
    rf"\bno (?:\w+ )?{_CHANGE} (?:in|of|to|from|with|for)\b"
    rf"|\bwithout (?:any |much )?(?:\w+ )?{_CHANGE} (?:in|of|to|from|with)\b"
    rf"|\b(?:{_HELP} )?{_NOT} (?:only|just|merely|solely|simply)\b|\bnot necessarily\b"
    rf"|\b(?:does|do|did|can|could|would|will)\s?{_NOT} (?:\w+ )?deny\b|\bcannot deny\b|"
    rf"\bnot denied\b|\bnor (?:does|did) (?:he|she|they) deny\b"
    r"|\b(?:never|not) (?:\w+ )?den(?:y|ies|ied)\b|\bno (?:doubt|question|secret)\b"
    rf"|\b(?:{_HELP}\s?)?(?:not|n't|never) (?:without|free of|free from)\b"
    rf"|\b(?:cannot|can't|can’t|could not|couldn't|couldn’t|does not|did not|doesn't|"
    rf"unable to) (?:say|claim|state|swear)(?: that)?(?: (?:he|she|they|i))?(?: (?:has|"
    rf"have|had))? ?(?:{_NOT})?\b"
    rf"|\b(?:{_HELP}\s?)?{_NOT} (?:been )?(?:respond(?:ed|ing)?|improv(?:e|ed|ing)|"
    rf"reliev(?:e|ed|ing)|help(?:ed|ing)?|eas(?:e|ed|ing)|settl(?:e|ed|ing)|"
    rf"related|due|caused|explained|triggered|brought on|controlled|affected|changed|"
    rf"adher\w*|complian\w*)\b"
    r"|\b(?:no|not|without) (?:clear |obvious |known |apparent )?(?:cause|reason|"
    r"explanation|trigger|idea|matter|wonder|longer than|less than|more than|later than|"
    r"fewer than)\b(?: (?:for|of))?"
    r"|\bno longer able\b|\bnot (?:fully |completely |entirely |quite |well "
    r")?(?:resolved|gone|recovered|cleared|controlled|sure why)\b"
    r"|\bno (?:further )?(?:improvement|relief|benefit|better|luck)\b|\bnever "
    r"(?:improved|resolved|got better|fully went away)\b"
    rf"|\b{_NOT} (?:stop(?:ped)?|ceased?)\b|\bcould not (?:sleep|rest|work)\b|\bnot "
    rf"unusual\b|\bno sooner\b"
    r"|\bno known (?:drug |medication |food )?allerg(?:y|ies)\b|\bnone the less\b|"
    r"\bnon-?\s?specific\b"
)
_POSSIBLE_NEGATED = (
    r"\b(?:cannot|can't|can’t|could not|couldn't|not possible to|unable to|not been "
    r"able to|has yet to|yet to|not yet been able to) (?:be )?(?:completely |fully |"
    r"safely |yet )?(?:rule(?:d)? out|exclude(?:d)?|dismiss(?:ed)?)\b"
    r"|\b(?:not|n't) (?:yet |been |fully )*(?:ruled out|excluded)\b"
)
_NEGATION = (
    r"\bdeni(?:es|ed)\b|\bdeny(?:ing)?\b|\bden(?:ial) of\b|\bno evidence (?:of|for)\b|"
    r"\bno signs? of\b|\bno symptoms? of\b"
    r"|\bno (?:\w+ )?(?:history|hx|h/o) of\b|\bno (?:complaints?|reports?|mention|"
    r"indication|suggestion|suspicion|trace) of\b"
    rf"|\b(?:does|do|did|has|have|had|is|was|are|were|would|could|can|should)\s?{_NOT}\b|"
    rf"\b(?:cannot|can't|can’t)\b|\bain't\b"
    r"|\bno one (?:else )?in\b|\bnobody (?:else )?in\b|\bnone of (?:his|her|their|my|"
    r"the)\b|\bneither\b|\bnor\b|\bno\b|\bnot\b|\bnever\b"
    r"|\bwithout\b|\bw/o\b|\bfree (?:of|from)\b|\bnegative for\b|\bneg for\b|"
    r"\bneg\b(?=\s\w)|\babsence of\b|\blacks?\b|\blacking\b"
    r"|\brul(?:es|ed|ing) out\b|\bexclud(?:es|ed|ing)\b|\bdeclin(?:es|ed|ing)\b|"
    r"\brefus(?:es|ed|ing)\b"
    r"|\(\s*[-−–]\s*\)|\bunremarkable for\b|\bfails? to (?:have|show|reveal)\b|\bnot "
    r"any\b|\bhardly any\b|\bnil\b|\bzero\b(?= \w)|\bdisclaims\b|\bdenying\b|\bnegative "
    r"(?:history|hx) (?:of|for)\b|\bnegative\b(?= \w+ history)"
)
_UNCERTAIN = (
    r"\bpossibl[ey]\b|\bprobabl[ey]\b|\bsuspect(?:s|ed|ing)?\b|\bsuspicio(?:n|us)(?: of|"
    r" for)?\b|\blikely\b|\bpresum(?:ed|ably|ptive)\b"
    r"|\bconcern(?:s|ing)? (?:for|about)\b|\b(?:may|might|could)(?: \w+ly| well| also| "
    r"still| then| in fact)? (?:have|be|also|represent|suggest|indicate|reflect)\b|"
    r"\bmay ?be\b|\bperhaps\b"
    r"|\bquer(?:y|ied|ies)\b|\?\s?(?=\w)|\br/o\b|\bto (?:rule out|exclude)\b|\brule "
    r"out\b|\bevaluat(?:ed|ing|ion) for\b|\bwork(?:ed|ing)?[\s-]?up for\b"
    r"|\binvestigat(?:ed|ing|ion|ions) for\b|\bassess(?:ed|ing|ment) for\b|\btest(?:ed|"
    r"ing) for\b|\bdifferential (?:diagnos[ie]s )?(?:includes|of|:)\b|\bversus\b|"
    r"\bsuggest(?:s|ed|ive|ing)(?: of)?\b"
    r"|\b(?:thought|believed|felt|considered) to (?:have|be)\b|\bunclear (?:if|"
    r"whether)\b|\bnot (?:sure|certain|clear) (?:if|whether)\b|\bwhether\b|\bqueries\b|"
    r"\bequivocal for\b|\bquestion(?:able)?(?: of)?\b(?! )|\bprovisional(?: diagnosis "
    r"of)?\b|\bworking diagnosis(?: of| is)?\b|\bconsider(?:ed|ing)?\b|\bawaiting "
    r"(?:\w+ ){0,3}(?:for|to confirm)\b|\bappears to have\b|\bworr(?:y|ied|ies) (?:for|"
    r"about)\b|\bwonders? (?:if|about|whether)\b"
)
_HYPOTHETICAL = (
    r"\bif\b|\bin case of\b|\bin the event of\b|\bunless\b|\bshould (?=(?:he|she|they|"
    r"the|any|there|it|new|symptoms|fever|pain|you)\b)|\bshould (?=(?:[\w-]+(?:, | )){1,9}?"
    r"(?:occurs?|develops?|appears?|worsens?|starts?|returns?|recurs?|arises?|begins?|persists?|"
    r"happens?)\b)|\b(?:return|come back|call|seek|"
    r"contact|phone|present|attend|go)(?: \w+){0,4} (?:if|for|when|with|should|in case|"
    r"as soon as)\b(?=.*)"
    r"|\b(?:warn(?:ed|ing|s)?|caution(?:ed|s)?|counsel+(?:ed|ing)|educated|advis(?:ed|"
    r"es|ing)|instruct(?:ed|ions?|s)|inform(?:ed|ation)|remind(?:ed|s)?|told|taught|"
    r"asked)\b(?: \w+){0,4} (?:of|about|against|that|to (?:look|watch|return|call|come|"
    r"bring|ring|visit|see|seek|report|avoid|monitor|expect|be|go|contact|phone|ring|attend|"
    r"stop if)|on|for "
    r"signs|regarding)\b"
    r"|\b(?:watch|look|monitor|check|screen|screened|screening|observe|alert)(?: "
    r"out)?(?: \w+){0,2} (?:for|out for|to)\b"
    r"|\b(?:at |increased |higher |high |low |elevated )?risks? (?:of|for|factors? "
    r"for)\b|\bside[\s-]effects?\b(?: \w+){0,2}|\badverse effects?\b|\b(?:can|could|may|"
    r"might|will|would)(?: also| sometimes| rarely| often)? (?:cause|lead to|trigger|"
    r"result in|produce|provoke|mask|worsen|increase|develop|prevent|include)\b"
    r"|\bto (?:prevent|avoid|protect against|reduce the risk of)\b|\bprevent(?:s|ion|"
    r"ing)?(?: of)?\b|\bprophyla(?:xis|ctic)(?: against| for)?\b|\b(?:vaccinat\w+|"
    r"immuni[sz]\w+)(?: against| for)?\b"
    r"|\bask(?:s|ed|ing)? (?:about|whether|if|for)\b|\bwants? (?:to know|advice|"
    r"information)\b|\bwants?\b|\brequests?\b|\b(?:is |are |was )?(?:afraid|scared|"
    r"frightened|terrified) (?:of|that)\b|\bfears?\b(?! of)|\bfear of (?:getting|having|"
    r"developing)\b|\bworr(?:y|ied|ies|ying) (?:that|about (?:getting|developing|having|"
    r"catching))\b|\bread (?:about|that)\b|\bleaflet\b|\bexpos(?:ed|ure)(?: \w+)? to\b|"
    r"\b(?:sick )?contacts? with\b|\bcame into contact with\b|\boutbreaks?\b(?: of)?|"
    r"\bepidemic\b|\bendemic\b|\buntil\b|\bin order to\b|\bwould like\b|"
    r"\bused (?:in the treatment of|to (?:treat|prevent|manage))\b|\bhypothetical\w*\b|"
    r"\bsusceptib\w+ to\b|\bscreen(?:ing|ed)? (?:test |program "
    r")?for\b|\beducation (?:on|about)\b|\b(?:tr(?:y|ies|ied|ying)|attempt\w*|"
    r"unsuccessful|help) (?:to|at|with|in)\b|\b(?:can|could|will|might|would|do) (?:i|"
    r"he|she|they|we|you) (?:get|catch|contract|have|develop|give|treat)\b|\bto check "
    r"for\b|\bto look for\b|\bresearch\w*\b"
)
_HISTORY = (
    r"\b(?:past |prior |previous |remote |childhood |personal |known |past medical |"
    r"medical |significant |strong |distant |old |recent )*(?:history|hx)(?: is| "
    r"was)?(?: significant| notable| remarkable| positive)?(?: of| for|:| includes?| "
    r"included| with)\b"
    r"|\bh/o\b|\bpmhx?\b(?: of|:| includes)?|\bhistory (?:includes|of)\b|\bs/p\b|"
    r"\bstatus post\b|\bprevious(?:ly)?\b(?! (?:healthy|well|fit|unwell|independent|"
    r"active))|\bprior\b|\bformer(?:ly)?\b|\bin the past\b,?(?! (?:\d|few|couple|several|one|two|"
    r"three|four|five|six|"
    r"seven|eight|nine|ten|day|week|month|hour|24|year\b))|\bused to (?:have|get|"
    r"suffer)\b|\bsurvivor of\b|\b(?:recovered|recovering) from\b|\bonce had\b|"
    r"\bchildhood\b|\bovercame\b|\bcured of\b|\btreated (?:years ago |previously "
    r")?for\b(?= [^.;]*\b(?:ago|in (?:19|20)\d\d|last year|as a child))|\bhad (?:been "
    r"treated|treatment) for\b|\bresolved\b(?= \w)|\bremote\b|\blast (?:pregnancy|"
    r"year)\b|\b(?:first|second|third|last|previous|earlier|prior) pregnanc(?:y|ies)\b"
)
FORWARD = re.compile(
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
    r"\b(?:(?:is|are|was|were|be|been|being|has|have|had|now|also|all|both|currently|"
    r"never|since|remains?|seems?|"
    r"appears?|of these|ever|still|therefore|thus|subsequently|later|then|respectively|either|"
    r"either of which|which|that|who|reportedly|fortunately|today)\s+)*"
)
LATER = re.compile(
    "|".join(
        f"(?P<{name}>{pattern})"
        for name, pattern in (
            (
                "no_longer",  # "was considered but excluded"
                rf"{_BE}(?:\w+ly )?(?:considered|suspected|possible|thought likely|"
                rf"queried)(?: at first| initially)?,? (?:but|and) (?:it |was |were |has "
                rf"been |since |then |later |subsequently )*(?:excluded|ruled out|not "
                rf"confirmed|not found|dismissed)\b",
            ),
            (
                "doubt",
                rf"{_BE}(?:(?:could|can|has|have|is|was)\s?(?:not|n't|n’t)|cannot)(?: "
                rf"yet| been| be| fully| completely| entirely)* (?:ruled out|excluded|"
                rf"dismissed)"
                rf"|{_BE}(?:yet to|to|needs? to|must) be (?:ruled out|excluded)"
                rf"|{_BE}(?:suspected|possible|probable|likely|pending|presumed|"
                rf"considered|a possibility|under (?:consideration|investigation)|"
                rf"queried|being (?:considered|investigated|ruled out|excluded)|"
                rf"uncertain|in question|questionable|a concern|thought (?:possible|"
                rf"likely)|on the differential|awaited)\b(?! (?:of|to|for)\b)"
                r"|(?:may|might|could) be (?:present|possible|the (?:cause|reason|"
                r"diagnosis)|responsible|to blame|underlying|behind)\b|test is pending|"
                r"seems likely|(?:is|was|are) (?:(?:felt|thought|considered) (?:to be "
                r")?)?(?:unlikely|less likely)|"
                r"is the (?:leading|most likely|working|provisional|suspected|presumed) "
                r"\w+|\?",
            ),
            (
                "kept",  # "has not resolved", "is no better": still there
                rf"{_BE}(?:has|have|had|is|was|are|were|did|does|do)?\s?(?:not|n't|never|"
                rf"no) (?:\w+ )?(?:resolv\w*|improv\w*|chang\w*|better|gone|eas\w*|"
                rf"settl\w*|reliev\w*|stop\w*|clear\w*|longer controlled|subsid\w*|"
                rf"abat\w*|let up|worse\w*|respond\w*|help\w*)\b",
            ),
            (
                "over",
                rf"{_BE}(?:resolved|gone away|went away|gone|cleared(?: up)?|subsided|"
                rf"settled|disappeared|(?:stopped|ceased)(?=\s*(?:[.,;]|$|after|when|"
                rf"since|on|in|by|\d|two|three|last|yesterday|and|but))|healed|cured|in "
                rf"remission|in the past(?! (?:\d|few|several|couple|two|three|four|six))|"
                rf"no longer (?:present|there|a problem|bothers? "
                rf"(?:him|her|them|me))|outgrown)\b|\b(?:is|are) (?:now )?over\b"
                r"|(?:,? (?:which|that) |has |have |had |was |were )(?:since |now |"
                r"fully |completely |spontaneously )*(?:resolved|gone|cleared|subsided|"
                r"settled|stopped|outgrown|healed|disappeared)\b",
            ),
            (
                "no",
                rf"{_BE}(?:absent|denied|excluded|ruled out|negative|lacking|not (?:\w+ "
                rf")?(?:present|seen|noted|reported|found|observed|detected|evident|a "
                rf"(?:problem|feature|concern|complaint)|described|experienced|endorsed|"
                rf"elicited|confirmed|felt|there|noticed|complained of|been \w+|occurred|"
                rf"developed|happened|an issue|apparent|troublesome|known|mentioned|"
                rf"identified|witnessed)|never (?:\w+ )?(?:present|occurred|happened|"
                rf"noted|been \w+|seen|reported|developed|experienced|diagnosed|"
                rf"noticed))\b"
                r"|(?:have|has|had|did|does|do|was|were|is|are)\s?(?:not|n't|n’t|never) "
                r"(?:\w+ )?(?:occurred|developed|happened|been (?:a \w+|present|noted|"
                r"reported|seen|noticed|observed|experienced|felt)|occur|happen|develop|"
                r"present|noted|reported|seen|recurred|been|exist|there|apparent|"
                r"evident|found|observed|affected \w+)\b"
                r"|\s*[:=\-–]\s*(?:none|no|nil|negative|neg|absent|denie[sd]|0|never|"
                r"not present|denied|n|\(-\)|-)(?=\s*(?:[.,;)\n]|$))|\s*\((?:-|−|–|neg|"
                r"negative|no|none|denied|absent)\)|-ve\b|\s*[:=]\s*(?:none|no|negative|"
                r"absent|denied)\b|\s+(?:none|nil|neg|negative)(?=\s*(?:[.,;)\n]|$))",
            ),
        )
    )
)
EXAMINATION = re.compile(
    r"\b(?:physical |clinical |neurologic(?:al)? |abdominal |pelvic |cardiac |lung |"
    r"chest |skin |rectal |fundoscopic |ophthalmologic |mental status |general |further "
    r"|initial |on |an? |digital |otoscopic |slit[\s-]lamp |speculum |breast |genital |"
    r"eye |oral |ear |musculoskeletal )*(?:exam(?:ination)?|o/e|p/e)\b(?! (?:for|"
    r"because|room|stress|anxiety|table))"
    r"|\b(?:auscultation|palpation|percussion|inspection|otoscopy|fundoscopy|endoscopy|"
    r"colonoscopy|biops\w+|histolog\w+|ultraso\w+|sonograph\w*|x-?\s?rays?|"
    r"radiograph\w*|ct|mri|ecg|ekg|electrocardiogra\w+|echocardiogra\w+|imaging|scan|"
    r"angiogra\w+|laborator(?:y|ies)|labs|blood tests?|urinalysis|cultures?|smear|"
    r"serolog\w+|spirometry|doppler|vital signs|vitals|work-?up|tests?|studies|"
    r"investigations?|urine dipstick|lumbar puncture|"
    r"cerebrospinal)\b[^.;]{0,40}?\b(?:show(?:s|ed|ing)?|reveal(?:s|ed|ing)?|"
    r"demonstrat\w+|disclos\w+|(?:is|was|are|were) (?:notable|significant|remarkable|"
    r"positive|normal|unremarkable|negative|within|consistent)|notable|confirm\w*|"
    r"identif\w+|indicat\w+|(?:is|are|was|were) (?:as|found)|detect\w*|finds?|found)\b"
    r"|\b(?:auscultation|palpation|percussion) of\b"
    r"|\bon (?:auscultation|palpation|inspection|percussion|arrival, (?:his|her) "
    r"(?:blood|temp))\b|\b(?:appears|is found to have|was found to have|found to have)\b"
    r"|\b(?:hemoglobin|hematocrit|leukocyte|white (?:blood )?cell|platelet|serum|"
    r"creatinine|sodium|potassium|glucose|bilirubin|troponin|esr|crp|wbc)\b[^.;]{0,25}\d"
)
# Sentences that go on with what an examination found: no patient in them that feels or tells.
_TELLING = (
    r"(?!.*\b(?:i|patient|reports?|says?|states?|denies|complains?|history|takes?|feels?|mother|"
    r"father|"
    r"wife|husband|lives?|returns?|returned|medications?|developed|has had|has been|began|started|"
    r"noticed|admits?)\b)"
)
GOES_ON = re.compile(
    _TELLING + r"(?!.*\b(?:he|she|they)\b)"
    r"(?:there (?:is|are|was|were)|the|his|her|no|both|several|a|an|neither|deep|muscle|"
    r"strength|reflexes|bowel sounds|breath sounds|extremities|lungs?|heart|abdomen|skin|pupils|"
    r"cranial|neck|pulses|sclerae?|conjunctivae?|mucous|rectal|pelvic|neurologic|cardiac|"
    r"pulmonary|oropharynx|pharyn\w+|tympanic|cervical|lymph|visual|gait|sensation|motor|pitting|"
    r"jugular|carotid|peripheral|bilateral|mild|moderate|severe|marked|diffuse|multiple|bowels|"
    r"capillary|the remainder)\b",
    re.DOTALL,
)
# What is heard or felt by who examines.
HEARD = re.compile(
    r"[^.;]*\b(?:is|are|was|were) (?:heard|palpated|palpable|auscultated|elicited|visuali[sz]ed|"
    r"appreciated|(?:seen|noted|found) on exam\w*)\b"
)
# Vital signs open the part of a case that tells what was found, not what is felt.
VITALS = re.compile(
    r"\b(?:temperature|blood pressure|pulse|heart rate|respirat\w+(?: rate)?|oxygen saturation|"
    r"vital signs|vitals|bp|hr|spo2)\b[^.;]{0,40}?(?:\d{2,3}|normal|stable|within)"
)
AFTER_VITALS = re.compile(
    _TELLING
    + r"(?:he|she|they|the (?:man|woman|boy|girl|child|infant)) (?:is|are|appears?|looks?)\b",
    re.DOTALL,
)
# An examiner's question speaks of what might be: "Which of the following …?"
QUESTION = re.compile(r"(?:which|what|why|where|when)\b[^.]*\?", re.DOTALL)
CAUSES = re.compile(
    r"\s*(?:\w+ )?(?:can|may|might|could)(?: also| sometimes| rarely)? (?:cause|lead|"
    r"trigger|increase|interact|upset|irritate|harm|damage|make|mask|help|reduce|result|"
    r"produce|worsen|be (?:a sign|dangerous|fatal|caused|due|triggered|transmitted|"
    r"prevented))\b"
)
