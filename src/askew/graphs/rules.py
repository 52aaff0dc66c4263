"""Eq. (1): what each pattern is worth, and the named sets of rules that can be switched.

R(e) of an entity e is the chance that at least one of the patterns that matched it is right, were
they independent, times what the patterns that speak against it leave:

    R(e) = (1 - prod_i (1 - weight_i)) * prod_j (1 - against_j)

Entities with R(e) > theta are kept. The paper gives neither R nor theta; the weights here are fixed
by hand, are no estimates, and only their order and the threshold decide anything.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from askew.errors import ConfigError, unknown_name

THETA = 0.5  # ours: one good pattern suffices, one bad sign is enough to leave out


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern: what it looks for, and its weight for or against an entity, in [0, 1]."""

    name: str
    says: str
    weight: float
    against: bool = False


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        rule.name: rule
        for rule in (
            Rule("ner", "spaCy's named entities", 0.6),
            Rule("age", "an expression of age: '47-year-old', '66 y/o', 'in her 80s'", 0.95),
            Rule("noun", "a noun that names a gender: 'woman', 'boy'", 0.95),
            Rule("letter", "a letter after the age: '66M', 'F/45'", 0.9),
            Rule("pronoun", "a pronoun that means the patient", 0.8),
            Rule("identity", "transgender and non-binary wordings", 0.98),
            Rule("birth_sex", "'assigned female at birth' and its like", 0.98),
            Rule("list", "a wording of a term list", 0.9),
            Rule("guarded", "a wording of a term list that also means something else", 0.6),
            Rule("suffix", "the ending of a disease or drug: '-itis', '-pril'", 0.8),
            Rule(
                "template", "a word for a complaint at a part of the body: 'swollen left toe'", 0.75
            ),
            Rule("predicate", "a verb or adjective for a complaint: 'fainted', 'is dizzy'", 0.8),
            Rule("complaint", "the object of a complaint verb: 'presents with …'", 0.6),
            Rule("sibling", "in one list with a complaint that is known", 0.55),
            Rule("dose", "the object of 'takes' with a dose or purpose", 0.7),
            Rule("allergy", "after 'allergic to' and its like", 0.85),
            Rule("place", "a place after a word for living, origin or travel", 0.85),
            Rule("institution", "a home that is an institution: 'a nursing home'", 0.85),
            Rule("demonym", "a demonym of the patient: 'a Brazilian man'", 0.8),
            Rule("gestation", "weeks of gestation, gravida and para", 0.85),
            Rule("examination", "found by examining or measuring, not felt", 0.7, against=True),
            Rule("hypothetical", "an instruction, a warning, a question, an if", 0.8, against=True),
            Rule("somebody_else", "not the patient's and no blood relative's", 0.9, against=True),
        )
    }
)

# What can be switched off, with what is lost.
SWITCHES: Mapping[str, str] = MappingProxyType(
    {
        "ner": "spaCy's entities: places that the gazetteer lacks",
        "expressions": "regular expressions for age and gender",
        "lists": "the term lists",
        "suffixes": "diseases and drugs by their endings",
        "templates": "complaints by their form: a symptom word at a part of the body",
        "complaints": "objects of complaint verbs that are in no list",
        "context": "negation, uncertainty, time: without it every fact is present",
        "hypothetical": "leaving out what is warned of, asked or advised",
        "examination": "leaving out findings of an examination",
        "drug_status": "drugs that were stopped, planned or refused",
        "experiencer": "whose fact it is: relatives, spouses, room-mates, informants",
        "age_logic": "whose age, and age against duration and gestation",
        "gender_logic": "transgender and non-binary patients, and the pronouns of others",
        "place_logic": "home, origin and travel apart, names that are no places",
        "cues": "pregnancy, work and events of life that limit age and gender",
    }
)


