"""eml, by the modules of Python for mails: the old ones, whose headers are made by hand, and the new ones."""

import html
from email import policy
from email.header import Header
from email.message import EmailMessage
from email.mime.application import MIMEApplication
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.utils import formataddr

from common import Encodable, text_of


def html_of(content, declared):
    """The parts as HTML, which names its charset itself where the mail does not."""
    meta = '<meta charset="%s">' % declared if content["choices"]["charset_in"] == "meta" else ""
    blocks = []
    for part in content["parts"]:
        if part["kind"] == "table":
            rows = (
                "<tr>%s</tr>" % "".join("<td>%s</td>" % inline(cell["runs"]) for cell in row)
                for row in part["rows"]
            )
            blocks.append("<table>%s</table>" % "".join(rows))
        else:
            blocks.append("<p>%s</p>" % inline(part["runs"]))
    return "<html><head>%s</head><body>%s</body></html>" % (meta, "\n".join(blocks))


def inline(runs):
    tags = {"raised": "sup", "lowered": "sub"}
    written = []
    for run in runs:
        text = html.escape(run["text"])
        tag = tags.get(run.get("shift"))
        written.append("<%s>%s</%s>" % (tag, text, tag) if tag else text)
    return "".join(written)


def plain_of(content, keep):
    return "\n\n".join(keep(text_of(part["runs"])) for part in content["parts"])


def old_message(content, body, subtype, encoding, declared):
    """By the classes of before 2014, which encode as they are told."""
    part = MIMEText("", subtype)
    del part["Content-Type"], part["Content-Transfer-Encoding"]
    named = "" if content["choices"]["charset_in"] != "header" else '; charset="%s"' % declared
    part["Content-Type"] = "text/%s%s" % (subtype, named)
    add_payload(part, body.encode(encoding, "xmlcharrefreplace" if subtype == "html" else "strict"), content["choices"]["transfer"])
    message = part
    if content["choices"]["attachment"]:
        message = MIMEMultipart()
        message.attach(part)
        attached = MIMEApplication(b"\x00\x01\x02\x03binary", "octet-stream")
        attached.add_header("Content-Disposition", "attachment", filename=("utf-8", "", "Größe ☃.bin"))
        message.attach(attached)
    message["Subject"] = in_words(content["title"], charset_of_words(content["title"], encoding))
    message["From"] = formataddr(("Ann Example", "ann@example.com"))
    message["To"] = "bob@example.com"
    return message.as_bytes()


def in_words(text, charset):
    """Encoded words of some characters each, since the module loses blanks where it divides a text itself."""
    pieces = [text[start : start + 12] for start in range(0, len(text), 12)]
    return "\n ".join(Header(piece, charset).encode(maxlinelen=500) for piece in pieces)


def charset_of_words(title, encoding):
    """Encoded words are written in what the module can split between characters, and what has all of them."""
    try:
        title.encode(encoding)
    except UnicodeEncodeError:
        return "utf-8"
    return "utf-8" if encoding in ("utf-16", "utf-8-sig") else encoding


def add_payload(part, data, transfer):
    import base64
    import quopri

    if transfer == "base64":
        text = base64.encodebytes(data).decode("ascii")
    elif transfer == "quoted-printable":
        text = quopri.encodestring(data).decode("ascii")
    else:
        text = data.decode("ascii", "surrogateescape")
    part["Content-Transfer-Encoding"] = transfer
    part._payload = text


def new_message(content, body, subtype):
    message = EmailMessage(policy=policy.SMTP.clone(max_line_length=900))
    # The module loses a blank where it divides a subject into several encoded words.
    message["Subject"] = content["title"]
    message["From"] = formataddr(("Ann Example", "ann@example.com"))
    message["To"] = "bob@example.com"
    charset = "utf-8"
    if subtype == "html":
        message.set_content("This message is written in HTML.\n")
        message.add_alternative(body, subtype="html", charset=charset)
    else:
        message.set_content(body, charset=charset)
    if content["choices"]["attachment"]:
        message.add_attachment(b"\x00\x01\x02\x03", "application", "octet-stream", filename="Größe ☃.bin")
    return message.as_bytes()


def write(content, path):
    choices = content["choices"]
    encoding, declared = choices["encoding"], choices["declared"]
    keep = Encodable(encoding)
    is_html = choices["body"] == "html"
    body = html_of(content, declared) if is_html else plain_of(content, keep)
    subtype = "html" if is_html else "plain"
    if choices["module"] == "new":
        data = new_message(content, body, subtype)
    else:
        data = old_message(content, body, subtype, encoding, declared)
    with open(path, "wb") as file:
        file.write(data)
    return keep.lost
