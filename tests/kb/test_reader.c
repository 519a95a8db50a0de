#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "kb/reader.h"

#include "base/banned.h"

static int read_text(struct vcm_document *document, enum vcm_reader_type type, const char *text,
                     struct vcm_error *err)
{
    vcm_document_init(document);
    return vcm_reader_read(document, type, vcm_slice_of_string(text), err);
}

/* The headings as "level title @offset-end", joined by '|'. */
static const char *headings(enum vcm_reader_type type, const char *text)
{
    static char joined[1024];
    struct vcm_document document;
    size_t used = 0;

    joined[0] = '\0';
    assert_int_equal(read_text(&document, type, text, NULL), VCM_OK);
    for (size_t i = 0; i < document.heading_count; i++) {
        const struct vcm_document_heading *heading = &document.headings[i];
        used += (size_t)snprintf(joined + used, sizeof joined - used, "%s%u %s @%zu-%zu",
                                 i > 0 ? "|" : "", heading->level, heading->title.data,
                                 heading->offset, heading->end);
    }
    vcm_document_release(&document);
    return joined;
}

static const char *html(const char *text)
{
    static char shown[1024];
    struct vcm_document document;

    assert_int_equal(read_text(&document, VCM_READER_HTML, text, NULL), VCM_OK);
    snprintf(shown, sizeof shown, "%s", vcm_buf_text(&document.text));
    vcm_document_release(&document);
    return shown;
}

static void the_extension_tells_the_type(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        const char *name;
    } cases[] = {
        {"a/b.pdf", "pdf"},  {"B.PDF", "pdf"},  {"x.md", "markdown"}, {"x.markdown", "markdown"},
        {"x.rst", "rst"},    {"x.htm", "html"}, {"x.html", "html"},   {"x.txt", "text"},
        {"LICENSE", "text"}, {"x.c", "text"},   {".pdf", "text"}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum vcm_reader_type type = vcm_reader_type_of(vcm_slice_of_string(cases[i].path));
        assert_string_equal(vcm_reader_type_name(type), cases[i].name);
    }
    assert_int_equal(vcm_reader_type_of(vcm_slice_of_string("x.c")), VCM_READER_OTHER);
}

static void markdown_headings_are_found_and_code_is_none(void **state)
{
    (void)state;
    assert_string_equal(headings(VCM_READER_MARKDOWN, "# One #\ntext\n## `Two` *x*\n"),
                        "1 One @0-8|2 Two x @13-26");
    assert_string_equal(headings(VCM_READER_MARKDOWN, "One\n===\n\nTwo\nlines\n---\ntext\n---\n"),
                        "1 One @0-8|2 Two lines @9-23|2 text @23-32");
    assert_string_equal(headings(VCM_READER_MARKDOWN,
                                 "```sh\n# no\n```\n~~~\n# no\n```\n# no\n~~~\n    # no\n#no\n"),
                        "");
    assert_string_equal(
        headings(VCM_READER_MARKDOWN, "---\ntitle: x\n---\n# A\n- item\n---\n\n---\n"),
        "1 A @17-21");
    assert_string_equal(
        headings(VCM_READER_MARKDOWN, "# [Link](http://x) {#id}\r\n#\n####### no\n"),
        "1 Link @0-26");
    assert_string_equal(headings(VCM_READER_MARKDOWN, "a | b\n---|---\n"), "");
}

static void rst_levels_come_in_the_order_of_their_marks(void **state)
{
    (void)state;
    assert_string_equal(headings(VCM_READER_RST,
                                 "=====\nTitle\n=====\n\nOne\n===\n\ntext\n\nSub\n---\n"
                                 "\nTwo\n===\n"),
                        "1 Title @0-18|2 One @19-27|3 Sub @34-42|2 Two @43-51");
    assert_string_equal(
        headings(VCM_READER_RST, "text\nmore\n----\n\n  indented\n  ====\n\n----\n\nx\n"), "");
    assert_string_equal(headings(VCM_READER_RST, "Größe\n=====\n"), "1 Größe @0-14");
}

static void html_reads_as_a_person_sees_it(void **state)
{
    (void)state;
    assert_string_equal(html("<html><head><title>t</title><style>p{}</style></head><body>"
                             "<p>One &amp; <b>two</b>\n three.</p><p>Four&#33; &#x41;&nbsp;&bogus;"
                             "</p></body>"),
                        "One & two three.\n\nFour! A &bogus;");
    assert_string_equal(html("<ul><li>a<li>b</ul><table><tr><td>1<td>2<tr><td>3</table>"),
                        "- a\n- b\n\n1 | 2\n3");
    assert_string_equal(html("<pre>a\n  b</pre>c<br>d"), "a\n  b\n\nc\nd");
    assert_string_equal(
        html("a<script>if (x</a>) '<p>'</script><!-- <p>no --> b < c <a href=\">\">e</a>"),
        "a b < c e");
}

static void html_headings_make_sections(void **state)
{
    (void)state;
    assert_string_equal(headings(VCM_READER_HTML, "<h1>A <i>b</i></h1>text<h2></h2><H3>c<p>d"),
                        "1 A b @0-5|3 c d @11-17");
}

static void what_is_no_text_is_told_apart_from_what_is_empty(void **state)
{
    (void)state;
    static const struct {
        enum vcm_reader_type type;
        struct vcm_slice bytes;
        const char *message;
    } cases[] = {
        {VCM_READER_OTHER, {"a\0b", 3}, "unsupported type: the file is not text"},
        {VCM_READER_TEXT, {"a\0b", 3}, "unsupported type: the file is not text"},
        {VCM_READER_OTHER, {"\xff\xfe", 2}, "unsupported type: the file is not UTF-8 text"},
        {VCM_READER_MARKDOWN, {"", 0}, "empty: the file has no bytes"},
        {VCM_READER_MARKDOWN, {" \n\t", 3}, "empty: there is no text in the file"},
        {VCM_READER_HTML, {"<p></p>", 7}, "empty: there is no text in the file"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vcm_error err = {0};
        struct vcm_document document;
        vcm_document_init(&document);
        assert_int_equal(vcm_reader_read(&document, cases[i].type, cases[i].bytes, &err),
                         VCM_UNSUPPORTED);
        assert_int_equal(document.refused, cases[i].message[0] == 'e'
                                               ? VCM_REASON_EMPTY
                                               : VCM_REASON_UNSUPPORTED_TYPE);
        assert_string_equal(err.message, cases[i].message);
        vcm_document_release(&document);
    }
}

static void invalid_bytes_are_replaced_and_a_mark_is_dropped(void **state)
{
    (void)state;
    struct vcm_document document;

    assert_int_equal(read_text(&document, VCM_READER_TEXT,
                               "\xef\xbb\xbf"
                               "a\xff"
                               "b",
                               NULL),
                     VCM_OK);
    assert_string_equal(vcm_buf_text(&document.text), "a\xef\xbf\xbd"
                                                      "b");
    assert_true(document.lossy);
    vcm_document_release(&document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_extension_tells_the_type),
        cmocka_unit_test(markdown_headings_are_found_and_code_is_none),
        cmocka_unit_test(rst_levels_come_in_the_order_of_their_marks),
        cmocka_unit_test(html_reads_as_a_person_sees_it),
        cmocka_unit_test(html_headings_make_sections),
        cmocka_unit_test(what_is_no_text_is_told_apart_from_what_is_empty),
        cmocka_unit_test(invalid_bytes_are_replaced_and_a_mark_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
