#include "symbols/tree_query.h"

#include <stdlib.h>

#include "base/limits.h"

#include "base/banned.h"

#define QUERY_MAX ((size_t)256 * VCM_MIB) /* memory of a query */

static const struct {
    const char *name;
    enum vcm_tree_query_role role;
    enum vcm_tree_query_manner manner;
} plain[] = {
    {"name", VCM_ROLE_NAME, VCM_MANNER_PLAIN},
    {"name.type", VCM_ROLE_NAME, VCM_MANNER_TYPE},
    {"name.field", VCM_ROLE_NAME, VCM_MANNER_FIELD},
    {"name.member", VCM_ROLE_NAME, VCM_MANNER_MEMBER},
    {"scope", VCM_ROLE_SCOPE, VCM_MANNER_PLAIN},
    {"container", VCM_ROLE_CONTAINER, VCM_MANNER_PLAIN},
    {"import", VCM_ROLE_IMPORT, VCM_MANNER_PLAIN},
    {"verb", VCM_ROLE_VERB, VCM_MANNER_PLAIN},
    {"access", VCM_ROLE_ACCESS, VCM_MANNER_PLAIN},
    {"local", VCM_ROLE_LOCAL, VCM_MANNER_PLAIN},
    {"local.type", VCM_ROLE_LOCAL, VCM_MANNER_TYPE},
    {"local.lower", VCM_ROLE_LOCAL, VCM_MANNER_LOWER},
    {"local.all", VCM_ROLE_LOCAL, VCM_MANNER_ALL},
    {"body", VCM_ROLE_BODY, VCM_MANNER_PLAIN},
    {"word", VCM_ROLE_VERB, VCM_MANNER_PLAIN},
    {"ignore", VCM_ROLE_IGNORE, VCM_MANNER_PLAIN},
    {"ignore.all", VCM_ROLE_IGNORE, VCM_MANNER_ALL},
    {"export", VCM_ROLE_EXPORT, VCM_MANNER_PLAIN},
    {"closed", VCM_ROLE_CLOSED, VCM_MANNER_PLAIN},
    {"export.all", VCM_ROLE_EXPORT_ALL, VCM_MANNER_PLAIN},
    {"export.part", VCM_ROLE_EXPORT_PART, VCM_MANNER_PLAIN},
    {"outer", VCM_ROLE_OUTER, VCM_MANNER_PLAIN},
    {"imported", VCM_ROLE_IMPORTED, VCM_MANNER_PLAIN},
    {"give", VCM_ROLE_GIVE, VCM_MANNER_PLAIN},
    {"give.default", VCM_ROLE_GIVE, VCM_MANNER_DEFAULT},
    {"give.whole", VCM_ROLE_GIVE, VCM_MANNER_WHOLE},
    {"region", VCM_ROLE_REGION, VCM_MANNER_PLAIN},
    {"promise", VCM_ROLE_PROMISE, VCM_MANNER_PLAIN},
    {"head", VCM_ROLE_HEAD, VCM_MANNER_PLAIN},
    {"tail", VCM_ROLE_TAIL, VCM_MANNER_PLAIN},
    {"statement", VCM_ROLE_STATEMENT, VCM_MANNER_PLAIN},
};

static bool read_capture(struct vcm_tree_query_capture *out, const char *name, uint32_t len)
{
    char text[64];

    if (len >= sizeof text)
        return false;
    memcpy(text, name, len);
    text[len] = '\0';
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (strcmp(text, plain[i].name) == 0) {
            *out = (struct vcm_tree_query_capture){plain[i].role, plain[i].manner};
            return true;
        }
    for (unsigned use = 0; strncmp(text, "ref.", 4) == 0 && use < VCM_SYMBOL_USE_COUNT; use++)
        if (strcmp(text + 4, vcm_symbol_use_name((enum vcm_symbol_use)use)) == 0) {
            *out = (struct vcm_tree_query_capture){VCM_ROLE_REFER, use};
            return true;
        }
    for (unsigned i = 0; i < VCM_SYMBOL_VISIBILITY_COUNT; i++)
        if (strcmp(text, vcm_symbol_visibility_name((enum vcm_symbol_visibility)i)) == 0) {
            *out = (struct vcm_tree_query_capture){VCM_ROLE_HIDE, i};
            return true;
        }
    enum vcm_symbol_kind kind;
    bool known = strncmp(text, "def.", 4) == 0 && vcm_symbol_kind_of(&kind, text + 4);
    if (known)
        *out = (struct vcm_tree_query_capture){VCM_ROLE_DEFINE, (unsigned)kind};
    return known;
}

/* The word of a pattern's predicate, or of its name. */
static struct vcm_slice word_of(const TSQuery *query, const TSQueryPredicateStep *step)
{
    uint32_t len = 0;
    const char *text = ts_query_string_value_for_id(query, step->value_id, &len);

    return vcm_slice_of(text, len);
}

static bool is_negated(struct vcm_slice predicate)
{
    return vcm_slice_equal(predicate, vcm_slice_of("not-any-of?", 11));
}

/* Only "any-of?" and "not-any-of?", on a capture and words. */
static bool predicates_are_known(const TSQuery *query)
{
    bool known = true;

    for (uint32_t i = 0; known && i < ts_query_pattern_count(query); i++) {
        uint32_t count = 0;
        const TSQueryPredicateStep *steps = ts_query_predicates_for_pattern(query, i, &count);
        for (uint32_t at = 0; known && at < count; at++) {
            known = count - at > 2 && steps[at].type == TSQueryPredicateStepTypeString &&
                    steps[at + 1].type == TSQueryPredicateStepTypeCapture &&
                    (is_negated(word_of(query, &steps[at])) ||
                     vcm_slice_equal(word_of(query, &steps[at]), vcm_slice_of("any-of?", 7)));
            for (at += 2; known && steps[at].type == TSQueryPredicateStepTypeString; at++)
                continue;
        }
    }
    return known;
}

