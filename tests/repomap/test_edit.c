#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "repomap/edit.h"
#include "repomap/repo_map_load.h"

#include "base/banned.h"

#define HEAD "schema_version: 1\nsources:\n"
#define ROW  "  - name: promoted\n    type: literature\n    include_globs:\n      - \"p/a.md\"\n"
#define ROUTE                                                                                      \
    "  - ingest_to: vcm\n    paths:\n      - \"p/a.md\"\n" /* under a key that is there            \
                                                            */

static const char *const patterns[] = {"p/a.md", "p/b.md"};

/* Edits a map; the result loads and is exact, or the code says why there is none. */
static int edit(struct vcm_buf *out, const char *text, size_t routed, size_t covered)
{
    struct vcm_edit_promotion promotion = {patterns, routed, patterns, covered};
    struct vcm_problem_list problems, again;
    struct vcm_repo_map map = {0}, edited = {0};
    struct vcm_edit_report report;
    struct vcm_error err = {0};

    vcm_problem_list_init(&problems);
    vcm_problem_list_init(&again);
    assert_int_equal(vcm_repo_map_load(&map, &problems, vcm_slice_of_string(text), NULL, &err),
                     VCM_OK);
    int rc = vcm_edit_promote(out, &report, vcm_slice_of_string(text), &map, &promotion, &err);
    if (rc == VCM_OK) {
        rc = vcm_repo_map_load(&edited, &again, vcm_buf_slice(out), NULL, NULL);
        if (rc == VCM_OK && !vcm_edit_check_is_exact(&edited, &map, &promotion, &report))
            rc = VCM_INTERNAL;
    }
    vcm_repo_map_release(&map);
    vcm_repo_map_release(&edited);
    vcm_problem_list_release(&problems);
    vcm_problem_list_release(&again);
    return rc;
}

static void assert_edit(const char *text, size_t routed, size_t covered, const char *expected)
{
    struct vcm_buf out = VCM_BUF_INIT(VCM_LIMIT_YAML_BYTES);

    assert_int_equal(edit(&out, text, routed, covered), VCM_OK);
    assert_string_equal(vcm_buf_text(&out), expected);
    vcm_buf_release(&out);
}

static void assert_refused(const char *text)
{
    struct vcm_buf out = VCM_BUF_INIT(VCM_LIMIT_YAML_BYTES);

    assert_int_equal(edit(&out, text, 1, 1), VCM_UNSUPPORTED);
    assert_int_equal(out.len, 0);
    vcm_buf_release(&out);
}

static void comments_and_order_stay(void **state)
{
    (void)state;
    assert_edit(
        "# one\nknowledge_routing: # two\n  # three\n  - paths: # four\n      - x/ # five\n"
        "    # six\n    profile: p # seven\n  # eight\n\nsources: # nine\n  - name: a # ten\n"
        "    type: git_repo # eleven\n  # twelve\n\nschema_version: 1 # last\n",
        1, 1,
        "# one\nknowledge_routing: # two\n  # three\n  - paths: # four\n      - x/ # five\n"
        "    # six\n    profile: p # seven\n" ROUTE
        "  # eight\n\nsources: # nine\n  - name: a # ten\n"
        "    type: git_repo # eleven\n" ROW "  # twelve\n\nschema_version: 1 # last\n");
}

static void nothing_to_do_changes_nothing(void **state)
{
    static const char text[] = "\xef\xbb\xbf# x\r\nschema_version: 1\r\nsources: []\t# y\r\n\r\n";

    (void)state;
    assert_edit(text, 0, 0, text);
}

static void flow_style_is_extended_inside_its_brackets(void **state)
{
    (void)state;
    assert_edit(HEAD "- {name: l, type: literature, include_globs: [x.md, 'y.md' ]} # c\n"
                     "knowledge_routing:\n- {paths: [p/a.md], profile: z}\n",
                1, 2,
                HEAD "- {name: l, type: literature, include_globs: [x.md, 'y.md', \"p/a.md\", "
                     "\"p/b.md\" ]} # c\n"
                     "knowledge_routing:\n- {paths: [p/a.md], ingest_to: vcm, profile: z}\n");
    assert_edit(HEAD "- name: l\n  type: literature\n  include_globs: [\n    x.md, # why\n"
                     "    y.md\n  ]\n",
                0, 1,
                HEAD "- name: l\n  type: literature\n  include_globs: [\n    x.md, # why\n"
                     "    y.md, \"p/a.md\"\n  ]\n");
}

