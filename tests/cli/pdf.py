"""Small PDFs for tests: pages of lines, each a (font, size, x, y, text) with y counted from the bottom
of a page of 612 by 792 points. Fonts: "F1" Times, "F2" Helvetica-Bold."""


def _escape(text):
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def _content(lines):
    return "".join(f"BT /{font} {size} Tf {x} {y} Td ({_escape(text)}) Tj ET\n"
                   for font, size, x, y, text in lines).encode("latin-1")


def assemble(objects, trailer=b""):
    """The bytes of a PDF of these objects, whose numbers begin with 1, the catalogue's."""
    parts, offsets, size = [b"%PDF-1.4\n"], [], 9
    for number, text in enumerate(objects, 1):
        offsets.append(size)
        parts.append(b"%d 0 obj\n%s\nendobj\n" % (number, text))
        size += len(parts[-1])
    parts.append(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    parts += [b"%010d 00000 n \n" % offset for offset in offsets]
    parts.append(b"trailer\n<< /Size %d /Root 1 0 R %s>>\nstartxref\n%d\n%%%%EOF\n"
                 % (len(objects) + 1, trailer, size))
    return b"".join(parts)


def stream(content, entries=b""):
    """An object with content."""
    return b"<< /Length %d %s>>\nstream\n%s\nendstream" % (len(content), entries, content)


def make(pages, encrypted=False):
    """The bytes of a PDF with these pages."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "",
               "<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman >>",
               "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>",
               "<< /Filter /Standard /V 1 /R 2 /P -4 "
               f"/O <{'00112233' * 8}> /U <{'ffeeddcc' * 8}> >>"]
    objects = [text.encode() for text in objects]
    kids = []
    for lines in pages:
        content = _content(lines)
        kids.append(len(objects) + 1)
        objects.append(b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
                       b"/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>" % (kids[-1] + 1))
        objects.append(stream(content))
    objects[1] = (f"<< /Type /Pages /Count {len(kids)} /Kids "
                  f"[{' '.join(f'{kid} 0 R' for kid in kids)}] >>").encode()
    return assemble(objects, b"/Encrypt 5 0 R /ID [<00> <00>] " if encrypted else b"")


def prose(text, size=10, top=700, left=72, width=80):
    """Lines for a page: the text, wrapped."""
    lines, line = [], ""
    for word in text.split():
        if len(line) + len(word) > width:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    lines.append(line)
    return [("F1", size, left, top - i * (size + 2), text) for i, text in enumerate(lines)]
