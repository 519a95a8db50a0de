#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/path.h"
#include "symbols/ctags.h"
#include "symbols/extractor.h"

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
    return vcm_path_tree_remove(folder, NULL) == VCM_OK ? 0 : -1;
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
    assert_true(vcm_ctags_works());
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
    assert_true(vcm_ctags_works());
    for (unsigned i = 1; i < VCM_LANGUAGES_COUNT; i++) {
        struct vcm_symbols symbols;
        if (vcm_language_level((enum vcm_language)i) != VCM_LANGUAGES_DEFINITIONS)
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
        "#!/bin/sh\nread question\n"
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

/* Of one definition whose name is that of the process, when the file says nothing else. */
#define COUNTING_IMPOSTOR                                                                          \
    "#!/bin/sh\nwhile read -r question && read -r text; do\n"                                      \
    "n=$((n + 1))\n%s\n"                                                                           \
    "echo '{\"_type\": \"tag\", \"name\": \"p'$$'\", \"line\": 1, \"kind\": \"function\"}'\n"      \
    "echo '{\"_type\": \"completed\"}'\ndone\n"

static void put_counting_impostor(const char *also)
{
    char script[1024];

    snprintf(script, sizeof script, COUNTING_IMPOSTOR, also);
    put_impostor(script);
}

/* Which process answered, or 0 with a state that is not complete. */
static unsigned long ask(struct vcm_extractor *extractor, const char *text,
                         enum vcm_symbol_state *state)
{
    struct vcm_symbols symbols;
    struct vcm_error err = {0};
    unsigned long process = 0;

    vcm_symbols_init(&symbols);
    assert_int_equal(
        vcm_extractor_run(&symbols, extractor, VCM_LANGUAGE_PERL, vcm_slice_of_string(text), &err),
        VCM_OK);
    if (symbols.definition_count == 1)
        process = strtoul(symbols.definitions[0].name.data + 1, NULL, 10);
    *state = symbols.state;
    vcm_symbols_release(&symbols);
    return process;
}

static void one_process_reads_many_files_but_not_too_many(void **state)
{
    struct vcm_extractor *extractor = NULL;
    enum vcm_symbol_state found;
    unsigned long first = 0, process = 0;

    (void)state;
    put_counting_impostor("");
    assert_int_equal(vcm_extractor_open(&extractor, NULL), VCM_OK);
    for (unsigned i = 0; i < VCM_LIMIT_CTAGS_SHARED_FILES; i++) {
        process = ask(extractor, "sub a {}\n", &found);
        assert_int_equal(found, VCM_SYMBOL_COMPLETE);
        first = i == 0 ? process : first;
        assert_int_equal(process, first);
    }
    assert_int_not_equal(ask(extractor, "sub a {}\n", &found), first);
    vcm_extractor_close(extractor);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void a_file_that_ends_the_process_costs_itself_alone(void **state)
{
    struct vcm_extractor *extractor = NULL;
    enum vcm_symbol_state found;

    (void)state;
    put_counting_impostor("case $text in die) exit 1;; esac");
    assert_int_equal(vcm_extractor_open(&extractor, NULL), VCM_OK);
    unsigned long first = ask(extractor, "sub a {}\n", &found);
    assert_int_equal(found, VCM_SYMBOL_COMPLETE);
    ask(extractor, "die\n", &found);
    assert_int_equal(found, VCM_SYMBOL_NO_CTAGS);
    unsigned long second = ask(extractor, "sub b {}\n", &found);
    assert_int_equal(found, VCM_SYMBOL_COMPLETE);
    assert_int_not_equal(first, second);
    vcm_extractor_close(extractor);

    /* And one that was worn out by others costs nothing. */
    put_counting_impostor("[ $n -gt 2 ] && exit 1");
    assert_int_equal(vcm_extractor_open(&extractor, NULL), VCM_OK);
    for (unsigned i = 0; i < 6; i++) {
        ask(extractor, "sub a {}\n", &found);
        assert_int_equal(found, VCM_SYMBOL_COMPLETE);
    }
    vcm_extractor_close(extractor);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

struct visit {
    struct vcm_extractor *extractor;
    unsigned long process;
    enum vcm_symbol_state state;
};

static void *visit(void *argument)
{
    struct visit *there = argument;

    there->process = ask(there->extractor, "sub a {}\n", &there->state);
    return NULL;
}

static void a_process_that_ended_with_its_thread_is_replaced(void **state)
{
    struct visit there = {0};
    enum vcm_symbol_state found;
    pthread_t thread;

    (void)state;
    put_counting_impostor("");
    assert_int_equal(vcm_extractor_open(&there.extractor, NULL), VCM_OK);
    assert_int_equal(pthread_create(&thread, NULL, visit, &there), 0);
    pthread_join(thread, NULL);
    assert_int_equal(there.state, VCM_SYMBOL_COMPLETE);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(ask(there.extractor, "sub b {}\n", &found) > 0);
        assert_int_equal(found, VCM_SYMBOL_COMPLETE);
    }
    vcm_extractor_close(there.extractor);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void encode(struct vcm_buf *out, struct vcm_extractor *extractor, enum vcm_language language,
                   const char *text)
{
    struct vcm_symbols symbols;
    struct vcm_error err = {0};

    vcm_symbols_init(&symbols);
    assert_int_equal(
        vcm_extractor_run(&symbols, extractor, language, vcm_slice_of_string(text), &err), VCM_OK);
    assert_int_equal(symbols.state, VCM_SYMBOL_COMPLETE);
    vcm_symbols_encode(out, &symbols);
    vcm_symbols_release(&symbols);
}

/* Each text breaks off where the next, of the same language, would go on with it. */
static void what_a_file_holds_does_not_depend_on_the_one_before(void **state)
{
    static const char *const torn[] = {
        "(* never closed\n",
        "/* never closed\n",
        "@protocol Shape <NSObject\n",
        "sub a { my $x = <<EOT;\n",
        "=pod\n",
        "proc a {} {\n  \"open\n",
        "{- never closed\n",
        "#if 0\n",
        "package body A is procedure B (\n",
    };
    static const char whole[] =
        "fun total x = 1\nsub total {}\nproc total {} {}\n(defun total ())\n@protocol P <Q>\n"
        "- (int)total;\n@end\nfunction total() {}\nmodule total;\nendmodule\n*) */\n";

    (void)state;
    assert_true(vcm_ctags_works());
    for (unsigned i = 1; i < VCM_LANGUAGES_COUNT; i++) {
        enum vcm_language language = (enum vcm_language)i;
        if (vcm_language_level(language) != VCM_LANGUAGES_DEFINITIONS)
            continue;
        struct vcm_extractor *extractor = NULL;
        struct vcm_buf first = VCM_BUF_INIT(VCM_MIB), later = VCM_BUF_INIT(VCM_MIB);
        assert_int_equal(vcm_extractor_open(&extractor, NULL), VCM_OK);
        encode(&first, extractor, language, whole);
        for (size_t k = 0; k < sizeof torn / sizeof torn[0]; k++) {
            vcm_buf_clear(&later);
            encode(&later, extractor, language, torn[k]);
            vcm_buf_clear(&later);
            encode(&later, extractor, language, whole);
            if (!vcm_slice_equal(vcm_buf_slice(&first), vcm_buf_slice(&later)))
                fail_msg("%s after '%s'", vcm_language_name(language), torn[k]);
        }
        vcm_buf_release(&first);
        vcm_buf_release(&later);
        vcm_extractor_close(extractor);
    }
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
        cmocka_unit_test_teardown(one_process_reads_many_files_but_not_too_many, restore_path),
        cmocka_unit_test_teardown(a_file_that_ends_the_process_costs_itself_alone, restore_path),
        cmocka_unit_test_teardown(a_process_that_ended_with_its_thread_is_replaced, restore_path),
        cmocka_unit_test_teardown(what_a_file_holds_does_not_depend_on_the_one_before,
                                  restore_path),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
