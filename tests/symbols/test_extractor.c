#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include <dirent.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/path.h"
#include "symbols/extractor.h"

#include "base/banned.h"

static struct vcm_extractor *extractor;

static int set_up(void **state)
{
    struct vcm_error err = {0};

    (void)state;
    return vcm_extractor_open(&extractor, &err);
}

static int tear_down(void **state)
{
    (void)state;
    vcm_extractor_close(extractor);
    return 0;
}

/* One line for each symbol, as the expected files have them. */
static void show(struct vcm_buf *out, const struct vcm_symbols *symbols)
{
    for (uint32_t i = 0; i < symbols->import_count; i++)
        vcm_buf_append_format(
            out, "%s %u %.*s%s%.*s\n", symbols->imports[i].hidden ? "pass" : "import",
            symbols->imports[i].line, (int)symbols->imports[i].target.len,
            symbols->imports[i].target.data, symbols->imports[i].alias.len > 0 ? " as " : "",
            (int)symbols->imports[i].alias.len, symbols->imports[i].alias.data);
    for (uint32_t i = 0; i < symbols->definition_count; i++) {
        const struct vcm_symbol *s = &symbols->definitions[i];
        vcm_buf_append_format(out, "def %u", s->start_line);
        if (s->line != s->start_line)
            vcm_buf_append_format(out, "(%u)", s->line);
        vcm_buf_append_format(out, "-%u %s %s %.*s%s%.*s | %.*s | %.*s\n", s->end_line,
                              vcm_symbol_visibility_name(s->visibility),
                              vcm_symbol_kind_name(s->kind), (int)s->container.len,
                              s->container.data, s->container.len > 0 ? "." : "", (int)s->name.len,
                              s->name.data, (int)s->signature.len, s->signature.data,
                              (int)s->documentation.len, s->documentation.data);
    }
    for (uint32_t i = 0; i < symbols->reference_count; i++) {
        const struct vcm_symbol_reference *r = &symbols->references[i];
        struct vcm_slice from =
            r->from > 0 ? symbols->definitions[r->from - 1].name : vcm_slice_of("-", 1);
        bool imported = r->receiver.len > 0 && r->receiver.data[0] == '@';
        struct vcm_slice before = imported ? r->receiver : r->qualifier;
        vcm_buf_append_format(out, "ref %u %s %.*s%s%.*s in %.*s\n", r->line,
                              vcm_symbol_use_name(r->use), (int)before.len, before.data,
                              r->qualified ? "|" : "", (int)r->name.len, r->name.data,
                              (int)from.len, from.data);
    }
}

static void read_sample(struct vcm_buf *out, const char *name)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_error err = {0};

    vcm_path_join(&path, VCM_LANGUAGE_SAMPLES, name);
    int rc = vcm_path_read_file(out, vcm_buf_text(&path), 1 * VCM_MIB, &err);
    if (rc != VCM_OK)
        fail_msg("%s", err.message);
    vcm_buf_release(&path);
}

static void extract(struct vcm_symbols *symbols, enum vcm_language language, struct vcm_slice text)
{
    struct vcm_error err = {0};

    vcm_symbols_init(symbols);
    int rc = vcm_extractor_run(symbols, extractor, language, text, &err);
    if (rc != VCM_OK)
        fail_msg("%s", err.message);
}

static struct vcm_slice pop_line(struct vcm_slice *rest)
{
    const char *end = rest->len > 0 ? memchr(rest->data, '\n', rest->len) : NULL;
    struct vcm_slice line = vcm_slice_of(rest->data, end ? (size_t)(end - rest->data) : rest->len);

    *rest =
        vcm_slice_of(rest->data + line.len + (end ? 1 : 0), rest->len - line.len - (end ? 1 : 0));
    return line;
}

/* Shows the first line that differs: the whole would be cut. */
static void assert_same_lines(const char *name, struct vcm_slice found, struct vcm_slice expected)
{
    while (found.len > 0 || expected.len > 0) {
        struct vcm_slice is = pop_line(&found), should = pop_line(&expected);
        if (!vcm_slice_equal(is, should))
            fail_msg("%s\n  found:    %.*s\n  expected: %.*s", name, (int)is.len, is.data,
                     (int)should.len, should.data);
    }
}

