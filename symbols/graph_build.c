#include "symbols/graph_build.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>

#include "base/array.h"
#include "base/limits.h"
#include "symbols/languages/headers.h"
#include "symbols/imports.h"
#include "symbols/words.h"

#include "base/banned.h"

#define DEFINERS_MANY 5  /* a name that more files define counts less */
#define DEFINERS_MAX  50 /* and beyond this not at all */
#define LONG_NAME     8
#define WEIGHT_MAX    0x7fu
#define WORD_SPREAD   4u  /* a word in more than one file of this many is ignored */
#define WORD_FILES    64u /* unless it is in fewer files than this */

/* A name or a word, and the files that have it, the last one first. */
struct item {
    uint64_t number;
    uint32_t first; /* 1 + the index of its last link */
    uint32_t links;
    float base; /* the weight of a name by its form */
    double score;
};

struct link {
    uint32_t file;
    uint32_t next; /* 1 + the index of the one before */
    uint8_t weight;
};

struct table {
    struct item *items;
    size_t count, capacity;
    uint32_t *slots; /* 1 + the index of an item */
    uint32_t mask;
    struct link *links;
    size_t link_count, link_capacity;
};

struct build {
    const struct vcm_index *index;
    const struct vcm_cancel *cancel;
    struct vcm_imports *imports;
    struct table names, words;
    uint64_t symbols;
    uint8_t *tests;    /* whether a file is one */
    uint32_t *counts;  /* of definitions, for each file */
    uint32_t *starts;  /* of edges, for each file */
    uint32_t *targets; /* of the edges */
    float *shares;
    size_t edge_count, edge_capacity;
    uint32_t *seen; /* for each name: how often the current file uses it */
    double *pulls;  /* for each file: the weight of the edge to it from the current file */
    uint32_t *touched;
    bool *imported; /* for each file: whether the current file imports it */
};

static uint32_t find_slot(const struct table *table, uint64_t number)
{
    uint32_t slot = (uint32_t)number & table->mask;

    while (table->slots[slot] != 0 && table->items[table->slots[slot] - 1].number != number)
        slot = (slot + 1) & table->mask;
    return slot;
}

static bool widen(struct table *table)
{
    size_t size = table->slots ? 2 * ((size_t)table->mask + 1) : 1024;
    uint32_t *slots = calloc(size, sizeof *slots);

    if (!slots)
        return false;
    free(table->slots);
    table->slots = slots;
    table->mask = (uint32_t)size - 1;
    for (size_t i = 0; i < table->count; i++)
        table->slots[find_slot(table, table->items[i].number)] = (uint32_t)i + 1;
    return true;
}

/* NULL without memory. */
static struct item *find_item(struct table *table, uint64_t number)
{
    if ((!table->slots || table->count > table->mask / 2) && !widen(table))
        return NULL;
    uint32_t slot = find_slot(table, number);
    if (table->slots[slot] == 0) {
        if (vcm_array_reserve(&table->items, &table->capacity, table->count + 1,
                              VCM_LIMIT_LIST_ENTRIES, NULL) != VCM_OK)
            return NULL;
        table->items[table->count++] = (struct item){.number = number};
        table->slots[slot] = (uint32_t)table->count;
    }
    return &table->items[table->slots[slot] - 1];
}

static bool add_link(struct table *table, struct item *item, uint32_t file, uint8_t flag)
{
    if (!item)
        return false;
    if (item->first == 0 || table->links[item->first - 1].file != file) {
        if (vcm_array_reserve(&table->links, &table->link_capacity, table->link_count + 1,
                              VCM_LIMIT_LIST_ENTRIES, NULL) != VCM_OK)
            return false;
        table->links[table->link_count] = (struct link){.file = file, .next = item->first};
        item->first = (uint32_t)++table->link_count;
        item->links++;
    }
    struct link *link = &table->links[item->first - 1];
    if (flag == 0 && (link->weight & WEIGHT_MAX) < WEIGHT_MAX)
        link->weight++;
    link->weight |= flag;
    return true;
}

