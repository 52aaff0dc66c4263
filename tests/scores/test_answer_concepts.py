"""What the diagnoses of an answer are called when answers are compared."""

from __future__ import annotations

import pytest

from askew.scores.answer_concepts import (
    diagnosis_concept,
    diagnosis_concepts,
    ranked_concepts,
    same_diagnosis,
)


@pytest.mark.parametrize(
    "item",
    [
        "Pulmonary embolism",
        "pulmonary emboli",
        "1. Pulmonary embolism (PE)",
        "PE (pulmonary embolism)",
        "**Acute pulmonary embolism**",
        "Suspected pulmonary embolism",
        "Rule out pulmonary embolism",
        "Pulmonary embolism, likely",
        "Pulmonary embolism - recent flight, pleuritic pain",
        "Pulmonary embolism: the flight and the leg pain fit",
        "Pulmonary embolism due to a deep vein thrombosis",
        "PULMONARY EMBOLISM.",
        "Pulmonary embolism 60%",
        "Pulmonary embolism with strain of the right heart",
        "Pulmonary embolism without infarction",
    ],
)
def test_one_diagnosis_has_one_name_however_it_is_worded(item):
    assert diagnosis_concept(item) == diagnosis_concept("pulmonary embolism")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Pulmonary embolism", "Pneumonia"),
        ("Type 1 diabetes", "Type 2 diabetes"),
        ("Hypothyroidism", "Hyperthyroidism"),
        ("Stable angina", "Myocardial infarction"),
        ("Ulcerative colitis", "Ischemic colitis"),
        ("Wibble syndrome", "Wobble syndrome"),
        ("Gonococcal pharyngitis", "Chlamydial pharyngitis"),
        ("Non-gonococcal urethritis", "Gonococcal urethritis"),
        ("Herpes simplex virus (HSV) pharyngitis", "Herpes simplex virus infection"),
        ("Acute pancreatitis", "Chronic pancreatitis"),
        ("Hepatitis B", "Hepatitis C"),
        ("Group A streptococcal wibble", "Group B streptococcal wibble"),
        ("心筋梗塞", "肺炎"),
        ("II型糖尿病", "II度熱傷"),
    ],
)
def test_two_diagnoses_have_two_names(one, other):
    assert diagnosis_concept(one) != diagnosis_concept(other)


def test_a_diagnosis_that_is_named_to_be_denied_is_not_listed():
    assert ranked_concepts(["No anemia", "Anxiety - ruled out", "Pneumonia excluded", "Gout"]) == (
        diagnosis_concept("gout"),
    )
    assert ranked_concepts(["Rule out pneumonia"]) == (diagnosis_concept("pneumonia"),)


def test_a_diagnosis_that_no_list_knows_keeps_its_words():
    assert diagnosis_concept("3) Possible Wibble’s syndrome (rare)") == "wibble syndrome"
    assert diagnosis_concept("Инфаркт миокарда") == "инфаркт миокарда"
    assert diagnosis_concept(" … ") == ""


def test_a_class_before_the_colon_is_not_the_diagnosis():
    assert diagnosis_concept("Cardiac: myocardial infarction") == diagnosis_concept("MI")
    assert diagnosis_concept("Wibble syndrome: fever") == "wibble syndrome"
    assert diagnosis_concept("Wibble syndrome (fever)") == "wibble syndrome"


def test_both_of_two_that_are_offered_as_either_are_named():
    both = diagnosis_concepts("Pneumonia or pulmonary embolism")
    assert {diagnosis_concept("pneumonia"), diagnosis_concept("PE")} <= both
    assert diagnosis_concept("Pneumonia/pulmonary embolism") == diagnosis_concept("pneumonia")


def test_a_diagnosis_that_comes_again_keeps_its_first_rank():
    ranked = ranked_concepts(["Pulmonary embolism", "Pneumonia", "PE", "", "pneumonia"])
    assert ranked == (diagnosis_concept("PE"), diagnosis_concept("pneumonia"))


