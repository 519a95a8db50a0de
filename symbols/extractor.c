#include "symbols/extractor.h"

#include <assert.h>
#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <tree_sitter/api.h>

#include "base/limits.h"
#include "symbols/ctags.h"
#include "symbols/parse_memory.h"
#include "symbols/parse_work.h"
#include "symbols/tree_block.h"
#include "symbols/tree_query.h"
#include "symbols/weave.h"
#include "symbols/weave_finds.h"

#include "base/banned.h"

#define MATCHES_MAX 1024u /* that are open at one time */
#define CHUNK_BYTES 256u  /* small, so that the lookahead of a scanner can be counted */
#define IDLE_MAX    ((size_t)VCM_LIMIT_WORKERS)
#define SIDE_STEPS  (100 * (uint64_t)VCM_LIMIT_SYMBOLS_STEPS)

struct vcm_extractor {
    pthread_mutex_t lock;
    struct vcm_tree_query queries[VCM_LANGUAGES_COUNT];
    struct vcm_parse_memory *idle[IDLE_MAX]; /* of files that are done */
    size_t idle_count;
    uint64_t steps_last; /* of the last file */
    struct vcm_ctags *ctags;
    const struct vcm_cancel *cancel;
};

struct run {
    struct vcm_weave weave;
    const struct vcm_tree_query *query;
    struct vcm_find block; /* of the node below, which many matches share: "int a, b" */
    const void *block_node;
    uint32_t steps;
    uint64_t read_bytes, side_steps;
    bool too_costly, wrong_age;
};

static int find_query(const struct vcm_tree_query **out, struct vcm_extractor *extractor,
                      enum vcm_language language, struct vcm_error *err)
{
    struct vcm_tree_query *query = &extractor->queries[language];
    int rc = VCM_OK;

