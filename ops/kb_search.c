#include <math.h>
#include <string.h>

#include "base/defaults.h"
#include "base/limits.h"
#include "ops/shared.h"

#include "base/banned.h"

enum { QUERY, LIMIT, MAX_TOKENS, PROFILE, PATH, SCOPE };

static const struct vcm_op_param search_params[] = {
    [QUERY] = {.name = "query",
               .type = VCM_OP_TEXT,
               .positional = true,
               .required = true,
               .placeholder = "QUERY",
               .summary = "words, \"phrases in quotes\" and prefixes*"},
    [LIMIT] = {.name = "limit",
               .type = VCM_OP_NUMBER,
               .placeholder = "N",
               .min = 1,
               .max = VCM_LIMIT_HITS,
               .default_text = VCM_DEFAULT_TEXT(VCM_DEFAULT_KB_LIMIT),
               .summary = "show at most this many"},
    [MAX_TOKENS] = {.name = "max-tokens",
                    .type = VCM_OP_NUMBER,
                    .placeholder = "N",
                    .min = 1,
                    .max = VCM_LIMIT_ANSWER_TOKENS_MAX,
                    .summary = "token limit of all hits together; hits beyond it are left out"},
    [PROFILE] = {.name = "profile",
                 .type = VCM_OP_TEXT,
                 .placeholder = "P",
                 .summary = "only documents with this profile"},
    [PATH] = {.name = "path",
              .type = VCM_OP_TEXT,
              .placeholder = "GLOB",
              .summary = "only documents whose path this gitignore pattern matches"},
    [SCOPE] = {.name = "scope",
               .type = VCM_OP_TEXT,
               .placeholder = "BASE",
               .summary = "only documents of this repository, by its base scope id"},
};

/* Six decimals are enough to compare scores. */
static void put_score(struct vcm_jsonw *w, const void *from)
{
    const struct vcm_kb_chunk *chunk = from;

    vcm_jsonw_number(w, round(chunk->score * 1e6) / 1e6);
}

static const struct vcm_result_member citation[] = {
    {.name = "chunk_id",
     VCM_RESULT_FIELD(struct vcm_kb_chunk, chunk_id),
     .summary = "40 hex digits, derived from the chunk's content"},
    {.name = "source",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_kb_chunk, source),
     .summary = "base scope id of its repository, or null"},
    {.name = "path",
     VCM_RESULT_FIELD(struct vcm_kb_chunk, path),
     .summary = "path of its document"},
    {.name = "section",
     VCM_RESULT_FIELD(struct vcm_kb_chunk, section),
     .summary = "headings above it, joined by ' > '"},
    {.name = "page",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_kb_chunk, page),
     .summary = "page where it begins, or null"},
    {.name = "data_type",
     VCM_RESULT_FIELD(struct vcm_kb_chunk, data_type),
     .summary = "profile of the document, else its format"},
    {0},
};

static const struct vcm_result_member hit_members[] = {
    {VCM_RESULT_SPLICE_GROUP(citation)},
    {.name = "score",
     .type = VCM_RESULT_NUMBER,
     .put = put_score,
     .summary = "relevance; higher is better"},
    {.name = "tokens",
     VCM_RESULT_FIELD(struct vcm_kb_chunk, tokens),
     .summary = "tokens of its serialised record"},
    {.name = "snippet",
     VCM_RESULT_FIELD(struct vcm_kb_chunk, snippet),
     .summary = "excerpt that matches"},
    {.name = "text",
     VCM_RESULT_TEXT_FIELD(struct vcm_kb_chunk, text, text_len),
     .summary = "whole text"},
    {0},
};

static const struct vcm_result_member search_result[] = {
    {.name = "query", .type = VCM_RESULT_TEXT, .summary = "the query"},
    {.name = "total", .type = VCM_RESULT_INTEGER, .summary = "number of chunks that match"},
    {.name = "hits",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = hit_members,
     .summary = "hits with citations, best first"},
    {0},
};

