#include "symbols/graph.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/limits.h"
#include "symbols/graph_build.h"

#include "base/banned.h"

#define GRAPH_MAX (2 * VCM_GIB)

/* The sections, one behind the other; what is too long makes `bad`. */
struct sections {
    struct vcm_slice rest;
    bool bad;
};

static const char *take(struct sections *sections, size_t count, size_t size)
{
    const char *at = sections->rest.data;

    if (sections->bad || count > sections->rest.len / size) {
        sections->bad = true;
        return NULL;
    }
    sections->rest = vcm_slice_of(at + count * size, sections->rest.len - count * size);
    return at;
}

static void take_table(struct vcm_graph_table *table, struct sections *sections, uint32_t count,
                       uint32_t link_count)
{
    table->count = count;
    table->link_count = link_count;
    table->numbers = take(sections, count, sizeof(uint64_t));
    table->scores = take(sections, count, sizeof(float));
    table->starts = take(sections, (size_t)count + 1, sizeof(uint32_t));
    table->files = take(sections, link_count, sizeof(uint32_t));
    table->weights = take(sections, link_count, 1);
}

/* Starts must ascend to the number of links, and links must be numbers of files. */
static bool is_sound(const char *starts, size_t count, const char *files, uint32_t link_count,
                     uint32_t file_count)
{
    uint32_t last = 0;

    for (size_t i = 0; i <= count; i++) {
        uint32_t start = vcm_graph_u32(starts, i);
        if (start < last || start > link_count)
            return false;
        last = start;
    }
    for (size_t i = 0; i < link_count; i++)
        if (vcm_graph_u32(files, i) >= file_count)
            return false;
    return last == link_count && vcm_graph_u32(starts, 0) == 0;
}

static bool read_graph(struct vcm_graph *graph, struct vcm_slice bytes, size_t file_count)
{
    struct vcm_graph_head head;
    struct sections sections = {.rest = bytes};

    const char *at = take(&sections, 1, sizeof head);
    if (!at)
        return false;
    memcpy(&head, at, sizeof head);
    if (head.format != VCM_GRAPH_FORMAT || head.file_count != file_count)
        return false;
    graph->symbols = head.symbols;
    graph->file_count = head.file_count;
    graph->edge_count = head.edge_count;
    graph->standings = take(&sections, file_count, sizeof(float));
    graph->tests = take(&sections, file_count, 1);
    graph->counts = take(&sections, file_count, sizeof(uint32_t));
    graph->starts = take(&sections, file_count + 1, sizeof(uint32_t));
    graph->targets = take(&sections, head.edge_count, sizeof(uint32_t));
    graph->shares = take(&sections, head.edge_count, sizeof(float));
    take_table(&graph->names, &sections, head.name_count, head.definer_count);
    take_table(&graph->words, &sections, head.word_count, head.posting_count);
    if (sections.bad || sections.rest.len > 0)
        return false;
    const struct vcm_graph_table *names = &graph->names, *words = &graph->words;
    return is_sound(graph->starts, file_count, graph->targets, head.edge_count, head.file_count) &&
           is_sound(names->starts, names->count, names->files, names->link_count,
                    head.file_count) &&
           is_sound(words->starts, words->count, words->files, words->link_count, head.file_count);
}

int vcm_graph_open_stored(struct vcm_graph **out, const struct vcm_index *index,
                          struct vcm_error *err)
{
    struct vcm_graph *graph = calloc(1, sizeof *graph);
    struct vcm_slice bytes;

    *out = NULL;
    if (!graph)
        return vcm_error_memory(err);
    vcm_buf_init(&graph->bytes, GRAPH_MAX);
    int rc = vcm_index_recall(&bytes, index, err);
    if (rc == VCM_OK && !read_graph(graph, bytes, index->file_count))
        rc = VCM_NOT_FOUND;
    if (rc == VCM_OK)
        *out = graph;
    else
        vcm_graph_close(graph);
    return rc;
}

static int make_graph(struct vcm_graph *graph, const struct vcm_index *index,
                      const struct vcm_cancel *cancel, struct vcm_error *err)
{
    vcm_buf_init(&graph->bytes, GRAPH_MAX);
    int rc = vcm_graph_build(&graph->bytes, index, cancel, err);
    if (rc == VCM_OK && !read_graph(graph, vcm_buf_slice(&graph->bytes), index->file_count))
        rc = vcm_error_set(err, VCM_INTERNAL, "the graph of the files is malformed");
    if (rc == VCM_OK)
        vcm_index_remember(index, vcm_buf_slice(&graph->bytes));
    return rc;
}

int vcm_graph_open(struct vcm_graph **out, const struct vcm_index *index,
                   const struct vcm_cancel *cancel, struct vcm_error *err)
{
    int rc = vcm_graph_open_stored(out, index, err);

    if (rc != VCM_NOT_FOUND)
        return rc;
    struct vcm_graph *graph = calloc(1, sizeof *graph);
    if (!graph)
        return vcm_error_memory(err);
    rc = make_graph(graph, index, cancel, err);
    if (rc == VCM_OK)
        *out = graph;
    else
        vcm_graph_close(graph);
    return rc;
}

void vcm_graph_close(struct vcm_graph *graph)
{
    if (!graph)
        return;
    vcm_buf_release(&graph->bytes);
    free(graph);
}

uint64_t vcm_graph_number(struct vcm_slice name)
{
    return vcm_hash_checksum(name, 0);
}

bool vcm_graph_find(uint32_t *out, const struct vcm_graph_table *table, uint64_t number)
{
    uint32_t low = 0, high = table->count;
    uint64_t found = 0;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        memcpy(&found, table->numbers + middle * sizeof found, sizeof found);
        if (found < number)
            low = middle + 1;
        else
            high = middle;
    }
    *out = low;
    if (low < table->count)
        memcpy(&found, table->numbers + low * sizeof found, sizeof found);
    return low < table->count && found == number;
}