    pthread_mutex_lock(&extractor->lock);
    if (!query->patterns)
        rc = vcm_tree_query_compile(query, vcm_language_get(language), err);
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

void vcm_extractor_set_cancel(struct vcm_extractor *extractor, const struct vcm_cancel *cancel)
{
    extractor->cancel = cancel;
}

void vcm_extractor_close(struct vcm_extractor *extractor)
{
    if (!extractor)
        return;
    for (unsigned i = 0; i < VCM_LANGUAGES_COUNT; i++)
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
    size_t left = at < run->weave.text.len ? run->weave.text.len - at : 0;

    (void)point;
    *len = (uint32_t)(left < CHUNK_BYTES ? left : CHUNK_BYTES);
    run->read_bytes += *len;
    /* A scanner may look ahead to the end for each character that is no token, in a single step. */
    vcm_parse_work_count(*len);
    return *len > 0 ? run->weave.text.data + at : "";
}

/* In text full of errors one step may copy everything read so far, and a scanner may look ahead to
 * the end for each token. The work is counted, not timed: equal bytes give equal symbols on any
 * machine. */
static bool stop_parsing(TSParseState *state)
{
    struct run *run = state->payload;

    uint64_t size = run->weave.text.len;
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

static void set_block(struct run *run, struct vcm_find *found, TSNode node)
{
    if (run->block_node != node.id)
        vcm_tree_block_read(&run->block, node, run->weave.language);
    run->block_node = node.id;
    found->start = run->block.start;
    found->end = run->block.end;
    found->body = run->block.body;
    found->line = run->block.line;
    found->end_line = run->block.end_line;
}

/* Whether a node of a pattern or a type is a name by itself. */
static bool is_name(TSNode node)
{
    const char *kind = ts_node_type(node);

    return strcmp(kind, "variable") == 0 || strcmp(kind, "identifier") == 0 ||
           strcmp(kind, "value_name") == 0;
}

/* All names in a part of the tree. Parts may contain others: the total cost is bounded. */
static void take_names(struct run *run, TSNode root, enum vcm_tree_query_role role,
                       uint32_t pattern)
{
    TSTreeCursor cursor = ts_tree_cursor_new(root);
    bool more = true;

    while (more) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        if (is_name(node)) {
            struct vcm_find found = {.pattern = pattern, .role = role};
            found.name = found.start = found.end = ts_node_start_byte(node);
            found.name_end = ts_node_end_byte(node);
            found.line = ts_node_start_point(node).row + 1;
            vcm_weave_finds_add(&run->weave, &found);
        }
        run->too_costly = run->too_costly || ++run->side_steps > SIDE_STEPS;
        more = !run->too_costly && !run->weave.too_many && !run->weave.no_memory;
        if (!more || ts_tree_cursor_goto_first_child(&cursor))
            continue;
        while (more && !ts_tree_cursor_goto_next_sibling(&cursor))
            more = ts_tree_cursor_goto_parent(&cursor);
    }
    ts_tree_cursor_delete(&cursor);
}

/* What a match has captured. */
struct taken {
    struct vcm_find find;
    TSNode name, body, tail; /* without an id when there is none */
};

/* The container goes from its first word to its last, which may be several captures. */
static void widen_container(struct vcm_find *find, TSNode node)
{
    if (find->holder_end == 0 || find->holder > ts_node_start_byte(node))
        find->holder = ts_node_start_byte(node);
    if (find->holder_end < ts_node_end_byte(node))
        find->holder_end = ts_node_end_byte(node);
}

/* A capture that determines the role of the match. */
static void take_subject(struct run *run, struct taken *taken,
                         const struct vcm_tree_query_capture *capture, TSNode node)
{
    struct vcm_find *find = &taken->find;

    find->role = capture->role;
    find->detail = capture->detail;
    switch (capture->role) {
    case VCM_ROLE_PROMISE:
        find->role = VCM_ROLE_SCOPE;
        find->is_promised = true;
        set_block(run, find, node);
        break;
    case VCM_ROLE_DEFINE:
    case VCM_ROLE_SCOPE:
        find->is_promised = false;
        set_block(run, find, node);
        if (capture->role == VCM_ROLE_DEFINE)
            vcm_tree_block_adapt(find, node, &run->weave);
        break;
    case VCM_ROLE_REFER:
        find->is_promised = false;
        break;
    case VCM_ROLE_LOCAL:
    case VCM_ROLE_IGNORE:
        find->is_type = capture->detail == VCM_MANNER_TYPE;
        taken->name = node;
        break;
    default:
        taken->name = node;
    }
}

static void take_capture(struct run *run, struct taken *taken,
                         const struct vcm_tree_query_capture *capture, TSNode node)
{
    struct vcm_find *find = &taken->find;

    switch (capture->role) {
    case VCM_ROLE_NAME:
        find->is_type = capture->detail == VCM_MANNER_TYPE;
        find->is_member = capture->detail == VCM_MANNER_MEMBER;
        find->is_field = capture->detail == VCM_MANNER_FIELD;
        taken->name = node;
        break;
    case VCM_ROLE_NONE:
    case VCM_ROLE_VERB:
        break;
    case VCM_ROLE_BODY:
        taken->body = node;
        break;
    case VCM_ROLE_TAIL:
        taken->tail = node;
        break;
    case VCM_ROLE_CLOSED:
        run->weave.is_closed = true;
        break;
    case VCM_ROLE_STATEMENT:
        find->statement = ts_node_start_byte(node) + 1;
        break;
    case VCM_ROLE_CONTAINER:
        widen_container(find, node);
        break;
    case VCM_ROLE_REGION:
    case VCM_ROLE_HEAD:
        find->role = capture->role;
        set_block(run, find, node);
        break;
    default:
        if (capture->detail == VCM_MANNER_ALL &&
            (capture->role == VCM_ROLE_LOCAL || capture->role == VCM_ROLE_IGNORE))
            take_names(run, node, capture->role, find->pattern);
        else
            take_subject(run, taken, capture, node);
    }
}

/* Where the definition ends, and its body begins, when its node does not show that. */
static void set_ends(const struct taken *taken, struct vcm_find *find)
{
    if (taken->tail.id) {
        find->body += find->body == find->end ? ts_node_end_byte(taken->tail) - find->end : 0;
        find->end = ts_node_end_byte(taken->tail);
        find->end_line = ts_node_end_point(taken->tail).row + 1;
    }
    if (taken->body.id)
        find->body = ts_node_start_byte(taken->body);
}

/* How many bytes at the end of a name do not belong to it: "operator bool() const" is one node in
 * C++. */
static uint32_t length_of_brackets(struct vcm_slice name)
{
    static const char word[] = "operator ";
    size_t len = sizeof word - 1;
    const char *open = name.len > len && memcmp(name.data, word, len) == 0
                           ? memchr(name.data, '(', name.len)
                           : NULL;

    return open ? (uint32_t)(name.len - (size_t)(open - name.data)) : 0;
}

static bool has_no_name(const struct vcm_find *find)
{
    return find->role == VCM_ROLE_HEAD || find->role == VCM_ROLE_REGION;
}

/* Whether a name in a pattern is a constant or a variant, and declares no variable: it begins with
 * a capital where the query says so, or stands behind a dot. */
static bool names_a_case(const struct vcm_weave *weave, const struct vcm_find *find)
{
    const char *name = weave->text.data + find->name;

    return (find->detail == VCM_MANNER_LOWER && isupper((unsigned char)name[0])) ||
           (weave->language->tree.dot_cases && find->name > 0 && name[-1] == '.');
}

/* "name" of "$name is here", which the grammar of Kotlin parses as text. */
static uint32_t end_of_word(const struct run *run, uint32_t start, uint32_t end)
{
    const char *text = run->weave.text.data;
    uint32_t at = start;

    while (at < end &&
           (isalnum((unsigned char)text[at]) || text[at] == '_' || (unsigned char)text[at] >= 0x80))
        at++;
    return at;
}

/* Without the marks that the grammar includes: of an atom, a key, a string. */
static void trim_name(struct vcm_find *found, const struct vcm_language_tree *tree,
                      const char *text)
{
    /* A name that is missing may be where the text ends. */
    found->name += found->name < found->name_end && text[found->name] == ':' && !tree->colon_names;
    while (tree->key_names && found->name_end > found->name &&
           strchr(": \t\r\n", text[found->name_end - 1]))
        found->name_end--;
    found->name_end -=
        length_of_brackets(vcm_slice_of(text + found->name, found->name_end - found->name));
    if (tree->quoted_names && found->name_end - found->name > 2 &&
        strchr("'\"`", text[found->name]) && text[found->name] == text[found->name_end - 1]) {
        found->name++;
        found->name_end--;
    }
}

/* Whether the text is a number, as in "$1", or a blank where the compiler infers the type. */
static bool is_no_name(const struct vcm_find *found, const struct vcm_language_tree *tree,
                       const char *text)
{
    const bool blank = found->name_end - found->name == 1 && text[found->name] == '_';

    return (text[found->name] >= '0' && text[found->name] <= '9') || (blank && tree->blank_types);
}

/* The nodes around a name: on the path of the search, or, when a cursor found it, from the tree. */
struct around {
    const struct vcm_patterns_path *path; /* or NULL */
    TSNode node;
};

static TSNode node_above(void *context, unsigned level)
{
    const struct around *around = context;
    TSNode node = around->node;

    if (around->path)
        return vcm_patterns_above(around->path, level);
    for (; level > 0 && !ts_node_is_null(node); level--)
        node = ts_node_parent(node);
    return node;
}

/* Notes what is written down of the type of a name, or of what stands before it. */
static void take_chain(struct run *run, struct vcm_find *find, TSNode name,
                       const struct vcm_patterns_path *path)
{
    /* The search may be about another node of the match. */
    struct around around = {path && vcm_patterns_above(path, 0).id == name.id ? path : NULL, name};
    const struct vcm_receiver_place place = {run->query->receivers, run->weave.text, name,
                                             node_above, &around};
    struct vcm_buf *chains = &run->weave.chains;
    bool declares = find->role == VCM_ROLE_LOCAL || find->role == VCM_ROLE_DEFINE;

    if ((!declares && find->role != VCM_ROLE_REFER) || (!around.path && !declares))
        return;
    find->chain = (uint32_t)chains->len;
    if (declares)
        vcm_receiver_of_declaration(chains, &place);
    else
        vcm_receiver_of_use(chains, &place);
    find->chain_end = (uint32_t)chains->len;
}

static void take_match(struct run *run, const TSQueryMatch *match, uint32_t pattern,
                       const struct vcm_tree_query_capture *captures,
                       const struct vcm_patterns_path *path)
{
    struct taken taken = {.find = {.pattern = pattern}};
    struct vcm_find *find = &taken.find;
    const struct vcm_language_tree *tree = &run->weave.language->tree;
    const char *text = run->weave.text.data;

    for (uint16_t i = 0; i < match->capture_count; i++)
        take_capture(run, &taken, &captures[match->captures[i].index], match->captures[i].node);
    if (find->role == VCM_ROLE_NONE || (!taken.name.id && !has_no_name(find)))
        return;
    if (has_no_name(find)) {
        find->name = find->name_end = find->start;
        vcm_weave_finds_add(&run->weave, find);
        return;
    }
    find->name = ts_node_start_byte(taken.name);
    find->name_end = ts_node_end_byte(taken.name);
    trim_name(find, tree, text);
    if (strcmp(ts_node_type(taken.name), "string_content") == 0 && find->role == VCM_ROLE_REFER)
        find->name_end = end_of_word(run, find->name, find->name_end);
    find->name_line = ts_node_start_point(taken.name).row + 1;
    if (find->role == VCM_ROLE_DEFINE || find->role == VCM_ROLE_SCOPE) {
        set_ends(&taken, find);
        /* "struct Meters(f64)" has no body. */
        if (tree->tuple_heads && find->body < find->end && text[find->body] == '(')
            find->body = find->end;
    } else {
        find->start = find->end = find->name;
        find->line = ts_node_start_point(taken.name).row + 1;
    }
    if (find->name == find->name_end || find->name_end - find->name > VCM_LIMIT_SYMBOL_NAME_BYTES ||
        is_no_name(find, tree, text))
        return;
    if (find->role == VCM_ROLE_LOCAL && !find->is_type && names_a_case(&run->weave, find))
        return;
    take_chain(run, find, taken.name, path);
    vcm_weave_finds_add(&run->weave, find);
}

static bool visit_match(void *context, const TSQueryMatch *match,
                        const struct vcm_patterns_path *path)
{
    struct run *run = context;

    if (vcm_patterns_words_fit(run->query->patterns, match, run->weave.text))
        take_match(run, match, match->pattern_index, run->query->captures, path);
    return !run->weave.too_many && !run->weave.no_memory;
}

/* Finds the patterns that are left to tree-sitter's cursor because they are not simple
 * (patterns.h). */
static void search_rest(struct run *run, TSNode root)
{
    const TSQueryCursorOptions options = {.payload = run, .progress_callback = stop_searching};
    const struct vcm_tree_query *query = run->query;
    TSQueryCursor *cursor = ts_query_cursor_new();
    TSQueryMatch match;

    ts_query_cursor_set_match_limit(cursor, MATCHES_MAX);
    ts_query_cursor_exec_with_options(cursor, query->rest, root, &options);
    while (!run->weave.too_many && !run->weave.no_memory &&
           ts_query_cursor_next_match(cursor, &match))
        if (vcm_tree_query_words_fit(query, &match, run->weave.text))
            take_match(run, &match, vcm_patterns_place(query->patterns, match.pattern_index),
                       query->rest_captures, NULL);
}

/* Nothing is deleted here: the parse memory is reset as a whole when the file is done. */
static void parse(void *context)
{
    struct run *run = context;
    const TSInput input = {.payload = run, .read = read_text, .encoding = TSInputEncodingUTF8};
    const TSParseOptions options = {.payload = run, .progress_callback = stop_parsing};
    TSParser *parser = ts_parser_new();

    run->wrong_age = !ts_parser_set_language(parser, run->weave.language->grammar());
    if (run->wrong_age)
        return;
    const TSTree *tree = ts_parser_parse_with_options(parser, NULL, input, options);
    if (!tree)
        return;
    if (!vcm_patterns_search(run->query->patterns, ts_tree_root_node(tree), SIDE_STEPS, visit_match,
                             run))
        run->too_costly = true;
    if (run->query->rest && !run->too_costly)
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
    extractor->steps_last = vcm_parse_memory_steps(memory);
    bool kept = extractor->idle_count < IDLE_MAX;
    if (kept)
        extractor->idle[extractor->idle_count++] = memory;
    pthread_mutex_unlock(&extractor->lock);
    if (!kept)
        vcm_parse_memory_close(memory);
}

uint64_t vcm_extractor_steps_last(struct vcm_extractor *extractor)
{
    pthread_mutex_lock(&extractor->lock);
    uint64_t steps = extractor->steps_last;
    pthread_mutex_unlock(&extractor->lock);
    return steps;
}

static int read_tree(struct run *run, struct vcm_extractor *extractor, struct vcm_error *err)
{
    struct vcm_parse_memory *memory = borrow_memory(extractor);

    if (!memory)
        return vcm_error_memory(err);
    vcm_parse_memory_bound(memory,
                           VCM_LIMIT_SYMBOLS_WORK +
                               VCM_LIMIT_SYMBOLS_WORK_TIMES * (uint64_t)run->weave.text.len,
                           extractor->cancel);
    enum vcm_parse_memory_outcome outcome = vcm_parse_memory_run(memory, parse, run);
    give_memory_back(extractor, memory);
    if (outcome == VCM_PARSE_CANCELLED)
        return vcm_cancel_check(extractor->cancel, err);
    if (outcome == VCM_PARSE_NO_MEMORY || run->weave.no_memory)
        return vcm_error_memory(err);
    run->too_costly = run->too_costly || outcome == VCM_PARSE_TOO_LARGE;
    return run->wrong_age
               ? vcm_error_set(err, VCM_INTERNAL, "the grammar of %s has another ABI version",
                               run->weave.language->name)
               : VCM_OK;
}

int vcm_extractor_run(struct vcm_symbols *out, struct vcm_extractor *extractor,
                      enum vcm_language language, struct vcm_slice text, struct vcm_error *err)
{
    struct run run = {.weave = {.out = out, .language = vcm_language_get(language), .text = text}};
    size_t probe = text.len < VCM_LIMIT_BINARY_PROBE ? text.len : VCM_LIMIT_BINARY_PROBE;

