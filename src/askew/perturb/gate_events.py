"""Events of a grown life: leave for a child, weddings, grown children, war, the road."""

from __future__ import annotations

from askew.perturb.findings import Rule, rule

EVENTS: tuple[Rule, ...] = (
    rule(
        "pension of old age",
        r"""
        (?<!disability )(?<!disabled )pensioners?|old[- ]age pension(?:ers?)?|state pension
        """,
        youngest=40,
        usual_from=55,
    ),
    rule(
        "leave from work",
        r"""
        (?:paternity|parental|adoption|compassionate|annual) leave
        """,
        youngest=15,
        usual_from=18,
    ),
    rule(
        "marriage",
        r"""
        ex-(?:wife|husband|spouse)
        (?:his|her|their) (?:own )?(?:stag|hen) (?:do|night|party|weekend)|bachelor(?:ette)? party
        """,
        youngest=15,
        usual_from=18,
        owned=True,
    ),
    rule(
        "marriage",
        r"""
        (?:year|yr)s?[- ]old (?:man|woman|patient|gentleman|lady)['’]s (?:wife|husband|spouse)
        whose (?:wife|husband|spouse)
        """,
        youngest=15,
        usual_from=18,
        anybody=True,
    ),
    rule(
        "partner",
        r"""
        ex-(?:boyfriend|girlfriend|partner)
        """,
        youngest=11,
        usual_from=14,
    ),
    rule(
        "partner who expects a child",
        r"""
        (?:his|their|my) (?:wife|partner|girlfriend|fianc[eé]e)[^.;,]{0,25} (?:pregnant|expecting)
        """,
        youngest=13,
        usual_from=16,
        usual_to=64,
        owned=True,
    ),
    rule(
        "marriage",
        r"""
        bride(?:-to-be)?|(?:bride)?groom(?:-to-be)?|newly-?weds?
        """,
        youngest=15,
        usual_from=18,
    ),
    rule(
        "grandchildren",
        r"""
        (?:great-)?grand(?:mother|father|parent|ma|pa) (?:of|to) (?!\d\d|the |his |her )\w+
        """,
        youngest=36,
        usual_from=42,
        owned=True,
    ),
    rule(
        "conscription",
        r"""
        conscripts?|draftee|(?:doing|on) national service
        """,
        youngest=16,
        oldest=60,
        usual_to=40,
    ),
    rule(
        "college",
        r"""
        master['’]?s (?:student|degree|thesis)|post-?grad(?:uate)?|post-?doc(?:toral)?|MBA
        student nurse|law degree|medical degree|fresher
        """,
        youngest=15,
        usual_from=17,
    ),
    rule("silver wedding", r"silver wedding", youngest=40),
    rule("ruby wedding", r"ruby wedding", youngest=55),
    rule("golden wedding", r"golden wedding", youngest=64),
    rule("diamond wedding", r"diamond wedding", youngest=74),
    rule(
        "grown children",
        r"""
        (?:his|her|their|my|an?|two|three|four) (?:\w+ )?(?:sons?|daughters?|children|kids)\
        [^.;,]{0,20} (?:at|to|for|from|attends?) (?:university|college|uni)
        (?:his|her|their|my) (?:\w+ )?(?:son|daughter) (?:has )?(?:just )?(?:got|gets|getting|was|\
        is|been) (?:just )?(?:married|divorced|engaged)
        (?:his|her|their|my) (?:\w+ )?(?:son|daughter)['’]s (?:own )?(?:wedding|divorce|husband|\
        wife)
        """,
        youngest=36,
        usual_from=38,
        owned=True,
    ),
    rule(
        "grown children",
        r"""
        whose (?:\w+ )?(?:son|daughter) (?:has )?(?:just )?(?:got|was|is|been) (?:just )?\
        (?:married|divorced|engaged|pregnant)
        whose (?:\w+ )?(?:son|daughter) is an? (?:soldier|doctor|nurse|lawyer|teacher|engineer)
        whose (?:\w+ )?(?:son|daughter) [^.;,]{0,20}(?:at|to|from|attends?) (?:university|college)
        """,
        youngest=36,
        usual_from=38,
        anybody=True,
    ),
    rule(
        "war long ago",
        r"""
        the blitz|wartime evacu\w+|evacuees?|evacuated (?:as an? (?:child|boy|girl) )?\
        (?:in|during) the war|as an? (?:child|boy|girl) (?:in|during) the war|wartime rationing
        """,
        youngest=70,
    ),
    rule(
        "military",
        r"""
        served (?:\w+ )?tours?|tours? of duty|(?:\w+ )?tours? (?:in|of) (?:Iraq|Afghanistan)
        ex-(?:army|navy|serviceman|servicewoman|soldier)|reservist|RAF
        """,
        youngest=16,
        usual_from=18,
    ),
    rule(
        "driving",
        r"""
        (?:driving|driver['’]s|drivers) licen[cs]e|driving (?:test|lessons?|ban)|learner driver
        commut(?:es|ed|ing|er)|DVLA|at the wheel
        """,
        youngest=14,
        usual_from=16,
    ),
)
