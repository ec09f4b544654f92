"""The dossier: every statement has a source that exists, every number is the one there, blanks are marked."""

from __future__ import annotations

import copy
import io
import json
import re
from collections.abc import Iterator
from fractions import Fraction
from math import ceil, exp
from pathlib import Path
from typing import Any

import pypdf
import pytest
import yaml
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from conftest import ROOT
from facsimile.documents.dossier import LAYERS, Dossier
from facsimile.documents.dossier.statement import PRIORS, RULES, TO_FILL, Papers, posterior
from facsimile.documents.evidence import Audit, Evidence
from facsimile.release.run import rehearsal, release
from releases import SURE, approximate, request, specification, write_data
from risk.samples import sample

GOVERNANCE = {
    "partners": [{"name": "A. Person", "role": "statistician"}, {"organisation": "An office"}],
    "requirements": {"faces / ages": "No row that only one person has."},
    "approvals": [{"by": "The board", "of": "The budget", "when": "2025-03"}],
    "legal_basis": "Section 17 of an act",
    "ethics_review": "Approved, 2025/12",
    "contact": "data@office.example",
}
PLANS: dict[str, Any] = {
    "pure": specification(criteria=SURE),
    "signed": specification(criteria=SURE, publisher={"name": "An office"}, governance=GOVERNANCE),
    "delta": approximate(publish=["tables"]),
    "train-once": approximate("train-once", "rising-coin", selection={"mode": "rising-coin", "a": "0.5"}),
    "rehearsal": specification(publish=["tables", "metadata"]),
}
AUDITED = Audit(
    "0.1.0",
    "2026-02-01",
    {"numpy": "2"},
    1e-6,
    tuple(
        Evidence(theorem, "distinguished", f"case {i}", "a test", 1.5, 1.5 - i / 8, i != 2, 0.9)
        for i, theorem in enumerate(["modes.Coin", "modes.Coin", "ledger.begin"])
    ),
)


def risked(plan_hash: str) -> dict[str, Any]:
    return sample().as_json() | {"plan_hash": plan_hash}


def papers(folder: Path) -> dict[str, Any]:
    """What lies on the disk, read without the program."""
    found = {name: json.loads((folder / name).read_bytes()) for name in ("report.json", "manifest.json")}
    return found | {"release.yaml": yaml.safe_load((folder / "release.yaml").read_bytes())}


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    found = {}
    for name, plan in PLANS.items():
        folder = tmp_path_factory.mktemp(name)
        write_data(folder)
        (folder / "budget").mkdir()
        asked = request(folder, specification=plan)
        if name == "rehearsal":
            rehearsal(asked, 3)
        elif name == "signed":
            key = Ed25519PrivateKey.generate()
            written = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
            (folder / "key.pem").write_bytes(written)
            release(request(folder, specification=plan, key=folder / "key.pem"))
        else:
            release(asked)
        found[name] = folder / "bundle"
    return found


@pytest.fixture(params=[*PLANS, "attached"])
def made(request: pytest.FixtureRequest, bundles: dict[str, Path]) -> tuple[Dossier, dict[str, Any], Path]:
    """A dossier, the papers as they are on the disk, and the folder; `attached` has an audit and risks."""
    attached = request.param == "attached"
    folder = bundles["pure" if attached else request.param]
    files = papers(folder)
    if attached:
        files |= {"audit.json": AUDITED.as_json(), "risk.json": risked(files["report.json"]["plan_hash"])}
    signer = "a key" if (folder / "signature.dsse").exists() else None
    return Dossier.of(Papers(copy.deepcopy(files), signer)), files, folder


# --- what a dossier says, held against its sources without its own arithmetic

OWN: dict[str, Any] = {
    "how many": lambda found: str(len(found)),
    "how many have a bound": lambda found: str(len([c for c in found if c["bound"] is not None])),
    "how many did not pass": lambda found: str([one["passed"] for one in found].count(False)),
    "how many theorems": lambda found: str(len({one["theorem"] for one in found})),
    "a count": lambda n: f"{n:,}",
    "twice": lambda text: f"{float(2 * Fraction(text)):.6f}".rstrip("0").rstrip("."),
    "right guesses of a hundred": lambda epsilon, delta="0": str(
        ceil(100 * (exp(float(epsilon)) + float(delta)) / (exp(float(epsilon)) + 1) - 1e-9)
    ),
}


def at(files: dict[str, Any], file: str, place: str) -> Any:
    found = files[file]
    for step in place.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        found = found[int(step)] if isinstance(found, list) else found[step]
    return found


