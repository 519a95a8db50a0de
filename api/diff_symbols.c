#include "api/diff_symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "git/blob.h"
#include "symbols/extractor.h"

#include "base/banned.h"

/* A shorter body is found in many places by chance. */
#define BODY_BYTES_MIN ((size_t)32)

static const char *const change_names[] = {"added", "removed", "changed",
                                           "moved", "renamed", "stale"};

const char *vcm_diff_symbols_change_name(enum vcm_diff_change change)
{
    return change_names[change];
}

int vcm_diff_symbols_add(struct vcm_diff_rows *rows, const struct vcm_diff_row *row,
                         struct vcm_error *err)
{
    int rc = vcm_array_reserve(&rows->list, &rows->capacity, rows->count + 1,
                               VCM_LIMIT_LIST_ENTRIES, err);
    if (rc == VCM_OK)
        rows->list[rows->count++] = *row;
    return rc;
}

/* One version of a file. */
struct version {
    struct vcm_buf text;
    struct vcm_symbols symbols;
    uint64_t *hashes; /* of each definition's own lines */
    bool *is_long;    /* enough to be found elsewhere */
    bool *used;
};

static void release(struct version *version)
{
    free(version->hashes);
    free(version->is_long);
    free(version->used);
    vcm_symbols_release(&version->symbols);
    vcm_buf_release(&version->text);
}

/* Appends a line with the definition's own name left out, so that another name makes no difference.
 */
static void append_without(struct vcm_buf *out, struct vcm_slice line, struct vcm_slice name)
{
    while (line.len > 0) {
        const char *found = name.len > 0 ? memmem(line.data, line.len, name.data, name.len) : NULL;
        size_t before = found ? (size_t)(found - line.data) : line.len;
        size_t taken = found ? before + name.len : line.len;
        vcm_buf_append(out, line.data, before);
        if (found)
            vcm_buf_append_byte(out, '\0');
        line = vcm_slice_of(line.data + taken, line.len - taken);
    }
}

/* Hashes what belongs to each definition and to none inside of it: a method that changes does not
 * change its class. */
static int hash_all(struct version *version, struct vcm_error *err)
{
    const struct vcm_symbols *symbols = &version->symbols;
    struct vcm_slice text = vcm_buf_slice(&version->text);
    uint32_t lines = 1, count = symbols->definition_count;

    for (size_t i = 0; i < text.len; i++)
        lines += text.data[i] == '\n';
    uint32_t *owners = calloc((size_t)lines + 2, sizeof *owners);
    struct vcm_buf *bodies = calloc((size_t)count + 1, sizeof *bodies);
    version->hashes = calloc((size_t)count + 1, sizeof *version->hashes);
    version->is_long = calloc((size_t)count + 1, sizeof *version->is_long);
    version->used = calloc((size_t)count + 1, sizeof *version->used);
    bool fine = owners && bodies && version->hashes && version->is_long && version->used;
    for (uint32_t i = 0; fine && i < count; i++) {
        vcm_buf_init(&bodies[i], VCM_LIMIT_FILE_BYTES);
        for (uint32_t l = symbols->definitions[i].line;
             l <= symbols->definitions[i].end_line && l <= lines; l++)
            owners[l] = i + 1;
    }
    size_t at = 0;
    for (uint32_t l = 1; fine && l <= lines && at < text.len; l++) {
        const char *end = memchr(text.data + at, '\n', text.len - at);
        size_t len = end ? (size_t)(end - text.data) + 1 - at : text.len - at;
        if (owners[l] > 0)
            append_without(&bodies[owners[l] - 1], vcm_slice_of(text.data + at, len),
                           symbols->definitions[owners[l] - 1].name);
        at += len;
    }
    for (uint32_t i = 0; fine && i < count; i++) {
        fine = bodies[i].fault == VCM_BUF_FINE;
        version->hashes[i] = vcm_hash_checksum(vcm_buf_slice(&bodies[i]), 0);
        version->is_long[i] = bodies[i].len >= BODY_BYTES_MIN;
    }
    for (uint32_t i = 0; bodies && i < count; i++)
        vcm_buf_release(&bodies[i]);
    free(bodies);
    free(owners);
    return fine ? VCM_OK : vcm_error_memory(err);
}

