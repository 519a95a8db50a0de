/*
 * fuzz_target.c - how people name lines and definitions: what is read are parts of the text, in
 * their order, and lines are a range.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/target_parse.h"
#include "symbols/lookup.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_inside(struct vcm_slice part, const char *text)
{
    assert(part.data >= text && part.data + part.len <= text + strlen(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vcm_target_lines lines = {.first = 0};
    struct vcm_target_name name;
    struct vcm_error err = {0};
    bool has_lines = false;
    char *text = calloc(size + 1, 1);

    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    int rc = vcm_target_parse_lines(&has_lines, &lines, text, &err);
    if (has_lines)
        check_inside(lines.path, text);
    if (rc == VCM_OK && has_lines)
        assert(lines.path.len > 0 && lines.first > 0 && lines.first <= lines.last);
    assert(rc == VCM_OK || (has_lines && err.code == VCM_INVALID_ARGUMENT));
    if (vcm_target_parse_name(&name, text)) {
        check_inside(name.path, text);
        check_inside(name.name, text);
        assert(name.path.len > 0 && name.name.len > 0);
        assert(name.path.data + name.path.len < name.name.data);
    }
    const struct vcm_slice whole = vcm_slice_of_string(text);
    struct vcm_slice last = vcm_lookup_last_part(whole);
    check_inside(last, text);
    assert(whole.len == 0 || last.len > 0);
    const struct vcm_symbol symbol = {.name = last, .container = vcm_slice_of_string("A.B")};
    assert(last.len < whole.len || vcm_lookup_matches(&symbol, whole));
    free(text);
    return 0;
}
