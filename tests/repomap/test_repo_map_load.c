#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/limits.h"
#include "repomap/repo_map_load.h"

#include "base/banned.h"

#define HEAD  "schema_version: 1\n"
#define ROW   HEAD "sources:\n- name: a\n  type: git_repo\n"
#define PROSE HEAD "sources:\n- name: a\n  type: literature\n"
#define ROUTE HEAD "sources: []\nknowledge_routing:\n- paths: [docs/]\n"

static struct vcm_repo_map map;
static struct vcm_problem_list problems;
static struct vcm_error err;

static int set_up(void **state)
{
    (void)state;
    vcm_error_reset(&err);
    memset(&map, 0, sizeof map);
    vcm_problem_list_init(&problems);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    vcm_repo_map_release(&map);
    vcm_problem_list_release(&problems);
    return 0;
}

static int load_slice(struct vcm_slice yaml)
{
    static const char *const names[] = {"blackboard"};
    static const struct vcm_repo_map_types types = {names, 1};

    tear_down(NULL);
    set_up(NULL);
    return vcm_repo_map_load(&map, &problems, yaml, &types, &err);
}

static int load(const char *yaml)
{
    return load_slice(vcm_slice_of_string(yaml));
}

static const struct vcm_repo_map_row *load_row(const char *yaml)
{
    if (load(yaml) != VCM_OK)
        fail_msg("%s", err.message);
    assert_int_equal(problems.count, 0);
    assert_true(map.has_file);
    assert_int_equal(map.row_count, 1);
    return &map.rows[0];
}

/* All problems, a line each, '?' before warnings. */
static void check_problems(const char *yaml, const char *expected)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);

    int rc = load(yaml);
    for (unsigned i = 0; i < problems.count; i++) {
        const struct vcm_problem *problem = &problems.items[i];
        vcm_buf_append_format(&text, "%s%u:%u %s: %s\n", problem->is_warning ? "?" : "",
                              problem->place.line, problem->place.column, problem->where,
                              problem->message);
    }
    assert_string_equal(vcm_buf_text(&text), expected);
    assert_int_equal(rc, problems.error_count > 0 ? VCM_INVALID_REPO_MAP : VCM_OK);
    if (rc != VCM_OK)
        assert_int_equal(map.row_count, 0);
    vcm_buf_release(&text);
}

static void the_smallest_map_has_no_rows(void **state)
{
    (void)state;
    assert_int_equal(load("schema_version: 1\nsources: []\n"), VCM_OK);
    assert_true(map.has_file);
    assert_int_equal(map.row_count, 0);
    assert_int_equal(map.route_count, 0);
}

static void schema_version_is_required_and_1(void **state)
{
    (void)state;
    check_problems("sources: []\n", "1:1 schema_version: the key is missing; a map must have it\n");
    check_problems("schema_version: 2\nsources: []\n",
                   "1:17 schema_version: must be 1, not 2; this program knows no other\n");
    check_problems("schema_version: '1'\nsources: []\n",
                   "1:17 schema_version: must be an integer, not a string\n");
    check_problems("schema_version: 1.0\nsources: []\n",
                   "1:17 schema_version: must be an integer, not a number\n");
}

static void sources_is_a_required_list(void **state)
{
    (void)state;
    check_problems(HEAD, "1:1 sources: the key is missing; a map must have it\n");
    check_problems(HEAD "sources:\n", "2:9 sources: must be a list, not null\n");
    check_problems(HEAD "sources: {}\n", "2:10 sources: must be a list, not a mapping\n");
    check_problems(
        HEAD "sources: [a]\n",
        "2:11 sources[0]: must be a mapping with at least name and type, not a string\n");
}

static void knowledge_routing_is_a_list_and_may_be_missing_or_empty(void **state)
{
    (void)state;
    assert_int_equal(load(HEAD "sources: []\nknowledge_routing: []\n"), VCM_OK);
    check_problems(HEAD "sources: []\nknowledge_routing: ~\n",
                   "3:20 knowledge_routing: must be a list, not null\n");
    check_problems(HEAD "sources: []\nknowledge_routing: [3]\n",
                   "3:21 knowledge_routing[0]: must be a mapping with at least paths, not a "
                   "number\n");
}

