"""Verification: whatever is changed in a bundle is found, with the name of its file."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import zlib
from collections.abc import Callable
from contextlib import chdir
from dataclasses import fields, replace
from datetime import date
from fractions import Fraction
from math import exp
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from pypdf import PdfReader
from typer.testing import CliRunner

from facsimile.acceptance.bounds import level, upper
from facsimile.acceptance.candidate import Candidate
from facsimile.acceptance.kinds.regression import CoefficientsKind
from facsimile.cli.program import app
from facsimile.documents.explorer import PACKED
from facsimile.documents.numerals import above
from facsimile.documents.report import LedgerPlace
from facsimile.errors import FacsimileError
from facsimile.privacy.reader import read_public
from facsimile.release import bundle
from facsimile.release.opened import open_bundle
from facsimile.release.opening import Opening
from facsimile.release.plan import plan_hash
from facsimile.release.reporting import Release, report
from facsimile.release.run import rehearsal, rehearsed, release
from facsimile.release.signature import envelope, signed_by
from facsimile.release.verify import verify
from facsimile.sources.address import Address
from facsimile.spec.criteria import RegressionCoefficients
from facsimile.spec.load import dump, validated
from facsimile.spec.release import Specification
from releases import approximate, request, specification, write_data

pytestmark = pytest.mark.usefixtures("typeset_once")

UNKNOWN = "Self-consistent; who made it was not checked."


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A signed release."""
    folder = tmp_path_factory.mktemp("release")
    (folder / "budget").mkdir()
    write_data(folder)
    key = Ed25519PrivateKey.generate()
    write_keys(key, folder)
    release(request(folder, key=folder / "signing.pem", specification=specification()))
    return folder / "bundle"


def write_keys(key: Any, folder: Path) -> None:
    """Both halves of a key, as PEM files."""
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "signing.pem").write_bytes(private)
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (folder / "public.pem").write_bytes(public)


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "bundle")
    return tmp_path / "bundle"


def refused(folder: Path, **pins: str) -> tuple[str, str]:
    with pytest.raises(FacsimileError) as caught:
        verify(folder, **pins)  # type: ignore[arg-type]
    return caught.value.code, caught.value.sentence


def test_an_untouched_bundle_verifies(made: Path) -> None:
    found = verify(made)
    assert found.signed_by is not None
    assert found.rendered


@pytest.mark.parametrize("name", [*bundle.NAMES, bundle.MANIFEST, bundle.SIGNATURE])
def test_a_changed_byte_is_found_in_every_file(copy: Path, name: str) -> None:
    content = bytearray((copy / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copy / name).write_bytes(content)
    code, sentence = refused(copy)
    assert code in ("E502", "E503", "E505")
    assert name in sentence or name == bundle.MANIFEST


@pytest.mark.parametrize("name", [*bundle.NAMES, bundle.MANIFEST])
def test_a_missing_file_is_found(copy: Path, name: str) -> None:
    (copy / name).unlink()
    assert refused(copy)[0] == "E501"


def test_a_file_more_is_found(copy: Path) -> None:
    (copy / "notes.txt").write_text("true errors")
    assert refused(copy)[0] == "E503"


def forge(folder: Path, name: str, change: Callable[[Any], None]) -> None:
    """Change a JSON file and make all hashes fit again, as somebody would who wants to deceive."""
    said = json.loads((folder / name).read_bytes())
    change(said)
    (folder / name).write_bytes(bundle._json(said))
    rehash(folder)


def rehash(folder: Path) -> None:
    manifest = json.loads((folder / bundle.MANIFEST).read_bytes())
    manifest["sha256"] = {n: hashlib.sha256((folder / n).read_bytes()).hexdigest() for n in bundle.NAMES}
    (folder / bundle.MANIFEST).write_bytes(bundle._json(manifest))
    (folder / bundle.SIGNATURE).unlink(missing_ok=True)


def _set(path: str, value: Any) -> Callable[[Any], None]:
    def change(said: Any) -> None:
        *parents, last = [int(p) if p.isdigit() else p for p in path.split(".")]
        for part in parents:
            said = said[part]
        said[last] = value

    return change


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("epsilon", "1"),
        ("records", 401),
        ("budget.0.epsilon", "0.1"),
        ("criteria.0.sensitivity", 0.001),
        ("criteria.0.sigma", 0.001),
        ("criteria.0.value", 0.0001),
        ("criteria.0.bound", 0.0001),
        ("criteria.0.threshold", 0.9),
        ("criteria.0.units", 123_456),
        ("criteria.2.smallest_group", 100_000),
        ("faces.min_count", 100_000),
        ("plan_hash", "0" * 64),
        ("data_hash", "0" * 64),
        ("columns.0.counts.0", -1),
        ("family", "aim"),
        ("iterations", 3),
        ("rules", []),
        ("day", "yesterday"),
        ("criteria", []),
        ("ledger", None),
    ],
)
def test_a_forged_figure_does_not_follow_from_the_rest(copy: Path, path: str, value: Any) -> None:
    forge(copy, bundle.REPORT, _set(path, value))
    code, sentence = refused(copy)
    assert (code, bundle.REPORT in sentence or bundle.DATA in sentence) == ("E503", True)


