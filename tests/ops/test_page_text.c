#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "ops/page_text.h"
#include "tests/support/random.h"

#include "base/banned.h"

#define ROUNDS 4000u

static struct vcm_slice slice(const char *text)
{
    return vcm_slice_of_string(text);
}

static struct vcm_page_text_record record_of(const char *path, const char *text)
{
    uint64_t lines = 0;

    for (const char *p = text; *p; p++)
        lines += *p == '\n' || p[1] == '\0';
    return (struct vcm_page_text_record){.path = slice(path),
                                         .text = slice(text),
                                         .start_line = *text ? 1 : 0,
                                         .end_line = lines,
                                         .part = 1,
                                         .parts = 1};
}

static void assert_rendered(const struct vcm_page_text_record *record,
                            enum vcm_page_text_format format, bool lines, const char *expected)
{
    const struct vcm_page_text_options options = {
        .format = format, .lines = lines, .page_id = "ab12", .scope_id = "s:\"x\"", .seq = 7};
    struct vcm_buf out = VCM_BUF_INIT(VCM_MIB);

    vcm_page_text_begin(&out, &options);
    vcm_page_text_put(&out, record, &options);
    vcm_page_text_end(&out, &options);
    assert_string_equal(vcm_buf_text(&out), expected);
    vcm_buf_release(&out);
}

static void a_record_stands_under_its_path(void **state)
{
    struct vcm_page_text_record record = record_of("src/a.c", "int x;\nint y;\n");

    (void)state;
    assert_rendered(&record, VCM_PAGE_TEXT_PLAIN, false,
                    "======== src/a.c (lines 1-2)\nint x;\nint y;\n========\n");
    assert_rendered(&record, VCM_PAGE_TEXT_MARKDOWN, false,
                    "## `src/a.c` (lines 1-2)\n\n```c\nint x;\nint y;\n```\n\n");
    assert_rendered(&record, VCM_PAGE_TEXT_XML, false,
                    "<page id=\"ab12\" scope=\"s:&quot;x&quot;\" seq=\"7\">\n"
                    "<record path=\"src/a.c\" start_line=\"1\" end_line=\"2\" part=\"1\" "
                    "parts=\"1\" lossy=\"false\">\n"
                    "<text>int x;\nint y;\n</text>\n</record>\n</page>\n");
}

static void a_later_part_says_what_it_is_in(void **state)
{
    struct vcm_page_text_record record = record_of("a.py", "    return 1");

    (void)state;
    record.heading = slice("def f(): # `x`");
    record.start_line = record.end_line = 9;
    record.part = 2;
    record.parts = 3;
    record.lossy = true;
    assert_rendered(&record, VCM_PAGE_TEXT_PLAIN, false,
                    "======== a.py (lines 9-9, part 2 of 3, invalid UTF-8 replaced, no newline at "
                    "end)\n======== in def f(): # `x`\n    return 1\n========\n");
    assert_rendered(&record, VCM_PAGE_TEXT_MARKDOWN, false,
                    "## `a.py` (lines 9-9, part 2 of 3, invalid UTF-8 replaced, no newline at end)"
                    "\n\nin `` def f(): # `x` ``\n\n```py\n    return 1\n```\n\n");
    assert_rendered(&record, VCM_PAGE_TEXT_XML, false,
                    "<page id=\"ab12\" scope=\"s:&quot;x&quot;\" seq=\"7\">\n"
                    "<record path=\"a.py\" start_line=\"9\" end_line=\"9\" part=\"2\" parts=\"3\" "
                    "lossy=\"true\">\n<heading>def f(): # `x`</heading>\n"
                    "<text>    return 1</text>\n</record>\n</page>\n");
}

static void lines_are_numbered_when_asked_for(void **state)
{
    struct vcm_page_text_record record = record_of("a", "x\n\ny");

    (void)state;
    record.start_line = 9;
    record.end_line = 11;
    assert_rendered(&record, VCM_PAGE_TEXT_PLAIN, true,
                    "======== a (lines 9-11, no newline at end)\n 9\tx\n10\t\n11\ty\n========\n");
}

static void an_empty_file_and_odd_paths_are_shown(void **state)
{
    struct vcm_page_text_record record = record_of("a\nb", "");

    (void)state;
    assert_rendered(&record, VCM_PAGE_TEXT_PLAIN, true, "======== \"a\\nb\" (empty)\n========\n");
    assert_rendered(&record, VCM_PAGE_TEXT_MARKDOWN, true,
                    "## `\"a\\nb\"` (empty)\n\n```\n```\n\n");
    record.path = slice("`x`.tar.gz");
    assert_rendered(&record, VCM_PAGE_TEXT_MARKDOWN, false,
                    "## `` `x`.tar.gz `` (empty)\n\n```gz\n```\n\n");
    record.path = slice("a<b>\t\"c\"&\1");
    assert_rendered(
        &record, VCM_PAGE_TEXT_XML, false,
        "<page id=\"ab12\" scope=\"s:&quot;x&quot;\" seq=\"7\">\n"
        "<record path=\"a&lt;b&gt;&#9;&quot;c&quot;&amp;\xef\xbf\xbd\" start_line=\"0\" "
        "end_line=\"0\" part=\"1\" parts=\"1\" lossy=\"false\">\n"
        "<text></text>\n</record>\n</page>\n");
}

