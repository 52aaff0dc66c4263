r"""Childbearing, contraception and semen in everyday words and in trade names.

The wordings are askew's own, from general medical knowledge, as in `gate_body`. They can be wide:
a demand that the original patient does not meet is set aside, so that a man's "coil" binds nobody.
"""

from __future__ import annotations

from typing import Any

from askew.perturb.findings import Rule, rule

_FERTILE: dict[str, Any] = {"sex": "female", "youngest": 11, "oldest": 58}

BIRTH: tuple[Rule, ...] = (
    rule(
        "pregnancy",
        r"""
        (?:woman|she|who) is due (?:in|on|next|at) (?:the )?(?:January|February|March|April|May|\
        June|July|August|September|October|November|December|spring|summer|autumn|winter|week|\
        month|\d+ weeks)
        (?:bab(?:y|ies)|twins) (?:is|are|was|were) due|(?:mum|mom|mother)-to-be|expectant mother
        amniotic|oligohydramnios|polyhydramnios|maternity (?:leave|ward|unit|clinic|pay)
        (?:her|the|community) midwi(?:fe|ves)|midwi(?:fe|ves) (?:sent|referred|found|noted)
        (?:woman|lady|mother|female|girl|she is|G\d+) at \d+ weeks
        (?:\d|two|three|four|five|six|seven|eight) months gone|waters (?:have |had )?(?:gone|broken)
        carrying (?:twins|triplets|a baby)
        Braxton[- ]Hicks|birth plan|(?:booking|dating|anomaly|nuchal|\d+-week) scan
        """,
        usual_from=13,
        usual_to=52,
        **_FERTILE,
    ),
    rule(
        "recent birth",
        r"""
        had (?:a|her|their) (?:\w+ )?(?:baby|twins|child) (?:\w+ )?(?:days|weeks|months) ago
        new (?:mother|mum|mom)|lactational
        (?:woman|she|lady) delivered (?:at|in|by|vaginally|yesterday|last|twins|a (?:boy|girl|baby))
        """,
        **_FERTILE,
    ),
    rule(
        "childbirth",
        r"""
        (?:fallopian|her) tubes (?:were |have been )?(?:clipped|tied|cut)
        had (?:a|her) (?:\w+ )?baby|after (?:\d+|one|two|three|four|five|six) births
        """,
        sex="female",
        youngest=11,
    ),
    rule(
        "breastfeeding her child",
        r"""
        nursing (?:her |a |an |the )?(?:twins|baby|son|daughter|infant|newborn|child|\d)
        cracked nipples|express(?:es|ing|ed) (?:breast[- ]?)?milk|breast pump|milk supply
        """,
        **_FERTILE,
    ),
    rule(
        "egg cells",
        r"""
        eggs? (?:frozen|freezing|donation|retrieval|collection|reserve)|oocytes?
        (?:froze|donated) (?:her |some )?eggs
        """,
        sex="female",
        youngest=11,
    ),
    rule(
        "wish for a child",
        r"""
        (?:try|trying|tries|tried|hop(?:es|ing)) for (?:a|another|(?:her|his) first) (?:baby|child)
        """,
        odd_sex="female",
        youngest=14,
        oldest=64,
    ),
    rule(
        "contraception",
        r"""
        (?:copper|hormonal|contraceptive) coils?|fitted with a coil|her coil
        coil (?:was |is )?(?:fitted|inserted|in situ|removed|replaced|changed|check)
        contraceptive (?:implant|injections?|patch|ring)|depo injections?|diaphragm fitted
        """,
        sex="female",
        youngest=11,
        oldest=60,
    ),
    rule(
        "contraception",
        r"""
        Yasmin|Microgynon|Marvelon|Cerazette|Nexplanon|Implanon|NuvaRing|Kyleena|Evra|EllaOne
        Ortho Tri-Cyclen|Plan B|Depo
        """,
        exact_case=True,
        sex="female",
        youngest=11,
        oldest=60,
    ),
    rule(
        "menstruation",
        r"""
        cycles (?:are|were|have been|became|had become) (?:ir)?regular|(?:ir)?regular cycles?
        (?:soak|chang)(?:s|es|ing|ed) (?:\w+ )?(?:\w+ )?pads|(?:clots|bleeds?|bleeding) \
        (?:each|every) month|monthly bleed\w*|flooding at night
        \d+-day cycles?|last bleed|time of the month
        """,
        **_FERTILE,
    ),
    rule(
        "no menarche yet",
        r"""
        not (?:yet )?(?:had |reached |begun |started )(?:the |her )?(?:menarche|\
        menstruating|periods?)
        """,
        sex="female",
        oldest=39,
        usual_to=25,
    ),
    rule(
        "no menarche",
        r"""
        never (?:had |reached |begun |started )(?:the |her |a )?(?:menarche|menstruating|periods?)
        """,
        sex="female",
        usual_to=25,
    ),
    rule(
        "female organ of childbearing age",
        r"""
        vaginal (?:o?estrogens?|o?estradiol)
        """,
        sex="female",
        youngest=14,
    ),
    rule(
        "menopause",
        r"""
        years (?:after|since) the change|(?:went|gone|going) through the change
        """,
        sex="female",
        youngest=36,
        usual_from=42,
    ),
    rule(
        "hormone replacement",
        r"""
        o?estrogen (?:patch(?:es)?|gel|cream|tablets?)|(?:for|has|with|her) flushes
        """,
        odd_sex="female",
        youngest=11,
        usual_from=38,
    ),
    rule("sexual life", r"post-?coital|after sex", youngest=12, usual_from=15),
    rule(
        "male organ",
        r"""
        (?:one|left|right) ball(?! of)|balls? (?:has|have|had) (?:never |not )?(?:come down|dropped)
        """,
        sex="male",
    ),
    rule(
        "semen",
        r"""
        semen|sperm(?! whale)|(?:azoo|oligo)sperm\w*|seminal fluid|wet dreams?|the snip
        """,
        sex="male",
        youngest=11,
    ),
    rule(
        "prostate of later life",
        r"""
        Gleason
        """,
        sex="male",
        youngest=18,
        usual_from=40,
    ),
)