static void a_row_without_settings_has_the_defaults_and_sets_nothing(void **state)
{
    const struct vcm_repo_map_row *row = load_row(ROW);

    (void)state;
    assert_string_equal(row->name, "a");
    assert_string_equal(row->type, "git_repo");
    assert_null(row->origin_url);
    assert_null(row->submodule);
    assert_string_equal(row->branch, "main");
    assert_string_equal(row->commit, "HEAD");
    assert_string_equal(row->start_dir, "");
    assert_int_equal(row->include_globs.count, 0);
    assert_int_equal(row->exclude_globs.count, 0);
    assert_false(row->include_binaries);
    assert_false(row->is_static);
    assert_int_equal(row->chunk_target_tokens, 800);
    assert_int_equal(row->chunk_overlap_tokens, 80);
    assert_int_equal(row->flush_threshold, 20);
    assert_int_equal(row->flush_token_budget, 4096);
    assert_false(row->pinned);
    assert_int_equal(row->set, 1u << VCM_REPO_MAP_NAME | 1u << VCM_REPO_MAP_TYPE);
    assert_int_equal(row->place.line, 3);
    assert_int_equal(row->place.column, 3);
    assert_int_equal(row->places[VCM_REPO_MAP_TYPE].line, 4);
    assert_int_equal(row->places[VCM_REPO_MAP_TYPE].column, 9);
}

static void name_is_required_of_few_characters_and_unique(void **state)
{
    char yaml[512];
    char name[140];

    (void)state;
    check_problems(HEAD "sources:\n- type: git_repo\n",
                   "3:3 sources[0].name: the key is missing; a source must have it\n");
    check_problems(HEAD "sources:\n- {name: 'a b', type: git_repo}\n",
                   "3:10 sources[0].name: 'a b' must be 1 to 128 of A-Z a-z 0-9 . _ -\n");
    check_problems(HEAD "sources:\n- {name: '', type: git_repo}\n",
                   "3:10 sources[0].name: '' must be 1 to 128 of A-Z a-z 0-9 . _ -\n");
    check_problems(HEAD "sources:\n- {name: 7, type: git_repo}\n",
                   "3:10 sources[0].name: must be a string, not a number; write it in quotes: "
                   "\"7\"\n");
    check_problems(HEAD "sources:\n- {name: a, type: git_repo}\n- {name: a, type: git_repo}\n",
                   "4:10 sources[1].name: 'a' is the name of the source on line 3 already\n");
    memset(name, 'n', sizeof name);
    snprintf(yaml, sizeof yaml, HEAD "sources: [{name: %.128s, type: git_repo}]\n", name);
    assert_int_equal(strlen(load_row(yaml)->name), 128);
    snprintf(yaml, sizeof yaml, HEAD "sources: [{name: %.129s, type: git_repo}]\n", name);
    assert_int_equal(load(yaml), VCM_INVALID_REPO_MAP);
    assert_string_equal(load_row(HEAD "sources: [{name: Az.0_-, type: git_repo}]")->name, "Az.0_-");
}

static void type_is_required_and_registered(void **state)
{
    (void)state;
    check_problems(HEAD "sources:\n- name: a\n",
                   "3:3 sources[0].type: the key is missing; a source must have it\n");
    check_problems(HEAD "sources:\n- {name: a, type: git-repo}\n",
                   "3:19 sources[0].type: unknown value 'git-repo'; did you mean 'git_repo'? "
                   "known: git_repo, literature, blackboard\n");
    check_problems(HEAD "sources:\n- {name: a, type: wiki}\n",
                   "3:19 sources[0].type: unknown value 'wiki'; known: git_repo, literature, "
                   "blackboard\n");
    assert_string_equal(load_row(HEAD "sources: [{name: a, type: blackboard}]")->type,
                        "blackboard");
    assert_string_equal(load_row(PROSE)->type, "literature");
}

static void origin_url_is_an_address(void **state)
{
    (void)state;
    assert_string_equal(load_row(ROW "  origin_url: git@host:a/b.git\n")->origin_url,
                        "git@host:a/b.git");
    assert_true(vcm_repo_map_row_sets(&map.rows[0], VCM_REPO_MAP_ORIGIN_URL));
    check_problems(ROW "  origin_url: ''\n", "5:15 sources[0].origin_url: must not be empty\n");
    check_problems(ROW "  origin_url: --upload-pack=x\n",
                   "5:15 sources[0].origin_url: must not begin with '-'\n");
    check_problems(ROW "  origin_url: \"a\\nb\"\n",
                   "5:15 sources[0].origin_url: must not have line breaks or control characters in "
                   "it\n");
    check_problems(ROW "  origin_url:\n",
                   "5:14 sources[0].origin_url: must be a string, not null\n");
}