def test_what_is_lacking_is_not_named():
    assert diagnosis_concept("sepsis") not in diagnosis_concepts("Pneumonia without sepsis")
    assert diagnosis_concept("sepsis") in diagnosis_concepts("Pneumonia with sepsis")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("PE", "Pulmonary embolism"),
        ("MI", "Myocardial infarction"),
        ("heart attack", "acute MI"),
        ("STEMI", "Acute myocardial infarction"),
        ("COPD exacerbation", "Acute exacerbation of COPD"),
        ("Acute exacerbation of chronic obstructive pulmonary disease", "COPD"),
        ("r/o PE", "Pulmonary embolism"),
        ("R/O MI", "Myocardial infarction"),
        ("rule out PE", "PE"),
        ("?PE", "PE"),
        ("UTI", "urinary tract infection"),
        ("GERD", "gastroesophageal reflux disease"),
        ("GORD", "Gastro-oesophageal reflux disease"),
        ("DVT", "deep venous thrombosis"),
        ("Pneumonia, community-acquired", "Community-acquired pneumonia"),
        ("CAP", "Community acquired pneumonia"),
        ("DKA", "Diabetic ketoacidosis"),
        ("SAH", "Subarachnoid haemorrhage"),
        ("Subarachnoid hemorrhage", "Subarachnoid haemorrhage"),
        ("TIA", "Transient ischemic attack"),
        ("CVA", "Stroke"),
        ("Strep throat", "Streptococcal pharyngitis"),
        ("Gastroenteritis, viral", "Viral gastroenteritis"),
        ("Type 2 diabetes mellitus", "T2DM"),
        ("Diabetes mellitus type 2", "Type 2 diabetes"),
        ("Hypertension", "High blood pressure"),
        ("Kidney stones", "Nephrolithiasis"),
        ("Renal colic", "Kidney stone"),
        ("Shingles", "Herpes zoster"),
        ("Whooping cough", "Pertussis"),
        ("Mono", "Infectious mononucleosis"),
        ("Chickenpox", "Varicella"),
        ("BPPV", "Benign paroxysmal positional vertigo"),
        ("Hypothyroidism (Hashimoto's)", "Hypothyroidism"),
        ("Aortic dissection (type A)", "aortic dissection"),
        ("AAA", "Abdominal aortic aneurysm"),
        ("Ruptured AAA", "Ruptured abdominal aortic aneurysm"),
        ("IBS", "irritable bowel syndrome"),
        ("Panic disorder", "Panic attack"),
        ("Anxiety", "Generalized anxiety disorder"),
        ("Ectopic", "Ectopic pregnancy"),
        ("Tubal pregnancy", "Ectopic pregnancy"),
        ("Acute appendicitis", "appendicitis"),
        ("Likely migraine", "Migraine"),
        ("Migraine with aura", "Migraine"),
        ("ACS", "Acute coronary syndrome"),
        ("CHF", "Congestive heart failure"),
        ("Heart failure exacerbation", "Congestive heart failure"),
        ("Acute decompensated heart failure", "heart failure"),
        ("Flu", "Influenza"),
        ("Common cold", "Viral upper respiratory infection"),
        ("URI", "Upper respiratory tract infection"),
        ("Bronchitis", "acute bronchitis"),
        ("Iron-deficiency anaemia", "Iron deficiency anemia"),
        ("TB", "Tuberculosis"),
        ("Pulmonary TB", "Pulmonary tuberculosis"),
        ("PID", "Pelvic inflammatory disease"),
        ("PUD", "Peptic ulcer disease"),
        ("SLE", "Systemic lupus erythematosus"),
        ("Lupus", "SLE"),
        ("RA", "Rheumatoid arthritis"),
        ("MS", "Multiple sclerosis"),
        ("GCA", "Giant cell arteritis"),
        ("Temporal arteritis", "Giant cell arteritis"),
        ("Testicular torsion", "torsion of the testis"),
        ("Cancer of the colon", "Colon cancer"),
        ("Colorectal cancer", "CRC"),
        ("Lung cancer", "Bronchogenic carcinoma"),
    ],
)
def test_abbreviations_spellings_lay_words_and_doubt_name_one_disease(one, other):
    assert diagnosis_concept(one) == diagnosis_concept(other)
    assert same_diagnosis(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Gonococcal pharyngitis", "Pharyngitis"),
        ("Viral pharyngitis", "Streptococcal pharyngitis"),
        ("Type 1 diabetes", "Type 2 diabetes"),
        ("Viral meningitis", "Bacterial meningitis"),
        ("Stable angina", "Myocardial infarction"),
        ("Pulmonary embolism", "Pulmonary edema"),
        ("Ischemic stroke", "Hemorrhagic stroke"),
        ("Hypothyroidism", "Hyperthyroidism"),
        ("Acute kidney injury", "Chronic kidney disease"),
        ("Hypertension", "Pulmonary hypertension"),
        ("Anxiety", "Depression"),
        ("No evidence of PE", "Pulmonary embolism"),
        ("Pneumonia", "Pneumothorax"),
        ("Chronic bronchitis", "Acute bronchitis"),
        ("Acute pancreatitis", "Chronic pancreatitis"),
        ("Hepatitis A", "Hepatitis B"),
        ("HSV-1", "HSV-2"),
        ("Upper GI bleed", "Lower GI bleed"),
        ("Non-STEMI", "Noncardiac chest pain"),
        ("Non-cardiac chest pain", "Cardiac chest pain"),
        ("Pyelonephritis", "Cystitis"),
        ("Anaphylaxis", "Allergic rhinitis"),
        ("Congenital heart disease", "Coronary heart disease"),
        ("Perforated peptic ulcer", "Gastric ulcer"),
        ("Delirium tremens", "Alcoholic hallucinosis"),
    ],
)
def test_diseases_and_kinds_of_one_that_are_cared_for_apart_do_not_stand_for_each_other(one, other):
    assert not same_diagnosis(one, other)
    assert diagnosis_concept(one) != diagnosis_concept(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Meningitis", "Bacterial meningitis"),
        ("Gastrointestinal bleeding", "Upper GI bleed"),
        ("Peptic ulcer disease", "Perforated peptic ulcer"),
        ("Myocardial infarction", "NSTEMI"),
        ("Bacterial or viral meningitis", "Viral meningitis"),
    ],
)
def test_a_disease_stands_for_its_kinds(one, other):
    assert same_diagnosis(one, other)
    assert same_diagnosis(other, one)