@dataclass(frozen=True, slots=True)
class RuleSet:
    """A named choice of switches, and the threshold of Eq. (1)."""

    name: str
    switches: frozenset[str]
    theta: float = THETA

    def __post_init__(self) -> None:
        unknown = sorted(self.switches - SWITCHES.keys())
        if unknown:
            raise unknown_name("extraction rule", unknown[0], list(SWITCHES))
        if not 0 <= self.theta <= 1:
            raise ConfigError(f"theta is {self.theta}, expected a number from 0 to 1.")

    def __contains__(self, switch: str) -> bool:
        return switch in self.switches

    def without(self, *switches: str) -> RuleSet:
        """The same with some rules off: one step of an ablation.

        >>> RULE_SETS["full"].without("context").name
        'full-context'
        """
        for switch in switches:
            if switch not in SWITCHES:
                raise unknown_name("extraction rule", switch, list(SWITCHES))
        name = "-".join((self.name, *switches))
        return replace(self, name=name, switches=self.switches - set(switches))

    def with_(self, *switches: str) -> RuleSet:
        """The same with more rules on."""
        name = "+".join((self.name, *switches))
        return replace(self, name=name, switches=self.switches | set(switches))

    def at(self, theta: float) -> RuleSet:
        """The same with another threshold, in [0, 1]."""
        return replace(self, theta=theta)


_PATTERNS = frozenset({"ner", "expressions", "lists", "suffixes"})
_CONTEXT = _PATTERNS | {"context"}

RULE_SETS: Mapping[str, RuleSet] = MappingProxyType(
    {
        "ner": RuleSet("ner", frozenset({"ner"})),  # Table 5, "without filtering"
        "patterns": RuleSet("patterns", _PATTERNS),  # Table 5, "with filtering"
        "context": RuleSet("context", frozenset(_CONTEXT)),
        "full": RuleSet("full", frozenset(SWITCHES)),
    }
)


def rule_set(rules: str | RuleSet) -> RuleSet:
    """The rule set of a name: a registered one, with single rules taken off or put on.

    Raises:
        ConfigError: the set or a rule is unknown.

    >>> rule_set("full-context").name, "context" in rule_set("full-context")
    ('full-context', False)
    >>> sorted(rule_set("ner+lists").switches)
    ['lists', 'ner']
    """
    if isinstance(rules, RuleSet):
        return rules
    base, *changes = _split(rules)
    if base not in RULE_SETS:
        raise unknown_name("rule set", base, list(RULE_SETS))
    chosen = RULE_SETS[base]
    for change in changes:
        chosen = chosen.without(change[1:]) if change[0] == "-" else chosen.with_(change[1:])
    return chosen


def _split(name: str) -> list[str]:
    parts = name.replace("-", "\n-").replace("+", "\n+").split("\n")
    return [part for part in parts if part]


def relevance(fired: Iterable[str]) -> float:
    """R(e) of Eq. (1) from the names of the patterns that matched.

    >>> relevance(["list"]), round(relevance(["list", "examination"]), 3)
    (0.9, 0.27)
    """
    rules = [RULES[name] for name in fired]
    missed = math.prod(1 - rule.weight for rule in rules if not rule.against)
    left = math.prod(1 - rule.weight for rule in rules if rule.against)
    return round((1 - missed) * left, 4)


def explain(rule: str) -> str:
    """What a triplet's `rule` says, in words.

    >>> explain("list - examination")
    'a wording of a term list (0.9); against: found by examining or measuring, not felt (0.7)'
    """
    names = rule.replace(" + ", "\n").replace(" - ", "\n").split("\n")
    known = [RULES[name] for name in names if name in RULES]
    spoken = ", ".join(f"{one.says} ({one.weight:g})" for one in known if not one.against)
    against = ", ".join(f"{one.says} ({one.weight:g})" for one in known if one.against)
    return f"{spoken}; against: {against}" if against else spoken


def rule_text(fired: Iterable[str]) -> str:
    """The names of patterns as a triplet carries them: "list + complaint - hypothetical"."""
    names = list(dict.fromkeys(fired))
    plain = [name for name in names if not RULES[name].against]
    return " + ".join(plain) + "".join(f" - {name}" for name in names if RULES[name].against)
