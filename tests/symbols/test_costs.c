/*
 * What extracting the symbols of a file costs is bounded, whatever it holds: the steps of
 * tree-sitter are counted (grammars/core.c), not timed. VCM_TEST_LONG=1 tries every text in every
 * language.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/limits.h"
#include "symbols/extractor.h"

#include "base/banned.h"

/* Steps that are taken at once, and so may be too many: the siblings of one node. */
#define OVERSHOOT ((uint64_t)4 * 1000 * 1000)

static struct vcm_extractor *extractor;

static int set_up(void **state)
{
    (void)state;
    return vcm_extractor_open(&extractor, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    vcm_extractor_close(extractor);
    return 0;
}

static enum vcm_symbol_state extract(enum vcm_language language, const char *again, size_t size)
{
    struct vcm_buf text = VCM_BUF_INIT(2 * VCM_MIB);
    struct vcm_symbols symbols;
    struct vcm_error err = {0};

    while (text.len < size)
        vcm_buf_append_string(&text, again);
    vcm_symbols_init(&symbols);
    if (vcm_extractor_run(&symbols, extractor, language, vcm_buf_slice(&text), &err) != VCM_OK)
        fail_msg("\"%s\": %s", again, err.message);
    assert_true(vcm_extractor_steps_last(extractor) <=
                VCM_LIMIT_SYMBOLS_WORK + VCM_LIMIT_SYMBOLS_WORK_TIMES * text.len + OVERSHOOT);
    enum vcm_symbol_state state = symbols.state;
    vcm_symbols_release(&symbols);
    vcm_buf_release(&text);
    return state;
}

static void texts_that_take_minutes_are_too_costly(void **state)
{
    (void)state;
    assert_int_equal(extract(VCM_LANGUAGE_PYTHON, "(", 300000), VCM_SYMBOL_TOO_COSTLY);
    assert_int_equal(extract(VCM_LANGUAGE_GO, "[", 300000), VCM_SYMBOL_TOO_COSTLY);
    assert_int_equal(extract(VCM_LANGUAGE_HASKELL, "<<A\n", 100000), VCM_SYMBOL_TOO_COSTLY);
    assert_int_equal(extract(VCM_LANGUAGE_SWIFT, "a?", 100000), VCM_SYMBOL_TOO_COSTLY);
    assert_int_equal(extract(VCM_LANGUAGE_LUA, "\xff", 100000), VCM_SYMBOL_TOO_COSTLY);
}

static void a_plain_file_takes_a_small_part_of_what_it_may(void **state)
{
    (void)state;
    assert_int_equal(
        extract(VCM_LANGUAGE_C, "int f(int a)\n{\n    return g(a) + h[a];\n}\n", 100000),
        VCM_SYMBOL_COMPLETE);
    assert_int_equal(extract(VCM_LANGUAGE_PYTHON, "def f(a):\n    return g(a) + h[a]\n\n", 100000),
                     VCM_SYMBOL_COMPLETE);
    assert_true(vcm_extractor_steps_last(extractor) < VCM_LIMIT_SYMBOLS_WORK / 10);
}

static void extracting_stops_when_asked_to(void **state)
{
    struct vcm_cancel cancel = {0};
    struct vcm_symbols symbols;
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);

    (void)state;
    while (text.len < 100000)
        vcm_buf_append_byte(&text, '(');
    vcm_cancel_request(&cancel);
    vcm_extractor_set_cancel(extractor, &cancel);
    vcm_symbols_init(&symbols);
    assert_int_equal(
        vcm_extractor_run(&symbols, extractor, VCM_LANGUAGE_PYTHON, vcm_buf_slice(&text), NULL),
        VCM_INTERRUPTED);
    vcm_extractor_set_cancel(extractor, NULL);
    vcm_symbols_release(&symbols);
    vcm_buf_release(&text);
}

static const char *const texts[] = {
    "(",        "[",       "{",       "<",         "((",       "()",       "[[",     "{{",
    "<<",       "<<A\n",   "<<-A\n",  "\"",        "'",        "`",        "\"\"\"", "'''",
    "${",       "#{",      "\\(",     "/*",        "//",       "--[[",     "{-",     "(*",
    "<!--",     "#if\n",   "#else\n", "#endif\n",  "if ",      "else ",    "do ",    "begin ",
    "end ",     "fn ",     "def f\n", "class A\n", "case ",    "=> ",      "-> ",    "= ",
    "a.",       "a::",     "a,",      "a ",        "a;",       "a\n",      "a=",     "a+",
    "!",        "&",       "*",       "**",        "@",        "@a\n",     "#",      "$",
    "%w(",      "?",       ":",       "a?",        "a<",       "a(",       "a[",     "a{",
    "\n  a",    "\n\ta",   "\n ",     "\\\n",      "x = <<A,", "r#\"",     "R\"a(",  "f\"{",
    "|> ",      "~~~",     "::=",     "0x",        "1.",       "\xc3\xa4", "\xff",   "\r",
    "let a = ", "import ", "for (",   "template<", "lambda ",  "return ",  "\\",     "where ",
};

static void every_text_in_every_language_is_within_the_bound(void **state)
{
    (void)state;
    if (!getenv("VCM_TEST_LONG"))
        skip();
    for (unsigned language = 0; language < VCM_LANGUAGES_COUNT; language++) {
        if (!vcm_language_get((enum vcm_language)language)->grammar)
            continue;
        for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
            extract((enum vcm_language)language, texts[i], 32 * VCM_KIB);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_file_takes_a_small_part_of_what_it_may),
        cmocka_unit_test(texts_that_take_minutes_are_too_costly),
        cmocka_unit_test(extracting_stops_when_asked_to),
        cmocka_unit_test(every_text_in_every_language_is_within_the_bound),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
