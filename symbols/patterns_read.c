#include "symbols/patterns_read.h"

#include "base/array.h"
#include "base/limits.h"

#include "base/banned.h"

struct reader {
    struct vcm_patterns *patterns;
    struct vcm_slice rest;
    struct vcm_patterns_asked *asked; /* of the pattern */
    bool bad;                         /* not simple, or no memory */
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

/* Whether a capture by this name is what a match is about, and not something around it. */
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

/* The number of a capture; a new name gets the next one. */
static uint32_t number_capture(struct reader *r, struct vcm_slice name)
{
    struct vcm_patterns *patterns = r->patterns;

    for (uint32_t i = 0; i < patterns->capture_count; i++)
        if (vcm_slice_equal(patterns->captures[i], name))
            return i;
    const char *copy = vcm_arena_copy(&patterns->arena, name);
    r->bad = r->bad || !copy || patterns->capture_count == VCM_PATTERNS_NAMES_MAX;
    if (r->bad)
        return 0;
    patterns->captures[patterns->capture_count] = vcm_slice_of(copy, name.len);
    return patterns->capture_count++;
}

static void read_captures(struct reader *r, struct vcm_patterns_form *form)
{
    while (!r->bad && take_mark(r, '@')) {
        struct vcm_slice name = take_word(r);
        r->bad = r->bad || form->capture_count == VCM_PATTERNS_CAPTURES_MAX;
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

static void read_kind(struct reader *r, struct vcm_patterns_form *form)
{
    struct vcm_slice name = take_word(r);

    if (r->bad || vcm_slice_equal(name, vcm_slice_of("_", 1))) {
        form->symbol = VCM_PATTERNS_ANY;
        return;
    }
    form->symbol =
        ts_language_symbol_for_name(r->patterns->language, name.data, (uint32_t)name.len, true);
    r->bad = form->symbol == 0 || form->symbol >= r->patterns->symbol_count ||
             ts_language_symbol_type(r->patterns->language, form->symbol) != TSSymbolTypeRegular;
}

static struct vcm_patterns_form *read_form(struct reader *r, unsigned depth);

/* The mark of a first child; others are not simple. */
static bool take_anchor(struct reader *r, const struct vcm_patterns_form *form)
{
    skip_space(r);
    if (r->rest.len < 2 || r->rest.data[0] != '.' || is_word(r->rest.data[1]))
        return false;
    r->bad = r->bad || form->children;
    return take_mark(r, '.');
}

/* "name: (identifier) @name", "!body", or a predicate, which is checked where matches arrive. */
static bool read_item(struct reader *r, struct vcm_patterns_form *form,
                      struct vcm_patterns_form ***end, unsigned depth)
{
    TSFieldId field = 0;

    if (take_mark(r, ')'))
        return false;
    if (take_mark(r, '!')) {
        r->bad = r->bad || form->without_count == VCM_PATTERNS_CAPTURES_MAX;
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
    struct vcm_patterns_form *child = r->bad ? NULL : read_form(r, depth + 1);
    if (child) {
        child->field = field;
        child->first = first;
        form->holds_name = form->holds_name || child->holds_name;
        **end = child;
        *end = &child->next;
    }
    return !r->bad;
}

static void read_alternatives(struct reader *r, struct vcm_patterns_form *form, unsigned depth)
{
    struct vcm_patterns_form **end = &form->children;

    form->alternatives = true;
    while (!r->bad && !take_mark(r, ']')) {
        struct vcm_patterns_form *child = read_form(r, depth + 1);
        if (child) {
            form->holds_name = form->holds_name || child->holds_name;
            *end = child;
            end = &child->next;
        }
    }
}

/* Children that differ only by their order are not simple; one without a field is. */
static bool order_matters(const struct vcm_patterns_form *form)
{
    for (const struct vcm_patterns_form *child = form->children; child; child = child->next)
        for (const struct vcm_patterns_form *other = child->next; other; other = other->next)
            if (child->field == 0 || other->field == 0 || child->field == other->field)
                return true;
    return false;
}

static struct vcm_patterns_form *read_form(struct reader *r, unsigned depth)
{
    struct vcm_patterns_form *form = vcm_arena_alloc(&r->patterns->arena, sizeof *form);

    r->bad = r->bad || !form || depth >= VCM_PATTERNS_CHAIN_MAX;
    if (r->bad)
        return NULL;
    *form = (struct vcm_patterns_form){.symbol = VCM_PATTERNS_ANY};
    if (take_mark(r, '[')) {
        read_alternatives(r, form, depth);
    } else if (take_mark(r, '(')) {
        struct vcm_patterns_form **end = &form->children;
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

/* "#any-of? @verb "require" "load")"; a pattern with another predicate is left
 * to tree-sitter. */
static void read_predicate(struct reader *r)
{
    struct vcm_patterns_asked *asked = vcm_arena_alloc(&r->patterns->arena, sizeof *asked);

    r->bad = r->bad || !asked || !take_mark(r, '#');
    if (r->bad)
        return;
    *asked = (struct vcm_patterns_asked){.next = r->asked};
    struct vcm_slice name = take_word(r);
    asked->negated = vcm_slice_equal(name, vcm_slice_of("not-any-of", 10));
    r->bad = r->bad || (!asked->negated && !vcm_slice_equal(name, vcm_slice_of("any-of", 6))) ||
             !take_mark(r, '?') || !take_mark(r, '@');
    if (!r->bad)
        asked->capture = number_capture(r, take_word(r));
    while (!r->bad && take_mark(r, '"')) {
        r->bad = asked->count == VCM_PATTERNS_WORDS_MAX;
        if (!r->bad)
            asked->words[asked->count++] = take_string(r);
    }
    r->bad = r->bad || !take_mark(r, ')');
    r->asked = asked;
}

/* "((identifier) @name)": a group of one is that one. */
static struct vcm_patterns_form *read_pattern(struct reader *r)
{
    struct reader inner = *r;

    bool group = take_mark(&inner, '(') && (skip_space(&inner), inner.rest.len > 0) &&
                 (inner.rest.data[0] == '(' || inner.rest.data[0] == '[');
    if (group)
        r->rest = inner.rest;
    struct vcm_patterns_form *form = read_form(r, 0);
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

/* Inserting patterns into the lookup tables */

struct linking {
    struct vcm_patterns *patterns;
    struct vcm_patterns_chain chain;
    bool trial; /* only a test: a pattern is inserted completely or not at all */
    bool bad;
};

static void put_chain(struct linking *linking)
{
    struct vcm_patterns *patterns = linking->patterns;

    /* A field is read when its node is entered, which is known by the kinds that it may have. */
    for (unsigned i = 0; i + 1 < linking->chain.count; i++)
        linking->bad = linking->bad || (linking->chain.fields[i] != 0 &&
                                        linking->chain.forms[i]->symbol == VCM_PATTERNS_ANY);
    struct vcm_patterns_chain *chain =
        linking->bad || linking->trial ? NULL : vcm_arena_alloc(&patterns->arena, sizeof *chain);
    if (!chain) {
        linking->bad = linking->bad || !linking->trial;
        return;
    }
    *chain = linking->chain;
    for (unsigned i = 0; i < chain->count / 2; i++) { /* the root came first */
        unsigned other = chain->count - 1 - i;
        const struct vcm_patterns_form *form = chain->forms[i];
        TSFieldId field = chain->fields[i];
        bool first = chain->firsts[i];
        chain->forms[i] = chain->forms[other];
        chain->fields[i] = chain->fields[other];
        chain->firsts[i] = chain->firsts[other];
        chain->forms[other] = form;
        chain->fields[other] = field;
        chain->firsts[other] = first;
    }
    struct vcm_patterns_chain **list = &patterns->loose;
    if (chain->forms[0]->symbol != VCM_PATTERNS_ANY)
        list = &patterns->by_symbol[chain->forms[0]->symbol];
    else if (chain->count > 1 && chain->forms[1]->symbol != VCM_PATTERNS_ANY)
        list = &patterns->by_parent[chain->forms[1]->symbol];
    for (unsigned i = 1; i < chain->count; i++)
        if (chain->fields[i] != 0)
            patterns->has_field[chain->forms[i]->symbol] = true;
    chain->next = *list;
    *list = chain;
}

/* Follows the children in which the name is; alternatives make a chain each. */
static void link_form(struct linking *linking, const struct vcm_patterns_form *form,
                      TSFieldId field, bool first)
{
    const struct vcm_patterns_form *below = NULL;
    struct vcm_patterns_chain *chain = &linking->chain;

    if (form->alternatives) {
        linking->bad = linking->bad || form->capture_count > 0;
        for (const struct vcm_patterns_form *child = form->children; child && !linking->bad;
             child = child->next)
            link_form(linking, child, field, first);
        return;
    }
    linking->bad = linking->bad || chain->count == VCM_PATTERNS_CHAIN_MAX || !form->holds_name;
    if (linking->bad)
        return;
    chain->forms[chain->count] = form;
    chain->firsts[chain->count] = first;
    chain->fields[chain->count++] = field;
    for (const struct vcm_patterns_form *child = form->children; child; child = child->next) {
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
    const struct vcm_patterns_form *form = read_pattern(&r);

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

int vcm_patterns_read_all(struct vcm_patterns *patterns, struct vcm_slice text,
                          struct vcm_buf *rest, struct vcm_error *err)
{
    uint32_t index = 0;

    for (struct vcm_slice pattern; (pattern = next_pattern(&text)).len > 0; index++) {
        int rc = vcm_array_room(&patterns->asked, &patterns->asked_capacity, index + 1,
                                sizeof(struct vcm_patterns_asked *), VCM_LIMIT_LIST_ENTRIES, err);
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
