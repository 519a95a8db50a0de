#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <wctype.h>

#include <cmocka.h>

#include "base/limits.h"
#include "symbols/extractor.h"
#include "symbols/parse_memory.h"
#include "symbols/scanner_guard.h"

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

static enum vcm_symbol_state read_state(enum vcm_language language, const struct vcm_buf *text)
{
    struct vcm_error err = {0};
    struct vcm_symbols symbols;

    assert_int_equal(vcm_buf_check(text, "the text", &err), VCM_OK);
    vcm_symbols_init(&symbols);
    assert_int_equal(vcm_extractor_run(&symbols, extractor, language, vcm_buf_slice(text), &err),
                     VCM_OK);
    enum vcm_symbol_state found = symbols.state;
    vcm_symbols_release(&symbols);
    return found;
}

static void append_times(struct vcm_buf *out, const char *text, unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        vcm_buf_append_string(out, text);
}

/* Ruby's scanner keeps the length of a heredoc's word in a byte and asserts what it reads back. */
static void a_scanner_that_misreads_its_state_costs_the_file(void **state)
{
    struct vcm_buf text = VCM_BUF_INIT(1 * VCM_MIB);

    (void)state;
    vcm_buf_append_string(&text, "x = <<");
    append_times(&text, "A", 300);
    vcm_buf_append_string(&text, "\n hello #{1}\n");
    append_times(&text, "A", 300);
    vcm_buf_append_string(&text, "\ndef after\nend\n");
    assert_int_equal(read_state(VCM_LANGUAGE_RUBY, &text), VCM_SYMBOL_TOO_COSTLY);
    vcm_buf_clear(&text);
    vcm_buf_append_string(&text, "def after\nend\n");
    assert_int_equal(read_state(VCM_LANGUAGE_RUBY, &text), VCM_SYMBOL_COMPLETE);
    vcm_buf_release(&text);
}

/* Python's writes two bytes for an indent where there may be room for one. */
static void a_scanner_that_writes_too_much_costs_the_file(void **state)
{
    struct vcm_buf text = VCM_BUF_INIT(16 * VCM_MIB);

    (void)state;
    for (unsigned depth = 0; depth < 600; depth++) {
        append_times(&text, " ", depth);
        vcm_buf_append_string(&text, "if x:\n");
    }
    append_times(&text, " ", 600);
    vcm_buf_append_string(&text, "y = f\"{a}\"\n");
    assert_int_equal(read_state(VCM_LANGUAGE_PYTHON, &text), VCM_SYMBOL_TOO_COSTLY);
    vcm_buf_release(&text);
}

static unsigned save_bytes(void *payload, char *buffer)
{
    unsigned length = *(unsigned *)payload;

    memset(buffer, 'x', length);
    return length;
}

static void save_to_parser(void *context)
{
    struct {
        char state[1024];
        char behind;
    } parser = {.behind = 'b'};

    assert_int_equal(vcm_scanner_guard_save(save_bytes, context, parser.state),
                     *(unsigned *)context);
    assert_int_equal(parser.behind, 'b');
}

static void a_state_may_be_as_long_as_the_parser_has_room(void **state)
{
    struct vcm_parse_memory *memory = vcm_parse_memory_open(1 * VCM_MIB);
    unsigned length = 1024;

    (void)state;
    assert_non_null(memory);
    assert_int_equal(vcm_parse_memory_run(memory, save_to_parser, &length), VCM_PARSE_DONE);
    length++;
    assert_int_equal(vcm_parse_memory_run(memory, save_to_parser, &length), VCM_PARSE_TOO_LARGE);
    vcm_parse_memory_close(memory);
}

static void read_beyond(void *payload, const char *buffer, unsigned length)
{
    unsigned char found = 0;

    for (unsigned i = length; i < 100000; i++)
        found |= (unsigned char)buffer[i];
    *(bool *)payload = found == 0 && buffer[length - 1] == 'x';
}

static void restore_long_then_short(void *context)
{
    bool *fine = context, both = true;

    for (unsigned length = 1024; length > 0; length -= 512) {
        char bytes[1024];
        memset(bytes, 'x', sizeof bytes);
        vcm_scanner_guard_restore(read_beyond, fine, bytes, length);
        both = both && *fine;
    }
    *fine = both;
}

static void what_a_scanner_reads_behind_its_state_is_zeros(void **state)
{
    struct vcm_parse_memory *memory = vcm_parse_memory_open(1 * VCM_MIB);
    bool fine = false;

    (void)state;
    assert_non_null(memory);
    assert_int_equal(vcm_parse_memory_run(memory, restore_long_then_short, &fine), VCM_PARSE_DONE);
    assert_true(fine);
    vcm_parse_memory_close(memory);
}

static void ask_for_nothing(void *context)
{
    unsigned char *piece = vcm_parse_memory_malloc(8);

    memset(piece, 0xff, 8);
    vcm_parse_memory_free(piece);
    piece = vcm_parse_memory_calloc(0, 4);
    *(bool *)context = piece[0] == 0 && piece[3] == 0;
    piece[3] = 1;
}

/* Swift's does, and keeps a number there. */
static void a_scanner_that_asks_for_no_bytes_has_some_zeros(void **state)
{
    struct vcm_parse_memory *memory = vcm_parse_memory_open(1 * VCM_MIB);
    bool fine = false;

    (void)state;
    assert_non_null(memory);
    assert_int_equal(vcm_parse_memory_run(memory, ask_for_nothing, &fine), VCM_PARSE_DONE);
    assert_true(fine);
    vcm_parse_memory_close(memory);
}

/* As a program that has the library loaded may have set it: Python does. */
static void symbols_do_not_depend_on_the_locale(void **state)
{
    static const char *const locales[] = {"C", "C.UTF-8"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        if (!setlocale(LC_CTYPE, locales[i]))
            continue; /* not installed */
        for (unsigned c = 0; c < 0x80; c++) {
            assert_int_equal(!vcm_scanner_guard_iswalnum(c), !iswalnum(c));
            assert_int_equal(!vcm_scanner_guard_iswalpha(c), !iswalpha(c));
            assert_int_equal(!vcm_scanner_guard_iswdigit(c), !iswdigit(c));
            assert_int_equal(!vcm_scanner_guard_iswlower(c), !iswlower(c));
            assert_int_equal(!vcm_scanner_guard_iswspace(c), !iswspace(c));
            assert_int_equal(!vcm_scanner_guard_iswupper(c), !iswupper(c));
            assert_int_equal(!vcm_scanner_guard_iswxdigit(c), !iswxdigit(c));
            assert_int_equal(vcm_scanner_guard_towupper(c), towupper(c));
        }
        for (unsigned c = 0x80; c < 0x110000; c++)
            assert_false(vcm_scanner_guard_iswalnum(c) || vcm_scanner_guard_iswspace(c) ||
                         vcm_scanner_guard_iswxdigit(c) || vcm_scanner_guard_towupper(c) != c);
    }
    setlocale(LC_CTYPE, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scanner_that_misreads_its_state_costs_the_file),
        cmocka_unit_test(a_scanner_that_writes_too_much_costs_the_file),
        cmocka_unit_test(a_state_may_be_as_long_as_the_parser_has_room),
        cmocka_unit_test(what_a_scanner_reads_behind_its_state_is_zeros),
        cmocka_unit_test(a_scanner_that_asks_for_no_bytes_has_some_zeros),
        cmocka_unit_test(symbols_do_not_depend_on_the_locale),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
