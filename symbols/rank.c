#include "symbols/rank.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>

#include "base/hash.h"
#include "base/limits.h"
#include "symbols/imports.h"

#include "base/banned.h"

/* How often the walk goes on; where the caller said what matters, it stays near that. */
#define DAMPING       0.85
#define DAMPING_NEAR  0.45
#define WEIGHT_FAR    0.02 /* of files that were not meant, where others were */
#define ITERATIONS    40
#define DEFINERS_MANY 5  /* a name that more files define says little */
#define DEFINERS_MAX  50 /* and beyond this nothing */
#define LONG_NAME     8

struct name {
    struct vcm_slice text; /* in the index's store */
    uint32_t first;        /* 1 + the first of its definers in the list */
    uint32_t definers;
    bool mentioned;
    double score;
};

struct definer {
    uint32_t file;
    uint32_t next; /* 1 + the next */
};

struct vcm_rank_names {
    struct name *items;
    size_t count, capacity;
    uint32_t *slots; /* 1 + the index of a name */
    uint32_t mask;
    struct definer *definers;
    size_t definer_count, definer_capacity;
};

struct edge {
    uint32_t to;
    float weight;
};

struct graph {
    const struct vcm_index *index;
    const struct vcm_rank_request *request;
    struct vcm_rank *rank;
    struct vcm_imports *imports;
    struct edge *edges; /* of file i: from starts[i] to starts[i + 1] */
    size_t edge_count, edge_capacity;
    size_t *starts;
    uint32_t *seen; /* for each name: how often the file at hand uses it */
    double *pulls;  /* for each file: the weight of the edge to it from the file at hand */
    uint32_t *touched;
    bool *imported; /* for each file, by the one at hand */
    double *teleport;
    bool has_aim; /* focus or mentions are about some file */
};

static void *grow(void *items, size_t *capacity, size_t size)
{
    size_t more = *capacity ? 2 * *capacity : 4096;
    void *grown = realloc(items, more * size);

    if (grown)
        *capacity = more;
    return grown;
}

static uint32_t find_slot(const struct vcm_rank_names *names, struct vcm_slice text)
{
    uint32_t slot = (uint32_t)vcm_hash_checksum(text, 0) & names->mask;

    while (names->slots[slot] != 0 &&
           !vcm_slice_equal(names->items[names->slots[slot] - 1].text, text))
        slot = (slot + 1) & names->mask;
    return slot;
}

static bool widen(struct vcm_rank_names *names)
{
    uint32_t *slots = calloc(2 * ((size_t)names->mask + 1), sizeof *slots);

    if (!slots)
        return false;
    free(names->slots);
    names->slots = slots;
    names->mask = 2 * names->mask + 1;
    for (size_t i = 0; i < names->count; i++)
        names->slots[find_slot(names, names->items[i].text)] = (uint32_t)i + 1;
    return true;
}

static int add_name(uint32_t *out, struct vcm_rank_names *names, struct vcm_slice text,
                    struct vcm_error *err)
{
    uint32_t slot = find_slot(names, text);

    if (names->slots[slot] == 0) {
        if (names->count == names->capacity) {
            struct name *items = grow(names->items, &names->capacity, sizeof *items);
            if (!items)
                return vcm_error_memory(err);
            names->items = items;
        }
        names->items[names->count++] = (struct name){.text = text};
        names->slots[slot] = (uint32_t)names->count;
        *out = (uint32_t)names->count - 1;
        if (names->count > names->mask / 2 && !widen(names))
            return vcm_error_memory(err);
        return VCM_OK;
    }
    *out = names->slots[slot] - 1;
    return VCM_OK;
}

static int add_definer(struct vcm_rank_names *names, uint32_t name, uint32_t file,
                       struct vcm_error *err)
{
    struct name *item = &names->items[name];

