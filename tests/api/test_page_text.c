#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "api/vcm.h"
#include "base/buf.h"
#include "base/limits.h"
#include "tests/support/random.h"

#include "base/banned.h"

#define ROUNDS 4000u

static struct vcm_record record_of(const char *path, const char *text)
{
    uint32_t lines = 0;

    for (const char *p = text; *p; p++)
        lines += *p == '\n' || p[1] == '\0';
    return (struct vcm_record){.path = path,
                               .text = text,
                               .text_len = strlen(text),
                               .start_line = *text ? 1 : 0,
                               .end_line = lines,
                               .part = 1,
                               .parts = 1};
}

/* The record as the only one of a page. Freed by the caller. */
static char *render(const struct vcm_record *record, const char *format, bool lines)
{
    const struct vcm_page page = {
        .page_id = "ab12", .scope_id = "s:\"x\"", .seq = 7, .records = record, .record_count = 1};
    const struct vcm_render_options options = {.format = format, .lines = lines};
    struct vcm_error err = {0};
    char *text = NULL;
    size_t bytes = 0;

    int rc = vcm_page_render(&text, &bytes, &page, &options, &err);
    if (rc != VCM_OK)
        fail_msg("%s", err.message);
    assert_int_equal(strlen(text), bytes);
    return text;
}

static void assert_rendered(const struct vcm_record *record, const char *format, bool lines,
                            const char *expected)
{
    char *text = render(record, format, lines);

    assert_string_equal(text, expected);
    free(text);
}

static void a_record_stands_under_its_path(void **state)
{
    struct vcm_record record = record_of("src/a.c", "int x;\nint y;\n");

    (void)state;
    assert_rendered(&record, "text", false,
                    "======== src/a.c (lines 1-2)\nint x;\nint y;\n========\n");
    assert_rendered(&record, "markdown", false,
                    "## `src/a.c` (lines 1-2)\n\n```c\nint x;\nint y;\n```\n\n");
    assert_rendered(&record, "xml", false,
                    "<page id=\"ab12\" scope=\"s:&quot;x&quot;\" seq=\"7\">\n"
                    "<record path=\"src/a.c\" start_line=\"1\" end_line=\"2\" part=\"1\" "
                    "parts=\"1\" lossy=\"false\">\n"
                    "<text>int x;\nint y;\n</text>\n</record>\n</page>\n");
}

static void a_later_part_says_what_it_is_in(void **state)
{
    struct vcm_record record = record_of("a.py", "    return 1");

    (void)state;
    record.heading = "def f(): # `x`";
    record.start_line = record.end_line = 9;
    record.part = 2;
    record.parts = 3;
    record.lossy = true;
    assert_rendered(&record, "text", false,
                    "======== a.py (lines 9-9, part 2 of 3, invalid UTF-8 replaced, no newline at "
                    "end)\n======== in def f(): # `x`\n    return 1\n========\n");
    assert_rendered(&record, "markdown", false,
                    "## `a.py` (lines 9-9, part 2 of 3, invalid UTF-8 replaced, no newline at end)"
                    "\n\nin `` def f(): # `x` ``\n\n```py\n    return 1\n```\n\n");
    assert_rendered(&record, "xml", false,
                    "<page id=\"ab12\" scope=\"s:&quot;x&quot;\" seq=\"7\">\n"
                    "<record path=\"a.py\" start_line=\"9\" end_line=\"9\" part=\"2\" parts=\"3\" "
                    "lossy=\"true\">\n<heading>def f(): # `x`</heading>\n"
                    "<text>    return 1</text>\n</record>\n</page>\n");
}

static void a_heading_is_one_line(void **state)
{
    struct vcm_record record = record_of("a.md", "x\n");

    (void)state;
    record.section = "Title\r```\r\r## `evil` (lines 1-1)";
    record.part = 2;
    record.parts = 2;
    assert_rendered(&record, "text", false,
                    "======== a.md (lines 1-1, part 2 of 2)\n"
                    "======== in Title ``` ## `evil` (lines 1-1)\nx\n========\n");
    assert_rendered(&record, "markdown", false,
                    "## `a.md` (lines 1-1, part 2 of 2)\n\n"
                    "in ````Title ``` ## `evil` (lines 1-1)````\n\n```md\nx\n```\n\n");
}

static void lines_are_numbered_when_asked_for(void **state)
{
    struct vcm_record record = record_of("a", "x\n\ny");

    (void)state;
    record.start_line = 9;
    record.end_line = 11;
    assert_rendered(&record, "text", true,
                    "======== a (lines 9-11, no newline at end)\n 9\tx\n10\t\n11\ty\n========\n");
}

