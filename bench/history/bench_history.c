/*
 * bench_history.c - how many pages a commit rewrites, over the history of real repositories.
 *
 *     bench_history [-n COMMITS] [-t THRESHOLD] [-b BUDGET] REPOSITORY...
 *
 * Packs the files of the last commits (first parents, the oldest first) as a mapping would, in
 * memory: what was cut and counted once is kept by path and blob. Prints for each repository the
 * pages created for each file that was changed, added or deleted; the mean fill of a page (the
 * larger of records/threshold and tokens/budget), and that by tokens; and how often two files of
 * one commit share a page. Ignore files are not heeded.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "git/tree.h"
#include "vcm/page_builder.h"
#include "vcm/split.h"

#include "base/banned.h"

#define CACHE_BITS   21
#define COMMITS_MAX  100000u
#define PAIRED_FILES 20u /* commits of more files say little of what belongs together */

struct record {
    uint32_t tokens;
    struct vcm_page_id id;
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
    uint32_t first_page;
    uint32_t last_page;
};

struct snapshot {
    struct vcm_page_id *pages;
    struct file *files;
    size_t page_count, page_capacity;
    size_t file_count, file_capacity;
    double fill, token_fill; /* sums over pages */
};

struct bench {
    uint32_t threshold, budget, commits;
    struct vcm_tokenizer *tokenizer;
    struct vcm_split *split;
    struct vcm_git_repo *repo;
    struct vcm_page_builder *builder;
    struct vcm_buf blob, text;
    struct cut *cuts; /* 1 << CACHE_BITS, open addressing; key 0 is free */
    struct record *records;
    size_t record_count, record_capacity;
    struct snapshot *now;
    uint64_t created, changed, pairs, pairs_shared;
    unsigned most;
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

static int keep_part(void *context, struct vcm_slice value, const struct vcm_page_record *record,
                     struct vcm_error *err)
{
    struct bench *bench = context;

    (void)err;
    bench->records =
        grow(bench->records, bench->record_count, &bench->record_capacity, sizeof *bench->records);
    struct record *kept = &bench->records[bench->record_count++];
    kept->tokens = record->tokens;
    vcm_page_record_id_of(&kept->id, value);
    return VCM_OK;
}

static void cut_file(struct bench *bench, struct cut *cut, const struct vcm_git_entry *entry,
                     struct vcm_slice path)
{
    struct vcm_error err = {0};
    size_t probe;