@pytest.fixture(scope="module")
def approximated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release with δ, after one on the same ledger."""
    folder = tmp_path_factory.mktemp("approximate")
    (folder / "budget").mkdir()
    data = Address.of(write_data(folder))
    opening = Opening.of(data, folder / "budget" / "people.ledger", None, None)
    opening.anew(Fraction(30), False, Fraction(1, 10**5))
    for name in ("first", "bundle"):
        release(request(folder, specification=approximate(), out=folder / name))
    return folder / "bundle"


def test_a_release_with_delta_says_it_wherever_it_says_epsilon(approximated: Path) -> None:
    found = verify(approximated)
    said = json.loads((approximated / bundle.REPORT).read_bytes())
    package = json.loads((approximated / bundle.PACKAGE).read_bytes())
    assert found.delta == said["delta"] == package["facsimile"]["delta"] == "0.000001"
    assert "delta 0.000001" in package["description"]
    assert said["ledger"]["delta"] == "0.000002" and "before_delta" not in said["ledger"]
    assert said["fit"]["epsilon"] == "3" and 0 < Fraction(said["fit"]["rho"]) < 1
    page = (approximated / bundle.PAGE).read_text(encoding="utf-8")
    assert page.count("δ = 10⁻⁶") >= 4 and "and δ 2 × 10⁻⁶ in all" in page
    shown = CliRunner().invoke(app, ["verify", str(approximated)]).stdout
    assert f"epsilon {said['epsilon']}, delta 0.000001" in shown


def test_without_delta_nothing_is_said_of_one(made: Path) -> None:
    said = json.loads((made / bundle.REPORT).read_bytes())
    assert not {"delta", "fit"} & said.keys() and not {"delta", "before_delta"} & said["ledger"].keys()
    assert "δ" not in (made / bundle.PAGE).read_text(encoding="utf-8")
    assert verify(made).delta is None


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("delta", "0.0000001"),
        ("delta", None),
        ("fit.rho", "0.0001"),
        ("fit.delta", "0.0000001"),
        ("epsilon", "3"),
        ("ledger.delta", "0.0000001"),
        ("ledger.delta", "much"),
        ("ledger.spent", "1"),
        ("plan_hash", "0" * 64),
    ],
)
def test_a_forged_delta_does_not_follow_from_the_rest(
    approximated: Path, tmp_path: Path, path: str, value: Any
) -> None:
    copied = Path(shutil.copytree(approximated, tmp_path / "bundle"))
    forge(copied, bundle.REPORT, _set(path, value))
    code, sentence = refused(copied)
    assert (code, bundle.REPORT in sentence) == ("E503", True)


@pytest.mark.parametrize(
    ("old", "new"), [("delta: '0.000001'", "delta: '0.0000001'"), ("  delta: '0.000001'\n", "")]
)
def test_another_delta_in_the_specification_is_found(
    approximated: Path, tmp_path: Path, old: str, new: str
) -> None:
    copied = Path(shutil.copytree(approximated, tmp_path / "bundle"))
    content = (copied / bundle.SPECIFICATION).read_text()
    assert content.count(old) == 1
    (copied / bundle.SPECIFICATION).write_text(content.replace(old, new))
    rehash(copied)
    assert refused(copied)[0] == "E503"


def test_a_removed_row_is_found_though_hashes_fit(copy: Path) -> None:
    lines = (copy / bundle.DATA).read_bytes().splitlines(keepends=True)
    (copy / bundle.DATA).write_bytes(b"".join(lines[:-1]))
    rehash(copy)
    assert refused(copy)[0] == "E503"


def test_rows_in_another_order_are_found(copy: Path) -> None:
    head, *lines = (copy / bundle.DATA).read_bytes().splitlines(keepends=True)
    (copy / bundle.DATA).write_bytes(b"".join([head, *sorted(lines)]))
    rehash(copy)
    assert refused(copy)[0] == "E503"


def test_a_label_of_its_own_is_found(copy: Path) -> None:
    content = (copy / bundle.DATA).read_bytes()
    (copy / bundle.DATA).write_bytes(content.replace(b'"M"', b'"X"', 1))
    rehash(copy)
    assert refused(copy)[0] == "E503"


def test_another_specification_is_found(copy: Path) -> None:
    content = (copy / bundle.SPECIFICATION).read_text()
    assert "generator: '3'" in content
    (copy / bundle.SPECIFICATION).write_text(content.replace("generator: '3'", "generator: '2'"))
    rehash(copy)
    assert refused(copy)[0] == "E503"


def test_a_signature_of_another_manifest_or_key_is_refused(copy: Path) -> None:
    key = Ed25519PrivateKey.generate()
    manifest = (copy / bundle.MANIFEST).read_bytes()
    good = envelope(manifest, key)
    assert signed_by(good, manifest) is not None
    assert signed_by(good, manifest + b" ") is None
    other = json.loads(good)
    other["signatures"][0]["publicKey"] = json.loads(envelope(manifest, Ed25519PrivateKey.generate()))[
        "signatures"
    ][0]["publicKey"]
    assert signed_by(json.dumps(other).encode(), manifest) is None
    for broken in (b"", b"{}", b"[]", b'{"signatures": []}', b"\xff"):
        assert signed_by(broken, manifest) is None


def test_the_command_says_so_and_exits_with_5(made: Path, copy: Path) -> None:
    found = CliRunner().invoke(app, ["verify", str(made), "--json"])
    assert json.loads(found.stdout)["verified"] is True
    assert UNKNOWN in CliRunner().invoke(app, ["verify", str(made)]).stdout
    (copy / bundle.PAGE).write_text("nothing")
    bad = CliRunner().invoke(app, ["verify", str(copy)])
    assert isinstance(bad.exception, FacsimileError)
    assert bad.exception.exit_code == 5
    nothing = CliRunner().invoke(app, ["verify", str(copy / "none")])
    assert isinstance(nothing.exception, FacsimileError)


def test_the_publishers_key_can_be_named_in_three_ways(made: Path) -> None:
    found = verify(made)
    assert not found.signer_checked
    assert found.signed_by is not None
    for key in (
        made.parent / "public.pem",
        made.parent / "signing.pem",
        found.signed_by,
        found.signed_by.upper(),
    ):
        assert verify(made, key=str(key)) == replace(found, signer_checked=True)


def test_no_other_key_may_have_signed(made: Path, copy: Path, tmp_path: Path) -> None:
    write_keys(Ed25519PrivateKey.generate(), tmp_path)
    for key in (str(tmp_path / "public.pem"), str(tmp_path / "signing.pem"), "0" * 64):
        assert refused(made, key=key) == ("E506", "The bundle is not the one you named: another key signed it.")
    (copy / bundle.SIGNATURE).unlink()
    assert not verify(copy).signer_checked
    named = str(made.parent / "public.pem")
    assert refused(copy, key=named) == ("E506", "The bundle is not the one you named: it is not signed.")


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A rehearsal that somebody turned into a release: once without a signature, once with a fresh key."""
    folder = tmp_path_factory.mktemp("rebuilt")
    write_data(folder)
    rehearsal(replace(request(folder), out=folder / "rehearsed"), 3)
    held = open_bundle(folder / "rehearsed")
    place: dict[str, Any] = {field.name: "30" for field in fields(LedgerPlace)} | {
        "sequence": 1,
        "head": "ab" * 32,
    }
    forged = replace(held.release, ledger=LedgerPlace(**place))
    for name, key in (("unsigned", None), ("signed", Ed25519PrivateKey.generate())):
        bundle.write(bundle.files(forged, report(forged, held.day), key), folder / name)
    return folder