static const char *const search_examples[] = {
    "vcm kb search 'how are pages evicted'",
    "vcm kb search '\"working set\" evict*' --path 'papers/**' --max-tokens 2000",
    NULL,
};

static int put_hit(void *context, const struct vcm_kb_chunk *chunk, struct vcm_error *err)
{
    struct vcm_jsonw *w = context;

    (void)err;
    vcm_result_put(w, hit_members, chunk);
    return VCM_OK;
}

static int run_search(struct vcm_op_call *call, struct vcm_error *err)
{
    const struct vcm_kb_search_options options = {
        .query = vcm_op_text(call, QUERY),
        .filter = {.source = vcm_op_text(call, SCOPE),
                   .path = vcm_op_text(call, PATH),
                   .profile = vcm_op_text(call, PROFILE)},
        .limit = (uint32_t)vcm_op_number(call, LIMIT, VCM_DEFAULT_KB_LIMIT),
        .max_tokens = vcm_op_number(call, MAX_TOKENS, 0),
    };
    struct vcm_jsonw *w = call->out;
    struct vcm_shared_list hits;
    uint64_t total = 0;

    int rc = vcm_kb_search(&total, call->vcm, &options, put_hit, vcm_shared_list_begin(&hits), err);
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "query", options.query);
    vcm_jsonw_member_uint(w, "total", total);
    rc = vcm_shared_list_end(&hits, w, "hits", rc, err);
    vcm_jsonw_end_object(w);
    return rc;
}

/* "papers/a.pdf, page 3, Introduction > Details" */
static void print_citation(struct vcm_print *out, const struct vcm_json *chunk)
{
    const char *section = vcm_json_get_text(chunk, "section", "");
    int64_t page = vcm_json_get_int(chunk, "page", 0);

    vcm_print_text(out, VCM_PRINT_BOLD, vcm_json_get_text(chunk, "path", ""));
    if (page > 0)
        vcm_print_format(out, VCM_PRINT_PLAIN, ", page %lld", (long long)page);
    if (section[0] != '\0')
        vcm_print_format(out, VCM_PRINT_PLAIN, ", %s", section);
}

/* Prints the snippet on lines of its own, without the line breaks of the text. */
static void print_snippet(struct vcm_print *out, const char *snippet)
{
    struct vcm_buf line = VCM_BUF_INIT(VCM_MIB);

    for (; *snippet != '\0'; snippet++) {
        bool space = strchr(" \n\r\t", *snippet) != NULL;
        if (!space)
            vcm_buf_append_byte(&line, *snippet);
        else if (line.len > 0 && line.data[line.len - 1] != ' ')
            vcm_buf_append_byte(&line, ' ');
    }
    vcm_print_format(out, VCM_PRINT_PLAIN, "  %s\n", vcm_buf_text(&line));
    vcm_buf_release(&line);
}

static void print_search(struct vcm_print *out, const struct vcm_json *document,
                         const struct vcm_op_call *call)
{
    const struct vcm_json *hits = vcm_json_get(document, "hits");
    int64_t total = vcm_json_get_int(document, "total", 0);

    for (const struct vcm_json *hit = hits->first; hit; hit = hit->next) {
        print_citation(out, hit);
        vcm_print_format(out, VCM_PRINT_DIM, "  (%.12s, %lld tokens)\n",
                         vcm_json_get_text(hit, "chunk_id", ""),
                         (long long)vcm_json_get_int(hit, "tokens", 0));
        print_snippet(out, vcm_json_get_text(hit, "snippet", ""));
    }
    if (!call->quiet)
        vcm_print_format(out, VCM_PRINT_DIM, "%u of %lld\n", hits->count, (long long)total);
}