static void an_empty_list_gives_way(void **state)
{
    (void)state;
    assert_edit("schema_version: 1\nsources: []\nknowledge_routing:   [ ]\n", 1, 1,
                "schema_version: 1\nsources:\n" ROW "knowledge_routing:\n" ROUTE);
    assert_refused("schema_version: 1\nsources: [] # none yet\n");
    assert_refused("schema_version: 1\nsources: [ # none yet\n  ]\n");
}

static void a_value_is_replaced_with_its_quotes(void **state)
{
    static const char *const values[] = {"knowledge_base", "'knowledge_base'", "\"knowledge_base\"",
                                         "\"knowledge\\x5fbase\""};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct vcm_buf text = VCM_BUF_INIT(4096);
        vcm_buf_append_format(
            &text,
            HEAD "- {name: a, type: git_repo}\nknowledge_routing:\n- paths: [/p/a.md]\n"
                 "  ingest_to:   %s   # c\n  profile: q\n",
            values[i]);
        assert_edit(vcm_buf_text(&text), 1, 0,
                    HEAD "- {name: a, type: git_repo}\nknowledge_routing:\n- paths: [/p/a.md]\n"
                         "  ingest_to:   vcm   # c\n  profile: q\n");
        vcm_buf_release(&text);
    }
}

static void lines_end_as_those_of_the_text(void **state)
{
    (void)state;
    assert_edit("schema_version: 1\r\nsources:\r\n- name: a\r\n  type: git_repo\r\n"
                "knowledge_routing:\r\n- paths:\r\n  - p/a.md\r\n",
                2, 1,
                "schema_version: 1\r\nsources:\r\n- name: a\r\n  type: git_repo\r\n"
                "- name: promoted\r\n  type: literature\r\n  include_globs:\r\n    - \"p/a.md\"\r\n"
                "knowledge_routing:\r\n- paths:\r\n  - p/a.md\r\n  ingest_to: vcm\r\n"
                "- ingest_to: vcm\r\n  paths:\r\n    - \"p/b.md\"\r\n");
}

static void a_last_line_without_an_end_gets_one(void **state)
{
    (void)state;
    assert_edit(HEAD "  - name: a\n    type: git_repo", 1, 1,
                HEAD "  - name: a\n    type: git_repo\n" ROW "knowledge_routing:\n" ROUTE);
    assert_edit(HEAD "- name: a\n  type: literature\n  include_globs:\n  - x.md\r", 0, 1,
                HEAD "- name: a\n  type: literature\n  include_globs:\n  - x.md\r  - \"p/a.md\"\n");
}

static void tabs_and_characters_of_several_bytes_move_no_place(void **state)
{
    (void)state;
    assert_edit("\xef\xbb\xbfschema_version:\t1\nsources: \t# ü\n  - name:\t\ta \t\n"
                "    type: git_repo\t# \xe2\x82\xac\n    include_globs: ['\xc3\xbc', "
                "\"\xf0\x9f\x93\x84\"]\n"
                "knowledge_routing:\n  - paths: [ 'p/\xc3\xbc' ]\n",
                1, 1,
                "\xef\xbb\xbfschema_version:\t1\nsources: \t# ü\n  - name:\t\ta \t\n"
                "    type: git_repo\t# \xe2\x82\xac\n    include_globs: ['\xc3\xbc', "
                "\"\xf0\x9f\x93\x84\"]\n" ROW
                "knowledge_routing:\n  - paths: [ 'p/\xc3\xbc' ]\n" ROUTE);
}

static void other_line_breaks_of_yaml_move_no_place(void **state)
{
    static const char *const breaks[] = {"\r", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct vcm_buf text = VCM_BUF_INIT(4096), expected = VCM_BUF_INIT(4096);
        vcm_buf_append_format(&text, "# a%s# b\n" HEAD "  - name: a\n    type: git_repo\n# end\n",
                              breaks[i]);
        vcm_buf_append_format(&expected,
                              "# a%s# b\n" HEAD "  - name: a\n    type: git_repo\n" ROW "# end\n",
                              breaks[i]);
        assert_edit(vcm_buf_text(&text), 0, 1, vcm_buf_text(&expected));
        vcm_buf_release(&text);
        vcm_buf_release(&expected);
    }
}