/* A content that cannot be read, or is no source, has no definitions. */
static int load(struct version *out, struct vcm_place *place, struct vcm_extractor *extractor,
                struct vcm_slice path, const struct vcm_git_id *id, bool exists,
                struct vcm_error *err)
{
    enum vcm_language language = vcm_language_of_path(path);
    struct vcm_error ignored = {0};
    uint64_t size = 0;
    int rc = VCM_OK;

    *out = (struct version){0};
    vcm_buf_init(&out->text, VCM_LIMIT_FILE_BYTES);
    vcm_symbols_init(&out->symbols);
    if (exists && vcm_language_is_known(language) &&
        vcm_git_blob_read_upto(&out->text, &size, place->repo, id, VCM_LIMIT_SYMBOLS_FILE_BYTES,
                               &ignored) == VCM_OK &&
        size <= VCM_LIMIT_SYMBOLS_FILE_BYTES)
        rc = vcm_extractor_run(&out->symbols, extractor, language, vcm_buf_slice(&out->text), err);
    return rc == VCM_OK ? hash_all(out, err) : rc;
}

static bool is_same(const struct vcm_symbol *a, const struct vcm_symbol *b)
{
    return a->kind == b->kind && vcm_slice_equal(a->name, b->name) &&
           vcm_slice_equal(a->container, b->container);
}

static int add_row(struct vcm_diff_rows *rows, enum vcm_diff_change change, const char *path,
                   const struct version *version, uint32_t index, uint32_t old_line,
                   struct vcm_error *err)
{
    const struct vcm_symbol *symbol = &version->symbols.definitions[index];
    struct vcm_buf name = VCM_BUF_INIT(VCM_MIB);

    if (symbol->container.len > 0) {
        vcm_utf8_append_line(&name, symbol->container);
        vcm_buf_append_byte(&name, '.');
    }
    vcm_utf8_append_line(&name, symbol->name);
    const char *kept = vcm_arena_copy(&rows->arena, vcm_buf_slice(&name));
    vcm_buf_release(&name);
    if (!kept)
        return vcm_error_memory(err);
    return vcm_diff_symbols_add(rows,
                                &(struct vcm_diff_row){
                                    .change = change,
                                    .path = path,
                                    .symbol = kept,
                                    .kind = vcm_symbol_kind_name(symbol->kind),
                                    .line = symbol->line,
                                    .end_line = symbol->end_line,
                                    .old_line = old_line,
                                    .hash = version->is_long[index] ? version->hashes[index] : 0,
                                },
                                err);
}

/* The first definition of `old` from `from` on that is this one and not matched yet; definitions of
 * two versions are mostly in the same order. */
static bool find_old(uint32_t *out, const struct version *old, const struct vcm_symbol *symbol,
                     uint32_t from)
{
    uint32_t count = old->symbols.definition_count;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (from + i) % count;
        if (!old->used[at] && is_same(&old->symbols.definitions[at], symbol)) {
            *out = at;
            return true;
        }
    }
    return false;
}

static int compare(struct vcm_diff_rows *rows, const char *path, struct version *old,
                   struct version *new, struct vcm_error *err)
{
    uint32_t at = 0;
    int rc = VCM_OK;

    for (uint32_t i = 0; rc == VCM_OK && i < new->symbols.definition_count; i++) {
        if (!find_old(&at, old, &new->symbols.definitions[i], at)) {
            rc = add_row(rows, VCM_DIFF_ADDED, path, new, i, 0, err);
            continue;
        }
        old->used[at] = true;
        if (old->hashes[at] != new->hashes[i])
            rc = add_row(rows, VCM_DIFF_CHANGED, path, new, i, old->symbols.definitions[at].line,
                         err);
    }
    for (uint32_t i = 0; rc == VCM_OK && i < old->symbols.definition_count; i++)
        if (!old->used[i])
            rc = add_row(rows, VCM_DIFF_REMOVED, path, old, i, old->symbols.definitions[i].line,
                         err);
    return rc;
}

