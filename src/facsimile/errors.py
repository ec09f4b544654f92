"""Everything facsimile refuses, in one place.

    FacsimileError                 code, one sentence, one thing to do next
    ├── Refused          exit 2    the command (E0xx), the input, the specification or the output (E4xx)
    │   │                          cannot be used; nothing was charged
    │   ├── SpecRefused            E2xx, with the line of the specification
    │   └── DataRefused            E1xx, names items of the specification only
    ├── BudgetRefused    exit 3    E301
    ├── LedgerRefused    exit 4    E31x, E32x, E33x
    ├── VerifyFailed     exit 5    E5xx
    ├── NoRelease        exit 6    E6xx
    └── MechanismFailed  exit 1    E7xx, E302, E304–E306: errors of the program, silent about the data

A sentence may name columns, alternatives and keys of the specification. It never contains a value, a row
or a number that was read from a data file.

>>> refusal("E142", column="parity")
DataRefused('E142', 'Column parity holds values outside its declared domain.')
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One error: its sentence (with named places for items of the specification) and the next step."""

    sentence: str
    next_step: str


_CATALOGUE = """
# the command line
E001 {problem}
     Run `{command} --help`.
E004 A password stands in the command line, where every user of this machine can read it.
     Leave it out and put it into ~/.pgpass, a file that PGPASSFILE names, or PGPASSWORD; then change it.
# a call from Python
E002 A table of this kind needs the package {package}.
     Install it: pip install {package}, or take to_arrow().
E003 {problem}
     See help({call}).
# data files: refused before any charge
E101 The data file does not exist.
     Check the path that was given.
E102 The data file is empty.
     Export the table again with a header and its records.
E103 The data file has a header and no records.
     Export the table again with its records.
E104 The number of records does not equal records.count of the specification.
     Correct the file, or the declared count if it is wrong in public.
E105 The data file is of a kind that facsimile does not read.
     Give CSV, CSV.gz, Parquet, Arrow, SPSS, Stata, DuckDB, SQLite, a postgres:// or a spark:// source.
E106 The data source cannot be opened or read.
     Check that it is whole and that you may read it; of a server, its name, port, database and login.
E107 The data source holds several tables.
     Name one after a number sign: SOURCE#TABLE.
E108 The data source has no such table.
     Name an existing table after a number sign: SOURCE#TABLE.
E109 Reading this source needs the extra {extra}.
     Install it: pip install 'facsimile[{extra}]'.
E110 The data file lacks the columns {columns}.
     Add them, or correct `source` in the specification.
E111 The data file names the column {column} twice.
     Rename or remove one of the two.
E112 Column {column} has a type in the data file that cannot be read as its specification says.
     Export it as a number, a text or a date.
E113 The two files hold different numbers of records.
     Compare files of the same size.
E114 The address of the data is malformed: {problem}.
     Write FILE, FILE#TABLE, postgres://USER@HOST/DATABASE#TABLE, spark://local/PATH or spark://HOST:PORT#TABLE.
E115 The data is no file, so nothing can lie beside it.
     Say with --dataset-key FILE where its key, journal and transcript are kept.
E116 The dataset key cannot lie there: that of a file lies beside it, that of a folder outside it.
     Leave --dataset-key out for a file, or name a place outside the folder.
E117 The list of this machine's confidential tables cannot be read, so nothing can be taken for public.
     Make the state folder readable (docs/commands.md, Addresses), or restore it.
E118 The table cannot be noted as confidential on this machine; nothing was charged.
     Make the state folder writable, or name another one with FACSIMILE_STATE.
E119 The files of the data folder do not all have the same columns and types.
     Write them again with one schema.
E120 The data file is not UTF-8.
     Convert it to UTF-8.
E121 The data file holds NUL or text-direction characters.
     Remove them at the source.
E122 The data file is an archive or expands beyond reason.
     Give the table itself, or a plain .csv.gz.
E124 A table in memory cannot be released: its key cannot lie beside it, and no ledger knows it again.
     Write it to a file and give its path, or rehearse on public data: rehearse=True, seed=1, public=True.
E125 The description {file} cannot be read: {problem}.
     Correct it, or give the data file itself.
E126 The data file that {file} names cannot be used: {problem}.
     Put it into the folder of the description, or below it, and name it there.
E130 A row of the data file has another number of fields than its header.
     Export the table again.
E131 A row of the data file holds a field of 64 kB or more.
     Remove free text before the export.
E140 Column {column} holds text where a number or a date belongs.
     Clean it, or declare `malformed: drop` or `malformed: missing` for the column.
E141 Column {column} has missing values and no rule for them.
     Fill them, or declare `missing: drop`, a code or a constant for the column.
E142 Column {column} holds values outside its declared domain.
     Correct them, or declare `outside: drop`, `clip` or a label for the column.
E151 A release needs at least two records.
     Give a table with more records.
E152 A risk report needs a public file of 50 records or more.
     Take a larger public file, or simulate one: `facsimile simulate`.
E153 The public file has no column that a draft could be made of.
     Give one with columns of numbers, dates or categories that differ between records.
E160 The domain has too many cells for the generator {family}.
     Coarsen an alternative, or drop that generator from `families`.
E161 A label starts with a character that a spreadsheet would run as a formula.
     Begin labels with a letter, a digit or <.
# specification
E200 {problem}
     Correct the line; `facsimile schema` describes every key.
E201 {problem}
     Give a positive decimal such as 0.5.
E202 The key {key} is given twice.
     Keep one of them.
E203 The parts of the budget add up to {parts}, more than the declared total {total}.
     Raise budget.total or lower a part.
E204 {problem}
     Choose {choice}.
E205 Unknown key {key}.
     {suggestion}
E206 A production run takes no seed.
     Remove the seed, or rehearse with --rehearse --seed.
E208 This command shows exact figures, so it takes public files only.
     Say --public if they are public.
E209 {call} protects nothing, so it takes public data only.
     Say public=True if they are public; confidential data go to facsimile.release.
E207 {file} has a dataset key, so it is confidential.
     Give a public source (others of the same folder are fine), or run `facsimile release`.
E210 The specification is not plain YAML: {problem}
     {suggestion}
E211 Bounds must be declared, not taken from the data.
     Write two numbers that are known in public: bounds: [0, 120].
E212 The file {file} does not exist or cannot be read.
     Check its path and your permissions.
E213 {problem}
     {suggestion}
E214 {problem}
     Add it; `facsimile schema` describes every key.
E215 An epsilon is not taken as a float: {given} may not be the decimal that was typed.
     Write it as a text: epsilon="{given}", or give a Fraction or a Decimal.
E216 The family {family} of another package cannot be used: {problem}.
     Repair or remove that package, or drop the family from `families`.
E217 The prior {file} {problem}.
     {suggestion}
E218 The prior {file} cannot be used: {problem}
     Correct that file, or what `prior` says of it; it is read like the data.
E219 The prior is the data itself.
     Name another public table: data cannot be their own prior.
E220 The specification has no item {item}.
     {suggestion}
E221 The layout of {file} stays as it is: {problem}.
     Look at what is unusual in the file, and write it plainly.
E222 {file} has another layout than the one that all specifications have.
     Run `facsimile spec fmt {file}`.
# budget and ledger
E301 The budget does not suffice: {asked} asked, {remaining} remaining; the data was not opened.
     Lower the budget of the specification; what was spent cannot be won back.
E302 A receipt opens the table once.
     Report it: this is an error of the program.
E303 A charge is positive.
     Report it: this is an error of the program.
E304 A step asked for more than its allowance.
     Report it: this is an error of the program.
E305 A step is not one of the proved mechanisms.
     Report it: this is an error of the program.
E306 A step ({name}) asked a question that does not fit the public form of the table.
     Report it: this is an error of the program.
E307 The ledger has no delta or rho left for this: it was opened with too little, and the data was not opened.
     Lower budget.delta, or leave it out; `facsimile ledger new --again --delta` opens another on purpose.
E308 A ledger's delta lies between 0 and 1, and its cap pays for its rho at half of that delta.
     Give --delta such as 0.000000001, and a smaller --rho or a larger --cap.
E310 The ledger or its anchor is damaged.
     Restore both from the last backup made together; nothing is repaired by itself.
E311 The ledger and its anchor belong to different histories.
     Find the ledger that fits the anchor.
E312 The ledger is older than its anchor or the dataset key says.
     Find the newest ledger; an older copy would forget spending.
E313 The ledger ends in the middle of an entry.
     Keep the file and ask a reviewer: the entry counts as spent.
E314 The ledger, its anchor or the dataset key cannot be reached.
     Check the path and your permissions.
E315 The ledger belongs to another dataset.
     Give the ledger of this dataset, and keep its key (FILE.key) beside the data.
E316 The data has another ledger.
     Give that one (and its key); `facsimile ledger new --again` opens another on purpose, and what was spent \
is carried over.
E317 The dataset key beside the data is damaged.
     Restore it from a backup: it knows which ledger counts for the data.
E318 The ledger's anchor is missing.
     Give its place with --anchor, or restore it from a backup made together with the ledger.
E319 This release was decided, and its journal is missing beside the data.
     Put it back (FILE.key.*.decision): nothing is drawn again under the same charge.
E320 Another process holds the ledger, or is making this very release.
     Wait until it ends and run the command again.
E330 The disk is full or not writable; nothing was charged.
     Free space and run the command again.
E332 The anchor could not be written; the last entry of the ledger counts.
     Make the anchor's place writable and run `facsimile ledger verify`.
E333 The transcript could not be sealed; what was charged and released stands.
     Check the disk of the data; `facsimile ledger show` says what was done.
E331 The disk did not confirm a write; the ledger is marked suspect.
     Check the disk and ask a reviewer: the entry counts as spent.
# output
E401 The output already exists.
     Choose another name, or move the old one away.
E402 The output would pass through a link, hold the data or lie inside them.
     Choose another folder.
E403 The output cannot be written.
     Check that the folder exists, is writable and has space.
E404 The signing key cannot be read.
     Give an Ed25519 private key in PEM form, without a passphrase.
E406 What the command has to say could not be printed; what it did stands.
     Free space where standard output goes, and run it again if you need its words.
# studies on public data
E410 The study cannot be read.
     Give a file that `facsimile explore` has made.
E411 Another process writes this study.
     Wait until it ends, or give another file.
E412 A cluster needs the package distributed.
     Install facsimile with its extra `cluster`, or leave it out.
E413 The scheduler cannot be reached.
     Check the address given with --scheduler.
E414 The study is of another specification, file, rule or seed.
     Repeat the command it was begun with, or give another file.
E415 The study holds no plan: no finalist meets every criterion often enough in fresh trials.
     Explore longer, give other families, or a larger generator epsilon.
E416 A total of {total} buys {buys}; probability {wish} needs a total of {needed}.
     Agree on that total and give it with --total, or ask for less with --accept.
E417 Nothing that was tried releases with probability {wish}: the best is {span}, for a total of {total}.
     Ask for less with --accept, or explore other families or a larger generator epsilon.
E418 The study cannot tell whether {wish} is in reach: the best is {span}, for a total of {total}.
     Explore again with --fresh {fresh} and another --out, or ask for less with --accept.
E419 No configuration was accepted in {wish} or more of its trials: {problem}.
     Explore longer, other families or a larger generator epsilon.
E420 So many configurations are kept ({asked}) that no specification can list them.
     Keep fewer with --keep, or draw from all that the study's specification allows.
E421 {name} is not the beginning of one configuration of the study that made a table: {problem}.
     Give more letters of an identifier that the study's page lists.
E422 The fitted model cannot be read.
     Give a file that Fitted.save has made.
E423 The model cannot be stored: it is of a kind that facsimile does not know.
     Fit it again with the same seed: a rehearsal gives the same model.
E424 The file is not a risk report.
     Make one: `facsimile risk SPEC --public FILE -o risk.json`.
E425 The file is not a whole audit of this version that found nothing against a claim.
     Make one: `facsimile audit -o audit.json`.
# questions to a release
E430 The question cannot be read: {problem}.
     Ask like this: count where age < 18 and sex = F.
E431 The release has no column {column}.
     {suggestion}
E432 Column {column} has no value {given}.
     {suggestion}
E433 {asked} cuts through the bin {name} of {column}: it holds for some of its values only.
     {suggestion}
E434 The question has no answer: {problem}
     Ask for counts, or name other columns; the release's README lists them.
E435 {problem}
     Give a confidence such as 0.95, and the number of questions that shall hold together.
# papers of a dossier
E440 {file} cannot be put into a dossier: {problem}.
     Make it again with `facsimile audit --json` or `facsimile risk --json`.
# agreeing on a specification
E441 The log of decisions {file} is not whole: a line was changed, left out or put in between.
     Restore it from a backup, or move it away to begin a new one.
E442 Somebody changed {item} meanwhile: nothing was written.
     Look at it as it is now, and change it again if you still want to.
E443 A decision needs a name and a reason, each of at most 4,000 characters.
     Say who decides, and why.
E444 The workbench has no public file to try anything on.
     Start it with --public FILE.
E445 The workbench shows rehearsed releases and reports that were made on it, and no other file.
     Open the file itself.
E447 The log of decisions {file} does not end with this specification.
     Note what was changed since: `facsimile spec log SPEC --by NAME --why REASON`.
E446 Port {port} of this machine is taken, or not yours to use.
     Leave --port out for a free one.
# verification of a bundle
E501 {file} is missing from the bundle.
     Get the bundle again from its publisher.
E502 {file} is not the file that was published.
     Get the bundle again from its publisher.
E503 {file} says something that does not follow from the rest: {problem}.
     Do not use the bundle; tell its publisher.
E504 {file} says that the bundle is a rehearsal.
     Use it to try things out; it is not a release.
E505 {file} does not sign this bundle.
     Ask the publisher for the bundle and for the key.
E506 The bundle is not the one you named: {problem}.
     Do not use it as theirs; ask the publisher for the bundle, the key and the hash of the plan.
E507 There is no folder {file} to verify.
     Give the folder of a bundle; check its path.
E508 {file} is not a folder.
     Give the folder of a bundle, not one of its files.
E509 The folder {file} is empty.
     Give the folder of a bundle, or get the bundle again.
E510 {file} is about another plan than the bundle.
     Make the report of risks again with the specification of this release.
E520 The audit found something against a claim of this installation.
     Release nothing with it; report the failed lines and the versions, never data.
# no release
E601 No candidate was accepted: there is no release, and the budget is spent.
     Plan again on public data before another budget is agreed.
E602 The release is decided and its budget spent, and it could not be written to the end.
     Free space or choose another --out, and run the same command again: it goes on at no further cost.
E603 The disk failed before the decision was safe: there is no release, and the budget is spent.
     Free space where the ledger lies; another release needs another budget.
E604 The disk failed before the decision was safe: there is no release yet, and its charge is open.
     Free space where the ledger lies, and run the same command again: it goes on at no further cost.
E605 No candidate was accepted in this rehearsal; nothing was charged.
     Try other seeds, and see with `facsimile explore` how often a candidate is accepted.
E606 No rehearsal ended in a release, so there is nothing to attack; nothing was charged.
     Take a larger public file, or see with `facsimile explore` how often a candidate is accepted.
# internal
E701 The mechanism {name} failed; its charge stays.
     Report the version of facsimile, never the data.
E700 An internal error stopped the command; no details are shown because they could hold data.
     Report the command and the version of facsimile, never the data.
"""


