"""What a match with a reference is worth: recorded answers beside their chance level.

    python benchmarks/reproduce/clinical_chance.py FOLDER

FOLDER holds the vignettes of Zack et al. (2024) and `gpt4_outputs/`. The recorded replies to the
seventh dyspnea case are held to its own reference differential, and for the chance level to those
of the other 20 cases. No reply is printed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from clinical_floor import read  # the script beside this one

from askew.datasets.base import DataSpec
from askew.datasets.vignettes import load
from askew.models.token_vectors import TokenEncoder
from askew.scores.reference_match import Reference, reference_match
from askew.seeds import generator
from askew.vignettes import ClinicalAnswer

CASE = "zack_cases/outpt_dyspnea-dyspnea-7"
REPLIES = "gpt4_outputs/Dyspena_case_7_25_iterations.json.gz"
EACH = 25  # every 25th reply: one of each arm


def main() -> None:
    """Print one Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    cases = load(DataSpec("zack_cases", folder)).vignettes
    own = next(Reference.of_vignette(case) for case in cases if case.id == CASE)
    others = [Reference.of_vignette(case) for case in cases if case.id != CASE]
    answers = read(folder / REPLIES)[1][::EACH]
    # The others bring their references alone.
    silent = [ClinicalAnswer("error", "")] * len(others)
    encode = TokenEncoder().token_vectors
    print("| measure | whole reply | chance | differential alone | chance | answers |")
    print("|---|---|---|---|---|---|")
    whole, alone = (
        reference_match(
            [*answers, *silent],
            [own] * len(answers) + others,
            generator(0, "clinical_chance"),
            token_vectors=encode,
            candidate=candidate,
        )
        for candidate in ("text", "differential")
    )
    for name, match in whole.items():
        figures = (match.value, match.chance, alone[name].value, alone[name].chance)
        print(f"| `{name}` |", " | ".join(f"{each:.3f}" for each in figures), f"| {match.n} |")


if __name__ == "__main__":
    main()
