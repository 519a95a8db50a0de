/*
 * fuzz_glob.c - patterns and ignore files against paths: bounded work, and no disagreement between
 * the ways to ask.
 *
 * Input: an ignore file, a NUL, and a path.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/limits.h"
#include "sources/glob.h"
#include "sources/ignore.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_work(struct vcm_slice pattern, struct vcm_slice path)
{
    size_t steps = 0, slashes = 2;

    for (size_t i = 0; i < path.len; i++)
        slashes += path.data[i] == '/';
    vcm_glob_matches(pattern, path, &steps);
    /* A bracket's 33 bytes of code come from three bytes at the least; "**" before an escaped slash
     * may begin at every byte. */
    assert(steps <= (path.len + 1) * (16 * pattern.len + 2) * (slashes + path.len));
}

static void check_list(struct vcm_slice text, struct vcm_slice path)
{
    struct vcm_glob_list list;
    struct vcm_error err = {0};

    vcm_glob_list_init(&list);
    if (vcm_glob_list_add_lines(&list, text, &err) == VCM_OK && list.count > 0) {
        bool *used = calloc(list.count, sizeof *used);
        enum vcm_glob_result result = vcm_glob_list_match(&list, path, false);
        bool any = false;
        assert(vcm_glob_list_match_named(&list, path, vcm_glob_last_part(path), false, used) ==
               result);
        for (unsigned i = 0; i < list.count; i++)
            any |= used[i];
        assert(any == (result != VCM_GLOB_NONE));
        assert(result != VCM_GLOB_MATCH || vcm_glob_list_takes(&list, path));
        for (size_t i = 0; any && i < path.len; i++)
            assert(path.data[i] != '/' || vcm_glob_list_reaches(&list, vcm_slice_of(path.data, i)));
        free(used);
    }
    vcm_glob_list_release(&list);
}

/* An ignore file in the root says of a path what a list says of it. */
static void check_ignore(struct vcm_slice text, struct vcm_slice path)
{
    struct vcm_glob_list list;
    struct vcm_ignore *ignore = NULL;
    bool ignored = false;

    vcm_glob_list_init(&list);
    if (vcm_ignore_open(&ignore, NULL, NULL) != VCM_OK)
        abort();
    if (vcm_ignore_enter(ignore, &ignored, vcm_slice_of("", 0), NULL) == VCM_OK &&
        vcm_ignore_add(ignore, text, NULL) == VCM_OK &&
        vcm_glob_list_add_lines(&list, text, NULL) == VCM_OK) {
        for (size_t i = 0; i < path.len; i++)
            if (path.data[i] == '/' &&
                vcm_ignore_enter(ignore, &ignored, vcm_slice_of(path.data, i), NULL) != VCM_OK)
                goto done;
        assert(vcm_ignore_has(ignore, path) == vcm_glob_list_takes(&list, path));
    }
done:
    vcm_ignore_close(ignore);
    vcm_glob_list_release(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *nul = size > 0 ? memchr(data, '\0', size) : NULL;

    if (!nul)
        return 0;
    struct vcm_slice text = vcm_slice_of(data, (size_t)(nul - data));
    struct vcm_slice path = vcm_slice_of(nul + 1, size - text.len - 1);
    /* A path of a tree has no empty parts. */
    if (path.len == 0 || path.len > VCM_LIMIT_PATH_BYTES || path.data[0] == '/' ||
        path.data[path.len - 1] == '/' || memmem(path.data, path.len, "//", 2))
        return 0;
    if (text.len > 0)
        check_work(text, path);
    vcm_glob_check(text, NULL);
    check_list(text, path);
    check_ignore(text, path);
    return 0;
}
