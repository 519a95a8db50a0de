/*
 * bench_history.c - how many pages a commit rewrites, over the history of real repositories.
 *
 *     bench_history [-n COMMITS] [-t THRESHOLD] [-b BUDGET] [-e EDITS] [-c EDITS] REPOSITORY...
 *
 * Packs the files of the last commits (first parents, the oldest first) as a mapping would, in
 * memory: what was cut and counted once is kept by path and blob. Prints for each repository the
 * pages created for each file that was changed, added or deleted; the same for each commit, as the
 * mean and the median over commits; the mean fill of a page (the
 * larger of records/threshold and tokens/budget), and that by tokens; and how often two files of
 * one commit share a page. Pages are told apart by why they were created: they hold text that is
 * new (no way of packing avoids those), or old text of a changed file between other cuts, or
 * nothing but records that were there before, in other company. Ignore files are not heeded.
 *
 * With -e, changes one line of a file of the last commit instead, many times: a line that is added,
 * replaced or removed, in the file of a random page. Prints how many pages that creates. With -c
 * lines are not indented like the one in whose place they come, which makes places to cut where
 * nobody would write any.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/jsonw.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "git/blob.h"
#include "git/tree.h"
#include "vcm/mapping/page_builder.h"
#include "vcm/page/split.h"

#include "base/banned.h"

#define CACHE_BITS   21
#define COMMITS_MAX  100000u
#define PAIRED_FILES 20u /* commits of more files say little of what belongs together */

struct record {
    uint32_t tokens;
    struct vcm_page_id id;
    bool moved; /* its text was in the file before the change, whole */
};

/* What became of a file: `count` records, none when it is no text. */
struct cut {
    uint64_t key;
    uint32_t first;
    uint32_t count;
};

struct file {
    uint64_t path;    /* hash */
    uint64_t version; /* hash of path and blob */
    struct vcm_git_id blob;
    uint32_t first_page;
    uint32_t last_page;
    uint32_t parts;
};

/* Of a record by what it says of the page that holds it; the greatest counts. */
enum why { WHY_COMPANY, WHY_CUTS, WHY_TEXT, WHYS };

struct page {
    struct vcm_page_id id;
    enum why why;
};

struct snapshot {
    struct page *pages;
    struct file *files;
    struct vcm_page_id *records; /* sorted once the snapshot is complete */
    size_t known_count, known_capacity;
    size_t page_count, page_capacity;
    size_t file_count, file_capacity;
    double fill, token_fill; /* sums over pages */
};

/* Goes through the page builder with a record. */
struct tag {
    size_t file; /* its number, from 1 */
    bool moved;
};

struct bench {
    uint32_t threshold, budget, commits, edits;
    struct vcm_tokenizer *tokenizer;
    struct vcm_split *split;
    struct vcm_git_repo *repo;
    struct vcm_page_builder *builder;
    struct vcm_buf blob, text, old; /* `old` is escaped */
    struct cut *cuts;               /* 1 << CACHE_BITS, open addressing; key 0 is free */
    struct record *records;
    size_t record_count, record_capacity;
    struct snapshot *now, *before;
    uint64_t created[WHYS], changed, pairs, pairs_shared;
    unsigned most;
    struct {
        double *ratios; /* of each commit that changed files: pages created a file */
        size_t ratio_count, ratio_capacity;
        uint64_t created, changed;
    } all;                /* repositories */
    uint32_t at_column_0; /* edits, of this kind */
    uint64_t edited;      /* version of the file that is edited, or 0 */
    uint64_t random;
};

static _Noreturn void die(const char *what, const struct vcm_error *err)
{
    fprintf(stderr, "bench_history: %s%s%s\n", what, err ? ": " : "", err ? err->message : "");
    exit(1);
}

static void *grow(void *array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return array;
    *capacity = *capacity ? *capacity * 2 : 1024;
    array = realloc(array, *capacity * size);
    if (!array)
        die("out of memory", NULL);
    return array;
}