    if (item->first > 0 && names->definers[item->first - 1].file == file)
        return VCM_OK;
    if (names->definer_count == names->definer_capacity) {
        struct definer *more = grow(names->definers, &names->definer_capacity, sizeof *more);
        if (!more)
            return vcm_error_memory(err);
        names->definers = more;
    }
    names->definers[names->definer_count] = (struct definer){file, item->first};
    item->first = (uint32_t)++names->definer_count;
    item->definers++;
    return VCM_OK;
}

static bool is_static(const struct graph *graph, uint32_t file, const struct vcm_symbol *symbol)
{
    enum vcm_language language = graph->index->files[file].language;

    return symbol->visibility == VCM_SYMBOL_PRIVATE &&
           (language == VCM_LANGUAGE_C || language == VCM_LANGUAGE_CPP);
}

static int take_definitions(struct graph *graph, uint32_t file, const struct vcm_symbols *symbols,
                            struct vcm_error *err)
{
    struct vcm_rank_names *names = graph->rank->names;
    int rc = VCM_OK;

    for (uint32_t i = 0; rc == VCM_OK && i < symbols->definition_count; i++) {
        const struct vcm_symbol *symbol = &symbols->definitions[i];
        uint32_t name = 0;
        graph->rank->symbols++;
        if (graph->request->by_symbol_count)
            graph->rank->scores[file] += 1;
        /* What nobody else can mean draws nobody here. */
        if (is_static(graph, file, symbol) || symbol->kind == VCM_SYMBOL_FIELD)
            continue;
        rc = add_name(&name, names, symbol->name, err);
        if (rc == VCM_OK)
            rc = add_definer(names, name, file, err);
    }
    return rc;
}

static bool is_compound(struct vcm_slice text)
{
    bool lower = false, mark = false;

    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        mark = mark || c == '_' || c == '-' || (lower && isupper(c));
        lower = lower || islower(c);
    }
    return mark;
}

static double weigh(const struct name *name, uint32_t uses)
{
    double weight = sqrt((double)uses);

    if (name->mentioned)
        weight *= 10;
    if (name->text.len >= LONG_NAME && is_compound(name->text))
        weight *= 3;
    if (name->text.len > 0 && name->text.data[0] == '_')
        weight *= 0.3;
    if (name->definers > DEFINERS_MANY)
        weight *= 0.2;
    return weight;
}

static void mark_imports(const struct graph *graph, uint32_t file,
                         const struct vcm_symbols *symbols, bool value)
{
    uint32_t found[VCM_IMPORTS_MAX];

    for (uint32_t i = 0; i < symbols->import_count; i++) {
        size_t count = vcm_imports_find(found, graph->imports, file, symbols->imports[i].target);
        for (size_t j = 0; j < count; j++)
            graph->imported[found[j]] = value;
    }
}

/* Spreads the weight of one name over the files that define it: those that are imported, else
 * all. */
