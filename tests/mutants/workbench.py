"""Mistakes at the door of the workbench, and where people's changes meet: each must die."""
# ruff: noqa: E501  texts of patches are as long as the lines they change

from __future__ import annotations

from mutants.mutant import Mutant

DOOR = "tests/workbench/test_door.py"
AGREED = "tests/agreement/test_agreed.py"
TRYING = "tests/workbench/test_trying.py"

WORKBENCH = (
    Mutant(
        "values of a confidential file are read for the public",
        "privacy/reader.py",
        '    """The values that a public table writes, for looks at bins that are not declared yet."""\n    refuse_confidential(data)\n',
        '    """The values that a public table writes, for looks at bins that are not declared yet."""\n',
        ("tests/table/test_values.py::test_values_of_a_confidential_file_are_refused",),
        "a page would draw exact histograms of confidential records",
    ),
    Mutant(
        "the workbench asks once whether a file is public",
        "workbench/bench.py",
        "        self.refuse_confidential()\n        public, spec = self.public, seen.specification\n",
        "        public, spec = self.public, seen.specification\n",
        ("tests/workbench/test_bench.py::test_a_file_that_became_confidential_is_not_looked_at_again",),
        "a file that a release claims while the page is open would still be shown",
    ),
    Mutant(
        "any host is answered",
        "workbench/door.py",
        '        if headers.getlist("host") != [f"{HOST}:{self.port}"]:\n',
        '        if not headers.get("host", "").endswith(f":{self.port}"):\n',
        (f"{DOOR}::test_a_name_that_was_rebound_is_refused",),
        "a name that was rebound to this machine reads and changes everything",
    ),
    Mutant(
        "a change need not say where it comes from",
        "workbench/door.py",
        "or not (safe or origins):",
        "or False:",
        (f"{DOOR}::test_what_changes_something_says_where_it_comes_from",),
        "a form of another page would be taken",
    ),
    Mutant(
        "origins are not compared",
        "workbench/door.py",
        "        if (origins and origins != [self.origin])",
        "        if (origins and not origins)",
        (f"{DOOR}::test_another_origin_is_refused",),
        "another port of this machine is the same site: the browser sends the cookie along",
    ),
    Mutant(
        "a link works twice",
        "workbench/door.py",
        "        self.links.discard(token)\n",
        "",
        (f"{DOOR}::test_a_link_lets_one_person_in_once",),
        "who reads the terminal's history or the browser's comes in",
    ),
    Mutant(
        "a page is open to who has no cookie",
        "workbench/door.py",
        'if request.cookies.get(self.door.cookie, "") not in self.door.people:',
        "if not request.cookies and not self.door.people:",
        (f"{DOOR}::test_nobody_is_inside_without_the_cookie",),
        "any program of this machine could change the specification",
    ),
    Mutant(
        "a link out of a bundle is followed",
        "workbench/trying.py",
        "    if path.is_symlink() or not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):\n",
        "    if not path.is_file():\n",
        (f"{TRYING}::test_no_other_file_is_ever_shown",),
        "a bundle from elsewhere could show any file of this user",
    ),
    Mutant(
        "what was seen is not compared",
        "agreement/agreed.py",
        "    if change.seen is not UNSEEN and now_there != change.seen:\n",
        "    if False:\n",
        (f"{AGREED}::test_what_was_seen_must_still_be_there",),
        "the second of two people would undo the first without a word",
    ),
    Mutant(
        "changes are made without the lock",
        "agreement/agreed.py",
        '        return storage.locked(real.with_name(f".{real.name}"), PATIENCE_SECONDS)\n',
        "        import contextlib\n\n        return contextlib.nullcontext(real)\n",
        (f"{AGREED}::test_two_processes_lose_no_change",),
        "two processes write over each other",
    ),
    Mutant(
        "a signature under another plan than the one that was seen",
        "agreement/agreed.py",
        "            if plan is not None and plan != found:\n",
        "            if False:\n",
        (f"{AGREED}::test_a_signature_is_under_the_plan_as_it_is",),
        "somebody signs what somebody else changed a moment ago",
    ),
    Mutant(
        "lines of a log that do not follow each other",
        "documents/decisions.py",
        'if entry.before != before or (entry.deed == "begun") != (place == 0):',
        "if False:",
        ("tests/documents/test_decisions.py::test_a_line_that_is_changed_left_out_or_moved_is_seen",),
        "a decision could be taken out of the log",
    ),
)  # fmt: skip
