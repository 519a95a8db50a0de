#include "kb/reader_formats.h"

#include <stdint.h>
#include <strings.h>

#include "base/limits.h"

#include "base/banned.h"

/* The separation between the text so far and the next text; the largest requested one is used. */
enum gap { GAP_NONE, GAP_SPACE, GAP_LINE, GAP_BLANK };

enum role {
    ROLE_INLINE,
    ROLE_BLOCK, /* a blank line around it */
    ROLE_LINE,  /* on a line of its own */
    ROLE_CELL,
    ROLE_ITEM,
    ROLE_PRE,
    ROLE_HEADING,
    ROLE_DROPPED, /* with everything in it */
    ROLE_RAW,     /* the same, and only its own end tag is a tag in it */
};

struct page {
    struct vcm_document *document;
    struct vcm_slice html;
    size_t at;
    enum gap gap;
    unsigned pre; /* how many are open */
    unsigned level;
    size_t heading; /* where its text begins, once there is any */
    bool heading_open, heading_begun;
};

static const struct {
    const char *name;
    enum role role;
} elements[] = {
    {"address", ROLE_BLOCK},    {"article", ROLE_BLOCK},   {"aside", ROLE_BLOCK},
    {"blockquote", ROLE_BLOCK}, {"body", ROLE_BLOCK},      {"br", ROLE_LINE},
    {"caption", ROLE_LINE},     {"dd", ROLE_LINE},         {"details", ROLE_BLOCK},
    {"div", ROLE_BLOCK},        {"dl", ROLE_BLOCK},        {"dt", ROLE_LINE},
    {"fieldset", ROLE_BLOCK},   {"figcaption", ROLE_LINE}, {"figure", ROLE_BLOCK},
    {"footer", ROLE_BLOCK},     {"form", ROLE_BLOCK},      {"h1", ROLE_HEADING},
    {"h2", ROLE_HEADING},       {"h3", ROLE_HEADING},      {"h4", ROLE_HEADING},
    {"h5", ROLE_HEADING},       {"h6", ROLE_HEADING},      {"head", ROLE_DROPPED},
    {"header", ROLE_BLOCK},     {"hr", ROLE_BLOCK},        {"iframe", ROLE_DROPPED},
    {"li", ROLE_ITEM},          {"main", ROLE_BLOCK},      {"nav", ROLE_BLOCK},
    {"noscript", ROLE_DROPPED}, {"ol", ROLE_BLOCK},        {"option", ROLE_LINE},
    {"p", ROLE_BLOCK},          {"pre", ROLE_PRE},         {"script", ROLE_RAW},
    {"section", ROLE_BLOCK},    {"style", ROLE_RAW},       {"svg", ROLE_DROPPED},
    {"table", ROLE_BLOCK},      {"td", ROLE_CELL},         {"template", ROLE_DROPPED},
    {"textarea", ROLE_RAW},     {"th", ROLE_CELL},         {"title", ROLE_RAW},
    {"tr", ROLE_LINE},          {"ul", ROLE_BLOCK},
};

static const struct {
    const char *name;
    uint32_t code_point;
} entities[] = {
    {"amp", '&'},      {"lt", '<'},        {"gt", '>'},       {"quot", '"'},     {"apos", '\''},
    {"nbsp", ' '},     {"copy", 0xa9},     {"reg", 0xae},     {"deg", 0xb0},     {"plusmn", 0xb1},
    {"micro", 0xb5},   {"middot", 0xb7},   {"laquo", 0xab},   {"raquo", 0xbb},   {"times", 0xd7},
    {"divide", 0xf7},  {"auml", 0xe4},     {"ouml", 0xf6},    {"uuml", 0xfc},    {"Auml", 0xc4},
    {"Ouml", 0xd6},    {"Uuml", 0xdc},     {"szlig", 0xdf},   {"eacute", 0xe9},  {"egrave", 0xe8},
    {"ecirc", 0xea},   {"agrave", 0xe0},   {"aacute", 0xe1},  {"acirc", 0xe2},   {"ccedil", 0xe7},
    {"ntilde", 0xf1},  {"oacute", 0xf3},   {"iacute", 0xed},  {"uacute", 0xfa},  {"oslash", 0xf8},
    {"aring", 0xe5},   {"aelig", 0xe6},    {"sect", 0xa7},    {"para", 0xb6},    {"ndash", 0x2013},
    {"mdash", 0x2014}, {"lsquo", 0x2018},  {"rsquo", 0x2019}, {"ldquo", 0x201c}, {"rdquo", 0x201d},
    {"bull", 0x2022},  {"hellip", 0x2026}, {"euro", 0x20ac},  {"trade", 0x2122}, {"larr", 0x2190},
    {"rarr", 0x2192},  {"le", 0x2264},     {"ge", 0x2265},    {"ne", 0x2260},    {"infin", 0x221e},
    {"alpha", 0x3b1},  {"beta", 0x3b2},    {"gamma", 0x3b3},  {"delta", 0x3b4},  {"lambda", 0x3bb},
    {"mu", 0x3bc},     {"pi", 0x3c0},      {"sigma", 0x3c3},  {"omega", 0x3c9},  {"ensp", ' '},
    {"emsp", ' '},     {"thinsp", ' '},    {"shy", 0xad},
};