@pytest.mark.parametrize("name", ["unsigned", "signed"])
def test_only_a_named_key_finds_a_rehearsal_rebuilt_as_a_release(made: Path, rebuilt: Path, name: str) -> None:
    assert refused(rebuilt / "rehearsed")[0] == "E504"
    forged = rebuilt / name
    shown = CliRunner().invoke(app, ["verify", str(forged)])
    assert shown.exit_code == 0
    assert UNKNOWN in shown.stdout
    assert "Verified" not in shown.stdout
    told = json.loads(CliRunner().invoke(app, ["verify", str(forged), "--json"]).stdout)
    assert (told["rehearsal"], told["signer_checked"], told["plan_checked"]) == (False, False, False)
    publisher = str(made.parent / "public.pem")
    found = CliRunner().invoke(app, ["verify", str(forged), "--signed-by", publisher])
    assert isinstance(found.exception, FacsimileError)
    assert (found.exception.code, found.exception.exit_code) == ("E506", 5)


def test_a_plan_that_was_registered_before(made: Path) -> None:
    plan = plan_hash(specification())
    found = verify(made, plan=plan)
    assert (found.plan_checked, found.plan_hash) == (True, plan)
    assert verify(made, plan=plan.upper()).plan_checked
    another = plan_hash(specification(title="Another"))
    assert refused(made, plan=another) == (
        "E506",
        "The bundle is not the one you named: it keeps another plan.",
    )


