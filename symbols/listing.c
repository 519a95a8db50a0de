#include "symbols/listing.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/utf8.h"

#include "base/banned.h"

#define TEXT_MAX        (64 * VCM_MIB)
#define TOKENS_PER_FILE 20u /* estimated tokens to show anything of a file */
#define FILES_MIN       64u
#define PER_FILE_MAX    60u
#define WEIGHT_NOISE    0.001
#define MENTIONED       4.0 /* times more for a symbol that is mentioned */

struct line {
    double score;
    uint32_t rank; /* of its file */
    uint32_t number;
    uint32_t tokens;
    uint32_t start, len; /* in the texts */
    bool is_noise;       /* no gap is filled with it */
    bool shown;
};

struct block {
    uint32_t tokens; /* of the path's line */
    uint32_t start, len;
    bool shown;
};

struct draft {
    const struct vcm_index *index;
    const struct vcm_rank *rank;
    const struct vcm_tokenizer *tokenizer;
    struct vcm_buf texts;
    struct line *lines;
    size_t count, capacity;
    struct block *blocks; /* by rank */
    size_t block_count;
};

/* A variable that only its file sees, or that a script sets: "local vim = vim", "i=0". */
static bool is_local(const struct vcm_symbol *symbol)
{
    struct vcm_slice text = symbol->signature, name = symbol->name;
    bool is_declared = text.len < name.len || memcmp(text.data, name.data, name.len) != 0;

    return (text.len > 6 && memcmp(text.data, "local ", 6) == 0) ||
           (!is_declared && text.len > name.len && text.data[name.len] == '=');
}

/* What says little to a newcomer stands back: variables and constants, those of a module most. */
static double weigh_kind(const struct vcm_symbol *symbol)
{
    double weight = symbol->visibility == VCM_SYMBOL_PRIVATE ? 0.3 : 1;

    switch (symbol->kind) {
    case VCM_SYMBOL_FIELD:
    case VCM_SYMBOL_ENUMERATOR:
        return 0;
    case VCM_SYMBOL_VARIABLE:
        return is_local(symbol) ? WEIGHT_NOISE : 0.1 * weight;
    case VCM_SYMBOL_CONSTANT:
        return 0.2 * weight;
    case VCM_SYMBOL_MACRO:
        return 0.3 * weight;
    default:
        return weight;
    }
}

/* Whether a macro has no value: it is there for #ifdef, as include guards are. */
static bool is_empty_macro(const struct vcm_symbol *symbol)
{
    struct vcm_slice name = symbol->name, text = symbol->signature;

    return symbol->kind == VCM_SYMBOL_MACRO && text.len > name.len &&
           memcmp(text.data + text.len - name.len, name.data, name.len) == 0;
}

static uint32_t count_tokens(const struct draft *draft, size_t start)
{
    return (uint32_t)vcm_tokenizer_count(
        draft->tokenizer, vcm_slice_of(draft->texts.data + start, draft->texts.len - start));
}

static int add_line(struct draft *draft, uint32_t rank, const struct vcm_symbol *symbol,
                    double score, struct vcm_error *err)
{
    struct vcm_slice text = symbol->signature.len > 0 ? symbol->signature : symbol->name;
    size_t start = draft->texts.len;

    int rc = vcm_array_reserve(&draft->lines, &draft->capacity, draft->count + 1,
                               VCM_LIMIT_LIST_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    const char *kind = vcm_symbol_kind_name(symbol->kind);
    vcm_buf_append_string(&draft->texts, "  ");
    if (!vcm_text_tells_kind(text, kind, symbol->name))
        vcm_buf_append_format(&draft->texts, "%s ", kind);
    vcm_utf8_replace(&draft->texts, text);
    vcm_buf_append_format(&draft->texts, " :%u\n", symbol->line);
    rc = vcm_buf_check(&draft->texts, "the map", err);
    if (rc != VCM_OK)
        return rc;
    draft->lines[draft->count++] = (struct line){
        .score = score,
        .is_noise = weigh_kind(symbol) <= WEIGHT_NOISE,
        .rank = rank,
        .number = symbol->line,
        .tokens = count_tokens(draft, start),
        .start = (uint32_t)start,
        .len = (uint32_t)(draft->texts.len - start),
    };
    return VCM_OK;
}

struct choice {
    const struct vcm_symbol *symbol;
    double score;
    double kind;    /* its weight */
    double mention; /* of it */
};

static int by_choice(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;

    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->symbol > y->symbol) - (x->symbol < y->symbol);
}

