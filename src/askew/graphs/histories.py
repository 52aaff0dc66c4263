"""Present or past: what is chronic stays, what is told of earlier years is over."""

from __future__ import annotations

import re

from askew.graphs.context import Reading
from askew.graphs.mention import Mention
from askew.graphs.page import Page
from askew.graphs.wordlist import last_of
from askew.vignettes import Status

# What one has for life: "history of diabetes" says that it is still there.
_CHRONIC = re.compile(
    r"\b(?:(?:pre)?diabet\w*|hypertens\w*|asthma\w*|copd|emphysema|chronic|bronchiectasis|"
    r"arthritis|osteoarthritis|osteoporosis|osteopenia|epilep\w*|seizure disorder|"
    r"depress\w*|anxiety|bipolar|schizo\w*|psychosis disorder|migraines?|hiv|aids|"
    r"hypothyroid\w*|hyperthyroid\w*|graves|hashimoto\w*|fibrillation|flutter|"
    r"arrhythmia|heart failure|cardiomyopathy|heart disease|artery disease|vascular "
    r"disease|angina|lupus|sclerosis|parkinson\w*|dementia|alzheimer\w*|psoria\w*|"
    r"eczema|dermatitis|gout|reflux|gerd|gord|hyperlipid\w*|dyslipid\w*|"
    r"hypercholesterol\w*|cholesterol|syndrome|disorder|glaucoma|cataracts?|an[a]?emia|"
    r"sickle cell|thalass\w*|h[a]?emophilia|cirrhosis|hepatitis [bc]|endometriosis|"
    r"fibroids?|fibromyalgia|obes\w*|ap[n]?n[o]?ea|rhinitis|crohn\w*|colitis|bowel "
    r"disease|c[o]?eliac|kidney disease|renal disease|renal failure|kidney failure|"
    r"liver disease|lung disease|thyroid disease|cystic fibrosis|autis\w*|adhd|"
    r"deficiency|neuropathy|retinopathy|nephropathy|dystrophy|sarcoid\w*|hyperplasia|"
    r"bph|stenosis|regurgitation|valve|insufficiency|dependence|alcoholism|addiction|"
    r"abuse|use disorder|dysphoria|intolerance|spondyl\w*|scoliosis|rosacea|vitiligo|"
    r"acne|h[a]?emochromatosis|polycystic|narcolepsy|tourette\w*|palsy|down|marfan|"
    r"turner|klinefelter|raynaud\w*|sjogren\w*|sj.gren\w*|scleroderma|myasthenia|"
    r"addison\w*|cushing\w*|phenylketonuria|pcos|cad|chf|htn|ckd|af|ms|ra|sle|ibs|ibd|"
    r"oa|osa|esrd|pvd|pad|disability|hay fever|allerg\w*|insomnia|impairment|deafness|"
    r"blindness|porphyria|aneurysm|varicose veins|hernia|prolapse|hemorrhoids|tinnitus|"
    r"leukemia|lymphoma|myeloma)\b"
)
# What passes, though a chronic word stands in it.
_ACUTE = re.compile(
    r"\b(?:preeclampsia|gestational|pregnancy|postpartum|heat|acute|ketoacidosis|"
    r"infarction|stroke|tia|ischemic attack|embol\w*|thrombos\w*|fracture|rupture|"
    r"guillain|reye|kawasaki|toxic shock|nephrotic syndrome in childhood|h[a]?emolytic "
    r"uremic|compartment|respiratory distress)\b"
)
_AGO = re.compile(
    r"\b(?:ago|in (?:19|20)\d\d|last (?:year|spring|summer|autumn|fall|winter|month)|as "
    r"an? (?:\w+ )?(?:child|teenager|baby|infant|young \w+|adolescent|boy|girl|student)|"
    r"in (?:his|her|their|my) (?:childhood|youth|infancy|teens|twenties|thirties|"
    r"forties|fifties|20s|30s|40s|50s)|when (?:he|she|they|i) (?:was|were)|at (?:the "
    r")?age|at \d+|in childhood|(?:during|in|with) (?:his|her|their|my|a|both) (?:\w+ "
    r")?(?:pregnanc(?:y|ies)|deployment|admission)|(?:during|in|with) (?:her|their|my) (?:first|"
    r"second|third|last|previous|earlier)\b(?=\s*(?:[.,;(]|and\b|but\b))|years? (?:earlier|"
    r"before|previously)|"
    r"in the past(?! (?:\d|few|couple|several|one|two|three|four|five|six|day|week|month|hour)))\b"
)
_HAD = re.compile(
    r"\b(?:had|suffered|survived|underwent|contracted|caught|got|treated for|"
    r"hospitali[sz]ed (?:for|with)|recovered from|admitted (?:for|with)|(?:was|were) "
    r"(?:treated|admitted|hospitali[sz]ed|operated))\b"
)
_DIAGNOSED = re.compile(
    r"\b(?:diagnosed|found to have|developed|has had|has been|have had|known to have|"
    r"living with|since)\b"
)
# "A man who had scarlet fever as a child has a cough": the main clause is of today.
_NOW = re.compile(r"\b(?:has|have|is|are|now)\b(?! (?:been|had)\b)")
_OVER = re.compile(
    r"^[^.;,]{0,40}?\b(?:(?:was|were|had been|been|,) (?:\w+ly )?(?:treated|cured|"
    r"repaired|removed|resected|excised|operated)|treated|(?:which|that) (?:was|were|"
    r"has been|have been|had been) (?:\w+ly )?(?:treated|cured|removed|repaired|"
    r"resolved))\b[^.;]*?\b(?:ago|in (?:19|20)\d\d|last (?:year|month|spring|summer|"
    r"autumn|fall|winter)|as an? child|in remission|successfully|and (?:is|was) "
    r"(?:cured|over)|years? (?:earlier|before)|with (?:surgery|radiation|radiotherapy|"
    r"chemotherapy|a course))\b"
    r"|^[^.;,]{0,25}\b(?:in (?:complete |full )?remission|(?:has |had |have )?(?:since |"
    r"now |fully |completely )*(?:resolved|healed|cleared)|outgrown|cured|status post "
    r"(?:resection|removal|repair))\b|^,? (?:now |since )?(?:resolved|cured|healed|"
    r"treated (?:in|with surgery)|in remission)\b|^ that (?:resolved|cleared|healed|"
    r"went away)\b"
)
_GREW_OUT = re.compile(
    r"\b(?:outgrew|recovered (?:fully |completely |well )?from|cured of|overcame|"
    r"survivor of|in remission from|got over|treated successfully for|no longer has|"
    r"used to (?:have|get|suffer from|be))\b[^.;,]*$"
)
_DURATION_HISTORY = re.compile(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|several|many|long|few|"
    r"couple)[\s-]*(?:of )?(?:standing|hours?|days?|weeks?|months?|years?|hr|wk|mo|yr|"
    r"day|week|month|year)?['’]?s?[\s-]*(?:long |standing |lasting )?(?:history|hx|"
    r"h/o)(?: of)?|\bhistory of (?:present illness|presenting)\b|\blifelong history "
    r"of\b|\bpresents? with an? (?:\w+ )?history of\b|\b(?:this|presenting) history of\b"
)


