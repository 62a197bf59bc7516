"""txt, csv, json, xml and html, by Python's own library."""

import csv
import html
import html.entities
import io
import json
from xml.etree import ElementTree

from common import Encodable, text_of


def plain(content, keep):
    return "\n\n".join(keep(text_of(part["runs"])) for part in content["parts"])


def comma_separated(content, keep):
    choices = content["choices"]
    target = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if choices["quotes"] == "all" else csv.QUOTE_MINIMAL
    writer = csv.writer(target, delimiter=choices["delimiter"], quoting=quoting, lineterminator=choices["line_end"])
    for table in content["parts"]:
        for row in table["rows"]:
            writer.writerow([keep(text_of(cell["runs"])) for cell in row])
    return target.getvalue()


def in_json(content, keep):
    records = [{"part": keep(text_of(part["runs"]))} for part in content["parts"]]
    return json.dumps(records, ensure_ascii=content["choices"]["ascii"], indent=content["choices"]["indent"] or None)


def in_xml(content, encoding):
    root = ElementTree.Element("records")
    for part in content["parts"]:
        ElementTree.SubElement(root, "record").text = text_of(part["runs"])
    head = '<?xml version="1.0" encoding="%s"?>\n' % content["choices"]["declared"]
    return (head + ElementTree.tostring(root, encoding="unicode")).encode(encoding, "xmlcharrefreplace")


def element(parent, name, runs):
    """An element of HTML with its runs as text and elements in a row."""
    made = ElementTree.SubElement(parent, name)
    last = None
    for run in runs:
        tag = {"raised": "sup", "lowered": "sub"}.get(run.get("shift"), "b" if run.get("bold") else None)
        if tag is None and "font" in run:
            last = ElementTree.SubElement(made, "span", style="font-family: '%s'" % run["font"])
            last.text = run["text"]
        elif tag is not None:
            last = ElementTree.SubElement(made, tag)
            last.text = run["text"]
        elif last is None:
            made.text = (made.text or "") + run["text"]
        else:
            last.tail = (last.tail or "") + run["text"]
    return made


def add_part(body, part):
    if part["kind"] == "heading":
        element(body, "h%d" % part["level"], part["runs"])
    elif part["kind"] == "list":
        items = ElementTree.SubElement(body, "ol" if part["isOrdered"] else "ul")
        for item in part["items"]:
            element(items, "li", item)
    elif part["kind"] == "table":
        made = ElementTree.SubElement(body, "table")
        for index, row in enumerate(part["rows"]):
            line = ElementTree.SubElement(made, "tr")
            for cell in row:
                written = element(line, "th" if index == 0 else "td", cell["runs"])
                for name, attribute in (("columns", "colspan"), ("rows", "rowspan")):
                    if cell.get(name, 1) > 1:
                        written.set(attribute, str(cell[name]))
    else:
        element(body, "p", part["runs"])


def in_html(content, encoding):
    choices = content["choices"]
    root = ElementTree.Element("html")
    head = ElementTree.SubElement(root, "head")
    if choices["meta"] == "charset":
        ElementTree.SubElement(head, "meta", charset=choices["declared"])
    elif choices["meta"] == "http-equiv":
        named = "text/html; charset=" + choices["declared"]
        ElementTree.SubElement(head, "meta", {"http-equiv": "Content-Type", "content": named})
    body = ElementTree.SubElement(root, "body")
    for part in content["parts"]:
        add_part(body, part)
    written = "<!DOCTYPE html>\n" + ElementTree.tostring(root, encoding="unicode", method="html")
    if choices["entities"] == "all":
        return "".join(named_entity(character) for character in written).encode("ascii")
    return written.encode(encoding, "xmlcharrefreplace")


def named_entity(character):
    if ord(character) < 128:
        return character
    name = html.entities.codepoint2name.get(ord(character))
    return "&%s;" % name if name else "&#x%X;" % ord(character)


def write(content, path):
    encoding = content["choices"].get("encoding", "utf-8")
    keep = Encodable(encoding)
    kind = path.rpartition(".")[2]
    if kind == "html":
        data = in_html(content, encoding)
    elif kind == "xml":
        data = in_xml(content, encoding)
    else:
        makers = {"txt": plain, "csv": comma_separated, "tsv": comma_separated, "json": in_json}
        data = makers[kind](content, keep).encode(encoding)
    with open(path, "wb") as file:
        file.write(data)
    return keep.lost