/* Adds the best symbols of a file, which share its score. */
static int draft_symbols(struct draft *draft, uint32_t rank, const struct vcm_symbols *symbols,
                         struct vcm_error *err)
{
    struct choice *choices = calloc((size_t)symbols->definition_count + 1, sizeof *choices);
    /* The square root: a map shows several files, not all of one. */
    double file_score = cbrt(draft->rank->scores[draft->rank->order[rank]]), sum = 0;
    size_t count = 0;
    int rc = choices ? VCM_OK : vcm_error_memory(err);

    for (uint32_t i = 0; rc == VCM_OK && i < symbols->definition_count; i++) {
        const struct vcm_symbol *symbol = &symbols->definitions[i];
        double kind = is_empty_macro(symbol) ? 0 : weigh_kind(symbol), score = 0;
        if (kind > 0)
            score = kind * vcm_rank_of_name(draft->rank, symbol->name);
        if (score > 0)
            choices[count++] =
                (struct choice){symbol, score, kind, vcm_rank_mention(draft->rank, symbol->name)};
        sum += score;
    }
    if (count > 0)
        qsort(choices, count, sizeof *choices, by_choice);
    for (size_t i = 0; rc == VCM_OK && i < count && i < PER_FILE_MAX; i++)
        rc = add_line(draft, rank, choices[i].symbol,
                      file_score * choices[i].kind * (1 + MENTIONED * choices[i].mention) *
                          (choices[i].score / sum + 1 / (double)(i + 1)),
                      err);
    free(choices);
    return rc;
}

static int draft_file(struct draft *draft, uint32_t rank, struct vcm_error *err)
{
    size_t file = draft->rank->order[rank], start = draft->texts.len;
    struct vcm_buf path = VCM_BUF_INIT(8 * VCM_LIMIT_TREE_PATH_BYTES);
    struct vcm_symbols symbols;

    vcm_symbols_init(&symbols);
    int rc = vcm_index_read_definitions(&symbols, draft->index, file, err);
    vcm_utf8_escape_path(&path, draft->index->files[file].path);
    vcm_utf8_append_quoted(&draft->texts, vcm_buf_slice(&path));
    vcm_buf_release(&path);
    bool by_ctags = vcm_language_ctags_name(draft->index->files[file].language) != NULL;
    vcm_buf_append_string(&draft->texts, by_ctags ? ": (ctags)\n" : ":\n");
    if (rc == VCM_OK)
        rc = vcm_buf_check(&draft->texts, "the map", err);
    if (rc == VCM_OK) {
        draft->blocks[rank] = (struct block){.tokens = count_tokens(draft, start),
                                             .start = (uint32_t)start,
                                             .len = (uint32_t)(draft->texts.len - start)};
        rc = draft_symbols(draft, rank, &symbols, err);
    }
    vcm_symbols_release(&symbols);
    return rc;
}