def test_the_command_says_what_was_checked(made: Path) -> None:
    pins = ["--signed-by", str(made.parent / "public.pem"), "--plan-hash", plan_hash(specification())]
    shown = CliRunner().invoke(app, ["verify", str(made), *pins]).stdout
    assert "Verified: the key you named signed it." in shown
    assert "The plan is the one you named." in shown
    assert UNKNOWN not in shown
    told = json.loads(CliRunner().invoke(app, ["verify", str(made), *pins, "--json"]).stdout)
    assert told["signer_checked"] is told["plan_checked"] is True


@pytest.mark.parametrize("text", ["", "none.pem", "0" * 63, "g" * 64, "a\0b", "{bundle}", "{data}", "{curve}"])
def test_a_key_or_a_plan_that_cannot_be_read_is_refused(made: Path, tmp_path: Path, text: str) -> None:
    curve = X25519PrivateKey.generate()
    write_keys(curve, tmp_path)
    key = text.format(bundle=made, data=made / bundle.DATA, curve=tmp_path / "public.pem")
    assert refused(made, key=key)[0] == "E001"
    assert refused(made, plan=text)[0] == "E001"


def test_a_key_with_a_passphrase_is_refused(made: Path, tmp_path: Path) -> None:
    locked = BestAvailableEncryption(b"secret")
    pem = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, locked)
    (tmp_path / "locked.pem").write_bytes(pem)
    assert refused(made, key=str(tmp_path / "locked.pem"))[0] == "E001"


# --- bounds and regressions

COEFFICIENTS = {"criterion": "regression-coefficients", "target": "age", "statistic": "paper"}
PREDICTIONS = {"criterion": "regression-mae", "target": "age", "threshold": "900", "epsilon": "0.5"}


@pytest.mark.parametrize("target", ["age", "sex"])
@pytest.mark.parametrize("scheme", ["paper", "test-then-measure"])
def test_each_figure_follows_from_the_regression_that_is_published_for_it(
    tmp_path: Path, scheme: str, target: str
) -> None:
    """Coefficients in the paper's form beside predictions with a fit paid once: it serves both, or one."""
    write_data(tmp_path)
    budget = {"total": "60", "generator": "3", "once": "5"} | ({"test": "5"} if scheme != "paper" else {})
    criteria = [COEFFICIENTS | {"target": target, "threshold": "900", "epsilon": "5"}, PREDICTIONS]
    spec = specification(scheme=scheme, criteria=criteria, budget=budget, selection={"mode": "single"})
    said = rehearsal(request(tmp_path, specification=spec), seed=1).report
    assert said
    assert (said.regression == said.refit) is (target == "age")
    assert verify(tmp_path / "bundle", allow_rehearsal=True)
    forge(tmp_path / "bundle", bundle.REPORT, _set("refit.coefficients.0", "1"))
    with pytest.raises(FacsimileError, match="E503"):
        verify(tmp_path / "bundle", allow_rehearsal=True)


