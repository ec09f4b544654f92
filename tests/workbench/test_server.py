"""What people do on the pages, in a real browser: look, move, slide, decide, sign."""

from __future__ import annotations

import re
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from axe import violations
from browser import Browser, Chromium
from facsimile.documents.decisions import Decisions
from facsimile.workbench.server import PAGES
from workbench.desk import Desk, fill, ready, sent, told

AGE = '[data-edges][data-column="age"]'


def rows(browser: Browser, place: str) -> list[list[str]]:
    """The table of a column's bins."""
    lines = f"[...document.querySelectorAll('[data-bins=\"{place}\"] tbody tr')]"
    found: list[list[str]] = browser.value(f"{lines}.map(line => [...line.cells].map(cell => cell.innerText))")
    return found


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("width", [1280, 390])
def test_a_page_fits_the_screen_asks_only_us_and_axe_finds_nothing(
    desk: Desk, person: Browser, page: str, width: int
) -> None:
    desk.open(person, page, width)
    assert person.value("document.documentElement.scrollWidth") <= width
    assert {address.split("/")[2] for address in person.asked()} == {desk.door.origin.split("/")[2]}
    assert person.troubles() == []
    assert violations(person) == []


def test_an_edge_is_dragged_and_the_bins_count_anew(desk: Desk, person: Browser) -> None:
    desk.open(person, "columns")
    before = rows(person, "age-published")
    person.drag(f"{AGE} .edge:nth-of-type(3)", 60, 0)
    form = f"document.querySelector('{AGE}')"
    person.until(f"{form}.dataset.answered == {form}.elements.edges.value")
    after = rows(person, "age-published")
    assert before[2] != after[2] and total(before) == total(after)
    edges = person.value(f"document.querySelector('{AGE}').elements.edges.value").split(",")
    fill(person, f"{AGE} [name=why]", "Round ages")
    assert sent(person, f"{AGE} .decide button").startswith("Done")
    assert rows(person, "age-published") == after, (
        "what a moved edge showed is what a reading of the file gives"
    )
    assert desk.data["columns"][1]["alternatives"]["published"][1].endswith(f"-{int(edges[1]) - 1}")
    assert (
        desk.log[-1]["why"] == "Round ages" and desk.log[-1]["by"] == "Ada" and desk.log[-1]["role"] == "lawyer"
    )
    assert "# days" in desk.text, "comments stay"


def total(lines: list[list[str]]) -> int:
    """The records of all bins."""
    return sum(int(line[1].replace(",", "")) for line in lines)


def test_an_edge_moves_by_keys_alone(desk: Desk, person: Browser) -> None:
    desk.open(person, "columns")
    for _ in range(200):
        person.press("Tab")
        if person.focused().startswith('slider "Edge <18 |'):
            break
    before = rows(person, "age-published")
    person.press("ArrowRight")
    person.press("ArrowRight")
    person.until(f"document.querySelector('{AGE}').dataset.answered?.startsWith('20,')")
    assert rows(person, "age-published")[0][0] == "<20" != before[0][0]
    while not person.focused().startswith('textbox "Why?'):
        person.press("Tab")
    person.type("Grown up")
    person.press("Enter")
    assert told(person).startswith("Done")
    column = desk.data["columns"][1]
    assert column["alternatives"]["published"][0] == "<20" and column["groups"][0] == "<20"


def test_bins_are_joined_and_split(desk: Desk, person: Browser) -> None:
    desk.open(person, "columns")
    days = '[data-edges][data-column="days"][data-alternative="published"]'
    person.click(f"{days} [data-split]")
    person.until(f"document.querySelectorAll('{days} .edge').length == 5")
    person.until(f"document.querySelector('{days}').dataset.answered")
    assert len(rows(person, "days-published")) == 6
    person.press("Delete")
    person.until(f"document.querySelectorAll('{days} .edge').length == 4")
    person.click(f"{days} [data-join]")
    person.until(f"document.querySelector('{days}').elements.edges.value.split(',').length == 3")
    person.until("document.querySelectorAll('[data-bins=\"days-published\"] tbody tr').length == 4")
    fill(person, f"{days} [name=why]", "Fewer bins")
    assert sent(person, f"{days} .decide button").startswith("Done")
    assert len(desk.data["columns"][2]["alternatives"]["published"]) == 4


