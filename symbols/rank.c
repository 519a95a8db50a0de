#include "symbols/rank.h"

#include <math.h>
#include <stdlib.h>

#include "base/limits.h"
#include "symbols/words.h"

#include "base/banned.h"

/* The number of iterations; where the caller named a focus, the walk stays near it. */
#define DAMPING         0.85
#define DAMPING_NEAR    0.45
#define ITERATIONS      40
#define ITERATIONS_NEAR 16   /* 0.45 to this power is negligible too */
#define WEIGHT_FAR      0.02 /* of files that were not named, where others were */
#define WEIGHT_FOCUS    2.0
#define WEIGHT_TEST     0.2  /* where the walk restarts */
#define TEST_LAST       1e-9 /* of a test's score: it comes behind what it tests */
#define DEFINERS_MAX    50   /* a name that more files define says nothing */
#define WORD_IN_PATH    1.0
#define WORD_HALF       2.0 /* names with a word, of which half as much again as of many is made */
#define WORD_IN_NAME    500.0 /* beside the 1,000 of a name that is mentioned itself */

/* A mentioned word, and its weight. */
struct aim {
    uint64_t word;
    double weight;
};

struct vcm_rank_aims {
    uint64_t *names; /* numbers of mentioned names that are defined somewhere */
    size_t name_count;
    struct aim *words;
    size_t word_count;
};

struct ranking {
    const struct vcm_index *index;
    const struct vcm_rank_request *request;
    struct vcm_rank *rank;
    double *standings; /* of files, tests weighed in */
    double *teleport;
    double *near;
    bool has_aim;     /* focus or mentions match some file */
    bool wants_tests; /* a mention says so */
};

static bool is_below(struct vcm_slice path, const char *focus)
{
    size_t len = strlen(focus);

    while (len > 0 && focus[len - 1] == '/')
        len--;
    return path.len >= len && memcmp(path.data, focus, len) == 0 &&
           (path.len == len || path.data[len] == '/' || len == 0);
}

static void aim_at(struct ranking *ranking, uint32_t file, double weight)
{
    ranking->near[file] += weight * ranking->standings[file];
    ranking->has_aim = true;
}

static void aim_at_name(struct ranking *ranking, struct vcm_slice name)
{
    const struct vcm_graph_table *names = &ranking->rank->graph->names;
    struct vcm_rank_aims *aims = ranking->rank->aims;
    uint64_t number = vcm_graph_number(name);
    uint32_t found = 0;

    if (!vcm_graph_find(&found, names, number))
        return;
    uint32_t start = vcm_graph_u32(names->starts, found),
             end = vcm_graph_u32(names->starts, found + 1);
    if (end - start > DEFINERS_MAX)
        return;
    for (uint32_t i = start; i < end; i++)
        aim_at(ranking, vcm_graph_u32(names->files, i), 1.0 / (end - start));
    aims->names[aims->name_count++] = number;
}

/* A word that few files have weighs more; one in the path describes the whole file. */
static void aim_at_word(struct ranking *ranking, uint64_t word, double share)
{
    const struct vcm_graph *graph = ranking->rank->graph;
    const struct vcm_graph_table *words = &graph->words;
    struct vcm_rank_aims *aims = ranking->rank->aims;
    uint32_t found = 0;

    if (!vcm_graph_find(&found, words, word))
        return;
    uint32_t start = vcm_graph_u32(words->starts, found),
             end = vcm_graph_u32(words->starts, found + 1);
    double count = (double)graph->file_count + 1;
    double weight = share * log(count / (end - start)) / log(count);
    for (uint32_t i = start; i < end; i++) {
        unsigned byte = (unsigned char)words->weights[i];
        double often = byte & ~VCM_GRAPH_IN_PATH;
        double part = (byte & VCM_GRAPH_IN_PATH ? WORD_IN_PATH : 0) + often / (often + WORD_HALF);
        aim_at(ranking, vcm_graph_u32(words->files, i), weight * part);
    }
    aims->words[aims->word_count++] = (struct aim){word, weight};
}

static void aim_at_mention(struct ranking *ranking, const char *mention)
{
    uint64_t words[VCM_WORDS_MAX];
    struct vcm_slice text = vcm_slice_of_string(mention);
    size_t count = vcm_words_of(words, text);

    aim_at_name(ranking, text);
    for (size_t i = 0; i < count; i++)
        aim_at_word(ranking, words[i], 1 / (double)count);
}

