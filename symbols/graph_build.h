/*
 * graph_build.h - makes the bytes of a graph from the symbols of all files. Private to graph.c.
 */
#ifndef VCM_SYMBOLS_GRAPH_BUILD_H
#define VCM_SYMBOLS_GRAPH_BUILD_H

#include "symbols/graph.h"

/* Increased whenever the same symbols give another graph, or another stored form. */
#define VCM_GRAPH_FORMAT 2u

/* The header; numbers in native byte order, so that they are used in place. */
struct vcm_graph_head {
    uint32_t format; /* does not match on a machine with another byte order */
    uint32_t file_count;
    uint64_t symbols;
    uint32_t edge_count;
    uint32_t name_count, definer_count;
    uint32_t word_count, posting_count;
    uint32_t unused;
};

/* Appends head and sections, in the order of struct vcm_graph. */
int vcm_graph_build(struct vcm_buf *out, const struct vcm_index *index,
                    const struct vcm_cancel *cancel, struct vcm_error *err);

#endif
