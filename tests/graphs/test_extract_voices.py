"""What is found in letters, notes, calls and parents' words: every text is a kind of its own.

Facts are written as in `test_extract_kinds`.
"""

from __future__ import annotations

import pytest

pytest.importorskip("spacy", reason="the clinical extra is not installed")

from askew.graphs import extract
from tests.graphs.test_extract_kinds import short

VOICES = [
    # Whose age, and who speaks.
    (
        "A 33-year-old pregnant teacher has swollen feet.",
        "33y, +c:pregnancy, +s:swollen feet",
    ),
    ("A potter of 58 with gout has a sore back.", "58y, +c:gout, +s:sore back"),
    ("A grandmother of 5 has a cough.", "female, +s:cough"),
    (
        "Dear doctor, I would be grateful if you would see this 44-year-old plumber with hand "
        "pain. He has eczema and takes cetirizine.",
        "44y, male, +c:eczema, +d:cetirizine",
    ),
    (
        "My patient, a 61-year-old baker, has asthma. She uses salbutamol.",
        "61y, female, +c:asthma, +d:salbutamol",
    ),
    (
        "My 5 year old has an earache and keeps vomiting. I'm 30 and have eczema. He isn't "
        "coughing.",
        "5y, male, +s:earache, +s:vomiting, -s:cough",
    ),
    (
        "The caller is a school nurse, 52F, about a 13-year-old boy. He complains of knee pain.",
        "13y, male, +s:knee pain",
    ),
    (
        "History from his niece, a 40-year-old lawyer. The 77-year-old patient has a cough.",
        "77y, male, +s:cough",
    ),
    (
        "A 2-year-old boy whose father brought him in with a rash and diarrhea has asthma.",
        "2y, male, +s:rash, +s:diarrhea, +c:asthma",
    ),
    (
        "A 40-year-old woman is seen. Both her mother and her aunt had ovarian cancer.",
        "40y, female, +f:ovarian cancer(mother), +f:ovarian cancer(aunt)",
    ),
    (
        "A 41-year-old man: there is gout in his father and paternal uncle, and stroke in his "
        "maternal grandmother.",
        "41y, male, +f:gout(uncle), +f:gout(father), +f:stroke(grandmother)",
    ),
    # What is only warned of, doubted, or denied of something else.
    (
        "A 50-year-old man was told to ring the ward should dizziness or bleeding start. He has "
        "gout.",
        "50y, male, +c:gout",
    ),
    (
        "A 38-year-old woman with back pain is suspected of having endometriosis.",
        "38y, female, +s:back pain, ?c:endometriosis",
    ),
    (
        "A 20-year-old woman has had no relief from her cramps with naproxen.",
        "20y, female, +s:cramps, +d:naproxen",
    ),
    (
        "Not only dizziness but also nausea troubles this 47-year-old man.",
        "47y, male, +s:dizziness, +s:nausea",
    ),
    (
        "A 34-year-old woman came in as soon as the headache began. It is not associated with "
        "nausea.",
        "34y, female, +s:headache, -s:nausea",
    ),
    (
        "A 30-year-old woman declined scans earlier in the pregnancy.",
        "30y, female, +c:pregnancy",
    ),
    # Since when.
    (
        "A 45-year-old man has had three nosebleeds in the past 2 weeks.",
        "45y, male, +s:nosebleeds",
    ),
    (
        "A 70-year-old man who had rheumatic fever as a boy has dizziness.",
        "70y, male, <c:rheumatic fever, +s:dizziness",
    ),
    (
        "A 37-year-old pregnant woman had preeclampsia in her first. She has a cough.",
        "37y, female, +c:pregnancy, <c:preeclampsia, +s:cough",
    ),
    # Notes in abbreviations.
    (
        "71M w/ h/o COPD, a/w RLE edema & cough. Neg for F/C. Apixaban d/c'd in May.",
        "71y, male, +c:COPD, +s:right lower extremity edema, +s:cough, -s:fever, -s:chills, "
        "<d:apixaban",
    ),
    # Drugs and allergies.
    (
        "A 64-year-old woman no longer takes codeine, has never used tramadol and uses "
        "paracetamol.",
        "64y, female, <d:codeine, -d:tramadol, +d:paracetamol",
    ),
    (
        "A 66-year-old woman is well. Amlodipine will be added to her ramipril.",
        "66y, female, >d:amlodipine, +d:ramipril",
    ),
    (
        "A 31-year-old man has a wasp allergy. He is allergic to aspirin (wheeze) and to bee "
        "stings, and has tried loratadine.",
        "31y, male, +a:wasp, +a:aspirin, +a:bee stings, +d:loratadine",
    ),
    (
        "A 31-year-old man has no latex allergy. His sister has a peanut allergy.",
        "31y, male, -a:latex, +f:peanut allergy(sister)",
    ),
    # Places.
    (
        "A 29-year-old woman, Peruvian by birth, did not go to Bolivia.",
        "29y, female, +from:Peru, -to:Bolivia",
    ),
    (
        "A 36-year-old Kenyan who has settled in Lyon has a cough.",
        "36y, +from:Kenya, +home:Lyon, +s:cough",
    ),
    (
        "A 60-year-old man runs a bakery in Tartu, where he lives. He got back from Kihnu on "
        "Monday.",
        "60y, male, +home:Tartu, +to:Kihnu",
    ),
    # Complaints in plain words.
    (
        "A 27-year-old woman reports muscle aches and that her head aches. Bright light hurts "
        "her eyes.",
        "27y, female, +s:muscle aches, +s:headache, +s:photophobia",
    ),
    (
        "An 80-year-old woman has been seeing people who are not there. No temperature.",
        "80y, female, +s:hallucinations, -s:fever",
    ),
    (
        "A 9-year-old girl fell out of a tree. She has arm pain.",
        "9y, female, +s:fall, +s:arm pain",
    ),
    (
        "A girl, 3 days old, born at 38 weeks to a 29-year-old with gestational diabetes, feeds "
        "badly and is jittery.",
        "3d, female, +f:gestational diabetes(mother), +s:poor feeding, +s:jitteriness",
    ),
    (
        "A 31-year-old man has a twisted left ankle and two broken ribs.",
        "31y, male, +c:twisted left ankle, +c:broken ribs",
    ),
    (
        "A 46-year-old man cannot bear bright light and has been sick twice. He is off to Malta "
        "tomorrow.",
        "46y, male, +s:photophobia, +s:vomiting, >to:Malta",
    ),
    # What was measured or found is no fact (rule 9 of the gold), nor is the emergency department.
    (
        "A 52-year-old man presents to the ED with a cough. His temperature is 37 C and pulse is "
        "80/min. He is pale. Calcium 8.1 mg/dL. Hepatitis C core antibody negative. The belly is "
        "not tender to palpation.",
        "52y, male, +s:cough",
    ),
    (
        "A 6-year-old girl has a cough. Wheezes are heard at both bases. O2 saturation is 93%.",
        "6y, female, +s:cough",
    ),
]


@pytest.mark.parametrize(("text", "facts"), VOICES)
def test_facts_of_a_voice(text, facts):
    assert ", ".join(short(fact) for fact in extract(text).triplets) == facts