static int compare_files(const void *a, const void *b)
{
    const struct file *left = a, *right = b;
    return left->path < right->path ? -1 : left->path > right->path;
}

static int compare_ids(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct vcm_page_id));
}

static const struct file *file_before(const struct bench *bench, uint64_t path)
{
    const struct file key = {.path = path};

    if (!bench->before || bench->before->file_count == 0)
        return NULL;
    return bsearch(&key, bench->before->files, bench->before->file_count, sizeof key,
                   compare_files);
}

/* Whether the value's text was in the file before. */
static bool was_there(const struct bench *bench, struct vcm_slice value)
{
    static const char mark[] = "\",\"text\":\"";
    const char *text = memmem(value.data, value.len, mark, sizeof mark - 1);

    text += sizeof mark - 1;
    return bench->old.len > 0 && memmem(bench->old.data, bench->old.len, text,
                                        (size_t)(value.data + value.len - 2 - text));
}

static int keep_part(void *context, struct vcm_slice value, const struct vcm_page_record *record,
                     struct vcm_error *err)
{
    struct bench *bench = context;

    (void)err;
    bench->records =
        grow(bench->records, bench->record_count, &bench->record_capacity, sizeof *bench->records);
    struct record *kept = &bench->records[bench->record_count++];
    kept->tokens = record->tokens;
    kept->moved = was_there(bench, value);
    vcm_page_record_id_of(&kept->id, value);
    return VCM_OK;
}

static uint32_t random_below(struct bench *bench, size_t bound)
{
    bench->random = bench->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((bench->random >> 32) * bound >> 32);
}

/* Adds a line to the text, or replaces or removes one. */
static void edit_line(struct bench *bench)
{
    struct vcm_buf *text = &bench->text;
    size_t at = random_below(bench, text->len), end = at;
    uint32_t kind = random_below(bench, 3);
    char word[32];

    while (at > 0 && text->data[at - 1] != '\n')
        at--;
    while (end < text->len && text->data[end++] != '\n')
        continue;
    size_t word_at = at;
    while (bench->at_column_0 == 0 && word_at < end &&
           (text->data[word_at] == ' ' || text->data[word_at] == '\t'))
        word_at++;
    snprintf(word, sizeof word, "edited %" PRIu32 " ", random_below(bench, 100000));
    vcm_buf_clear(&bench->blob);
    vcm_buf_append(&bench->blob, text->data, kind == 0 ? end : at);
    if (kind < 2) {
        vcm_buf_append(&bench->blob, text->data + at, word_at - at);
        vcm_buf_append_string(&bench->blob, word);
        vcm_buf_append(&bench->blob, text->data + word_at, end - word_at);
    }
    vcm_buf_append(&bench->blob, text->data + end, text->len - end);
    vcm_buf_clear(text);
    vcm_buf_append_slice(text, vcm_buf_slice(&bench->blob));
}

/* False for what is no text. */
static bool read_text(struct bench *bench, const struct vcm_git_id *id)
{
    struct vcm_error err = {0};

    vcm_buf_clear(&bench->blob);
    vcm_buf_clear(&bench->text);
    if (vcm_git_blob_read(&bench->blob, bench->repo, id, &err) != VCM_OK)
        return false;
    size_t probe =
        bench->blob.len < VCM_LIMIT_BINARY_PROBE ? bench->blob.len : VCM_LIMIT_BINARY_PROBE;
    if (probe > 0 && memchr(bench->blob.data, '\0', probe))
        return false;
    vcm_utf8_replace(&bench->text, vcm_buf_slice(&bench->blob));
    return true;
}

static void read_old(struct bench *bench, uint64_t name)
{
    const struct file *was = file_before(bench, name);

    vcm_buf_clear(&bench->old);
    if (!was || !read_text(bench, &was->blob))
        return;
    char *to = vcm_buf_reserve(&bench->old, VCM_JSONW_ESCAPE_BYTES(bench->text.len));
    if (!to)
        die("out of memory", NULL);
    vcm_buf_advance(&bench->old,
                    (size_t)(vcm_jsonw_escape_to(to, vcm_buf_slice(&bench->text)) - to));
}