@pytest.mark.parametrize("path", ["criteria.0.spread", "criteria.1.luck", "criteria.1.tested_at"])
def test_what_is_simulated_or_left_to_luck_can_be_computed_again(tmp_path: Path, path: str) -> None:
    write_data(tmp_path)
    ratio = {"criterion": "marginals-relative", "threshold": "2", "tested_at": "1.95", "epsilon": "5"}
    criteria = [COEFFICIENTS | {"threshold": "900", "epsilon": "5"}, ratio | {"statistic": "paper"}]
    budget = {"total": "60", "generator": "9"}
    selection = {"mode": "coin", "gamma": "0.01"}
    spec = specification(scheme="paper", criteria=criteria, budget=budget, selection=selection)
    said = rehearsal(request(tmp_path, specification=spec), seed=1).report
    assert said and {c.tested_at for c in said.criteria} == {900, 1.95}
    assert verify(tmp_path / "bundle", allow_rehearsal=True)
    assert (said.criteria[0].spread or 0) > 0
    smallest = min(min(column.counts) for column in said.columns)
    scale = 4 / (smallest + 3) / 5
    assert said.criteria[1].smallest_group == smallest != said.criteria[1].expected == 50
    assert said.criteria[1].luck == pytest.approx(0.5 * exp(-0.05 / scale), rel=0.01)
    forge(tmp_path / "bundle", bundle.REPORT, _set(path, 0.1))
    with pytest.raises(FacsimileError, match="`criteria` is another"):
        verify(tmp_path / "bundle", allow_rehearsal=True)


def test_where_one_regression_was_paid_for_two_are_not_published(tmp_path: Path) -> None:
    """Although each figure follows from its own."""
    write_data(tmp_path)
    budget = {"total": "60", "generator": "3", "once": "5"}
    criteria = [COEFFICIENTS | {"threshold": "900"}, PREDICTIONS]
    spec = specification(scheme="paper", criteria=criteria, budget=budget, selection={"mode": "single"})
    accepted, _ = rehearsed(spec, read_public(write_data(tmp_path), spec), seed=1)
    assert accepted and accepted.refit
    moved = replace(
        accepted.refit, coefficients=(accepted.refit.coefficients[0] + 1, *accepted.refit.coefficients[1:])
    )
    candidate = Candidate(spec, accepted.table)
    measured = [
        CoefficientsKind(c, "paper").compared(candidate, moved)
        for c in spec.criteria_of(RegressionCoefficients)
    ]
    for refit, figures in ((accepted.refit, accepted.measured), (moved, (*measured, accepted.measured[1]))):
        made = Release.of(replace(accepted, measured=tuple(figures), refit=refit), spec)
        folder = tmp_path / str(refit is moved)
        bundle.write(bundle.files(made, report(made, date.today()), None), folder)
    assert verify(tmp_path / "False", allow_rehearsal=True)
    with pytest.raises(FacsimileError, match="E503"):
        verify(tmp_path / "True", allow_rehearsal=True)


def test_what_a_run_could_not_have_published_does_not_verify(tmp_path: Path) -> None:
    """A figure that misses its criterion in the paper's scheme, and a regression in another scaling."""
    write_data(tmp_path)
    criteria = [COEFFICIENTS | {"threshold": "900", "epsilon": "5"}]
    budget = {"total": "60", "generator": "3"}
    spec = specification(scheme="paper", criteria=criteria, budget=budget, selection={"mode": "single"})
    accepted, _ = rehearsed(spec, read_public(write_data(tmp_path), spec), seed=1)
    assert accepted and accepted.refit
    own = accepted.refit
    wide = replace(own, scaling=replace(own.scaling, deviations=tuple(2 * d for d in own.scaling.deviations)))
    far = replace(own, coefficients=tuple(c + 1_000 for c in own.coefficients))
    (criterion,) = spec.criteria
    assert isinstance(criterion, RegressionCoefficients)
    for name, refit in (("as it was", own), ("scaled", wide), ("missed", far)):
        figures = (CoefficientsKind(criterion, "paper").compared(Candidate(spec, accepted.table), refit),)
        assert figures[0].met is (name != "missed")
        made = Release.of(replace(accepted, measured=tuple(figures), fit=None, refit=refit), spec)
        bundle.write(bundle.files(made, report(made, date.today()), None), tmp_path / name)
    assert verify(tmp_path / "as it was", allow_rehearsal=True)
    for name, problem in (("scaled", "E503"), ("missed", "a criterion is not met")):
        with pytest.raises(FacsimileError, match=problem):
            verify(tmp_path / name, allow_rehearsal=True)


