"""The words that tell a patient's gender or stage of life, and what each becomes."""

from __future__ import annotations

from typing import Literal, NamedTuple


def listed(words: str) -> tuple[str, ...]:
    """Words with blanks between them, as a tuple: a long list stays readable."""
    return tuple(words.split())


Gender = Literal["female", "male", "neutral"]
Stage = Literal["child", "teen", "adult"]


class Noun(NamedTuple):
    """A noun for a person: the row of `ROWS` it stands in, and the gender it tells."""

    row: str
    gender: Gender


# row -> (male, female, neutral). A word is read by the first row that holds it.
ROWS: dict[str, tuple[str, str, str]] = {
    "adult": ("man", "woman", "person"),
    "child": ("boy", "girl", "child"),
    "polite": ("gentleman", "lady", "person"),
    "sex": ("male", "female", "person"),
    "familiar": ("guy", "gal", "person"),
    "parent": ("father", "mother", "parent"),
    "dad": ("dad", "mom", "parent"),
    "daddy": ("daddy", "mommy", "parent"),
    "dad_british": ("dad", "mum", "parent"),
    "offspring": ("son", "daughter", "child"),
    "sibling": ("brother", "sister", "sibling"),
    "spouse": ("husband", "wife", "spouse"),
    "ex_spouse": ("ex-husband", "ex-wife", "ex-spouse"),
    "partner": ("boyfriend", "girlfriend", "partner"),
    "engaged": ("fiancé", "fiancée", "partner"),
    "engaged_plain": ("fiance", "fiancee", "partner"),
    "grandparent": ("grandfather", "grandmother", "grandparent"),
    "grandpa": ("grandpa", "grandma", "grandparent"),
    "granny": ("granddad", "granny", "grandparent"),
    "gran": ("grandad", "gran", "grandparent"),
    "nan": ("grandad", "nan", "grandparent"),
    "nana": ("grandad", "nana", "grandparent"),
    "papa": ("papa", "mama", "parent"),
    "grandchild": ("grandson", "granddaughter", "grandchild"),
    "stepchild": ("stepson", "stepdaughter", "stepchild"),
    "stepparent": ("stepfather", "stepmother", "stepparent"),
    "parent_sibling": ("uncle", "aunt", "relative"),
    "sibling_child": ("nephew", "niece", "relative"),
    "widowed": ("widower", "widow", "widowed person"),
    "housework": ("househusband", "housewife", "homemaker"),
    "business": ("businessman", "businesswoman", "businessperson"),
    "police": ("policeman", "policewoman", "police officer"),
    "sales": ("salesman", "saleswoman", "salesperson"),
    "service": ("serviceman", "servicewoman", "service member"),
    "chair": ("chairman", "chairwoman", "chairperson"),
    "crafts": ("craftsman", "craftswoman", "craftsperson"),
    "sport": ("sportsman", "sportswoman", "athlete"),
    "waiting": ("waiter", "waitress", "server"),
    "stage": ("actor", "actress", "performer"),
    "school": ("schoolboy", "schoolgirl", "schoolchild"),
    "host": ("host", "hostess", "host"),
    "flight": ("steward", "stewardess", "flight attendant"),
    "order": ("monk", "nun", "member of a religious order"),
}
NOUNS: dict[str, Noun] = {}
for _row, (_male, _female, _neutral) in ROWS.items():
    NOUNS.setdefault(_male, Noun(_row, "male"))
    NOUNS.setdefault(_female, Noun(_row, "female"))
    # "person", "child" and the like tell no gender; which of them are nouns of a stage of life is
    # said by `AGED`.

PARTNER_ROWS = frozenset({"spouse", "ex_spouse", "partner", "engaged", "engaged_plain"})
RELATION_ROWS = PARTNER_ROWS | {
    "parent",
    "dad",
    "daddy",
    "dad_british",
    "offspring",
    "sibling",
    "grandparent",
    "grandpa",
    "granny",
    "gran",
    "nan",
    "nana",
    "papa",
    "grandchild",
    "stepchild",
    "stepparent",
    "parent_sibling",
    "sibling_child",
}
# Relatives and companions whose noun tells no gender.
OTHER_PEOPLE = frozenset(
    listed(
        """
        parent parents sibling siblings cousin child children roommate room-mate
        flatmate friend colleague coworker co-worker neighbor neighbour partner spouse
        doctor physician nurse pediatrician paediatrician teacher caregiver carer
        guardian relative paramedic surgeon dentist boss employer classmate twin baby
        infant grandparents grandchildren relatives primigravida family
        """
    )
)