const struct vcm_op vcm_op_kb_search = {
    .name = "kb search",
    .summary = "search the knowledge base",
    .description = "Finds the chunks that contain all words of the query or, if there are none, "
                   "those that contain its rarest words; best first (BM25, headings count double). "
                   "Case and accents are ignored. \"Words in quotes\" must be adjacent, and a star "
                   "after a word matches any ending; there are no other operators. A chunk that "
                   "matches only in text it shares with a better neighbour is left out.",
    .examples = search_examples,
    .params = search_params,
    .param_count = VCM_OP_COUNT(search_params),
    .result = search_result,
    .run = run_search,
    .print = print_search,
    .tool =
        {
            .sets = VCM_OP_SET_CORE | VCM_OP_SET_KB,
            .title = "Search documents",
            .summary = "Searches the documents of the knowledge base (papers, manuals, notes) and "
                       "answers with the best chunks, their section and page. Takes words, "
                       "\"phrases\" and prefixes*.",
        },
};

enum { CHUNK };

static const struct vcm_op_param show_params[] = {
    [CHUNK] = {.name = "chunk",
               .type = VCM_OP_TEXT,
               .positional = true,
               .required = true,
               .placeholder = "CHUNK",
               .summary = "id of the chunk, or a unique prefix of at least 6 digits"},
};

static const struct vcm_result_member show_result[] = {
    {VCM_RESULT_SPLICE_GROUP(citation)},
    {.name = "seq",
     VCM_RESULT_FIELD(struct vcm_kb_chunk, seq),
     .summary = "position in the document, from 1"},
    {.name = "chunks",
     VCM_RESULT_FIELD(struct vcm_kb_chunk, chunks),
     .summary = "number of chunks of the document"},
    {.name = "tokens",
     VCM_RESULT_FIELD(struct vcm_kb_chunk, tokens),
     .summary = "tokens of its serialised record"},
    {.name = "text",
     VCM_RESULT_TEXT_FIELD(struct vcm_kb_chunk, text, text_len),
     .summary = "whole text, including what it repeats from the chunk before"},
    {0},
};

static const char *const show_examples[] = {"vcm kb show 3fa94c21", NULL};

static int put_chunk(void *context, const struct vcm_kb_chunk *chunk, struct vcm_error *err)
{
    struct vcm_jsonw *w = context;

    (void)err;
    vcm_result_put(w, show_result, chunk);
    return VCM_OK;
}

static int run_show(struct vcm_op_call *call, struct vcm_error *err)
{
    return vcm_kb_show(call->vcm, vcm_op_text(call, CHUNK), put_chunk, call->out, err);
}

static void print_show(struct vcm_print *out, const struct vcm_json *document,
                       const struct vcm_op_call *call)
{
    const char *text = vcm_json_get_text(document, "text", "");
    size_t len = strlen(text);

    if (!call->quiet) {
        print_citation(out, document);
        vcm_print_format(out, VCM_PRINT_DIM, "  (chunk %lld of %lld, %lld tokens)\n\n",
                         (long long)vcm_json_get_int(document, "seq", 0),
                         (long long)vcm_json_get_int(document, "chunks", 0),
                         (long long)vcm_json_get_int(document, "tokens", 0));
    }
    vcm_print_text(out, VCM_PRINT_PLAIN, text);
    if (len == 0 || text[len - 1] != '\n')
        vcm_print_text(out, VCM_PRINT_PLAIN, "\n");
}

const struct vcm_op vcm_op_kb_show = {
    .name = "kb show",
    .summary = "print one chunk of the knowledge base",
    .description = "Prints the whole text of a chunk found by kb search, with its citation.",
    .examples = show_examples,
    .params = show_params,
    .param_count = VCM_OP_COUNT(show_params),
    .result = show_result,
    .run = run_show,
    .print = print_show,
    .tool =
        {
            .sets = VCM_OP_SET_KB,
            .title = "Read a chunk",
            .summary = "Reads one chunk of a document, with the chunks before and after it.",
        },
};