static void long_texts_end_where_they_end(void **state)
{
    (void)state;
    assert_edit(HEAD "  - name: a\n    type: git_repo\n    start_dir: >-\n      x\n"
                     "knowledge_routing:\n  - paths: ['x']\n    profile: \"a\n      b\" # c\n",
                1, 1,
                HEAD
                "  - name: a\n    type: git_repo\n    start_dir: >-\n      x\n" ROW
                "knowledge_routing:\n  - paths: ['x']\n    profile: \"a\n      b\" # c\n" ROUTE);
}

static void what_has_no_safe_place_is_refused(void **state)
{
    (void)state;
    assert_refused("{schema_version: 1, sources: []}\n");
    assert_refused("schema_version: 1\nsources: [{name: a, type: git_repo}]\n");
}

/* Anchors and aliases never come so far: the loader takes no such map. */
static void anchors_and_tags_are_not_loaded(void **state)
{
    static const char *const texts[] = {
        "schema_version: 1\nsources: &s\n- name: a\n  type: git_repo\n",
        "schema_version: 1\nsources:\n- &a\n  name: a\n  type: git_repo\n- *a\n",
        "schema_version: !!int 1\nsources: []\n",
    };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct vcm_problem_list problems;
        struct vcm_repo_map map = {0};
        vcm_problem_list_init(&problems);
        assert_int_equal(
            vcm_repo_map_load(&map, &problems, vcm_slice_of_string(texts[i]), NULL, NULL),
            VCM_INVALID_REPO_MAP);
        vcm_repo_map_release(&map);
        vcm_problem_list_release(&problems);
    }
}

/* The caller's net: an edit beside its place is seen, whatever it hits. */
static void an_inexact_edit_is_seen(void **state)
{
    static const char before[] = HEAD "- {name: a, type: git_repo}\nknowledge_routing:\n"
                                      "- {paths: [x], profile: q}\n";
    static const char *const wrong[] = {
        HEAD "- {name: a, type: git_repo, pinned: true}\nknowledge_routing:\n"
             "- {paths: [x], profile: q}\n- {paths: [p/a.md], ingest_to: vcm}\n",
        HEAD "- {name: a, type: git_repo}\nknowledge_routing:\n"
             "- {paths: [x], profile: r}\n- {paths: [p/a.md], ingest_to: vcm}\n",
        HEAD "- {name: a, type: git_repo}\nknowledge_routing:\n"
             "- {paths: [x], profile: q, ingest_to: vcm}\n- {paths: [p/a.md], ingest_to: vcm}\n",
        HEAD "- {name: a, type: git_repo}\nknowledge_routing:\n"
             "- {paths: [x], profile: q}\n- {paths: [p/b.md], ingest_to: vcm}\n",
        before,
    };
    struct vcm_edit_promotion promotion = {patterns, 1, patterns, 0};
    struct vcm_edit_report report = {.route_added = true, .added = {patterns[0]}, .added_count = 1};

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        struct vcm_problem_list problems;
        struct vcm_repo_map old = {0}, new = {0};
        vcm_problem_list_init(&problems);
        assert_int_equal(
            vcm_repo_map_load(&old, &problems, vcm_slice_of_string(before), NULL, NULL), VCM_OK);
        assert_int_equal(
            vcm_repo_map_load(&new, &problems, vcm_slice_of_string(wrong[i]), NULL, NULL), VCM_OK);
        assert_false(vcm_edit_check_is_exact(&new, &old, &promotion, &report));
        vcm_repo_map_release(&old);
        vcm_repo_map_release(&new);
        vcm_problem_list_release(&problems);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comments_and_order_stay),
        cmocka_unit_test(nothing_to_do_changes_nothing),
        cmocka_unit_test(flow_style_is_extended_inside_its_brackets),
        cmocka_unit_test(an_empty_list_gives_way),
        cmocka_unit_test(a_value_is_replaced_with_its_quotes),
        cmocka_unit_test(lines_end_as_those_of_the_text),
        cmocka_unit_test(a_last_line_without_an_end_gets_one),
        cmocka_unit_test(tabs_and_characters_of_several_bytes_move_no_place),
        cmocka_unit_test(other_line_breaks_of_yaml_move_no_place),
        cmocka_unit_test(long_texts_end_where_they_end),
        cmocka_unit_test(what_has_no_safe_place_is_refused),
        cmocka_unit_test(anchors_and_tags_are_not_loaded),
        cmocka_unit_test(an_inexact_edit_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
