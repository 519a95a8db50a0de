#include "symbols/patterns.h"

#include <stdlib.h>

#include "base/limits.h"
#include "symbols/parse_memory.h"
#include "symbols/patterns_read.h"

#include "base/banned.h"

#define MATCH_MAX 16u        /* captures of a match */
#define DEPTH_MAX 30000u     /* tree-sitter counts in 16 bits */
#define NOT_READ  UINT16_MAX /* a field that was not read yet */

/* Marks kinds of nodes whose n-th child takes n steps to reach, because their children are nested
 * in hidden nodes. The search counts these steps. */
static void mark_nested(struct vcm_patterns *patterns, const char *const *kinds)
{
    for (; kinds && *kinds; kinds++) {
        TSSymbol symbol =
            ts_language_symbol_for_name(patterns->language, *kinds, (uint32_t)strlen(*kinds), true);
        patterns->is_nested[symbol] = true;
    }
}

int vcm_patterns_open(struct vcm_patterns **out, const TSLanguage *language,
                      const char *const *nested, struct vcm_slice text, struct vcm_buf *rest,
                      struct vcm_error *err)
{
    struct vcm_patterns *patterns = calloc(1, sizeof *patterns);
    size_t count = ts_language_symbol_count(language);
    int rc = VCM_OK;

    *out = NULL;
    if (!patterns)
        return vcm_error_memory(err);
    vcm_arena_init(&patterns->arena, 16 * VCM_MIB);
    patterns->language = language;
    patterns->symbol_count = count;
    patterns->by_symbol = calloc(count + 1, sizeof(struct vcm_patterns_chain *));
    patterns->by_parent = calloc(count + 1, sizeof(struct vcm_patterns_chain *));
    patterns->has_field = calloc(count + 1, sizeof *patterns->has_field);
    patterns->is_nested = calloc(count + 1, sizeof *patterns->is_nested);
    if (!patterns->by_symbol || !patterns->by_parent || !patterns->has_field ||
        !patterns->is_nested)
        rc = vcm_error_memory(err);
    else
        mark_nested(patterns, nested);
    if (rc == VCM_OK)
        rc = vcm_patterns_read_all(patterns, text, rest, err);
    if (rc == VCM_OK)
        *out = patterns;
    else
        vcm_patterns_close(patterns);
    return rc;
}

void vcm_patterns_close(struct vcm_patterns *patterns)
{
    if (!patterns)
        return;
    vcm_arena_release(&patterns->arena);
    free(patterns->by_symbol);
    free(patterns->by_parent);
    free(patterns->has_field);
    free(patterns->is_nested);
    free(patterns->left);
    free(patterns->asked);
    free(patterns);
}

struct vcm_slice vcm_patterns_capture(const struct vcm_patterns *patterns, uint32_t id)
{
    return id < patterns->capture_count ? patterns->captures[id] : vcm_slice_of("", 0);
}

uint32_t vcm_patterns_left(const struct vcm_patterns *patterns)
{
    return patterns->left_count;
}

uint32_t vcm_patterns_place(const struct vcm_patterns *patterns, uint32_t left)
{
    return patterns->left[left];
}

static bool is_among(const struct vcm_patterns_asked *asked, struct vcm_slice word)
{
    for (size_t i = 0; i < asked->count; i++)
        if (vcm_slice_equal(asked->words[i], word))
            return true;
    return false;
}

bool vcm_patterns_words_fit(const struct vcm_patterns *patterns, const TSQueryMatch *match,
                            struct vcm_slice text)
{
    for (const struct vcm_patterns_asked *asked = patterns->asked[match->pattern_index]; asked;
         asked = asked->next) {
        struct vcm_slice word = vcm_slice_of("", 0);
        for (uint16_t i = 0; i < match->capture_count; i++) {
            const TSNode node = match->captures[i].node;
            if (match->captures[i].index == asked->capture)
                word = vcm_slice_of(text.data + ts_node_start_byte(node),
                                    ts_node_end_byte(node) - ts_node_start_byte(node));
        }
        if (is_among(asked, word) == asked->negated)
            return false;
    }
    return true;
}