static bool has_linkage(const struct vcm_symbol *symbol)
{
    return vcm_symbol_is_function(symbol->kind) || symbol->kind == VCM_SYMBOL_PROTOTYPE ||
           symbol->kind == VCM_SYMBOL_VARIABLE;
}

/* Whether no other file can use the definition: a variable of a module alone ("local vim = vim");
 * in a language with headers, static definitions, and those without linkage in a source file, which
 * is not included elsewhere. */
static bool is_own(const struct build *build, uint32_t file, const struct vcm_symbol *symbol)
{
    const struct vcm_index_file *place = &build->index->files[file];

    if (symbol->kind == VCM_SYMBOL_VARIABLE && symbol->visibility == VCM_SYMBOL_PRIVATE)
        return true;
    return vcm_language_get(place->language)->names.headers &&
           (symbol->visibility == VCM_SYMBOL_PRIVATE ||
            (!has_linkage(symbol) && !vcm_headers_is_header(place->path)));
}

/* Whether the reference reads or writes a member of an object of unknown type: that does not relate
 * the file to the files that define such a name. In C every qualified name is such a member. */
static bool is_part(const struct vcm_symbol_reference *reference, enum vcm_language language)
{
    bool used = reference->use == VCM_SYMBOL_READ || reference->use == VCM_SYMBOL_WRITE;

    return reference->qualified && used &&
           (reference->qualifier.len == 0 || vcm_language_get(language)->names.only_members);
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

static float look_of(struct vcm_slice name)
{
    float base = name.len >= LONG_NAME && is_compound(name) ? 3 : 1;

    return name.len > 0 && name.data[0] == '_' ? base * 0.3f : base;
}

static bool add_words(struct build *build, uint32_t file, struct vcm_slice text, uint8_t flag)
{
    uint64_t numbers[VCM_WORDS_MAX];
    size_t count = vcm_words_of(numbers, text);
    bool fine = true;

    for (size_t i = 0; fine && i < count; i++)
        fine = add_link(&build->words, find_item(&build->words, numbers[i]), file, flag);
    return fine;
}

static int take_definitions(struct build *build, uint32_t file, const struct vcm_symbols *symbols,
                            struct vcm_error *err)
{
    bool fine = add_words(build, file, build->index->files[file].path, VCM_GRAPH_IN_PATH);

    build->symbols += symbols->definition_count;
    build->counts[file] = symbols->definition_count;
    for (uint32_t i = 0; fine && i < symbols->definition_count; i++) {
        const struct vcm_symbol *symbol = &symbols->definitions[i];
        if (symbol->kind == VCM_SYMBOL_FIELD)
            continue;
        fine = add_words(build, file, symbol->name, 0);
        /* A definition that no other file can use makes no edges to this file. */
        if (!fine || is_own(build, file, symbol))
            continue;
        struct item *item = find_item(&build->names, vcm_graph_number(symbol->name));
        if (item && item->links == 0)
            item->base = look_of(symbol->name);
        fine = add_link(&build->names, item, file, 0);
    }
    return fine ? VCM_OK : vcm_error_memory(err);
}

struct marking {
    bool *imported, value;
};

static void mark(void *context, uint32_t file)
{
    const struct marking *marking = context;

    marking->imported[file] = marking->value;
}

static void mark_imports(const struct build *build, uint32_t file,
                         const struct vcm_symbols *symbols, bool value)
{
    struct marking marking = {build->imported, value};

    for (uint32_t i = 0; i < symbols->import_count; i++)
        vcm_imports_visit(build->imports, file, &symbols->imports[i], mark, &marking);
}

/* Spreads the weight of one name over the files that define it, of languages that share names:
 * those that are imported, else all. */
static void pull(struct build *build, uint32_t file, struct item *name, uint32_t uses,
                 size_t *touched)
{
    const struct vcm_index_file *files = build->index->files;
    const struct link *links = build->names.links;
    uint32_t imported = 0, kin = 0;

    for (uint32_t i = name->first; i > 0; i = links[i - 1].next) {
        if (links[i - 1].file == file)
            return;
        kin += vcm_language_are_kin(files[file].language, files[links[i - 1].file].language);
        imported += build->imported[links[i - 1].file];
    }
    if (imported == 0 && (kin == 0 || name->links > DEFINERS_MAX))
        return;
    double weight =
        sqrt((double)uses) * (double)name->base * (name->links > DEFINERS_MANY ? 0.2 : 1);
    name->score += weight;
    weight /= imported > 0 ? imported : kin;
    for (uint32_t i = name->first; i > 0; i = links[i - 1].next) {
        uint32_t to = links[i - 1].file;
        if (imported > 0 ? !build->imported[to]
                         : !vcm_language_are_kin(files[file].language, files[to].language))
            continue;
        if (build->pulls[to] == 0)
            build->touched[(*touched)++] = to;
        build->pulls[to] += weight;
    }
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static int put_edges(struct build *build, size_t touched, struct vcm_error *err)
{
    size_t needed = build->edge_count + touched, capacity = build->edge_capacity;
    double sum = 0;

    int rc = vcm_array_reserve(&build->targets, &capacity, needed, VCM_LIMIT_LIST_ENTRIES, err);
    if (rc == VCM_OK)
        rc = vcm_array_reserve(&build->shares, &build->edge_capacity, needed,
                               VCM_LIMIT_LIST_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    if (touched > 0)
        qsort(build->touched, touched, sizeof *build->touched, by_number);
    for (size_t i = 0; i < touched; i++)
        sum += build->pulls[build->touched[i]];
    for (size_t i = 0; i < touched; i++) {
        uint32_t to = build->touched[i];
        build->targets[build->edge_count] = to;
        build->shares[build->edge_count++] = (float)(build->pulls[to] / sum);
        build->pulls[to] = 0;
    }
    return VCM_OK;
}

static uint32_t find_name(const struct build *build, struct vcm_slice name)
{
    return build->names.slots ? build->names.slots[find_slot(&build->names, vcm_graph_number(name))]
                              : 0;
}

static int take_references(struct build *build, uint32_t file, const struct vcm_symbols *symbols,
                           struct vcm_error *err)
{
    size_t touched = 0;

    mark_imports(build, file, symbols, true);
    for (uint32_t i = 0; i < symbols->reference_count; i++) {
        uint32_t found = is_part(&symbols->references[i], build->index->files[file].language)
                             ? 0
                             : find_name(build, symbols->references[i].name);
        if (found > 0)
            build->seen[found - 1]++;
    }
    for (uint32_t i = 0; i < symbols->reference_count; i++) {
        uint32_t found = find_name(build, symbols->references[i].name);
        if (found == 0 || build->seen[found - 1] == 0)
            continue;
        pull(build, file, &build->names.items[found - 1], build->seen[found - 1], &touched);
        build->seen[found - 1] = 0;
    }
    mark_imports(build, file, symbols, false);
    int rc = put_edges(build, touched, err);
    build->starts[file + 1] = (uint32_t)build->edge_count;
    return rc;
}

static int for_each_file(struct build *build,
                         int (*take)(struct build *, uint32_t, const struct vcm_symbols *,
                                     struct vcm_error *),
                         bool references, struct vcm_error *err)
{
    int rc = VCM_OK;

    for (size_t i = 0; rc == VCM_OK && i < build->index->file_count; i++) {
        struct vcm_symbols symbols;
        vcm_symbols_init(&symbols);
        rc = vcm_cancel_check(build->cancel, err);
        if (rc == VCM_OK)
            rc = references ? vcm_index_read(&symbols, build->index, i, err)
                            : vcm_index_read_definitions(&symbols, build->index, i, err);
        if (rc == VCM_OK)
            rc = take(build, (uint32_t)i, &symbols, err);
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

/* A mark that begins with a letter begins a word: "test_" is not in "latest_news". */
static bool has_mark(struct vcm_slice name, const char *const *marks)
{
    for (; *marks; marks++) {
        const char *at = memmem(name.data, name.len, *marks, strlen(*marks));
        if (at && (at == name.data || !isalpha((unsigned char)**marks) ||
                   isupper((unsigned char)**marks) || !isalnum((unsigned char)at[-1])))
            return true;
    }
    return false;
}

/* Names of directories, and marks in names of files. */
static const char *const test_parts[] = {"test",     "tests",    "spec",  "specs",   "__tests__",
                                         "testdata", "fixtures", "bench", "t",       "e2e",
                                         "examples", "testing",  "fuzz",  "mocks",   "__mocks__",
                                         "perf",     "samples",  "demo",  "interop", NULL};
static const char *const test_marks[] = {"_test.", ".test.", ".spec.", "_spec.", "-test.", "-spec.",
                                         "test_",  "test-",  "Test.",  "Tests.", NULL};
static const char *const foreign_parts[] = {"vendor", "third_party", "node_modules", "external",
                                            "deps",   "dist",        "generated",    "gen",
                                            "_meta",  NULL};
static const char *const made_marks[] = {".pb.",  ".min.",       "_generated",
                                         ".gen.", ".generated.", NULL};
/* What stands beside the program: for other systems, for building it, about it. */
static const char *const aside_parts[] = {
    "compat", "contrib", "scripts",       "tools",   "ci", "doc",
    "docs",   "build",   "documentation", ".github", NULL};

/* By the parts of the path: files nearer to the root count more, vendored and generated files less.
 * Tests are recorded separately: rank.c weighs them by the request. */
static float judge_path(uint8_t *test, struct vcm_slice path)
{
    double weight = 1;

    *test = 0;
    for (size_t start = 0, end; start < path.len; start = end + 1) {
        const char *slash = memchr(path.data + start, '/', path.len - start);
        end = slash ? (size_t)(slash - path.data) : path.len;
        struct vcm_slice part = vcm_slice_of(path.data + start, end - start);
        *test |= slash ? part_is(part, test_parts) : has_mark(part, test_marks);
        if (slash)
            weight *= part_is(part, foreign_parts) ? 0.05 : part_is(part, aside_parts) ? 0.2 : 0.95;
        else if (has_mark(part, made_marks))
            weight *= 0.05;
    }
    return (float)weight;
}

static int by_item(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

/* Drops the words that too many files have. */
static void drop_common(struct table *words, size_t file_count)
{
    size_t kept = 0;

    words->link_count = 0;
    for (size_t i = 0; i < words->count; i++)
        if (words->items[i].links <= WORD_FILES ||
            words->items[i].links <= file_count / WORD_SPREAD) {
            words->link_count += words->items[i].links;
            words->items[kept++] = words->items[i];
        }
    words->count = kept;
}

static int write_table(struct vcm_buf *out, struct table *table, struct vcm_error *err)
{
    uint32_t *files = calloc(table->link_count + 1, sizeof *files), start = 0;
    uint8_t *weights = calloc(table->link_count + 1, 1);

    if (!files || !weights) {
        free(files);
        free(weights);
        return vcm_error_memory(err);
    }
    if (table->count > 0)
        qsort(table->items, table->count, sizeof *table->items, by_item);
    for (size_t i = 0; i < table->count; i++) {
        /* vcm_graph_find() uses binary search. */
        assert(i == 0 || table->items[i - 1].number < table->items[i].number);
        vcm_buf_append(out, &table->items[i].number, sizeof table->items[i].number);
    }
    for (size_t i = 0; i < table->count; i++) {
        float score = (float)table->items[i].score;
        vcm_buf_append(out, &score, sizeof score);
    }
    vcm_buf_append(out, &start, sizeof start);
    for (size_t i = 0; i < table->count; i++) {
        const struct item *item = &table->items[i];
        uint32_t at = start + item->links;
        for (uint32_t j = item->first; j > 0; j = table->links[j - 1].next) {
            files[--at] = table->links[j - 1].file;
            weights[at] = table->links[j - 1].weight;
        }
        start += item->links;
        vcm_buf_append(out, &start, sizeof start);
    }
    vcm_buf_append(out, files, start * sizeof *files);
    vcm_buf_append(out, weights, start);
    assert(start == table->link_count);
    free(files);
    free(weights);
    return VCM_OK;
}

static int write_graph(struct vcm_buf *out, struct build *build, struct vcm_error *err)
{
    size_t count = build->index->file_count;

    drop_common(&build->words, count);
    const struct vcm_graph_head head = {
        .format = VCM_GRAPH_FORMAT,
        .file_count = (uint32_t)count,
        .symbols = build->symbols,
        .edge_count = (uint32_t)build->edge_count,
        .name_count = (uint32_t)build->names.count,
        .definer_count = (uint32_t)build->names.link_count,
        .word_count = (uint32_t)build->words.count,
        .posting_count = (uint32_t)build->words.link_count,
    };
    vcm_buf_append(out, &head, sizeof head);
    for (size_t i = 0; i < count; i++) {
        float standing = judge_path(&build->tests[i], build->index->files[i].path);
        vcm_buf_append(out, &standing, sizeof standing);
    }
    vcm_buf_append(out, build->tests, count);
    vcm_buf_append(out, build->counts, count * sizeof *build->counts);
    vcm_buf_append(out, build->starts, (count + 1) * sizeof *build->starts);
    vcm_buf_append(out, build->targets, build->edge_count * sizeof *build->targets);
    vcm_buf_append(out, build->shares, build->edge_count * sizeof *build->shares);
    int rc = write_table(out, &build->names, err);
    if (rc == VCM_OK)
        rc = write_table(out, &build->words, err);
    return rc == VCM_OK ? vcm_buf_check(out, "the graph of the files", err) : rc;
}

static int begin(struct build *build, struct vcm_error *err)
{
    size_t count = build->index->file_count + 2;

    build->tests = calloc(count, sizeof *build->tests);
    build->counts = calloc(count, sizeof *build->counts);
    build->starts = calloc(count, sizeof *build->starts);
    build->pulls = calloc(count, sizeof *build->pulls);
    build->touched = calloc(count, sizeof *build->touched);
    build->imported = calloc(count, sizeof *build->imported);
    if (!build->tests || !build->counts || !build->starts || !build->pulls || !build->touched ||
        !build->imported)
        return vcm_error_memory(err);
    return vcm_imports_open(&build->imports, build->index, err);
}

static void end(struct build *build)
{
    struct table *tables[] = {&build->names, &build->words};

    for (size_t i = 0; i < 2; i++) {
        free(tables[i]->items);
        free(tables[i]->slots);
        free(tables[i]->links);
    }
    vcm_imports_close(build->imports);
    free(build->seen);
    free(build->imported);
    free(build->touched);
    free(build->pulls);
    free(build->shares);
    free(build->targets);
    free(build->starts);
    free(build->counts);
    free(build->tests);
}

int vcm_graph_build(struct vcm_buf *out, const struct vcm_index *index,
                    const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct build build = {.index = index, .cancel = cancel};

    int rc = begin(&build, err);
    if (rc == VCM_OK)
        rc = for_each_file(&build, take_definitions, false, err);
    if (rc == VCM_OK && !(build.seen = calloc(build.names.count + 1, sizeof *build.seen)))
        rc = vcm_error_memory(err);
    if (rc == VCM_OK)
        rc = for_each_file(&build, take_references, true, err);
    if (rc == VCM_OK)
        rc = write_graph(out, &build, err);
    end(&build);
    return rc;
}