static bool is_space(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static bool is_name_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9');
}

static void widen(struct page *page, enum gap gap)
{
    if (page->gap < gap)
        page->gap = gap;
}

/* Writes the pending separation before the next visible character. */
static void close_gap(struct page *page)
{
    struct vcm_buf *text = &page->document->text;
    size_t len = text->len;
    unsigned breaks = page->gap == GAP_BLANK ? 2 : page->gap == GAP_LINE ? 1 : 0;

    if (len == 0)
        breaks = 0;
    else if (breaks > 0 && text->data[len - 1] == '\n')
        breaks -= len > 1 && text->data[len - 2] == '\n' ? breaks : 1;
    for (; breaks > 0; breaks--)
        vcm_buf_append_byte(text, '\n');
    if (page->gap == GAP_SPACE && len > 0 && !is_space(text->data[len - 1]))
        vcm_buf_append_byte(text, ' ');
    page->gap = GAP_NONE;
    if (page->heading_open && !page->heading_begun) {
        page->heading_begun = true;
        page->heading = text->len;
    }
}

static void put(struct page *page, struct vcm_slice text)
{
    close_gap(page);
    vcm_buf_append_slice(&page->document->text, text);
}

static void put_code_point(struct page *page, uint32_t c)
{
    char bytes[4];
    size_t len = 0;

    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
        widen(page, GAP_SPACE);
        return;
    }
    if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        c = 0xfffd;
    if (c < 0x80) {
        bytes[len++] = (char)c;
    } else if (c < 0x800) {
        bytes[len++] = (char)(0xc0 | c >> 6);
    } else if (c < 0x10000) {
        bytes[len++] = (char)(0xe0 | c >> 12);
        bytes[len++] = (char)(0x80 | (c >> 6 & 0x3f));
    } else {
        bytes[len++] = (char)(0xf0 | c >> 18);
        bytes[len++] = (char)(0x80 | (c >> 12 & 0x3f));
        bytes[len++] = (char)(0x80 | (c >> 6 & 0x3f));
    }
    if (c >= 0x80)
        bytes[len++] = (char)(0x80 | (c & 0x3f));
    put(page, vcm_slice_of(bytes, len));
}

/* A character reference such as "&amp;" at `at`; its length, or 0 when it is none. */
static size_t take_entity(struct page *page)
{
    const char *text = page->html.data + page->at;
    size_t left = page->html.len - page->at;
    size_t len = 1;
    uint32_t c = 0;

    if (left > 2 && text[1] == '#') {
        bool hex = text[2] == 'x' || text[2] == 'X';
        size_t digits = 0;
        for (len = hex ? 3 : 2; len < left && digits < 8; len++, digits++) {
            char byte = text[len];
            unsigned digit = byte >= '0' && byte <= '9' ? (unsigned)(byte - '0')
                             : hex && (byte | 0x20) >= 'a' && (byte | 0x20) <= 'f'
                                 ? (unsigned)((byte | 0x20) - 'a') + 10
                                 : 16;
            if (digit == 16)
                break;
            c = c > 0x10ffff ? c : c * (hex ? 16 : 10) + digit;
        }
        if (digits == 0)
            return 0;
        put_code_point(page, c);
        return len < left && text[len] == ';' ? len + 1 : len;
    }
    while (len < left && len < 12 && is_name_byte(text[len]))
        len++;
    if (len == left || text[len] != ';')
        return 0;
    for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++) {
        if (vcm_slice_equal(vcm_slice_of(text + 1, len - 1),
                            vcm_slice_of_string(entities[i].name))) {
            put_code_point(page, entities[i].code_point);
            return len + 1;
        }
    }
    return 0;
}

static enum role role_of(struct vcm_slice name)
{
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
        if (name.len == strlen(elements[i].name) &&
            strncasecmp(name.data, elements[i].name, name.len) == 0)
            return elements[i].role;
    }
    return ROLE_INLINE;
}

/* The position behind the next occurrence of `mark`, or the end. */
static size_t behind(const struct page *page, size_t at, const char *mark)
{
    size_t len = strlen(mark);
    const char *found = memmem(page->html.data + at, page->html.len - at, mark, len);
    return found ? (size_t)(found - page->html.data) + len : page->html.len;
}

/* The position behind the '>' that ends the tag at `at`, ignoring those in quoted attributes. */
static size_t tag_end(const struct page *page, size_t at)
{
    char quote = '\0';

    for (; at < page->html.len; at++) {
        char byte = page->html.data[at];
        if (quote != '\0')
            quote = byte == quote ? '\0' : quote;
        else if ((byte == '"' || byte == '\'') && page->html.data[at - 1] == '=')
            quote = byte;
        else if (byte == '>')
            return at + 1;
    }
    return at;
}

