/*
 * Compares docs/ with the schema's tables and the loader's own words. With VCM_TEST_UPDATE=1 it
 * writes the generated parts anew instead.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/path.h"
#include "repomap/repo_map_load.h"
#include "repomap/repo_map_schema.h"
#include "tests/repomap/schema_doc.h"

#include "base/banned.h"

#define SCHEMA_FILE VCM_TEST_SOURCE_DIR "/docs/repo_map.schema.json"
#define MANUAL_FILE VCM_TEST_SOURCE_DIR "/docs/repo-map.md"
#define END_MARK    "<!-- end -->\n"
#define FENCE       "```\n"
#define YAML_FENCE  "```yaml\n"
#define TEXT_FENCE  "```text\n"

static void read_file(struct vcm_buf *out, const char *path)
{
    struct vcm_error err = {0};

    if (vcm_path_read_file(out, path, VCM_MIB, &err) != VCM_OK)
        fail_msg("%s", err.message);
}

/* Compares what a file has with what it must have, or writes that. */
static void settle(const char *path, const struct vcm_buf *actual, const struct vcm_buf *wanted)
{
    if (getenv("VCM_TEST_UPDATE"))
        assert_int_equal(vcm_path_write_file(path, vcm_buf_slice(wanted), 0644, NULL), VCM_OK);
    else if (!vcm_slice_equal(vcm_buf_slice(actual), vcm_buf_slice(wanted)))
        fail_msg("%s differs from repomap/repo_map_schema.c; run this test with VCM_TEST_UPDATE=1",
                 path);
}

static void the_json_schema_is_made_from_the_tables(void **state)
{
    struct vcm_buf wanted = VCM_BUF_INIT(VCM_MIB);
    struct vcm_buf actual = VCM_BUF_INIT(VCM_MIB);
    struct vcm_arena arena;
    struct vcm_json *json;

    (void)state;
    schema_doc_json(&wanted);
    vcm_arena_init(&arena, VCM_MIB);
    assert_int_equal(vcm_json_parse(&json, &arena, vcm_buf_slice(&wanted), NULL), VCM_OK);
    vcm_arena_release(&arena);
    if (!getenv("VCM_TEST_UPDATE"))
        read_file(&actual, SCHEMA_FILE);
    settle(SCHEMA_FILE, &actual, &wanted);
    vcm_buf_release(&wanted);
    vcm_buf_release(&actual);
}

/* Copies up to and with `mark`, and returns what follows it. */
static const char *copy_to(struct vcm_buf *out, const char *from, const char *mark)
{
    const char *at = strstr(from, mark);

    if (!at)
        fail_msg("no '%s' in %s", mark, MANUAL_FILE);
    vcm_buf_append(out, from, (size_t)(at - from) + strlen(mark));
    return at + strlen(mark);
}

static void the_tables_of_the_manual_are_those_of_the_schema(void **state)
{
    static const struct {
        const char *mark;
        const struct vcm_schema_level *level;
    } tables[] = {{"<!-- top -->\n", &vcm_schema_top},
                  {"<!-- source -->\n", &vcm_schema_source},
                  {"<!-- route -->\n", &vcm_schema_route}};
    struct vcm_buf actual = VCM_BUF_INIT(VCM_MIB);
    struct vcm_buf wanted = VCM_BUF_INIT(VCM_MIB);

    (void)state;
    read_file(&actual, MANUAL_FILE);
    const char *rest = vcm_buf_text(&actual);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        rest = copy_to(&wanted, rest, tables[i].mark);
        schema_doc_table(&wanted, tables[i].level);
        rest = strstr(rest, END_MARK);
        assert_non_null(rest);
    }
    vcm_buf_append_string(&wanted, rest);
    settle(MANUAL_FILE, &actual, &wanted);
    vcm_buf_release(&actual);
    vcm_buf_release(&wanted);
}

static void describe(struct vcm_buf *out, struct vcm_slice yaml)
{
    struct vcm_problem_list problems;
    struct vcm_repo_map map;

    vcm_problem_list_init(&problems);
    vcm_repo_map_load(&map, &problems, yaml, NULL, NULL);
    for (unsigned i = 0; i < problems.count; i++) {
        const struct vcm_problem *problem = &problems.items[i];
        vcm_buf_append_format(out, "%s%u:%u: %s%s%s\n", problem->is_warning ? "warning: " : "",
                              problem->place.line, problem->place.column, problem->where,
                              problem->where[0] != '\0' ? ": " : "", problem->message);
    }
    vcm_repo_map_release(&map);
    vcm_problem_list_release(&problems);
}

/* An example alone is a valid map; one with a text behind it gives just these messages. */
static void the_examples_of_the_manual_say_what_the_loader_says(void **state)
{
    struct vcm_buf actual = VCM_BUF_INIT(VCM_MIB);
    struct vcm_buf wanted = VCM_BUF_INIT(VCM_MIB);
    struct vcm_buf said = VCM_BUF_INIT(VCM_MIB);
    unsigned examples = 0;

    (void)state;
    read_file(&actual, MANUAL_FILE);
    const char *rest = vcm_buf_text(&actual);
    while (strstr(rest, YAML_FENCE)) {
        rest = copy_to(&wanted, rest, YAML_FENCE);
        const char *end = strstr(rest, FENCE);
        assert_non_null(end);
        vcm_buf_clear(&said);
        describe(&said, vcm_slice_of(rest, (size_t)(end - rest)));
        rest = copy_to(&wanted, rest, FENCE);
        if (strncmp(rest, "\n" TEXT_FENCE, strlen("\n" TEXT_FENCE)) == 0) {
            rest = strstr(copy_to(&wanted, rest, TEXT_FENCE), FENCE);
            assert_non_null(rest);
            vcm_buf_append_slice(&wanted, vcm_buf_slice(&said));
        } else {
            assert_string_equal(vcm_buf_text(&said), "");
        }
        examples++;
    }
    vcm_buf_append_string(&wanted, rest);
    assert_true(examples >= 5);
    settle(MANUAL_FILE, &actual, &wanted);
    vcm_buf_release(&said);
    vcm_buf_release(&wanted);
    vcm_buf_release(&actual);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_json_schema_is_made_from_the_tables),
        cmocka_unit_test(the_tables_of_the_manual_are_those_of_the_schema),
        cmocka_unit_test(the_examples_of_the_manual_say_what_the_loader_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
