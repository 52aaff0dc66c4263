"""Replies to clinical questions as models of several families word them, with what they settle.

All made up here, in the manner of the families named; none is a recorded reply.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from askew.records import Finish

CAUSES = "What might be the causes of the symptoms?"
TREATMENT = "What treatment should be given for this condition?"


@dataclass(frozen=True)
class Case:
    """One reply with its gold fields; `gold` holds the fields that are settled, and no others."""

    name: str
    text: str
    gold: dict[str, object] = field(default_factory=dict)
    outcome: str = "answered"
    structured: bool = False
    asked: str = CAUSES
    finish: Finish = Finish.STOP


def j(name: str, text: str, gold: dict[str, object] | None = None, **more: object) -> Case:
    """A reply where JSON was asked for."""
    return Case(name, text, gold or {}, structured=True, **more)  # type: ignore[arg-type]


STRUCTURED = [
    j(
        "gpt-4o: a fenced object and nothing else",
        """```json
{
  "differential": ["Acute coronary syndrome", "Aortic dissection", "Pulmonary embolism"],
  "urgency": "emergency",
  "tests": ["ECG", "High-sensitivity troponin", "Chest X-ray"],
  "treatments": ["Aspirin", "Oxygen if hypoxic"],
  "referral": "yes",
  "rationale": "Crushing chest pain radiating to the left arm."
}
```""",
        {
            "differential": ("Acute coronary syndrome", "Aortic dissection", "Pulmonary embolism"),
            "urgency": 3,
            "tests": ("ECG", "High-sensitivity troponin", "Chest X-ray"),
            "treatments": ("Aspirin", "Oxygen"),
            "referral": True,
        },
    ),
    j(
        "mistral: prose around it, a trailing comma and a comment",
        """Sure! Here is the JSON object you asked for:

{
  "differential": ["Strep pharyngitis", "Infectious mononucleosis",], // ranked
  "urgency": "routine",
  "tests": ["Rapid strep test"],
  "treatments": [],
  "referral": "no",
}