/* Tests come last, unless the request asks for them. */
static bool names_tests(const char *mention)
{
    static const char *const names[] = {"test",    "spec",    "bench", "benchmark",
                                        "example", "fixture", "fuzz"};
    uint64_t words[VCM_WORDS_MAX], word[VCM_WORDS_MAX];
    size_t count = vcm_words_of(words, vcm_slice_of_string(mention));

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        for (size_t j = 0; j < count; j++)
            if (vcm_words_of(word, vcm_slice_of_string(names[i])) == 1 && word[0] == words[j])
                return true;
    return false;
}

static bool stands_last(const struct ranking *ranking, size_t file)
{
    const struct vcm_rank_request *request = ranking->request;
    bool last = ranking->rank->graph->tests[file] && !ranking->wants_tests;

    for (size_t i = 0; last && i < request->focus_count; i++)
        last = !is_below(ranking->index->files[file].path, request->focus[i]);
    return last;
}

static void judge_files(struct ranking *ranking)
{
    const struct vcm_graph *graph = ranking->rank->graph;
    const struct vcm_rank_request *request = ranking->request;

    for (size_t i = 0; i < request->mention_count; i++)
        ranking->wants_tests = ranking->wants_tests || names_tests(request->mentions[i]);
    for (size_t i = 0; i < ranking->index->file_count; i++)
        ranking->standings[i] = (double)vcm_graph_float(graph->standings, i) *
                                (stands_last(ranking, i) ? WEIGHT_TEST : 1);
}

/* Where the walk restarts. */
static void prefer(struct ranking *ranking)
{
    const struct vcm_rank_request *request = ranking->request;
    size_t count = ranking->index->file_count;
    double sum = 0;

    judge_files(ranking);
    for (size_t i = 0; i < count; i++) {
        ranking->teleport[i] = ranking->standings[i];
        ranking->near[i] = WEIGHT_FAR * ranking->standings[i];
    }
    for (size_t j = 0; j < request->focus_count; j++)
        for (size_t i = 0; i < count; i++)
            if (is_below(ranking->index->files[i].path, request->focus[j]))
                aim_at(ranking, (uint32_t)i, WEIGHT_FOCUS);
    for (size_t i = 0; i < request->mention_count; i++)
        aim_at_mention(ranking, request->mentions[i]);
    if (ranking->has_aim)
        memcpy(ranking->teleport, ranking->near, count * sizeof *ranking->near);
    for (size_t i = 0; i < count; i++)
        sum += ranking->teleport[i];
    for (size_t i = 0; i < count; i++)
        ranking->teleport[i] /= sum;
}

static void walk(struct ranking *ranking)
{
    const struct vcm_graph *graph = ranking->rank->graph;
    size_t count = ranking->index->file_count;
    double damping = ranking->has_aim ? DAMPING_NEAR : DAMPING;
    unsigned steps = ranking->has_aim ? ITERATIONS_NEAR : ITERATIONS;
    double *scores = ranking->rank->scores, *next = ranking->near;

    memcpy(scores, ranking->teleport, count * sizeof *scores);
    for (unsigned step = 0; step < steps; step++) {
        double lost = 0;
        memset(next, 0, count * sizeof *next);
        for (size_t i = 0; i < count; i++) {
            uint32_t end = vcm_graph_u32(graph->starts, i + 1);
            uint32_t edge = vcm_graph_u32(graph->starts, i);
            if (edge == end)
                lost += scores[i];
            for (; edge < end; edge++)
                next[vcm_graph_u32(graph->targets, edge)] +=
                    scores[i] * (double)vcm_graph_float(graph->shares, edge);
        }
        for (size_t i = 0; i < count; i++)
            scores[i] = (1 - damping) * ranking->teleport[i] +
                        damping * (next[i] + lost * ranking->teleport[i]);
    }
    for (size_t i = 0; i < count; i++)
        scores[i] *= ranking->standings[i] * (stands_last(ranking, i) ? TEST_LAST : 1);
}

struct scored {
    double score;
    uint32_t file;
};

static int by_score(const void *a, const void *b)
{
    const struct scored *x = a, *y = b;

    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->file > y->file) - (x->file < y->file);
}

