"""Facts of a life that bound its length: school, work, family and habits."""

from __future__ import annotations

from typing import Any

from askew.perturb.findings import Rule, rule

# Between these ages, in years, a fact is possible (`youngest`, `oldest`) or usual.
_ADULT: dict[str, Any] = {"youngest": 16, "usual_from": 18}
_WORKING: dict[str, Any] = {"youngest": 14, "usual_from": 16}

LIFE: tuple[Rule, ...] = (
    rule(
        "retirement",
        r"""
        (?:semi-)?retired|retirement|retires?|retiree|pension(?:er|ed)?|old[- ]age pension
        """,
        youngest=18,
        usual_from=45,
    ),
    rule(
        "senior housing",
        r"""
        nursing[- ]home|sheltered (?:housing|accommodation)|assisted[- ]living|care home
        retirement (?:home|community|village)
        residential home|skilled nursing|long-term care|senior (?:center|centre|living)
        hospice resident
        """,
        youngest=16,
        usual_from=45,
    ),
    rule(
        "lives alone",
        r"""
        liv(?:es|ing|ed) alone|lives on (?:his|her|their) own|lives independently
        """,
        **_ADULT,
    ),
    rule(
        "work",
        r"""
        (?:manages|managed|runs|owns|supervises) an? (?!fever|temperature|mile|dog|cat)\w+
        work(?:s|ed|ing)? (?:(?:full|part)[- ]time|nights?|days|double shifts?|long hours|overtime)
        work(?:s|ed|ing)? (?:as an?|at|in|for|from home|shifts?|outdoors|on an?)
        work(?:s|ed|ing)? (?:underground|the land)
        teach(?:es|ing) (?!him|her|them|me|us|the child|how|to\b|hospital|proper|session|point)\w+
        lectures (?:in|on|at|part)
        work(?:s|ed|ing)? (?:on the|with (?:asbestos|animals|cattle|chemicals|children|metal))
        apprentice(?:d|ship)?|trainee|(?:(?:his|her|their|my) )?(?:day|night|graveyard) shift
        (?:her|his|their|my|a|the|new|current|previous|desk|stressful|sedentary|demanding) jobs?
        job as|jobs? at|employed|unemployed|employer|employment|workplace|coworkers?
        co-workers?|colleagues?|shift work(?:er)?|night shifts?|day shifts?|off work
        return(?:ed)? to work|at work|from work|to work|sick leave|work-related|laid off
        career|self-employed|business trip|business travel|boss|her office|his office
        occupation(?:al)?(?! therap)|by (?:trade|profession)
        runs (?:a|an|his|her) (?:own )?(?:business|shop|restaurant|farm|company|bakery|store)
        """,
        **_WORKING,
    ),
    rule(
        "military",
        r"""
        veteran|military|army|navy|marine(?: corps)?|air force|soldier|deployed|deployment
        active[- ]duty|enlisted|national guard|served in
        """,
        youngest=16,
        usual_from=18,
    ),
    rule(
        "new recruit",
        r"""
        (?:military |army |navy |marine )?recruit|basic training|boot camp|cadet
        """,
        youngest=16,
        oldest=45,
        usual_to=40,
    ),
    rule(
        "war long ago",
        r"""
        (?:vietnam|korean) (?:war )?veteran|(?:in|during|of) the (?:vietnam|korean) war
        served in (?:vietnam|korea)
        """,
        youngest=66,
    ),
    rule(
        "war long ago",
        r"""
        (?:world war (?:ii|two|2)|second world war|WWII)
        """,
        youngest=85,
    ),
    rule(
        "war long ago",
        r"""
        gulf war(?: veteran)?
        """,
        youngest=48,
    ),
    rule(
        "war long ago",
        r"""
        (?:iraq|afghanistan) (?:war )?veteran
        (?:tour|deployment|deployed|served|combat) (?:of duty )?(?:in|to) (?:iraq|afghanistan)
        """,
        youngest=20,
    ),
    rule(
        "insurance of later life",
        r"""
        medicare
        """,
        youngest=18,
        usual_from=62,
    ),
    rule(
        "marriage",
        r"""
        (?:his|her|their|my|the patient['’]s) (?:ex-|late |deceased |first |second )?(?:husband|\
        wife|spouse|fianc[eé]e?)
        (?:re)?married|divorc(?:ed|ee|ing|e)|separated from (?:his|her|their)
        widow(?:ed|er)?|marriage|honeymoon|wedding anniversary|engaged to|newlywed
        my (?:husband|wife)
        """,
        youngest=15,
        usual_from=18,
        owned=True,
    ),
    rule(
        "partner",
        r"""
        (?:his|her|their|my) (?:new |male |female |sexual |long-term |current |\
        former )?(?:boyfriend|girlfriend|partner|partners)
        cohabit\w+|dating
        """,
        youngest=11,
        usual_from=14,
        owned=True,
    ),
    rule(
        "sexual life",
        r"""
        (?<!not )(?<!never been )sexual(?:ly)? (?:active|activity|intercourse|partners?)
        (?<!not )(?<!never been )sexual(?:ly)? (?:encounters?|contacts?|history)
        (?<!not )(?<!never been )sexual(?:ly)? relations?(?:hip)?
        sexually active
        (?:unprotected|casual|anal|oral|vaginal|receptive|protected) (?:sex|intercourse)
        condoms?|sex with (?:men|women|other men|multiple)|libido|dyspareunia
        one-night stand|safe sex|erotic|has sex|having sex|had sex|during intercourse
        multiple partners
        """,
        youngest=12,
        usual_from=15,
    ),
    rule(
        "children of one's own",
        r"""
        my (?:kids|children|sons|daughters)
        (?:his|her|their) (?:\w+[- ])?(?:\w+[- ])?(?:(?:\d+|\w+)[- ](?:year|month|week)\
        [- ]old )?(?:grown |adult |young |younger |older |oldest |eldest |youngest |teenage |\
        newborn |infant |baby |only |two |three |four |five |\d )*(?:sons?|daughters?|children|\
        kids|child|toddler|newborn)
        (?:has|have|had|with|and|of) (?:no |\d+ |two |three |four |five |six |several |young |\
        grown |adult |healthy |one )+(?:children|kids|sons|daughters|sons?|daughters?)
        (?:father|mother|parent) of (?:\d+|a|an|one|two|three|four|five|six|twins)|childcare
        daycare for (?:his|her)|single (?:mother|father|parent)
        """,
        youngest=14,
        usual_from=18,
        owned=True,
    ),
    rule(
        "teenage children",
        r"""
        (?:his|her|their|my|two|three|four) (?:two |three |four )?teenage(?:d)? \
        (?:sons?|daughters?|children|kids|boys|girls)
        """,
        youngest=26,
        usual_from=30,
        owned=True,
    ),
    rule(
        "grown children",
        r"""
        (?:his|her|their|my) (?:grown(?:-up)?|adult) (?:sons?|daughters?|children|child)
        (?:his|her|their|my) (?:married|pregnant) (?:sons?|daughters?|children|child)
        (?:daughter|son)-in-law
        """,
        youngest=33,
        usual_from=38,
        owned=True,
    ),
    rule(
        "grandchildren",
        r"""
        (?:great-)?grand(?:children|child|sons?|daughters?|kids)
        grand(?:mother|father|parent|ma|pa) (?:of|to) (?:\d+|an?|two|three|four|five|six|many)
        (?:years?|yo|y/o)[- ]?(?:old )?(?:great-)?grand(?:mother|father|parent|ma|pa)
        """,
        youngest=36,
        usual_from=42,
        owned=True,
    ),
    rule(
        "driving",
        r"""
        (?:was|is|while|were|been|been|still|when|stopped|started|after|restrained) driving
        unrestrained driving
        drives|drove|driver(?:['’]s licen[cs]e)?|behind the wheel|his car|her car|their car
        long drive|motorcycl\w+|drink-driving|DUI
        """,
        youngest=14,
        usual_from=16,
    ),
    rule(
        "smoking",
        r"""
        (?:\d+|\w+)?[- ]?pack[- ]?(?:years?|a day|per day|of cigarettes|daily)
        (?:packs?|cigarettes?|cigars?) (?:of cigarettes )?(?:a|per|each|every) (?:day|week)
        pipes? (?:of cigarettes )?(?:a|per|each|every) (?:day|week)
        (?:heavy |current |former |ex-|lifelong |long-time |active |chain[- ]|life-long )smoker
        (?<!non-)(?<!never )(?<!non)smok(?:es|ed|ing) (?:\d+|a|one|two|half|heavily|for)
        (?<!non-)(?<!never )(?<!non)smok(?:es|ed|ing) (?:cigarettes|since|daily|until)
        (?<!non-)(?<!never )(?<!non)smok(?:es|ed|ing) (?:cannabis|marijuana|crack)
        quit smoking|stopped smoking|gave up smoking|(?:is|was) a (?:\w+ )?smoker
        tobacco use|vap(?:es|ing)|chew(?:s|ing) (?:tobacco|betel)
        """,
        youngest=11,
        usual_from=15,
    ),
    rule(
        "smoking",
        r"""
        (?:he|she|they|and) smokes?|ppd
        """,
        youngest=11,
        usual_from=15,
    ),
    rule(
        "alcohol",
        r"""
        (?<!no )(?<!not )(?:alcoholi(?:c|cs|sm)(?! (?:drinks?|beverages?|hepatitis in)))
        (?<!no )(?<!not )(?:binge[- ]?drinking|heavy drink(?:er|ing))
        (?<!no )(?<!not )(?:drinks? (?:\d+|a|an|one|two|three|four|five|six|several|half|\
        heavily|daily|alcohol|beer|wine|whisk(?:e)?y|vodka|socially|occasionally|excessively))
        (?<!no )(?<!not )(?:(?:beers?|glasses of wine|drinks?|units|bottles? of (?:wine|vodka|\
        whisk(?:e)?y|beer|spirits)|pints?) (?:of (?:beer|alcohol|vodka) )?(?:a|per|each|every|\
        daily|weekly|on weekends|nightly))
        (?<!no )(?<!not )(?:alcohol (?:use|abuse|misuse|dependence|withdrawal|intoxication|\
        consumption|daily|every))
        (?<!no )(?<!not )(?:intoxicated|drunk|social drinker|cirrhosis from alcohol)
        (?<!no )(?<!not )(?:delirium tremens|drinking (?:heavily|binge|alcohol)|DUI|rehab)
        (?<!no )(?<!not )alcoholics anonymous
        """,
        youngest=11,
        usual_from=15,
    ),
    rule(
        "drug use",
        r"""
        (?:intravenous|IV|injection|injecting|recreational|illicit|street) drugs?(?: use| user)?
        IVDU|PWID|heroin|cocaine|methamphetamine|crack|marijuana|cannabis|ecstasy|MDMA
        amphetamines? use|injects|opioid use disorder|methadone|buprenorphine|shares needles
        """,
        youngest=11,
        usual_from=14,
    ),
    rule(
        "prison",
        r"""
        (?:in )?(?:prison|jail)|incarcerat\w+|inmate|parole|probation officer|convicted
        arrested
        """,
        youngest=12,
        usual_from=17,
    ),
    rule(
        "college",
        r"""
        (?:nursing|medical|law|art|culinary|business|trade|dental|pharmacy|drama|film) school
        (?:community|technical|vocational) college|seminary|polytechnic
        (?:college|university|graduate) (?:student|freshman|sophomore|junior|senior|athlete)
        (?:medical|law|nursing|dental) (?:student|freshman|sophomore|junior|senior|athlete)
        (?:doctoral|PhD|postgraduate) (?:student|freshman|sophomore|junior|senior|athlete)
        (?:undergraduate|engineering) (?:student|freshman|sophomore|junior|senior|athlete)
        (?:exchange|business school) (?:student|freshman|sophomore|junior|senior|athlete)
        pharmacy (?:student|freshman|sophomore|junior|senior|athlete)
        freshman|sophomore|undergraduate
        (?:at|in|attends|started|starting|to|from|goes to|studies at|studying at|enrolled (?:at|\
        in)) (?:college|university|law school|medical school|grad(?:uate)? school)
        dissertation|doctoral|graduated|(?:bachelor|master)['’]?s degree|college graduate
        campus
        """,
        youngest=15,
        usual_from=17,
    ),
    rule(
        "dormitory",
        r"""
        dorm(?:itory|s)?|(?:college|student) residence|hall of residence|fraternity|sorority
        student housing|barracks
        """,
        youngest=12,
        usual_from=17,
    ),
    rule(
        "student",
        r"""
        student(?!s)
        """,
        youngest=4,
        usual_from=5,
    ),
    rule(
        "high school",
        r"""
        (?<!finished )(?<!completed )(?<!leaving )(?<!since )(?<!graduated from )\
        (?<!dropped out of )(?:high|secondary|middle|junior[- ]high|senior[- ]high)[- ]school\
        (?! (?:teacher|aide|principal|janitor|diploma|education|graduate|dropout|coach|reunion))
        (?:9th|10th|11th|12th|ninth|tenth|eleventh|twelfth)[- ]grade(?:r)?|prom|A-levels
        GCSEs?
        """,
        youngest=11,
        oldest=21,
        usual_to=19,
    ),
    rule(
        "young school child",
        r"""
        (?:his|her|their) (?:kindergarten|pre-?school|nursery|class|primary school|\
        elementary school|(?:\w+[- ])?grade) teacher
        (?:kindergart\w+|pre-?school(?:er)?|nursery school|elementary school|primary school|\
        grade school|play ?group)(?! (?:teacher|aide|worker|assistant|principal|janitor|staff))
        day ?care(?! (?:teacher|worker|provider|owner|for (?:his|her|their)))|recess|play ?ground
        play ?date|(?:toilet|potty)[- ]train\w*|school ?(?:boy|girl|child)|reception class
        (?:first|second|third|fourth|fifth|sixth|seventh|eighth|1st|2nd|3rd|4th|5th|6th|7th|8th)\
        [- ]grade(?:r)?(?! (?:teacher|sprain|tear|burn|block))|year (?:one|two|three|four|five|six)
        (?:elementary|primary|grade)[- ]school(?:er|child)
        """,
        oldest=15,
        usual_to=13,
    ),
    rule(
        "school",
        r"""
        school (?:nurse|bag|yard|mates?|trip|uniform)|school ?(?:work|mates?)|classmates?|homework
        (?:misses|missed|missing|absent from|goes to|go to|attends|attending) school
        (?:starting|started|at|in|from|to|after|before) school\
        (?!ing| district| bus| board| of| teacher| children| where (?:he|she|they) teach)
        (?:his|her|their) (?:class|school|teachers?|schoolwork|grades|pediatrician|paediatrician)
        in class|school performance|report cards?
        """,
        oldest=22,
        usual_to=19,
    ),
    rule(
        "brought by a parent",
        r"""
        (?:brought|carried|accompanied|taken|rushed) (?:in |to [\w ]+? )?(?:in )?by (?:his|her|\
        their|the|a) (?:\w+ )?(?:mother|father|parents?|mom|mum|dad|grandmother|grandfather|\
        grandparents?|guardian|foster)
        (?:mother|father|parents?|mom|mum|dad|grandmother|grandfather|guardian) (?:has |have |\
        had )?(?:brings?|brought|took|takes|carries|carried|rushed)
        (?:whose|his|her|their) (?:mother|father|parents) (?:brought|brings?|bring|took|carried)
        """,
        usual_to=19,
        anybody=True,
    ),
    rule(
        "cared for by parents",
        r"""
        (?:his|her|their|the|patient['’]s) (?:mother|father|parents|mom|mum|dad|guardian)\
        s? (?:is |are |was |were |has |have )?(?:also )?(?:reports?|reported|states?|stated|\
        says?|said|notes?|noted|noticed|notices|told|concerned|worried|gave|gives|indicates?|\
        indicated|describes?|described|denies|deny|denied)
        (?:mother|father|parents|mom|dad) (?:reports?|states?|says?|notes?|indicates?|noticed)
        (?:mother|father|parents|mom|dad) (?:denies|deny|are concerned|is concerned)
        (?:mother|father|parents|mom|dad) (?:is worried|are worried)
        (?:mother|father|parents|mom|mum|dad|guardian) (?:should|must|was to|will|can|were to) \
        (?:bring|take|call|return|watch|give)
        (?:mother|father|mom|mum|dad|guardian) (?:is|was|has been) (?:advised|told|warned|asked|\
        instructed|reassured|counsel(?:l)?ed|given)
        """,
        usual_to=35,
        anybody=True,
    ),
    rule(
        "lives with parents",
        r"""
        lives? (?:at home )?with (?:his|her|their) (?:parents|mother|father|mom|dad)
        lives? (?:at home )?with (?:his|her|their) (?:grandmother|grandparents)
        (?:his|her|their) parents['’]? (?:house|home)
        """,
        oldest=70,
        usual_to=45,
    ),
    rule(
        "parents of a young person",
        r"""
        (?:his|her|their|the) (?:parents|grandparents) (?:were|are|have|has|had|do|did)
        """,
        usual_to=39,
        anybody=True,
    ),
    rule(
        "lead of an own household",
        r"""
        homeowner|mortgage|landlord|her tenants?|citizenship
        (?:bought|sold|owns) (?:a|his|her|their) (?:house|home|business|shop|farm)|voted
        her lawyer|bankruptcy
        """,
        youngest=16,
    ),
)
