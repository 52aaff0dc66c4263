"""Diseases and drugs by their endings, complaints by their form: what no list can hold."""

from __future__ import annotations

import re

from askew.graphs.wordlist import word_set

DISEASE = re.compile(
    r"(?:[a-z]{2}(?:itis|oma|emia|aemia|osis|opathy|uria|algia|penia|megaly|plegia|"
    r"paresis|lithiasis|sclerosis|trophy|plasia|dynia|phagia|dipsia|oidosis|iasis|"
    r"rrhagia|rrhea|ectasis|phobia|mania))$"
)
# Of these endings, those that name what is felt and no diagnosis.
COMPLAINT = re.compile(r"(?:uria|algia|rrhea|rrhagia|phobia|plegia|paresis|dynia|phagia|dipsia)$")
# Words with these endings that are no diseases, or that an examination finds.
NO_DISEASE = word_set(
    """
    diploma aroma coma stroma soma oma diagnosis prognosis hypnosis osmosis mitosis meiosis
    thermosis symbiosis roma sonoma oklahoma tacoma paloma osteotomy nostalgia genoma trichoma
    bulimiaphobia splenomegaly hepatomegaly hepatosplenomegaly cardiomegaly leukocytosis
    organomegaly acidosis alkalosis hyponatremia hypernatremia hypokalemia hyperkalemia
    hypocalcemia hypercalcemia bacteremia proteinuria glycosuria ketonuria pyuria leukopenia
    bilirubinemia cyanosis ecchymosis kyphosis lordosis entropy atrophy dystrophy trophy
    apoptosis necrosis fibrosis stenosis metastasis homeostasis hemostasis
    """
)
DRUG = re.compile(
    r"(?:[a-z]{2}(?:pril|sartan|olol|statin|cillin|mycin|floxacin|cycline|azole|dipine|"
    r"gliptin|gliflozin|glutide"
    r"|tidine|prazole|triptan|setron|oxetine|azepam|azolam|zepine|barbital|caine|codone|"
    r"morphone|profen|coxib"
    r"|oxacin|vir|mab|tinib|ciclib|parib|rubicin|platin|taxel|trexate|phylline|terol|"
    r"sone|solone|nazole|thiazide"
    r"|semide|lactone|xaban|gatran|parin|grel|glitazone|formin|zosin|dronate|ipramine|"
    r"triptyline|peridone|apine"
    r"|piprazole|bactam|penem|fenac|quine|dazole|conazole|fungin|bendazole|mectin|stigmine|curium"
    r"|afil|osin|teplase|cept|nidazole|gabalin|racetam|toin|barb|phenidate|amfetamine|"
    r"amphetamine|caftor))$"
    r"|^cef[a-z]{4,}$|^sulfa[a-z]{4,}$"
)
NO_DRUG = word_set(
    """
    april person reason season prison poison lesson comparison unison liaison garrison treason
    arson parson venison concept accept except intercept precept crimson nelson jackson
    anderson mason cyprus persona chosen cortisone cortisol glucose mosaic foreseen mercy
    devoir reservoir savoir cocaine medicine vaccine porcine equine marine routine bovine
    quarantine albumin landmine magazine nestle perone masquine tosin biosin resin rhubarb
    elvir fakir clone cyclone keystone milestone grindstone limestone abalone philharmone
    hormone
    """
)

