#include "symbols/patterns.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/limits.h"
#include "symbols/parse_memory.h"

#include "base/banned.h"

#define ANY          UINT16_MAX /* "(_)": a node of any kind that has a name */
#define NAMES_MAX    64u        /* of captures */
#define CAPTURES_MAX 4u         /* of one node */
#define MATCH_MAX    16u        /* captures of a match */
#define CHAIN_MAX    12u
#define WORDS_MAX    16u        /* that a predicate has */
#define DEPTH_MAX    30000u     /* tree-sitter counts in 16 bits */
#define NOT_READ     UINT16_MAX /* a field that was not asked for yet */

/* A node of a pattern. Alternatives stand in for one another. */
struct form {
    bool alternatives; /* `children` are these */
    TSSymbol symbol;
    TSFieldId field; /* 0: any */
    bool first;      /* of the children that have a name */
    uint32_t captures[CAPTURES_MAX];
    unsigned capture_count;
    bool holds_name; /* in it or below: what a match is about */
    TSFieldId without[CAPTURES_MAX];
    unsigned without_count;
    struct form *children, *next;
};

/* A pattern from the node that it is about up to its root. */
struct chain {
    uint32_t pattern;
    unsigned count;
    const struct form *forms[CHAIN_MAX];
    TSFieldId fields[CHAIN_MAX]; /* an alternative is in the field that the choice is in */
    bool firsts[CHAIN_MAX];      /* and is first where the choice is */
    struct chain *next;          /* of the same kind */
};

/* That the text of a capture is one of some words, or none of them. */
struct asked {
    uint32_t capture;
    bool negated;
    size_t count;
    struct vcm_slice words[WORDS_MAX];
    struct asked *next;
};

struct vcm_patterns {
    struct vcm_arena arena;
    const TSLanguage *language;
    struct vcm_slice captures[NAMES_MAX]; /* their names */
    uint32_t capture_count;
    size_t symbol_count;
    struct chain **by_symbol; /* of the node that a pattern is about */
    struct chain **by_parent; /* where that may be any: of the node above */
    struct chain *loose;      /* where that may be any too */
    bool *has_field;          /* kinds above others whose field is asked for */
    bool *is_nested;          /* kinds whose children are in each other, though it is not shown */
    struct asked **asked;     /* for each pattern, by its place in the text */
    size_t asked_capacity;
    uint32_t *left; /* the patterns that are none of ours, by their place in the text */
    uint32_t left_count;
    size_t left_capacity;
};

/* Reading a query's text */

struct reader {
    struct vcm_patterns *patterns;
    struct vcm_slice rest;
    struct asked *asked; /* of the pattern */
    bool bad;            /* not simple, or no memory */
};

static void skip_space(struct reader *r)
{
    while (r->rest.len > 0 && (strchr(" \t\r\n", r->rest.data[0]) || r->rest.data[0] == ';')) {
        const char *end = r->rest.data[0] == ';' ? memchr(r->rest.data, '\n', r->rest.len) : NULL;
        size_t len = r->rest.data[0] != ';' ? 1 : end ? (size_t)(end - r->rest.data) : r->rest.len;
        r->rest = vcm_slice_of(r->rest.data + len, r->rest.len - len);
    }
}

