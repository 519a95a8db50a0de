#include "symbols/lookup.h"

#include "symbols/graph.h"
#include "symbols/words.h"

#include "base/banned.h"

/* How parts of a name are joined in some language. */
static const char *const marks[] = {"::", "->", ".", "#", ":"};

/* The length of a mark at `at`, or 0. */
static size_t mark_at(struct vcm_slice text, size_t at)
{
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        size_t len = strlen(marks[i]);
        if (at + len <= text.len && memcmp(text.data + at, marks[i], len) == 0)
            return len;
    }
    return 0;
}

/* Cuts the last part off; false when there is one part. */
static bool split_last(struct vcm_slice *before, struct vcm_slice *last, struct vcm_slice text)
{
    size_t end = 0, begin = 0;

    for (size_t at = 1; at < text.len;) {
        size_t len = mark_at(text, at);
        if (len > 0 && at + len < text.len) {
            end = at;
            begin = at + len;
        }
        at += len > 0 ? len : 1;
    }
    *before = vcm_slice_of(text.data, end);
    *last = vcm_slice_of(text.data + begin, text.len - begin);
    return begin > 0;
}

struct vcm_slice vcm_lookup_last_part(struct vcm_slice text)
{
    struct vcm_slice before, last;

    return split_last(&before, &last, text) ? last : text;
}

/* Whether the container ends with the parts of `text`, whatever joins them. */
static bool container_ends_with(struct vcm_slice container, struct vcm_slice text)
{
    struct vcm_slice outer, part, rest, wanted;

    for (;;) {
        bool more = split_last(&rest, &wanted, text);
        bool deeper = split_last(&outer, &part, container);
        if (!vcm_slice_equal(deeper ? part : container, more ? wanted : text))
            return false;
        if (!more)
            return true;
        if (!deeper)
            return false;
        text = rest;
        container = outer;
    }
}

bool vcm_lookup_matches(const struct vcm_symbol *symbol, struct vcm_slice text)
{
    struct vcm_slice before, last;

    /* Most names of a repository do not even end the text. */
    size_t rest = text.len - symbol->name.len;
    if (symbol->name.len > text.len || symbol->name.len == 0 ||
        memcmp(text.data + rest, symbol->name.data, symbol->name.len) != 0)
        return false;
    if (rest == 0)
        return true;
    return split_last(&before, &last, text) && vcm_slice_equal(symbol->name, last) &&
           container_ends_with(symbol->container, before);
}

struct search {
    const struct vcm_index *index;
    struct vcm_slice text;
    vcm_lookup_fn visit;
    void *context;
    size_t found;
};

static int search_file(struct search *search, size_t file, struct vcm_error *err)
{
    struct vcm_symbols symbols;

    vcm_symbols_init(&symbols);
    int rc = vcm_index_read_definitions(&symbols, search->index, file, err);
    for (uint32_t i = 0; rc == VCM_OK && i < symbols.definition_count; i++) {
        if (!vcm_lookup_matches(&symbols.definitions[i], search->text))
            continue;
        search->found++;
        rc =
            search->visit(search->context,
                          &(struct vcm_lookup_found){
                              .file = file, .symbols = &symbols, .symbol = &symbols.definitions[i]},
                          err);
    }
    vcm_symbols_release(&symbols);
    return rc;
}

/* The files of one word, ascending. */
struct postings {
    const char *files;
    uint32_t begin, end;
};

static bool has_file(const struct postings *postings, uint32_t file)
{
    uint32_t low = postings->begin, high = postings->end;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (vcm_graph_u32(postings->files, middle) < file)
            low = middle + 1;
        else
            high = middle;
    }
    return low < postings->end && vcm_graph_u32(postings->files, low) == file;
}

/* False when a word is in no file. The shortest list comes first. */
static bool find_words(struct postings out[VCM_WORDS_MAX], const struct vcm_graph *graph,
                       const uint64_t *words, size_t count)
{
    const struct vcm_graph_table *table = &graph->words;

    for (size_t i = 0; i < count; i++) {
        uint32_t at = 0;
        if (!vcm_graph_find(&at, table, words[i]))
            return false;
        out[i] = (struct postings){table->files, vcm_graph_u32(table->starts, at),
                                   vcm_graph_u32(table->starts, at + 1)};
        if (out[i].end - out[i].begin < out[0].end - out[0].begin) {
            const struct postings first = out[0];
            out[0] = out[i];
            out[i] = first;
        }
    }
    return true;
}

/* Reads the files that have all words of the name. */
static int search_words(struct search *search, const struct vcm_graph *graph, const uint64_t *words,
                        size_t count, struct vcm_error *err)
{
    struct postings postings[VCM_WORDS_MAX];
    int rc = VCM_OK;

    if (!find_words(postings, graph, words, count))
        return VCM_OK;
    for (uint32_t i = postings[0].begin; rc == VCM_OK && i < postings[0].end; i++) {
        uint32_t file = vcm_graph_u32(postings[0].files, i);
        bool all = true;
        for (size_t j = 1; all && j < count; j++)
            all = has_file(&postings[j], file);
        if (all)
            rc = search_file(search, file, err);
    }
    return rc;
}

int vcm_lookup_visit(const struct vcm_index *index, struct vcm_slice text, vcm_lookup_fn visit,
                     void *context, const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct search search = {.index = index, .text = text, .visit = visit, .context = context};
    struct vcm_graph *graph = NULL;
    uint64_t words[VCM_WORDS_MAX];
    size_t count = vcm_words_of(words, vcm_lookup_last_part(text));
    int rc = VCM_OK;

    if (count > 0)
        rc = vcm_graph_open_stored(&graph, index, err);
    if (rc == VCM_NOT_FOUND)
        rc = VCM_OK;
    if (rc == VCM_OK && graph)
        rc = search_words(&search, graph, words, count, err);
    /* Words of fields are not in the graph. */
    bool scan = !graph || search.found == 0;
    vcm_graph_close(graph);
    for (size_t i = 0; rc == VCM_OK && scan && i < index->file_count; i++) {
        rc = search_file(&search, i, err);
        if (rc == VCM_OK)
            rc = vcm_cancel_check(cancel, err);
    }
    return rc;
}