def test_a_fit_that_serves_both_is_published_for_both(tmp_path: Path) -> None:
    write_data(tmp_path)
    criteria = [COEFFICIENTS | {"threshold": "900", "epsilon": "5"}, PREDICTIONS]
    budget = {"total": "60", "generator": "3"}
    spec = specification(scheme="paper", criteria=criteria, budget=budget, selection={"mode": "single"})
    said = rehearsal(request(tmp_path, specification=spec), seed=1).report
    assert said
    assert said.regression == said.refit is not None
    assert verify(tmp_path / "bundle", allow_rehearsal=True)
    spec = specification(scheme="paper", criteria=criteria[:1], budget=budget, selection={"mode": "single"})
    alone = rehearsal(request(tmp_path, specification=spec, out=tmp_path / "alone"), seed=1).report
    assert alone
    assert alone.regression is None
    assert verify(tmp_path / "alone", allow_rehearsal=True)


def test_report_page_pdf_terminal_and_verify_agree_on_bounds_that_hold_together(tmp_path: Path) -> None:
    write_data(tmp_path)
    (tmp_path / "spec.yaml").write_text(dump(specification()))
    arguments = ["spec.yaml", "--data", "people.csv", "--rehearse", "--seed", "1", "-o", "out"]
    with chdir(tmp_path):
        shown = CliRunner().invoke(app, ["release", *arguments]).output
        checked = CliRunner().invoke(app, ["verify", "out", "--allow-rehearsal"]).output
    out = tmp_path / "out"
    said = json.loads((out / bundle.REPORT).read_text())
    page = (out / bundle.PAGE).read_text()
    pdf = "".join(sheet.extract_text() for sheet in PdfReader(out / bundle.PDF).pages)
    assert said["confidence"] == {"together": "0.95", "each": "0.983047573", "shared_by": 3, "of_search": False}
    for line in said["criteria"]:
        assert line["bound"] is not None
        for text in (shown, page, pdf):
            assert above(line["bound"]) in text
    for text in (shown, checked, page, pdf):
        assert "bounds hold together with" in re.sub(r"\s+", " ", text)
    first, units = said["criteria"][0], said["criteria"][0]["units"]
    assert (
        first["bound"] == (upper(units, 1, specification().criteria[0].epsilon, level(3)) + 1) / first["grid"]
    )


def shared(folder: Path) -> dict[str, Any]:
    """The report of a rehearsal in scheme measured: two criteria share a number, one has its own."""
    criteria = [
        {"criterion": "marginals-absolute", "threshold": "0.1"},
        {"criterion": "mean", "of": "age", "by": ["age"], "threshold": "60"},
        {"criterion": "total-variation", "ways": "2", "threshold": "0.6", "epsilon": "1"},
    ]
    budget = {"total": "30", "generator": "3", "test": "2"}
    selection = {"mode": "single"}
    spec = specification(scheme="measured", criteria=criteria, budget=budget, selection=selection)
    accepted, _ = rehearsed(spec, read_public(write_data(folder), spec), seed=1)
    assert accepted
    made = Release.of(accepted, spec)
    bundle.write(bundle.files(made, report(made, date.today()), None), folder / "out")
    found: dict[str, Any] = json.loads((folder / "out" / bundle.REPORT).read_text())
    return found