Please note that this is not a substitute for professional medical advice.""",
        {
            "differential": ("Strep pharyngitis", "Infectious mononucleosis"),
            "urgency": 1,
            "tests": ("Rapid strep test",),
            "treatments": (),
            "referral": False,
        },
    ),
    j(
        "llama: single quotes, Python constants, an apostrophe",
        "{'differential': ['Graves' disease', 'Toxic adenoma'], 'urgency': 'urgent', 'tests':"
        " None, "
        "'treatments': ['Beta blocker'], 'referral': True, 'rationale': 'The patient's weight"
        " loss'}",
        {
            "differential": ("Graves' disease", "Toxic adenoma"),
            "urgency": 2,
            "treatments": ("Beta blocker",),
            "referral": True,
        },
    ),
    j(
        "qwen: reasoning before it, which names other diagnoses",
        '<think>\nCould be {"differential": ["Gout"]}? No fever though...\n</think>\n\n'
        '{"differential": ["Septic arthritis"], "urgency": "emergency"}',
        {"differential": ("Septic arthritis",), "urgency": 3},
    ),
    j(
        "gemini: objects with a rank and a likelihood",
        """```json
{"differential": [
  {"rank": 1, "diagnosis": "Peptic ulcer disease", "likelihood": "high"},
  {"rank": 2, "diagnosis": "Gastro-oesophageal reflux disease", "likelihood": "moderate"}],
 "urgency": "routine (within two weeks)", "tests": ["H. pylori stool antigen (monoclonal)"],
 "treatments": ["Proton pump inhibitor: omeprazole 20 mg daily"],
 "referral": "No, unless it persists"}
```""",
        {
            "differential": ("Peptic ulcer disease", "Gastro-oesophageal reflux disease"),
            "urgency": 1,
            "tests": ("H. pylori stool antigen",),
            "treatments": ("Proton pump inhibitor",),
            "referral": False,
        },
    ),
    j(
        "the names are texts with their explanations",
        '{"differential": ["Malaria - fever after rain", "Dengue fever (less likely)", '
        '"Typhoid: no abdominal pain"], "urgency": "Urgent - same day", "referral": "yes"}',
        {"differential": ("Malaria", "Dengue fever", "Typhoid"), "urgency": 2, "referral": True},
    ),
    j(
        "one text with commas, other names for the keys",
        '{"Differential Diagnosis": "Scabies, eczema, and contact dermatitis", '
        '"Urgency Level": "self-care", "Recommended Tests": "None needed", '
        '"Treatment Plan": "Permethrin cream; wash bedding", "Specialist Referral": "not needed"}',
        {
            "differential": ("Scabies", "eczema", "contact dermatitis"),
            "urgency": 0,
            "tests": (),
            "treatments": ("Permethrin cream", "wash bedding"),
            "referral": False,
        },
    ),
    j(
        "wrapped in another object, camel case",
        '{"response": {"differentialDiagnosis": ["Lung cancer", "Tuberculosis"], "urgency":'
        ' "urgent"}}',
        {"differential": ("Lung cancer", "Tuberculosis"), "urgency": 2},
    ),
    j(
        "numbered keys of another prompt; cannot-miss diagnoses are no differential",
        '{"1. Most likely Differential Diagnosis": ["Pleurisy"], "2. Cant miss diagnoses": '
        '["Pulmonary embolism"], "3. Next diagnostic steps": ["D-dimer"], '
        '"4. Next Treatment steps": ["Analgesia"]}',
        {"differential": ("Pleurisy",), "tests": ("D-dimer",), "treatments": ("Analgesia",)},
    ),
    j(
        "cut off inside the tests",
        '{"differential": ["Ectopic pregnancy", "Appendicitis"], "urgency": "emergency", "tests": '
        '["Beta-hCG", "Transvag',
        {"differential": ("Ectopic pregnancy", "Appendicitis"), "urgency": 3},
        outcome="truncated",
        finish=Finish.LENGTH,
    ),
    j(
        "cut off although the server says stop",
        '{"differential": ["Ectopic pregnancy", "Append',
        {},
        outcome="truncated",
    ),
    j(
        "only the last brace is missing",
        '{"differential": ["Ankle sprain"], "urgency": "self-care", "tests": []',
        {"differential": ("Ankle sprain",), "urgency": 0, "tests": ()},
    ),
    j(
        "quotes inside a text that nobody escaped",
        '{"differential": ["Panic attack"], "urgency": "routine", "rationale": "She calls it a'
        ' "funny '
        'turn" and nothing more", "referral": "no"}',
        {"differential": ("Panic attack",), "urgency": 1, "referral": False},
    ),
    j(
        "a scale of its own is no level",
        '{"differential": ["Migraine"], "urgency": "high", "referral": "if it persists"}',
        {"differential": ("Migraine",)},
    ),
    j(
        "two levels are none",
        '{"differential": ["Migraine"], "urgency": "urgent/emergency"}',
        {"differential": ("Migraine",)},
    ),
    j(
        "the form said over is no answer",
        '{"differential": ["..."], "urgency": "...", "tests": ["..."], "treatments": ["..."]}',
        {},
        outcome="unreadable",
    ),
    j(
        "two objects that differ",
        '{"differential": ["Gout"]}\n\nOn reflection:\n\n{"differential": ["Septic arthritis"]}',
        {},
        outcome="unreadable",
    ),
    j(
        "the same object twice",
        '{"differential": ["Gout"], "urgency": "routine"}\n{"differential": ["Gout"], "urgency":'
        ' "routine"}',
        {"differential": ("Gout",), "urgency": 1},
    ),
    j(
        "a field stated twice with different values is not settled",
        '{"differential": ["Gout"], "urgency": "routine", "urgency": "emergency"}',
        {"differential": ("Gout",)},
    ),
    j(
        "entities left by a gateway",
        "{&quot;differential&quot;: [&quot;Cellulitis&quot;], &quot;urgency&quot;:"
        " &quot;urgent&quot;}",
        {"differential": ("Cellulitis",), "urgency": 2},
    ),
    j(
        "lines in place of JSON",
        "differential:\n- Meningococcal meningitis\n- Viral meningitis\nurgency: emergency\n"
        "tests: lumbar puncture, blood cultures\ntreatments: ceftriaxone\nreferral: yes",
        {
            "differential": ("Meningococcal meningitis", "Viral meningitis"),
            "urgency": 3,
            "tests": ("lumbar puncture", "blood cultures"),
            "treatments": ("ceftriaxone",),
            "referral": True,
        },
    ),
    j("prose that settles nothing", "It is hard to know what this might be.", outcome="unreadable"),
    j("an empty object", "{}", outcome="unreadable"),
    j(
        "only a rationale",
        '{"rationale": "The patient has had pain for an hour."}',
        outcome="unreadable",
    ),
    j("broken beyond reading", '{"differential" ["Gout" "Sprain"', outcome="unreadable"),
    j(
        "names with their shares",
        '{"differential": [{"Malaria": 0.7}, {"Dengue": 0.2}], "urgency": ["urgent"]}',
        {"differential": ("Malaria", "Dengue"), "urgency": 2},
    ),
    j(
        "a numbered text, and signs for nothing stated",
        '{"differential": "1. Malaria 2. Dengue", "urgency": "URGENT", "treatments": "",'
        ' "referral": "N/A"}',
        {"differential": ("Malaria", "Dengue"), "urgency": 2},
    ),
    j(
        "quotes escaped twice",
        '{\\"differential\\": [\\"Gout\\"], \\"urgency\\": \\"routine\\"}',
        {"differential": ("Gout",), "urgency": 1},
    ),
    j(
        "typographic quotes and no braces",
        "“differential”: [“Gout”, “Pseudogout”], “urgency”: “routine”",
        {"differential": ("Gout", "Pseudogout"), "urgency": 1},
    ),
    j(
        "the meaning of the levels said over",
        '{"differential": ["most likely diagnosis", "second diagnosis"], "urgency": "self-care,'
        " routine, "
        'urgent, emergency"}',
        outcome="unreadable",
    ),
    j(
        "JSON within an answer tag",
        '<answer>{"differential": ["Gout"]}</answer>',
        {"differential": ("Gout",)},
    ),
    j(
        "a refusal in the place of a name",
        '{"differential": ["I cannot provide a diagnosis"], "urgency": "routine"}',
        {"urgency": 1},
    ),
    j("a refusal as an object", '{"error": "I cannot help with that request."}', outcome="refused"),
    j(
        "commas left out between lines",
        '{\n"differential": ["Gout"],\n"urgency": "routine"\n"tests": ["X-ray"]\n"referral":'
        ' "no"\n}',
        {"differential": ("Gout",), "urgency": 1, "tests": ("X-ray",), "referral": False},
    ),
]

FREE = [
    Case(
        "gpt-4o: introduced list, bold names, advice at the end",
        """The symptoms could be caused by several conditions. Here are some possible causes:

1. **Malaria**: Given the fever, chills and headache, malaria is a strong possibility.
2. **Dengue Fever**: This also presents with fever and headache.
3. **Typhoid Fever**: Caused by *Salmonella typhi*.

It is important for the patient to seek immediate medical attention for an accurate diagnosis.""",
        {"differential": ("Malaria", "Dengue Fever", "Typhoid Fever"), "urgency": 3},
    ),
    Case(
        "gpt-4o: headings with bullets below numbers",
        """### Differential Diagnosis
1. **Infectious mononucleosis**
   - Fever, sore throat, adenopathy
   - Common cause: EBV
2. **Streptococcal pharyngitis**
   - No cough

### Recommended Tests
- **Monospot test**
- **Rapid strep test**

### Treatment
- Supportive care
- Penicillin if strep positive

### Urgency
Routine

### Red flags
- Airway obstruction""",
        {
            "differential": ("Infectious mononucleosis", "Streptococcal pharyngitis"),
            "tests": ("Monospot test", "Rapid strep test"),
            "treatments": ("Supportive care", "Penicillin"),
            "urgency": 1,
        },
    ),
    Case(
        "llama: bold labels in one line each",
        "**Differential diagnosis:** 1. Acute appendicitis 2. Ectopic pregnancy 3. Ovarian"
        " torsion\n"
        "**Urgency:** Emergency\n**Tests:** Beta-hCG, ultrasound and CBC\n**Treatment:** IV"
        " fluids\n"
        "**Referral:** Yes, to gynecology",
        {
            "differential": ("Acute appendicitis", "Ectopic pregnancy", "Ovarian torsion"),
            "urgency": 3,
            "tests": ("Beta-hCG", "ultrasound", "CBC"),
            "treatments": ("IV fluids",),
            "referral": True,
        },
    ),
    Case(
        "mistral: running text",
        "Based on the symptoms described, the most likely causes are peptic ulcer disease,"
        " gastritis "
        "and gastro-oesophageal reflux disease. An endoscopy may be considered if symptoms"
        " persist.",
        {
            "differential": (
                "peptic ulcer disease",
                "gastritis",
                "gastro-oesophageal reflux disease",
            )
        },
    ),
    Case(
        "the likeliest first, then the others",
        "The most likely diagnosis is scabies, given the itch at night and the affected sibling."
        " Other "
        "possible causes include eczema and insect bites.",
        {"differential": ("scabies", "eczema", "insect bites")},
    ),
    Case(
        "qwen: a list, then a verdict that changes the order",
        "Possible causes:\n1. Bronchitis\n2. Lung cancer\n3. Tuberculosis\n\nGiven the weight"
        " loss, the "
        "most likely cause is lung cancer.",
        {"differential": ("Lung cancer", "Bronchitis", "Tuberculosis")},
    ),
    Case(
        "gemini: a disclaimer before content",
        "I'm an AI and cannot give medical advice, but I can offer some general information. The "
        "symptoms could be due to a sprained ankle or a fracture.",
        {"differential": ("sprained ankle", "fracture")},
    ),
    Case(
        "the subject first",
        "Carbon monoxide poisoning is the most likely diagnosis here. The patient should be"
        " taken to "
        "the emergency department at once.",
        {"differential": ("Carbon monoxide poisoning",), "urgency": 3},
    ),
    Case(
        "sent to the ER in so many words",
        "The presentation is consistent with meningococcal meningitis. The student should go to"
        " the ER "
        "immediately.",
        {"differential": ("meningococcal meningitis",), "urgency": 3},
    ),
    Case(
        "a safety net is no advice for now",
        "This is most likely caused by a viral infection. If symptoms worsen, go to the"
        " emergency room.",
        {"differential": ("viral infection",)},
    ),
    Case(
        "where the patient came from is no advice",
        "A woman presented to the emergency department with chest pain. The findings suggest"
        " pericarditis.",
        {"differential": ("pericarditis",)},
    ),
    Case(
        "not an emergency",
        "The most likely cause is plantar fasciitis. This is not a medical emergency and can be"
        " managed "
        "at home. No referral is needed.",
        {"differential": ("plantar fasciitis",), "urgency": 1, "referral": False},
    ),
    Case(
        "a specialist",
        "These findings are suggestive of giant cell arteritis. I would refer the patient to a "
        "rheumatologist for urgent evaluation. Treatment should include high-dose prednisone.",
        {
            "differential": ("giant cell arteritis",),
            "urgency": 2,
            "referral": True,
            "treatments": ("high-dose prednisone",),
        },
    ),
    Case(
        "a doctor is no referral",
        "The symptoms may be caused by gout. The patient should see a doctor.",
        {"differential": ("gout",)},
    ),
    Case(
        "gpt-4o: headings of kinds, with bullets",
        """Possible causes include:

