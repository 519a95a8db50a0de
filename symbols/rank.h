/*
 * rank.h - which files of a repository matter most, and which of their names.
 *
 * A file that uses a name points to the files that define it, the more often the stronger; a random
 * walk over that graph, which restarts at the files that the caller named, gives the ranks
 * (personalised PageRank). Iterations are fixed and sums are made in one order: equal input gives
 * equal ranks. The graph is graph.h's; only what depends on the request is computed here.
 */
#ifndef VCM_SYMBOLS_RANK_H
#define VCM_SYMBOLS_RANK_H

#include "symbols/graph.h"

struct vcm_rank_request {
    const char *const *focus; /* paths of files or directories */
    size_t focus_count;
    const char *const *mentions; /* names, of symbols or parts of paths */
    size_t mention_count;
    bool by_symbol_count; /* the baseline ranking, for comparison */
    const struct vcm_cancel *cancel;
};

struct vcm_rank {
    double *scores;  /* of the files of the index */
    uint32_t *order; /* files, best first; ties by path */
    size_t symbols;  /* definitions of all files */
    struct vcm_graph *graph;
    struct vcm_rank_aims *aims;
};

int vcm_rank_open(struct vcm_rank **out, const struct vcm_index *index,
                  const struct vcm_rank_request *request, struct vcm_error *err);
void vcm_rank_close(struct vcm_rank *rank);

/* How much of what the request mentions a name is: 1 for a mentioned name, less for one that has a
 * word of a mention, 0 for others. */
double vcm_rank_mention(const struct vcm_rank *rank, struct vcm_slice name);

/* How much a name of a file is used elsewhere; above 0. */
double vcm_rank_of_name(const struct vcm_rank *rank, struct vcm_slice name);

#endif
