#include "symbols/extract.h"

#include <pthread.h>
#include <stdlib.h>
#include <tree_sitter/api.h>

#include "base/limits.h"
#include "symbols/ctags.h"
#include "symbols/describe.h"
#include "symbols/grammar.h"
#include "symbols/parse_memory.h"
#include "symbols/qualifier.h"
#include "symbols/tree_query.h"

#include "base/banned.h"

#define MATCHES_MAX   1024u /* that are open at one time */
#define CHUNK_BYTES   256u  /* so that it can be told how often a scanner looks ahead */
#define NAME_TOO_LONG VCM_LIMIT_SYMBOL_NAME_BYTES
#define IDLE_MAX      ((size_t)VCM_LIMIT_WORKERS)
#define SIDE_STEPS    (100 * (uint64_t)VCM_LIMIT_SYMBOLS_STEPS)

struct vcm_extractor {
    pthread_mutex_t lock;
    struct vcm_tree_query queries[VCM_LANGUAGE_COUNT];
    struct vcm_parse_memory *idle[IDLE_MAX]; /* of files that are done */
    size_t idle_count;
    struct vcm_ctags *ctags;
};

/* Something found in the text, before it is put in order. */
struct found {
    uint32_t start, end, body; /* of the definition or scope */
    uint32_t name, name_end;
    uint32_t holder, holder_end; /* container as written, or both 0 */
    uint32_t line, end_line;
    uint32_t pattern;
    enum vcm_tree_query_role role;
    unsigned detail;
};

struct list {
    struct found *items;
    size_t count, capacity;
};

struct run {
    struct vcm_symbols *out;
    const struct vcm_tree_query *query;
    enum vcm_language language;
    struct vcm_slice text;
    struct list blocks; /* definitions, scopes, access words */
    struct list uses;   /* references, imports, local names */
    uint32_t steps;
    uint64_t read_bytes;
    bool too_costly, too_many, no_memory, wrong_age;
};

static int find_query(const struct vcm_tree_query **out, struct vcm_extractor *extractor,
                      enum vcm_language language, struct vcm_error *err)
{
    struct vcm_tree_query *query = &extractor->queries[language];
    int rc = VCM_OK;

    pthread_mutex_lock(&extractor->lock);
    if (!query->patterns)
        rc = vcm_tree_query_compile(query, language, err);
    pthread_mutex_unlock(&extractor->lock);
    *out = query;
    return rc;
}

int vcm_extractor_open(struct vcm_extractor **out, struct vcm_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return vcm_error_memory(err);
    pthread_mutex_init(&(*out)->lock, NULL);
    int rc = vcm_ctags_open(&(*out)->ctags, err);
    if (rc != VCM_OK) {
        vcm_extractor_close(*out);
        *out = NULL;
    }
    return rc;
}

void vcm_extractor_close(struct vcm_extractor *extractor)
{
    if (!extractor)
        return;
    for (unsigned i = 0; i < VCM_LANGUAGE_COUNT; i++)
        vcm_tree_query_release(&extractor->queries[i]);
    while (extractor->idle_count > 0)
        vcm_parse_memory_close(extractor->idle[--extractor->idle_count]);
    vcm_ctags_close(extractor->ctags);
    pthread_mutex_destroy(&extractor->lock);
    free(extractor);
}

static const char *read_text(void *payload, uint32_t at, TSPoint point, uint32_t *len)
{
    struct run *run = payload;
    size_t left = at < run->text.len ? run->text.len - at : 0;

    (void)point;
    *len = (uint32_t)(left < CHUNK_BYTES ? left : CHUNK_BYTES);
    run->read_bytes += *len;
    return *len > 0 ? run->text.data + at : "";
}

/* In text full of errors one step may copy all that was read so far, and a scanner may look ahead
 * to the end for each token. Counted, not timed: equal bytes give equal symbols on any machine. */
static bool stop_parsing(TSParseState *state)
{
    struct run *run = state->payload;

    uint64_t size = run->text.len;
    run->too_costly =
        run->too_costly || ++run->steps > VCM_LIMIT_SYMBOLS_STEPS ||
        run->read_bytes > VCM_LIMIT_SYMBOLS_READ_BYTES + VCM_LIMIT_SYMBOLS_READ_TIMES * size ||
        vcm_parse_memory_asked() >
            VCM_LIMIT_SYMBOLS_ASKED_BYTES + VCM_LIMIT_SYMBOLS_ASKED_TIMES * size;
    return run->too_costly;
}