int vcm_diff_symbols_compare(struct vcm_diff_rows *rows, struct vcm_place *place,
                             struct vcm_extractor *extractor, const struct vcm_diff_file *file,
                             struct vcm_error *err)
{
    struct vcm_buf shown = VCM_BUF_INIT(4 * VCM_LIMIT_TREE_PATH_BYTES);
    struct version old = {0}, new = {0};
    size_t before = rows->count;

    vcm_utf8_escape_path(&shown, file->path);
    const char *path = vcm_arena_copy(&rows->arena, vcm_buf_slice(&shown));
    vcm_buf_release(&shown);
    int rc = path ? VCM_OK : vcm_error_memory(err);
    if (rc == VCM_OK)
        rc = load(&old, place, extractor, file->path, &file->old, file->has_old, err);
    if (rc == VCM_OK)
        rc = load(&new, place, extractor, file->path, &file->new, file->has_new, err);
    if (rc == VCM_OK)
        rc = compare(rows, path, &old, &new, err);
    if (rc == VCM_OK && rows->count == before)
        rc = vcm_diff_symbols_add(rows,
                                  &(struct vcm_diff_row){
                                      .change = !file->has_old   ? VCM_DIFF_ADDED
                                                : !file->has_new ? VCM_DIFF_REMOVED
                                                                 : VCM_DIFF_CHANGED,
                                      .path = path,
                                  },
                                  err);
    release(&old);
    release(&new);
    return rc;
}

static int by_hash(const void *a, const void *b)
{
    const struct vcm_diff_row *x = *(const struct vcm_diff_row *const *)a;
    const struct vcm_diff_row *y = *(const struct vcm_diff_row *const *)b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    if (x->change != y->change)
        return x->change < y->change ? -1 : 1;
    return (x > y) - (x < y);
}

/* One definition that is added and one that is removed with the same body are the same. */
static void join_pair(struct vcm_diff_row *added, struct vcm_diff_row *removed)
{
    const char *dot = strrchr(added->symbol, '.'), *old_dot = strrchr(removed->symbol, '.');
    bool same_name =
        strcmp(dot ? dot + 1 : added->symbol, old_dot ? old_dot + 1 : removed->symbol) == 0;

    added->change = same_name ? VCM_DIFF_MOVED : VCM_DIFF_RENAMED;
    added->old_symbol = strcmp(added->symbol, removed->symbol) != 0 ? removed->symbol : NULL;
    added->old_path = strcmp(added->path, removed->path) != 0 ? removed->path : NULL;
    added->old_line = removed->line;
    removed->gone = true;
}

void vcm_diff_symbols_join(struct vcm_diff_rows *rows)
{
    struct vcm_diff_row **list = calloc(rows->count + 1, sizeof(struct vcm_diff_row *));
    size_t count = 0;

    for (size_t i = 0; list && i < rows->count; i++)
        if (rows->list[i].hash != 0 && rows->list[i].change <= VCM_DIFF_REMOVED)
            list[count++] = &rows->list[i];
    if (count > 0)
        qsort(list, count, sizeof(struct vcm_diff_row *), by_hash);
    for (size_t i = 0; i < count;) {
        size_t added = 0, removed = 0;
        for (; i + added < count && list[i + added]->hash == list[i]->hash &&
               list[i + added]->change == VCM_DIFF_ADDED;)
            added++;
        while (i + added + removed < count && list[i + added + removed]->hash == list[i]->hash)
            removed++;
        if (added == 1 && removed == 1)
            join_pair(list[i], list[i + 1]);
        i += added + removed;
    }
    free(list);
}