static void check_sample(enum vcm_language language, const char *name)
{
    struct vcm_buf source = VCM_BUF_INIT(1 * VCM_MIB), expected = VCM_BUF_INIT(1 * VCM_MIB);
    struct vcm_buf found = VCM_BUF_INIT(1 * VCM_MIB), stored = VCM_BUF_INIT(1 * VCM_MIB);
    struct vcm_buf again = VCM_BUF_INIT(1 * VCM_MIB);
    struct vcm_symbols symbols, decoded;
    struct vcm_error err = {0};
    char expected_name[64];

    read_sample(&source, name);
    snprintf(expected_name, sizeof expected_name, "%s.expected", name);
    read_sample(&expected, expected_name);
    extract(&symbols, language, vcm_buf_slice(&source));
    assert_int_equal(symbols.state, VCM_SYMBOL_COMPLETE);
    show(&found, &symbols);
    assert_same_lines(name, vcm_buf_slice(&found), vcm_buf_slice(&expected));

    vcm_symbols_encode(&stored, &symbols);
    vcm_symbols_init(&decoded);
    assert_int_equal(vcm_symbols_decode(&decoded, vcm_buf_slice(&stored), true, &err), VCM_OK);
    show(&again, &decoded);
    assert_same_lines(name, vcm_buf_slice(&again), vcm_buf_slice(&expected));
    vcm_symbols_release(&decoded);
    vcm_symbols_release(&symbols);
    vcm_buf_release(&again);
    vcm_buf_release(&stored);
    vcm_buf_release(&found);
    vcm_buf_release(&expected);
    vcm_buf_release(&source);
}

/* "sample.c" of "sample.c.text": the files of C and bash would be read by this project's checks. */
static enum vcm_language language_of_sample(const char *name)
{
    struct vcm_slice path = vcm_slice_of_string(name);

    if (path.len > 5 && memcmp(path.data + path.len - 5, ".text", 5) == 0)
        path.len -= 5;
    return vcm_language_of_path(path);
}

static void visit_samples(void (*visit)(const char *name, void *context), void *context)
{
    struct dirent **entries = NULL;
    int count = scandir(VCM_LANGUAGE_SAMPLES, &entries, NULL, alphasort);

    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.' && !strstr(entries[i]->d_name, ".expected"))
            visit(entries[i]->d_name, context);
        free(entries[i]);
    }
    free(entries);
}

/* How many samples of each kind a language has. */
struct tally {
    unsigned read[VCM_LANGUAGES_COUNT], by_hand[VCM_LANGUAGES_COUNT];
};

static void check_and_count(const char *name, void *context)
{
    struct tally *tally = context;
    enum vcm_language language = language_of_sample(name);

    if (!vcm_language_is_known(language))
        fail_msg("%s is a sample of no language", name);
    check_sample(language, name);
    tally->read[language] += strncasecmp(name, "sample.", 7) == 0;
    tally->by_hand[language] += strncasecmp(name, "hand.", 5) == 0;
}

/* sample.* is what a person went through, hand.* was written down before the extractor read it. */
static void symbols_of_every_language_are_those_that_a_person_finds(void **state)
{
    struct tally tally = {{0}, {0}};

    (void)state;
    visit_samples(check_and_count, &tally);
    for (unsigned i = 1; i < VCM_LANGUAGES_COUNT; i++)
        if (vcm_language_level((enum vcm_language)i) == VCM_LANGUAGES_FULL &&
            (tally.read[i] == 0 || tally.by_hand[i] == 0))
            fail_msg("%s lacks sample.* or hand.*", vcm_language_name((enum vcm_language)i));
}

static enum vcm_symbol_visibility first_visibility(const char *text)
{
    struct vcm_symbols symbols;

    extract(&symbols, VCM_LANGUAGE_JAVASCRIPT, vcm_slice_of_string(text));
    assert_int_equal(symbols.definition_count, 1);
    enum vcm_symbol_visibility visibility = symbols.definitions[0].visibility;
    vcm_symbols_release(&symbols);
    return visibility;
}