static void an_empty_file_and_odd_paths_are_shown(void **state)
{
    struct vcm_record record = record_of("a\nb", "");

    (void)state;
    assert_rendered(&record, "text", true, "======== \"a\\nb\" (empty)\n========\n");
    assert_rendered(&record, "markdown", true, "## `\"a\\nb\"` (empty)\n\n```\n```\n\n");
    record.path = "`x`.tar.gz";
    assert_rendered(&record, "markdown", false, "## `` `x`.tar.gz `` (empty)\n\n```gz\n```\n\n");
    record.path = "a<b>\t\"c\"&\1";
    assert_rendered(
        &record, "xml", false,
        "<page id=\"ab12\" scope=\"s:&quot;x&quot;\" seq=\"7\">\n"
        "<record path=\"a&lt;b&gt;&#9;&quot;c&quot;&amp;\xef\xbf\xbd\" start_line=\"0\" "
        "end_line=\"0\" part=\"1\" parts=\"1\" lossy=\"false\">\n"
        "<text></text>\n</record>\n</page>\n");
}

static void a_binary_file_says_what_it_is(void **state)
{
    struct vcm_record record = record_of("a.png", "AAE=");

    (void)state;
    record.start_line = record.end_line = 0;
    record.media_type = "image/png";
    record.size = 2;
    assert_rendered(&record, "text", true,
                    "======== a.png (image/png, 2 bytes, base64, no newline at end)\nAAE=\n"
                    "========\n");
    assert_rendered(&record, "xml", true,
                    "<page id=\"ab12\" scope=\"s:&quot;x&quot;\" seq=\"7\">\n"
                    "<record path=\"a.png\" start_line=\"0\" end_line=\"0\" part=\"1\" "
                    "parts=\"1\" lossy=\"false\" media_type=\"image/png\" size=\"2\" "
                    "encoding=\"base64\">\n<text>AAE=</text>\n</record>\n</page>\n");
    record.text_len = 0;
    record.size = 99999;
    assert_rendered(&record, "text", false,
                    "======== a.png (image/png, 99999 bytes, left out)\n========\n");
}

/* Text that likes to look like a fence. */
static void fill_random(struct vcm_buf *out, uint64_t *seed)
{
    static const char *const pieces[] = {"=",
                                         "========",
                                         "`",
                                         "```",
                                         "\n",
                                         "\r\n",
                                         "\r",
                                         "</text>",
                                         "&",
                                         "~~~",
                                         "a b",
                                         "\xc3\xa9",
                                         " ",
                                         "\xef\xbf\xbf",
                                         "\t",
                                         "]]>",
                                         "======== a (lines 1-2)"};
    unsigned count = test_random_below(seed, 30);

    vcm_buf_clear(out);
    for (unsigned i = 0; i < count; i++)
        vcm_buf_append_string(out,
                              pieces[test_random_below(seed, sizeof pieces / sizeof pieces[0])]);
}

/* What a reader of one fenced record makes of it: the fence is the first run of `c`, the content
 * ends before the first line that is nothing but the fence. NULL for none. */
static const char *closing_line(const char *body, char c, size_t fence)
{
    for (const char *line = body; line;) {
        size_t run = strspn(line, (char[]){c, '\0'});
        if (run >= fence)
            return line;
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return NULL;
}

static void check_fenced(const struct vcm_record *record, const char *format, char c,
                         const char *tail)
{
    bool added = record->text_len > 0 && record->text[record->text_len - 1] != '\n';
    char *whole = render(record, format, false);
    const char *open = c == '=' ? whole : strstr(whole, "\n\n") + 2;
    size_t fence = strspn(open, (char[]){c, '\0'});
    const char *body = strchr(open, '\n') + 1;
    const char *close = closing_line(body, c, fence);
    assert_non_null(close);
    assert_int_equal((size_t)(close - body), record->text_len + added);
    assert_memory_equal(body, record->text, record->text_len);
    assert_string_equal(close + fence, tail);
    assert_int_equal(strstr(whole, "no newline at end)") != NULL, added);
    free(whole);
}

static void no_content_closes_its_fence_and_all_come_back(void **state)
{
    uint64_t seed = 20240607;
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);

    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (unsigned i = 0; i < ROUNDS; i++) {
        fill_random(&text, &seed);
        struct vcm_record record = record_of("a", vcm_buf_text(&text));
        check_fenced(&record, "text", '=', "\n");
        check_fenced(&record, "markdown", '`', "\n\n");
    }
    vcm_buf_release(&text);
}

