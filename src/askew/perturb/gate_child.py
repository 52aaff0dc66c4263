r"""What is said of infants and children in everyday words: feeds, first steps, cots, school years.

Most are told of the patient whoever the clause is about ("her mother breastfeeds her"); of a grown
patient with a child they are set aside, as the original patient is too old for them.
"""

from __future__ import annotations

from typing import Any

from askew.perturb.findings import Rule, rule

_INFANT: dict[str, Any] = {"oldest": 6, "usual_to": 3, "anybody": True}

CHILD: tuple[Rule, ...] = (
    rule(
        "infancy",
        r"""
        (?:after|between|during|with|off) (?:his |her |their |the |all |all his |all her |most )?\
        feeds|(?:his|her) bottles?(?! of)|(?:takes?|refuses?) (?:a|the) bottle(?! of)
        formula (?:feeds?|milk)|(?:milk|soya?|hydroly[sz]ed|hypoallergenic|thickened) formula
        (?:to|on) (?:a |an )?(?:new |different )?formula(?! one| 1)
        (?:mother|mum|mom) (?:is |still |has been )?(?:breast-?|bottle-?)feed(?:s|ing) (?:him|her)
        (?:is|was|being|been|be) weaned|weaning(?! off| from)|started (?:on )?solids
        (?:sitting|crawling|babbling|smiling|rolling(?: over)?|walking) yet
        not yet (?:sitting|crawling|babbling|smiling|rolling|walking|talking|standing)
        first (?:steps|words?|smile)|(?:says|said|has) (?:only )?(?:no|two|three|single|few) words
        cots?(?! death)|moses basket|prams?|bugg(?:y|ies)|pushchair|high[- ]?chair|playpen
        (?:(?:rear|forward)-facing|infant|baby) (?:car )?seat|babygro|onesie
        health visitor|corrected (?:gestational )?age
        (?:vaccin\w+|immuni[sz]\w+|jabs|shots) at (?:the )?(?:age of )?(?:\d+|two|three|four|six|\
        eight|twelve)[- ](?:weeks|months)
        (?:\d+|two|four|six|eight|twelve)[- ](?:week|month) (?:vaccin\w+|immuni[sz]\w+|jabs|shots)
        """,
        **_INFANT,
    ),
    rule(
        "first years",
        r"""
        (?:each|every|a|the|last|next) feed|(?:on|to) cow['’]s milk|brings? up (?:his |her )?milk
        cord stump|stump|(?:lost|regained|than|below) (?:at |his |her )?birth(?: ?weight)?
        sits? (?:up|unaided|unsupported|with)|crawl(?:s|ing|ed)?|cruis(?:es|ing)|pulls? to stand
        (?:not|cannot|began to|started to|learning to|able to|just) walk(?:ing)?(?: yet)?
        babbl(?:es|ing)|rattle|soother|latch(?:es|ing|ed)?|burp(?:s|ing|ed)?|swaddl\w+
        (?:every|each|a|the|last) bottle(?! of)|formula(?! one| 1)|weight since birth
        head (?:control|lag)|lifts (?:his|her) head|fix(?:es)? and follow\w*|sucks?|suckl\w+
        """,
        oldest=3,
        anybody=True,
    ),
    rule(
        "care of a small child",
        r"""
        child-?minder(?:['’]s)?|toddler group|soft play
        """,
        oldest=15,
        usual_to=10,
        anybody=True,
    ),
    rule(
        "child's life",
        r"""
        (?:milk|baby) (?:tooth|teeth)|tooth fairy|playtime|monkey bars|climbing frame|sandpit
        bouncy castle|(?:started|starts|starting|in) reception
        """,
        oldest=16,
        usual_to=13,
    ),
    rule(
        "school year",
        r"""
        teacher (?:has )?(?:told|rang|called|phoned) (?:his|her|their) \
        (?:parents|mother|father|mum|mom|dad)
        in year (?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven)(?! of)
        """,
        oldest=19,
        usual_to=18,
    ),
    rule(
        "vaccine of childhood",
        r"""
        (?:his|her|the|first|second) MMR|NICU|SCBU|special care baby unit
        """,
        usual_to=18,
        anybody=True,
    ),
)