def _read(catalogue: str) -> dict[str, Entry]:
    """The entries of a catalogue: a code and its sentence in one line, the next step in another."""
    lines = [line for line in catalogue.strip().splitlines() if not line.startswith("#")]
    pairs = zip(lines[::2], lines[1::2], strict=True)
    return {first[:4]: Entry(first[5:], second.strip()) for first, second in pairs}


CATALOGUE = _read(_CATALOGUE)


class FacsimileError(Exception):
    """An error that people read: a code, one sentence and one thing to do next."""

    exit_code = 1

    def __init__(self, code: str, sentence: str, next_step: str, line: int | None = None) -> None:
        super().__init__(code, sentence)
        self.code, self.sentence, self.next_step, self.line = code, sentence, next_step, line

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line is not None else ""
        return f"{self.code} {place}{self.sentence} {self.next_step}"

    def as_json(self) -> dict[str, object]:
        """The error for `--json`."""
        return {"error": self._fields()}

    def _fields(self) -> dict[str, object]:
        found = {"code": self.code, "message": self.sentence, "next": self.next_step, "line": self.line}
        return {key: value for key, value in found.items() if value is not None}


class Refused(FacsimileError):
    """The input cannot be used; nothing was charged and nothing was lost."""

    exit_code = 2


class SpecRefused(Refused):
    """The specification cannot be used: one mistake, or several that are told together."""

    others: tuple[FacsimileError, ...] = ()
    more: int = 0
    at_least: bool = False

    @classmethod
    def of(cls, mistakes: Sequence[FacsimileError], more: int = 0, at_least: bool = False) -> SpecRefused:
        """Several mistakes as one refusal; `more` of them, or at least so many, are not told."""
        first, *others = mistakes
        found = cls(first.code, first.sentence, first.next_step, first.line)
        found.others, found.more, found.at_least = tuple(others), more, at_least
        return found

    def __str__(self) -> str:
        """One line for each mistake."""
        told = [super().__str__(), *(str(other) for other in self.others)]
        rest = f"… and {'at least ' if self.at_least else ''}{self.more:,} more."
        return "\n".join([*told, rest] if self.more else told)

    def as_json(self) -> dict[str, object]:
        """The first mistake as any error; where there are several, all that are told."""
        if not self.others:
            return super().as_json()
        told = [self._fields(), *(other._fields() for other in self.others)]
        return super().as_json() | {"errors": told} | ({"more": self.more} if self.more else {})