static void a_script_that_is_no_module_shares_its_names(void **state)
{
    (void)state;
    assert_int_equal(first_visibility("function total() {}\n"), VCM_SYMBOL_PUBLIC);
    assert_int_equal(first_visibility("function total() {}\nimport './shop';\n"),
                     VCM_SYMBOL_PRIVATE);
    assert_int_equal(first_visibility("function total() {}\nexport { total as sum };\n"),
                     VCM_SYMBOL_PUBLIC);
    assert_int_equal(first_visibility("function total() {}\nmodule.exports = { a: total };\n"),
                     VCM_SYMBOL_PUBLIC);
    assert_int_equal(first_visibility("function total() {}\nmodule.exports = { total };\n"),
                     VCM_SYMBOL_PUBLIC);
    assert_int_equal(first_visibility("function total() {}\nexports.sum = 1;\n"),
                     VCM_SYMBOL_PRIVATE);
}

static void every_language_has_a_query_that_fits_its_grammar(void **state)
{
    (void)state;
    for (unsigned i = 1; i < VCM_LANGUAGES_COUNT; i++) {
        struct vcm_symbols symbols;
        extract(&symbols, (enum vcm_language)i, vcm_slice_of("x", 1));
        vcm_symbols_release(&symbols);
    }
}

static enum vcm_symbol_state state_of(enum vcm_language language, struct vcm_slice text)
{
    struct vcm_symbols symbols;

    extract(&symbols, language, text);
    enum vcm_symbol_state state = symbols.state;
    vcm_symbols_release(&symbols);
    return state;
}

static void what_cannot_be_read_whole_is_named(void **state)
{
    struct vcm_buf text = VCM_BUF_INIT(64 * VCM_MIB);

    (void)state;
    assert_int_equal(state_of(VCM_LANGUAGE_C, vcm_slice_of("int a;\0", 7)), VCM_SYMBOL_BINARY);
    assert_int_equal(state_of(VCM_LANGUAGE_C, vcm_slice_of("", 0)), VCM_SYMBOL_COMPLETE);
    while (text.len <= VCM_LIMIT_SYMBOLS_FILE_BYTES)
        vcm_buf_append_string(&text, "int a[] = {1, 2, 3};\n");
    assert_int_equal(state_of(VCM_LANGUAGE_C, vcm_buf_slice(&text)), VCM_SYMBOL_TOO_LARGE);
    vcm_buf_release(&text);
}

static void repeat(struct vcm_buf *text, const char *piece, unsigned times)
{
    vcm_buf_clear(text);
    for (unsigned i = 0; i < times; i++)
        vcm_buf_append_string(text, piece);
}

static void ten_thousand_nested_parentheses_are_survived_in_every_language(void **state)
{
    struct vcm_buf text = VCM_BUF_INIT(4 * VCM_MIB);

    (void)state;
    repeat(&text, "(", 10000);
    for (unsigned language = 1; language < VCM_LANGUAGES_COUNT; language++)
        state_of((enum vcm_language)language, vcm_buf_slice(&text));
    vcm_buf_release(&text);
}

static void broken_syntax_is_survived(void **state)
{
    static const char *const pieces[] = {"{",   "[",  "int f(", "class A {",
                                         "<a>", "\"", "\\",     "\xff"};
    struct vcm_buf text = VCM_BUF_INIT(4 * VCM_MIB);

    (void)state;
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        repeat(&text, pieces[i], 300);
        for (unsigned language = 1 + (unsigned)i % 3; language < VCM_LANGUAGES_COUNT; language += 3)
            state_of((enum vcm_language)language, vcm_buf_slice(&text));
    }
    vcm_buf_release(&text);
}

/* Each token of it makes the parser of SQL copy all tokens before, and that of Scala look ahead to
 * the end. */
static void what_costs_too_much_is_given_up_and_named(void **state)
{
    struct vcm_buf text = VCM_BUF_INIT(4 * VCM_MIB);

    (void)state;
    repeat(&text, "int f(", 10000);
    assert_int_equal(state_of(VCM_LANGUAGE_SQL, vcm_buf_slice(&text)), VCM_SYMBOL_TOO_COSTLY);
    repeat(&text, "class A {", 10000);
    assert_int_equal(state_of(VCM_LANGUAGE_SCALA, vcm_buf_slice(&text)), VCM_SYMBOL_TOO_COSTLY);
    vcm_buf_release(&text);
}