static bool stop_searching(TSQueryCursorState *state)
{
    struct run *run = state->payload;

    run->too_costly = run->too_costly || ++run->steps > 2 * VCM_LIMIT_SYMBOLS_STEPS;
    return run->too_costly;
}

static void add(struct run *run, struct list *list, const struct found *found)
{
    if (list->count >= 2 * VCM_LIMIT_SYMBOLS_COUNT) {
        run->too_many = true;
        return;
    }
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 256;
        struct found *items = realloc(list->items, capacity * sizeof *items);
        run->no_memory = run->no_memory || !items;
        if (!items)
            return;
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = *found;
}

static struct vcm_slice slice(const struct run *run, uint32_t start, uint32_t end)
{
    return vcm_slice_of(run->text.data + start, end - start);
}

static void set_block(struct found *found, TSNode node)
{
    TSNode body = ts_node_child_by_field_name(node, "body", 4);

    found->start = ts_node_start_byte(node);
    found->end = ts_node_end_byte(node);
    if (ts_node_is_null(body) &&
        !ts_node_is_null(ts_node_child_by_field_name(node, "parameters", 10)))
        body = ts_node_child_by_field_name(node, "value", 5); /* of a macro with parameters */
    found->body = ts_node_is_null(body) ? found->end : ts_node_start_byte(body);
    found->line = ts_node_start_point(node).row + 1;
    found->end_line = ts_node_end_point(node).row + 1;
    /* A node that takes the line's end in ends in the line before. */
    if (ts_node_end_point(node).column == 0 && found->end_line > found->line)
        found->end_line--;
}

static void take_match(struct run *run, const TSQueryMatch *match, uint32_t pattern,
                       const struct vcm_tree_query_capture *captures)
{
    struct found found = {.pattern = pattern};
    TSNode name = {.id = NULL}, body = {.id = NULL};

    for (uint16_t i = 0; i < match->capture_count; i++) {
        const struct vcm_tree_query_capture *capture = &captures[match->captures[i].index];
        TSNode node = match->captures[i].node;
        switch (capture->role) {
        case VCM_ROLE_NAME:
            name = node;
            break;
        case VCM_ROLE_NONE:
        case VCM_ROLE_VERB:
            break;
        case VCM_ROLE_BODY:
            body = node;
            break;
        case VCM_ROLE_CONTAINER:
            found.holder = ts_node_start_byte(node);
            found.holder_end = ts_node_end_byte(node);
            break;
        case VCM_ROLE_DEFINE:
        case VCM_ROLE_SCOPE:
        case VCM_ROLE_REFER:
            found.role = capture->role;
            found.detail = capture->detail;
            if (capture->role != VCM_ROLE_REFER)
                set_block(&found, node);
            break;
        default:
            found.role = capture->role;
            name = node;
        }
    }
    if (!name.id || found.role == VCM_ROLE_NONE)
        return;
    found.name = ts_node_start_byte(name);
    found.name_end = ts_node_end_byte(name);
    found.name += run->text.data[found.name] == ':'; /* an atom's mark */
    bool block = found.role == VCM_ROLE_DEFINE || found.role == VCM_ROLE_SCOPE;
    if (block && body.id)
        found.body = ts_node_start_byte(body);
    if (!block) {
        found.start = found.end = found.name;
        found.line = ts_node_start_point(name).row + 1;
    }
    if (found.name == found.name_end || found.name_end - found.name > NAME_TOO_LONG ||
        (run->text.data[found.name] >= '0' && run->text.data[found.name] <= '9'))
        return; /* "$1" is no name of anything */
    add(run, block || found.role == VCM_ROLE_ACCESS ? &run->blocks : &run->uses, &found);
}

static bool visit_match(void *context, const TSQueryMatch *match)
{
    struct run *run = context;

    take_match(run, match, match->pattern_index, run->query->captures);
    return !run->too_many && !run->no_memory;
}