def test_what_would_be_no_specification_is_told_and_not_saved(desk: Desk, person: Browser) -> None:
    desk.open(person, "columns")
    before = desk.text
    person.click(f"{AGE} .edge")
    for _ in range(2):
        person.click(f"{AGE} [data-join]")
    person.until(f"document.querySelector('{AGE} .asked')?.textContent.includes('groups')")
    fill(person, f"{AGE} [name=why]", "x")
    assert sent(person, f"{AGE} .decide button").startswith("Not done") and desk.text == before


def test_categories_are_joined_under_a_label(desk: Desk, person: Browser) -> None:
    desk.open(person, "columns")
    form = '#column-night form[action="/do/labels"]'
    person.click(f"{form} summary")
    fill(person, f"{form} [name='label 1']", "no")
    fill(person, f"{form} [name=why]", "One")
    sent(person, f"{form} .decide button")
    assert desk.data["columns"][3]["alternatives"]["published"] == {"no": ["no", "yes"]}
    assert desk.log[-1]["words"]


def test_a_rule_is_a_sentence_and_its_records_are_shown_before_it_is_added(desk: Desk, person: Browser) -> None:
    desk.open(person, "rules")
    assert "No record has ward equal to surgery and age below 1." in person.value("document.body.innerText")
    fill(person, "[data-rule] [name=never]", "ward = children and age > 16")
    found = person.until("document.querySelector('#rule-found').textContent.match(/.*break it.$/)?.[0]")
    assert found.startswith("No record has ward equal to children and age above 16. ")
    fill(person, "[data-rule] [name=source]", "House rules")
    fill(person, "[data-rule] [name=why]", "They go elsewhere")
    assert sent(person, "[data-rule] .decide button").startswith("Done")
    assert desk.data["constraints"]["raw"][1] == {
        "never": "ward = children and age > 16",
        "source": "House rules",
    }
    ready(person)
    person.click("details[id='examples-constraints.raw.2'] summary")
    assert person.value("document.querySelectorAll('details[open] td').length") > 0
    person.click("details[id='remove-constraints.raw.2'] summary")
    fill(person, "details[id='remove-constraints.raw.2'] [name=why]", "A mistake")
    assert (
        sent(person, "details[id='remove-constraints.raw.2'] button").startswith("Done")
        and len(desk.data["constraints"]["raw"]) == 1
    )


def test_a_threshold_slides_and_says_what_it_costs(desk: Desk, person: Browser) -> None:
    desk.open(person, "criteria")
    form = '[data-criterion="mean-days"]'
    person.do(f"document.querySelector('{form} [type=range]').focus()")
    assert person.focused().startswith('slider "Threshold')
    for _ in range(3):
        person.press("ArrowLeft")
    value = person.value(f"document.querySelector('{form}').elements.threshold.value")
    assert float(value) < 2
    person.until(f"document.querySelector('{form}').dataset.answered == '{value}'")
    noise = person.value(f"document.querySelector('{form} [data-cost=noise]').textContent")
    assert noise.endswith("%") and person.value(
        f"document.querySelector('{form} [data-cost=needed]').textContent"
    )
    person.press("Home")
    person.until(f"document.querySelector('{form} [data-verdict]').textContent.includes('another sample')")
    fill(person, f"{form} [name=threshold]", "1.7")
    fill(person, f"{form} [name=why]", "Half a day less")
    assert sent(person, f"{form} .decide button").startswith("Done")
    assert desk.data["criteria"][1]["threshold"] == "1.7"


