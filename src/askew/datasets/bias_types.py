"""One name for each kind of bias, whatever a data set calls it."""

from __future__ import annotations

import re

# The right side is what askew prints. BBQ writes "Gender_identity" and "SES", CrowS-Pairs
# "race-color", FLEX "race_ethnicity"; upper case, hyphens and blanks are ironed out before.
CANONICAL: dict[str, str] = {
    "age": "age",
    "disability": "disability",
    "disability_status": "disability",
    "gender": "gender",
    "gender_identity": "gender",
    "nationality": "nationality",
    "physical_appearance": "physical_appearance",
    "profession": "profession",
    "race": "race",
    "race_color": "race",
    "race_ethnicity": "race",
    "race_x_gender": "race_x_gender",
    "race_x_ses": "race_x_ses",
    "religion": "religion",
    "ses": "socioeconomic",
    "sexual_orientation": "sexual_orientation",
    "socioeconomic": "socioeconomic",
    "socioeconomic_status": "socioeconomic",
}


def canonical_bias_type(name: str) -> str:
    """Askew's name for a kind of bias; a word that is not in the table stays as it is.

    >>> [canonical_bias_type(name) for name in ("race-color", "SES", "Body size")]
    ['race', 'socioeconomic', 'Body size']
    """
    stripped = name.strip()
    return CANONICAL.get(re.sub(r"[-/\s_]+", "_", stripped.casefold()), stripped)