# Nouns for a stage of life that tell no gender. At another stage each becomes "patient", or
# "child" where an adult becomes a child.
AGED: dict[str, Stage] = {
    **dict.fromkeys(
        listed(
            """
            child infant baby toddler newborn neonate kid preschooler pre-schooler
            youngster schoolchild
            """
        ),
        "child",
    ),
    **dict.fromkeys(["teenager", "adolescent", "teen", "youth"], "teen"),
    **dict.fromkeys(["adult", "senior", "pensioner", "octogenarian", "septuagenarian"], "adult"),
}
# Adjectives for a stage of life, and the youngest and oldest age in years that each fits.
AGE_ADJECTIVES: dict[str, tuple[int, int]] = {
    "elderly": (65, 120),
    "older": (60, 120),
    "aged": (65, 120),
    "geriatric": (65, 120),
    "middle-aged": (40, 64),
    "young": (0, 39),
    "little": (0, 9),
    "adult": (18, 120),
    "teenage": (13, 19),
    "adolescent": (11, 19),
    "pediatric": (0, 17),
    "paediatric": (0, 17),
    "infant": (0, 1),
    "newborn": (0, 0),
    "preschool": (2, 5),
    "school-age": (5, 12),
    "school-aged": (5, 12),
    "prepubescent": (0, 11),
    "premenopausal": (11, 55),
}

TITLES: dict[str, Gender] = {
    "mr": "male",
    "mrs": "female",
    "ms": "female",
    "miss": "female",
    "mx": "neutral",
    "master": "male",
}

# case -> (he, she, they)
PRONOUNS: dict[str, tuple[str, str, str]] = {
    "subject": ("he", "she", "they"),
    "object": ("him", "her", "them"),
    "determiner": ("his", "her", "their"),
    "possessive": ("his", "hers", "theirs"),
    "reflexive": ("himself", "herself", "themself"),
}
PRONOUN_GENDER: dict[str, Gender] = {
    "he": "male",
    "him": "male",
    "his": "male",
    "himself": "male",
    "she": "female",
    "her": "female",
    "hers": "female",
    "herself": "female",
    "they": "neutral",
    "them": "neutral",
    "their": "neutral",
    "theirs": "neutral",
    "themself": "neutral",
    "themselves": "neutral",
}
COLUMN: dict[Gender, int] = {"male": 0, "female": 1, "neutral": 2}

# First names that tell a gender, in pairs, so that a swap goes back to the name it came from.
NAME_PAIRS = (
    ("James", "Emily"),
    ("John", "Mary"),
    ("Robert", "Linda"),
    ("Michael", "Sarah"),
    ("William", "Elizabeth"),
    ("David", "Susan"),
    ("Richard", "Karen"),
    ("Thomas", "Margaret"),
    ("Charles", "Nancy"),
    ("Daniel", "Anna"),
    ("Matthew", "Laura"),
    ("Anthony", "Helen"),
    ("Mark", "Julia"),
    ("Paul", "Ruth"),
    ("Steven", "Amanda"),
    ("Andrew", "Jessica"),
    ("Joshua", "Rachel"),
    ("Kevin", "Michelle"),
    ("Brian", "Lisa"),
    ("George", "Dorothy"),
    ("Edward", "Catherine"),
    ("Peter", "Alice"),
    ("Henry", "Emma"),
    ("Jack", "Grace"),
    ("Samuel", "Hannah"),
    ("Benjamin", "Olivia"),
    ("Joseph", "Maria"),
    ("Carlos", "Carmen"),
    ("Juan", "Juana"),
    ("José", "Josefina"),
    ("Jose", "Rosa"),
    ("Luis", "Lucia"),
    ("Antonio", "Isabel"),
    ("Ahmed", "Fatima"),
    ("Mohammed", "Aisha"),
    ("Ali", "Zainab"),
    ("Raj", "Priya"),
    ("Ravi", "Lakshmi"),
    ("Wei", "Mei"),
    ("Jamal", "Keisha"),
    ("Darnell", "Latoya"),
    ("Ivan", "Olga"),
    ("Oliver", "Sophie"),
    ("Frank", "Barbara"),
    ("Harold", "Patricia"),
    ("Walter", "Betty"),
    ("Jason", "Jennifer"),
    ("Eric", "Megan"),
    ("Ethan", "Chloe"),
    ("Noah", "Ava"),
    ("Liam", "Mia"),
    ("Lucas", "Lily"),
)
_NAME_GENDERS: tuple[Gender, Gender] = ("male", "female")
NAMES: dict[str, tuple[Gender, int]] = {
    name: (gender, row)
    for row, pair in enumerate(NAME_PAIRS)
    for gender, name in zip(_NAME_GENDERS, pair, strict=True)
}
NEUTRAL_NAME = "Alex"

RACES: dict[str, str] = {
    "african american": "Black",
    "african-american": "Black",
    "afro-american": "Black",
    "afro-caribbean": "Black",
    "black": "Black",
    "white": "White",
    "caucasian": "White",
    "hispanic": "Hispanic",
    "latino": "Hispanic",
    "latina": "Hispanic",
    "latinx": "Hispanic",
    "asian": "Asian",
    "asian american": "Asian",
    "asian-american": "Asian",
    "native american": "Native American",
    "american indian": "Native American",
    "pacific islander": "Pacific Islander",
}
