"""Codebooks: a description of tables in the form of DDI-Codebook, version 2.5 and those before it.

Names are taken without their namespaces. A document type, and with it every entity, is refused while the text
is read.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from facsimile.draft.description import Field, Kind, Malformed, Resource, bound, one_line

DEEPEST = 100
SIDES = (("min", "minExclusive"), ("max", "maxExclusive"))


def resources(content: bytes) -> list[Resource]:
    """The tables of a codebook: each of its files with the variables that it has."""
    book = _tree(content)
    if book.tag != "codeBook":
        raise Malformed("it is no DDI-Codebook")
    title = _words(book.find("stdyDscr/citation/titlStmt/titl"))
    variables = [(each.get("files", "").split(), _field(each)) for each in book.iterfind("dataDscr/var")]
    found = []
    for file in book.iterfind("fileDscr"):
        key, name = file.get("ID", ""), _text(file.find("fileTxt/fileName"))
        fields = {said.name: said for files, said in variables if said.name and (key in files or not files)}
        if name and fields:
            found.append(Resource((name, key), name, title, fields))
    return found


def _field(variable: Element) -> Field:
    labels: dict[str, str] = {}
    missing = [item.get("VALUE", "") for item in variable.iterfind("invalrng/item")]
    for category in variable.iterfind("catgry"):
        value = _text(category.find("catValu"))
        labels |= {value: _words(category.find("labl")) or value} if value else {}
        missing += [value] if category.get("missing") == "Y" else []
    if not labels:
        labels = {value: value for item in variable.iterfind("valrng/item") if (value := item.get("VALUE", ""))}
    absent = tuple(dict.fromkeys(filter(None, missing)))
    return Field(
        name=variable.get("name", ""),
        title=_words(variable.find("labl")),
        labels=labels,
        missing=absent,
        kind=_kind(variable, bool(set(labels) - set(absent))),
        bounds=_bounds(variable),
    )


def _kind(variable: Element, labelled: bool) -> Kind | None:
    """What is said clearly; a number with a few labels may be either."""
    shown, nature = variable.find("varFormat"), variable.get("nature")
    written = None if shown is None else shown.get("type")
    if shown is not None and shown.get("category") == "date":
        return "date"
    if nature in ("nominal", "ordinal"):
        return "category"
    if written == "character":
        return "category" if labelled else None
    if nature in ("interval", "ratio", "percent") or variable.get("intrvl") == "contin":
        return "number"
    return "number" if written == "numeric" and not labelled else None


def _bounds(variable: Element) -> tuple[str | None, str | None]:
    """The ends of the one range of valid values; archives write stars and dots where there is none."""
    ranges = variable.findall("valrng/range")
    if len(ranges) != 1:
        return None, None
    low, high = (next((ranges[0].attrib[key] for key in side if key in ranges[0].attrib), "") for side in SIDES)
    return bound(low), bound(high)


def _words(element: Element | None) -> str:
    return one_line(_text(element))


def _text(element: Element | None) -> str:
    """As it stands there: a value may hold two blanks."""
    return "" if element is None else "".join(element.itertext()).strip()


def _tree(content: bytes) -> Element:
    """The elements of a text without a document type."""
    builder, parser, depth = TreeBuilder(), expat.ParserCreate(namespace_separator=" "), [0]

    def start(name: str, given: dict[str, str]) -> None:
        depth[0] += 1
        if depth[0] > DEEPEST:
            raise Malformed("it nests too deep")
        builder.start(_local(name), {_local(key): value for key, value in given.items()})

    def end(name: str) -> None:
        depth[0] -= 1
        builder.end(_local(name))

    def doctype(*_: object) -> None:
        raise Malformed("it has a document type, which may hold entities")

    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = builder.data, doctype
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, ValueError, LookupError):
        raise Malformed("it is no XML") from None
    return builder.close()


def _local(name: str) -> str:
    return name.rpartition(" ")[2]
