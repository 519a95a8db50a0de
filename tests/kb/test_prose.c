#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "kb/prose.h"

#include "base/banned.h"

/* The sentences of a paragraph, joined by '|'. */
static const char *sentences(const char *text)
{
    static char joined[1024];
    size_t end = strlen(text);
    size_t used = 0;

    for (size_t at = 0; at < end;) {
        size_t next = vcm_prose_sentence_end(text, at, end);
        assert_true(next > at && next <= end);
        used += (size_t)snprintf(joined + used, sizeof joined - used, "%s%.*s", at > 0 ? "|" : "",
                                 (int)(next - at), text + at);
        at = next;
    }
    return joined;
}

static void a_sentence_ends_at_a_stop_before_a_capital(void **state)
{
    (void)state;
    assert_string_equal(sentences("One is here. Two is here! Is three? Yes."),
                        "One is here. |Two is here! |Is three? |Yes.");
    assert_string_equal(sentences("He said \"Go.\" Then he went.\n"),
                        "He said \"Go.\" |Then he went.\n");
    assert_string_equal(sentences("Version 2.5 is out. 3 more follow."),
                        "Version 2.5 is out. |3 more follow.");
    assert_string_equal(sentences("日本語です。次の文。"), "日本語です。|次の文。");
    assert_string_equal(sentences("no stop at all"), "no stop at all");
}

static void an_abbreviation_ends_no_sentence(void **state)
{
    (void)state;
    assert_string_equal(sentences("See Fig. 3 and J. Smith et al. Nothing else. Done."),
                        "See Fig. 3 and J. Smith et al. Nothing else. |Done.");
    assert_string_equal(sentences("Some, e.g. This one. Or i.e. that."),
                        "Some, e.g. This one. |Or i.e. that.");
    assert_string_equal(sentences("It ends. or does it"), "It ends. or does it");
}

static void items_rows_and_code_begin_sentences(void **state)
{
    (void)state;
    assert_string_equal(sentences("List:\n- one\n- two\n1. three\nprose\n"),
                        "List:\n|- one\n|- two\n|1. three\nprose\n");
    assert_string_equal(sentences("Code:\n    a = 1\n    b = 2\n"),
                        "Code:\n|    a = 1\n|    b = 2\n");
    assert_string_equal(sentences("|a|b|\n|c|d|\n"), "|a|b|\n||c|d|\n");
}

static void a_paragraph_has_the_blank_lines_behind_it(void **state)
{
    (void)state;
    static const char text[] = "\n  \none\ntwo\r\n \t\n\nthree\n\n";
    size_t end = sizeof text - 1;

    size_t first = vcm_prose_paragraph_end(text, 0, end);
    assert_string_equal(text + first, "three\n\n");
    assert_int_equal(vcm_prose_paragraph_end(text, first, end), end);
    assert_int_equal(vcm_prose_paragraph_end(" \n\n", 0, 3), 3);
}

static void words_end_behind_their_white_space(void **state)
{
    (void)state;
    static const char text[] = "one  two three";
    size_t end = sizeof text - 1;

    assert_int_equal(vcm_prose_word_end_before(text, 0, 8, end), 5);
    assert_int_equal(vcm_prose_word_end_before(text, 0, 4, end), 0);
    assert_int_equal(vcm_prose_word_end_before(text, 5, 12, end), 9);
    assert_int_equal(vcm_prose_word_end_before("a ", 0, 2, 2), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sentence_ends_at_a_stop_before_a_capital),
        cmocka_unit_test(an_abbreviation_ends_no_sentence),
        cmocka_unit_test(items_rows_and_code_begin_sentences),
        cmocka_unit_test(a_paragraph_has_the_blank_lines_behind_it),
        cmocka_unit_test(words_end_behind_their_white_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