/* What the query still has to find. */
static void search_rest(struct run *run, TSNode root)
{
    const TSQueryCursorOptions options = {.payload = run, .progress_callback = stop_searching};
    const struct vcm_tree_query *query = run->query;
    TSQueryCursor *cursor = ts_query_cursor_new();
    TSQueryMatch match;

    ts_query_cursor_set_match_limit(cursor, MATCHES_MAX);
    ts_query_cursor_exec_with_options(cursor, query->rest, root, &options);
    while (!run->too_many && !run->no_memory && ts_query_cursor_next_match(cursor, &match))
        if (vcm_tree_query_words_fit(query, &match, run->text))
            take_match(run, &match, vcm_patterns_place(query->patterns, match.pattern_index),
                       query->rest_captures);
}

/* Nothing is deleted: its memory goes as a whole. */
static void parse(void *context)
{
    struct run *run = context;
    const TSInput input = {.payload = run, .read = read_text, .encoding = TSInputEncodingUTF8};
    const TSParseOptions options = {.payload = run, .progress_callback = stop_parsing};
    TSParser *parser = ts_parser_new();

    run->wrong_age = !ts_parser_set_language(parser, vcm_grammar_of(run->language));
    if (run->wrong_age)
        return;
    const TSTree *tree = ts_parser_parse_with_options(parser, NULL, input, options);
    if (!tree)
        return;
    if (!vcm_patterns_search(run->query->patterns, ts_tree_root_node(tree), SIDE_STEPS, visit_match,
                             run))
        run->too_costly = true;
    if (run->query->rest)
        search_rest(run, ts_tree_root_node(tree));
}

static struct vcm_parse_memory *borrow_memory(struct vcm_extractor *extractor)
{
    struct vcm_parse_memory *memory = NULL;

    pthread_mutex_lock(&extractor->lock);
    if (extractor->idle_count > 0)
        memory = extractor->idle[--extractor->idle_count];
    pthread_mutex_unlock(&extractor->lock);
    return memory ? memory : vcm_parse_memory_open(VCM_LIMIT_SYMBOLS_PARSE_BYTES);
}

static void give_memory_back(struct vcm_extractor *extractor, struct vcm_parse_memory *memory)
{
    vcm_parse_memory_reset(memory);
    pthread_mutex_lock(&extractor->lock);
    bool kept = extractor->idle_count < IDLE_MAX;
    if (kept)
        extractor->idle[extractor->idle_count++] = memory;
    pthread_mutex_unlock(&extractor->lock);
    if (!kept)
        vcm_parse_memory_close(memory);
}

static int read_tree(struct run *run, struct vcm_extractor *extractor, struct vcm_error *err)
{
    struct vcm_parse_memory *memory = borrow_memory(extractor);

    if (!memory)
        return vcm_error_memory(err);
    enum vcm_parse_outcome outcome = vcm_parse_memory_run(memory, parse, run);
    give_memory_back(extractor, memory);
    if (outcome == VCM_PARSE_NO_MEMORY || run->no_memory)
        return vcm_error_memory(err);
    run->too_costly = run->too_costly || outcome == VCM_PARSE_TOO_LARGE;
    return run->wrong_age ? vcm_error_set(err, VCM_INTERNAL, "the grammar of %s is of another age",
                                          vcm_language_name(run->language))
                          : VCM_OK;
}

/* Outer before inner; of several for one name the first pattern of the query. */
static int by_place(const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return (x->pattern > y->pattern) - (x->pattern < y->pattern);
}

static int by_name(const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if ((x->role == VCM_ROLE_LOCAL) != (y->role == VCM_ROLE_LOCAL))
        return x->role == VCM_ROLE_LOCAL ? -1 : 1;
    return (x->pattern > y->pattern) - (x->pattern < y->pattern);
}

/* Of several definitions by one name, the first pattern's. */
static void drop_repeated_names(struct list *list)
{
    size_t kept = 0;

    if (list->count > 0)
        qsort(list->items, list->count, sizeof *list->items, by_name);
    for (size_t i = 0; i < list->count; i++)
        if (kept == 0 || list->items[kept - 1].name != list->items[i].name)
            list->items[kept++] = list->items[i];
    list->count = kept;
    if (list->count > 0)
        qsort(list->items, list->count, sizeof *list->items, by_place);
}

