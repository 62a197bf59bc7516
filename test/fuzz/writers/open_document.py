"""odt, ods and odp, by odfpy."""

from odf import draw, style, table, text
from odf.opendocument import OpenDocumentPresentation, OpenDocumentSpreadsheet, OpenDocumentText
from odf.style import FontFace

from common import cells_of, text_of, width_of

FONTS = ("Symbol", "Wingdings", "Wingdings 2")


class Styles:
    """Automatic styles of texts, made as they are asked for."""

    def __init__(self, document):
        self.document = document
        self.known = {}
        for name in FONTS:
            face = FontFace(name=name, fontfamily=name, fontcharset="x-symbol")
            document.fontfacedecls.addElement(face)

    def of_run(self, run):
        properties = {}
        if run.get("bold"):
            properties["fontweight"] = "bold"
        if "font" in run:
            properties["fontname"] = run["font"]
        if "shift" in run:
            properties["textposition"] = "super 58%" if run["shift"] == "raised" else "sub 58%"
        key = tuple(sorted(properties.items()))
        if key and key not in self.known:
            made = style.Style(name="T%d" % (len(self.known) + 1), family="text")
            made.addElement(style.TextProperties(**properties))
            self.document.automaticstyles.addElement(made)
            self.known[key] = made
        return self.known.get(key)


def add_runs(paragraph, runs, styles):
    for run in runs:
        named = styles.of_run(run)
        if named is None:
            paragraph.addText(run["text"])
        else:
            paragraph.addElement(text.Span(stylename=named, text=run["text"]))
    return paragraph


def table_of(part, styles, name="Table"):
    made = table.Table(name=name)
    made.addElement(table.TableColumn(numbercolumnsrepeated=width_of(part)))
    cells = {(y, x): (height, width, runs) for y, x, height, width, runs in cells_of(part)}
    for y in range(len(part["rows"])):
        row = table.TableRow()
        for x in range(width_of(part)):
            if (y, x) not in cells:
                row.addElement(table.CoveredTableCell())
                continue
            height, width, runs = cells[(y, x)]
            spans = {} if height == width == 1 else {"numberrowsspanned": height, "numbercolumnsspanned": width}
            kind = {"valuetype": "string"} if text_of(runs) else {}
            cell = table.TableCell(**spans, **kind)
            if runs:
                cell.addElement(add_runs(text.P(), runs, styles))
            row.addElement(cell)
        made.addElement(row)
    return made


def list_of(part, styles):
    made = text.List(stylename="Numbers" if part["isOrdered"] else "Bullets")
    for item in part["items"]:
        entry = text.ListItem()
        entry.addElement(add_runs(text.P(), item, styles))
        made.addElement(entry)
    return made


def add_list_styles(document):
    numbers = text.ListStyle(name="Numbers")
    numbers.addElement(text.ListLevelStyleNumber(level=1, numformat="1", numsuffix="."))
    bullets = text.ListStyle(name="Bullets")
    bullets.addElement(text.ListLevelStyleBullet(level=1, bulletchar="•"))
    for each in (numbers, bullets):
        document.automaticstyles.addElement(each)


def text_document(content):
    document = OpenDocumentText()
    styles = Styles(document)
    add_list_styles(document)
    for part in content["parts"]:
        if part["kind"] == "heading":
            made = add_runs(text.H(outlinelevel=part["level"]), part["runs"], styles)
        elif part["kind"] == "list":
            made = list_of(part, styles)
        elif part["kind"] == "table":
            made = table_of(part, styles)
        else:
            made = add_runs(text.P(), part["runs"], styles)
        document.text.addElement(made)
    return document


def sheet_document(content):
    document = OpenDocumentSpreadsheet()
    styles = Styles(document)
    for part in content["parts"]:
        document.spreadsheet.addElement(table_of(part, styles, "Sheet"))
    return document


def slide_document(content):
    document = OpenDocumentPresentation()
    styles = Styles(document)
    layout = style.PageLayout(name="Layout")
    layout.addElement(style.PageLayoutProperties(pagewidth="25cm", pageheight="19cm"))
    document.automaticstyles.addElement(layout)
    master = style.MasterPage(name="Master", pagelayoutname=layout)
    document.masterstyles.addElement(master)
    for part in content["parts"]:
        page = draw.Page(masterpagename=master)
        frame = draw.Frame(width="20cm", height="10cm", x="2cm", y="2cm")
        if part["kind"] == "table":
            frame.addElement(table_of(part, styles))
        else:
            box = draw.TextBox()
            for runs in part["items"] if part["kind"] == "list" else [part["runs"]]:
                box.addElement(add_runs(text.P(), runs, styles))
            frame.addElement(box)
        page.addElement(frame)
        document.presentation.addElement(page)
    return document


MAKERS = {"odt": text_document, "ods": sheet_document, "odp": slide_document}


def write(content, path):
    MAKERS[path.rpartition(".")[2]](content).save(path)