    cut->first = (uint32_t)bench->record_count;
    cut->count = 0;
    vcm_buf_clear(&bench->blob);
    vcm_buf_clear(&bench->text);
    if (vcm_git_blob_read(&bench->blob, bench->repo, &entry->id, &err) != VCM_OK)
        return;
    probe = bench->blob.len < VCM_LIMIT_BINARY_PROBE ? bench->blob.len : VCM_LIMIT_BINARY_PROBE;
    if (probe > 0 && memchr(bench->blob.data, '\0', probe))
        return;
    vcm_utf8_replace(&bench->text, vcm_buf_slice(&bench->blob));
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

static int add_file(void *context, const struct vcm_git_entry *entry, struct vcm_error *err)
{
    struct bench *bench = context;
    struct snapshot *now = bench->now;
    struct vcm_buf path = VCM_BUF_INIT(4 * VCM_LIMIT_TREE_PATH_BYTES);
    uint64_t name = vcm_hash_checksum(entry->path, 1);
    uint64_t version =
        vcm_hash_checksum(vcm_slice_of(entry->id.bytes, sizeof entry->id.bytes), name);
    int rc = VCM_OK;

    if (entry->kind != VCM_GIT_FILE && entry->kind != VCM_GIT_EXECUTABLE)
        return VCM_OK;
    vcm_utf8_escape_path(&path, entry->path);
    struct cut *cut = find_cut(bench, version);
    if (cut->key == 0) {
        cut->key = version;
        cut_file(bench, cut, entry, vcm_buf_slice(&path));
    }
    if (cut->count > 0) {
        now->files = grow(now->files, now->file_count, &now->file_capacity, sizeof *now->files);
        now->files[now->file_count++] =
            (struct file){.path = name, .version = version, .first_page = UINT32_MAX};
    }
    for (uint32_t i = 0; rc == VCM_OK && i < cut->count; i++) {
        const struct record *kept = &bench->records[cut->first + i];
        const struct vcm_page_record record = {
            .path = vcm_buf_slice(&path),
            /* Tells the page of the file afterwards. */
            .content_id = vcm_slice_of(&now->file_count, sizeof now->file_count),
            .tokens = kept->tokens,
            .bytes = sizeof kept->id.bytes,
            .part = i + 1,
            .parts = cut->count,
        };
        rc = vcm_page_builder_add(
            bench->builder, vcm_slice_of(kept->id.bytes, sizeof kept->id.bytes), &record, err);
    }
    vcm_buf_release(&path);
    return rc;
}

static int take_page(void *context, const struct vcm_page_built *page, struct vcm_error *err)
{
    struct bench *bench = context;
    struct snapshot *now = bench->now;
    double by_records = (double)page->record_count / bench->threshold;
    double by_tokens = (double)page->tokens / bench->budget;

    (void)err;
    for (uint32_t i = 0; i < page->record_count; i++) {
        size_t number;
        memcpy(&number, page->records[i].content_id.data, sizeof number);
        struct file *file = &now->files[number - 1];
        file->last_page = (uint32_t)now->page_count;
        if (file->first_page == UINT32_MAX)
            file->first_page = (uint32_t)now->page_count;
    }
    now->pages = grow(now->pages, now->page_count, &now->page_capacity, sizeof *now->pages);
    now->pages[now->page_count++] = page->id;
    now->fill += by_records > by_tokens ? by_records : by_tokens;
    now->token_fill += by_tokens;
    return VCM_OK;
}

static void pack_commit(struct bench *bench, uint32_t back)
{
    struct vcm_error err = {0};
    struct vcm_git_id id;
    char name[32];

    bench->now->page_count = bench->now->file_count = 0;
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

static int compare_pages(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct vcm_page_id));
}

static int compare_files(const void *a, const void *b)
{
    const struct file *left = a, *right = b;
    return left->path < right->path ? -1 : left->path > right->path;
}

static unsigned count_created(const struct snapshot *before, const struct snapshot *now)
{
    unsigned created = 0;

    for (size_t i = 0; i < now->page_count; i++)
        created += !bsearch(&now->pages[i], before->pages, before->page_count,
                            sizeof *before->pages, compare_pages);
    return created;
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

static void run_repository(struct bench *bench, const char *path)
{
    struct snapshot snapshots[2] = {{0}, {0}};
    struct vcm_error err = {0};
    unsigned used = 0;

    if (vcm_git_repo_open(&bench->repo, path, &err) != VCM_OK)
        die(path, &err);
    bench->created = bench->changed = bench->pairs = bench->pairs_shared = 0;
    bench->most = 0;
    for (uint32_t back = bench->commits; back-- > 0;) {
        struct snapshot *before = bench->now;
        bench->now = &snapshots[back % 2];
        pack_commit(bench, back);
        qsort(bench->now->pages, bench->now->page_count, sizeof *bench->now->pages, compare_pages);
        qsort(bench->now->files, bench->now->file_count, sizeof *bench->now->files, compare_files);
        if (!before)
            continue;
        unsigned changed = count_changed(bench, before, bench->now);
        unsigned created = count_created(before, bench->now);
        bench->created += created;
        bench->changed += changed;
        used += changed > 0;
        bench->most = changed == 1 && created > bench->most ? created : bench->most;
    }
    const struct snapshot *now = bench->now;
    printf("| %s | %u | %zu | %zu | %.2f | %u | %.2f | %.2f | %.2f |\n", path, used,
           now->file_count, now->page_count,
           (double)bench->created / (double)(bench->changed ? bench->changed : 1), bench->most,
           now->fill / (double)now->page_count, now->token_fill / (double)now->page_count,
           (double)bench->pairs_shared / (double)(bench->pairs ? bench->pairs : 1));
    fflush(stdout);
    bench->now = NULL;
    for (int i = 0; i < 2; i++) {
        free(snapshots[i].pages);
        free(snapshots[i].files);
    }
    vcm_git_repo_close(bench->repo);
}

static uint32_t read_number(const char *text, uint32_t max)
{
    char *end;
    unsigned long value = strtoul(text ? text : "", &end, 10);

    if (!text || *end != '\0' || value == 0 || value > max)
        die("usage: bench_history [-n COMMITS] [-t THRESHOLD] [-b BUDGET] REPOSITORY...", NULL);
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
                                               : &bench.commits;
        *option = read_number(argv[i + 1], COMMITS_MAX);
    }
    bench.cuts = calloc((size_t)1 << CACHE_BITS, sizeof *bench.cuts);
    if (!bench.cuts || i >= argc)
        die("no repository given", NULL);
    vcm_buf_init(&bench.blob, VCM_LIMIT_FILE_BYTES);
    vcm_buf_init(&bench.text, 3 * VCM_LIMIT_FILE_BYTES);
    if (vcm_tokenizer_open(&bench.tokenizer, VCM_TOKENIZER_DEFAULT, &err) != VCM_OK ||
        vcm_split_open(
            &bench.split,
            &(struct vcm_split_options){.tokenizer = bench.tokenizer, .token_budget = bench.budget},
            &err) != VCM_OK)
        die("cannot begin", &err);
    puts("| repository | commits | files | pages | pages created a changed file | most for one "
         "file | fill | token fill | pairs on one page |\n|---|---|---|---|---|---|---|---|---|");
    for (; i < argc; i++)
        run_repository(&bench, argv[i]);
    vcm_split_close(bench.split);
    vcm_tokenizer_close(bench.tokenizer);
    vcm_buf_release(&bench.blob);
    vcm_buf_release(&bench.text);
    free(bench.cuts);
    free(bench.records);
    return 0;
}