/* The blocks around a place, innermost last. */
struct level {
    const struct found *block;
    uint32_t index; /* 1 + of the definition; 0 of a scope, or of one that was left out */
    enum vcm_symbol_kind kind;
    size_t path;                           /* length of the container's name up to here */
    enum vcm_symbol_visibility visibility; /* of what follows, once a word said so */
    bool has_visibility;
};

struct nest {
    struct run *run;
    struct level *levels;
    size_t depth, capacity;
    struct vcm_buf path;
};

static void leave_until(struct nest *nest, uint32_t start)
{
    while (nest->depth > 0 && nest->levels[nest->depth - 1].block->end <= start) {
        nest->depth--;
        vcm_buf_truncate(&nest->path, nest->depth > 0 ? nest->levels[nest->depth - 1].path : 0);
    }
}

static bool enter(struct nest *nest, const struct found *block, uint32_t index,
                  enum vcm_symbol_kind kind)
{
    if (nest->depth == nest->capacity) {
        size_t capacity = nest->capacity ? 2 * nest->capacity : 32;
        struct level *levels = realloc(nest->levels, capacity * sizeof *levels);
        if (!levels)
            return false;
        nest->levels = levels;
        nest->capacity = capacity;
    }
    if (nest->depth < VCM_LIMIT_SYMBOL_DEPTH) {
        if (nest->path.len > 0)
            vcm_buf_append_byte(&nest->path, '.');
        if (block->holder_end > 0) {
            vcm_buf_append_slice(&nest->path, slice(nest->run, block->holder, block->holder_end));
            vcm_buf_append_byte(&nest->path, '.');
        }
        vcm_buf_append_slice(&nest->path, slice(nest->run, block->name, block->name_end));
    }
    struct level *level = &nest->levels[nest->depth++];
    *level = (struct level){.block = block, .index = index, .kind = kind, .path = nest->path.len};
    /* What a C++ class holds is private until it says otherwise. */
    level->has_visibility = nest->run->language == VCM_LANGUAGE_CPP && kind == VCM_SYMBOL_CLASS &&
                            block->role == VCM_ROLE_DEFINE;
    level->visibility = level->has_visibility ? VCM_SYMBOL_PRIVATE : VCM_SYMBOL_PUBLIC;
    return true;
}

static void change_access(struct nest *nest, const struct found *word)
{
    static const char *const names[] = {"public", "protected", "private"};
    struct vcm_slice text = slice(nest->run, word->name, word->name_end);

    for (unsigned i = 0; nest->depth > 0 && i < 3; i++)
        if (vcm_slice_equal(text, vcm_slice_of_string(names[i]))) {
            nest->levels[nest->depth - 1].visibility = (enum vcm_symbol_visibility)i;
            nest->levels[nest->depth - 1].has_visibility = true;
        }
}

static struct vcm_slice keep(struct run *run, struct vcm_slice text)
{
    const char *copy = vcm_arena_copy(&run->out->arena, text);

    run->no_memory = run->no_memory || !copy;
    return vcm_slice_of(copy ? copy : "", copy ? text.len : 0);
}

static struct vcm_slice keep_line(struct run *run, struct vcm_buf *line)
{
    struct vcm_slice kept = keep(run, vcm_buf_slice(line));

    run->no_memory = run->no_memory || line->fault == VCM_BUF_NO_MEMORY;
    vcm_buf_clear(line);
    return kept;
}

static const struct level *innermost(const struct nest *nest)
{
    return nest->depth > 0 ? &nest->levels[nest->depth - 1] : NULL;
}

static bool is_value(unsigned kind)
{
    return kind == VCM_SYMBOL_VARIABLE || kind == VCM_SYMBOL_CONSTANT;
}

/* Whether values that are defined here are seen from here alone: in a function, or in what another
 * value is made of. */
static bool has_own_names(const struct nest *nest)
{
    for (size_t i = nest->depth; i > 0; i--) {
        enum vcm_symbol_kind kind = nest->levels[i - 1].kind;
        if (nest->levels[i - 1].block->role == VCM_ROLE_DEFINE &&
            (vcm_symbol_is_function(kind) || is_value(kind) || kind == VCM_SYMBOL_FIELD))
            return true;
    }
    return false;
}

