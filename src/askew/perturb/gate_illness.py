"""Facts of infancy and illness that bound a patient's age."""

from __future__ import annotations

from typing import Any

from askew.perturb.findings import Rule, rule

_INFANT_ONLY: dict[str, Any] = {"oldest": 6, "usual_to": 3}

ILLNESS: tuple[Rule, ...] = (
    rule(
        "well-child care",
        r"""
        well[- ](?:child|baby)|(?:pediatric|paediatric)(?:ian|s)?
        (?:developmental|motor|language|speech|gross motor) milestones?
        growth (?:chart|percentile|curve)|(?:\d+(?:st|nd|rd|th)) percentile|child protective
        foster (?:care|parents?|home|child)|adoptive parents
        immunizations? (?:are|is|were) up[- ]to[- ]date
        up[- ]to[- ]date on (?:his|her|their|all) (?:vaccin|immuni)\w+|child seat|car seat
        babysitter|nanny
        """,
        oldest=21,
        usual_to=17,
    ),
    rule(
        "infancy",
        r"""
        (?:is|was|been|be|exclusively|being) (?:breast|bottle|formula)-?fed|formula[- ]?fed
        breast-?milk(?: fed)?|infant formula|bottle[- ]feeding|breast-?feeding well
        feeding well|feeds? well|(?:wet )?(?:diapers?|nappies|nappy)|teething
        colic(?:ky)? (?:baby|infant|crying)|fontanel(?:le)?s?|umbilical (?:stump|cord)
        not yet (?:crawl\w*|roll over|sit unsupported|babbl\w+|say (?:mama|dada))
        starting to (?:crawl\w*|roll over|sit unsupported|babbl\w+|say (?:mama|dada))
        started to (?:crawl\w*|roll over|sit unsupported|babbl\w+|say (?:mama|dada))
        learning to (?:crawl\w*|roll over|sit unsupported|babbl\w+|say (?:mama|dada))
        (?:began to|able to) (?:crawl\w*|roll over|sit unsupported|babbl\w+|say (?:mama|dada))
        (?:cannot|unable to) (?:crawl\w*|roll over|sit unsupported|babbl\w+|say (?:mama|dada))
        crawling|newborn (?:screen\w*|nursery)|neonatal|neonate|nursery|pacifier|crib
        cradle cap|meconium|wean(?:ed|ing) (?:onto|to solid|from the breast)|solid foods
        tummy time|spit(?:s|ting)? up|stroller|days? (?:of life|after birth|post-?natal)
        Apgar\w*|moro reflex|cephal(?:o)?h(?:a)?ematoma
        regurgitat\w+ (?:all|after) (?:of )?(?:his|her) feeds
        """,
        **_INFANT_ONLY,
    ),
    rule(
        "poor feeding",
        r"""
        poor feeding|feeding poorly
        (?:difficulty|trouble|stopped|refuses|refusing) (?:with )?(?:feeding|feeds|to feed)
        poor suck|fussy|fussiness|inconsolable|his feeding habits|her feeding habits
        failure to thrive
        """,
        usual_to=5,
    ),
    rule(
        "risk clinic of adults",
        r"""
        (?:cancer )?genetics? (?:clinic|service|counsel(?:l)?or)|family history clinic|breast clinic
        risk assessment
        (?:genetic|preconception|fertility|smoking cessation|marriage) counsel(?:l)?ing
        screening (?:colonoscopy|mammogra\w+|for (?:colon|lung|breast|prostate|cervical))
        (?:colon|lung|breast|colorectal|bowel|prostate) cancer screening|memory clinic
        (?:menopause|occupational health|fertility|infertility) clinic|pre-?employment
        executive (?:physical|check-?up)|annual (?:physical|wellness)|life insurance
        infertil\w+
        """,
        youngest=14,
        usual_from=18,
    ),
    rule(
        "old age",
        r"""
        Alzheimer\w*|dementia|senile|age-related macular|macular degeneration|presbycusis
        presbyopia|giant cell arteritis|temporal arteritis|polymyalgia rheumatica
        frail(?:ty)?|geriatric|(?:hip|knee) (?:replacement|arthroplasty)|multiple myeloma
        senility|walking frame|zimmer|uses a walker|walker
        """,
        youngest=18,
        usual_from=45,
    ),
    rule(
        "later adult life",
        r"""
        osteopor(?:osis|otic)|osteoarthritis|alendron\w+|zoledronic|risedronate|Parkinson\w*
        COPD|chronic obstructive pulmonary|emphysema|aortic aneurysm
        peripheral (?:arterial|artery|vascular) disease|cataracts?
        (?:colon|colorectal|lung|pancreatic|rectal|bladder|esophageal) (?:cancer|carcinoma)
        diverticul\w+|levodopa|donepezil|memantine|has become forgetful|forgetful
        memory loss|carotid (?:stenosis|endarterectomy)|angina
        """,
        youngest=11,
        usual_from=36,
    ),
    rule(
        "disease of adults",
        r"""
        (?:congestive |chronic )?heart failure|CHF
        coronary (?:artery|heart) disease|coronary artery bypass|CABG|CAD
        (?:type (?:2|II)|adult-onset) diabetes(?: mellitus)?|T2DM|DM ?2|DM ?II|NSTEMI|STEMI
        myocardial infarction|heart attack|(?:ator|rosu|simva|prava|lova)statin|statins?
        metformin|gliclazide|glipizide|glyburide|empagliflozin|semaglutide
        atrial fibrillation|a-?fib|AFib|apixaban|rivaroxaban|dabigatran|clopidogrel
        CKD ?[1-5]|chronic kidney disease|chronic bronchitis|pacemaker|cirrhosis|gout
        allopurinol|losartan|lisinopril|amlodipine|ramipril|valsartan|hydrochlorothiazide
        carpal tunnel|sciatica|hypertension for|erectile|benign prostatic|hemorrhoids
        sertraline|fluoxetine|lithium|venlafaxine|zolpidem|bariatric|gastric bypass
        liposuction|botox
        """,
        usual_from=11,
    ),
    rule(
        "childhood illness",
        r"""
        croup|bronchiolitis|Kawasaki\w*|febrile (?:seizures?|convulsions?)|intussusception
        pyloric stenosis|hand,? foot,? and mouth|roseola|Wilms\w*|retinoblastoma
        neuroblastoma|nocturnal enuresis|bed-?wetting|slapped cheek|fifth disease|Perthes
        Legg-Calv\w+|slipped capital|growing pains|infantile|diaper rash|nappy rash
        RSV bronchiolitis|temper tantrums?|imaginary friend|head lice
        """,
        usual_to=18,
    ),
    rule(
        "puberty",
        r"""
        puberty|pubertal|Tanner stage|growth spurt|first period
        """,
        youngest=5,
        usual_to=20,
    ),
)
