#include "symbols/imports.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/limits.h"
#include "symbols/qualifier.h"

#include "base/banned.h"

#define TARGET_MAX ((size_t)1024)

struct vcm_imports {
    const struct vcm_index *index;
    uint32_t *heads; /* 1 + the first file of a bucket */
    uint32_t *next;  /* 1 + the next one */
    uint32_t mask;
};

/* "src/a" of "src/a.py", and also of "src/a/__init__.py", which represents its directory. */
static struct vcm_slice stem_of(struct vcm_slice path)
{
    static const char *const whole[] = {"/__init__", "/index", "/mod", "/lib"};
    const char *slash = memrchr(path.data, '/', path.len);
    const char *name = slash ? slash + 1 : path.data;
    const char *dot = memrchr(name, '.', path.len - (size_t)(name - path.data));

    if (dot && dot > name)
        path.len = (size_t)(dot - path.data);
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        size_t len = strlen(whole[i]);
        if (path.len > len && memcmp(path.data + path.len - len, whole[i], len) == 0)
            return vcm_slice_of(path.data, path.len - len);
    }
    return path;
}

static struct vcm_slice directory_of(struct vcm_slice path)
{
    const char *slash = memrchr(path.data, '/', path.len);

    return vcm_slice_of(path.data, slash ? (size_t)(slash - path.data) : 0);
}

static struct vcm_slice last_part(struct vcm_slice path)
{
    const char *slash = path.len > 0 ? memrchr(path.data, '/', path.len) : NULL;

    return slash ? vcm_slice_of(slash + 1, path.len - (size_t)(slash + 1 - path.data)) : path;
}

/* The part of a file's path that an import names: a package's directory, or the file. */
static struct vcm_slice named_part(const struct vcm_index_file *file)
{
    return vcm_language_get(file->language)->imports.directories ? directory_of(file->path)
                                                                 : stem_of(file->path);
}

static uint32_t bucket_of(const struct vcm_imports *imports, struct vcm_slice name)
{
    return (uint32_t)vcm_hash_checksum(last_part(name), 0) & imports->mask;
}

int vcm_imports_open(struct vcm_imports **out, const struct vcm_index *index, struct vcm_error *err)
{
    struct vcm_imports *imports = calloc(1, sizeof *imports);

    *out = NULL;
    if (!imports)
        return vcm_error_memory(err);
    imports->index = index;
    imports->mask = 15;
    while (imports->mask / 2 < index->file_count)
        imports->mask = 2 * imports->mask + 1;
    imports->heads = calloc((size_t)imports->mask + 1, sizeof *imports->heads);
    imports->next = calloc(index->file_count + 1, sizeof *imports->next);
    if (!imports->heads || !imports->next) {
        vcm_imports_close(imports);
        return vcm_error_memory(err);
    }
    for (size_t i = index->file_count; i > 0; i--) {
        uint32_t bucket = bucket_of(imports, named_part(&index->files[i - 1]));
        imports->next[i - 1] = imports->heads[bucket];
        imports->heads[bucket] = (uint32_t)i;
    }
    *out = imports;
    return VCM_OK;
}

void vcm_imports_close(struct vcm_imports *imports)
{
    if (!imports)
        return;
    free(imports->heads);
    free(imports->next);
    free(imports);
}

/* Whether the target is a path, "lib/shop.php", or names with marks between them, "Lib\Shop". */
static bool has_paths(const struct vcm_language_imports *habits, struct vcm_slice target)
{
    switch (habits->path) {
    case VCM_LANGUAGES_PATH_WRITTEN:
        return true;
    case VCM_LANGUAGES_PATH_EITHER:
        return !memchr(target.data, '\\', target.len) && memchr(target.data, '.', target.len);
    default:
        return false;
    }
}

/* Without leading parts of a path that name no file. */
static struct vcm_slice without_roots(const char *const *roots, struct vcm_slice target)
{
    for (size_t i = 0; roots && roots[i];) {
        size_t len = strlen(roots[i]);
        bool has = target.len > len && memcmp(target.data, roots[i], len) == 0;
        target = has ? vcm_slice_of(target.data + len, target.len - len) : target;
        i = has ? 0 : i + 1;
    }
    return target;
}

/* Appends a character of a module's name as the name of its file has it: BigShop is in big_shop.ex,
 * Shop in shop.ml. */
static size_t put_char(char *out, size_t len, enum vcm_language_file_case file_case, char c)
{
    bool upper = c >= 'A' && c <= 'Z', begins = len == 0 || out[len - 1] == '/';
    bool snake = file_case == VCM_LANGUAGES_CASE_SNAKE;

    if (snake && upper && !begins && len + 2 < TARGET_MAX)
        out[len++] = '_';
    bool lowers = upper && (snake || (file_case == VCM_LANGUAGES_CASE_LOWER_FIRST && begins));
    out[len++] = lowers ? (char)(c - 'A' + 'a') : c;
    return len;
}

/* "a/b" of "../a/b.h", "a.b", ".a.b", "crate::a::b", "A\B". */
static struct vcm_slice to_path(char out[TARGET_MAX], const struct vcm_language_imports *habits,
                                struct vcm_slice target)
{
    const bool paths = has_paths(habits, target);
    size_t len = 0;