static int put_in_order(struct vcm_rank *rank, size_t count, struct vcm_error *err)
{
    struct scored *files = calloc(count + 1, sizeof *files);

    if (!files)
        return vcm_error_memory(err);
    for (size_t i = 0; i < count; i++)
        files[i] = (struct scored){rank->scores[i], (uint32_t)i};
    qsort(files, count, sizeof *files, by_score);
    for (size_t i = 0; i < count; i++)
        rank->order[i] = files[i].file;
    free(files);
    return VCM_OK;
}

static int begin(struct ranking *ranking, struct vcm_error *err)
{
    size_t count = ranking->index->file_count, mentions = ranking->request->mention_count;
    struct vcm_rank *rank = ranking->rank;

    rank->scores = calloc(count + 1, sizeof *rank->scores);
    rank->order = calloc(count + 1, sizeof *rank->order);
    rank->aims = calloc(1, sizeof *rank->aims);
    ranking->standings = calloc(count + 1, sizeof *ranking->standings);
    ranking->teleport = calloc(count + 1, sizeof *ranking->teleport);
    ranking->near = calloc(count + 1, sizeof *ranking->near);
    if (!rank->scores || !rank->order || !rank->aims || !ranking->standings || !ranking->teleport ||
        !ranking->near)
        return vcm_error_memory(err);
    rank->aims->names = calloc(mentions + 1, sizeof *rank->aims->names);
    rank->aims->words = calloc(mentions * VCM_WORDS_MAX + 1, sizeof *rank->aims->words);
    return rank->aims->names && rank->aims->words ? VCM_OK : vcm_error_memory(err);
}

int vcm_rank_open(struct vcm_rank **out, const struct vcm_index *index,
                  const struct vcm_rank_request *request, struct vcm_error *err)
{
    struct ranking ranking = {.index = index, .request = request};

    *out = NULL;
    struct vcm_rank *rank = ranking.rank = calloc(1, sizeof *rank);
    if (!rank)
        return vcm_error_memory(err);
    int rc = begin(&ranking, err);
    if (rc == VCM_OK)
        rc = vcm_graph_open(&rank->graph, index, request->cancel, err);
    if (rc == VCM_OK) {
        rank->symbols = (size_t)rank->graph->symbols;
        if (!request->by_symbol_count) {
            prefer(&ranking);
            walk(&ranking);
        }
        for (size_t i = 0; request->by_symbol_count && i < index->file_count; i++)
            rank->scores[i] = vcm_graph_u32(rank->graph->counts, i);
        rc = put_in_order(rank, index->file_count, err);
    }
    free(ranking.standings);
    free(ranking.teleport);
    free(ranking.near);
    if (rc == VCM_OK)
        *out = rank;
    else
        vcm_rank_close(rank);
    return rc;
}

void vcm_rank_close(struct vcm_rank *rank)
{
    if (!rank)
        return;
    if (rank->aims) {
        free(rank->aims->names);
        free(rank->aims->words);
    }
    free(rank->aims);
    vcm_graph_close(rank->graph);
    free(rank->order);
    free(rank->scores);
    free(rank);
}

double vcm_rank_mention(const struct vcm_rank *rank, struct vcm_slice name)
{
    const struct vcm_rank_aims *aims = rank->aims;
    uint64_t number = vcm_graph_number(name), words[VCM_WORDS_MAX];
    double most = 0;

    for (size_t i = 0; i < aims->name_count; i++)
        if (aims->names[i] == number)
            return 1;
    size_t count = aims->word_count > 0 ? vcm_words_of(words, name) : 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < aims->word_count; j++)
            if (aims->words[j].word == words[i] && aims->words[j].weight > most)
                most = aims->words[j].weight;
    return most < 1 ? most : 1;
}

double vcm_rank_of_name(const struct vcm_rank *rank, struct vcm_slice name)
{
    const struct vcm_rank_aims *aims = rank->aims;
    const struct vcm_graph_table *names = &rank->graph->names;
    uint64_t number = vcm_graph_number(name), words[VCM_WORDS_MAX];
    uint32_t found = 0;
    bool known = vcm_graph_find(&found, names, number);
    double score = known ? 0.2 + (double)vcm_graph_float(names->scores, found) : 0.1;

    for (size_t i = 0; i < aims->name_count; i++)
        if (aims->names[i] == number)
            return score + 1000;
    size_t count = aims->word_count > 0 ? vcm_words_of(words, name) : 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < aims->word_count; j++)
            if (aims->words[j].word == words[i])
                score += WORD_IN_NAME * aims->words[j].weight;
    return score;
}