static void submodule_is_a_path_without_tricks(void **state)
{
    (void)state;
    assert_string_equal(load_row(ROW "  submodule: third/lib/\n")->submodule, "third/lib");
    assert_int_equal(load(ROW "  submodule: ../lib\n"), VCM_INVALID_REPO_MAP);
    assert_int_equal(load(ROW "  submodule: a/../b\n"), VCM_INVALID_REPO_MAP);
    assert_int_equal(load(ROW "  submodule: -lib\n"), VCM_INVALID_REPO_MAP);
    assert_int_equal(load(ROW "  submodule: /lib\n"), VCM_INVALID_REPO_MAP);
    assert_int_equal(load(ROW "  submodule: ''\n"), VCM_INVALID_REPO_MAP);
    assert_int_equal(load(ROW "  submodule: \"a\\nb\"\n"), VCM_INVALID_REPO_MAP);
    assert_int_equal(load(ROW "  submodule: \"a\\rb\"\n"), VCM_INVALID_REPO_MAP);
    assert_string_equal(problems.items[0].where, "sources[0].submodule");
    assert_int_equal(problems.items[0].place.line, 5);
}

static void origin_url_and_submodule_together_are_no_error_of_the_file(void **state)
{
    (void)state;
    load_row(ROW "  origin_url: a\n  submodule: b\n");
}

static void branch_and_commit_are_strings(void **state)
{
    const struct vcm_repo_map_row *row = load_row(ROW "  branch: next\n  commit: v1\n");

    (void)state;
    assert_string_equal(row->branch, "next");
    assert_string_equal(row->commit, "v1");
    assert_true(vcm_repo_map_row_sets(row, VCM_REPO_MAP_BRANCH));
    row = load_row(ROW "  branch: main\n");
    assert_true(vcm_repo_map_row_sets(row, VCM_REPO_MAP_BRANCH));
    assert_false(vcm_repo_map_row_sets(row, VCM_REPO_MAP_COMMIT));
    check_problems(ROW "  branch: 1.10\n  commit: 1234567\n",
                   "5:11 sources[0].branch: must be a string, not a number; write it in quotes: "
                   "\"1.10\"\n"
                   "6:11 sources[0].commit: must be a string, not a number; write it in quotes: "
                   "\"1234567\"\n");
    check_problems(ROW "  branch: true\n",
                   "5:11 sources[0].branch: must be a string, not a bool; write it in quotes: "
                   "\"true\"\n");
    check_problems(ROW "  branch: -x\n", "5:11 sources[0].branch: must not begin with '-'\n");
}

static void start_dir_is_relative_and_stays_inside(void **state)
{
    (void)state;
    assert_string_equal(load_row(ROW "  start_dir: src/lib/\n")->start_dir, "src/lib");
    assert_string_equal(load_row(ROW "  start_dir: ./src//lib\n")->start_dir, "src/lib");
    assert_string_equal(load_row(ROW "  start_dir: .\n")->start_dir, "");
    assert_string_equal(load_row(ROW "  start_dir: a..b\n")->start_dir, "a..b");
    check_problems(ROW "  start_dir: /src\n",
                   "5:14 sources[0].start_dir: must be relative to the root of the repository; "
                   "take the leading '/' away\n");
    check_problems(ROW "  start_dir: src/../..\n",
                   "5:14 sources[0].start_dir: must not have a '..' in it\n");
}