def test_the_budget_is_a_picture_and_says_what_one_person_risks(desk: Desk, person: Browser) -> None:
    desk.open(person, "budget")
    before = person.value("document.querySelector('[data-budget=guesses]').textContent")
    fill(person, "[data-spending] [name=generator]", "1")
    person.until(f"document.querySelector('[data-budget=guesses]').textContent != '{before}'")
    assert int(person.value("document.querySelector('[data-budget=guesses]').textContent")) < int(before)
    fill(person, "[data-spending] [name=total]", "2")
    person.until("document.querySelector('[data-spending] [data-verdict]').textContent.includes('more than')")
    fill(person, "[data-spending] [name=total]", "5")
    fill(person, "[data-spending] [name=why]", "Less risk")
    assert sent(person, "[data-spending] .decide button").startswith("Done")
    assert (desk.data["budget"]["generator"], desk.data["budget"]["total"]) == ("1", "5")


def test_comments_and_signatures_are_in_the_log(desk: Desk, person: Browser) -> None:
    desk.open(person, "budget")
    person.click("details.talk summary")
    fill(person, "details.talk [name=words]", "Is this enough?")
    sent(person, "details.talk button")
    assert (desk.log[-1]["item"], desk.log[-1]["why"]) == ("budget", "Is this enough?")
    desk.open(person, "decisions")
    assert sent(person, "form[action='/do/sign'] button").startswith("Done")
    signed = desk.log[-1]
    assert (signed["deed"], signed["role"]) == ("signature", "lawyer") and len(signed["plan"]) == 64
    assert "this plan" in person.value("document.querySelector('table').innerText")
    assert Decisions.of((desk.folder / "wards.decisions.jsonl").read_bytes()).text == desk.text
    assert person.value("document.querySelectorAll('.log ins').length") > 0


def test_the_page_follows_the_file_and_asks_who_changed_it(desk: Desk, person: Browser) -> None:
    desk.open(person, "")
    desk.path.write_text(desk.text.replace("title: Stays", "title: All stays"), encoding="utf-8")
    person.until("document.querySelector('h1').textContent.startsWith('All stays')")
    person.until("document.querySelector('.outside') !== null")
    fill(person, ".outside [name=why]", "A better title")
    assert sent(person, ".outside button").startswith("Done")
    assert desk.log[-1]["outside"] is True and desk.log[-1]["why"] == "A better title"


def test_a_file_that_is_broken_outside_is_told_with_its_line(desk: Desk, person: Browser) -> None:
    good = desk.text
    desk.open(person, "columns")
    desk.path.write_text(re.sub(r"threshold: \S+", "threshold: much", good, count=1), encoding="utf-8")
    try:
        person.until("document.querySelector('.problem')?.textContent.includes('line')")
        assert violations(person) == []
    finally:
        desk.path.write_text(good, encoding="utf-8")
    person.until("document.querySelector('.column') !== null")


def test_two_people_change_different_items_and_both_stay(
    desk: Desk, person: Browser, chromium: Chromium
) -> None:
    with chromium.browser() as other:
        desk.enter(other, "criteria", "Bob", "epidemiologist")
        desk.open(person, "criteria")
        for one, name, value in ((person, "mean-days", "1.9"), (other, "total-variation-worst", "0.25")):
            fill(one, f'[data-criterion="{name}"] [name=threshold]', value)
            fill(one, f'[data-criterion="{name}"] [name=why]', "x")
        for one, name in ((person, "mean-days"), (other, "total-variation-worst")):
            assert sent(one, f'[data-criterion="{name}"] .decide button').startswith("Done")
        assert [c["threshold"] for c in desk.data["criteria"]][1:] == ["1.9", "0.25"]
        assert {line.get("by") for line in desk.log[-2:]} == {"Ada", "Bob"}


def test_who_saw_something_else_is_told_and_nothing_is_undone(
    desk: Desk, person: Browser, chromium: Chromium
) -> None:
    with chromium.browser() as other:
        desk.enter(other, "criteria", "Bob", "epidemiologist")
        desk.open(person, "criteria")
        form = '[data-criterion="mean-days"]'
        for one, value in ((person, "1.2"), (other, "1.3")):
            fill(one, f"{form} [name=threshold]", value)
            fill(one, f"{form} [name=why]", "x")
        assert sent(person, f"{form} .decide button").startswith("Done")
        other.until("!document.querySelector('#meanwhile').hidden")
        assert other.value(f"document.querySelector('{form}').elements.threshold.value") == "1.3", "not lost"
        assert "E442" in sent(other, f"{form} .decide button")
        assert desk.data["criteria"][1]["threshold"] == "1.2"


