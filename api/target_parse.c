#include "api/target_parse.h"

#include <string.h>

#include "base/banned.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads digits up to `end`; false when there are none, or something else. */
static bool read_number(uint32_t *out, const char *at, const char *end)
{
    uint64_t number = 0;

    if (at == end)
        return false;
    for (; at < end; at++) {
        if (!is_digit(*at))
            return false;
        number = number * 10 + (uint64_t)(*at - '0');
        number = number < UINT32_MAX ? number : UINT32_MAX;
    }
    *out = (uint32_t)number;
    return true;
}

int vcm_target_parse_lines(bool *has_lines, struct vcm_target_lines *out, const char *text,
                           struct vcm_error *err)
{
    const char *colon = strrchr(text, ':');
    const char *end = text + strlen(text);
    const char *dash = colon ? strchr(colon, '-') : NULL;
    uint32_t first = 0, last = 0;

    *has_lines = false;
    if (!colon || colon == text || !read_number(&first, colon + 1, dash ? dash : end))
        return VCM_OK;
    last = first;
    if (dash && dash + 1 == end)
        last = UINT32_MAX;
    else if (dash && !read_number(&last, dash + 1, end))
        return VCM_OK;
    *has_lines = true;
    *out = (struct vcm_target_lines){
        .path = vcm_slice_of(text, (size_t)(colon - text)), .first = first, .last = last};
    if (first == 0)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "'%s': lines are counted from 1", text);
    if (last < first)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "'%s': the range ends before it begins",
                             text);
    return VCM_OK;
}

/* The last single colon that is neither first nor last; NULL for none. */
static const char *last_colon(struct vcm_slice text)
{
    for (size_t i = text.len; i-- > 1;)
        if (text.data[i] == ':' && text.data[i - 1] != ':' && i + 1 < text.len &&
            text.data[i + 1] != ':')
            return text.data + i;
    return NULL;
}

bool vcm_target_parse_name(struct vcm_target_name *out, const char *text)
{
    const char *end = text + strlen(text);
    const char *mark = strchr(text, '#');
    uint32_t line = 0;

    *out = (struct vcm_target_name){.line = 0};
    if (mark && mark > text && mark + 1 < end) {
        struct vcm_slice path = vcm_slice_of(text, (size_t)(mark - text));
        const char *colon = last_colon(path);
        bool has_line = colon && read_number(&line, colon + 1, mark);
        *out = (struct vcm_target_name){
            .path = has_line ? vcm_slice_of(text, (size_t)(colon - text)) : path,
            .line = has_line ? line : 0,
            .name = vcm_slice_of(mark + 1, (size_t)(end - mark - 1))};
        return true;
    }
    const char *colon = last_colon(vcm_slice_of_string(text));
    if (!colon)
        return false;
    out->path = vcm_slice_of(text, (size_t)(colon - text));
    out->name = vcm_slice_of(colon + 1, (size_t)(end - colon - 1));
    return true;
}
