"""The wordings that tie a place to a patient, and names that are no places."""

from __future__ import annotations

import re

from askew.graphs.wordlist import word_set

_ADVERBS = (
    r"(?:\w+ly |just |has |had |have |been |also |now |then |still |recently |always |never "
    r"|not |long )*"
)
_LIVES = (
    rf"\b(?:{_ADVERBS}(?:lives?|lived|living|reside[sd]?|residing|settled|home|homes|"
    rf"stays with \w+ \w+|staying with \w+ \w+|housed|house|flat|apartment|farm|"
    rf"domiciled|shar(?:es|ing|ed) an? (?:apartment|flat|house|room)|resident|residents|"
    rf"inhabitant|native and resident|based|raised (?:his|"
    rf"her) family)"
    rf"|(?:moved|relocated|immigrated|emigrated|came|migrated|resettled)(?: back| "
    rf"here)?(?: \w+ly)? to|return(?:ed|ing) home to|a citizen)\b"
)
_BORN = (
    r"\b(?:born(?: and (?:raised|brought up|bred|grew up))?|grew up|growing up|raised|"
    r"brought up|originally|native|natives|hails?|hailing|came|comes|coming|arrived|fled|"
    r"emigrat\w+|immigrat\w+|immigrant|immigrants|migrant|migrated|refugees?(?! camp)|"
    r"relocated|moved(?: here)?|adopted|childhood|roots|origins?|asylum seeker|expatriate|"
    r"adoptee|ancestral home|birthplace|left)\b"
)
_WENT = (
    r"\b(?:travel(?:s|l?ed|l?ing)?|trips?|visit(?:s|ed|ing)?|return(?:s|ed|ing)?|went|going|"
    r"go(?= to\b)|off(?= to\b)|"
    r"goes|gone|been|back|holiday(?:s|ed|ing)?|vacation(?:s|ed|ing)?|safari|hik(?:ed|ing)|"
    r"trek(?:ked|king)?|camp(?:ed|ing)|tour(?:ed|s|ing)?|cruis(?:e|ed|ing)|stay(?:ed|ing|"
    r"s)?|spent|spend|spending|flew|fly|flying|flown|deploy(?:ed|ment)|honeymoon(?:ed|ing)?|"
    r"wedding|conference|journey(?:ed)?|expedition|pilgrimage|backpack(?:ed|ing)|"
    r"volunteer(?:ed|ing)?|mission|work(?:ed|ing)?|stint|drove|drive|driving|stopover|"
    r"layover|toured|sail(?:ed|ing)|swam|swimming|dive|dived|diving|surf(?:ed|ing)|caving|"
    r"explor(?:ed|ing)|festival|funeral|while in|time in|weeks? in|month in|months in|days "
    r"in|exchange|semester|internship|excursion|retreat|business in|cycl(?:ed|ing)|rafting|"
    r"kayak(?:ed|ing)|fishing|hunting|leav(?:e|es|ing) for|head(?:s|ed|ing)? (?:to|for)|"
    r"depart(?:s|ed|ing)? for|bound for)\b"
)
TRIGGER = re.compile(
    f"(?P<lives>{_LIVES})|(?P<born>{_BORN})|(?P<went>{_WENT})|(?P<from>\\bfrom\\b)|"
    f"(?P<abroad>\\bin\\b)"
)
PLANS = re.compile(
    r"\b(?:plan(?:s|ned|ning)?|will|going to|about to|intends?|upcoming|next (?:week|"
    r"month|year|summer|spring|fall|autumn|winter)|tomorrow|hopes?|booked|wants? to|"
    r"would like to|prepar(?:es|ing)|scheduled|due to (?:travel|fly|leave|visit|go)|"
    r"looking forward|considering|leaves for|leaving for|(?:is|are) off to|"
    r"is to (?:travel|fly|visit)|"
    r"before (?:a|her|his|their|an upcoming) (?:trip|journey|travel|holiday))\b"
)
CANCELLED = re.compile(r"\bcancel+ed\b|\bcalled off\b|\bpostponed\b")
NAME_AFTER = re.compile(
    r"^(?:['’]s)?\s+(?:[A-Z][\w'’-]+\s+)*(?:Hospital|Hospitals|Clinic|University|"
    r"Infirmary|Medical|Health|Healthcare|College|Institute|School|Center|Centre|"
    r"General|Street|Road|Avenue|Lane|Drive|Fever|Virus|Times|Airlines|Airways|Bank|"
    r"Study|Classification|Criteria|Score|Scale|Sign|Syndrome|Disease|Flu|Zoo|Marathon|"
    r"Hotel|Church|County Hospital|Memorial|Children['’]s)\b"
    r"|^\s+(?:flu|fever|virus|encephalitis|disease|syndrome|criteria|score|scale|coma "
    r"scale|hospital|clinic|infirmary|sandwich|nuts?|spotted|equine|shepherd|terrier|"
    r"pigs?|tea|coffee|wine|food|restaurant|cuisine|cheese|beer|marathon|airport|"
    r"variant|strain|salts?|university|medical|memorial|general|heart|study|style|"
    r"dressing|toast|press|born)\b(?!\s+in)"
)
NAME_BEFORE = re.compile(
    r"(?:\b(?:Dr|Mr|Mrs|Ms|Prof|Miss|Sir|Nurse|Professor|Doctor|Judge|Lady|Lord|"
    r"Saint)\.?\s+(?:[A-Z][\w'-]+\s+)?|\b(?:University|Hospital|Bank|College|Institute|"
    r"Church|Clinic|Times|Treaty|Battle|Museum|Duke|Port|City) of (?:the )?(?:[A-Z]\w+ "
    r")?)$"
)
HOSPITAL_BEFORE = re.compile(
    r"\b(?:hospital|clinic|infirmary|centre|center|practice|surgery|ward|unit|"
    r"university|office|department|specialist|er|ed|doctor|physician|laboratory|"
    r"colleague|school|company|firm|college|conference call|court|bank|airport) (?:in|"
    r"at|near|of)\s*(?:[\w\s]{0,15})$"
)
INSTITUTION = re.compile(
    r"\b(?P<what>(?:nursing|care|residential|retirement|group|foster|rest|old people's|"
    r"old people’s|residential care|children's|veterans'?|skilled nursing|long-term "
    r"care|half-?way|assisted[\s-]living|memory care|board-and-care|"
    r"sheltered)[\s-](?:home|facility|house|community|housing|village|residence|complex|"
    r"unit|accommodation|center|centre)|assisted living|hospice|(?:homeless |women's |"
    r"night |emergency )?shelter|prison|jail|correctional facility|orphanage|dormitory|"
    r"dorm|barracks|refugee camp|convent|monastery|hostel|boarding school|detention "
    r"cent(?:er|re)|military base|army base|halls? of residence|student residence|"
    r"rehabilitation (?:center|centre|facility)|almshouse|sheltered housing|youth "
    r"hostel|homeless encampment|trailer park|kibbutz|houseboat|(?:long-term|chronic) "
    r"care (?:facility|hospital)|psychiatric (?:hospital|facility)|commune)\b"
)
NATIONAL = word_set(
    """
    man woman boy girl gentleman lady male female immigrant student patient migrant refugee
    national citizen worker nurse tourist visitor teacher farmer engineer exchange born origin
    infant child nationality mother father grandmother grandfather businessman businesswoman
    sailor fisherman housewife veteran teenager adolescent toddler widow widower person
    expatriate retiree graduate musician cook chef driver builder cleaner doctor academic
    researcher native baby newborn adult youth
    """
)
# Peoples that a text names for race or ancestry, not for where somebody is from.
RACIAL = word_set(
    """
    american african asian european caucasian hispanic latino latina caribbean arab
    """
)