def test_a_release_that_was_measured_by_its_test_verifies_and_tells_what_holds(tmp_path: Path) -> None:
    said = shared(tmp_path)
    found = verify(tmp_path / "out", allow_rehearsal=True)
    assert found.of_search and found.bounds == 3
    assert said["confidence"] == {"together": "0.95", "each": "0.975", "shared_by": 2, "of_search": True}
    assert [line["shared"] for line in said["criteria"]] == [True, True, False]
    assert [line["value"] is None for line in said["criteria"]] == [True, True, False]
    assert all(line["bound"] <= line["threshold"] for line in said["criteria"])
    number = said["shared"]
    assert number["criteria"] == ["marginals-absolute", "mean-age"] and number["value"] <= number["limit"] < 0
    text = re.sub(r"\s+", " ", (tmp_path / "out" / bundle.PAGE).read_text())
    pdf = "".join(sheet.extract_text() for sheet in PdfReader(tmp_path / "out" / bundle.PDF).pages)
    for words in (text.replace("\u00a0", " "), re.sub(r"\s+", " ", pdf.replace("\u00a0", " "))):
        assert "The chance of a release with one of its 3 bounds wrong was at most 5 %." in words
        assert "bounds hold together" not in words


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("one of two shared", "a figure is missing or is no number"),
        ("both beyond the margin", "a criterion is not met by what was measured"),
        ("own beyond the margin", "a criterion is not met by what was measured"),
        ("a lower bound", "`criteria` is another"),
        ("another limit", "`shared` is another"),
    ],
)
def test_what_a_test_could_not_have_measured_does_not_verify(tmp_path: Path, change: str, words: str) -> None:
    said = shared(tmp_path)
    one, other, own = said["criteria"]
    if change == "one of two shared":
        one["units"] -= 1
    elif change == "both beyond the margin":
        one["units"] = other["units"] = said["shared"]["units"] = 0
    elif change == "own beyond the margin":
        own["units"] = round(0.6 * own["grid"]) - 1
    elif change == "a lower bound":
        own["bound"] *= 0.9
    else:
        said["shared"]["limit"] += 0.5
    (tmp_path / "out" / bundle.REPORT).write_text(json.dumps(said))
    rehash(tmp_path / "out")
    code, sentence = refused(tmp_path / "out")
    assert code == "E503" and words in sentence


@pytest.mark.parametrize("key", ["together", "each", "shared_by"])
def test_a_changed_confidence_is_found(copy: Path, key: str) -> None:
    said = json.loads((copy / bundle.REPORT).read_text())
    said["confidence"][key] = 4 if key == "shared_by" else "0.99"
    (copy / bundle.REPORT).write_text(json.dumps(said))
    (copy / bundle.SIGNATURE).unlink()
    rehash(copy)
    assert refused(copy) == (
        "E503",
        "report.json says something that does not follow from the rest: `confidence` is another.",
    )


def test_an_explorer_that_another_library_packed_is_the_same_page(tmp_path: Path) -> None:
    """Other bytes, the same data: it holds. Other data in it: it does not."""
    (tmp_path / "budget").mkdir()
    write_data(tmp_path)
    release(request(tmp_path, specification=specification(publish=["explorer"])))
    folder = tmp_path / "bundle"
    page = (folder / bundle.EXPLORER).read_bytes()
    before, mark, rest = page.partition(PACKED)
    packed, _, after = rest.partition(b'"')
    content = zlib.decompress(base64.b64decode(packed), -zlib.MAX_WBITS)
    for data, holds in ((content, True), (content[:-1] + b"\7", False)):
        stored = zlib.compressobj(0, zlib.DEFLATED, -zlib.MAX_WBITS)
        other = base64.b64encode(stored.compress(data) + stored.flush())
        (folder / bundle.EXPLORER).write_bytes(before + mark + other + b'"' + after)
        manifest = json.loads((folder / bundle.MANIFEST).read_text())
        hashed = hashlib.sha256((folder / bundle.EXPLORER).read_bytes()).hexdigest()
        manifest["sha256"][bundle.EXPLORER] = hashed
        (folder / bundle.MANIFEST).write_text(json.dumps(manifest))
        assert (verify(folder).records > 0) if holds else refused(folder)[0] == "E503"


def test_a_release_in_two_languages_has_documents_in_both(tmp_path: Path) -> None:
    (tmp_path / "budget").mkdir()
    write_data(tmp_path)
    release(request(tmp_path, specification=written_in("he", "en")))
    found = tmp_path / "bundle"
    assert 'lang="he" dir="rtl"' in (found / "README.html").read_text(encoding="utf-8")
    assert 'lang="en"' in (found / "README.en.html").read_text(encoding="utf-8")
    assert verify(found).rendered
    (found / "README.fr.html").write_bytes(b"")
    assert refused(found)[0] == "E503"
    (found / "README.fr.html").unlink()
    (found / "README.en.pdf").write_bytes(b"other")
    assert refused(found)[0] == "E502"
    (found / "README.en.pdf").unlink()
    assert refused(found)[0] == "E501"


def written_in(*codes: str) -> Specification:
    return validated(specification().model_dump(mode="json", exclude_none=True) | {"languages": list(codes)})