struct compiling {
    TSQuery *query;
    const struct vcm_language_descriptor *language;
    struct vcm_slice text;
    uint32_t fault_at;
};

static void make_query(void *context)
{
    struct compiling *compiling = context;
    TSQueryError fault = TSQueryErrorNone;

    compiling->query = ts_query_new(compiling->language->grammar(), compiling->text.data,
                                    (uint32_t)compiling->text.len, &compiling->fault_at, &fault);
}

static int read_captures(struct vcm_tree_query *query,
                         const struct vcm_language_descriptor *language, struct vcm_error *err)
{
    uint32_t count = query->rest ? ts_query_capture_count(query->rest) : 0, own = 0;
    struct vcm_slice name;
    int rc = VCM_OK;

    while (vcm_patterns_capture(query->patterns, own).len > 0)
        own++;
    query->captures = calloc((size_t)own + 1, sizeof *query->captures);
    query->rest_captures = calloc((size_t)count + 1, sizeof *query->rest_captures);
    if (!query->captures || !query->rest_captures)
        return vcm_error_memory(err);
    for (uint32_t i = 0; rc == VCM_OK && i < own + count; i++) {
        uint32_t len = 0;
        if (i < own)
            name = vcm_patterns_capture(query->patterns, i);
        else {
            const char *text = ts_query_capture_name_for_id(query->rest, i - own, &len);
            name = vcm_slice_of(text, len);
        }
        if (!read_capture(i < own ? &query->captures[i] : &query->rest_captures[i - own], name.data,
                          (uint32_t)name.len))
            rc = vcm_error_set(err, VCM_INTERNAL, "the query of %s has a capture '%.*s'",
                               language->name, (int)name.len, name.data);
    }
    return rc;
}

/* A query of tree-sitter for the patterns that are not simple: compiling one takes longer than
 * parsing a file. */
static int compile_rest(struct vcm_tree_query *out, const struct vcm_language_descriptor *language,
                        struct vcm_slice text, struct vcm_error *err)
{
    struct compiling compiling = {.language = language, .text = text};

    out->memory = vcm_parse_memory_open(QUERY_MAX);
    if (!out->memory || vcm_parse_memory_run(out->memory, make_query, &compiling) != VCM_PARSE_DONE)
        return vcm_error_memory(err);
    if (!compiling.query)
        return vcm_error_set(err, VCM_INTERNAL, "the query of %s does not fit its grammar: '%.40s'",
                             language->name, text.data + compiling.fault_at);
    out->rest = compiling.query;
    return predicates_are_known(out->rest)
               ? VCM_OK
               : vcm_error_set(err, VCM_INTERNAL, "the query of %s has an unknown predicate",
                               language->name);
}

int vcm_tree_query_compile(struct vcm_tree_query *out,
                           const struct vcm_language_descriptor *language, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(1 * VCM_MIB), rest = VCM_BUF_INIT(1 * VCM_MIB);

    for (size_t i = 0; i < VCM_LANGUAGES_QUERIES_MAX && language->queries[i]; i++)
        vcm_buf_append_string(&text, language->queries[i]);
    int rc = vcm_buf_check(&text, "a query", err);
    if (rc == VCM_OK)
        rc = vcm_patterns_open(&out->patterns, language->grammar(), language->tree.nested,
                               vcm_buf_slice(&text), &rest, err);
    if (rc == VCM_OK && rest.len > 0)
        rc = compile_rest(out, language, vcm_slice_of(vcm_buf_text(&rest), rest.len), err);
    if (rc == VCM_OK)
        rc = read_captures(out, language, err);
    if (rc == VCM_OK)
        rc = vcm_receiver_open(&out->receivers, language->grammar(), err);
    vcm_buf_release(&text);
    vcm_buf_release(&rest);
    if (rc != VCM_OK)
        vcm_tree_query_release(out);
    return rc;
}

void vcm_tree_query_release(struct vcm_tree_query *query)
{
    vcm_patterns_close(query->patterns);
    vcm_parse_memory_close(query->memory);
    free(query->captures);
    free(query->rest_captures);
    vcm_receiver_close(query->receivers);
    *query = (struct vcm_tree_query){.rest = NULL};
}

static struct vcm_slice captured(const TSQueryMatch *match, uint32_t id, struct vcm_slice text)
{
    for (uint16_t i = 0; i < match->capture_count; i++)
        if (match->captures[i].index == id)
            return vcm_slice_of(text.data + ts_node_start_byte(match->captures[i].node),
                                ts_node_end_byte(match->captures[i].node) -
                                    ts_node_start_byte(match->captures[i].node));
    return vcm_slice_of("", 0);
}

bool vcm_tree_query_words_fit(const struct vcm_tree_query *query, const TSQueryMatch *match,
                              struct vcm_slice text)
{
    uint32_t count = 0;
    const TSQueryPredicateStep *steps =
        ts_query_predicates_for_pattern(query->rest, match->pattern_index, &count);
    bool fits = true;

    for (uint32_t at = 0; fits && at < count; at++) {
        struct vcm_slice found = captured(match, steps[at + 1].value_id, text);
        bool negated = is_negated(word_of(query->rest, &steps[at])), among = false;
        for (at += 2; steps[at].type == TSQueryPredicateStepTypeString; at++)
            among = among || vcm_slice_equal(word_of(query->rest, &steps[at]), found);
        fits = among != negated;
    }
    return fits;
}