static void a_binary_file_says_what_it_is(void **state)
{
    struct vcm_page_text_record record = record_of("a.png", "AAE=");

    (void)state;
    record.start_line = record.end_line = 0;
    record.media_type = "image/png";
    record.size = 2;
    assert_rendered(&record, VCM_PAGE_TEXT_PLAIN, true,
                    "======== a.png (image/png, 2 bytes, base64, no newline at end)\nAAE=\n"
                    "========\n");
    assert_rendered(&record, VCM_PAGE_TEXT_XML, true,
                    "<page id=\"ab12\" scope=\"s:&quot;x&quot;\" seq=\"7\">\n"
                    "<record path=\"a.png\" start_line=\"0\" end_line=\"0\" part=\"1\" "
                    "parts=\"1\" lossy=\"false\" media_type=\"image/png\" size=\"2\" "
                    "encoding=\"base64\">\n<text>AAE=</text>\n</record>\n</page>\n");
    record.text = slice("");
    record.size = 99999;
    assert_rendered(&record, VCM_PAGE_TEXT_PLAIN, false,
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

static void check_fenced(const struct vcm_page_text_record *record,
                         enum vcm_page_text_format format, char c, const char *tail)
{
    const struct vcm_page_text_options options = {.format = format};
    struct vcm_buf out = VCM_BUF_INIT(VCM_MIB);
    bool added = record->text.len > 0 && record->text.data[record->text.len - 1] != '\n';

    vcm_page_text_put(&out, record, &options);
    const char *whole = vcm_buf_text(&out);
    const char *open = format == VCM_PAGE_TEXT_PLAIN ? whole : strstr(whole, "\n\n") + 2;
    size_t fence = strspn(open, (char[]){c, '\0'});
    const char *body = strchr(open, '\n') + 1;
    const char *close = closing_line(body, c, fence);
    assert_non_null(close);
    assert_int_equal((size_t)(close - body), record->text.len + added);
    assert_memory_equal(body, record->text.data ? record->text.data : "", record->text.len);
    assert_string_equal(close + fence, tail);
    assert_int_equal(strstr(whole, "no newline at end)") != NULL, added);
    vcm_buf_release(&out);
}

static void no_content_closes_its_fence_and_all_come_back(void **state)
{
    uint64_t seed = 20240607;
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);

    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (unsigned i = 0; i < ROUNDS; i++) {
        fill_random(&text, &seed);
        struct vcm_page_text_record record = record_of("a", vcm_buf_text(&text));
        check_fenced(&record, VCM_PAGE_TEXT_PLAIN, '=', "\n");
        check_fenced(&record, VCM_PAGE_TEXT_MARKDOWN, '`', "\n\n");
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
    const struct vcm_page_text_options options = {
        .format = VCM_PAGE_TEXT_XML, .page_id = "", .scope_id = ""};
    uint64_t seed = 42;
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB), out = VCM_BUF_INIT(VCM_MIB);
    struct vcm_buf back = VCM_BUF_INIT(VCM_MIB);

    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (unsigned i = 0; i < ROUNDS; i++) {
        fill_random(&text, &seed);
        struct vcm_page_text_record record = record_of("a", vcm_buf_text(&text));
        vcm_buf_clear(&out);
        vcm_buf_clear(&back);
        vcm_page_text_put(&out, &record, &options);
        const char *end = unescape(&back, strstr(vcm_buf_text(&out), "<text>") + 6);
        assert_string_equal(end, "</text>\n</record>\n");
        /* U+FFFF is among the pieces; XML has no place for it. */
        for (char *p = text.data; p && (p = strstr(p, "\xef\xbf\xbf"));)
            p[2] = '\xbd';
        assert_string_equal(vcm_buf_text(&back), vcm_buf_text(&text));
    }
    vcm_buf_release(&text);
    vcm_buf_release(&out);
    vcm_buf_release(&back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_stands_under_its_path),
        cmocka_unit_test(a_later_part_says_what_it_is_in),
        cmocka_unit_test(lines_are_numbered_when_asked_for),
        cmocka_unit_test(a_binary_file_says_what_it_is),
        cmocka_unit_test(an_empty_file_and_odd_paths_are_shown),
        cmocka_unit_test(no_content_closes_its_fence_and_all_come_back),
        cmocka_unit_test(xml_gives_the_text_back_but_for_what_it_cannot_hold),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
