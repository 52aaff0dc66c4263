"""What is found in whole short texts, kind by kind: whose age, whose disease, since when, where.

Facts are written short, in the order in which they are found. "47y" is an age in years, "80ys" a
decade; "+s:" is a symptom that is there, "-" one that is not, "<" past, ">" planned, "?" possible;
"c:" a condition, "d:" a drug, "a:" an allergy, "f:" family history with its relative in brackets.
"""

from __future__ import annotations

import pytest

from askew.graphs import extract
from askew.vignettes import Relation, Status, Triplet

MARKS = {
    Status.PRESENT: "+",
    Status.ABSENT: "-",
    Status.PAST: "<",
    Status.POSSIBLE: "?",
    Status.PLANNED: ">",
}
NAMES = {
    Relation.LIVES_IN: "home",
    Relation.BORN_IN: "from",
    Relation.TRAVELED_TO: "to",
    Relation.HAS_SYMPTOM: "s",
    Relation.HAS_CONDITION: "c",
    Relation.FAMILY_HISTORY: "f",
    Relation.TAKES_MEDICATION: "d",
    Relation.ALLERGIC_TO: "a",
}


def short(fact: Triplet) -> str:
    if fact.relation is Relation.HAS_AGE:
        decade = "s" if fact.qualifier == "decade" else ""
        return f"{fact.value}{str(fact.unit)[0]}{decade}"
    if fact.relation is Relation.HAS_GENDER:
        return str(fact.value)
    if fact.relation is Relation.HAS_BIRTH_SEX:
        return f"born {fact.value}"
    relative = f"({fact.relative})" if fact.relative else ""
    return f"{MARKS[fact.status]}{NAMES[fact.relation]}:{fact.value}{relative}"