def test_the_whole_text_can_be_changed(desk: Desk, person: Browser) -> None:
    desk.open(person, "text")
    person.do("document.querySelector('[name=text]').value += '# a last word\\n'")
    fill(person, "[name=why]", "A comment")
    assert sent(person, "form[action='/do/text'] .decide button").startswith("Done")
    assert desk.text.endswith("# a last word\n")


def test_nobody_decides_without_a_name_and_a_reason(desk: Desk, chromium: Chromium) -> None:
    with chromium.browser() as stranger:
        stranger.open(desk.door.link())
        stranger.open(f"{desk.door.origin}/decisions")
        fill(stranger, "form[action='/do/sign'] [name=role]", "x")
        assert "E443" in sent(stranger, "form[action='/do/sign'] button")


def test_a_browser_comes_in_by_a_file_and_its_cookie_is_for_our_pages_alone(
    desk: Desk, chromium: Chromium
) -> None:
    """What leads there is a page of no origin: the door lets its token in, and nothing else of it."""
    page = desk.door.page(desk.door.link())
    with chromium.browser() as stranger:
        stranger.open(page)
        stranger.until("document.querySelector('#who input') !== null")
        assert stranger.value("location.href") == f"{desk.door.origin}/" and not page.parent.exists()
        assert [(cookie["sameSite"], cookie["httpOnly"]) for cookie in stranger.cookies()] == [("Strict", True)]
        visited = stranger.ask("Page.getNavigationHistory")["entries"]
        assert not any("token" in entry["url"] for entry in visited)


EVIL = """<!doctype html><title>evil</title><body><script>
const to = "%s", form = new URLSearchParams({item: "title", value: "Stolen", prose: "1", why: "x", back: "/"});
const tries = {
  post: () => fetch(to + "/do/change", {method: "POST", body: form, mode: "no-cors", credentials: "include"}),
  read: () => fetch(to + "/text", {credentials: "include"}).then(answer => answer.text()),
  script: () => new Promise((yes, no) => {
    const tag = document.createElement("script");
    [tag.src, tag.onload, tag.onerror] = [to + "/ask/news", yes, no];
    document.body.append(tag);
  }),
  frame: () => new Promise(yes => {
    const tag = document.createElement("iframe");
    [tag.src, tag.onload] = [to + "/text", yes];
    document.body.append(tag);
  }),
};
(async () => {
  for (const [name, attempt] of Object.entries(tries))
    document.body.dataset[name] = await attempt().then(() => "came back", () => "refused");
  const tag = document.createElement("form");
  [tag.method, tag.action, tag.target] = ["post", to + "/do/change", "_blank"];
  for (const [name, value] of form) tag.append(Object.assign(document.createElement("input"), {name, value}));
  document.body.append(tag);
  tag.submit();
  document.body.dataset.done = "yes";
})();
</script>"""


def test_another_page_in_the_same_browser_can_do_nothing(desk: Desk, person: Browser, tmp_path: Path) -> None:
    """Another port of this machine is the same site, so the browser sends the cookie along: the door holds."""
    (tmp_path / "evil.html").write_text(EVIL % desk.door.origin, encoding="utf-8")
    before, log = desk.text, len(desk.log)
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        person.open(f"http://127.0.0.1:{other.server_port}/evil.html")
        person.until("document.body.dataset.done")
        found = person.value("({...document.body.dataset})")
        other.shutdown()
    assert found["read"] == found["script"] == "refused"
    assert person.value("document.querySelector('iframe').contentDocument === null"), (
        "another origin, or nothing"
    )
    assert desk.text == before and len(desk.log) == log and "Stolen" not in desk.text
    desk.open(person, "")
    assert "Stolen" not in person.value("document.body.innerText")