static void cut_file(struct bench *bench, struct cut *cut, const struct vcm_git_entry *entry,
                     struct vcm_slice path)
{
    struct vcm_error err = {0};

    cut->first = (uint32_t)bench->record_count;
    cut->count = 0;
    read_old(bench, vcm_hash_checksum(entry->path, 1));
    if (!read_text(bench, &entry->id))
        return;
    if (bench->edited != 0 && bench->text.len > 0)
        edit_line(bench);
    if (vcm_split_text(bench->split, path, vcm_buf_slice(&bench->text), keep_part, bench, &err) !=
        VCM_OK)
        bench->record_count = cut->first;
    cut->count = (uint32_t)bench->record_count - cut->first;
}

static struct cut *find_cut(struct bench *bench, uint64_t key)
{
    size_t mask = ((size_t)1 << CACHE_BITS) - 1;
    size_t at = (size_t)key & mask;

    while (bench->cuts[at].key != 0 && bench->cuts[at].key != key)
        at = (at + 1) & mask;
    return &bench->cuts[at];
}

static int add_records(struct bench *bench, const struct cut *cut, struct vcm_slice path,
                       struct vcm_error *err)
{
    int rc = VCM_OK;

    for (uint32_t i = 0; rc == VCM_OK && i < cut->count; i++) {
        const struct record *kept = &bench->records[cut->first + i];
        const struct tag tag = {bench->now->file_count, kept->moved};
        const struct vcm_page_record record = {
            .path = path,
            .content_id = vcm_slice_of(&tag, sizeof tag),
            .tokens = kept->tokens,
            .bytes = sizeof kept->id.bytes,
            .part = i + 1,
            .parts = cut->count,
        };
        rc = vcm_page_builder_add(
            bench->builder, vcm_slice_of(kept->id.bytes, sizeof kept->id.bytes), &record, err);
    }
    return rc;
}

static int add_file(void *context, const struct vcm_git_entry *entry, struct vcm_error *err)
{
    struct bench *bench = context;
    struct snapshot *now = bench->now;
    struct vcm_buf path = VCM_BUF_INIT(4 * VCM_LIMIT_TREE_PATH_BYTES);
    uint64_t name = vcm_hash_checksum(entry->path, 1);
    uint64_t version =
        vcm_hash_checksum(vcm_slice_of(entry->id.bytes, sizeof entry->id.bytes), name);
    bool edited = version == bench->edited;
    size_t kept = bench->record_count;
    struct cut once = {0};

    if (entry->kind != VCM_GIT_FILE && entry->kind != VCM_GIT_EXECUTABLE)
        return VCM_OK;
    vcm_utf8_escape_path(&path, entry->path);
    struct cut *cut = edited ? &once : find_cut(bench, version);
    if (cut->key == 0) {
        cut->key = version;
        cut_file(bench, cut, entry, vcm_buf_slice(&path));
    }
    if (cut->count > 0) {
        now->files = grow(now->files, now->file_count, &now->file_capacity, sizeof *now->files);
        now->files[now->file_count++] = (struct file){.path = name,
                                                      .version = version,
                                                      .blob = entry->id,
                                                      .first_page = UINT32_MAX,
                                                      .parts = cut->count};
    }
    int rc = add_records(bench, cut, vcm_buf_slice(&path), err);
    if (edited)
        bench->record_count = kept;
    vcm_buf_release(&path);
    return rc;
}

static bool was_record(const struct bench *bench, const struct vcm_page_id *id)
{
    const struct snapshot *before = bench->before;

    return before && before->known_count > 0 &&
           bsearch(id, before->records, before->known_count, sizeof *id, compare_ids);
}

