#include "symbols/packages.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/limits.h"
#include "git/blob.h"

#include "base/banned.h"

#define DOCUMENT_BYTES_MAX  ((size_t)1 * VCM_MIB)
#define DOCUMENTS_BYTES_MAX ((size_t)64 * VCM_MIB) /* of all of them, parsed */
#define DOCUMENTS_MAX       8192u
#define DIRECTORIES_MAX     ((size_t)65536)

struct vcm_packages {
    const struct vcm_index *index;
    struct vcm_arena arena;
    struct vcm_packages_item *items; /* by directory */
    size_t count, capacity;
    size_t documents;
    bool loaded;
};

int vcm_packages_open(struct vcm_packages **out, const struct vcm_index *index,
                      struct vcm_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return vcm_error_memory(err);
    (*out)->index = index;
    vcm_arena_init(&(*out)->arena, DOCUMENTS_BYTES_MAX);
    return VCM_OK;
}

void vcm_packages_close(struct vcm_packages *packages)
{
    if (!packages)
        return;
    vcm_arena_release(&packages->arena);
    free(packages->items);
    free(packages);
}

static int compare(struct vcm_slice a, struct vcm_slice b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len > 0 ? memcmp(a.data, b.data, len) : 0;

    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

static int by_text(const void *a, const void *b)
{
    return compare(*(const struct vcm_slice *)a, *(const struct vcm_slice *)b);
}

/* The bytes of a file of the tree; false when there is no such file, or a larger one. */
static bool read_bytes(struct vcm_buf *out, struct vcm_packages *packages, struct vcm_slice path)
{
    const struct vcm_index *index = packages->index;
    struct vcm_error ignored = {0};
    struct vcm_git_entry entry;
    char name[VCM_LIMIT_PATH_BYTES];
    uint64_t size = 0;

    if (path.len >= sizeof name || memchr(path.data, '\0', path.len) ||
        packages->documents >= DOCUMENTS_MAX)
        return false;
    memcpy(name, path.data, path.len);
    name[path.len] = '\0';
    if (vcm_git_tree_entry(&entry, index->repo, &index->commit, name, &ignored) != VCM_OK ||
        (entry.kind != VCM_GIT_FILE && entry.kind != VCM_GIT_EXECUTABLE) ||
        vcm_git_blob_size(&size, index->repo, &entry.id, &ignored) != VCM_OK ||
        size > DOCUMENT_BYTES_MAX)
        return false;
    packages->documents++;
    return vcm_git_blob_read(out, index->repo, &entry.id, &ignored) == VCM_OK;
}

/* Where the comment or string ends that begins at `at`; `at` where none does. */
static size_t skip_token(struct vcm_slice text, size_t at)
{
    const char *start = text.data + at;
    size_t left = text.len - at;

    if (left > 1 && (memcmp(start, "//", 2) == 0 || memcmp(start, "/*", 2) == 0)) {
        bool line = start[1] == '/';
        const char *end = line ? memchr(start, '\n', left) : memmem(start + 2, left - 2, "*/", 2);
        return end ? (size_t)(end - text.data) + (line ? 0 : 2) : text.len;
    }
    if (left == 0 || *start != '"')
        return at;
    for (at++; at < text.len && text.data[at] != '"'; at++)
        at += text.data[at] == '\\';
    return at < text.len ? at + 1 : text.len;
}

/* Without comments, and commas before a bracket that closes. */
static void put_plain(struct vcm_buf *out, struct vcm_slice text)
{
    size_t comma = SIZE_MAX; /* where the last one is in `out`, when only blanks follow it */

    for (size_t at = 0; at < text.len;) {
        size_t end = skip_token(text, at);
        char c = text.data[at];
        if (end > at && c == '"') {
            vcm_buf_append(out, text.data + at, end - at);
            comma = SIZE_MAX;
        }
        if (end > at) {
            at = end;
            continue;
        }
        if ((c == '}' || c == ']') && comma != SIZE_MAX && comma < out->len)
            out->data[comma] = ' ';
        if (c == ',')
            comma = out->len;
        else if (!strchr(" \t\r\n", c))
            comma = SIZE_MAX;
        vcm_buf_append_byte(out, c);
        at++;
    }
}

const struct vcm_json *vcm_packages_read(struct vcm_packages *packages, struct vcm_slice path)
{
    struct vcm_buf bytes = VCM_BUF_INIT(DOCUMENT_BYTES_MAX),
                   plain = VCM_BUF_INIT(DOCUMENT_BYTES_MAX);
    struct vcm_error ignored = {0};
    struct vcm_json *document = NULL;

    if (read_bytes(&bytes, packages, path)) {
        put_plain(&plain, vcm_buf_slice(&bytes));
        if (plain.fault == VCM_BUF_FINE)
            vcm_json_parse(&document, &packages->arena, vcm_buf_slice(&plain), &ignored);
    }
    vcm_buf_release(&bytes);
    vcm_buf_release(&plain);
    return document && document->kind == VCM_JSON_OBJECT ? document : NULL;
}

static const struct vcm_json *read_in(struct vcm_packages *packages, struct vcm_slice directory,
                                      const char *name)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    vcm_buf_append_slice(&path, directory);
    vcm_buf_append_string(&path, directory.len > 0 ? "/" : "");
    vcm_buf_append_string(&path, name);
    const struct vcm_json *document = vcm_packages_read(packages, vcm_buf_slice(&path));
    vcm_buf_release(&path);
    return document;
}