    target = without_roots(habits->roots, target);
    while (target.len > 0 && strchr("./", target.data[0]))
        target = vcm_slice_of(target.data + 1, target.len - 1);
    for (size_t i = 0; i < target.len && len + 1 < TARGET_MAX; i++) {
        bool mark = !paths && strchr(".:\\", target.data[i]);
        if (mark && len > 0 && out[len - 1] == '/')
            continue;
        if (strchr("{*", target.data[i]) && len > 0 && out[len - 1] == '/') {
            len--;
            break;
        }
        len = put_char(out, len, habits->file_case, mark ? '/' : target.data[i]);
    }
    struct vcm_slice path = vcm_slice_of(out, len);
    return paths && !habits->directories && path.len > 0 ? stem_of(path) : path;
}

/* Whether the one imports files of the other. */
static bool are_kin(enum vcm_language a, enum vcm_language b)
{
    return a == b || (vcm_language_get(a)->imports.family && vcm_language_are_kin(a, b));
}

/* Whether one is the other, or its end at a slash. */
static bool is_end_of(struct vcm_slice end, struct vcm_slice path)
{
    return end.len <= path.len && memcmp(path.data + path.len - end.len, end.data, end.len) == 0 &&
           (end.len == path.len || path.data[path.len - end.len - 1] == '/');
}

static size_t look_up(uint32_t out[VCM_IMPORTS_MAX], const struct vcm_imports *imports, size_t from,
                      struct vcm_slice path)
{
    const struct vcm_index_file *files = imports->index->files;
    enum vcm_language language = files[from].language;
    const bool directories = vcm_language_get(language)->imports.directories;
    size_t count = 0;

    for (uint32_t i = imports->heads[bucket_of(imports, path)]; i > 0; i = imports->next[i - 1]) {
        struct vcm_slice named = named_part(&files[i - 1]);
        bool meant =
            is_end_of(path, named) || (directories && named.len > 0 && is_end_of(named, path));
        if (!meant || !are_kin(language, files[i - 1].language))
            continue;
        if (count == VCM_IMPORTS_MAX)
            return 0;
        out[count++] = i - 1;
    }
    return count;
}

static const struct vcm_language_imports *habits_of(const struct vcm_imports *imports, size_t file)
{
    return &vcm_language_get(imports->index->files[file].language)->imports;
}

size_t vcm_imports_find(uint32_t out[VCM_IMPORTS_MAX], const struct vcm_imports *imports,
                        size_t from, struct vcm_slice target)
{
    const struct vcm_language_imports *habits = habits_of(imports, from);
    char text[TARGET_MAX];

    struct vcm_slice path = to_path(text, habits, target);
    while (path.len > 0) {
        size_t count = look_up(out, imports, from, path);
        /* "a::b::Name" and "a.b.C.method" name something in a file: shorter paths are tried. */
        const char *slash = has_paths(habits, target) ? NULL : memrchr(path.data, '/', path.len);
        if (count > 0 || !slash)
            return count;
        path.len = (size_t)(slash - path.data);
        if (!memchr(path.data, '/', path.len) && !habits->single_words)
            return 0;
    }
    return 0;
}

size_t vcm_imports_find_whole(uint32_t out[VCM_IMPORTS_MAX], const struct vcm_imports *imports,
                              size_t from, struct vcm_slice target)
{
    char text[TARGET_MAX];
    struct vcm_slice path = to_path(text, habits_of(imports, from), target);

    return path.len > 0 ? look_up(out, imports, from, path) : 0;
}

size_t vcm_imports_find_name(uint32_t out[VCM_IMPORTS_MAX], const struct vcm_imports *imports,
                             size_t from, const struct vcm_symbol_import *import,
                             struct vcm_slice name)
{
    char text[TARGET_MAX];
    const size_t len = import->target.len + 1 + name.len;

    if (!import->parts || !habits_of(imports, from)->file_per_name || len > sizeof text)
        return vcm_imports_find(out, imports, from, import->target);
    memcpy(text, import->target.data, import->target.len);
    text[import->target.len] = '.';
    memcpy(text + import->target.len + 1, name.data, name.len);
    return vcm_imports_find(out, imports, from, vcm_slice_of(text, len));
}

void vcm_imports_visit(const struct vcm_imports *imports, size_t from,
                       const struct vcm_symbol_import *import, vcm_imports_fn visit, void *context)
{
    struct vcm_slice list = import->parts ? import->alias : vcm_slice_of("", 0), name, here;
    uint32_t files[VCM_IMPORTS_MAX];
    size_t count = vcm_imports_find(files, imports, from, import->target);

    for (size_t i = 0; i < count; i++)
        visit(context, files[i]);
    while (habits_of(imports, from)->file_per_name &&
           vcm_qualifier_next_name(&name, &here, &list)) {
        count = vcm_imports_find_name(files, imports, from, import, name);
        for (size_t i = 0; i < count; i++)
            visit(context, files[i]);
    }
}