static enum vcm_symbol_kind settle_kind(const struct nest *nest, const struct found *found)
{
    enum vcm_symbol_kind kind = (enum vcm_symbol_kind)found->detail;
    const struct level *around = innermost(nest);
    bool in_type =
        around && (around->block->role == VCM_ROLE_SCOPE || vcm_symbol_is_type(around->kind) ||
                   (around->kind == VCM_SYMBOL_MODULE && nest->run->language == VCM_LANGUAGE_RUBY));

    return kind == VCM_SYMBOL_FUNCTION && (in_type || found->holder_end > 0) ? VCM_SYMBOL_METHOD
                                                                             : kind;
}

static void fill_symbol(struct nest *nest, struct vcm_symbol *symbol, const struct found *found)
{
    struct run *run = nest->run;
    struct vcm_buf line = VCM_BUF_INIT(64 * VCM_KIB);
    const struct vcm_describe_place place = {run->text, found->start, found->end, found->body};
    const struct level *around = innermost(nest);

    symbol->name = keep(run, slice(run, found->name, found->name_end));
    symbol->kind = settle_kind(nest, found);
    symbol->line = found->line;
    symbol->end_line = found->end_line;
    if (found->holder_end > 0 && nest->path.len > 0) {
        vcm_buf_append_slice(&line, vcm_buf_slice(&nest->path));
        vcm_buf_append_byte(&line, '.');
    }
    if (found->holder_end > 0)
        vcm_buf_append_slice(&line, slice(run, found->holder, found->holder_end));
    else
        vcm_buf_append_slice(&line, vcm_buf_slice(&nest->path));
    symbol->container = keep_line(run, &line);
    vcm_describe_signature(&line, &place);
    symbol->signature = keep_line(run, &line);
    /* A comment above a line is on what the line begins with. */
    if (!around || around->block->line != found->line)
        vcm_describe_comment(&line, run->language, &place);
    symbol->documentation = keep_line(run, &line);
    symbol->visibility = vcm_describe_visibility(run->language, symbol->name, symbol->signature,
                                                 around && vcm_symbol_is_type(around->kind));
    if (around && around->has_visibility && symbol->visibility == VCM_SYMBOL_PUBLIC)
        symbol->visibility = around->visibility;
    bool in_promise =
        around && (around->kind == VCM_SYMBOL_TRAIT || around->kind == VCM_SYMBOL_INTERFACE);
    if (symbol->kind == VCM_SYMBOL_ENUMERATOR || in_promise)
        symbol->visibility = VCM_SYMBOL_PUBLIC;
    vcm_buf_release(&line);
}

/* Puts definitions in order, with their containers; what is local to a function becomes a local
 * name. Then walks uses beside them. */
struct weave {
    struct nest nest;
    uint32_t *index_of; /* for each block 1 + the index of its definition, or 0 */
};

/* Haskell and Elixir write a function as several clauses, one behind the other. */
static bool goes_on(const struct nest *nest, const struct found *found)
{
    const struct run *run = nest->run;
    const struct vcm_symbol *last = run->out->definition_count > 0
                                        ? &run->out->definitions[run->out->definition_count - 1]
                                        : NULL;

    return last &&
           (run->language == VCM_LANGUAGE_HASKELL || run->language == VCM_LANGUAGE_ELIXIR) &&
           vcm_symbol_is_function(last->kind) && last->kind == settle_kind(nest, found) &&
           vcm_slice_equal(last->name, slice(run, found->name, found->name_end)) &&
           vcm_slice_equal(last->container, vcm_buf_slice(&nest->path));
}