_SIDE = (
    r"(?:(?:left|right|upper|lower|both|bilateral|big|little|second|third|index|middle|"
    r"front|back|my|his|her|their|the|one|inner|outer)[\s-]+)"
)
_PART = (
    r"(?:head|face|facial|scalp|forehead|eyes?|eyelids?|ears?|nose|nasal|mouth|lips?|"
    r"tongue|gums?|jaw|throat|neck|shoulders?|arms?"
    r"|forearms?|elbows?|wrists?|hands?|fingers?|thumbs?|chest|breasts?|nipples?|ribs?|"
    r"back|spine|flanks?|abdominal|abdomen|belly"
    r"|stomach|tummy|groin|pelvic|hips?|buttocks?|thighs?|legs?|knees?|calf|calves|"
    r"shins?|ankles?|heels?|foot|feet|toes?"
    r"|soles?|palms?|joints?|muscles?|bones?|skin|limbs?|testicles?|testicular|"
    r"scrot(?:um|al)|penis|penile|vagina|vaginal|vulva[lr]?|rect(?:um|al)|anal"
    r"|toenails?|nails?|hair|glands?|lymph nodes?|tonsils?|tooth|teeth|molars?|"
    r"extremit(?:y|ies)|temples?|cheeks?|knuckles?|armpits?|loin|epigastric|suprapubic|"
    r"periumbilical|bladder|sinus|cervical|lumbar)"
)
_TROUBLE = (
    r"(?:pains?|aches?|aching|swelling|numbness|weakness|tingling|stiffness|burning|"
    r"itch(?:ing|iness)?|cramps?|cramping|tenderness|tightness"
    r"|pressure|redness|rash(?:es)?|lumps?|bleeding|discharge|spasms?|soreness|"
    r"discomfort|fullness|heaviness|ulcers?|sores?|blisters?|twitching"
    r"|irritation|congestion|drainage|dryness|spotting|cracking|peeling|clicking|"
    r"locking|instability|throbbing|fatigue|bruising|deformity|droop(?:ing)?|paralysis|"
    r"loss|floaters|warmth|bumps?|growth|odor|puffiness)"
)
_STATE = (
    r"(?:swollen|painful|sore|stiff|numb|red|hot|cold|itchy|tender|weak|bloody|"
    r"yellow(?:ish|ed)?|dark|pale|blurred|blurry|runny|blocked|stuffy|cloudy"
    r"|foul-smelling|smelly|watery|aching|achy|burning|tingling|bleeding|cracked|"
    r"peeling|puffy|inflamed|blue|bluish|white|black|tarry|greasy|loose|dry|droopy|"
    r"drooping|bulging|clammy|frequent|bruised|infected|discolou?red|shiny|throbbing|"
    r"cramping|purple|brown|tea-colou?red|pounding|racing|irregular|shaky|trembling|"
    r"heavy|thickened|deformed|bent|warm|sticky|gritty|crusty|crusted|sunken|floppy|"
    r"wobbly|cola-colou?red|frothy|foamy|mucousy|hoarse|squeaky)"
)
_PRODUCT = (
    r"(?:urine|stools?|bowel movements?|sputum|phlegm|vomit|semen|saliva|periods?|menses|"
    r"menstruation|discharge|diarrh(?:o)?ea|vision|voice|breath|heartbeat|pulse|speech|"
    r"stream|gait|nappies|diapers)"
)
PART = re.compile(_PART)
TROUBLE = re.compile(_TROUBLE)
TEMPLATES = tuple(
    re.compile(pattern)
    for pattern in (
        # "swollen left big toe", "hot, swollen joints", "cold, painful fingers"
        rf"\b(?P<what>{_STATE}(?:,? (?:and "
        rf")?{_STATE})*\s{_SIDE}*(?:{_PART}\s)?(?:{_PART}|{_PRODUCT}))\b",
        # "left knee pain", "burning chest pain"
        rf"\b(?P<what>{_SIDE}*{_PART}(?:[\s-]{_PART})?\s{_TROUBLE})\b",
        # "jerking movements", "an odd noise in the ear"
        r"\b(?P<what>(?:jerky|jerking|involuntary|abnormal|repetitive|uncontrolled|"
        r"writhing|twitching|fewer|odd|strange|unusual) (?:limb |arm |leg |eye |body |"
        r"facial )?(?:movements?|noises?|sensations?|behaviou?r))\b",
        # "pain in his left calf", "numbness of both hands", "lump under the arm"
        rf"\b(?P<what>{_TROUBLE} (?:in|of|on|over|around|under|behind|between|at|inside|"
        rf"near|along|across|down) {_SIDE}*(?:side of |back of |front of |base of |top "
        rf"of )?{_SIDE}*(?:{_PART}\s)?{_PART})\b(?! of)",
        # "blood in her urine", "mucus in the stool"
        r"\b(?P<what>(?:blood|mucus|pus|worms?|bleeding) (?:in|from|on) (?:(?:the|his|"
        r"her|their|my) )?(?:urine|stools?|sputum|vomit|semen|phlegm|bowel movements?|"
        r"diapers?|nappy|nappies|rectum|nose|gums|vagina|ears?|toilet paper|underwear|"
        r"saliva|mucus))\b",
        r"\b(?P<what>(?:yellowing|swelling|reddening|redness|stiffening|stiffness|"
        r"cramping|tightening|twitching|peeling|itching|darkening|whitening|bruising|"
        r"thinning|thickening|tingling|burning|drooping|clouding|blurring|flushing|"
        r"discolou?ration|inflammation|paralysis|deformity|enlargement|bleeding|"
        r"discharge|tightness) (?:of|in|from) (?:(?:the|his|her|their|my|both) "
        r")?(?:whites? of (?:the|his|her|their|my) eyes|\w+))\b(?<!\bthe)(?<!\ba)",
        # "difficulty swallowing", "trouble passing urine", "pain when chewing", "inability to walk"
        r"\b(?P<what>(?:difficult(?:y|ies)|trouble|problems?|pain|discomfort|burning|"
        r"stinging|struggles?|hesitancy|straining) (?:(?:with|in|when|on|while|during|"
        r"upon|after) )?(?:swallowing|breathing|walking|sleeping|urinating|speaking|"
        r"hearing|seeing|concentrating|chewing|standing|climbing stairs|falling asleep|"
        r"staying asleep|passing urine|passing stool|passing water|peeing|moving|"
        r"balancing|reading|writing|remembering|focusing|eating|urination|intercourse|"
        r"sex|defecation|exertion|movement|inspiration|opening (?:his|her|the|my) \w+|"
        r"lifting (?:his|her|the|my) \w+|memory|balance|coordination|starting (?:his|"
        r"her) stream|sitting|bending|turning|getting out of bed|getting up|word "
        r"finding|finding words|finding (?:his|her|the right) words|gripping|buttoning "
        r"\w+|feeding))\b",
        r"\b(?P<what>inability to (?:\w+)(?: (?:weight|urine|(?:his|her|the) \w+))?)\b",
        r"\b(?P<what>(?:loss|lack|decrease|reduction|change|changes|increase) (?:of|in) "
        r"(?:(?:his|her|the|their|my) )?(?:appetite|taste|smell|vision|hearing|balance|"
        r"consciousness|sensation|feeling|weight|libido|energy|memory|strength|sight|"
        r"coordination|bowel habits?|bowel movements?|voice|urination|urine output|"
        r"bladder control|bowel control|sex drive|interest|mood|sleep|interest in \w+|"
        r"hair|speech|gait|personality|behavior|behaviour|menstrual \w+|stool(?: \w+)?|"
        r"thirst|concentration|motivation|speech|mobility|grip))\b",
        r"\b(?P<what>(?:poor|reduced|decreased|increased|excessive|low|diminished|"
        r"impaired|lost|altered|heavy|painful|irregular|absent|missed|frequent|weak|"
        r"slow|noisy|rapid|fast|labou?red|shallow|disturbed|broken|restless|fitful|"
        r"slurred|unsteady|double|tunnel|unusual|easy|sudden|early) (?:appetite|feeding|"
        r"sleep|thirst|urination|sweating|energy|mood|vision|hearing|concentration|"
        r"memory|balance|libido|breathing|urine output|urinary stream|stream|hunger|"
        r"salivation|tearing|speech|gait|periods?|menses|menstruation|menstrual "
        r"bleeding|menstrual periods?|bruising|heartbeats?|bowel movements?|stools?|"
        r"intake|oral intake|weight gain|weight loss|suck|cry|satiety|coordination|grip|"
        r"movements?|fetal movements?|wound healing|healing|crying|drooling|belching|"
        r"hair growth|attention|school performance|exercise tolerance|night sweats))\b",
    )
)