static bool take_mark(struct reader *r, char mark)
{
    skip_space(r);
    if (r->rest.len == 0 || r->rest.data[0] != mark)
        return false;
    r->rest = vcm_slice_of(r->rest.data + 1, r->rest.len - 1);
    return true;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

static struct vcm_slice take_word(struct reader *r)
{
    size_t len = 0;

    skip_space(r);
    while (len < r->rest.len && is_word(r->rest.data[len]))
        len++;
    struct vcm_slice word = vcm_slice_of(r->rest.data, len);
    r->rest = vcm_slice_of(r->rest.data + len, r->rest.len - len);
    r->bad = r->bad || len == 0 || word.data[0] == '.';
    return word;
}

/* A name that stands alone, and is not about what is around it. */
static bool is_about(struct vcm_slice capture)
{
    static const char *const names[] = {"name",   "local", "import",  "access",    "ignore",
                                        "export", "outer", "private", "protected", "public",
                                        "region", "head",  "closed"};
    const char *dot = memchr(capture.data, '.', capture.len);

    capture.len = dot ? (size_t)(dot - capture.data) : capture.len;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (vcm_slice_equal(capture, vcm_slice_of_string(names[i])))
            return true;
    return false;
}

/* Its number, a new one for a new name. */
static uint32_t number_capture(struct reader *r, struct vcm_slice name)
{
    struct vcm_patterns *patterns = r->patterns;

    for (uint32_t i = 0; i < patterns->capture_count; i++)
        if (vcm_slice_equal(patterns->captures[i], name))
            return i;
    const char *copy = vcm_arena_copy(&patterns->arena, name);
    r->bad = r->bad || !copy || patterns->capture_count == NAMES_MAX;
    if (r->bad)
        return 0;
    patterns->captures[patterns->capture_count] = vcm_slice_of(copy, name.len);
    return patterns->capture_count++;
}

static void read_captures(struct reader *r, struct form *form)
{
    while (!r->bad && take_mark(r, '@')) {
        struct vcm_slice name = take_word(r);
        r->bad = r->bad || form->capture_count == CAPTURES_MAX;
        if (r->bad)
            return;
        form->captures[form->capture_count++] = number_capture(r, name);
        form->holds_name = form->holds_name || is_about(name);
    }
    skip_space(r);
    r->bad = r->bad || (r->rest.len > 0 && strchr("*+?", r->rest.data[0]));
}

static TSFieldId find_field(struct reader *r, struct vcm_slice name)
{
    TSFieldId id =
        ts_language_field_id_for_name(r->patterns->language, name.data, (uint32_t)name.len);

    r->bad = r->bad || id == 0;
    return id;
}

static void read_kind(struct reader *r, struct form *form)
{
    struct vcm_slice name = take_word(r);

    if (r->bad || vcm_slice_equal(name, vcm_slice_of("_", 1))) {
        form->symbol = ANY;
        return;
    }
    form->symbol =
        ts_language_symbol_for_name(r->patterns->language, name.data, (uint32_t)name.len, true);
    r->bad = form->symbol == 0 || form->symbol >= r->patterns->symbol_count ||
             ts_language_symbol_type(r->patterns->language, form->symbol) != TSSymbolTypeRegular;
}

static struct form *read_form(struct reader *r, unsigned depth);

/* The mark of a first child; others are not simple. */
static bool take_anchor(struct reader *r, const struct form *form)
{
    skip_space(r);
    if (r->rest.len < 2 || r->rest.data[0] != '.' || is_word(r->rest.data[1]))
        return false;
    r->bad = r->bad || form->children;
    return take_mark(r, '.');
}

/* "name: (identifier) @name", "!body", or a predicate, which is checked where matches arrive. */
static bool read_item(struct reader *r, struct form *form, struct form ***end, unsigned depth)
{
    TSFieldId field = 0;

    if (take_mark(r, ')'))
        return false;
    if (take_mark(r, '!')) {
        r->bad = r->bad || form->without_count == CAPTURES_MAX;
        if (!r->bad)
            form->without[form->without_count++] = find_field(r, take_word(r));
        return !r->bad;
    }
    bool first = take_anchor(r, form);
    skip_space(r);
    if (r->rest.len > 0 && is_word(r->rest.data[0])) {
        field = find_field(r, take_word(r));
        r->bad = r->bad || !take_mark(r, ':');
    }
    struct form *child = r->bad ? NULL : read_form(r, depth + 1);
    if (child) {
        child->field = field;
        child->first = first;
        form->holds_name = form->holds_name || child->holds_name;
        **end = child;
        *end = &child->next;
    }
    return !r->bad;
}

static void read_alternatives(struct reader *r, struct form *form, unsigned depth)
{
    struct form **end = &form->children;

    form->alternatives = true;
    while (!r->bad && !take_mark(r, ']')) {
        struct form *child = read_form(r, depth + 1);
        if (child) {
            form->holds_name = form->holds_name || child->holds_name;
            *end = child;
            end = &child->next;
        }
    }
}

/* Children that could be told apart by their order alone; one without a field is simple. */
static bool order_matters(const struct form *form)
{
    for (const struct form *child = form->children; child; child = child->next)
        for (const struct form *other = child->next; other; other = other->next)
            if (child->field == 0 || other->field == 0 || child->field == other->field)
                return true;
    return false;
}

static struct form *read_form(struct reader *r, unsigned depth)
{
    struct form *form = vcm_arena_alloc(&r->patterns->arena, sizeof *form);

    r->bad = r->bad || !form || depth >= CHAIN_MAX;
    if (r->bad)
        return NULL;
    *form = (struct form){.symbol = ANY};
    if (take_mark(r, '[')) {
        read_alternatives(r, form, depth);
    } else if (take_mark(r, '(')) {
        struct form **end = &form->children;
        read_kind(r, form);
        while (!r->bad && read_item(r, form, &end, depth))
            continue;
        r->bad = r->bad || order_matters(form);
    } else {
        r->bad = true;
    }
    if (!r->bad)
        read_captures(r, form);
    return form;
}

static struct vcm_slice take_string(struct reader *r)
{
    const char *end = r->rest.len > 0 ? memchr(r->rest.data, '"', r->rest.len) : NULL;
    size_t len = end ? (size_t)(end - r->rest.data) : 0;
    const char *copy = vcm_arena_copy(&r->patterns->arena, vcm_slice_of(r->rest.data, len));

    r->bad = r->bad || !end || !copy || memchr(r->rest.data, '\\', len);
    if (r->bad)
        return vcm_slice_of("", 0);
    r->rest = vcm_slice_of(end + 1, r->rest.len - len - 1);
    return vcm_slice_of(copy, len);
}

/* "#any-of? @verb "require" "load")"; what is known of others is for the rest to say. */
static void read_predicate(struct reader *r)
{
    struct asked *asked = vcm_arena_alloc(&r->patterns->arena, sizeof *asked);

    r->bad = r->bad || !asked || !take_mark(r, '#');
    if (r->bad)
        return;
    *asked = (struct asked){.next = r->asked};
    struct vcm_slice name = take_word(r);
    asked->negated = vcm_slice_equal(name, vcm_slice_of("not-any-of", 10));
    r->bad = r->bad || (!asked->negated && !vcm_slice_equal(name, vcm_slice_of("any-of", 6))) ||
             !take_mark(r, '?') || !take_mark(r, '@');
    if (!r->bad)
        asked->capture = number_capture(r, take_word(r));
    while (!r->bad && take_mark(r, '"')) {
        r->bad = asked->count == WORDS_MAX;
        if (!r->bad)
            asked->words[asked->count++] = take_string(r);
    }
    r->bad = r->bad || !take_mark(r, ')');
    r->asked = asked;
}

/* "((identifier) @name)": a group of one is that one. */
static struct form *read_pattern(struct reader *r)
{
    struct reader inner = *r;

    bool group = take_mark(&inner, '(') && (skip_space(&inner), inner.rest.len > 0) &&
                 (inner.rest.data[0] == '(' || inner.rest.data[0] == '[');
    if (group)
        r->rest = inner.rest;
    struct form *form = read_form(r, 0);
    while (group && !r->bad && take_mark(r, '('))
        read_predicate(r);
    if (group)
        r->bad = r->bad || !take_mark(r, ')');
    skip_space(r);
    r->bad = r->bad || r->rest.len > 0;
    return form;
}

/* How long a string is, with its quotes; or one bracket, comment or anything else. */
static size_t length_of_piece(struct vcm_slice text)
{
    size_t len = 1;

    if (text.data[0] == '"') {
        while (len < text.len && text.data[len] != '"')
            len += text.data[len] == '\\' ? 2 : 1;
        return len < text.len ? len + 1 : text.len;
    }
    while (text.data[0] == ';' && len < text.len && text.data[len] != '\n')
        len++;
    return len;
}

/* The next pattern of a text: all up to the bracket with which another begins. */
static struct vcm_slice next_pattern(struct vcm_slice *rest)
{
    struct reader r = {.rest = *rest};
    size_t len = 0, depth = 0, closed = 0;

    skip_space(&r);
    *rest = r.rest;
    while (len < rest->len) {
        char c = rest->data[len];
        if ((c == '(' || c == '[') && depth++ == 0 && closed > 0)
            break;
        if ((c == ')' || c == ']') && depth > 0 && --depth == 0)
            closed++;
        len += length_of_piece(vcm_slice_of(rest->data + len, rest->len - len));
    }
    struct vcm_slice pattern = vcm_slice_of(rest->data, len);
    *rest = vcm_slice_of(rest->data + len, rest->len - len);
    return pattern;
}

/* Putting patterns where they are looked up */

struct linking {
    struct vcm_patterns *patterns;
    struct chain chain;
    bool trial; /* only whether it can be done: a pattern is here as a whole or not at all */
    bool bad;
};

static void put_chain(struct linking *linking)
{
    struct vcm_patterns *patterns = linking->patterns;

    /* A field is read when its node is entered, which is known by the kinds that it may have. */
    for (unsigned i = 0; i + 1 < linking->chain.count; i++)
        linking->bad = linking->bad ||
                       (linking->chain.fields[i] != 0 && linking->chain.forms[i]->symbol == ANY);
    struct chain *chain =
        linking->bad || linking->trial ? NULL : vcm_arena_alloc(&patterns->arena, sizeof *chain);
    if (!chain) {
        linking->bad = linking->bad || !linking->trial;
        return;
    }
    *chain = linking->chain;
    for (unsigned i = 0; i < chain->count / 2; i++) { /* the root came first */
        unsigned other = chain->count - 1 - i;
        const struct form *form = chain->forms[i];
        TSFieldId field = chain->fields[i];
        bool first = chain->firsts[i];
        chain->forms[i] = chain->forms[other];
        chain->fields[i] = chain->fields[other];
        chain->firsts[i] = chain->firsts[other];
        chain->forms[other] = form;
        chain->fields[other] = field;
        chain->firsts[other] = first;
    }
    struct chain **list = &patterns->loose;
    if (chain->forms[0]->symbol != ANY)
        list = &patterns->by_symbol[chain->forms[0]->symbol];
    else if (chain->count > 1 && chain->forms[1]->symbol != ANY)
        list = &patterns->by_parent[chain->forms[1]->symbol];
    for (unsigned i = 1; i < chain->count; i++)
        if (chain->fields[i] != 0)
            patterns->has_field[chain->forms[i]->symbol] = true;
    chain->next = *list;
    *list = chain;
}

/* Follows the children in which the name is; alternatives make a chain each. */
static void link_form(struct linking *linking, const struct form *form, TSFieldId field, bool first)
{
    const struct form *below = NULL;
    struct chain *chain = &linking->chain;

    if (form->alternatives) {
        linking->bad = linking->bad || form->capture_count > 0;
        for (const struct form *child = form->children; child && !linking->bad; child = child->next)
            link_form(linking, child, field, first);
        return;
    }
    linking->bad = linking->bad || chain->count == CHAIN_MAX || !form->holds_name;
    if (linking->bad)
        return;
    chain->forms[chain->count] = form;
    chain->firsts[chain->count] = first;
    chain->fields[chain->count++] = field;
    for (const struct form *child = form->children; child; child = child->next) {
        linking->bad = linking->bad || (child->holds_name && below);
        below = child->holds_name ? child : below;
    }
    if (below)
        link_form(linking, below, below->field, below->first);
    else
        put_chain(linking);
    chain->count--;
}

static bool take_pattern(struct vcm_patterns *patterns, uint32_t index, struct vcm_slice text)
{
    struct reader r = {.patterns = patterns, .rest = text};
    const struct form *form = read_pattern(&r);

    if (r.bad || !form || !form->holds_name)
        return false;
    struct linking linking = {.patterns = patterns, .chain = {.pattern = index}, .trial = true};
    link_form(&linking, form, 0, false);
    linking.trial = false;
    if (!linking.bad)
        link_form(&linking, form, 0, false);
    patterns->asked[index] = r.asked;
    return !linking.bad;
}

static int take_all(struct vcm_patterns *patterns, struct vcm_slice text, struct vcm_buf *rest,
                    struct vcm_error *err)
{
    uint32_t index = 0;

    for (struct vcm_slice pattern; (pattern = next_pattern(&text)).len > 0; index++) {
        int rc = vcm_array_room(&patterns->asked, &patterns->asked_capacity, index + 1,
                                sizeof(struct asked *), VCM_LIMIT_LIST_ENTRIES, err);
        if (rc != VCM_OK)
            return rc;
        patterns->asked[index] = NULL;
        if (take_pattern(patterns, index, pattern))
            continue;
        rc = vcm_array_reserve(&patterns->left, &patterns->left_capacity, patterns->left_count + 1,
                               VCM_LIMIT_LIST_ENTRIES, err);
        if (rc != VCM_OK)
            return rc;
        patterns->left[patterns->left_count++] = index;
        vcm_buf_append_slice(rest, pattern);
        vcm_buf_append_byte(rest, '\n');
    }
    return vcm_buf_check(rest, "a query", err);
}

/* A child of these costs as much as there are children before it, whoever asks for it. */
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
    patterns->by_symbol = calloc(count + 1, sizeof(struct chain *));
    patterns->by_parent = calloc(count + 1, sizeof(struct chain *));
    patterns->has_field = calloc(count + 1, sizeof *patterns->has_field);
    patterns->is_nested = calloc(count + 1, sizeof *patterns->is_nested);
    if (!patterns->by_symbol || !patterns->by_parent || !patterns->has_field ||
        !patterns->is_nested)
        rc = vcm_error_memory(err);
    else
        mark_nested(patterns, nested);
    if (rc == VCM_OK)
        rc = take_all(patterns, text, rest, err);
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

static bool is_among(const struct asked *asked, struct vcm_slice word)
{
    for (size_t i = 0; i < asked->count; i++)
        if (vcm_slice_equal(asked->words[i], word))
            return true;
    return false;
}

bool vcm_patterns_words_fit(const struct vcm_patterns *patterns, const TSQueryMatch *match,
                            struct vcm_slice text)
{
    for (const struct asked *asked = patterns->asked[match->pattern_index]; asked;
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

struct search {
    const struct vcm_patterns *patterns;
    TSTreeCursor cursor;
    struct level *levels; /* from the root to the node at hand */
    size_t depth, capacity;
    TSQueryCapture captures[MATCH_MAX];
    unsigned capture_count;
    uint64_t steps, steps_max;
    vcm_patterns_fn visit;
    void *context;
    bool stopped;
};

static void take_captures(struct search *search, const struct form *form, TSNode node)
{
    for (unsigned i = 0; i < form->capture_count && search->capture_count < MATCH_MAX; i++)
        search->captures[search->capture_count++] = (TSQueryCapture){node, form->captures[i]};
}

static bool kind_fits(const struct form *form, TSNode node)
{
    return form->symbol == ANY ? ts_node_is_named(node) : ts_node_symbol(node) == form->symbol;
}

static bool has_none_of(const struct form *form, TSNode node)
{
    for (unsigned i = 0; i < form->without_count; i++)
        if (!ts_node_is_null(ts_node_child_by_field_id(node, form->without[i])))
            return false;
    return true;
}

static bool form_fits(struct search *search, const struct form *form, TSNode node);

/* Whether a child of the node fits; the first one's captures are taken. Goes as deep as the
 * pattern. */
static bool has_child(struct search *search, const struct form *form, TSNode node)
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

static bool form_fits(struct search *search, const struct form *form, TSNode node)
{
    unsigned before = search->capture_count;
    bool fits = false;

    if (form->alternatives) {
        for (const struct form *child = form->children; child && !fits; child = child->next)
            fits = form_fits(search, child, node);
    } else {
        fits = kind_fits(form, node) && has_none_of(form, node);
        for (const struct form *child = form->children; child && fits; child = child->next)
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

static bool is_on_path(const struct chain *chain, unsigned at, const struct form *child)
{
    if (at == 0)
        return false;
    if (child == chain->forms[at - 1])
        return true;
    for (const struct form *one = child->alternatives ? child->children : NULL; one;
         one = one->next)
        if (one == chain->forms[at - 1] || (one->alternatives && one->holds_name))
            return true;
    return false;
}

static bool chain_fits(struct search *search, const struct chain *chain)
{
    struct level *levels = &search->levels[search->depth - 1];

    if (search->depth < chain->count)
        return false;
    for (unsigned i = 0; i < chain->count; i++) {
        const struct form *form = chain->forms[i];
        const struct level *level = levels - i;
        if ((form->symbol == ANY ? !level->named : level->symbol != form->symbol) ||
            (chain->firsts[i] && !level->first))
            return false;
    }
    for (unsigned i = 0; i < chain->count; i++)
        if (chain->fields[i] != 0 && field_of(search, levels - i) != chain->fields[i])
            return false;
    search->capture_count = 0;
    for (unsigned i = 0; i < chain->count; i++) {
        const struct form *form = chain->forms[i];
        TSNode node = (levels - i)->node;
        if (!has_none_of(form, node))
            return false;
        for (const struct form *child = form->children; child; child = child->next)
            if (!is_on_path(chain, i, child) && !has_child(search, child, node))
                return false;
        take_captures(search, form, node);
    }
    return true;
}

static void try_chains(struct search *search, const struct chain *chain)
{
    for (; chain && !search->stopped; chain = chain->next) {
        if (!chain_fits(search, chain))
            continue;
        const TSQueryMatch match = {.pattern_index = (uint16_t)chain->pattern,
                                    .capture_count = (uint16_t)search->capture_count,
                                    .captures = search->captures};
        search->stopped = !search->visit(search->context, &match);
    }
}

static void enter(struct search *search)
{
    const struct vcm_patterns *patterns = search->patterns;

    if (search->depth == search->capacity) {
        size_t capacity = search->capacity ? 2 * search->capacity : 64;
        search->levels =
            vcm_parse_memory_realloc(search->levels, capacity * sizeof *search->levels);
        search->capacity = capacity;
    }
    struct level *level = &search->levels[search->depth++];
    level->node = ts_tree_cursor_current_node(&search->cursor);
    level->symbol = ts_node_symbol(level->node);
    level->named = ts_node_is_named(level->node);
    level->field = NOT_READ;
    level->children = level->named_children = 0;
    level->first = level->named && search->depth > 1 && ++level[-1].named_children == 1;
    /* Later the cursor is further down. */
    bool known = level->symbol < patterns->symbol_count;
    if (search->depth > 1 && level[-1].symbol < patterns->symbol_count &&
        patterns->is_nested[level[-1].symbol])
        search->steps += ++level[-1].children;
    if (search->depth > DEPTH_MAX)
        search->steps = search->steps_max + 1;
    search->stopped = search->stopped || search->steps > search->steps_max;
    if (known && patterns->has_field[level->symbol])
        level->field = ts_tree_cursor_current_field_id(&search->cursor);
}

static void look_at(struct search *search)
{
    const struct vcm_patterns *patterns = search->patterns;
    const struct level *level = &search->levels[search->depth - 1];

    if (!level->named)
        return;
    if (level->symbol < patterns->symbol_count)
        try_chains(search, patterns->by_symbol[level->symbol]);
    if (search->depth > 1 && level[-1].symbol < patterns->symbol_count)
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
        while (search.depth > 0) {
            search.depth--;
            if (ts_tree_cursor_goto_next_sibling(&search.cursor))
                break;
            more = ts_tree_cursor_goto_parent(&search.cursor);
        }
    }
    ts_tree_cursor_delete(&search.cursor);
    vcm_parse_memory_free(search.levels);
    return search.steps <= steps_max;
}
