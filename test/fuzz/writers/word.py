"""docx, by python-docx."""

import docx
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Pt

from common import cells_of, width_of


def add_symbol(paragraph, run, as_element):
    """A sign as `w:sym`, as Word inserts it, or as a letter in the font, as typed."""
    if not as_element:
        added = paragraph.add_run(run["text"])
        added.font.name = run["font"]
        added._element.rPr.rFonts.set(qn("w:cs"), run["font"])
        return
    for character in run["text"]:
        sign = OxmlElement("w:sym")
        sign.set(qn("w:font"), run["font"])
        sign.set(qn("w:char"), "F0%02X" % ord(character))
        paragraph.add_run()._element.append(sign)


def add_runs(paragraph, runs, choices):
    for run in runs:
        if "font" in run:
            add_symbol(paragraph, run, choices["symbols"] == "element")
            continue
        text = run["text"]
        if choices["soft_hyphens"] == "element" and "\u00ad" in text:
            add_with_soft_hyphens(paragraph, text)
            continue
        added = paragraph.add_run(text)
        added.bold = True if run.get("bold") else None
        shift = run.get("shift")
        if shift is None:
            continue
        if choices["shifts"] == "style":
            added.style = shift
        elif choices["shifts"] == "position":
            half_points = OxmlElement("w:position")
            half_points.set(qn("w:val"), "8" if shift == "raised" else "-6")
            added._element.get_or_add_rPr().append(half_points)
            added.font.size = Pt(7)
        else:
            setattr(added.font, "superscript" if shift == "raised" else "subscript", True)


def add_with_soft_hyphens(paragraph, text):
    added = paragraph.add_run()
    for index, part in enumerate(text.split("\u00ad")):
        if index > 0:
            added._element.append(OxmlElement("w:softHyphen"))
        added.add_text(part)


def add_table(document, table, choices):
    rows = len(table["rows"])
    added = document.add_table(rows, width_of(table), style="Table Grid")
    for y, x, height, width, runs in cells_of(table):
        cell = added.cell(y, x)
        if height > 1 or width > 1:
            cell = cell.merge(added.cell(y + height - 1, x + width - 1))
        add_runs(cell.paragraphs[0], runs, choices)


def add_list(document, part, choices):
    """A list whose numbers begin anew, which those of a style alone do not."""
    style = document.styles["List Number" if part["isOrdered"] else "List Bullet"]
    numbering = document.part.numbering_part.numbering_definitions._numbering
    named = numbering.num_having_numId(style.element.pPr.numPr.numId.val)
    own = numbering.add_num(named.abstractNumId.val)
    own.add_lvlOverride(ilvl=0).add_startOverride(1)
    for item in part["items"]:
        paragraph = document.add_paragraph(style=style)
        number = paragraph._element.get_or_add_pPr().get_or_add_numPr()
        number.get_or_add_ilvl().val = 0
        number.get_or_add_numId().val = own.numId
        add_runs(paragraph, item, choices)


def write(content, path):
    document = docx.Document()
    choices = content["choices"]
    for name, attribute in (("raised", "superscript"), ("lowered", "subscript")):
        style = document.styles.add_style(name, WD_STYLE_TYPE.CHARACTER)
        setattr(style.font, attribute, True)
    document.core_properties.title = content["title"]
    for part in content["parts"]:
        if part["kind"] == "heading":
            add_runs(document.add_heading(level=part["level"]), part["runs"], choices)
        elif part["kind"] == "list":
            add_list(document, part, choices)
        elif part["kind"] == "table":
            add_table(document, part, choices)
        else:
            add_runs(document.add_paragraph(), part["runs"], choices)
    document.save(path)