class DataRefused(Refused):
    """The data file cannot be used."""


class BudgetRefused(FacsimileError):
    """The budget does not suffice; the data was not opened."""

    exit_code = 3


class LedgerRefused(FacsimileError):
    """The ledger cannot be trusted or written."""

    exit_code = 4


class VerifyFailed(FacsimileError):
    """A bundle does not hold what it claims."""

    exit_code = 5


class NoRelease(FacsimileError):
    """The run ended without a release; the sentence says what became of the budget."""

    exit_code = 6


class MechanismFailed(FacsimileError):
    """A step failed in a way whose details could depend on the data, so none are given."""

    exit_code = 1


_FAMILIES: dict[str, type[FacsimileError]] = {
    "E302": MechanismFailed,
    "E304": MechanismFailed,
    "E305": MechanismFailed,
    "E306": MechanismFailed,
    "E0": Refused,
    "E1": DataRefused,
    "E2": SpecRefused,
    "E30": BudgetRefused,
    "E3": LedgerRefused,
    "E4": Refused,
    "E5": VerifyFailed,
    "E6": NoRelease,
    "E7": MechanismFailed,
}


def refusal(code: str, *, line: int | None = None, **items: str) -> FacsimileError:
    """The error of this code, its sentence completed with items of the specification."""
    entry = CATALOGUE[code]
    items = {name: _printable(text) for name, text in items.items()}
    kind = _FAMILIES.get(code) or _FAMILIES.get(code[:3]) or _FAMILIES[code[:2]]
    return kind(code, entry.sentence.format(**items), entry.next_step.format(**items), line)


def _printable(text: str) -> str:
    """A text without characters that a terminal obeys.

    >>> _printable("a\\x1b[2Jb")
    'a [2Jb'
    """
    return "".join(c if c.isprintable() else " " for c in text)