static void pull(struct graph *graph, uint32_t file, struct name *name, uint32_t uses,
                 size_t *touched)
{
    const struct vcm_rank_names *names = graph->rank->names;
    uint32_t imported = 0;

    for (uint32_t i = name->first; i > 0; i = names->definers[i - 1].next) {
        if (names->definers[i - 1].file == file)
            return;
        imported += graph->imported[names->definers[i - 1].file];
    }
    if (imported == 0 && name->definers > DEFINERS_MAX)
        return;
    double weight = weigh(name, uses);
    name->score += weight;
    weight /= imported > 0 ? imported : name->definers;
    for (uint32_t i = name->first; i > 0; i = names->definers[i - 1].next) {
        uint32_t to = names->definers[i - 1].file;
        if (imported > 0 && !graph->imported[to])
            continue;
        if (graph->pulls[to] == 0)
            graph->touched[(*touched)++] = to;
        graph->pulls[to] += weight;
    }
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static int put_edges(struct graph *graph, size_t touched, struct vcm_error *err)
{
    if (touched > 0)
        qsort(graph->touched, touched, sizeof *graph->touched, by_number);
    for (size_t i = 0; i < touched; i++) {
        if (graph->edge_count == graph->edge_capacity) {
            struct edge *edges = grow(graph->edges, &graph->edge_capacity, sizeof *edges);
            if (!edges)
                return vcm_error_memory(err);
            graph->edges = edges;
        }
        uint32_t to = graph->touched[i];
        graph->edges[graph->edge_count++] = (struct edge){to, (float)graph->pulls[to]};
        graph->pulls[to] = 0;
    }
    return VCM_OK;
}

static int take_references(struct graph *graph, uint32_t file, const struct vcm_symbols *symbols,
                           struct vcm_error *err)
{
    struct vcm_rank_names *names = graph->rank->names;
    size_t touched = 0;

    mark_imports(graph, file, symbols, true);
    for (uint32_t i = 0; i < symbols->reference_count; i++) {
        uint32_t found = names->slots[find_slot(names, symbols->references[i].name)];
        if (found > 0)
            graph->seen[found - 1]++;
    }
    for (uint32_t i = 0; i < symbols->reference_count; i++) {
        uint32_t found = names->slots[find_slot(names, symbols->references[i].name)];
        if (found == 0 || graph->seen[found - 1] == 0)
            continue;
        pull(graph, file, &names->items[found - 1], graph->seen[found - 1], &touched);
        graph->seen[found - 1] = 0;
    }
    mark_imports(graph, file, symbols, false);
    int rc = put_edges(graph, touched, err);
    graph->starts[file + 1] = graph->edge_count;
    return rc;
}

static int for_each_file(struct graph *graph,
                         int (*take)(struct graph *, uint32_t, const struct vcm_symbols *,
                                     struct vcm_error *),
                         bool references, struct vcm_error *err)
{
    int rc = VCM_OK;

    for (size_t i = 0; rc == VCM_OK && i < graph->index->file_count; i++) {
        struct vcm_symbols symbols;
        vcm_symbols_init(&symbols);
        rc = vcm_cancel_check(graph->request->cancel, err);
        if (rc == VCM_OK)
            rc = references ? vcm_index_read(&symbols, graph->index, i, err)
                            : vcm_index_read_definitions(&symbols, graph->index, i, err);
        if (rc == VCM_OK)
            rc = take(graph, (uint32_t)i, &symbols, err);
        vcm_symbols_release(&symbols);
    }
    return rc;
}

static bool part_is(struct vcm_slice part, const char *const *words)
{
    for (; *words; words++)
        if (part.len == strlen(*words) && strncasecmp(part.data, *words, part.len) == 0)
            return true;
    return false;
}

/* By the parts of the path: what is nearer to the root counts more, tests, vendored and generated
 * files less. */
static double class_of(struct vcm_slice path)
{
    static const char *const tests[] = {"test",  "tests",    "spec",     "__tests__", "testdata",
                                        "bench", "fixtures", "examples", "fuzz",      NULL};
    static const char *const foreign[] = {"vendor",    "third_party", "node_modules",
                                          "external",  "deps",        "dist",
                                          "generated", "gen",         NULL};
    static const char *const marks[] = {"_test.", ".test.", ".spec.",     "test_",
                                        ".pb.",   ".min.",  "_generated", NULL};
    double weight = 1;

    for (size_t start = 0, end; start < path.len; start = end + 1) {
        const char *slash = memchr(path.data + start, '/', path.len - start);
        end = slash ? (size_t)(slash - path.data) : path.len;
        struct vcm_slice part = vcm_slice_of(path.data + start, end - start);
        if (slash && part_is(part, tests))
            weight *= 0.2;
        else if (slash && part_is(part, foreign))
            weight *= 0.05;
        else if (slash)
            weight *= 0.95;
        for (size_t i = 0; !slash && marks[i]; i++)
            if (memmem(part.data, part.len, marks[i], strlen(marks[i]))) {
                weight *= 0.3;
                break;
            }
    }
    return weight;
}

static bool is_below(struct vcm_slice path, const char *focus)
{
    size_t len = strlen(focus);

    while (len > 0 && focus[len - 1] == '/')
        len--;
    return path.len >= len && memcmp(path.data, focus, len) == 0 &&
           (path.len == len || path.data[len] == '/' || len == 0);
}

/* Whether a part of the path, its ending aside, is the word. */
static bool path_has(struct vcm_slice path, const char *word)
{
    for (size_t start = 0, end; start < path.len; start = end + 1) {
        for (end = start; end < path.len && !strchr("/._-", path.data[end]);)
            end++;
        if (end - start == strlen(word) && strncasecmp(path.data + start, word, end - start) == 0 &&
            end > start)
            return true;
    }
    return false;
}

static int prefer(struct graph *graph, struct vcm_error *err)
{
    const struct vcm_rank_request *request = graph->request;
    const struct vcm_rank_names *names = graph->rank->names;
    size_t count = graph->index->file_count;
    double sum = 0, *near = calloc(count + 1, sizeof *near);

    if (!near)
        return vcm_error_memory(err);
    for (size_t i = 0; i < count; i++) {
        struct vcm_slice path = graph->index->files[i].path;
        graph->teleport[i] = class_of(path);
        double weight = WEIGHT_FAR * graph->teleport[i];
        for (size_t j = 0; j < request->focus_count; j++)
            if (is_below(path, request->focus[j]))
                weight += graph->teleport[i] * 2;
        for (size_t j = 0; j < request->mention_count; j++)
            if (strlen(request->mentions[j]) >= 3 && path_has(path, request->mentions[j]))
                weight += graph->teleport[i];
        graph->has_aim = graph->has_aim || weight > WEIGHT_FAR * graph->teleport[i];
        near[i] = weight;
    }
    for (size_t i = 0; i < names->count; i++)
        for (uint32_t j = names->items[i].mentioned ? names->items[i].first : 0; j > 0;
             j = names->definers[j - 1].next) {
            uint32_t file = names->definers[j - 1].file;
            near[file] += graph->teleport[file] / names->items[i].definers;
            graph->has_aim = true;
        }
    if (graph->has_aim)
        memcpy(graph->teleport, near, count * sizeof *near);
    for (size_t i = 0; i < count; i++)
        sum += graph->teleport[i];
    for (size_t i = 0; i < count; i++)
        graph->teleport[i] /= sum;
    free(near);
    return VCM_OK;
}

static int walk(struct graph *graph, struct vcm_error *err)
{
    size_t count = graph->index->file_count;
    double damping = graph->has_aim ? DAMPING_NEAR : DAMPING;
    double *scores = graph->rank->scores, *next = calloc(count + 1, sizeof *next);

    if (!next)
        return vcm_error_memory(err);
    memcpy(scores, graph->teleport, count * sizeof *scores);
    for (unsigned step = 0; step < ITERATIONS; step++) {
        double lost = 0;
        memset(next, 0, count * sizeof *next);
        for (size_t i = 0; i < count; i++) {
            double sum = 0;
            for (size_t e = graph->starts[i]; e < graph->starts[i + 1]; e++)
                sum += (double)graph->edges[e].weight;
            if (sum == 0)
                lost += scores[i];
            for (size_t e = graph->starts[i]; e < graph->starts[i + 1]; e++)
                next[graph->edges[e].to] += scores[i] * (double)graph->edges[e].weight / sum;
        }
        for (size_t i = 0; i < count; i++)
            scores[i] = (1 - damping) * graph->teleport[i] +
                        damping * (next[i] + lost * graph->teleport[i]);
    }
    for (size_t i = 0; i < count; i++)
        scores[i] *= class_of(graph->index->files[i].path);
    free(next);
    return VCM_OK;
}

static int by_score(const void *a, const void *b, void *context)
{
    const double *scores = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    if (scores[x] != scores[y])
        return scores[x] > scores[y] ? -1 : 1;
    return (x > y) - (x < y);
}

static void mention_names(struct graph *graph)
{
    const struct vcm_rank_request *request = graph->request;
    struct vcm_rank_names *names = graph->rank->names;

    for (size_t i = 0; i < request->mention_count; i++) {
        struct vcm_slice word = vcm_slice_of_string(request->mentions[i]);
        uint32_t found = names->slots[find_slot(names, word)];
        if (found > 0 && names->items[found - 1].definers <= DEFINERS_MAX)
            names->items[found - 1].mentioned = true;
    }
}

static int begin(struct graph *graph, struct vcm_error *err)
{
    size_t count = graph->index->file_count;
    struct vcm_rank *rank = graph->rank;

    rank->scores = calloc(count + 1, sizeof *rank->scores);
    rank->order = calloc(count + 1, sizeof *rank->order);
    rank->names = calloc(1, sizeof *rank->names);
    graph->starts = calloc(count + 2, sizeof *graph->starts);
    graph->pulls = calloc(count + 1, sizeof *graph->pulls);
    graph->touched = calloc(count + 1, sizeof *graph->touched);
    graph->imported = calloc(count + 1, sizeof *graph->imported);
    graph->teleport = calloc(count + 1, sizeof *graph->teleport);
    if (!rank->scores || !rank->order || !rank->names || !graph->starts || !graph->pulls ||
        !graph->touched || !graph->imported || !graph->teleport)
        return vcm_error_memory(err);
    rank->names->mask = 1023;
    rank->names->slots = calloc((size_t)rank->names->mask + 1, sizeof *rank->names->slots);
    return rank->names->slots ? vcm_imports_open(&graph->imports, graph->index, err)
                              : vcm_error_memory(err);
}

static int build(struct graph *graph, struct vcm_error *err)
{
    int rc = begin(graph, err);
    if (rc == VCM_OK)
        rc = for_each_file(graph, take_definitions, false, err);
    if (rc == VCM_OK) {
        mention_names(graph);
        graph->seen = calloc(graph->rank->names->count + 1, sizeof *graph->seen);
        rc = graph->seen ? VCM_OK : vcm_error_memory(err);
    }
    if (rc == VCM_OK)
        rc = for_each_file(graph, take_references, true, err);
    if (rc == VCM_OK && !graph->request->by_symbol_count) {
        rc = prefer(graph, err);
        if (rc == VCM_OK)
            rc = walk(graph, err);
    }
    return rc;
}

int vcm_rank_open(struct vcm_rank **out, const struct vcm_index *index,
                  const struct vcm_rank_request *request, struct vcm_error *err)
{
    struct graph graph = {.index = index, .request = request};

    *out = NULL;
    graph.rank = calloc(1, sizeof *graph.rank);
    if (!graph.rank)
        return vcm_error_memory(err);
    int rc = build(&graph, err);
    for (size_t i = 0; rc == VCM_OK && i < index->file_count; i++)
        graph.rank->order[i] = (uint32_t)i;
    if (rc == VCM_OK)
        qsort_r(graph.rank->order, index->file_count, sizeof *graph.rank->order, by_score,
                graph.rank->scores);
    free(graph.seen);
    free(graph.teleport);
    free(graph.imported);
    free(graph.touched);
    free(graph.pulls);
    free(graph.starts);
    free(graph.edges);
    vcm_imports_close(graph.imports);
    if (rc == VCM_OK)
        *out = graph.rank;
    else
        vcm_rank_close(graph.rank);
    return rc;
}

void vcm_rank_close(struct vcm_rank *rank)
{
    if (!rank)
        return;
    if (rank->names) {
        free(rank->names->items);
        free(rank->names->slots);
        free(rank->names->definers);
    }
    free(rank->names);
    free(rank->order);
    free(rank->scores);
    free(rank);
}

double vcm_rank_of_name(const struct vcm_rank *rank, struct vcm_slice name)
{
    uint32_t found = rank->names->slots[find_slot(rank->names, name)];

    if (found == 0)
        return 0.1;
    const struct name *item = &rank->names->items[found - 1];
    return 0.2 + item->score + (item->mentioned ? 1000 : 0);
}