static void define(struct weave *weave, size_t block)
{
    struct nest *nest = &weave->nest;
    struct run *run = nest->run;
    const struct found *found = &run->blocks.items[block];
    enum vcm_symbol_kind kind = VCM_SYMBOL_TYPE;
    uint32_t index = 0;

    leave_until(nest, found->start);
    if (found->role == VCM_ROLE_ACCESS) {
        change_access(nest, found);
        return;
    }
    if (found->role == VCM_ROLE_DEFINE && is_value(found->detail) && has_own_names(nest)) {
        struct found local = *found;
        local.role = VCM_ROLE_LOCAL;
        local.start = local.end = local.name;
        add(run, &run->uses, &local);
        return;
    }
    if (found->role == VCM_ROLE_DEFINE && goes_on(nest, found)) {
        kind = settle_kind(nest, found);
        index = run->out->definition_count;
        run->out->definitions[index - 1].end_line = found->end_line;
    } else if (found->role == VCM_ROLE_DEFINE) {
        if (run->out->definition_count >= VCM_LIMIT_SYMBOLS_COUNT) {
            run->too_many = true;
            return;
        }
        kind = settle_kind(nest, found);
        fill_symbol(nest, &run->out->definitions[run->out->definition_count], found);
        index = ++run->out->definition_count;
    }
    weave->index_of[block] = index;
    run->no_memory = run->no_memory || !enter(nest, found, index, kind);
}

static void define_all(struct weave *weave)
{
    struct run *run = weave->nest.run;

    run->out->definitions =
        vcm_arena_alloc(&run->out->arena, (run->blocks.count + 1) * sizeof *run->out->definitions);
    run->no_memory = run->no_memory || !run->out->definitions;
    for (size_t i = 0; i < run->blocks.count && !run->no_memory; i++)
        define(weave, i);
    weave->nest.depth = 0;
    vcm_buf_clear(&weave->nest.path);
}

/* Names that mean something else in the function that is walked. */
struct locals {
    struct found *items; /* by name's text, then place */
    size_t count;
};

static int compare_texts(const struct run *run, const struct found *a, const struct found *b)
{
    uint32_t x = a->name_end - a->name, y = b->name_end - b->name;
    int order = memcmp(run->text.data + a->name, run->text.data + b->name, x < y ? x : y);

    return order != 0 ? order : (x > y) - (x < y);
}

static int by_text(const void *a, const void *b, void *context)
{
    const struct found *x = a, *y = b;
    int order = compare_texts(context, x, y);

    return order != 0 ? order : (x->name > y->name) - (x->name < y->name);
}

/* Whether a name is local to the function [start, end). */
static bool is_local(const struct run *run, const struct locals *locals, const struct found *use,
                     uint32_t start, uint32_t end)
{
    size_t low = 0, high = locals->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_texts(run, &locals->items[middle], use);
        if (order < 0 || (order == 0 && locals->items[middle].name < start))
            low = middle + 1;
        else
            high = middle;
    }
    return low < locals->count && compare_texts(run, &locals->items[low], use) == 0 &&
           locals->items[low].name < end;
}

/* Whether it has parameters; classes of OCaml do. */
static bool has_locals(const struct run *run, enum vcm_symbol_kind kind)
{
    return vcm_symbol_is_function(kind) || kind == VCM_SYMBOL_MACRO ||
           (kind == VCM_SYMBOL_CLASS && run->language == VCM_LANGUAGE_OCAML);
}

/* The outermost function around, whose names reach inwards. */
static const struct found *function_around(const struct nest *nest)
{
    for (size_t i = 0; i < nest->depth; i++)
        if (nest->levels[i].index > 0 && has_locals(nest->run, nest->levels[i].kind))
            return nest->levels[i].block;
    return NULL;
}

/* A whole statement where no part of it is what is imported: "import a.b", "using A". */
static struct vcm_slice without_keyword(struct vcm_slice target)
{
    static const char *const keywords[] = {"import ", "using ", "export "};

    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
        size_t len = strlen(keywords[i]);
        if (target.len > len && memcmp(target.data, keywords[i], len) == 0)
            return vcm_slice_of(target.data + len, target.len - len);
    }
    return target;
}

static void put_import(struct run *run, const struct found *use)
{
    struct vcm_slice target = without_keyword(slice(run, use->name, use->name_end));
    struct vcm_slice alias =
        vcm_qualifier_alias(run->language, run->text, use->name, use->name_end);

    while (target.len > 1 && strchr("\"'<`", target.data[0]))
        target = vcm_slice_of(target.data + 1, target.len - 1);
    while (target.len > 1 && strchr("\"'>`", target.data[target.len - 1]))
        target.len--;
    run->out->imports[run->out->import_count++] =
        (struct vcm_symbol_import){keep(run, target), keep(run, alias), use->line};
}

