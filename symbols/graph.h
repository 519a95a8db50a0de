/*
 * graph.h - which files of an index use what others define, and the words that characterise files.
 *
 * Made from the symbols of all files, stored with the index's list of files, and used in place: a
 * request reads only what it needs. Names and words are identified by hashes; a collision is so
 * unlikely that it is accepted, and would only change a rank.
 * A new graph and a stored one are the same bytes. A graph lives no longer than its index.
 */
#ifndef VCM_SYMBOLS_GRAPH_H
#define VCM_SYMBOLS_GRAPH_H

#include "symbols/index.h"

/* Numbers of names or of words in order, and for each the files that have it. */
struct vcm_graph_table {
    uint32_t count;      /* of numbers */
    uint32_t link_count; /* of files of all of them */
    const char *numbers; /* u64 */
    const char *scores;  /* float: how much the name is used elsewhere */
    const char *starts;  /* u32, one more than numbers: where the files of a number begin */
    const char *files;   /* u32, ascending for each number */
    const char *weights; /* u8 for each file: how often, see VCM_GRAPH_IN_PATH */
};

/* Set in a weight of a word that is in the file's path. */
#define VCM_GRAPH_IN_PATH 0x80u

struct vcm_graph {
    uint64_t symbols; /* definitions of all files */
    uint32_t file_count;
    uint32_t edge_count;
    const char *standings; /* float for each file: less for vendored and generated ones */
    const char *tests;     /* u8 for each file: whether it tests others, or shows how to use them */
    const char *counts;    /* u32 for each file: definitions */
    const char *starts;    /* u32, one more than files: where the edges of a file begin */
    const char *targets;   /* u32 for each edge */
    const char *shares;    /* float for each edge; those of a file add up to 1 */
    struct vcm_graph_table names, words;
    struct vcm_buf bytes; /* of a graph that was built and not read from the store */
};

/* Values are not aligned. */
static inline uint32_t vcm_graph_u32(const char *at, size_t index)
{
    uint32_t value;

    memcpy(&value, at + index * sizeof value, sizeof value);
    return value;
}

static inline float vcm_graph_float(const char *at, size_t index)
{
    float value;

    memcpy(&value, at + index * sizeof value, sizeof value);
    return value;
}

int vcm_graph_open(struct vcm_graph **out, const struct vcm_index *index,
                   const struct vcm_cancel *cancel, struct vcm_error *err);
/* Only one that is stored: NOT_FOUND, with `err` untouched, when it would have to be made. */
int vcm_graph_open_stored(struct vcm_graph **out, const struct vcm_index *index,
                          struct vcm_error *err);
void vcm_graph_close(struct vcm_graph *graph);

/* The number of a whole name. */
uint64_t vcm_graph_number(struct vcm_slice name);

/* Whether the table has the number; then *out is its index. */
bool vcm_graph_find(uint32_t *out, const struct vcm_graph_table *table, uint64_t number);

#endif