/* Reads escaped text back; stops at a '<', which no escaped text holds. */
static const char *unescape(struct vcm_buf *out, const char *p)
{
    while (*p != '<') {
        assert_int_not_equal(*p, '\0');
        assert_int_not_equal(*p, '>');
        assert_int_not_equal(*p, '\r');
        if (strncmp(p, "&amp;", 5) == 0) {
            vcm_buf_append_byte(out, '&');
            p += 5;
        } else if (strncmp(p, "&lt;", 4) == 0 || strncmp(p, "&gt;", 4) == 0) {
            vcm_buf_append_byte(out, p[1] == 'l' ? '<' : '>');
            p += 4;
        } else if (strncmp(p, "&#13;", 5) == 0) {
            vcm_buf_append_byte(out, '\r');
            p += 5;
        } else {
            assert_int_not_equal(*p, '&');
            vcm_buf_append_byte(out, *p++);
        }
    }
    return p;
}

static void xml_gives_the_text_back_but_for_what_it_cannot_hold(void **state)
{
    uint64_t seed = 42;
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB), back = VCM_BUF_INIT(VCM_MIB);

    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (unsigned i = 0; i < ROUNDS; i++) {
        fill_random(&text, &seed);
        struct vcm_record record = record_of("a", vcm_buf_text(&text));
        vcm_buf_clear(&back);
        char *whole = render(&record, "xml", false);
        const char *end = unescape(&back, strstr(whole, "<text>") + 6);
        assert_string_equal(end, "</text>\n</record>\n</page>\n");
        free(whole);
        /* U+FFFF is among the pieces; XML has no place for it. */
        for (char *p = text.data; p && (p = strstr(p, "\xef\xbf\xbf"));)
            p[2] = '\xbd';
        assert_string_equal(vcm_buf_text(&back), vcm_buf_text(&text));
    }
    vcm_buf_release(&text);
    vcm_buf_release(&back);
}

static void a_chunk_stands_under_its_section_and_page(void **state)
{
    struct vcm_record record = record_of("a.pdf", "Some prose.\n");

    (void)state;
    record.section = "1 Intro > 1.1 \"Why\"";
    record.page = 3;
    assert_rendered(&record, NULL, false,
                    "======== a.pdf (page 3)\n======== in 1 Intro > 1.1 \"Why\"\nSome prose.\n"
                    "========\n");
    assert_rendered(&record, "xml", false,
                    "<page id=\"ab12\" scope=\"s:&quot;x&quot;\" seq=\"7\">\n"
                    "<record path=\"a.pdf\" start_line=\"1\" end_line=\"1\" part=\"1\" parts=\"1\" "
                    "lossy=\"false\" page=\"3\" section=\"1 Intro &gt; 1.1 &quot;Why&quot;\">\n"
                    "<text>Some prose.\n</text>\n</record>\n</page>\n");
}

static void assert_refused(const struct vcm_page *page, const char *format, const char *message)
{
    struct vcm_error err = {0};
    char *text = NULL;
    size_t bytes = 1;

    assert_int_equal(
        vcm_page_render(&text, &bytes, page, &(struct vcm_render_options){.format = format}, &err),
        VCM_INVALID_ARGUMENT);
    assert_null(text);
    assert_int_equal(bytes, 0);
    assert_string_equal(err.message, message);
}

static void what_cannot_be_rendered_is_refused(void **state)
{
    struct vcm_record record = record_of("a", "x");
    const struct vcm_page page = {.records = &record, .record_count = 1};

    (void)state;
    assert_refused(&page, "html", "the format is text, markdown or xml, not 'html'");
    record.text = "\xf0\x9f"; /* the beginning of four bytes, at the end of the text */
    record.text_len = 2;
    assert_refused(&page, "xml", "text is not valid UTF-8");
    record.text = NULL;
    assert_refused(&page, "text", "text is NULL");
    record = record_of("a", "");
    record.path = NULL;
    assert_refused(&page, "text", "path is NULL");
}

static void a_page_without_records_is_an_empty_text(void **state)
{
    struct vcm_error err = {0};
    char *text = NULL;
    size_t bytes = 1;

    (void)state;
    assert_int_equal(vcm_page_render(&text, &bytes, &(struct vcm_page){0},
                                     &(struct vcm_render_options){0}, &err),
                     VCM_OK);
    assert_int_equal(bytes, 0);
    assert_string_equal(text, "");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_stands_under_its_path),
        cmocka_unit_test(a_later_part_says_what_it_is_in),
        cmocka_unit_test(a_heading_is_one_line),
        cmocka_unit_test(lines_are_numbered_when_asked_for),
        cmocka_unit_test(a_binary_file_says_what_it_is),
        cmocka_unit_test(a_chunk_stands_under_its_section_and_page),
        cmocka_unit_test(what_cannot_be_rendered_is_refused),
        cmocka_unit_test(a_page_without_records_is_an_empty_text),
        cmocka_unit_test(an_empty_file_and_odd_paths_are_shown),
        cmocka_unit_test(no_content_closes_its_fence_and_all_come_back),
        cmocka_unit_test(xml_gives_the_text_back_but_for_what_it_cannot_hold),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