/* What the use is qualified by. A local name is no module or type, but it may be the object. */
static struct vcm_slice qualifier_of(bool *qualified, struct run *run, const struct locals *locals,
                                     const struct found *use, const struct found *function)
{
    struct vcm_slice words = vcm_slice_of("", 0);

    *qualified = use->detail != VCM_SYMBOL_OVERRIDE &&
                 vcm_qualifier_find(&words, run->language, run->text, use->name);
    if (words.len == 0 || !function)
        return words;
    struct vcm_slice rest = words, first = words;
    while (rest.len > 0)
        first = vcm_qualifier_pop(&rest);
    const uint32_t start = (uint32_t)(first.data - run->text.data);
    const struct found word = {.name = start, .name_end = start + (uint32_t)first.len};
    struct vcm_slice head = slice(run, function->start, function->end);
    return vcm_qualifier_self(run->language, words, head) == VCM_QUALIFIER_OTHER &&
                   is_local(run, locals, &word, function->start, function->end)
               ? vcm_slice_of("", 0)
               : words;
}

/* Most follow one with the same. */
static struct vcm_slice keep_qualifier(struct run *run, struct vcm_slice qualifier)
{
    const struct vcm_symbols *out = run->out;
    struct vcm_slice last = out->reference_count > 0
                                ? out->references[out->reference_count - 1].qualifier
                                : vcm_slice_of("", 0);

    if (qualifier.len == 0 || vcm_slice_equal(qualifier, last))
        return qualifier.len == 0 ? vcm_slice_of("", 0) : last;
    return keep(run, qualifier);
}

static void refer(struct weave *weave, const struct locals *locals, const struct found *use)
{
    struct nest *nest = &weave->nest;
    struct run *run = nest->run;
    struct vcm_symbols *out = run->out;
    uint32_t from = 0;

    for (size_t i = nest->depth; i > 0 && from == 0; i--)
        from = nest->levels[i - 1].index;
    const struct found *function = function_around(nest);
    bool may_be_local = use->detail == VCM_SYMBOL_READ || use->detail == VCM_SYMBOL_WRITE ||
                        use->detail == VCM_SYMBOL_CALL;
    bool qualified = false;
    struct vcm_slice qualifier = qualifier_of(&qualified, run, locals, use, function);
    if (function && may_be_local && !qualified &&
        is_local(run, locals, use, function->start, function->end))
        return;
    if (out->reference_count >= VCM_LIMIT_SYMBOLS_COUNT) {
        run->too_many = true;
        return;
    }
    out->references[out->reference_count++] = (struct vcm_symbol_reference){
        .name = keep(run, slice(run, use->name, use->name_end)),
        .line = use->line,
        .from = from,
        .use = (enum vcm_symbol_use)use->detail,
        .qualified = qualified,
        .qualifier = keep_qualifier(run, qualifier),
    };
}

