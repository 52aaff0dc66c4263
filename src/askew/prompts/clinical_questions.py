"""The prompts of the paper's Generator and Attacker (§3.1 and §4.1): facts -> question -> variants.

Both are optional: askew itself edits the original text. Their replies are read by
`askew.scores.questions`, and what they changed is checked by extracting the facts again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from string import Template
from typing import Any

from askew.errors import ConfigError
from askew.prompts.clinical import value_words
from askew.prompts.wording import table
from askew.records import Message, Prompt
from askew.vignettes import Facts, Triplet


def generator(facts: Facts) -> Prompt:
    """Ask for one question that says the facts of a case after the paper's form: Q = f(A).

    Status and relative are spelled out, as the form has no words for them and a denied symptom
    would become a symptom.
    """
    words = table("clinical_questions.toml")["generator"]
    listed = dict.fromkeys(_fact_line(triplet, words["words"]) for triplet in facts.triplets)
    asked = Template(words["task"]).substitute(
        facts="\n".join(listed) or words["no_facts"], template=words["template"]
    )
    return Prompt(messages=(Message("system", words["system"]), Message("user", asked)))


def attacker(
    question: str,
    combination: Sequence[str],
    n: int = 4,
    *,
    ages: Sequence[str],
    genders: Sequence[str],
    places: Sequence[str],
    seed_levels: Mapping[str, str],
) -> Prompt:
    """Ask for n variants of a question, few-shot, with the levels of each named (Eq. 2).

    Args:
        question: Q, with the attribute set A.
        combination: the attributes to change, of "age", "gender" and "place".
        n: how many variants, at least 1; the paper has four.
        ages: the bands to choose from: "1-10", "20-35", "40-60", "65-80".
        genders: the genders to choose from.
        places: the places to choose from.
        seed_levels: what the question says now, attribute -> level.

    Raises:
        ConfigError: no attribute, an unknown one, one without levels, or n below 1.
    """
    known = {"age": tuple(ages), "gender": tuple(genders), "place": tuple(places)}
    _check(combination, known, n)
    words = table("clinical_questions.toml")["attacker"]
    messages = [Message("system", words["system"])]
    for shot in words["shots"]:
        asked = _task(
            words,
            shot["question"],
            shot["seed"],
            shot["combination"],
            shot["levels"],
            len(shot["variants"]),
        )
        answer = json.dumps(shot["variants"], ensure_ascii=False, indent=1)
        messages += [Message("user", asked), Message("assistant", answer)]
    levels = [f"{name}: {', '.join(known[name])}" for name in combination]
    seed = ", ".join(f"{name}: {level}" for name, level in seed_levels.items()) or "none stated"
    messages.append(Message("user", _task(words, question, seed, combination, levels, n)))
    return Prompt(messages=tuple(messages))


def _check(combination: Sequence[str], known: Mapping[str, Sequence[str]], n: int) -> None:
    if n < 1:
        raise ConfigError(f"n is {n}, expected at least 1 variant.")
    if not combination or len(set(combination)) < len(combination):
        raise ConfigError(
            f"the attributes to change are {list(combination)}, expected each of them once, of: "
            f"{', '.join(known)}."
        )
    for name in combination:
        if name not in known:
            raise ConfigError(
                f"the attacker cannot change {name!r}. Known: {', '.join(known)}. Use the edits of "
                "the original text for other attributes."
            )
        if not known[name]:
            raise ConfigError(f"there are no levels of {name!r} to choose from. Give at least one.")


def _task(
    words: Mapping[str, Any],
    question: str,
    seed: str,
    combination: Sequence[str],
    levels: Sequence[str],
    n: int,
) -> str:
    rule = [words["age_rule"]] if "age" in combination else []
    return (
        Template(words["task"])
        .substitute(
            question=question.strip(),
            seed=seed,
            n=n,
            combination=" and ".join(combination),
            levels="\n".join([*(f"- {level}" for level in levels), *rule]),
            keys=", ".join(f'"{name}"' for name in combination),
        )
        .strip()
    )


def _fact_line(triplet: Triplet, words: Mapping[str, str]) -> str:
    owner = "" if triplet.experiencer == "patient" else f"of the patient's {triplet.experiencer}: "
    relation = triplet.relation.value.replace("_", " ")
    return f"- {owner}{words[triplet.status.value]}{relation}: {value_words(triplet)}"