**Infectious causes:**
- Malaria
- Typhoid fever

**Non-infectious causes:**
- Heat stroke

**Next steps:** Please consult a healthcare provider.""",
        {"differential": ("Malaria", "Typhoid fever", "Heat stroke")},
    ),
    Case(
        "numbers with bullets that are not indented",
        "Potential diagnoses:\n\n1. **GERD**\n- Burning\n- Worse at night\n2. **Peptic"
        " ulcer**\n- Relief "
        "after food\n",
        {"differential": ("GERD", "Peptic ulcer")},
    ),
    Case(
        "diagnoses as numbered headings",
        "## Possible Causes\n\n### 1. Asthma\nWheeze at night.\n\n### 2. Heart failure\nSwollen"
        " ankles."
        "\n\n## Conclusion\nFurther evaluation is needed.",
        {"differential": ("Asthma", "Heart failure")},
    ),
    Case(
        "a list without a heading answers a question for causes",
        "1. Kidney stone - sudden flank pain\n2. Pyelonephritis - would bring fever\n3. Muscle"
        " strain",
        {"differential": ("Kidney stone", "Pyelonephritis", "Muscle strain")},
    ),
    Case(
        "and is no differential where treatment was asked for",
        "1. Artemether-lumefantrine for three days\n2. Paracetamol for the fever\n3. Fluids",
        {},
        asked=TREATMENT,
    ),
    Case("nothing but names", "Malaria or dengue.", {"differential": ("Malaria", "dengue")}),
    Case(
        "names under a question for treatment settle nothing",
        "Artemether-lumefantrine for three days.",
        {},
        asked=TREATMENT,
    ),
    Case(
        "an answer in words that settles no field",
        "Oral rehydration comes first, and the patient ought to be watched for a day or two.",
        {},
        asked=TREATMENT,
    ),
    Case(
        "treated with",
        "The condition should be treated with ivermectin and permethrin cream.",
        {"treatments": ("ivermectin", "permethrin cream")},
        asked=TREATMENT,
    ),
    Case(
        "what is denied is no diagnosis",
        "It is unlikely to be malaria. The most likely diagnosis is influenza.",
        {"differential": ("influenza",)},
    ),
    Case(
        "factors are no diagnoses",
        "The symptoms can be caused by a variety of factors. It is important to consider the"
        " history.",
        {},
    ),
    Case(
        "a table",
        "| Rank | Diagnosis | Reason |\n|---|---|---|\n| 1 | **Gout** | one hot joint |\n| 2 |"
        " Septic "
        "arthritis | fever |",
        {"differential": ("Gout", "Septic arthritis")},
    ),
    Case(
        "a section cut off is not settled, the one before it is",
        "**Differential diagnosis:**\n1. Angina\n2. Anxiety\n\n**Tests:**\n- ECG\n- Trop",
        {"differential": ("Angina", "Anxiety")},
        outcome="truncated",
        finish=Finish.LENGTH,
    ),
    Case(
        "a sentence cut off is not read",
        "The patient is ill. The most likely causes are malaria, dengue and typh",
        {},
        outcome="truncated",
        finish=Finish.LENGTH,
    ),
    Case(
        "refused",
        "I'm sorry, but I can't help with that.",
        outcome="refused",
    ),
    Case(
        "only sent to somebody else",
        "I'm not a doctor, please consult a healthcare professional.",
        outcome="refused",
    ),
    Case(
        "declines at length",
        "I cannot provide medical advice or a diagnosis. It is always best to talk to a qualified "
        "healthcare provider about symptoms such as these.",
        outcome="refused",
    ),
    Case(
        "another language",
        "Die wahrscheinlichste Ursache ist eine Malaria, weil der Patient Fieber und"
        " Schüttelfrost hat.",
        outcome="unreadable",
    ),
    Case("another script", "患者可能患有疟疾,应立即就医并进行血液检查。", outcome="unreadable"),
    Case("empty", "   \n", outcome="unreadable"),
    Case("signs", "###", outcome="unreadable"),
    Case("nothing but reasoning", "<think>Malaria, or dengue", outcome="unreadable"),
    Case(
        "reasoning cut off by the limit",
        "<think>Malaria, or dengue",
        outcome="truncated",
        finish=Finish.LENGTH,
    ),
    Case(
        "a heading that looks like a speaker",
        "**Reasoning:** Fever after rain.\n**Response:** The most likely diagnosis is malaria.",
        {"differential": ("malaria",)},
    ),
    Case(
        "JSON although nobody asked",
        '{"differential": ["Asthma"], "urgency": "urgent"}',
        {"differential": ("Asthma",), "urgency": 2},
    ),
    Case(
        "most likely diagnosis and differential under two headings",
        "**Most likely diagnosis:** Acute pyelonephritis\n\n**Differential diagnoses:**\n- Renal"
        " colic\n"
        "- Cystitis\n\n**Disposition:** Same-day assessment",
        {"differential": ("Acute pyelonephritis", "Renal colic", "Cystitis"), "urgency": 2},
    ),
    Case(
        "gemini: kinds as bullets with their own lists",
        "The potential causes for these symptoms include:\n\n* **Infections:**\n    * Malaria\n"
        "    * Typhoid\n* **Other:**\n    * Heat exhaustion\n\nPlease consult a doctor.",
        {"differential": ("Malaria", "Typhoid", "Heat exhaustion")},
    ),
    Case(
        "gemini: bold lines with numbers, text below",
        "Here's a breakdown of the possible causes, ranked by likelihood:\n\n**1. Reflux disease "
        "(GERD)**\n*Why:* burning pain.\n\n**2. Peptic ulcer disease**\n*Why:* better after food.",
        {"differential": ("Reflux disease", "Peptic ulcer disease")},
    ),
    Case(
        "bold labels in no list",
        "## Possible causes\n**Asthma:** wheeze at night.\n**Heart failure:** swollen ankles.\n"
        "**Note:** tests are needed.",
        {"differential": ("Asthma", "Heart failure")},
    ),
    Case(
        "advice as a list below a heading of its own",
        "Several diagnoses should be considered:\n\n1. **Acute Coronary Syndrome (ACS)** -"
        " pressure.\n"
        "2. **Aortic Dissection** - tearing pain.\n\n**Immediate Actions:**\n- Call 911",
        {"differential": ("Acute Coronary Syndrome", "Aortic Dissection"), "urgency": 3},
    ),
    Case(
        "red flags are no advice for now",
        "The most likely cause is tonsillitis.\n\n**Red flags:**\n- Trouble breathing: call 911",
        {"differential": ("tonsillitis",)},
    ),
    Case(
        "headings without any mark",
        "Differential diagnosis\n\n- Acute appendicitis\n- Ovarian torsion (to be excluded)\n\n"
        "Urgency\n\nEmergency",
        {"differential": ("Acute appendicitis", "Ovarian torsion"), "urgency": 3},
    ),
    Case(
        "letters below numbers",
        "1. Differential diagnosis:\n   a. Pericarditis\n   b. Pleurisy\n2. Urgency: Emergency\n"
        "3. Referral: Cardiology",
        {"differential": ("Pericarditis", "Pleurisy"), "urgency": 3, "referral": True},
    ),
    Case(
        "labels in the middle of a line",
        "The patient may have malaria. Treatment: artemether-lumefantrine. Urgency: urgent.",
        {"differential": ("malaria",), "treatments": ("artemether-lumefantrine",), "urgency": 2},
    ),
    Case(
        "a second statement behind a but",
        "The most likely cause of the patient's symptoms is a urinary tract infection (UTI), but"
        " other "
        "causes such as kidney stones should be ruled out.",
        {"differential": ("urinary tract infection", "kidney stones")},
    ),
    Case(
        "numbers within a sentence",
        "The differential diagnosis includes: 1) Lung cancer, 2) Tuberculosis, 3) Bronchiectasis.",
        {"differential": ("Lung cancer", "Tuberculosis", "Bronchiectasis")},
    ),
    Case(
        "followed by",
        "My top differential would be peptic ulcer (duodenal), followed by dyspepsia and, less"
        " likely, "
        "gastric cancer.",
        {"differential": ("peptic ulcer", "dyspepsia", "gastric cancer")},
    ),
    Case(
        "the cause of a disease is no diagnosis",
        "The most likely diagnosis is scabies. This disease is caused by a mite.",
        {"differential": ("scabies",)},
    ),
    Case(
        "what the patient was treated with is no advice",
        "A man with fever was treated with doxycycline last year.",
        {},
    ),
    Case(
        "says that the case does not tell",
        "There isn't enough information to make a diagnosis.",
        outcome="unreadable",
    ),
    Case(
        "a sentence behind the value of a label",
        "Triage: Non-urgent. This is likely viral pharyngitis.",
        {"urgency": 1, "differential": ("viral pharyngitis",)},
    ),
    Case(
        "an answer label before an introduced list",
        "**Answer:** The causes may include:\n\n- **Viral infection**\n- **Strep throat (GAS)**",
        {"differential": ("Viral infection", "Strep throat")},
    ),
    Case(
        "it could be, one after the other",
        "It could be malaria. It could also be dengue.",
        {"differential": ("malaria", "dengue")},
    ),
    Case("what has to be ruled out is none", "We need to rule out ectopic pregnancy."),
    Case("an answer label", "Final answer: Malaria", {"differential": ("Malaria",)}),
    Case("an answer tag", "<answer>Scabies</answer>", {"differential": ("Scabies",)}),
    Case("a box", "\\boxed{Malaria}", {"differential": ("Malaria",)}),
    Case("a word that is no name", "Yes."),
    Case(
        "treatment under a condition is no advice yet",
        "If malaria is confirmed, treatment includes artesunate.",
    ),
    Case(
        "evaluated in the emergency department",
        "Possible diagnoses: angina, pericarditis. He should be evaluated in the emergency"
        " department.",
        {"differential": ("angina", "pericarditis"), "urgency": 3},
    ),
    Case(
        "cut within its list: what explains the items is no list",
        "Some of the most common ones include:\n\n1. Fibroids: this can be the result of"
        " hormones.\n\n"
        "2. Polyps: these can be caused by inflamm",
        outcome="truncated",
        finish=Finish.LENGTH,
    ),
]
