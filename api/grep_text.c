#include "api/grep_text.h"

#include "base/array.h"
#include "base/limits.h"

#include "base/banned.h"

#define ELLIPSIS    "\xe2\x80\xa6"
#define REPLACEMENT "\xef\xbf\xbd"
#define LEAD_BYTES  (VCM_LIMIT_GREP_LINE / 4) /* of a long line before its match */

static bool is_inside_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* A copy of a line, of a long one around `at`. A NUL, which would end the copy, is replaced. */
static const char *copy_line(struct vcm_arena *arena, struct vcm_slice line, size_t at)
{
    struct vcm_buf out = VCM_BUF_INIT(4 * VCM_LIMIT_GREP_LINE);
    size_t from = 0, end = line.len;

    if (line.len > VCM_LIMIT_GREP_LINE) {
        from = at > LEAD_BYTES ? at - LEAD_BYTES : 0;
        end = line.len - from > VCM_LIMIT_GREP_LINE ? from + VCM_LIMIT_GREP_LINE : line.len;
        while (from > 0 && is_inside_character(line.data[from]))
            from--;
        while (end < line.len && is_inside_character(line.data[end]))
            end++;
    }
    if (from > 0)
        vcm_buf_append_string(&out, ELLIPSIS);
    for (size_t i = from; i < end;) {
        const char *nul = memchr(line.data + i, '\0', end - i);
        size_t stop = nul ? (size_t)(nul - line.data) : end;
        vcm_buf_append(&out, line.data + i, stop - i);
        if (nul)
            vcm_buf_append_string(&out, REPLACEMENT);
        i = stop + (nul != NULL);
    }
    if (end < line.len)
        vcm_buf_append_string(&out, ELLIPSIS);
    const char *copy =
        out.fault == VCM_BUF_FINE ? vcm_arena_copy(arena, vcm_buf_slice(&out)) : NULL;
    vcm_buf_release(&out);
    return copy;
}

static struct vcm_slice without_return(struct vcm_slice line)
{
    if (line.len > 0 && line.data[line.len - 1] == '\r')
        line.len--;
    return line;
}

/* The lines before the one that begins at `start`, first one first. */
static int copy_before(struct vcm_grep_hit *hit, struct vcm_arena *arena, struct vcm_slice text,
                       size_t start, uint32_t wanted, struct vcm_error *err)
{
    size_t at = start, count = 0;

    while (count < wanted && at > 0) {
        const char *before = at > 1 ? memrchr(text.data, '\n', at - 1) : NULL;
        at = before ? (size_t)(before - text.data) + 1 : 0;
        count++;
    }
    hit->before = vcm_arena_alloc(arena, (count + 1) * sizeof *hit->before);
    for (; hit->before && hit->before_count < count; hit->before_count++) {
        const char *end = memchr(text.data + at, '\n', start - at);
        size_t len = end ? (size_t)(end - text.data) - at : start - at;
        const char *copy = copy_line(arena, without_return(vcm_slice_of(text.data + at, len)), 0);
        if (!copy)
            return vcm_error_memory(err);
        hit->before[hit->before_count] = copy;
        at += len + 1;
    }
    return hit->before ? VCM_OK : vcm_error_memory(err);
}

/* The lines behind the one that ends at `end`. */
static int copy_after(struct vcm_grep_hit *hit, struct vcm_arena *arena, struct vcm_slice text,
                      size_t end, uint32_t wanted, struct vcm_error *err)
{
    hit->after = vcm_arena_alloc(arena, ((size_t)wanted + 1) * sizeof *hit->after);
    if (!hit->after)
        return vcm_error_memory(err);
    while (hit->after_count < wanted) {
        const char *line_end =
            end < text.len ? memchr(text.data + end, '\n', text.len - end) : NULL;
        if (!line_end || line_end + 1 == text.data + text.len)
            break;
        size_t at = (size_t)(line_end - text.data) + 1;
        const char *next = memchr(text.data + at, '\n', text.len - at);
        end = next ? (size_t)(next - text.data) : text.len;
        const char *copy =
            copy_line(arena, without_return(vcm_slice_of(text.data + at, end - at)), 0);
        if (!copy)
            return vcm_error_memory(err);
        hit->after[hit->after_count++] = copy;
    }
    return VCM_OK;
}

static int keep(struct vcm_grep_hits *out, struct vcm_arena *arena, struct vcm_slice text,
                const struct vcm_regex_line *line, uint32_t number, uint32_t context,
                struct vcm_error *err)
{
    struct vcm_grep_hit hit = {.line = number,
                               .column = (uint32_t)(line->match_start - line->start) + 1,
                               .offset = line->start};

    hit.text = copy_line(arena, vcm_slice_of(text.data + line->start, line->end - line->start),
                         line->match_start - line->start);
    int rc = hit.text ? VCM_OK : vcm_error_memory(err);
    if (rc == VCM_OK && context > 0)
        rc = copy_before(&hit, arena, text, line->start, context, err);
    if (rc == VCM_OK && context > 0)
        rc = copy_after(&hit, arena, text, line->end, context, err);
    if (rc == VCM_OK)
        rc = vcm_array_reserve_in(arena, &out->hits, &out->capacity, out->kept + 1,
                                  VCM_LIMIT_LIST_ENTRIES, err);
    if (rc == VCM_OK)
        out->hits[out->kept++] = hit;
    return rc;
}

static uint32_t count_lines(struct vcm_slice text, size_t from, size_t end)
{
    uint32_t lines = 0;
    const char *at = text.data + from;

    while ((at = memchr(at, '\n', (size_t)(text.data + end - at)))) {
        lines++;
        at++;
    }
    return lines;
}

int vcm_grep_text_search(struct vcm_grep_hits *out, struct vcm_arena *arena,
                         struct vcm_regex_matcher *matcher, struct vcm_slice text,
                         const struct vcm_grep_wish *wish, struct vcm_error *err)
{
    struct vcm_regex_line line = {0};
    uint32_t number = 1;
    size_t from = 0, counted = 0;
    int rc = VCM_OK;

    *out = (struct vcm_grep_hits){.kept = 0};
    if (text.len == 0)
        return VCM_OK;
    vcm_regex_matcher_begin(matcher, text);
    while (rc == VCM_OK && from < text.len &&
           (rc = vcm_regex_matcher_next(&line, matcher, from, err)) == VCM_OK) {
        out->total++;
        if (wish->keep) {
            number += count_lines(text, counted, line.start);
            counted = line.start;
            rc = keep(out, arena, text, &line, number, wish->context, err);
        }
        if (wish->first_only)
            break;
        const char *end = memchr(text.data + line.end, '\n', text.len - line.end);
        from = end ? (size_t)(end - text.data) + 1 : text.len;
    }
    return rc == VCM_NOT_FOUND ? VCM_OK : rc;
}