static int by_score(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

static int by_place(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

/* "src/a.c:\n" and "  function f :1\n" as one text. */
static void name_next(const struct draft *draft, struct vcm_listing *out, const struct line *line,
                      const struct block *block)
{
    vcm_buf_append(&out->next, draft->texts.data + block->start, block->len - 1);
    vcm_buf_append(&out->next, draft->texts.data + line->start + 1, line->len - 2);
}

/* Every line ends with a line break, and no token crosses a line break into a line that begins with
 * another character: so the count of the text is the sum of the lines. write_text() counts
 * again. */
static void choose(struct draft *draft, struct vcm_listing *out, size_t budget)
{
    size_t used = 0;

    if (draft->count > 0)
        qsort(draft->lines, draft->count, sizeof *draft->lines, by_score);
    for (size_t i = 0; i < draft->count; i++) {
        struct line *line = &draft->lines[i];
        struct block *block = &draft->blocks[line->rank];
        size_t cost = line->tokens + (block->shown ? 0 : block->tokens);
        line->shown = used + cost <= budget && !(line->is_noise && out->tokens_next > 0);
        if (!line->shown && out->tokens_next == 0) {
            out->tokens_next = used + cost;
            name_next(draft, out, line, block);
        }
        used += line->shown ? cost : 0;
        block->shown = block->shown || line->shown;
    }
    if (draft->count > 0)
        qsort(draft->lines, draft->count, sizeof *draft->lines, by_place);
}

static void write_text(struct draft *draft, struct vcm_listing *out)
{
    uint32_t last = UINT32_MAX;

    vcm_buf_clear(&out->text);
    out->files_covered = out->symbols_shown = 0;
    for (size_t i = 0; i < draft->count; i++) {
        const struct line *line = &draft->lines[i];
        const struct block *block = &draft->blocks[line->rank];
        if (!line->shown)
            continue;
        if (line->rank != last) {
            vcm_buf_append(&out->text, draft->texts.data + block->start, block->len);
            out->files_covered++;
        }
        last = line->rank;
        vcm_buf_append(&out->text, draft->texts.data + line->start, line->len);
        out->symbols_shown++;
    }
    out->tokens = vcm_tokenizer_count(draft->tokenizer, vcm_buf_slice(&out->text));
}

int vcm_listing_make(struct vcm_listing *out, const struct vcm_index *index,
                     const struct vcm_rank *rank, const struct vcm_tokenizer *tokenizer,
                     size_t budget, struct vcm_error *err)
{
    struct draft draft = {.index = index, .rank = rank, .tokenizer = tokenizer};
    int rc = VCM_OK;

    *out = (struct vcm_listing){.symbols_total = rank->symbols};
    vcm_buf_init(&out->text, TEXT_MAX);
    vcm_buf_init(&out->next, TEXT_MAX);
    vcm_buf_init(&draft.texts, TEXT_MAX);
    draft.block_count = FILES_MIN + budget / TOKENS_PER_FILE;
    if (draft.block_count > index->file_count)
        draft.block_count = index->file_count;
    draft.blocks = calloc(draft.block_count + 1, sizeof *draft.blocks);
    if (!draft.blocks)
        rc = vcm_error_memory(err);
    for (uint32_t i = 0; rc == VCM_OK && i < draft.block_count; i++)
        rc = draft_file(&draft, i, err);
    if (rc == VCM_OK) {
        choose(&draft, out, budget);
        write_text(&draft, out);
        for (size_t i = draft.count; out->tokens > budget && i > 0; i--) {
            draft.lines[i - 1].shown = false;
            write_text(&draft, out);
        }
        for (size_t i = 0; i < index->file_count; i++)
            out->files_dropped += vcm_graph_u32(rank->graph->counts, i) > 0;
        out->files_dropped -= out->files_covered;
        assert(out->tokens <= budget);
        rc = vcm_buf_check(&out->text, "the map", err);
    }
    if (rc == VCM_OK)
        rc = vcm_buf_check(&out->next, "the map", err);
    free(draft.blocks);
    free(draft.lines);
    vcm_buf_release(&draft.texts);
    return rc;
}

void vcm_listing_release(struct vcm_listing *listing)
{
    vcm_buf_release(&listing->text);
    vcm_buf_release(&listing->next);
}
