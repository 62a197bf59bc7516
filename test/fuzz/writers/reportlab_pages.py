"""pdf, by reportlab."""

import os
from xml.sax.saxutils import escape

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table

from common import cells_of, width_of

FOLDERS = ("/usr/share/fonts/truetype/dejavu", "/usr/share/fonts/TTF", "/usr/share/fonts/dejavu")


def font_with_all_letters():
    for folder in FOLDERS:
        path = os.path.join(folder, "DejaVuSans.ttf")
        if os.path.exists(path):
            pdfmetrics.registerFont(TTFont("DejaVu", path))
            bold = os.path.join(folder, "DejaVuSans-Bold.ttf")
            pdfmetrics.registerFont(TTFont("DejaVu-Bold", bold if os.path.exists(bold) else path))
            pdfmetrics.registerFontFamily("DejaVu", normal="DejaVu", bold="DejaVu-Bold")
            return "DejaVu"
    raise ImportError("no DejaVu Sans is installed, which holds the letters that are written")


FONT = font_with_all_letters()
TEXT = ParagraphStyle("text", fontName=FONT, fontSize=10, leading=14, spaceAfter=8)
HEADING = ParagraphStyle("heading", parent=TEXT, fontSize=16, leading=20, spaceAfter=10, spaceBefore=10)
GRID = [
    ("GRID", (0, 0), (-1, -1), 0.5, colors.black),
    ("VALIGN", (0, 0), (-1, -1), "TOP"),
    ("FONTNAME", (0, 0), (-1, -1), FONT),
]


def markup(runs):
    written = []
    for run in runs:
        text = escape(run["text"])
        if "font" in run:
            # The library itself finds the code of a sign in its font.
            text = '<font name="%s">%s</font>' % (run["font"], run["written"][0])
        if run.get("shift"):
            tag = "super" if run["shift"] == "raised" else "sub"
            text = "<%s>%s</%s>" % (tag, text, tag)
        if run.get("bold"):
            text = "<b>%s</b>" % text
        written.append(text)
    return "".join(written)


def table_of(part):
    height, width = len(part["rows"]), width_of(part)
    rows = [[""] * width for _ in range(height)]
    spans = []
    for y, x, rows_over, columns_over, runs in cells_of(part):
        rows[y][x] = Paragraph(markup(runs), TEXT) if runs else ""
        if rows_over > 1 or columns_over > 1:
            spans.append(("SPAN", (x, y), (x + columns_over - 1, y + rows_over - 1)))
    return Table(rows, colWidths=[470 / width] * width, style=GRID + spans)


def flowables(part):
    if part["kind"] == "heading":
        return [Paragraph(markup(part["runs"]), HEADING)]
    if part["kind"] == "table":
        return [table_of(part), Spacer(1, 12)]
    return [Paragraph(markup(part["runs"]), TEXT)]


def write(content, path):
    document = SimpleDocTemplate(path, pagesize=A4, title=content["title"])
    document.build([each for part in content["parts"] for each in flowables(part)])