/* The position behind the end tag of `name`, searched from `at` on. */
static size_t end_tag(const struct page *page, size_t at, struct vcm_slice name)
{
    while (at < page->html.len) {
        at = behind(page, at, "</");
        if (page->html.len - at >= name.len &&
            strncasecmp(page->html.data + at, name.data, name.len) == 0)
            return tag_end(page, at);
    }
    return at;
}

static int end_heading(struct page *page, struct vcm_error *err)
{
    struct vcm_buf *text = &page->document->text;
    int rc = VCM_OK;

    if (page->heading_begun) {
        struct vcm_slice title =
            vcm_slice_of(text->data + page->heading, text->len - page->heading);
        struct vcm_buf copy = VCM_BUF_INIT(VCM_LIMIT_DOCUMENT_TEXT_BYTES);
        vcm_buf_append_slice(&copy, title);
        vcm_buf_append_string(text, "\n\n");
        rc = vcm_buf_check(&copy, "a title", err);
        if (rc == VCM_OK && text->fault == VCM_BUF_FINE)
            rc = vcm_document_add_heading(page->document, page->level, page->heading, text->len,
                                          vcm_buf_slice(&copy), err);
        vcm_buf_release(&copy);
    }
    page->heading_open = page->heading_begun = false;
    return rc;
}

static int take_heading(struct page *page, struct vcm_slice name, bool closes,
                        struct vcm_error *err)
{
    int rc = page->heading_open ? end_heading(page, err) : VCM_OK;

    widen(page, GAP_BLANK);
    page->heading_open = !closes;
    page->level = (unsigned)(name.data[1] - '0');
    return rc;
}

static void take_role(struct page *page, enum role role, bool closes)
{
    switch (role) {
    case ROLE_BLOCK:
        widen(page, GAP_BLANK);
        break;
    case ROLE_LINE:
        widen(page, GAP_LINE);
        break;
    case ROLE_CELL:
        if (!closes && page->document->text.len > 0 && page->gap < GAP_LINE)
            put(page, vcm_slice_of_string(" | "));
        break;
    case ROLE_ITEM:
        widen(page, GAP_LINE);
        if (!closes)
            put(page, vcm_slice_of_string("- "));
        break;
    case ROLE_PRE:
        widen(page, GAP_BLANK);
        if (!closes)
            page->pre++;
        else if (page->pre > 0)
            page->pre--;
        break;
    default:
        break;
    }
}

/* Handles the tag, comment or declaration at `at`; false when it is a plain '<'. */
static bool take_tag(struct page *page, int *rc, struct vcm_error *err)
{
    const char *html = page->html.data;
    size_t begin = page->at + 1;
    bool closes = begin < page->html.len && html[begin] == '/';

    if (page->html.len - page->at >= 4 && memcmp(html + page->at, "<!--", 4) == 0) {
        page->at = behind(page, page->at + 4, "-->");
        return true;
    }
    if (begin < page->html.len && (html[begin] == '!' || html[begin] == '?')) {
        page->at = behind(page, begin, ">");
        return true;
    }
    begin += closes ? 1 : 0;
    size_t end = begin;
    while (end < page->html.len && is_name_byte(html[end]))
        end++;
    if (end == begin || (html[begin] >= '0' && html[begin] <= '9'))
        return false;
    struct vcm_slice name = vcm_slice_of(html + begin, end - begin);
    enum role role = role_of(name);
    page->at = tag_end(page, end);
    if ((role == ROLE_DROPPED || role == ROLE_RAW) && !closes && html[page->at - 2] != '/')
        page->at = end_tag(page, page->at, name);
    else if (role == ROLE_HEADING)
        *rc = take_heading(page, name, closes, err);
    else
        take_role(page, role, closes);
    return true;
}

/* Handles the text before the next tag or reference. */
static void take_words(struct page *page)
{
    size_t start = page->at;
    size_t begin = start;

    while (page->at < page->html.len) {
        char byte = page->html.data[page->at];
        if ((byte == '<' || byte == '&') && page->at > start)
            break;
        if (is_space(byte)) {
            if (page->at > begin)
                put(page, vcm_slice_of(page->html.data + begin, page->at - begin));
            if (page->pre > 0)
                put(page, vcm_slice_of(page->html.data + page->at, 1));
            else
                widen(page, GAP_SPACE);
            begin = ++page->at;
            continue;
        }
        page->at++;
    }
    if (page->at > begin)
        put(page, vcm_slice_of(page->html.data + begin, page->at - begin));
}

int vcm_reader_html_text(struct vcm_document *document, struct vcm_slice html,
                         struct vcm_error *err)
{
    struct page page = {.document = document, .html = html};
    int rc = VCM_OK;

    while (rc == VCM_OK && page.at < html.len && document->text.fault == VCM_BUF_FINE) {
        char byte = html.data[page.at];
        if (byte == '<' && take_tag(&page, &rc, err))
            continue;
        size_t entity = byte == '&' ? take_entity(&page) : 0;
        page.at += entity;
        if (entity == 0)
            take_words(&page);
    }
    if (rc == VCM_OK && page.heading_open)
        rc = end_heading(&page, err);
    return rc;
}