def figures(told: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every figure with the text that it stands in."""
    for section in told["sections"]:
        for item in section["items"]:
            yield from ((item["text"], one) for one in item.get("figures", ()))
            yield from ((cell["shown"], cell) for row in item.get("rows", ()) for cell in row)


def stated(section: dict[str, Any]) -> list[dict[str, Any]]:
    return [item for item in section["items"] if item["kind"] == "statement"]


def wrong(told: dict[str, Any], files: dict[str, Any], folder: Path) -> list[str]:
    """Everything in a dossier that its sources do not say."""
    found = []
    for text, one in figures(told):
        values = [at(files, source["file"], source["place"]) for source in one["from"]]
        again = OWN.get(one["how"], RULES[one["how"]])(*values)
        if re.sub(r"[ \t\r\n]+", " ", again).strip() != one["shown"] or one["shown"] not in text:
            found.append(f"{one['shown']} is not {again}")
    for section in told["sections"]:
        for item in stated(section):
            found += [] if item["sources"] else [f"no source: {item['text']}"]
            found += [f"no such source: {one}" for one in item["sources"] if not exists(one, files, folder)]
            left = item["text"]
            for one in sorted((one["shown"] for one in item["figures"]), key=len, reverse=True):
                left = left.replace(one, "")
            found += [f"a number without a source: {left}"] if re.search(r"\d", left) else []
        blanks = [item for item in section["items"] if item["kind"] == "blank"]
        found += [f"not marked: {item['text']}" for item in blanks if not item["text"].startswith(TO_FILL)]
    every = [item["kind"] for section in told["sections"] for item in section["items"]]
    return found + ([] if every.count("blank") == told["blanks"] else ["blanks are miscounted"])


def exists(source: dict[str, str], files: dict[str, Any], folder: Path) -> bool:
    file, place = source["file"], source["place"]
    if file.startswith("docs/"):
        return f"\n### {place}. " in (ROOT / file).read_text("utf-8")
    if file not in files:
        return (folder / file).is_file() and not place
    try:
        at(files, file, place)
    except (KeyError, IndexError, ValueError, TypeError):
        return False
    return True


def test_every_statement_has_a_source_that_exists_and_every_number_is_the_one_there(made: Any) -> None:
    dossier, files, folder = made
    assert wrong(dossier.as_json(), files, folder) == []
    assert sum(len(stated(section)) for section in dossier.as_json()["sections"]) > 25


@pytest.mark.parametrize(
    "change",
    [
        lambda told: told["sections"][0]["items"][0].update(sources=[]),
        lambda told: told["sections"][0]["items"][0]["sources"][0].update(place="/tittle"),
        lambda told: told["sections"][1]["items"][0]["sources"][0].update(place="T9"),
        lambda told: told["sections"][0]["items"][0].update(text="It has 12 records."),
        lambda told: told.update(blanks=told["blanks"] + 1),
        lambda told: next(i for i in told["sections"][1]["items"] if i["kind"] == "blank").update(text="x"),
        *(
            lambda told, n=n: list(figures(told))[n][1].update(shown="7.77")
            for n in (0, 3, 7, 20)
        ),
    ],
)  # fmt: skip
def test_a_statement_that_was_changed_is_found(bundles: dict[str, Path], change: Any) -> None:
    files = papers(bundles["pure"])
    told = copy.deepcopy(Dossier.of(Papers(files)).as_json())
    assert wrong(told, files, bundles["pure"]) == []
    change(told)
    assert wrong(told, files, bundles["pure"])


@pytest.mark.parametrize(
    "key, value", [("epsilon", "7.5"), ("records", 401), ("scheme", "paper"), ("unit", "a cat")]
)
def test_a_figure_of_another_report_is_found(bundles: dict[str, Path], key: str, value: Any) -> None:
    files = papers(bundles["pure"])
    other = files | {"report.json": files["report.json"] | {key: value}}
    assert wrong(Dossier.of(Papers(other)).as_json(), files, bundles["pure"])


SPOKEN = {
    "ε = ": {"/epsilon", "/ledger/spent", "/ledger/before"},
    "δ = ": {"/delta"},
    "is at most ": {"/epsilon"},
    "δ, at most ": {"/epsilon"},
    "that is at ": {"/epsilon"},
    "the hash ": {"/plan_hash"},
    "One record is “": {"/unit"},
    "There are ": {"/records"},
    "It holds ": {"/records"},
    "made on ": {"/day"},
    "decided on ": {"/day"},
    "the ledger ": {"/ledger/id"},
    "entry ": {"/ledger/sequence"},
    "same data ε = ": {"/ledger/before"},
    "spent ε = ": {"/ledger/spent"},
    "The policy is “": {"/policy"},
    "The scheme is ": {"/scheme"},
    "the selection ": {"/selection"},
    "configuration out of ": {"/configurations"},
    "of the family ": {"/family"},
    "hold together with ": {"/confidence/together"},
    "Legal basis: ": {"/governance/legal_basis"},
    "Review of ethics: ": {"/governance/ethics_review"},
    "Questions go to ": {"/governance/contact", "/contact"},
    "Its publisher is ": {"/publisher/name"},
}
"""After these words stands what comes from one of these places."""


def test_a_figure_comes_from_the_place_that_its_words_speak_of(made: Any) -> None:
    seen = set()
    for section in made[0].as_json()["sections"]:
        for item in stated(section):
            for words, places in SPOKEN.items():
                rest = item["text"].partition(words)[2]
                said = [one for one in item["figures"] if rest and rest.startswith(one["shown"])]
                if said:
                    seen.add(words)
                    assert any(one["from"][0]["place"] in places for one in said), (item["text"], words)
    assert len(seen) >= 13


def test_epsilon_is_told_as_odds_that_move_by_its_exponential() -> None:
    for prior in map(Fraction, PRIORS.values()):
        for epsilon in (0.1, 1.0, 6.0):
            before, after = float(prior), posterior(prior, epsilon, 1)
            moved = (after / (1 - after)) / (before / (1 - before))
            assert moved == pytest.approx(exp(epsilon))
            assert posterior(prior, epsilon, -1) < before < after
    assert RULES["50 % becomes at most"]("1") == "73.2\u00a0%"
    assert RULES["50 % becomes at least"]("1") == "26.8\u00a0%"
    assert RULES["e to this power, rounded up"]("1") == "2.72"
    assert RULES["the product, rounded up"](400, "0.000001") == "4 × 10⁻⁴"


def test_what_is_missing_is_said_and_what_is_attached_is_shown(made: Any) -> None:
    dossier, files, _ = made
    told = dossier.as_json()
    texts = [item["text"] for section in told["sections"] for item in stated(section)]
    missing = [text for text in texts if text.startswith("MISSING")]
    assert told["missing"] == [name for name in ("audit.json", "risk.json") if name not in files]
    assert len(missing) == len(told["missing"])
    assert any(text.startswith("WARNING") for text in texts) is ("audit.json" in files)
    if "audit.json" in files:
        captions = [
            item["caption"] for section in told["sections"] for item in section["items"] if "caption" in item
        ]
        assert {"Evidence", "Attacks"} <= set(captions)


def test_delta_and_rehearsal_are_told_where_they_are_there_and_nowhere_else(made: Any) -> None:
    dossier, files, _ = made
    report = files["report.json"]
    text = json.dumps(dossier.as_json(), ensure_ascii=False)
    assert ("δ = " in text) is ("delta" in report)
    assert ("pure differential privacy" in text) is ("delta" not in report)
    assert ("It protects nobody" in text) is report["rehearsal"]
    assert ("/ledger/spent" in text) is not report["rehearsal"]


def test_what_the_specification_says_of_people_leaves_fewer_blanks(bundles: dict[str, Path]) -> None:
    alone, peopled = (Dossier.of(Papers(papers(bundles[name]))) for name in ("pure", "signed"))
    assert peopled.blanks <= alone.blanks - 6
    text = json.dumps(peopled.as_json(), ensure_ascii=False)
    assert all(
        words in text for words in ("The board", "Section 17 of an act", "No row that only one person has.")
    )


def test_the_order_is_that_of_the_standard_and_every_layer_has_a_section(made: Any) -> None:
    sections = made[0].sections
    assert [section.number for section in sections] == sorted(section.number for section in sections)
    clauses = [int(section.iso.partition(".")[0]) for section in sections]
    assert clauses == sorted(clauses) and set(clauses) == {5, 6, 7, 8, 9}
    assert {section.nist for section in sections} - {""} == set(LAYERS)


# --- the PDF


@pytest.mark.parametrize("made", ["signed", "rehearsal", "attached"], indirect=True)
def test_the_pdf_says_every_statement_and_blank_and_no_place_of_the_machine(made: Any) -> None:
    dossier, files, folder = made
    content = dossier.pdf()
    assert str(folder.parent).encode() not in content
    sheets = [page.extract_text() for page in pypdf.PdfReader(io.BytesIO(content)).pages]
    text = squeezed("".join(sheets))
    told = dossier.as_json()
    for section in told["sections"]:
        assert all(squeezed(item["text"])[:40] in text for item in stated(section))
    assert f"blank{told['blanks']}of{told['blanks']}" in text
    assert text.count(squeezed(TO_FILL)) == told["blanks"]
    marked = ["REHEARSAL" in sheet for sheet in sheets]
    assert all(marked) if files["report.json"]["rehearsal"] else not any(marked)


def test_the_same_papers_give_the_same_bytes(bundles: dict[str, Path]) -> None:
    one, other = (Dossier.of(Papers(papers(bundles["delta"]))).pdf() for _ in range(2))
    assert one == other


def squeezed(text: str) -> str:
    return re.sub(r"[\s\u200b\u00ad]", "", text)


def test_any_text_is_text(bundles: dict[str, Path]) -> None:
    files = papers(bundles["pure"])
    odd = '#import "x" {epsilon} $y$ <b> \x01 ' + "w" * 90
    files["report.json"] |= {"title": odd, "unit": odd, "description": odd}
    dossier = Dossier.of(Papers(files))
    assert dossier.pdf().startswith(b"%PDF")
    assert "{epsilon}" in dossier.as_json()["sections"][0]["items"][0]["text"]