static void damage_sample(const char *name, void *context)
{
    struct vcm_buf text = VCM_BUF_INIT(1 * VCM_MIB);
    uint32_t *seed = context;

    for (unsigned round = 0; round < 4; round++) {
        vcm_buf_clear(&text);
        read_sample(&text, name);
        for (unsigned i = 0; i < 1 + 4 * round; i++) {
            *seed = *seed * 1664525u + 1013904223u;
            text.data[(*seed >> 8) % text.len] = (char)(*seed >> 24);
        }
        state_of(language_of_sample(name), vcm_buf_slice(&text));
    }
    vcm_buf_release(&text);
}

static void damaged_samples_are_survived_in_every_language(void **state)
{
    uint32_t seed = 20261116;

    (void)state;
    print_message("seed %u\n", seed);
    visit_samples(damage_sample, &seed);
}

/* Each would take minutes if something walked all that is around, before or beside a place. */
static void what_is_deep_long_or_wide_is_read_or_named(void **state)
{
    static const struct {
        enum vcm_language language;
        const char *head, *piece, *middle, *end;
    } texts[] = {
        {VCM_LANGUAGE_JAVASCRIPT, "", "(a)=>{", "b;", "}"},
        {VCM_LANGUAGE_PYTHON, "", "lambda a:(", "b,", ")"},
        {VCM_LANGUAGE_GO, "package a\nfunc f(){", "func(a int){", "b();", "}();"},
        {VCM_LANGUAGE_JAVA, "", "class A{", "int b;", "}"},
        {VCM_LANGUAGE_CPP, "", "template<class T> ", "", ""},
        {VCM_LANGUAGE_OCAML, "let a = 1 ", "and a = 1 ", "", ""},
        {VCM_LANGUAGE_OCAML_INTERFACE, "", "val a : int ", "", ""},
        {VCM_LANGUAGE_C, "", "int a;", "", ""},
        {VCM_LANGUAGE_SWIFT, "var b=1", ",a=1", "", ""},
        {VCM_LANGUAGE_LUA, "local a = ", "require(\"a\"),", "1", ""},
    };
    const unsigned times = 8000;
    struct vcm_buf text = VCM_BUF_INIT(4 * VCM_MIB);

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        vcm_buf_clear(&text);
        vcm_buf_append_string(&text, texts[i].head);
        for (unsigned j = 0; j < 3 * times; j++)
            vcm_buf_append_string(&text, j < times       ? texts[i].piece
                                         : j < 2 * times ? texts[i].middle
                                                         : texts[i].end);
        /* Deep functions of Go cost its parser too much. */
        assert_int_equal(state_of(texts[i].language, vcm_buf_slice(&text)),
                         texts[i].language == VCM_LANGUAGE_GO ? VCM_SYMBOL_TOO_COSTLY
                                                              : VCM_SYMBOL_COMPLETE);
    }
    vcm_buf_release(&text);
}

static void damaged_symbols_are_refused(void **state)
{
    struct vcm_buf stored = VCM_BUF_INIT(1 * VCM_MIB);
    struct vcm_symbols symbols;

    (void)state;
    extract(&symbols, VCM_LANGUAGE_C, vcm_slice_of_string("int f(void) { return g(); }\n"));
    vcm_symbols_encode(&stored, &symbols);
    vcm_symbols_release(&symbols);
    for (size_t len = 0; len < stored.len; len++) {
        struct vcm_error err = {0};
        vcm_symbols_init(&symbols);
        assert_int_equal(vcm_symbols_decode(&symbols, vcm_slice_of(stored.data, len), true, &err),
                         VCM_STORE_CORRUPT);
        vcm_symbols_release(&symbols);
    }
    vcm_buf_release(&stored);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symbols_of_every_language_are_those_that_a_person_finds),
        cmocka_unit_test(a_script_that_is_no_module_shares_its_names),
        cmocka_unit_test(every_language_has_a_query_that_fits_its_grammar),
        cmocka_unit_test(what_cannot_be_read_whole_is_named),
        cmocka_unit_test(ten_thousand_nested_parentheses_are_survived_in_every_language),
        cmocka_unit_test(broken_syntax_is_survived),
        cmocka_unit_test(what_costs_too_much_is_given_up_and_named),
        cmocka_unit_test(damaged_samples_are_survived_in_every_language),
        cmocka_unit_test(what_is_deep_long_or_wide_is_read_or_named),
        cmocka_unit_test(damaged_symbols_are_refused),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
