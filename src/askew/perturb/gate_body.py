"""Facts that need a body of one sex, and the ages between which that body has them.

The wordings are askew's own, from general medical knowledge; limits are wide on purpose and mark
what contradicts itself, not what is rare.
"""

from __future__ import annotations

from typing import Any

from askew.perturb.findings import Rule, rule

_FERTILE: dict[str, Any] = {
    "sex": "female",
    "youngest": 11,
    "oldest": 58,
    "usual_from": 13,
    "usual_to": 52,
}
_FEMALE: dict[str, Any] = {"sex": "female"}
_MALE: dict[str, Any] = {"sex": "male"}

BODY: tuple[Rule, ...] = (
    rule(
        "pregnancy",
        r"""
        \d{1,2}\s?w(?:ee)?k?s?\s?\d\s?d(?:ays?)?|\d{1,2}\s?\+\s?\d(?: weeks?)?|\d+ weeks along
        (?:good|normal|decreased|reduced|no|poor) (?:FM|(?:f(?:o)?etal|baby) movements?)
        G\d+\s?P\d+\w*,?\s?(?:at|@|\()\s?\d{1,2}(?:\s?\+\s?\d)?\s?(?:w(?:ee)?k?s?|/40)|\d{1,2}\+?\d?/40
        f(?:o)?etal(?! alcohol)|f(?:o)?etus(?:es)?|expecting (?:an?|her|their|twins)|due date
        terminations?(?: of pregnancy)?|baby bump|with child|morning sickness|surroga(?:te|cy)
        (?:c(?:a)?esarean|C-section|gave birth|delivery|delivered|birth)[^.;]{0,25}\
        (?:days|weeks|months) (?:ago|earlier|before)
        (?:days|weeks|months) after (?:an? |the |her )?(?:\w+ )?(?:delivery|birth|c(?:a)?esarean)\
        |post-?partum
        (?<!non-)(?<!non )pregnan(?:t|cy|cies)(?! (?:partner|wife|girlfriend|women))
        gravid(?:a|as)?|(?:primi|multi|nulli|grand multi)(?:gravid|par)(?:a|ous)
        \d+(?:st|nd|rd|th)?[- ]trimester|(?:first|second|third)[- ]trimester|trimester
        weeks?['’]? (?:of )?gestation(?! infant)|weeks pregnant|gestational age|ante(?:natal|partum)
        prenatal (?:visit|care|vitamins?|clinic|check\w*)
        in (?:active |preterm |early )?labou?r|contractions every|rupture of membranes
        her waters? broke|uterine contractions|(?:pre-?|post-?)?eclampsia|HELLP
        hyperemesis(?: gravidarum)?|gestational (?:diabetes|hypertension)
        placenta(?:l)?(?: previa| abruption)?|abruptio placentae|ectopic
        miscarr(?:y|ied|iage|iages)|stillb(?:irth|orn)|molar pregnancy
        (?:spontaneous|elective|therapeutic|medical) abortions?|an abortion|abortions
        (?:beta[- ]?|β-?|serum |urine )?hCG
        (?:trying|attempting|hop(?:es|ing)) to (?:conceive|get pregnant|become pregnant)
        (?:plan(?:s|ning)) to (?:conceive|get pregnant|become pregnant)
        conceiv(?:e|ing)|conception(?! of)|in ?vitro fertili[sz]ation|IVF|embryo transfer
        """,
        **_FERTILE,
    ),
    rule(
        "obstetric history",
        r"""
        G\s?\d{1,2}\s?,?\s?P\s?\d{1,4}(?:[- ]?\d){0,3}|G\d|para \d|P\d{4}
        """,
        exact_case=True,
        sex="female",
        youngest=11,
    ),
    rule(
        "obstetric history",
        r"""
        (?:gave|giving|has given|had given) birth
        (?:vaginal|forceps|operative vaginal|vacuum|breech) deliver(?:y|ies)
        (?:c(?:a)?esarean|C)[- ]sections?(?! (?:at|due to her mother))|c(?:a)?esareans?
        (?:her|their) (?:first|last|second|third|previous|prior) (?:delivery|birth|labou?r)
        post-?partum|puerper(?:al|ium)|lochia|episiotomy
        (?:delivered|delivery of) (?:a|her|twins?|an? healthy)
        obstetric(?:s|al)?(?: history)?|obstetrician
        """,
        sex="female",
        youngest=11,
    ),
    rule(
        "menstruation",
        r"""
        (?<!never had )(?:a|no|any|between|her|their|first|last|next|missed) periods?\
        (?! of| when| in which| during)
        periods? (?:stopped|ceased|ended|returned|started|began|are|is late|have been)
        (?<!not yet had )(?<!not had )(?<!never had )(?<!reached )menarche
        menstru\w+|menses|amenorrh(?:o)?ea|dysmenorrh(?:o)?ea|menorrhagia
        metrorrhagia|menometrorrhagia|oligomenorrh(?:o)?ea|intermenstrual|premenstrual
        (?:first|last|missed|heavy|irregular|regular|painful) (?:menstrual )?periods?(?! of time)
        (?:late|monthly) (?:menstrual )?periods?(?! of time)
        (?:her|their) (?:last |next )?periods?(?! of)|period pains?|ovulat\w+|tampons?
        sanitary pads?
        """,
        sex="female",
        youngest=11,
        oldest=58,
        usual_to=54,
    ),
    rule(
        "menstruation",
        r"""
        LMP
        """,
        exact_case=True,
        sex="female",
        youngest=11,
        oldest=58,
    ),
    rule(
        "menopause",
        r"""
        periods? (?:stopped|ceased|ended) (?:an?|\w+) years? (?:ago|before)
        (?:post-?|peri-?)?menopaus(?:e|al)|change of life
        """,
        sex="female",
        youngest=36,
        usual_from=42,
    ),
    rule(
        "hot flushes",
        r"""
        hot flash(?:es)?|hot flush(?:es)?
        """,
        odd_sex="female",
        youngest=11,
        usual_from=38,
    ),
    rule(
        "before menopause",
        r"""
        pre-?menopausal
        """,
        sex="female",
        youngest=11,
        oldest=58,
    ),
    rule(
        "hormone replacement",
        r"""
        hormone replacement(?: therapy)?|HRT
        """,
        odd_sex="female",
        youngest=18,
        usual_from=40,
    ),
    rule(
        "breastfeeding her child",
        r"""
        (?:is|was|been|currently|still|while|and|exclusively) (?:breast-?feeding|nursing|\
        lactating)(?! (?:home|school|student|staff|assistant|well|care|facility|notes?|station|\
        degree))
        breast-?feeds (?:her|the|their)|breast-?feeding (?:her|a|the|their)|lactation
        lactating|weaned her
        """,
        sex="female",
        youngest=12,
        oldest=58,
    ),
    rule(
        "contraception",
        r"""
        oral contraceptives?(?: pills?)?|contracepti(?:ve|ves|on)(?: pills?)?
        birth control(?: pills?)?|combined pill|the pill|mini-?pill|morning-after pill
        (?:ethinyl|levonorgestrel|norethi(?:sterone|ndrone)|desogestrel|drospirenone)\w*
        etonogestrel\w*
        depo-?provera|medroxyprogesterone|(?:contraceptive )?(?:implant in her arm)
        vaginal ring|intrauterine (?:contraceptive )?device
        (?:copper |hormonal )?coil in place
        """,
        sex="female",
        youngest=11,
        oldest=60,
        usual_from=13,
        usual_to=55,
    ),
    rule(
        "contraception",
        r"""
        OCPs?|COCP?|IUDs?|IUCD|Mirena
        """,
        exact_case=True,
        sex="female",
        youngest=11,
        oldest=60,
        usual_to=55,
    ),
    rule(
        "female organ of childbearing age",
        r"""
        polycystic ovar\w+(?: syndrome)?|endometriosis|ovarian torsion|tubal ligation
        tubes tied|fertility (?:treatment|clinic)
        """,
        sex="female",
        youngest=10,
    ),
    rule(
        "female organ",
        r"""
        PCOS|PID|TAH|BSO|CIN
        """,
        exact_case=True,
        sex="female",
        youngest=10,
    ),
    rule(
        "hysterectomy",
        r"""
        (?:womb|uterus|ovary|ovaries|tubes) (?:was |were )?(?:removed|taken out)
        removal of (?:her |the |an? |both )?(?:womb|uterus|ovar\w+)
        hysterectom(?:y|ies)|oophorectom\w+|salping\w+|myomectomy|endometrial ablation
        colporrhaphy|pessary
        """,
        sex="female",
        youngest=14,
        usual_from=20,
    ),
    rule(
        "gynaecological check",
        r"""
        pap(?:anicolaou)?[- ](?:smears?|tests?)|cervical (?:smear|screening|cytology)
        smear test|colposcopy|LEEP|gyn(?:a)?ecolog\w+|pelvic inflammatory disease
        """,
        sex="female",
        youngest=12,
        usual_from=15,
    ),
    rule(
        "female organ",
        r"""
        uter(?:us|ine|i)|wombs?|ovar(?:y|ies|ian)|fallopian|endometri\w+|adnex(?:a|al)
        vagin(?:a|al|ally|itis|osis|ismus)|vulv(?:a|al|ar|itis|ovaginal)
        labia(?:l)?(?! fold)|clitor\w+|hymen|Bartholin\w*|cervicitis
        cervical (?:os|motion|dysplasia|polyp|intraepithelial|ectropion|canal)
        (?:the|her) cervix|cervix|leiomyomas?|(?:uterine )?fibroids?|introitus|perimenstrual
        mittelschmerz|trichomonas vaginalis
        """,
        **_FEMALE,
    ),
    rule(
        "cervical cancer",
        r"""
        cervical (?:cancer|carcinoma)|cancer of the cervix
        """,
        sex="female",
        youngest=12,
        usual_from=20,
    ),
    rule(
        "gynaecological cancer",
        r"""
        (?:ovarian|endometrial|uterine|vulvar) (?:cancer|carcinoma)
        cancer of the (?:womb|ovary|uterus)
        """,
        sex="female",
        youngest=5,
        usual_from=18,
    ),
    rule(
        "female chromosomes",
        r"""
        Turner(?:['’]s)? syndrome|45,? ?X0?|46,? ?XX|Rett syndrome
        """,
        **_FEMALE,
    ),
    rule(
        "hirsutism",
        r"""
        hirsut(?:ism|e)|virili[sz]ation
        """,
        sex="female",
        youngest=4,
    ),
    rule(
        "prostate",
        r"""
        prostat(?:e|ic|itis|ism|ectomy|omegaly)\w*|TURP|benign prostatic\w*|PSA|BPH
        """,
        sex="male",
        youngest=12,
        usual_from=20,
    ),
    rule(
        "prostate of later life",
        r"""
        benign prostatic (?:hyperplasia|hypertrophy|enlargement)|BPH|enlarged prostate
        prostate (?:cancer|carcinoma)|cancer of the prostate|prostatectomy|TURP
        androgen deprivation|PSA
        """,
        sex="male",
        youngest=18,
        usual_from=40,
    ),
    rule(
        "male organ",
        r"""
        test(?:is|es|icles?|icular)|scrot(?:um|al)|peni(?:s|le)|foreskin|glans
        (?:un)?circumci(?:s|z)(?:ed|ion)|epididym\w+|hydroceles?|varicoceles?|spermatic
        sperm(?:atocele)?|semen|seminal|cryptorchid\w*|undescended testi\w+|phimosis
        paraphimosis|hypospadias|orchi(?:tis|ectomy|dectomy|opexy)|balanitis|seminoma
        gyn(?:a)?ecomastia|Peyronie\w*
        """,
        **_MALE,
    ),
    rule(
        "sexual function of a man",
        r"""
        erecti(?:le|ons?)(?: dysfunction)?|ejaculat\w+|impoten(?:t|ce)|priapism
        nocturnal emissions?|hematospermia|haematospermia|vasectomy
        """,
        sex="male",
        youngest=12,
        usual_from=16,
    ),
    rule(
        "erectile drug",
        r"""
        sildenafil|tadalafil|vardenafil|Viagra|Cialis
        """,
        odd_sex="male",
        youngest=0,
        usual_from=16,
    ),
    rule(
        "prostate drug",
        r"""
        tamsulosin|finasteride|dutasteride|alfuzosin|silodosin|terazosin
        """,
        odd_sex="male",
        youngest=12,
        usual_from=20,
    ),
    rule(
        "male chromosomes",
        r"""
        Klinefelter(?:['’]s)?(?: syndrome)?|47,? ?XXY|46,? ?XY
        """,
        **_MALE,
    ),
    rule(
        "X-linked disease",
        r"""
        Duchenne|Becker muscular|h(?:a)?emophilia(?: [AB])?|Hunter syndrome|Bruton\w*
        Lesch-Nyhan|Wiskott-Aldrich
        """,
        odd_sex="male",
    ),
    rule(
        "sex-specific society",
        r"""
        fraternity|altar boy|boy scouts?|Catholic priest|all-boys school|beard|mustache
        moustache
        """,
        odd_sex="male",
    ),
    rule(
        "sex-specific society",
        r"""
        sorority|girl scouts?|all-girls school|convent|brassiere|bra|high heels|lipstick
        """,
        odd_sex="female",
    ),
    rule(
        "men's drug or test",
        r"""
        mammogra(?:m|ms|phy)
        """,
        odd_sex="female",
        youngest=15,
        usual_from=30,
    ),
    rule(
        "breast cancer and its drugs",
        r"""
        tamoxifen|anastrozole|letrozole|exemestane|mastectomy|lumpectomy
        """,
        odd_sex="female",
        youngest=12,
        usual_from=20,
    ),
    rule(
        "osteoporosis drug for women",
        r"""
        raloxifene
        """,
        odd_sex="female",
        youngest=20,
        usual_from=45,
    ),
)
