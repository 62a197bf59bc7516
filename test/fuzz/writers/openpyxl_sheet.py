"""xlsx, by openpyxl."""

import openpyxl
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont

from common import cells_of, text_of


def rich(runs):
    """The value of a cell: a plain text where nothing in it differs."""
    if all(not run.get("shift") and not run.get("font") and not run.get("bold") for run in runs):
        return text_of(runs)
    blocks = []
    for run in runs:
        align = {"raised": "superscript", "lowered": "subscript"}.get(run.get("shift"))
        font = InlineFont(vertAlign=align, rFont=run.get("font"), b=run.get("bold"))
        is_plain = align is None and "font" not in run and not run.get("bold")
        blocks.append(run["text"] if is_plain else TextBlock(font, run["text"]))
    return CellRichText(*blocks)


def as_number(text, sheet_cell):
    """Numbers are written as numbers, in the format that shows them as they are."""
    shown = text[:-2] if text.endswith(" %") else text
    try:
        value = float(shown)
    except ValueError:
        return False
    decimals = len(shown.partition(".")[2])
    sheet_cell.number_format = "0" + ("." + "0" * decimals if decimals else "")
    if text.endswith(" %"):
        value /= 100
        sheet_cell.number_format = "0 %"
    sheet_cell.value = value if decimals or text.endswith(" %") else int(shown)
    return True


def write(content, path):
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = "Sheet"
    down, right = content["choices"]["down"], content["choices"]["right"]
    for table in content["parts"]:
        for y, x, height, width, runs in cells_of(table):
            row, column = y + 1 + down, x + 1 + right
            cell = sheet.cell(row, column)
            if runs and not as_number(text_of(runs), cell):
                cell.value = rich(runs)
                cell.data_type = "s" if isinstance(cell.value, str) else cell.data_type
            if height > 1 or width > 1:
                last = {"end_row": row + height - 1, "end_column": column + width - 1}
                sheet.merge_cells(start_row=row, start_column=column, **last)
    workbook.save(path)