static int take_page(void *context, const struct vcm_page_built *page, struct vcm_error *err)
{
    struct bench *bench = context;
    struct snapshot *now = bench->now;
    double by_records = (double)page->record_count / bench->threshold;
    double by_tokens = (double)page->tokens / bench->budget;
    struct page taken = {.id = page->id, .why = WHY_COMPANY};

    (void)err;
    for (uint32_t i = 0; i < page->record_count; i++) {
        struct tag tag;
        struct vcm_page_id id;
        memcpy(&tag, page->records[i].content_id.data, sizeof tag);
        memcpy(&id, page->frame.data + i * (sizeof id + 1), sizeof id);
        enum why why = was_record(bench, &id) ? WHY_COMPANY : tag.moved ? WHY_CUTS : WHY_TEXT;
        taken.why = why > taken.why ? why : taken.why;
        struct file *file = &now->files[tag.file - 1];
        file->last_page = (uint32_t)now->page_count;
        if (file->first_page == UINT32_MAX)
            file->first_page = (uint32_t)now->page_count;
        now->records =
            grow(now->records, now->known_count, &now->known_capacity, sizeof *now->records);
        now->records[now->known_count++] = id;
    }
    now->pages = grow(now->pages, now->page_count, &now->page_capacity, sizeof *now->pages);
    now->pages[now->page_count++] = taken;
    now->fill += by_records > by_tokens ? by_records : by_tokens;
    now->token_fill += by_tokens;
    return VCM_OK;
}

static void pack_commit(struct bench *bench, uint32_t back)
{
    struct vcm_error err = {0};
    struct vcm_git_id id;
    char name[32];

    bench->now->page_count = bench->now->file_count = bench->now->known_count = 0;
    bench->now->fill = bench->now->token_fill = 0;
    snprintf(name, sizeof name, "HEAD~%" PRIu32, back);
    if (vcm_git_repo_resolve(&id, bench->repo, NULL, name, &err) != VCM_OK)
        die(name, &err);
    if (vcm_page_builder_open(&bench->builder,
                              &(struct vcm_page_builder_options){
                                  .record_threshold = bench->threshold,
                                  .token_budget = bench->budget,
                                  .emit = take_page,
                                  .emit_context = bench,
                              },
                              &err) != VCM_OK ||
        vcm_git_tree_walk(bench->repo, &id, "", add_file, bench, NULL, &err) != VCM_OK ||
        vcm_page_builder_finish(bench->builder, &err) != VCM_OK)
        die(name, &err);
    vcm_page_builder_close(bench->builder);
}

static void sort_snapshot(struct snapshot *s)
{
    qsort(s->pages, s->page_count, sizeof *s->pages, compare_ids);
    qsort(s->records, s->known_count, sizeof *s->records, compare_ids);
    qsort(s->files, s->file_count, sizeof *s->files, compare_files);
}

static unsigned count_created(uint64_t *created, const struct snapshot *before,
                              const struct snapshot *now)
{
    unsigned count = 0;

    for (size_t i = 0; i < now->page_count; i++)
        if (!bsearch(&now->pages[i], before->pages, before->page_count, sizeof *before->pages,
                     compare_ids)) {
            created[now->pages[i].why]++;
            count++;
        }
    return count;
}

static void free_snapshot(struct snapshot *s)
{
    free(s->pages);
    free(s->files);
    free(s->records);
}

static void count_pairs(struct bench *bench, const struct file *files, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < i; k++) {
            bench->pairs++;
            bench->pairs_shared += files[i].first_page <= files[k].last_page &&
                                   files[k].first_page <= files[i].last_page;
        }
}

static unsigned count_changed(struct bench *bench, const struct snapshot *before,
                              const struct snapshot *now)
{
    struct file changed[PAIRED_FILES];
    unsigned count = 0, found = 0;

    for (size_t i = 0; i < now->file_count; i++) {
        const struct file *was = bsearch(&now->files[i], before->files, before->file_count,
                                         sizeof *before->files, compare_files);
        found += was != NULL;
        if (was && was->version == now->files[i].version)
            continue;
        if (count < PAIRED_FILES)
            changed[count] = now->files[i];
        count++;
    }
    if (count <= PAIRED_FILES)
        count_pairs(bench, changed, count);
    return count + (unsigned)(before->file_count - found);
}