/* Searching a tree */

struct level {
    TSNode node;
    TSSymbol symbol;
    bool named, first;
    uint32_t children, named_children; /* that were entered */
    TSFieldId field;
};

struct vcm_patterns_path {
    struct level *levels; /* from the root to the current node */
    size_t depth;
};

struct search {
    const struct vcm_patterns *patterns;
    TSTreeCursor cursor;
    struct vcm_patterns_path path;
    size_t capacity;
    TSQueryCapture captures[MATCH_MAX];
    unsigned capture_count;
    uint64_t steps, steps_max;
    vcm_patterns_fn visit;
    void *context;
    bool stopped;
};

TSNode vcm_patterns_above(const struct vcm_patterns_path *path, unsigned levels)
{
    const TSNode none = {.id = NULL};

    return levels < path->depth ? path->levels[path->depth - 1 - levels].node : none;
}

static void take_captures(struct search *search, const struct vcm_patterns_form *form, TSNode node)
{
    for (unsigned i = 0; i < form->capture_count && search->capture_count < MATCH_MAX; i++)
        search->captures[search->capture_count++] = (TSQueryCapture){node, form->captures[i]};
}

static bool kind_fits(const struct vcm_patterns_form *form, TSNode node)
{
    return form->symbol == VCM_PATTERNS_ANY ? ts_node_is_named(node)
                                            : ts_node_symbol(node) == form->symbol;
}

static bool has_none_of(const struct vcm_patterns_form *form, TSNode node)
{
    for (unsigned i = 0; i < form->without_count; i++)
        if (!ts_node_is_null(ts_node_child_by_field_id(node, form->without[i])))
            return false;
    return true;
}

static bool form_fits(struct search *search, const struct vcm_patterns_form *form, TSNode node);

/* Whether a child of the node matches; the captures of the first match are taken. Recurses as deep
 * as the pattern. */
static bool has_child(struct search *search, const struct vcm_patterns_form *form, TSNode node)
{
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    bool found = false;

    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more && !found;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        search->stopped = search->stopped || ++search->steps > search->steps_max;
        if (search->stopped)
            break;
        TSNode child = ts_tree_cursor_current_node(&cursor);
        found = (form->field == 0 || ts_tree_cursor_current_field_id(&cursor) == form->field) &&
                form_fits(search, form, child);
        if (form->first && ts_node_is_named(child))
            break;
    }
    ts_tree_cursor_delete(&cursor);
    return found;
}

static bool form_fits(struct search *search, const struct vcm_patterns_form *form, TSNode node)
{
    unsigned before = search->capture_count;
    bool fits = false;

    if (form->alternatives) {
        for (const struct vcm_patterns_form *child = form->children; child && !fits;
             child = child->next)
            fits = form_fits(search, child, node);
    } else {
        fits = kind_fits(form, node) && has_none_of(form, node);
        for (const struct vcm_patterns_form *child = form->children; child && fits;
             child = child->next)
            fits = has_child(search, child, node);
    }
    if (fits)
        take_captures(search, form, node);
    else
        search->capture_count = before;
    return fits;
}

static TSFieldId field_of(struct search *search, struct level *level)
{
    if (level->field == NOT_READ)
        level->field = ts_tree_cursor_current_field_id(&search->cursor);
    return level->field;
}

static bool is_on_path(const struct vcm_patterns_chain *chain, unsigned at,
                       const struct vcm_patterns_form *child)
{
    if (at == 0)
        return false;
    if (child == chain->forms[at - 1])
        return true;
    for (const struct vcm_patterns_form *one = child->alternatives ? child->children : NULL; one;
         one = one->next)
        if (one == chain->forms[at - 1] || (one->alternatives && one->holds_name))
            return true;
    return false;
}