# "Her stools are pale", "his ankles have been swollen": the state of a part or a product.
SUBJECTS = re.compile(
    rf"\b(?:(?:my|his|her|their|the|both) )?(?P<part>(?:(?:left|right|upper|lower|big) "
    rf")?(?:{_PART}|{_PRODUCT})) (?:is|are|was|were|looks?|feels?|felt|turned|went|"
    rf"became|becomes?|has been|have been|has become|have become|gets?|has turned|have "
    rf"turned) (?:(?:very|quite|really|also|often|always|more|so|still|now|extremely|a "
    rf"bit|both) )*(?P<state>{_STATE})\b"
)

# "A sprained knee", "two broken ribs": an injury of a part.
INJURY = re.compile(
    rf"\b(?:sprained|broken|fractured|dislocated|twisted|strained|torn) {_SIDE}*"
    rf"(?:{_PART}|collarbone|meniscus|cartilage|ligament|tendon|hamstring|kneecap|finger)\b"
)

# "LLE swelling", "BLE edema": a limb in a note's letters; the value is spelled out.
LIMB_SIDES = {"L": "left ", "R": "right ", "B": "bilateral ", "": ""}
LIMBS = re.compile(
    rf"\b(?P<side>[LRB]?)(?P<limb>[LU])E (?P<trouble>{_TROUBLE}|o?edema|paresthesias?|erythema)\b"
)

