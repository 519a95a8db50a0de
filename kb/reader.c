#include "kb/reader.h"

#include <assert.h>
#include <strings.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "kb/reader_formats.h"

#include "base/banned.h"

enum vcm_reader_type vcm_reader_type_of(struct vcm_slice path)
{
    static const struct {
        const char *extension;
        enum vcm_reader_type type;
    } known[] = {
        {".txt", VCM_READER_TEXT},     {".text", VCM_READER_TEXT},
        {".md", VCM_READER_MARKDOWN},  {".markdown", VCM_READER_MARKDOWN},
        {".mkd", VCM_READER_MARKDOWN}, {".rst", VCM_READER_RST},
        {".rest", VCM_READER_RST},     {".html", VCM_READER_HTML},
        {".htm", VCM_READER_HTML},     {".xhtml", VCM_READER_HTML},
        {".pdf", VCM_READER_PDF},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t len = strlen(known[i].extension);
        if (path.len > len && strncasecmp(path.data + path.len - len, known[i].extension, len) == 0)
            return known[i].type;
    }
    return VCM_READER_OTHER;
}

const char *vcm_reader_type_name(enum vcm_reader_type type)
{
    switch (type) {
    case VCM_READER_MARKDOWN:
        return "markdown";
    case VCM_READER_RST:
        return "rst";
    case VCM_READER_HTML:
        return "html";
    case VCM_READER_PDF:
        return "pdf";
    default:
        return "text";
    }
}

/* Appends the bytes as text without NULs. */
static void take_text(struct vcm_document *document, struct vcm_buf *out, struct vcm_slice bytes)
{
    if (bytes.len >= 3 && memcmp(bytes.data, "\xef\xbb\xbf", 3) == 0)
        bytes = vcm_slice_of(bytes.data + 3, bytes.len - 3);
    while (bytes.len > 0) {
        const char *nul = memchr(bytes.data, '\0', bytes.len);
        size_t len = nul ? (size_t)(nul - bytes.data) : bytes.len;
        document->lossy |= vcm_utf8_replace(out, vcm_slice_of(bytes.data, len));
        if (nul) {
            vcm_buf_append_string(out, "\xef\xbf\xbd");
            document->lossy = true;
            len++;
        }
        bytes = vcm_slice_of(bytes.data + len, bytes.len - len);
    }
}

static int check_is_text(struct vcm_document *document, enum vcm_reader_type type,
                         struct vcm_slice bytes, struct vcm_error *err)
{
    size_t probe = bytes.len < VCM_LIMIT_BINARY_PROBE ? bytes.len : VCM_LIMIT_BINARY_PROBE;

    if (bytes.len == 0)
        return vcm_document_refuse(document, VCM_REASON_EMPTY, err, "the file has no bytes");
    if (memchr(bytes.data, '\0', type == VCM_READER_OTHER ? bytes.len : probe))
        return vcm_document_refuse(document, VCM_REASON_UNSUPPORTED_TYPE, err,
                                   "the file is not text");
    if (type == VCM_READER_OTHER && !vcm_utf8_valid(bytes))
        return vcm_document_refuse(document, VCM_REASON_UNSUPPORTED_TYPE, err,
                                   "the file is not UTF-8 text");
    return VCM_OK;
}

static int read_html(struct vcm_document *document, struct vcm_slice bytes, struct vcm_error *err)
{
    struct vcm_buf html = VCM_BUF_INIT(VCM_LIMIT_DOCUMENT_TEXT_BYTES);

    take_text(document, &html, bytes);
    int rc = vcm_document_check(document, &html, "the page", err);
    if (rc == VCM_OK)
        rc = vcm_reader_html_text(document, vcm_buf_slice(&html), err);
    vcm_buf_release(&html);
    return rc;
}

int vcm_reader_read(struct vcm_document *document, enum vcm_reader_type type,
                    struct vcm_slice bytes, struct vcm_error *err)
{
    assert(type != VCM_READER_PDF);
    int rc = check_is_text(document, type, bytes, err);
    if (rc != VCM_OK)
        return rc;
    if (type == VCM_READER_HTML)
        rc = read_html(document, bytes, err);
    else
        take_text(document, &document->text, bytes);
    if (rc == VCM_OK)
        rc = vcm_document_check(document, &document->text, "the text", err);
    if (rc == VCM_OK && type == VCM_READER_MARKDOWN)
        rc = vcm_reader_markdown_headings(document, err);
    if (rc == VCM_OK && type == VCM_READER_RST)
        rc = vcm_reader_rst_headings(document, err);
    if (rc == VCM_OK && vcm_document_is_blank(document))
        rc = vcm_document_refuse(document, VCM_REASON_EMPTY, err, "there is no text in the file");
    return rc;
}
