#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/text.h"
#include "repomap/repo_map.h"
#include "repomap/repo_map_schema.h"

#include "base/banned.h"

static const char *nearest(const char *name)
{
    const char *names[VCM_SCHEMA_KEYS_MAX];

    for (unsigned i = 0; i < vcm_schema_source.count; i++)
        names[i] = vcm_schema_source.keys[i].name;
    return vcm_text_nearest(vcm_slice_of_string(name), names, vcm_schema_source.count);
}

static void keys_are_found_by_their_name(void **state)
{
    (void)state;
    assert_int_equal(vcm_repo_map_schema_find(&vcm_schema_source, vcm_slice_of_string("pinned")),
                     VCM_REPO_MAP_PINNED);
    assert_int_equal(vcm_repo_map_schema_find(&vcm_schema_source, vcm_slice_of_string("Pinned")),
                     -1);
    assert_int_equal(vcm_repo_map_schema_find(&vcm_schema_top, vcm_slice_of_string("sources")), 1);
    assert_int_equal(vcm_repo_map_schema_find(&vcm_schema_route, vcm_slice_of_string("")), -1);
}

static void a_misspelled_name_is_recognised(void **state)
{
    (void)state;
    assert_string_equal(nearest("inclde_globs"), "include_globs");
    assert_string_equal(nearest("exclude-globs"), "exclude_globs");
    assert_string_equal(nearest("Exclude_Glob"), "exclude_globs");
    assert_string_equal(nearest("nmae"), "name");
    assert_string_equal(nearest("origin_uri"), "origin_url");
    assert_string_equal(nearest("chunk_overlap"), "chunk_overlap_tokens");
    assert_string_equal(nearest("start_directory"), "start_dir");
    assert_string_equal(nearest("TYPE"), "type");
}

static void what_is_like_no_name_gets_no_suggestion(void **state)
{
    char large[4096];

    (void)state;
    assert_null(nearest("colour"));
    assert_null(nearest("x"));
    assert_null(nearest(""));
    memset(large, 'n', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    assert_null(nearest(large));
}

static void every_type_takes_its_fields(void **state)
{
    (void)state;
    for (unsigned i = 0; i < VCM_REPO_MAP_FIELDS; i++) {
        bool chunks =
            i == VCM_REPO_MAP_CHUNK_TARGET_TOKENS || i == VCM_REPO_MAP_CHUNK_OVERLAP_TOKENS;
        assert_int_equal(vcm_repo_map_takes("git_repo", i), !chunks);
        assert_int_equal(vcm_repo_map_takes("literature", i), i != VCM_REPO_MAP_BINARY_POLICY);
    }
}

static void the_default_map_is_one_row_over_the_whole_tree(void **state)
{
    const struct vcm_repo_map *map = &vcm_repo_map_default;

    (void)state;
    assert_false(map->has_file);
    assert_int_equal(map->row_count, 1);
    assert_int_equal(map->route_count, 0);
    assert_string_equal(map->rows[0].name, "default");
    assert_string_equal(map->rows[0].type, "git_repo");
    assert_string_equal(map->rows[0].start_dir, "");
    assert_string_equal(map->rows[0].branch, "main");
    assert_string_equal(map->rows[0].commit, "HEAD");
    assert_int_equal(map->rows[0].set, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_found_by_their_name),
        cmocka_unit_test(a_misspelled_name_is_recognised),
        cmocka_unit_test(what_is_like_no_name_gets_no_suggestion),
        cmocka_unit_test(every_type_takes_its_fields),
        cmocka_unit_test(the_default_map_is_one_row_over_the_whole_tree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
