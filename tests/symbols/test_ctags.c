#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/path.h"
#include "symbols/ctags.h"
#include "symbols/extract.h"

#include "base/banned.h"

static char folder[] = "/tmp/vcm-ctags-XXXXXX";
static char *path_before;

static int set_up(void **state)
{
    (void)state;
    path_before = strdup(getenv("PATH") ? getenv("PATH") : "");
    return path_before && mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    free(path_before);
    return vcm_path_remove_tree(folder, NULL) == VCM_OK ? 0 : -1;
}

static int restore_path(void **state)
{
    (void)state;
    return setenv("PATH", path_before, 1);
}

/* Writes a file into the folder. */
static void put_file(const char *name, const char *text, mode_t mode)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

/* A program by the name of ctags before all others. */
static void put_impostor(const char *script)
{
    char path[4096];

    put_file("ctags", script, 0755);
    snprintf(path, sizeof path, "%s:/usr/bin:/bin", folder);
    setenv("PATH", path, 1);
}

static void run(struct vcm_symbols *symbols, enum vcm_language language, const char *text)
{
    struct vcm_extractor *extractor = NULL;
    struct vcm_error err = {0};

    vcm_symbols_init(symbols);
    assert_int_equal(vcm_extractor_open(&extractor, &err), VCM_OK);
    assert_int_equal(
        vcm_extractor_run(symbols, extractor, language, vcm_slice_of_string(text), &err), VCM_OK);
    vcm_extractor_close(extractor);
}

static enum vcm_symbol_state state_of(const char *text)
{
    struct vcm_symbols symbols;

    run(&symbols, VCM_LANGUAGE_PERL, text);
    enum vcm_symbol_state state = symbols.state;
    assert_true(state == VCM_SYMBOL_COMPLETE || symbols.definition_count == 0);
    vcm_symbols_release(&symbols);
    return state;
}

static void check(const struct vcm_symbol *symbol, const char *expected)
{
    char found[512];

    snprintf(found, sizeof found, "%u-%u %s %s %.*s.%.*s | %.*s | %.*s", symbol->line,
             symbol->end_line, vcm_symbol_visibility_name(symbol->visibility),
             vcm_symbol_kind_name(symbol->kind), (int)symbol->container.len, symbol->container.data,
             (int)symbol->name.len, symbol->name.data, (int)symbol->signature.len,
             symbol->signature.data, (int)symbol->documentation.len, symbol->documentation.data);
    assert_string_equal(found, expected);
}

static void definitions_of_other_languages_are_those_that_a_person_finds(void **state)
{
    struct vcm_symbols symbols;

    (void)state;
    if (!vcm_ctags_works())
        skip();
    run(&symbols, VCM_LANGUAGE_PERL,
        "package Shop;\nuse strict;\n\n# The sum. Of all.\nsub total {\n    1;\n}\n");
    assert_int_equal(symbols.state, VCM_SYMBOL_COMPLETE);
    assert_int_equal(symbols.definition_count, 2);
    check(&symbols.definitions[0], "1-1 public module .Shop | package Shop | ");
    check(&symbols.definitions[1], "5-5 public function .total | sub total | The sum.");
    assert_int_equal(symbols.reference_count, 0);
    vcm_symbols_release(&symbols);

    run(&symbols, VCM_LANGUAGE_FORTRAN,
        "module shapes\n  type circle\n    real :: radius\n  end type\ncontains\n"
        "  ! How large it is.\n  subroutine area(c)\n  end subroutine area\nend module\n");
    assert_int_equal(symbols.definition_count, 4);
    check(&symbols.definitions[0], "1-1 public module .shapes | module shapes | ");
    check(&symbols.definitions[1], "2-2 public type shapes.circle | type circle | ");
    check(&symbols.definitions[2], "3-3 public field circle.radius | real :: radius | ");
    check(&symbols.definitions[3],
          "7-7 public function shapes.area | subroutine area(c) | How large it is.");
    vcm_symbols_release(&symbols);
}

static void every_language_that_is_left_to_ctags_is_one_that_it_knows(void **state)
{
    (void)state;
    if (!vcm_ctags_works())
        skip();
    for (unsigned i = 1; i < VCM_LANGUAGE_COUNT; i++) {
        struct vcm_symbols symbols;
        if (vcm_language_level((enum vcm_language)i) != VCM_LANGUAGE_DEFINITIONS)
            continue;
        run(&symbols, (enum vcm_language)i, "\n");
        if (symbols.state != VCM_SYMBOL_COMPLETE)
            fail_msg("%s", vcm_language_name((enum vcm_language)i));
        vcm_symbols_release(&symbols);
    }
}

