/*
 * fuzz_edit.c - the editor of maps: what it writes loads, says what was asked for and nothing else,
 * and is the text that was there with lines put in and single values changed.
 *
 * The first byte says what is promoted, the rest is the map.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "fuzz/check.h"
#include "repomap/edit.h"
#include "repomap/repo_map_load.h"

#include "base/banned.h"

#define TEXT_MAX ((size_t)16 * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const patterns[] = {"papers/one.pdf", "/papers/", "a \"b\"\\c.md", "x/ü.md"};

static void strip(struct vcm_buf *out, struct vcm_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!strchr(" \t\r\n", text.data[i]))
            vcm_buf_append_byte(out, text.data[i]);
}

/* The bytes of `before` that do not come again in `after`, in order, at the least. */
static size_t count_lost(struct vcm_slice before, struct vcm_slice after)
{
    size_t *row = calloc(after.len + 1, sizeof *row); /* longest common subsequences */
    size_t common = 0;

    FUZZ_CHECK(row);
    for (size_t i = 0; i < before.len; i++) {
        size_t diagonal = 0;
        for (size_t j = 0; j < after.len; j++) {
            size_t above = row[j + 1];
            if (before.data[i] == after.data[j])
                row[j + 1] = diagonal + 1;
            else if (row[j] > above)
                row[j + 1] = row[j];
            diagonal = above;
        }
    }
    common = row[after.len];
    free(row);
    return before.len - common;
}

static void check_result(struct vcm_slice before, struct vcm_slice after,
                         const struct vcm_repo_map *map, const struct vcm_edit_promotion *promotion,
                         const struct vcm_edit_report *report)
{
    struct vcm_problem_list problems;
    struct vcm_repo_map edited = {0};

    vcm_problem_list_init(&problems);
    /* Whoever edits looks at the result, and makes no change when it is not what it should be. */
    if (vcm_repo_map_load(&edited, &problems, after, NULL, NULL) == VCM_OK &&
        vcm_edit_check_is_exact(&edited, map, promotion, report) && before.len < 1500) {
        struct vcm_buf old = VCM_BUF_INIT(TEXT_MAX), new = VCM_BUF_INIT(VCM_LIMIT_YAML_BYTES);
        strip(&old, before);
        strip(&new, after);
        /* "knowledge_base" with its quotes, and the brackets of two empty lists. */
        FUZZ_CHECK(count_lost(vcm_buf_slice(&old), vcm_buf_slice(&new)) <=
                   16 * report->routes_set + 4);
        vcm_buf_release(&old);
        vcm_buf_release(&new);
    }
    vcm_repo_map_release(&edited);
    vcm_problem_list_release(&problems);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vcm_problem_list problems;
    struct vcm_repo_map map = {0};
    struct vcm_error err = {0};

    if (size < 1 || size > TEXT_MAX)
        return 0;
    struct vcm_slice text = vcm_slice_of(data + 1, size - 1);
    struct vcm_edit_promotion promotion = {
        .routed = patterns + (data[0] >> 2 & 1),
        .routed_count = data[0] & 3,
        .covered = patterns + (data[0] >> 5 & 1),
        .covered_count = data[0] >> 3 & 3,
    };
    vcm_problem_list_init(&problems);
    if (vcm_repo_map_load(&map, &problems, text, NULL, &err) == VCM_OK) {
        struct vcm_buf out = VCM_BUF_INIT(VCM_LIMIT_YAML_BYTES);
        struct vcm_edit_report report;
        vcm_error_reset(&err);
        int rc = vcm_edit_promote(&out, &report, text, &map, &promotion, &err);
        FUZZ_CHECK(rc == (int)err.code);
        FUZZ_CHECK(rc == VCM_OK || rc == VCM_UNSUPPORTED);
        if (rc == VCM_OK && promotion.routed_count + promotion.covered_count == 0)
            FUZZ_CHECK(vcm_slice_equal(vcm_buf_slice(&out), text));
        if (rc == VCM_OK)
            check_result(text, vcm_buf_slice(&out), &map, &promotion, &report);
        vcm_buf_release(&out);
    }
    vcm_repo_map_release(&map);
    vcm_problem_list_release(&problems);
    return 0;
}