static void globs_are_lists_of_patterns(void **state)
{
    const struct vcm_repo_map_row *row =
        load_row(ROW "  include_globs: ['*.c', '!x.c']\n  exclude_globs:\n  - /build/\n");

    (void)state;
    assert_int_equal(row->include_globs.count, 2);
    assert_string_equal(row->include_globs.items[1], "!x.c");
    assert_int_equal(row->include_globs.places[1].line, 5);
    assert_int_equal(row->include_globs.places[1].column, 26);
    assert_int_equal(row->exclude_globs.count, 1);
    assert_string_equal(row->exclude_globs.items[0], "/build/");
    assert_int_equal(vcm_repo_map_row_include(row).count, 2);
    check_problems(ROW "  include_globs: '*.c'\n",
                   "5:18 sources[0].include_globs: must be a list of patterns, not a string\n");
    check_problems(ROW "  include_globs: [1, ~, '[a', '']\n",
                   "5:19 sources[0].include_globs[0]: must be a string, not a number; write it in "
                   "quotes: \"1\"\n"
                   "5:22 sources[0].include_globs[1]: must be a string, not null\n"
                   "5:25 sources[0].include_globs[2]: '[a' is no pattern: a '[' is not closed, "
                   "names an unknown class, or a '\\' ends it\n"
                   "5:31 sources[0].include_globs[3]: '' is no pattern: it is empty\n");
}

static void an_empty_include_is_an_error_and_an_empty_exclude_is_not(void **state)
{
    (void)state;
    check_problems(ROW "  include_globs: []\n",
                   "5:18 sources[0].include_globs: must not be empty; leave it out to take "
                   "everything\n");
    assert_int_equal(load_row(ROW "  exclude_globs: []\n")->exclude_globs.count, 0);
}

static void literature_has_patterns_of_its_own(void **state)
{
    struct vcm_repo_map_list list = vcm_repo_map_row_include(load_row(PROSE));

    (void)state;
    assert_int_equal(list.count, 3);
    assert_string_equal(list.items[0], "**/*.pdf");
    list = vcm_repo_map_row_include(load_row(PROSE "  include_globs: ['*.rst']\n"));
    assert_int_equal(list.count, 1);
    assert_int_equal(vcm_repo_map_row_include(load_row(ROW)).count, 0);
}

static void binary_policy_is_skip_or_include(void **state)
{
    (void)state;
    assert_true(load_row(ROW "  binary_policy: include\n")->include_binaries);
    assert_false(load_row(ROW "  binary_policy: skip\n")->include_binaries);
    assert_true(vcm_repo_map_row_sets(&map.rows[0], VCM_REPO_MAP_BINARY_POLICY));
    check_problems(ROW "  binary_policy: included\n",
                   "5:18 sources[0].binary_policy: unknown value 'included'; did you mean "
                   "'include'? known: skip, include\n");
}

static void static_and_pinned_are_bools(void **state)
{
    const struct vcm_repo_map_row *row = load_row(ROW "  static: true\n  pinned: true\n");

    (void)state;
    assert_true(row->is_static && row->pinned);
    row = load_row(ROW "  static: false\n  pinned: false\n");
    assert_true(!row->is_static && !row->pinned);
    assert_true(vcm_repo_map_row_sets(row, VCM_REPO_MAP_PINNED));
    check_problems(ROW "  static: yes\n  pinned: 1\n",
                   "5:11 sources[0].static: must be true or false, not a string\n"
                   "6:11 sources[0].pinned: must be true or false, not a number\n");
}

static void chunk_sizes_have_ranges_and_the_overlap_is_less_than_the_target(void **state)
{
    const struct vcm_repo_map_row *row =
        load_row(PROSE "  chunk_target_tokens: 1\n  chunk_overlap_tokens: 0\n");

    (void)state;
    assert_int_equal(row->chunk_target_tokens, 1);
    assert_int_equal(row->chunk_overlap_tokens, 0);
    check_problems(PROSE "  chunk_target_tokens: 0\n",
                   "5:24 sources[0].chunk_target_tokens: must be 1 to 1000000, not 0\n");
    check_problems(PROSE "  chunk_overlap_tokens: -1\n",
                   "5:25 sources[0].chunk_overlap_tokens: must be 0 to 1000000, not -1\n");
    check_problems(PROSE "  chunk_overlap_tokens: 800\n",
                   "5:25 sources[0].chunk_overlap_tokens: chunk_overlap_tokens (800) must be less "
                   "than chunk_target_tokens (800)\n");
    check_problems(PROSE "  chunk_target_tokens: 80\n",
                   "5:24 sources[0].chunk_target_tokens: chunk_overlap_tokens (80 by default) must "
                   "be less than chunk_target_tokens (80)\n");
    check_problems(PROSE "  chunk_target_tokens: many\n",
                   "5:24 sources[0].chunk_target_tokens: must be an integer, not a string\n");
}