    assert(out->definition_count == 0 && out->state == VCM_SYMBOL_COMPLETE);
    if (text.len > VCM_LIMIT_SYMBOLS_FILE_BYTES)
        out->state = VCM_SYMBOL_TOO_LARGE;
    else if (probe > 0 && memchr(text.data, '\0', probe))
        out->state = VCM_SYMBOL_BINARY;
    if (out->state == VCM_SYMBOL_COMPLETE && run.weave.language->ctags_name)
        return vcm_ctags_run(out, extractor->ctags, language, text, err);
    if (out->state != VCM_SYMBOL_COMPLETE || !run.weave.language->grammar)
        return VCM_OK;
    vcm_buf_init(&run.weave.chains, VCM_LIMIT_SYMBOLS_BYTES);
    int rc = find_query(&run.query, extractor, language, err);
    if (rc == VCM_OK)
        rc = read_tree(&run, extractor, err);
    if (rc == VCM_OK)
        rc = vcm_weave_run(&run.weave, err);
    if (rc == VCM_OK && run.weave.too_many)
        out->state = VCM_SYMBOL_TOO_MANY;
    if (rc == VCM_OK && run.too_costly)
        out->state = VCM_SYMBOL_TOO_COSTLY;
    vcm_weave_release(&run.weave);
    return rc;
}