DWELLING = re.compile(r"(?:home|homes|house|flat|farm|apartment)$")
IN = re.compile(r"\s+(?:is |was )?(?:in|near|outside|at|to)\b")
DIRECTIONS = word_set(
    """
    central north south east west northern southern eastern western northeast northwest
    southeast southwest midwest
    """
)
# Between a place and the larger one that it lies in.
WITHIN = re.compile(
    r",\s*(?:[A-Z]\w+,\s*)?|\s*\(|(?:\s+(?:area|district|city|town|village|region|"
    r"county|province|island))?,?\s+in\s+(?:the\s+)?(?:\w+ern\s+|central\s+)?(?:state "
    r"of\s+|province of\s+|region of\s+)?"
)


AFTER_TRIGGER = re.compile(
    r"\b(?:[Ll]ives? in|[Ll]iving in|[Rr]esid(?:es|ing|ent) (?:in|of)|[Bb]orn in|"
    r"[Gg]rew up in|[Ee]migrated from|[Ii]mmigrated from|[Tt]ravel(?:l?ed|s)? to|"
    r"[Bb]ack from|[Ff]lew to|[Ww]ent to|[Hh]oliday (?:in|to)|"
    r"[Tt]rip to|[Rr]eturned from|[Vv]isit(?:ed|ing)?|[Ff]led|[Mm]oved to)"
    r" (?:the |rural |northern |southern |eastern |western |central |downtown |a "
    r"village in |a town in )*(?P<what>[A-Z][\w'’-]+(?: (?:[A-Z][\w'’-]+|de|del|la|da|"
    r"do|of))*)"
)