TEXTS = [
    (
        "A 5-month-old boy, born at 34 weeks, is brought by his 27-year-old mother "
        "with fast breathing. He has not had any fever. His father has hay fever and "
        "his mother has asthma.",
        "5m, male, +s:fast breathing, -s:fever, +f:hay fever(father), +f:asthma(mother)",
    ),
    (
        "55F with hx of breast CA s/p mastectomy 2012, c/o HA x 3d, no N/V, no vision "
        "changes. Stopped tamoxifen last year. Meds: metformin, lisinopril.",
        "55y, female, <c:breast cancer, +s:headache, -s:nausea, -s:vomiting, -s:vision "
        "changes, <d:tamoxifen, +d:metformin, +d:lisinopril",
    ),
    (
        "A woman in her early thirties complains of fatigue. She has been living in "
        "Quito since 2010. She is taking ferrous sulfate; she never took the "
        "contraceptive pill.",
        "30ys, female, +s:fatigue, +home:Quito, +d:ferrous sulfate, -d:contraceptive pill",
    ),
    (
        "Chest pain, breathlessness and ankle swelling were all denied. The "
        "72-year-old man came for a cough. Tuberculosis was considered but excluded.",
        "72y, male, -s:chest pain, -s:breathlessness, -s:ankle swelling, +s:cough, -c:tuberculosis",
    ),
    (
        "A 48-year-old man does not have a fever but has a sore knee and swollen "
        "ankle. He also complains of no appetite.",
        "48y, male, -s:fever, +s:sore knee, +s:swollen ankle, +s:no appetite",
    ),
    (
        "A 39-year-old woman says there has been no worsening of her migraine and no "
        "reduction in her joint swelling. She is not without pain at night.",
        "39y, female, +c:migraine, +s:joint swelling, +s:pain",
    ),
    (
        "A 30-year-old man never denies feeling anxious. He admits to palpitations. He "
        "denied any loss of consciousness.",
        "30y, male, +s:anxiety, +s:palpitations, -s:loss of consciousness",
    ),
    (
        "A 65-year-old man attends clinic. Two of his brothers have haemochromatosis "
        "and his maternal grandmother had a stroke at 80. There is no history of heart "
        "disease in the family. His stepfather has diabetes.",
        "65y, male, +f:haemochromatosis(brother), +f:stroke(grandmother), -f:heart disease(any)",
    ),
    (
        "A 50-year-old woman, whose sister-in-law has celiac disease, reports "
        "bloating. Her own sister was diagnosed with Crohn's disease at 22. She has "
        "never had hepatitis.",
        "50y, female, +s:bloating, +f:Crohn's disease(sister), -c:hepatitis",
    ),
    (
        "A 68-year-old man with heart failure has been off spironolactone since March "
        "owing to hyperkalemia. Sacubitril-valsartan is going to be started next week. "
        "He remains on carvedilol.",
        "68y, male, +c:heart failure, <d:spironolactone, +c:hyperkalemia, "
        ">d:sacubitril-valsartan, +d:carvedilol",
    ),
    (
        "A 47-year-old man from Wales was treated at Mount Sinai Hospital for West "
        "Nile virus in 2018. Dr. Florence Austin diagnosed him with Crohn disease. He "
        "eats a Mediterranean diet and drinks Turkish coffee.",
        "47y, male, +home:Wales, <c:West Nile virus, +c:Crohn disease",
    ),
    (
        "Originally from Somalia, this 44-year-old refugee now resides in Minneapolis. "
        "She went to Kenya and Ethiopia last winter. She did not visit Somalia. She "
        "has had night sweats.",
        "44y, female, +from:Somalia, +home:Minneapolis, +to:Kenya, +to:Ethiopia, "
        "-to:Somalia, +s:night sweats",
    ),
    (
        "A 35-year-old engineer is about to leave for Vietnam and requests vaccines. "
        "His wife has just returned from India with dengue. He is well. He lives in "
        "Turin and takes no medicines.",
        "35y, male, >to:Vietnam, +home:Turin",
    ),
    (
        "A 29-year-old transgender male (assigned female at birth) on testosterone "
        "cypionate reports lower abdominal pain. Ectopic pregnancy has to be ruled "
        "out. He has a cervix and uterus.",
        "29y, transgender man, born female, +d:testosterone, +s:lower abdominal pain, "
        "?c:ectopic pregnancy",
    ),
    (
        "Sam, a 19-year-old genderqueer student, presents with panic attacks. They "
        "deny any suicidal thoughts. They are on fluoxetine for anxiety.",
        "19y, non-binary, +s:panic attacks, -s:suicidal thoughts, +d:fluoxetine, +c:anxiety",
    ),
    (
        "The patient, who turned 64 in June, is a lorry driver. He has had back pain "
        "since he lifted a crate. There is no known history of cancer.",
        "64y, male, +s:back pain, -c:cancer",
    ),
    (
        "The history is given by her daughter, a 52-year-old teacher: the 81-year-old "
        "patient wanders at night and repeats questions. The daughter has not noticed "
        "any falls. The patient has hypertension.",
        "81y, female, -s:falls, +c:hypertension",
    ),
    (
        "A 37-year-old G3P2 woman at 12 weeks of gestation has severe nausea and "
        "vomiting. She had gestational diabetes in her second pregnancy. She does not "
        "have vaginal bleeding. She takes prenatal vitamins.",
        "37y, female, +c:pregnancy, +s:nausea, +s:vomiting, <c:gestational diabetes, "
        "-s:vaginal bleeding, +d:prenatal vitamins",
    ),
    (
        "A 58-year-old man has erectile dysfunction and low libido. His testicular "
        "cancer was treated with orchiectomy in 1999. He takes sildenafil. He has no "
        "urinary symptoms.",
        "58y, male, +c:erectile dysfunction, +s:low libido, <c:testicular cancer, "
        "+d:sildenafil, -s:urinary symptoms",
    ),
    (
        "A 52-year-old woman with weight loss may have pancreatic cancer. Hepatitis "
        "has been excluded, but celiac disease has not been ruled out. Her father "
        "probably had Huntington disease.",
        "52y, female, +s:weight loss, ?c:pancreatic cancer, -c:hepatitis, ?c:celiac "
        "disease, +f:Huntington disease(father)",
    ),
    (
        "An 11-year-old girl with a broken wrist was discharged. Her parents should "
        "call if she gets tingling, pale fingers or fever. Ibuprofen may upset the "
        "stomach. She uses a salbutamol inhaler.",
        "11y, female, +c:broken wrist, +d:salbutamol inhaler",
    ),
    (
        "My husband is 59 and has been coughing up blood. He doesn't have any chest "
        "pain. He's taking a statin and something for sleep. His brother had lung "
        "cancer. I'm 55 and I've got a cough as well. We moved to Denver last year.",
        "59y, male, +s:coughing up blood, -s:chest pain, +d:statin, +f:lung "
        "cancer(brother), +home:Denver",
    ),
    (
        "I'm 31, male, and I've had diarrhoea for a week since coming back from "
        "Mexico. No blood in it. I take loperamide. My flatmate has the same thing.",
        "31y, male, +s:diarrhoea, +to:Mexico, +d:loperamide",
    ),
    (
        "A 24-year-old woman sharing an apartment with three students in Boston "
        "reports that one of them has mumps. She has only a slight sore throat. Her "
        "boyfriend is on ciprofloxacin.",
        "24y, female, +home:Boston, +s:sore throat",
    ),
    (
        "An elderly widower of 83 with Parkinson's disease was found on the floor. He "
        "has been a resident of Oakwood Care Home in Exeter for two years. He denies "
        "hitting his head.",
        "83y, male, +c:Parkinson's disease, +home:Oakwood Care Home in Exeter",
    ),
    (
        "Her GP referred this 28-year-old Polish woman, who works as a nurse in "
        "Dublin, because of heavy bleeding between periods. She has no pain with "
        "intercourse. No fever was reported.",
        "28y, female, +from:Poland, +s:heavy bleeding between periods, -s:pain with "
        "intercourse, -s:fever",
    ),
    (
        "42F, PMH: asthma, PCOS. Presents w/ RUQ pain after meals. (-) jaundice, (-) "
        "dark urine. Takes OCP and montelukast PRN. NKDA. FHx: mother - gallstones; "
        "father - DM2.",
        "42y, female, +c:asthma, +c:polycystic ovary syndrome, +s:RUQ pain, "
        "-s:jaundice, -s:dark urine, +d:oral contraceptives, +d:montelukast, "
        "+f:gallstones(mother), +f:diabetes mellitus type 2(father)",
    ),
    (
        "A 2-year-old presents with ear tugging and irritability. Dad says she has had "
        "a cold. There is no discharge from the ear. Her vaccinations are up to date.",
        "2y, female, +s:ear tugging, +s:irritability, +c:cold, -s:discharge from the ear",
    ),
    (
        "A previously healthy 20-year-old male college athlete collapsed during "
        "practice. He had no warning symptoms. A cousin died suddenly at 25 from "
        "hypertrophic cardiomyopathy.",
        "20y, male, +s:syncope, +f:hypertrophic cardiomyopathy(cousin)",
    ),
    (
        "A 46-year-old man with alcoholic cirrhosis presents with hematemesis. He has "
        "not taken his propranolol for a month. He refuses endoscopy. His abdomen is "
        "distended on examination.",
        "46y, male, +c:alcoholic cirrhosis, +s:hematemesis, -d:propranolol",
    ),
    (
        "She is 17 and has missed two periods. She thinks she might be pregnant. She "
        "has been on isotretinoin since January. Her mother had gestational diabetes.",
        "17y, female, ?c:pregnancy, +d:isotretinoin, +f:gestational diabetes(mother)",
    ),
    (
        "A 60-year-old man recently returned from a safari in Botswana, having also "
        "stopped over in Johannesburg. He has fever, rigors and an eschar on his leg. "
        "He did not take malaria prophylaxis.",
        "60y, male, +to:Botswana, +to:Johannesburg, +s:fever, +s:rigors, +s:eschar on "
        "his leg, -d:malaria prophylaxis",
    ),
    (
        "A 53-year-old Black woman from Atlanta has hair loss and joint pains. Lupus "
        "is likely. She was started on hydroxychloroquine, and methotrexate is planned.",
        "53y, female, +home:Atlanta, +s:hair loss, +s:joint pains, ?c:lupus, "
        "+d:hydroxychloroquine, >d:methotrexate",
    ),
    (
        "A 69-year-old man quit smoking and stopped his aspirin in May. He continues "
        "on rosuvastatin. Clopidogrel may be added later. No bleeding has occurred.",
        "69y, male, <d:aspirin, +d:rosuvastatin, >d:clopidogrel, -s:bleeding",
    ),
    (
        "A 14-year-old boy has acne. He is not depressed. Isotretinoin is being "
        "considered. His twin brother takes doxycycline.",
        "14y, male, +c:acne, -c:depression, >d:isotretinoin",
    ),
    (
        "Neither fever nor weight loss is reported by the 57-year-old man, who has had "
        "constipation for months. Colon cancer cannot be excluded. His uncle had colon "
        "cancer in his fifties.",
        "57y, male, -s:fever, -s:weight loss, +s:constipation, ?c:colon cancer, "
        "+f:colon cancer(uncle)",
    ),
    (
        "A 40-year-old man born in Haiti and raised in Montreal has recently moved to "
        "Calgary. He plans to visit Cuba in December. He has never been to Haiti as an "
        "adult.",
        "40y, male, +from:Haiti, +home:Calgary, >to:Cuba, -to:Haiti",
    ),
    (
        "27 y.o. transgender woman (MTF) on spironolactone and estradiol patches, here "
        "for STI testing. Endorses dysuria, denies discharge. Her partner was "
        "diagnosed with gonorrhea.",
        "27y, transgender woman, +d:spironolactone, +d:estradiol, +s:dysuria, -s:discharge",
    ),
    (
        "The patient's daughter, 45, states that her 70-year-old mother has been "
        "hallucinating and sleeping poorly. There is no history of psychiatric "
        "illness. She takes oxybutynin for urinary incontinence.",
        "70y, female, +s:hallucinations, +s:insomnia, -c:psychiatric illness, "
        "+d:oxybutynin, +s:urinary incontinence",
    ),
    (
        "A 35-year-old man who had rheumatic fever as a child complains of "
        "breathlessness. He was hospitalised with pneumonia in 2019. He has since quit "
        "his job as a miner. His ankles are swollen.",
        "35y, male, <c:rheumatic fever, +s:breathlessness, <c:pneumonia, +s:swollen ankles",
    ),
    (
        "A 51-year-old woman has hot flashes but no night sweats, no palpitations and "
        "only mild vaginal dryness. Hormone therapy was offered but she declined. She "
        "takes St John's wort and black cohosh.",
        "51y, female, +s:hot flashes, -s:night sweats, -s:palpitations, +s:vaginal "
        "dryness, -d:hormone therapy, +d:St John's wort, +d:black cohosh",
    ),
    (
        "I'm a 68-year-old retired teacher living in Bath. I get breathless going "
        "upstairs and my ankles swell. I don't get chest pain. I take ramipril and "
        "used to take amlodipine. My late husband had emphysema, my mum had angina.",
        "68y, +home:Bath, +s:breathless, +s:ankles swelling, -s:chest pain, "
        "+d:ramipril, <d:amlodipine, +f:angina(mother)",
    ),
    (
        "Age 73, male, presenting with hematuria. No flank pain.",
        "73y, male, +s:hematuria, -s:flank pain",
    ),
    (
        "Patient: 45 y.o. F. CC: dizziness.",
        "45y, female, +s:dizziness",
    ),
    (
        "The 6-week-old twin boy of a 24-year-old mother has jaundice.",
        "6w, male, +s:jaundice",
    ),
    (
        "A two-and-a-half-year-old girl swallowed a coin. She is drooling.",
        "30m, female, +s:drooling",
    ),
    (
        "A girl, 18 months old, was diagnosed with sickle cell disease at 3 months.",
        "18m, female, +c:sickle cell disease",
    ),
    (
        "A woman aged 91 lives alone in Cork. She fell at home.",
        "91y, female, +home:Cork, +s:fall",
    ),
    (
        "A 10-pound 3-week-old male infant has projectile vomiting.",
        "3w, male, +s:projectile vomiting",
    ),
    (
        "A 30-year smoker, this 61-year-old plumber has a hoarse voice; he also has "
        "had weight loss.",
        "61y, male, +s:hoarse voice, +s:weight loss",
    ),
    (
        "Seventy-year-old female with COPD, on 2 L home oxygen.",
        "70y, female, +c:COPD, +d:home oxygen",
    ),
    (
        "A mother brought in her daughter, who is 5, because of ear pain. The girl has no fever.",
        "5y, female, +s:ear pain, -s:fever",
    ),
    (
        "I'm writing about my grandmother. She is 92, lives in Galway, and has trouble swallowing.",
        "92y, female, +home:Galway, +s:trouble swallowing",
    ),
    (
        "My son (14) gets migraines. I had them too at his age.",
        "14y, male, +c:migraines",
    ),
    (
        "A fifty-something man complains of knee pain.",
        "50ys, male, +s:knee pain",
    ),
    (
        "The patient is a man of 37 years who presents with fever. His son is 4 and healthy.",
        "37y, male, +s:fever",
    ),
    (
        "This 3-day-old neonate was born to a 41-year-old. She is not feeding.",
        "3d, female, +s:poor feeding",
    ),
    (
        "A 44-year-old who identifies as non-binary and was registered male at birth "
        "has chest pain.",
        "44y, non-binary, born male, +s:chest pain",
    ),
    (
        "A male-to-female transgender patient aged 50 has breast pain.",
        "50y, transgender woman, +s:breast pain",
    ),
    (
        "A 67-year-old man comes with his 65-year-old wife. He has been coughing for 2 "
        "weeks and is a 40 pack-year smoker.",
        "67y, male, +s:cough",
    ),
    (
        "A 28-year-old woman, gravida 1, para 0, at 39 weeks, is in labor. Her "
        "30-year-old sister has epilepsy.",
        "28y, female, +f:epilepsy(sister)",
    ),
    (
        "Her daughter, who is a nurse, called. The patient is 80 and has had dark "
        "stools since taking ibuprofen.",
        "80y, female, +s:dark stools, +d:ibuprofen",
    ),
    (
        "Ms. Lindqvist is a 58-year-old accountant with tinnitus. Her husband is 70.",
        "58y, female, +s:tinnitus",
    ),
    (
        "A 15 month old toddler with a rash is seen with her father.",
        "15m, female, +s:rash",
    ),
    (
        "A 12 yr old F with asthma and her 9 yr old brother came in. She is wheezing.",
        "12y, female, +c:asthma, +s:wheezing",
    ),
    (
        "A previously well 8-year-old presents after a seizure. His parents, both 35, are worried.",
        "8y, male, +s:seizure",
    ),
    (
        "A seventy-three-year-old retired miner, who started work at 16, has had a "
        "cough since he was 60.",
        "73y, male, +s:cough",
    ),
    (
        "A 62-year-old transgender woman with a history of prostate cancer is seen. "
        "She was born male.",
        "62y, transgender woman, born male, <c:prostate cancer",
    ),
    (
        "A septuagenarian presents with syncope; his daughter found him.",
        "70ys, male, +s:syncope",
    ),
    (
        "A 67-year-old man comes with his 65-year-old wife. He has been coughing for 2 weeks.",
        "67y, male, +s:cough",
    ),
    (
        "The history is given by her daughter, a 52-year-old teacher: the 81-year-old "
        "patient wanders at night.",
        "81y, female",
    ),
    (
        "A 24-year-old woman sharing an apartment with three students in Boston has a sore throat.",
        "24y, female, +home:Boston, +s:sore throat",
    ),
]


@pytest.mark.parametrize(("text", "facts"), TEXTS)
def test_facts_of_a_text(text, facts):
    assert ", ".join(short(fact) for fact in extract(text).triplets) == facts
