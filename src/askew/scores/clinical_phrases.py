"""What a phrase in running text names: diagnoses, tests or treatments, without its clauses."""

from __future__ import annotations

import re

from askew.scores.clinical_lists import names_in

DENIED = re.compile(
    # No word begins at the "n" of "don't".
    r"(?:\b(?:not|never|unlikely|no longer|cannot be|rule[ds]? out|excludes?|impossible to|hard to"
    r"|difficult to|unclear)|n['’]t)\b",
    re.IGNORECASE,
)
_STOP = re.compile(
    # "gout and a sprain" goes on, "gout and a scan is needed" does not.
    r"\s(?!and\san?\s(?![^,;]{0,80}\b(?:is|are|should|would|will|may|might|could|can|must|needs?)\b))"
    r"(?:and|but|so|which|that|because|since|although|however|if|when|where|who|based|given|as"
    r"|considering|especially|particularly|though|with (?:the|a) (?:likelihood|probability))\s"
    r"(?:should|require[sd]?|needs?|is|are|was|can|may|might|could|it|this|these|that"
    r"|he|she|they|the|we|I|a|an|on|by|in|not|further|also)\b.*"
    r"|,?\s(?:which|that|because|although|since|given|based on|considering)\b.*"
    r"|,\s(?:but|so|and (?:it|this|he|she|they|I|we|the patient))\b.*"
    r"|\s(?:in (?:the|this|a) (?:patient|case|setting|context)|due to|caused by"
    r"|resulting|leading to|affecting|occurring)\b.*",
    re.IGNORECASE,
)
_SUCH_AS = re.compile(r"[^,;]*?,?\s?\b(?:such as|including|like|e\.g)\s*,?\s", re.IGNORECASE)
_CALLED = re.compile(
    r"^(?:[\w-]+\s){0,4}(?:condition|disease|disorder|infection|illness)\s(?:called"
    r"|known as|named)\s",
    re.IGNORECASE,
)
_GENERIC = re.compile(
    r"(?:(?:several|many|various|multiple|different|some|other|certain|numerous|an?"
    r"|the|(?:wide )?(?:number|variety|combination|range|result|type|form|kind|sign"
    r"|series|set) of|underlying|serious|"
    r"more|following|possible|potential|medical|health|physical|environmental"
    r"|lifestyle|genetic|personal)\s?)*"
    r"(?:things?|factors?|causes?|conditions?|reasons?|possibilit(?:y|ies)|issues?"
    r"|problems?|symptoms?|diseases?|illness(?:es)?|disorders?"
    r"|it|this|that|them|these|those|him|her|patients?|diagnos[ei]s|situations?|case"
    r"|history|risks?|signs?|treatments?|medications?|drugs?|therap(?:y|ies)|tests?"
    r"|parasites?|virus(?:es)?|bacteri(?:a|um)|germs?|routine|urgent|emergency"
    r"|self-care"
    r"|clinical picture|ones?|conditions? .{0,20}"
    r"|as follows|below|process(?:es)?|needs?)",
    re.IGNORECASE,
)
# A name has no verb: from it on, the sentence goes on.
_SENTENCE = re.compile(
    r"(?:\s(?:\w+ly|also|that|who|which))?(?:^|\s)(?:should|could|would|may|might|is|are|was|were"
    r"|has|have|had|will|can|not|be|been)\b.*",
    re.IGNORECASE,
)
_NO_DIAGNOSIS = re.compile(
    r"^(?:patients?|person|someone|including|during|not|no|been|being|to|had|experienced|experiencing|history|presenting"
    r"|reporting|having|done|made|treated|seen|told|asked|important|essential"
    r"|necessary|likely to|usually|often|typically|also|helpful|useful|difficult"
    r"|dangerous|serious|hard|possible|able"
    r"|life-threatening|fatal|beneficial|advisable|worth|wise|best|better|more|less|very|quite|so"
    r"|too|managed|considered|followed|tested|used|given|due|needed|required|based"
    r"|that|what|how|whether"
    r"|when|we|I|he|she|they|you|in"
    r"|at|on|by|from|for|of|with|caused|related|determined|unknown)\b",
    re.IGNORECASE,
)


def names_said(what: str) -> list[str]:
    """The names that the rest of a sentence lists; what is no name is left out.

    >>> names_said("malaria, dengue or typhoid, given the rain")
    ['malaria', 'dengue', 'typhoid']
    >>> names_said("a variety of factors")
    []
    """
    # "X; other possible causes are Y" lists Y for itself.
    what = re.split(r";\s|:\s", what, maxsplit=1)[0]
    such_as = _SUCH_AS.match(what[:200])
    if such_as:
        what = what[such_as.end() :]
    what = re.sub(r"^with\s", "", _STOP.sub("", what))
    return [
        name
        for full in names_in(what)
        if (name := _CALLED.sub("", _SENTENCE.sub("", full)).strip())
        if not (_GENERIC.fullmatch(name) or _NO_DIAGNOSIS.match(name))
    ]