static int compare_ratios(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return left < right ? -1 : left > right;
}

/* The mean and the median over commits; sorts them. */
static void print_ratios(double *ratios, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += ratios[i];
    qsort(ratios, count, sizeof *ratios, compare_ratios);
    printf(" %.2f | %.2f |", sum / (double)(count ? count : 1), count ? ratios[count / 2] : 0.0);
}

static void note_ratio(struct bench *bench, unsigned created, unsigned changed)
{
    bench->changed += changed;
    bench->all.created += created;
    bench->all.changed += changed;
    if (changed == 0)
        return;
    bench->all.ratios = grow(bench->all.ratios, bench->all.ratio_count, &bench->all.ratio_capacity,
                             sizeof *bench->all.ratios);
    bench->all.ratios[bench->all.ratio_count++] = (double)created / changed;
}

static void print_history(const struct bench *bench, const char *path, size_t used)
{
    const struct snapshot *now = bench->now;
    const uint64_t *created = bench->created;
    double changed = (double)(bench->changed ? bench->changed : 1);

    printf("| %s | %zu | %zu | %zu | %.2f |", path, used, now->file_count, now->page_count,
           (double)(created[WHY_TEXT] + created[WHY_CUTS] + created[WHY_COMPANY]) / changed);
    print_ratios(bench->all.ratios + bench->all.ratio_count - used, used);
    printf(" %.2f | %.2f | %.2f | %u | %.2f | %.2f | %.2f |\n", (double)created[WHY_TEXT] / changed,
           (double)created[WHY_CUTS] / changed, (double)created[WHY_COMPANY] / changed, bench->most,
           now->fill / (double)now->page_count, now->token_fill / (double)now->page_count,
           (double)bench->pairs_shared / (double)(bench->pairs ? bench->pairs : 1));
}

static void run_history(struct bench *bench, const char *path)
{
    struct snapshot snapshots[2] = {{0}, {0}};
    size_t used = bench->all.ratio_count;

    memset(bench->created, 0, sizeof bench->created);
    bench->changed = bench->pairs = bench->pairs_shared = 0;
    bench->most = 0;
    for (uint32_t back = bench->commits; back-- > 0;) {
        bench->before = bench->now;
        bench->now = &snapshots[back % 2];
        pack_commit(bench, back);
        sort_snapshot(bench->now);
        if (!bench->before)
            continue;
        unsigned changed = count_changed(bench, bench->before, bench->now);
        unsigned created = count_created(bench->created, bench->before, bench->now);
        note_ratio(bench, created, changed);
        bench->most = changed == 1 && created > bench->most ? created : bench->most;
    }
    print_history(bench, path, bench->all.ratio_count - used);
    for (int i = 0; i < 2; i++)
        free_snapshot(&snapshots[i]);
}

static const struct file *file_of_page(const struct snapshot *s, uint32_t page)
{
    const struct file *file = s->files;

    while (file->last_page < page)
        file++;
    return file;
}

static void run_edits(struct bench *bench, const char *path)
{
    enum { SHOWN = 5 };
    struct snapshot base = {0}, sorted = {0}, edited = {0};
    uint64_t counts[2][SHOWN + 1] = {{0}}, sums[2] = {0}, created[WHYS] = {0};

    bench->random = 1;
    bench->now = &base;
    pack_commit(bench, 0);
    bench->now = &sorted;
    pack_commit(bench, 0);
    sort_snapshot(&sorted);
    bench->now = &edited;
    for (uint32_t i = 0; i < bench->edits; i++) {
        const struct file *file = file_of_page(&base, random_below(bench, base.page_count));
        bench->edited = file->version;
        pack_commit(bench, 0);
        unsigned count = count_created(created, &sorted, &edited);
        counts[file->parts > 1][count < SHOWN ? count : SHOWN]++;
        sums[file->parts > 1] += count;
    }
    for (int parts = 0; parts < 2; parts++) {
        const uint64_t *c = counts[parts];
        uint64_t edits = c[0] + c[1] + c[2] + c[3] + c[4] + c[SHOWN];
        printf("| %s, %s | %" PRIu64 " | %.2f | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64
               " | %" PRIu64 " |\n",
               path, parts ? "longer" : "one page", edits,
               (double)sums[parts] / (double)(edits ? edits : 1), c[0] + c[1], c[2], c[3], c[4],
               c[SHOWN]);
    }
    bench->edited = 0;
    free_snapshot(&base);
    free_snapshot(&sorted);
    free_snapshot(&edited);
}

