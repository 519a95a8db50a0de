/*
 * grep_text.h - the matches in one text, copied as they are shown. Part of vcm_grep().
 */
#ifndef VCM_API_GREP_TEXT_H
#define VCM_API_GREP_TEXT_H

#include "base/arena.h"
#include "base/regex.h"

/* A line that matches. */
struct vcm_grep_hit {
    uint32_t line; /* from 1 */
    uint32_t column;
    size_t offset; /* of the line in the text */
    const char *text;
    const char **before, **after;
    size_t before_count, after_count;
    const char *symbol;  /* set later, or NULL */
    const char *page_id; /* set by who knows pages, or NULL */
};

struct vcm_grep_hits {
    struct vcm_grep_hit *hits; /* `kept` of them, in the arena */
    size_t kept, capacity;
    uint64_t total; /* lines that match, kept or not */
};

struct vcm_grep_wish {
    bool first_only; /* one match is enough, and counts as all */
    bool keep;       /* false: only count */
    uint32_t context;
};

/* Searches the whole text, which is valid UTF-8. Codes of vcm_regex_matcher_next(). */
int vcm_grep_text_search(struct vcm_grep_hits *out, struct vcm_arena *arena,
                         struct vcm_regex_matcher *matcher, struct vcm_slice text,
                         const struct vcm_grep_wish *wish, struct vcm_error *err);

#endif
