"""pptx, by python-pptx."""

from pptx import Presentation
from pptx.util import Inches

from common import cells_of, width_of


def add_runs(paragraph, runs):
    for run in runs:
        added = paragraph.add_run()
        added.text = run["text"]
        if run.get("bold"):
            added.font.bold = True
        if "font" in run:
            added.font.name = run["font"]
        if "shift" in run:
            added._r.get_or_add_rPr().set("baseline", "30000" if run["shift"] == "raised" else "-25000")


def add_table(slide, table, top):
    rows, columns = len(table["rows"]), width_of(table)
    shape = slide.shapes.add_table(rows, columns, Inches(0.5), Inches(top), Inches(9), Inches(0.4 * rows))
    for y, x, height, width, runs in cells_of(table):
        cell = shape.table.cell(y, x)
        if height > 1 or width > 1:
            cell.merge(shape.table.cell(y + height - 1, x + width - 1))
        add_runs(cell.text_frame.paragraphs[0], runs)


def write(content, path):
    """A slide for each part, since what overlaps on a slide has no order."""
    presentation = Presentation()
    presentation.core_properties.title = content["title"]
    blank = presentation.slide_layouts[6]
    for part in content["parts"]:
        slide = presentation.slides.add_slide(blank)
        if part["kind"] == "table":
            add_table(slide, part, 0.5)
            continue
        box = slide.shapes.add_textbox(Inches(0.5), Inches(0.5), Inches(9), Inches(4))
        box.text_frame.word_wrap = True
        texts = part["items"] if part["kind"] == "list" else [part["runs"]]
        for index, runs in enumerate(texts):
            frame = box.text_frame
            add_runs(frame.paragraphs[0] if index == 0 else frame.add_paragraph(), runs)
    presentation.save(path)
