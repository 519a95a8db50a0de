"""PDFs that are broken, hostile or odd, as raw bytes."""

import zlib

import pdf

FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman >>"
TEXT = b"BT /F1 10 Tf 72 700 Td (Words to be found) Tj ET"
PAGE = (b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> %s>> %s>>")


def one_page(content=None, font=FONT, resources=b"", page=b"", catalogue=b"", more=()):
    """A page with this content stream (an object), font and more objects from number 6 on."""
    return pdf.assemble([
        b"<< /Type /Catalog /Pages 2 0 R %s>>" % catalogue,
        b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
        PAGE % (resources, page),
        content or pdf.stream(TEXT), font, *more])


def many_pages(count):
    """So many pages with nothing on them."""
    kids = b" ".join(b"%d 0 R" % (3 + i) for i in range(count))
    return pdf.assemble([b"<< /Type /Catalog /Pages 2 0 R >>",
                         b"<< /Type /Pages /Count %d /Kids [%s] /MediaBox [0 0 9 9] >>"
                         % (count, kids)] + count * [b"<< /Type /Page /Parent 2 0 R >>"])


def claimed_pages(count):
    """One page that says it is many."""
    return pdf.assemble([b"<< /Type /Catalog /Pages 2 0 R >>",
                         b"<< /Type /Pages /Count %d /Kids [3 0 R] >>" % count,
                         PAGE % (b"", b""), pdf.stream(TEXT), FONT])


def image_only():
    return one_page(pdf.stream(b"q 600 0 0 700 0 0 cm /I Do Q"), resources=b"/XObject << /I 6 0 R >> ",
                    more=[pdf.stream(64 * b"\x55", b"/Type /XObject /Subtype /Image /Width 8 "
                                     b"/Height 8 /BitsPerComponent 8 /ColorSpace /DeviceGray ")])


def flate_of(byte, length, levels):
    """A stream that unfolds to `length` times one byte, through so many filters."""
    piece = 1 << 20
    packer = zlib.compressobj(9)
    data = packer.compress(piece * byte) + packer.flush(zlib.Z_FULL_FLUSH)
    more = packer.compress(piece * byte) + packer.flush(zlib.Z_FULL_FLUSH)
    data += (length // piece - 1) * more + packer.flush()
    for _ in range(levels - 1):
        data = zlib.compress(data, 9)
    return data, b"/Filter [%s] " % (levels * b"/FlateDecode ")


def bomb(byte=b" ", length=4 << 30, levels=3):
    data, entries = flate_of(byte, length, levels)
    return one_page(pdf.stream(data, entries))


def font_bomb(length=4 << 30):
    data, entries = flate_of(b"\0", length, 3)
    font = (b"<< /Type /Font /Subtype /TrueType /BaseFont /X /FirstChar 32 /LastChar 32 /Widths [500] "
            b"/FontDescriptor 6 0 R /ToUnicode 7 0 R >>")
    return one_page(font=font, more=[
        b"<< /Type /FontDescriptor /FontName /X /Flags 4 /FontFile2 7 0 R >>",
        pdf.stream(data, entries)])


def broken_font(program):
    """Text in a font whose program and map to Unicode are rubbish."""
    font = (b"<< /Type /Font /Subtype /TrueType /BaseFont /ABCDEF+Broken /FirstChar 32 /LastChar 500 "
            b"/Widths [1 2 null (x)] /FontDescriptor 6 0 R /ToUnicode 8 0 R /Encoding 9 0 R >>")
    return one_page(font=font, more=[
        b"<< /Type /FontDescriptor /FontName /X /Flags -1 /FontBBox [0] /FontFile2 7 0 R >>",
        pdf.stream(program),
        pdf.stream(b"beginbfchar <41> <D800> <zz> endbfrange <00> <ffff> <0041> endcmap"),
        b"<< /Differences [999999 /nothing (x) -4 /A] /BaseEncoding /Nowhere >>"])


def odd_fonts():
    """Fonts of every kind that lack what they need."""
    names = (b"Type0", b"Type1", b"Type3", b"MMType1", b"TrueType", b"CIDFontType0", b"Nothing")
    fonts = b"".join(b"/F%d << /Type /Font /Subtype /%s >> " % (i + 2, name)
                     for i, name in enumerate(names))
    content = b"".join(b"BT /F%d 10 Tf 72 %d Td (Odd words) Tj <00ff> Tj ET\n" % (i + 2, 600 - 20 * i)
                       for i in range(len(names) + 1))
    data = one_page(pdf.stream(TEXT + b"\n" + content))
    return data.replace(b"/F1 5 0 R", b"/F1 5 0 R " + fonts, 1)


def page_tree_loop():
    return pdf.assemble([b"<< /Type /Catalog /Pages 2 0 R >>",
                         b"<< /Type /Pages /Count 3 /Kids [3 0 R 6 0 R 3 0 R] /Parent 6 0 R >>",
                         PAGE % (b"", b""), pdf.stream(TEXT), FONT,
                         b"<< /Type /Pages /Count 2 /Kids [2 0 R 6 0 R] /Parent 2 0 R >>"])


def form_loop():
    form = pdf.stream(TEXT + b" /X Do /X Do", b"/Type /XObject /Subtype /Form /BBox [0 0 612 792] "
                      b"/Resources << /Font << /F1 5 0 R >> /XObject << /X 6 0 R >> >> ")
    return one_page(pdf.stream(TEXT + b" /X Do"), resources=b"/XObject << /X 6 0 R >> ", more=[form])


def reference_loops():
    """Lengths, contents, fonts, resources and old tables that lead to themselves."""
    return pdf.assemble([b"<< /Type /Catalog /Pages 2 0 R /Outlines 8 0 R /Names 9 0 R >>",
                         b"<< /Type /Pages /Count 1 /Kids [3 0 R] /Resources 2 0 R >>",
                         PAGE % (b"/XObject 3 0 R /ExtGState 7 0 R ", b"/Annots 3 0 R "),
                         b"<< /Length 4 0 R >>\nstream\n" + TEXT + b"\nendstream", FONT,
                         b"6 0 R", b"7 0 R", b"<< /First 8 0 R /Next 8 0 R /Last 8 0 R >>",
                         b"<< /Kids [9 0 R 9 0 R] /EmbeddedFiles 9 0 R >>"],
                        b"/Prev 9 ")


def deep_arrays(depth=100000):
    return one_page(page=b"/Deep " + depth * b"[" + depth * b"]" + b" ")


def with_extras():
    """Text beside a script that runs at once, a form with another, and an attached file."""
    return one_page(
        catalogue=b"/OpenAction 6 0 R /Names << /JavaScript << /Names [(x) 6 0 R] >> "
                  b"/EmbeddedFiles << /Names [(secret.txt) 7 0 R] >> >> ",
        page=b"/Annots [9 0 R] /AA << /O 6 0 R >> ",
        more=[b"<< /Type /Action /S /JavaScript /JS (app.alert\\('scripted'\\); this.getField\\(0\\)) >>",
              b"<< /Type /Filespec /F (secret.txt) /EF << /F 8 0 R >> >>",
              pdf.stream(b"attached words", b"/Type /EmbeddedFile "),
              b"<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /Launch /F (/bin/sh) >> >>"])