static void without_the_program_files_are_named_and_nothing_fails(void **state)
{
    (void)state;
    setenv("PATH", folder, 1);
    assert_false(vcm_ctags_is_there());
    assert_false(vcm_ctags_works());
    assert_int_equal(state_of("sub total {}\n"), VCM_SYMBOL_NO_CTAGS);
    assert_false(vcm_symbol_state_lasts(VCM_SYMBOL_NO_CTAGS));
}

static void another_program_of_that_name_is_told_from_ctags(void **state)
{
    (void)state;
    put_impostor("#!/bin/sh\necho 'unknown option' >&2\nexit 1\n");
    assert_true(vcm_ctags_is_there());
    assert_int_equal(state_of("sub total {}\n"), VCM_SYMBOL_NO_CTAGS);
    put_impostor("#!/bin/sh\necho 'total  file  /^sub/'\n");
    assert_int_equal(state_of("sub total {}\n"), VCM_SYMBOL_NO_CTAGS);
    put_impostor("#!/bin/sh\nkill -SEGV $$\n");
    assert_int_equal(state_of("sub total {}\n"), VCM_SYMBOL_NO_CTAGS);
    assert_false(vcm_ctags_works());
}

static void answers_that_make_no_sense_are_left_out(void **state)
{
    struct vcm_symbols symbols;

    (void)state;
    put_impostor(
        "#!/bin/sh\ncat > /dev/null\n"
        "echo '{\"_type\": \"tag\", \"name\": \"a\", \"line\": 0, \"kind\": \"function\"}'\n"
        "echo '{\"_type\": \"tag\", \"name\": \"b\", \"line\": 99, \"kind\": \"function\"}'\n"
        "echo '{\"_type\": \"tag\", \"name\": 3, \"line\": 1, \"kind\": \"function\"}'\n"
        "echo '{\"_type\": \"tag\", \"name\": \"c\", \"line\": 1, \"kind\": \"wonder\"}'\n"
        "echo '{\"_type\": \"tag\", \"name\": \"d\", \"line\": 1, \"kind\": \"function\", "
        "\"end\": -5}'\n"
        "echo '[1, {' \n"
        "echo '{\"_type\": \"completed\"}'\n");
    run(&symbols, VCM_LANGUAGE_PERL, "sub d {}\n");
    assert_int_equal(symbols.state, VCM_SYMBOL_COMPLETE);
    assert_int_equal(symbols.definition_count, 1);
    check(&symbols.definitions[0], "1-1 public function .d | sub d | ");
    vcm_symbols_release(&symbols);
}

static void an_answer_without_an_end_is_cut_short(void **state)
{
    (void)state;
    put_impostor("#!/bin/sh\nexec yes '{\"_type\": \"tag\"}'\n");
    assert_int_equal(state_of("sub total {}\n"), VCM_SYMBOL_TOO_MANY);
}

/* The child sees no repository and no home, and options are off besides. */
static void options_of_others_are_not_read(void **state)
{
    (void)state;
    put_impostor("#!/bin/sh\n"
                 "[ \"$1\" = --options=NONE ] && [ -z \"$HOME$CTAGS\" ] && [ \"$PWD\" = / ] &&\n"
                 "echo '{\"_type\": \"completed\"}'\n");
    setenv("CTAGS", "--help", 1);
    assert_int_equal(state_of("sub total {}\n"), VCM_SYMBOL_COMPLETE);
    unsetenv("CTAGS");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(definitions_of_other_languages_are_those_that_a_person_finds,
                                  restore_path),
        cmocka_unit_test_teardown(every_language_that_is_left_to_ctags_is_one_that_it_knows,
                                  restore_path),
        cmocka_unit_test_teardown(without_the_program_files_are_named_and_nothing_fails,
                                  restore_path),
        cmocka_unit_test_teardown(another_program_of_that_name_is_told_from_ctags, restore_path),
        cmocka_unit_test_teardown(answers_that_make_no_sense_are_left_out, restore_path),
        cmocka_unit_test_teardown(an_answer_without_an_end_is_cut_short, restore_path),
        cmocka_unit_test_teardown(options_of_others_are_not_read, restore_path),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