static void run_repository(struct bench *bench, const char *path)
{
    struct vcm_error err = {0};

    if (vcm_git_repo_open(&bench->repo, path, &err) != VCM_OK)
        die(path, &err);
    bench->now = bench->before = NULL;
    if (bench->edits > 0)
        run_edits(bench, path);
    else
        run_history(bench, path);
    fflush(stdout);
    vcm_git_repo_close(bench->repo);
}

static uint32_t read_number(const char *text, uint32_t max)
{
    char *end;
    unsigned long value = strtoul(text ? text : "", &end, 10);

    if (!text || *end != '\0' || value == 0 || value > max)
        die("usage: bench_history [-n COMMITS] [-t THRESHOLD] [-b BUDGET] [-e EDITS] [-c EDITS] "
            "REPOSITORY...",
            NULL);
    return (uint32_t)value;
}

int main(int argc, char **argv)
{
    struct bench bench = {.threshold = 20, .budget = 4096, .commits = 300};
    struct vcm_error err = {0};
    int i = 1;

    for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
        uint32_t *option = argv[i][1] == 't'   ? &bench.threshold
                           : argv[i][1] == 'b' ? &bench.budget
                           : argv[i][1] == 'e' ? &bench.edits
                           : argv[i][1] == 'c' ? &bench.at_column_0
                                               : &bench.commits;
        *option = read_number(argv[i + 1], COMMITS_MAX);
    }
    bench.edits = bench.at_column_0 > 0 ? bench.at_column_0 : bench.edits;
    bench.cuts = calloc((size_t)1 << CACHE_BITS, sizeof *bench.cuts);
    if (!bench.cuts || i >= argc)
        die("no repository given", NULL);
    vcm_buf_init(&bench.blob, VCM_LIMIT_FILE_BYTES);
    vcm_buf_init(&bench.text, 3 * VCM_LIMIT_FILE_BYTES);
    vcm_buf_init(&bench.old, 6 * (3 * (size_t)VCM_LIMIT_FILE_BYTES) + 64);
    if (vcm_tokenizer_open(&bench.tokenizer, VCM_TOKENIZER_DEFAULT, &err) != VCM_OK ||
        vcm_split_open(
            &bench.split,
            &(struct vcm_split_options){.tokenizer = bench.tokenizer, .token_budget = bench.budget},
            &err) != VCM_OK)
        die("cannot begin", &err);
    puts(bench.edits > 0
             ? "| repository, file | edits | pages created | 1 | 2 | 3 | 4 | more |\n"
               "|---|---|---|---|---|---|---|---|"
             : "| repository | commits | files | pages | pages created a changed file | mean "
               "of commits | median | new text | cuts moved | other company | most for one file | "
               "fill | token fill | pairs on one "
               "page |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (; i < argc; i++)
        run_repository(&bench, argv[i]);
    if (bench.all.ratio_count > 0) {
        printf("| all | %zu | | | %.2f |", bench.all.ratio_count,
               (double)bench.all.created / (double)bench.all.changed);
        print_ratios(bench.all.ratios, bench.all.ratio_count);
        puts(" | | | | | | |");
    }
    vcm_split_close(bench.split);
    vcm_tokenizer_close(bench.tokenizer);
    vcm_buf_release(&bench.blob);
    vcm_buf_release(&bench.text);
    vcm_buf_release(&bench.old);
    free(bench.cuts);
    free(bench.records);
    free(bench.all.ratios);
    return 0;
}