static void flush_sizes_have_ranges(void **state)
{
    const struct vcm_repo_map_row *row =
        load_row(ROW "  flush_threshold: 1\n  flush_token_budget: 64\n");

    (void)state;
    assert_int_equal(row->flush_threshold, 1);
    assert_int_equal(row->flush_token_budget, 64);
    check_problems(ROW "  flush_threshold: 0\n  flush_token_budget: 63\n",
                   "5:20 sources[0].flush_threshold: must be 1 to 100000, not 0\n"
                   "6:23 sources[0].flush_token_budget: must be 64 to 1000000, not 63\n");
    check_problems(ROW "  flush_threshold: 100001\n  flush_token_budget: 1000001\n",
                   "5:20 sources[0].flush_threshold: must be 1 to 100000, not 100001\n"
                   "6:23 sources[0].flush_token_budget: must be 64 to 1000000, not 1000001\n");
    check_problems(ROW "  flush_threshold: 8.5\n",
                   "5:20 sources[0].flush_threshold: must be an integer, not a number\n");
    check_problems(ROW "  flush_threshold: 99999999999999999999\n",
                   "5:20 sources[0].flush_threshold: must be an integer, not a number\n");
}

static void a_field_of_another_type_is_a_warning(void **state)
{
    (void)state;
    check_problems(ROW "  chunk_target_tokens: 900\n",
                   "?5:24 sources[0].chunk_target_tokens: has no effect: it belongs to "
                   "'literature' sources, and this is a 'git_repo'\n");
    assert_int_equal(map.row_count, 1);
    check_problems(ROW "  chunk_target_tokens: 9\n",
                   "?5:24 sources[0].chunk_target_tokens: has no effect: it belongs to "
                   "'literature' sources, and this is a 'git_repo'\n");
    check_problems(PROSE "  binary_policy: skip\n",
                   "?5:18 sources[0].binary_policy: has no effect: it belongs to 'git_repo' "
                   "sources, and this is a 'literature'\n");
}

static void a_route_has_paths_a_destination_and_a_profile(void **state)
{
    (void)state;
    assert_int_equal(load(ROUTE "  profile: standard\n- {paths: [a, b], ingest_to: vcm}\n"),
                     VCM_OK);
    assert_int_equal(map.route_count, 2);
    assert_int_equal(map.routes[0].paths.count, 1);
    assert_string_equal(map.routes[0].paths.items[0], "docs/");
    assert_int_equal(map.routes[0].ingest_to, VCM_REPO_MAP_TO_KNOWLEDGE_BASE);
    assert_false(map.routes[0].sets_ingest_to);
    assert_string_equal(map.routes[0].profile, "standard");
    assert_int_equal(map.routes[0].place.line, 4);
    assert_int_equal(map.routes[1].paths.count, 2);
    assert_int_equal(map.routes[1].ingest_to, VCM_REPO_MAP_TO_VCM);
    assert_true(map.routes[1].sets_ingest_to);
    assert_null(map.routes[1].profile);
    assert_string_equal(vcm_repo_map_destination_name(map.routes[1].ingest_to), "vcm");
}

static void routes_are_checked_like_rows(void **state)
{
    (void)state;
    check_problems(HEAD "sources: []\nknowledge_routing:\n- profile: x\n",
                   "4:3 knowledge_routing[0].paths: the key is missing; a route must have it\n");
    check_problems(HEAD "sources: []\nknowledge_routing:\n- paths: []\n",
                   "4:10 knowledge_routing[0].paths: must not be empty\n");
    check_problems(ROUTE "- paths: [3]\n  ingest_to: kb\n  profile: 1\n  path: x\n",
                   "5:11 knowledge_routing[1].paths[0]: must be a string, not a number; write it "
                   "in quotes: \"3\"\n"
                   "6:14 knowledge_routing[1].ingest_to: unknown value 'kb'; known: "
                   "knowledge_base, vcm\n"
                   "7:12 knowledge_routing[1].profile: must be a string, not a number; write it in "
                   "quotes: \"1\"\n"
                   "8:3 knowledge_routing[1].path: unknown key 'path'; did you mean 'paths'?\n");
    check_problems(ROUTE "  profile: ''\n",
                   "5:12 knowledge_routing[0].profile: must not be empty\n");
}

