"""xlsx, by XlsxWriter."""

import xlsxwriter

from common import cells_of, text_of


class Formats:
    def __init__(self, workbook):
        self.workbook = workbook
        self.known = {}

    def of(self, **properties):
        key = tuple(sorted(properties.items()))
        if key not in self.known:
            self.known[key] = self.workbook.add_format(properties)
        return self.known[key]

    def of_run(self, run):
        properties = {}
        if run.get("bold"):
            properties["bold"] = True
        if "font" in run:
            properties["font_name"] = run["font"]
        if "shift" in run:
            properties["font_script"] = 1 if run["shift"] == "raised" else 2
        return self.of(**properties) if properties else None


def put(sheet, place, runs, formats):
    row, column = place
    text = text_of(runs)
    try:
        decimals = len(text.partition(".")[2])
        number = float(text)
        sheet.write_number(row, column, number, formats.of(num_format="0." + "0" * decimals if decimals else "0"))
        return
    except ValueError:
        pass
    fragments = []
    for run in runs:
        style = formats.of_run(run)
        fragments += [run["text"]] if style is None else [style, run["text"]]
    if len(runs) > 1:
        sheet.write_rich_string(row, column, *fragments)
    elif runs:
        sheet.write_string(row, column, text, formats.of_run(runs[0]))


def write(content, path):
    workbook = xlsxwriter.Workbook(path, {"in_memory": True})
    formats = Formats(workbook)
    sheet = workbook.add_worksheet("Sheet")
    down, right = content["choices"]["down"], content["choices"]["right"]
    for table in content["parts"]:
        for y, x, height, width, runs in cells_of(table):
            place = (y + down, x + right)
            if height > 1 or width > 1:
                last = (place[0] + height - 1, place[1] + width - 1)
                sheet.merge_range(*place, *last, text_of(runs))
            else:
                put(sheet, place, runs, formats)
    workbook.close()
