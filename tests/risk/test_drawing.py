from __future__ import annotations

from xml.etree import ElementTree

from facsimile.risk.drawing import described, drawn
from risk.samples import sample


def test_a_drawing_has_a_dot_for_each_table_in_their_order_and_says_the_same_in_words() -> None:
    findings = [f for f in sample().attacks if f.question == "membership"]
    drawing = ElementTree.fromstring(drawn(findings, 0.73))
    dots = [float(dot.attrib["cx"]) for dot in drawing.iter("circle")]
    assert dots[0] > dots[1] > dots[2]
    assert drawing.attrib["aria-label"] == described(findings)
    assert "the table itself 90.0\u00a0%" in described(findings)
    texts = [text.text for text in drawing.iter("text")]
    assert "most that ε allows: 73.0\u00a0%" in texts and "most" not in drawn(findings)


def test_what_lies_below_the_scale_is_drawn_at_its_edge() -> None:
    findings = [f for f in sample().attacks if f.question == "inference"]
    lines = list(ElementTree.fromstring(drawn(findings)).iter("line"))
    assert min(float(line.attrib["x1"]) for line in lines) >= 0