# "My ankles swell", "her knee hurts": what a part does.
ACTS = (
    ("swell", "swelling"),
    ("hurt", "pain"),
    ("ach", "pain"),
    ("itch", "itching"),
    ("burn", "burning"),
    ("tingl", "tingling"),
    ("bleed", "bleeding"),
    ("bled", "bleeding"),
    ("cramp", "cramps"),
    ("throb", "pain"),
    ("go", "numbness"),
)
ACTING = re.compile(
    rf"\b(?P<part>(?:(?:left|right|upper|lower|big) )?(?:{_PART}|side)) (?:(?:often|also|always|"
    rf"keeps?|has|have|had|been) )*(?P<verb>swells?|swelled|hurts?|aches?|ached|"
    rf"itch(?:es|ed)?|burns?|tingles?|bleeds?|bled|cramps? up|throbs?|goes numb|go "
    rf"numb)\b"
)

# Verbs and adjectives that say a complaint; the noun that a triplet gets.
PREDICATES = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (
            r"\bvomit(?:s|ed)?\b(?! (?:is|was|looks|appears|that|had|contain))|\bthrew "
            r"up\b|\bthrow(?:s|ing|n) up\b|\bbeing sick\b(?! leave)",
            "vomiting",
        ),
        (
            r"\bfaint(?:s|ed)\b|\bpass(?:es|ed|ing) out\b|\bblack(?:s|ed|ing) out\b|"
            r"\bkeel(?:s|ed) over\b",
            "syncope",
        ),
        (r"\b(?:lost|loses|losing|lose) consciousness\b|\bknocked out\b", "loss of consciousness"),
        (
            r"\b(?:(?:has been|keeps?|is|was|been|started|been constantly) )?cough(?:s|ed)\b",
            "cough",
        ),
        (r"\bwheez(?:es|ed|y)\b", "wheezing"),
        (
            r"\bnauseat?(?:ed|ous)\b|\bqueasy\b|\bsick to (?:his|her|my|their) "
            r"stomach\b|\bfeel(?:s|ing)? sick\b",
            "nausea",
        ),
        (
            r"\bfebrile\b(?! seizure| convulsion| neutropenia)|\bfeverish\b|\b(?:run|"
            r"runs|running|ran|spik(?:ed|es|ing)) an? (?:high )?(?:fever|temperature)\b",
            "fever",
        ),
        (r"\bdizzy\b|\bwoozy\b", "dizziness"),
        (r"\blight-?\s?headed\b", "lightheadedness"),
        (
            r"\b(?:very |so |extremely |always |constantly |unusually |more |too |"
            r"really |increasingly )?(?:tired|fatigued|exhausted|worn out|run "
            r"down)\b(?! of)|\btires easily\b|\bgets tired\b|\bno energy\b|\blacks "
            r"energy\b",
            "fatigue",
        ),
        (
            r"\bforgetful\b|\bkeeps forgetting\b|\bforgets (?:names|things|appointments|"
            r"words|conversations)\b",
            "forgetfulness",
        ),
        (r"\bconfused\b(?! with)|\bdisorient(?:ed|ated)\b|\bmuddled\b", "confusion"),
        (
            r"\bshort of breath\b|\bbreathless\b|\bout of breath\b|\bwinded\b|"
            r"\bstruggl(?:es|ed|ing) to breathe\b|\bcan(?:'t|’t|not) catch (?:his|her|"
            r"my|their) breath\b",
            "shortness of breath",
        ),
        (
            r"\bitch(?:y|es|ed)\b(?! (?:rash|lesion|skin|eye|patch|bump|scalp|spot|red|"
            r"blister|ear|throat|nose))",
            "itching",
        ),
        (r"\bconstipated\b", "constipation"),
        (r"\bbloated\b", "bloating"),
        (r"\birritable\b", "irritability"),
        (r"\b(?:drowsy|sleepy|somnolent)\b", "drowsiness"),
        (r"\blethargic\b", "lethargy"),
        (r"\bsnor(?:es|ed)\b", "snoring"),
        (r"\bsneez(?:es|ed)\b", "sneezing"),
        (r"\blimp(?:s|ed)\b", "limping"),
        (
            r"\b(?:lost|loses|losing|lose|dropped|shed) (?:\w+ ){0,3}(?:weight|pounds|"
            r"kilograms|kg|kilos|lbs?|lb|stone)\b|\bweight has (?:dropped|fallen)\b",
            "weight loss",
        ),
        (
            r"\b(?:gained|gaining|gains|put on) (?:\w+ ){0,3}(?:weight|pounds|kilograms|"
            r"kg|kilos|lbs?)\b",
            "weight gain",
        ),
        (
            r"\b(?:lost|loses|losing|lose) (?:his|her|my|their) appetite\b|\boff (?:his|"
            r"her|their) (?:food|feeds)\b|\b(?:not|isn't|is not) eating\b|\bnot "
            r"hungry\b|\bwon't eat\b|\beats? (?:very )?little\b|\beating (?:less|"
            r"poorly)\b|\brefus(?:es|ed|ing) (?:to eat|food|feeds)\b",
            "loss of appetite",
        ),
        (
            r"\b(?:can(?:'t|’t|not)|could(?:n't|n’t| not)|unable to|hard to|struggles "
            r"to|trouble getting to) (?:fall a)?sleep\b|\bsleep(?:s|ing) (?:badly|"
            r"poorly)\b",
            "insomnia",
        ),
        (r"\bhoarse\b(?! voice)", "hoarseness"),
        (r"\bshiver(?:s|ed|y)?\b", "shivering"),
        (r"\bshak(?:es|y)\b(?! (?:hand|his|her))", "shakiness"),
        (r"\btrembl(?:es|ed)\b", "trembling"),
        (
            r"\bunsteady\b(?! gait)|\boff balance\b|\blos(?:es|t|ing) (?:his|her|my|"
            r"their) balance\b",
            "unsteadiness",
        ),
        (r"\bincontinent\b", "incontinence"),
        (
            r"\b(?:has|have|had|'s|'ve) (?:been )?(?:bled|bleeding)\b(?! (?:time|disorder|risk))|"
            r"\bbled "
            r"(?:once|twice|again|heavily|for|after|when|from)\b",
            "bleeding",
        ),
        (
            r"\b(?:no|any|a|an|had a|has a|with a|without a|high|of a|"
            r"fluctuating) (?P<what>temperature)\b"
            r"(?! (?:of|is|was|chart|control|has))",
            "fever",
        ),
        (r"\bwet(?:s|ting)? (?:the|his|her) bed\b", "bedwetting"),
        (r"\bcollaps(?:es|ed)\b(?! lung)", "collapse"),
        (
            r"\bkeeps falling\b|\bfell (?:several|twice|three|many|again)\b|\b(?:has|have|had) "
            r"fallen (?:several|twice|three|many|again|often|repeatedly)\b|\bfalls (?:often|a lot|"
            r"frequently|over)\b",
            "falls",
        ),
        (
            r"\bfell (?:down|over|from|off|at|in(?! love)|on|out of|onto|yesterday|while|and)\b|"
            r"\b(?:has|have|had) fallen\b(?! (?:sick|ill|asleep|pregnant|behind|in love|several|"
            r"twice|three|many|again|often|repeatedly))",
            "fall",
        ),
        (
            r"\b(?:light|sunlight|brightness) (?:hurts|bothers|stings|pains) (?:his|her|my|their|"
            r"the|"
            r"both) eyes\b|\b(?:bothered|troubled|hurt) by (?:the |bright |any )*light\b|"
            r"\bcan(?:not|"
            r"['’]t) (?:stand|bear|tolerate) (?:the |bright |any )*light\b",
            "photophobia",
        ),
        (r"\bhear(?:s|d|ing) voices\b", "hearing voices"),
        (
            r"\b(?:see(?:s|ing|n)?|saw|hear(?:s|d|ing)?) (?:things|people|animals|insects|faces|"
            r"noises|someone|somebody) (?:(?:that|who|which) )?(?:are not|aren['’]t|were not|"
            r"weren['’]t|"
            r"is not|isn['’]t|wasn['’]t|do not exist|no one|nobody|others? (?:do not|don['’]t|"
            r"cannot|"
            r"can['’]t))(?: else)?(?: really)?(?: (?:there|real|present|sees?|hears?|can (?:see|"
            r"hear)))*",
            "hallucinations",
        ),
        (r"\bsee(?:s|ing)? double\b", "double vision"),
        (
            r"\b(?:lost|losing|loses) (?:his|her|my|their|the|some|all) (?:sense of "
            r")?(?P<_x>smell|taste|smell and taste)\b",
            "loss of smell",
        ),
        (r"\b(?:hair is falling out|losing (?:his|her|my|their)? ?hair)\b", "hair loss"),
        (r"\bpale\b(?= and| but|[,.;])", "pallor"),
        (r"\bsweat(?:s|ed|y)\b(?<!night sweats)", "sweating"),
        (
            r"\b(?:feel(?:s|ing)?|felt|is|are|was|been|gets?|become|became) (?:\w+ )?anxious\b",
            "anxiety",
        ),
        (r"\bthirsty\b", "thirst"),
        (
            r"\b(?:feel(?:s|ing)?|felt|is|was|been|gets?|become|became|so|very) (?:\w+ "
            r")?weak\b(?! (?:stream|pulse|left|right|leg|arm))",
            "weakness",
        ),
        (
            r"\b(?:go(?:es|ne|ing)?|went|feels?|is|are|was|were|became|become|turn(?:s|"
            r"ed)) (?:\w+ )?numb\b",
            "numbness",
        ),
        (
            r"\b(?:den\w+|no|without|any|reports?|has|with) (?:\w+ "
            r")?(?P<what>discharge)\b(?! (?:from|home|summary|papers|planning|plan|"
            r"date))",
            "discharge",
        ),
        (
            r"(?:^|(?<=[.;]\s))discharge\b(?=\s*(?:[:=–-]\s*(?:none|nil|no|denied|absent)|(?:is|"
            r"was) (?:"
            r"absent|denied|not)))",
            "discharge",
        ),
        (
            r"\bfeed(?:s|ing) (?:poorly|badly)\b|\b(?:not|isn['’]t) feeding(?: well)?\b|"
            r"\b(?:slow|reluctant) "
            r"to feed\b",
            "poor feeding",
        ),
        (r"\bagitated\b", "agitation"),
        (r"\brestless\b(?! leg)", "restlessness"),
        (r"\bhallucinat(?:es|ed)\b", "hallucinations"),
        (
            r"\b(?:urinat(?:es|ing)|pee(?:s|ing)|passing urine|passing water) (?:more "
            r"often|frequently|a lot|often|constantly|more)\b",
            "frequent urination",
        ),
        (r"\bgot lost\b|\bgets lost\b|\blost (?:his|her|their) way(?: home)?\b", "getting lost"),
    )
)