static bool chain_fits(struct search *search, const struct vcm_patterns_chain *chain)
{
    struct level *levels = &search->path.levels[search->path.depth - 1];

    if (search->path.depth < chain->count)
        return false;
    for (unsigned i = 0; i < chain->count; i++) {
        const struct vcm_patterns_form *form = chain->forms[i];
        const struct level *level = levels - i;
        if ((form->symbol == VCM_PATTERNS_ANY ? !level->named : level->symbol != form->symbol) ||
            (chain->firsts[i] && !level->first))
            return false;
    }
    for (unsigned i = 0; i < chain->count; i++)
        if (chain->fields[i] != 0 && field_of(search, levels - i) != chain->fields[i])
            return false;
    search->capture_count = 0;
    for (unsigned i = 0; i < chain->count; i++) {
        const struct vcm_patterns_form *form = chain->forms[i];
        TSNode node = (levels - i)->node;
        if (!has_none_of(form, node))
            return false;
        for (const struct vcm_patterns_form *child = form->children; child; child = child->next)
            if (!is_on_path(chain, i, child) && !has_child(search, child, node))
                return false;
        take_captures(search, form, node);
    }
    return true;
}

static void try_chains(struct search *search, const struct vcm_patterns_chain *chain)
{
    for (; chain && !search->stopped; chain = chain->next) {
        if (!chain_fits(search, chain))
            continue;
        const TSQueryMatch match = {.pattern_index = (uint16_t)chain->pattern,
                                    .capture_count = (uint16_t)search->capture_count,
                                    .captures = search->captures};
        search->stopped = !search->visit(search->context, &match, &search->path);
    }
}

static void enter(struct search *search)
{
    const struct vcm_patterns *patterns = search->patterns;

    if (search->path.depth == search->capacity) {
        size_t capacity = search->capacity ? 2 * search->capacity : 64;
        search->path.levels =
            vcm_parse_memory_realloc(search->path.levels, capacity * sizeof *search->path.levels);
        search->capacity = capacity;
    }
    struct level *level = &search->path.levels[search->path.depth++];
    level->node = ts_tree_cursor_current_node(&search->cursor);
    level->symbol = ts_node_symbol(level->node);
    level->named = ts_node_is_named(level->node);
    level->field = NOT_READ;
    level->children = level->named_children = 0;
    level->first = level->named && search->path.depth > 1 && ++level[-1].named_children == 1;
    /* The field is read now: later the cursor is deeper. */
    bool known = level->symbol < patterns->symbol_count;
    if (search->path.depth > 1 && level[-1].symbol < patterns->symbol_count &&
        patterns->is_nested[level[-1].symbol])
        search->steps += ++level[-1].children;
    if (search->path.depth > DEPTH_MAX)
        search->steps = search->steps_max + 1;
    search->stopped = search->stopped || search->steps > search->steps_max;
    if (known && patterns->has_field[level->symbol])
        level->field = ts_tree_cursor_current_field_id(&search->cursor);
}

static void look_at(struct search *search)
{
    const struct vcm_patterns *patterns = search->patterns;
    const struct level *level = &search->path.levels[search->path.depth - 1];

    if (!level->named)
        return;
    if (level->symbol < patterns->symbol_count)
        try_chains(search, patterns->by_symbol[level->symbol]);
    if (search->path.depth > 1 && level[-1].symbol < patterns->symbol_count)
        try_chains(search, patterns->by_parent[level[-1].symbol]);
    try_chains(search, patterns->loose);
}

bool vcm_patterns_search(const struct vcm_patterns *patterns, TSNode root, uint64_t steps_max,
                         vcm_patterns_fn visit, void *context)
{
    struct search search = {
        .patterns = patterns, .steps_max = steps_max, .visit = visit, .context = context};
    bool more = true;

    search.cursor = ts_tree_cursor_new(root);
    while (more && !search.stopped) {
        enter(&search);
        if (search.stopped)
            break;
        look_at(&search);
        if (ts_tree_cursor_goto_first_child(&search.cursor))
            continue;
        while (search.path.depth > 0) {
            search.path.depth--;
            if (ts_tree_cursor_goto_next_sibling(&search.cursor))
                break;
            more = ts_tree_cursor_goto_parent(&search.cursor);
        }
    }
    ts_tree_cursor_delete(&search.cursor);
    vcm_parse_memory_free(search.path.levels);
    return search.steps <= steps_max;
}
