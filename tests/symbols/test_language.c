#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "symbols/languages/language.h"

#include "base/banned.h"

/* The index keeps symbols under the blob and this number: another one would make all files of the
 * language unknown, or take one language for another. */
static void the_number_of_a_language_does_not_change(void **state)
{
    static const char *const names[] = {
        "",
        "bash",
        "c",
        "c_sharp",
        "cpp",
        "go",
        "java",
        "javascript",
        "kotlin",
        "lua",
        "php",
        "python",
        "ruby",
        "rust",
        "tsx",
        "typescript",
        "scala",
        "swift",
        "haskell",
        "ocaml",
        "ocaml_interface",
        "elixir",
        "zig",
        "julia",
        "r",
        "sql",
        "ada",
        "assembly",
        "awk",
        "clojure",
        "cobol",
        "cuda",
        "d",
        "elm",
        "emacs_lisp",
        "erlang",
        "fortran",
        "haxe",
        "lisp",
        "objective_c",
        "pascal",
        "perl",
        "powershell",
        "protobuf",
        "puppet",
        "scheme",
        "sml",
        "systemverilog",
        "tcl",
        "verilog",
        "vhdl",
        "vim",
    };

    (void)state;
    assert_true(VCM_LANGUAGES_COUNT >= sizeof names / sizeof names[0]);
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_string_equal(vcm_language_name((enum vcm_language)i), names[i]);
    assert_string_equal(vcm_language_name(VCM_LANGUAGES_COUNT), "");
}

/* What the rest of the folder takes for granted of a descriptor. */
static void every_descriptor_is_whole(void **state)
{
    (void)state;
    for (unsigned i = 1; i < VCM_LANGUAGES_COUNT; i++) {
        const struct vcm_language_descriptor *language = vcm_language_get((enum vcm_language)i);
        assert_true(language->name[0] != '\0' && language->endings[0]);
        assert_true((language->grammar == NULL) == (language->ctags_name != NULL));
        assert_true((language->grammar == NULL) == (language->queries[0] == NULL));
        assert_true(language->comments.line || language->comments.open);
        assert_true((language->comments.open == NULL) == (language->comments.close == NULL));
        for (unsigned j = 1; j < i; j++)
            assert_string_not_equal(language->name, vcm_language_name((enum vcm_language)j));
    }
}

static void a_file_is_of_the_language_that_lists_its_ending(void **state)
{
    char path[64];

    (void)state;
    for (unsigned i = 1; i < VCM_LANGUAGES_COUNT; i++) {
        const struct vcm_language_descriptor *language = vcm_language_get((enum vcm_language)i);
        for (size_t j = 0; j < VCM_LANGUAGES_ENDINGS_MAX && language->endings[j]; j++) {
            /* One ending in two descriptors would leave the second without it. */
            int len = snprintf(path, sizeof path, "src/a.b.%s", language->endings[j]);
            assert_int_equal(vcm_language_of_path(vcm_slice_of(path, (size_t)len)), i);
        }
    }
    assert_int_equal(vcm_language_of_path(vcm_slice_of_string("a/Gemfile")), VCM_LANGUAGE_RUBY);
    assert_int_equal(vcm_language_of_path(vcm_slice_of_string(".bashrc")), VCM_LANGUAGE_BASH);
    assert_int_equal(vcm_language_of_path(vcm_slice_of_string("a.py/README")), VCM_LANGUAGE_NONE);
    assert_int_equal(vcm_language_of_path(vcm_slice_of_string(".py")), VCM_LANGUAGE_NONE);
    assert_int_equal(vcm_language_of_path(vcm_slice_of_string("py")), VCM_LANGUAGE_NONE);
    assert_int_equal(vcm_language_of_path(vcm_slice_of_string("a.PY")), VCM_LANGUAGE_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_number_of_a_language_does_not_change),
        cmocka_unit_test(every_descriptor_is_whole),
        cmocka_unit_test(a_file_is_of_the_language_that_lists_its_ending),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