/* Local names into a list of their own. */
static int split_locals(struct locals *locals, struct run *run, struct vcm_error *err)
{
    locals->items = calloc(run->uses.count + 1, sizeof *locals->items);
    if (!locals->items)
        return vcm_error_memory(err);
    for (size_t i = 0; i < run->uses.count; i++)
        if (run->uses.items[i].role == VCM_ROLE_LOCAL)
            locals->items[locals->count++] = run->uses.items[i];
    qsort_r(locals->items, locals->count, sizeof *locals->items, by_text, run);
    return VCM_OK;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Where names of definitions are, which are no references but to what they override. */
static uint32_t *list_names(const struct run *run)
{
    uint32_t *names = calloc(run->blocks.count + 1, sizeof *names);

    for (size_t i = 0; names && i < run->blocks.count; i++)
        names[i] =
            run->blocks.items[i].role == VCM_ROLE_SCOPE ? UINT32_MAX : run->blocks.items[i].name;
    if (names)
        qsort(names, run->blocks.count, sizeof *names, by_number);
    return names;
}

static int refer_all(struct weave *weave, struct vcm_error *err)
{
    struct nest *nest = &weave->nest;
    struct run *run = nest->run;
    struct vcm_symbols *out = run->out;
    struct locals locals = {0};
    size_t block = 0, kept = 0;

    if (run->uses.count > 0)
        qsort(run->uses.items, run->uses.count, sizeof *run->uses.items, by_name);
    out->references = vcm_arena_alloc(&out->arena, (run->uses.count + 1) * sizeof *out->references);
    out->imports = vcm_arena_alloc(&out->arena, (run->uses.count + 1) * sizeof *out->imports);
    uint32_t *names = list_names(run);
    int rc = out->references && out->imports && names ? split_locals(&locals, run, err)
                                                      : vcm_error_memory(err);
    for (size_t i = 0; rc == VCM_OK && i < run->uses.count; i++) {
        const struct found *use = &run->uses.items[i];
        if (use->role == VCM_ROLE_LOCAL ||
            (kept > 0 && run->uses.items[kept - 1].name == use->name))
            continue;
        kept = i + 1;
        if (use->role == VCM_ROLE_IGNORE)
            continue;
        for (; block < run->blocks.count && run->blocks.items[block].start <= use->name; block++) {
            const struct found *found = &run->blocks.items[block];
            leave_until(nest, found->start);
            if (found->role == VCM_ROLE_SCOPE || weave->index_of[block] > 0)
                run->no_memory =
                    run->no_memory || !enter(nest, found, weave->index_of[block],
                                             weave->index_of[block] > 0
                                                 ? out->definitions[weave->index_of[block] - 1].kind
                                                 : VCM_SYMBOL_TYPE);
        }
        leave_until(nest, use->name);
        if (use->role == VCM_ROLE_IMPORT)
            put_import(run, use);
        else if (use->detail == VCM_SYMBOL_OVERRIDE ||
                 !bsearch(&use->name, names, run->blocks.count, sizeof *names, by_number))
            refer(weave, &locals, use);
    }
    free(names);
    free(locals.items);
    return rc;
}

static int assemble(struct run *run, struct vcm_error *err)
{
    struct weave weave = {.nest = {.run = run}};

    vcm_buf_init(&weave.nest.path, (NAME_TOO_LONG + 1) * VCM_LIMIT_SYMBOL_DEPTH);
    drop_repeated_names(&run->blocks);
    weave.index_of = calloc(run->blocks.count + 1, sizeof *weave.index_of);
    int rc = weave.index_of ? VCM_OK : vcm_error_memory(err);
    if (rc == VCM_OK) {
        define_all(&weave);
        rc = run->no_memory ? vcm_error_memory(err) : refer_all(&weave, err);
    }
    if (rc == VCM_OK && (run->no_memory || weave.nest.path.fault == VCM_BUF_NO_MEMORY))
        rc = vcm_error_memory(err);
    free(weave.index_of);
    free(weave.nest.levels);
    vcm_buf_release(&weave.nest.path);
    return rc;
}

int vcm_extractor_run(struct vcm_symbols *out, struct vcm_extractor *extractor,
                      enum vcm_language language, struct vcm_slice text, struct vcm_error *err)
{
    struct run run = {.out = out, .language = language, .text = text};
    size_t probe = text.len < VCM_LIMIT_BINARY_PROBE ? text.len : VCM_LIMIT_BINARY_PROBE;

    if (text.len > VCM_LIMIT_SYMBOLS_FILE_BYTES)
        out->state = VCM_SYMBOL_TOO_LARGE;
    else if (probe > 0 && memchr(text.data, '\0', probe))
        out->state = VCM_SYMBOL_BINARY;
    if (out->state == VCM_SYMBOL_COMPLETE && vcm_language_ctags_name(language))
        return vcm_ctags_run(out, extractor->ctags, language, text, err);
    if (out->state != VCM_SYMBOL_COMPLETE || !vcm_grammar_of(language))
        return VCM_OK;
    int rc = find_query(&run.query, extractor, language, err);
    if (rc == VCM_OK)
        rc = read_tree(&run, extractor, err);
    if (rc == VCM_OK)
        rc = assemble(&run, err);
    if (rc == VCM_OK && run.too_many)
        out->state = VCM_SYMBOL_TOO_MANY;
    if (rc == VCM_OK && run.too_costly)
        out->state = VCM_SYMBOL_TOO_COSTLY;
    free(run.blocks.items);
    free(run.uses.items);
    return rc;
}
