/*
 * fuzz_grep_pattern.c - any pattern over any text: it ends, the places that it reports are in the
 * text, and a search in all lines is a search in each of them.
 *
 * Input: a byte of options, the pattern, a NUL, and the text.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/regex.h"
#include "base/utf8.h"
#include "fuzz/check.h"

#include "base/banned.h"

#define TEXT_MAX    4096u
#define DEADLINE_MS 2000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first line that matches behind `from`; false when there is none, or it takes too long. */
static bool next(struct vcm_regex_line *line, struct vcm_regex_matcher *matcher, size_t from,
                 bool *is_over)
{
    struct vcm_error err = {0};
    int rc = vcm_regex_matcher_next(line, matcher, from, &err);

    FUZZ_CHECK(rc == VCM_OK || rc == VCM_NOT_FOUND || rc == VCM_TIMEOUT);
    FUZZ_CHECK((rc == VCM_TIMEOUT) == (err.code == VCM_TIMEOUT));
    *is_over |= rc == VCM_TIMEOUT;
    return rc == VCM_OK;
}

/* Searches every line by itself, and all of them together. */
static void check_lines(struct vcm_regex_matcher *all, struct vcm_regex_matcher *one,
                        struct vcm_slice text)
{
    struct vcm_regex_line found = {0}, alone;
    bool is_over = false;

    vcm_regex_matcher_begin(all, text);
    bool is_found = text.len > 0 && next(&found, all, 0, &is_over);
    for (size_t from = 0; from < text.len && !is_over;) {
        const char *end = memchr(text.data + from, '\n', text.len - from);
        size_t len = end ? (size_t)(end + 1 - text.data) - from : text.len - from;
        vcm_regex_matcher_begin(one, vcm_slice_of(text.data + from, len));
        bool matches = next(&alone, one, 0, &is_over);
        if (is_over)
            return;
        FUZZ_CHECK(matches == (is_found && found.start == from));
        if (matches) {
            FUZZ_CHECK(found.end - found.start == alone.end);
            FUZZ_CHECK(found.match_start - found.start == alone.match_start);
            FUZZ_CHECK(found.match_start <= found.match_end && found.match_end <= found.end);
            is_found = next(&found, all, from + len, &is_over);
        }
        from += len;
    }
    FUZZ_CHECK(is_over || !is_found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *nul = size > 1 ? memchr(data + 1, '\0', size - 1) : NULL;
    struct vcm_regex *regex = NULL;
    struct vcm_regex_matcher *all = NULL, *one = NULL;
    struct vcm_buf text = VCM_BUF_INIT(4 * TEXT_MAX);

    if (!nul || size > TEXT_MAX)
        return 0;
    const struct vcm_regex_options options = {
        .ignore_case = data[0] & 1, .word = data[0] & 2, .literal = data[0] & 4};
    vcm_utf8_replace(&text, vcm_slice_of(nul + 1, size - (size_t)(nul + 1 - data)));
    if (vcm_regex_open(&regex, (const char *)data + 1, &options, NULL) == VCM_OK) {
        uint64_t deadline = vcm_clock_ms() + DEADLINE_MS;
        if (vcm_regex_matcher_open(&all, regex, deadline, NULL, NULL) != VCM_OK ||
            vcm_regex_matcher_open(&one, regex, deadline, NULL, NULL) != VCM_OK)
            abort();
        check_lines(all, one, vcm_buf_slice(&text));
    }
    vcm_regex_matcher_close(one);
    vcm_regex_matcher_close(all);
    vcm_regex_close(regex);
    vcm_buf_release(&text);
    return 0;
}