static void three_misspelled_things_are_three_messages(void **state)
{
    (void)state;
    check_problems("schema_version: 1\n"
                   "sources:\n"
                   "  - name: code\n"
                   "    type: git-repo\n"
                   "    inclde_globs: ['*.c']\n"
                   "knowledge_routes: []\n",
                   "4:11 sources[0].type: unknown value 'git-repo'; did you mean 'git_repo'? "
                   "known: git_repo, literature, blackboard\n"
                   "5:5 sources[0].inclde_globs: unknown key 'inclde_globs'; did you mean "
                   "'include_globs'?\n"
                   "6:1 knowledge_routes: unknown key 'knowledge_routes'; did you mean "
                   "'knowledge_routing'?\n");
    assert_string_equal(err.message,
                        ".colony/repo_map.yaml:4:11: sources[0].type: unknown value 'git-repo'; "
                        "did you mean 'git_repo'? known: git_repo, literature, blackboard (and 2 "
                        "more; 'vcm check' lists all)");
    assert_non_null(strstr(err.details, "6:1: knowledge_routes: unknown key"));
}

static void keys_given_twice_name_the_first(void **state)
{
    (void)state;
    check_problems(HEAD "sources: []\nsources: []\n",
                   "3:1 sources: the key is given twice; the first is on line 2\n");
    check_problems(ROW "  type: literature\n",
                   "5:3 sources[0].type: the key is given twice; the first is on line 4\n");
    check_problems(ROUTE "  paths: [b]\n",
                   "5:3 knowledge_routing[0].paths: the key is given twice; "
                   "the first is on line 4\n");
}

static void keys_that_are_no_words_are_unknown(void **state)
{
    (void)state;
    check_problems(HEAD "sources: []\n1: x\ntrue: y\n? ''\n: z\n",
                   "3:1 1: unknown key '1'\n4:1 true: unknown key 'true'\n5:3 : unknown key ''\n");
}

static void files_that_are_no_mapping_are_one_problem(void **state)
{
    (void)state;
    check_problems("", "1:1 : the file is empty; it needs at least 'schema_version: 1' and "
                       "'sources: []'\n");
    check_problems("# nothing\n", "1:1 : the file is empty; it needs at least 'schema_version: 1' "
                                  "and 'sources: []'\n");
    check_problems("---\n...\n", "1:1 : the file is empty; it needs at least 'schema_version: 1' "
                                 "and 'sources: []'\n");
    check_problems("[]\n", "1:1 : must be a mapping with at least schema_version and sources, not "
                           "a list\n");
    check_problems("null\n", "1:1 : must be a mapping with at least schema_version and sources, "
                             "not null\n");
}

static void what_is_no_yaml_is_one_problem_with_its_place(void **state)
{
    static const char *const texts[] = {
        "schema_version: 1\nsources: [\n",        /* not closed */
        "schema_version: 1\n\tsources: []\n",     /* a tab */
        "schema_version: &a 1\nsources: []\n",    /* an anchor */
        "schema_version: 1\nsources: *a\n",       /* an alias */
        "schema_version: !!int 1\nsources: []\n", /* a tag */
        "<<: {a: 1}\nsources: []\n",              /* a merge key */
        "schema_version: 1\n---\nsources: []\n",  /* two documents */
        "schema_version: 1\nsources: \"\xc3\n",   /* cut UTF-8 */
        "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n",
        "{a: 1}: b\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_int_equal(load(texts[i]), VCM_INVALID_REPO_MAP);
        assert_int_equal(problems.count, 1);
        assert_true(problems.items[0].place.line >= 1 && problems.items[0].place.column >= 1);
        assert_int_equal(strncmp(problems.items[0].message, "no valid YAML: ", 15), 0);
    }
    assert_int_equal(load_slice(vcm_slice_of("a: \0b", 5)), VCM_INVALID_REPO_MAP);
    assert_string_equal(problems.items[0].message, "no valid YAML: a NUL is not allowed");
    assert_int_equal(problems.items[0].place.column, 4);
}

static void a_bom_and_crlf_are_fine(void **state)
{
    (void)state;
    assert_string_equal(
        load_row("\xef\xbb\xbfschema_version: 1\r\nsources:\r\n- name: a\r\n  type: "
                 "git_repo\r\n  branch: next\r\n")
            ->branch,
        "next");
}