/* The word behind "module" of go.mod. */
static struct vcm_slice read_module(struct vcm_packages *packages, struct vcm_slice directory)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES),
                   bytes = VCM_BUF_INIT(DOCUMENT_BYTES_MAX);
    struct vcm_slice module = vcm_slice_of("", 0);

    vcm_buf_append_slice(&path, directory);
    vcm_buf_append_string(&path, directory.len > 0 ? "/go.mod" : "go.mod");
    const char *text =
        read_bytes(&bytes, packages, vcm_buf_slice(&path)) ? vcm_buf_text(&bytes) : "";
    while (text && *text != '\0' && strncmp(text, "module ", 7) != 0) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    if (text && *text != '\0') {
        text += 7 + strspn(text + 7, " \t\"");
        module = vcm_slice_of(text, strcspn(text, " \t\"\r\n"));
        const char *copy = vcm_arena_copy(&packages->arena, module);
        module = vcm_slice_of(copy ? copy : "", copy ? module.len : 0);
    }
    vcm_buf_release(&path);
    vcm_buf_release(&bytes);
    return module;
}

static void load_directory(struct vcm_packages *packages, struct vcm_slice directory,
                           enum vcm_language_finder finder)
{
    struct vcm_packages_item item = {.directory = directory, .module = vcm_slice_of("", 0)};

    if (finder == VCM_LANGUAGES_FIND_NODE) {
        item.package = read_in(packages, directory, "package.json");
        item.config = read_in(packages, directory, "tsconfig.json");
        if (!item.config)
            item.config = read_in(packages, directory, "jsconfig.json");
    } else
        item.module = read_module(packages, directory);
    if ((item.package || item.config || item.module.len > 0) &&
        vcm_array_reserve(&packages->items, &packages->capacity, packages->count + 1,
                          DIRECTORIES_MAX, NULL) == VCM_OK)
        packages->items[packages->count++] = item;
}

static struct vcm_slice above(struct vcm_slice path)
{
    const char *slash = path.len > 0 ? memrchr(path.data, '/', path.len) : NULL;

    return vcm_slice_of(path.data, slash ? (size_t)(slash - path.data) : 0);
}

/* The directories of files that are found so, and those above them, in order, each once. */
static void load(struct vcm_packages *packages, enum vcm_language_finder finder)
{
    const struct vcm_index *index = packages->index;
    struct vcm_slice *list = NULL, last = vcm_slice_of("?", 1);
    size_t count = 0, capacity = 0;

    for (size_t i = 0; i < index->file_count && count < DIRECTORIES_MAX; i++) {
        struct vcm_slice directory = above(index->files[i].path);
        if (vcm_language_get(index->files[i].language)->imports.finder != finder ||
            vcm_slice_equal(directory, last))
            continue;
        last = directory;
        for (bool more = true; more && count < DIRECTORIES_MAX; directory = above(directory)) {
            if (vcm_array_reserve(&list, &capacity, count + 1, DIRECTORIES_MAX, NULL) != VCM_OK)
                break;
            list[count++] = directory;
            more = directory.len > 0;
        }
    }
    if (count > 0)
        qsort(list, count, sizeof *list, by_text);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || !vcm_slice_equal(list[i], list[i - 1]))
            load_directory(packages, list[i], finder);
    free(list);
}

static int by_directory(const void *a, const void *b)
{
    return compare(((const struct vcm_packages_item *)a)->directory,
                   ((const struct vcm_packages_item *)b)->directory);
}

/* A directory of Node may be one of Go too. */
static void join_equal(struct vcm_packages *packages)
{
    size_t kept = 0;

    for (size_t i = 0; i < packages->count; i++) {
        const struct vcm_packages_item item = packages->items[i];
        struct vcm_packages_item *last = kept > 0 ? &packages->items[kept - 1] : NULL;
        if (!last || !vcm_slice_equal(last->directory, item.directory)) {
            packages->items[kept++] = item;
            continue;
        }
        last->package = item.package ? item.package : last->package;
        last->config = item.config ? item.config : last->config;
        last->module = item.module.len > 0 ? item.module : last->module;
    }
    packages->count = kept;
}

const struct vcm_packages_item *vcm_packages_all(size_t *count, struct vcm_packages *packages)
{
    if (!packages->loaded) {
        packages->loaded = true;
        load(packages, VCM_LANGUAGES_FIND_NODE);
        load(packages, VCM_LANGUAGES_FIND_GO);
        if (packages->count > 0)
            qsort(packages->items, packages->count, sizeof *packages->items, by_directory);
        join_equal(packages);
    }
    *count = packages->count;
    return packages->items;
}

const struct vcm_packages_item *vcm_packages_at(struct vcm_packages *packages,
                                                struct vcm_slice directory)
{
    size_t count = 0;
    const struct vcm_packages_item *items = vcm_packages_all(&count, packages);
    const struct vcm_packages_item wanted = {.directory = directory};

    return count > 0 ? bsearch(&wanted, items, count, sizeof *items, by_directory) : NULL;
}