def when(page: Page, mention: Mention, reading: Reading) -> Status:
    """Present or past, where nothing else decided: what is chronic stays."""
    sentence = page.sentence_at(mention.start)
    before = page.lower[sentence.start : mention.start]
    after = page.lower[mention.end : sentence.end]
    if reading.status not in (Status.PRESENT, Status.PAST):
        return reading.status
    if _OVER.match(after) or _GREW_OUT.search(before):
        return Status.PAST
    lasting = mention.kind == "condition" and _chronic(mention)
    if reading.status is Status.PAST:
        cue = page.lower[reading.cue[0] : reading.cue[1]] if reading.cue else ""
        if reading.cue and reading.cue[0] >= mention.end:
            return Status.PAST
        since = page.lower[max((reading.cue or (0, 0))[0] - 22, 0) : mention.start]
        if _DURATION_HISTORY.search(since):
            return Status.PRESENT
        if lasting and "pregnanc" not in cue:
            return Status.PRESENT
        return Status.PAST
    return _had_then(mention, before, after, lasting)


def _had_then(mention: Mention, before: str, after: str, lasting: bool) -> Status:
    clause = re.split(
        r"[;]|, (?=(?:and|but|he|she|they|i|now)\b)|\bbut\b|\b(?:complains|presents|"
        r"reports|denies|now|takes)\b",
        before,
    )[-1]
    rest = re.split(r"[;]|, (?=(?:and|but|he|she|they|i|now)\b)|\bbut\b", after)[0]
    verb = last_of(_HAD, clause)
    if verb is None or re.search(
        r"\b(?:has|have|'s|he's|she's|'ve) (?:also |always |already |since |just |"
        r"never |not )?$",
        clause[: verb.start()],
    ):
        return Status.PRESENT
    if _DIAGNOSED.search(clause[verb.end() :]) or _NOW.search(clause[verb.end() :]):
        return Status.PRESENT
    when = _AGO.search(rest) or _AGO.search(clause)
    if not when:
        return Status.PRESENT
    if mention.kind == "symptom":
        # A story is told in the past: "had fever three days ago" is why the patient comes.
        long_ago = re.search(
            r"years? ago|in (?:19|20)\d\d|last year|child|youth|teen|in the past|"
            r"when (?:he|she|they|i) w|infan",
            rest + clause,
        )
        return Status.PAST if long_ago else Status.PRESENT
    recent = re.search(r"\b(?:days?|hours?) ago\b", rest)
    return Status.PRESENT if recent and lasting else Status.PAST


def _chronic(mention: Mention) -> bool:
    names = f"{mention.value} {mention.name}".lower()
    return bool(_CHRONIC.search(names)) and not _ACUTE.search(names)