static void depth_size_and_one_large_key_are_bounded(void **state)
{
    struct vcm_buf text = VCM_BUF_INIT(4 * VCM_MIB);

    (void)state;
    for (unsigned i = 0; i < 3000; i++)
        vcm_buf_append_byte(&text, '[');
    assert_int_equal(load_slice(vcm_buf_slice(&text)), VCM_INVALID_REPO_MAP);
    assert_string_equal(problems.items[0].message, "no valid YAML: nested too deeply");

    vcm_buf_clear(&text);
    vcm_buf_append_string(&text, HEAD "sources: []\n\"");
    while (text.len < VCM_LIMIT_YAML_BYTES - 8)
        vcm_buf_append_string(&text, "\xc3\xa9");
    vcm_buf_append_string(&text, "\": 1\n");
    assert_int_equal(load_slice(vcm_buf_slice(&text)), VCM_INVALID_REPO_MAP);
    assert_int_equal(problems.count, 1);
    assert_true(strlen(problems.items[0].message) < 256);

    while (text.len <= VCM_LIMIT_YAML_BYTES)
        vcm_buf_append_byte(&text, '\n');
    assert_int_equal(load_slice(vcm_buf_slice(&text)), VCM_INVALID_REPO_MAP);
    assert_int_equal(problems.items[0].place.line, 1);
    vcm_buf_release(&text);
}

static void after_a_thousand_problems_the_rest_is_counted(void **state)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);

    (void)state;
    vcm_buf_append_string(&text, HEAD "sources: []\n");
    for (unsigned i = 0; i < VCM_LIMIT_PROBLEMS + 12; i++)
        vcm_buf_append_format(&text, "key%u: 1\n", i);
    assert_int_equal(load_slice(vcm_buf_slice(&text)), VCM_INVALID_REPO_MAP);
    assert_int_equal(problems.error_count, VCM_LIMIT_PROBLEMS + 12);
    assert_int_equal(problems.count, VCM_LIMIT_PROBLEMS + 1);
    assert_string_equal(problems.items[VCM_LIMIT_PROBLEMS].message, "and 12 more");
    vcm_buf_release(&text);
}

static void messages_stay_on_one_line(void **state)
{
    (void)state;
    check_problems(ROW "  \"a\\nb\": 1\n", "5:3 sources[0].a b: unknown key 'a b'\n");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_smallest_map_has_no_rows),
        TEST(schema_version_is_required_and_1),
        TEST(sources_is_a_required_list),
        TEST(knowledge_routing_is_a_list_and_may_be_missing_or_empty),
        TEST(a_row_without_settings_has_the_defaults_and_sets_nothing),
        TEST(name_is_required_of_few_characters_and_unique),
        TEST(type_is_required_and_registered),
        TEST(origin_url_is_an_address),
        TEST(submodule_is_a_path_without_tricks),
        TEST(origin_url_and_submodule_together_are_no_error_of_the_file),
        TEST(branch_and_commit_are_strings),
        TEST(start_dir_is_relative_and_stays_inside),
        TEST(globs_are_lists_of_patterns),
        TEST(an_empty_include_is_an_error_and_an_empty_exclude_is_not),
        TEST(literature_has_patterns_of_its_own),
        TEST(binary_policy_is_skip_or_include),
        TEST(static_and_pinned_are_bools),
        TEST(chunk_sizes_have_ranges_and_the_overlap_is_less_than_the_target),
        TEST(flush_sizes_have_ranges),
        TEST(a_field_of_another_type_is_a_warning),
        TEST(a_route_has_paths_a_destination_and_a_profile),
        TEST(routes_are_checked_like_rows),
        TEST(three_misspelled_things_are_three_messages),
        TEST(keys_given_twice_name_the_first),
        TEST(keys_that_are_no_words_are_unknown),
        TEST(files_that_are_no_mapping_are_one_problem),
        TEST(what_is_no_yaml_is_one_problem_with_its_place),
        TEST(a_bom_and_crlf_are_fine),
        TEST(depth_size_and_one_large_key_are_bounded),
        TEST(after_a_thousand_problems_the_rest_is_counted),
        TEST(messages_stay_on_one_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
