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

/* "src/a" of "src/a.py", and "src/a" of "src/a/__init__.py" too: what stands for a directory. */
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

/* What of a file's path an import names: a package's directory, or the file. */
static struct vcm_slice named_part(const struct vcm_index_file *file)
{
    return file->language == VCM_LANGUAGE_GO ? directory_of(file->path) : stem_of(file->path);
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

/* Whether paths are written with slashes, or names with other marks between them. PHP has both:
 * "lib/shop.php" and "Lib\Shop". */
static bool has_paths(enum vcm_language language, struct vcm_slice target)
{
    bool of_php = language == VCM_LANGUAGE_PHP && !memchr(target.data, '\\', target.len) &&
                  memchr(target.data, '.', target.len);

    return of_php || vcm_language_is_c(language) || vcm_language_is_script(language) ||
           language == VCM_LANGUAGE_GO || language == VCM_LANGUAGE_RUBY ||
           language == VCM_LANGUAGE_BASH || language == VCM_LANGUAGE_ZIG ||
           language == VCM_LANGUAGE_JULIA || language == VCM_LANGUAGE_R;
}

/* What a path begins with that names no file. */
static struct vcm_slice without_root(enum vcm_language language, struct vcm_slice target)
{
    static const char *const roots[] = {"crate::", "self::", "super::"};

    for (size_t i = 0; language == VCM_LANGUAGE_RUST && i < 3;) {
        size_t len = strlen(roots[i]);
        bool has = target.len > len && memcmp(target.data, roots[i], len) == 0;
        target = has ? vcm_slice_of(target.data + len, target.len - len) : target;
        i = has ? 0 : i + 1;
    }
    return target;
}

/* "a/b" of "../a/b.h", "a.b", ".a.b", "crate::a::b", "A\B". Elixir's BigShop is in big_shop.ex,
 * OCaml's Shop in shop.ml. */
static struct vcm_slice to_path(char out[TARGET_MAX], enum vcm_language language,
                                struct vcm_slice target)
{
    const bool paths = has_paths(language, target);
    size_t len = 0;

    target = without_root(language, target);
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
        bool upper = target.data[i] >= 'A' && target.data[i] <= 'Z';
        bool begins = len == 0 || out[len - 1] == '/';
        if (language == VCM_LANGUAGE_ELIXIR && upper && !begins && len + 2 < TARGET_MAX)
            out[len++] = '_';
        bool lowers = upper && (language == VCM_LANGUAGE_ELIXIR ||
                                (vcm_language_is_ocaml(language) && begins));
        out[len++] = mark ? '/' : lowers ? (char)(target.data[i] - 'A' + 'a') : target.data[i];
    }
    struct vcm_slice path = vcm_slice_of(out, len);
    return paths && language != VCM_LANGUAGE_GO && path.len > 0 ? stem_of(path) : path;
}

static bool are_kin(enum vcm_language a, enum vcm_language b)
{
    return a == b || (vcm_language_is_ocaml(a) && vcm_language_is_ocaml(b)) ||
           (vcm_language_is_c(a) && vcm_language_is_c(b)) ||
           (vcm_language_is_script(a) && vcm_language_is_script(b));
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
    size_t count = 0;

    for (uint32_t i = imports->heads[bucket_of(imports, path)]; i > 0; i = imports->next[i - 1]) {
        struct vcm_slice named = named_part(&files[i - 1]);
        bool meant = is_end_of(path, named) ||
                     (language == VCM_LANGUAGE_GO && named.len > 0 && is_end_of(named, path));
        if (!meant || !are_kin(language, files[i - 1].language))
            continue;
        if (count == VCM_IMPORTS_MAX)
            return 0;
        out[count++] = i - 1;
    }
    return count;
}

size_t vcm_imports_find(uint32_t out[VCM_IMPORTS_MAX], const struct vcm_imports *imports,
                        size_t from, struct vcm_slice target)
{
    enum vcm_language language = imports->index->files[from].language;
    char text[TARGET_MAX];

    struct vcm_slice path = to_path(text, language, target);
    while (path.len > 0) {
        size_t count = look_up(out, imports, from, path);
        /* "a::b::Name" and "a.b.C.method" name something in a file: less is tried. */
        const char *slash = has_paths(language, target) ? NULL : memrchr(path.data, '/', path.len);
        if (count > 0 || !slash)
            return count;
        path.len = (size_t)(slash - path.data);
        if (!memchr(path.data, '/', path.len) && language != VCM_LANGUAGE_RUST)
            return 0;
    }
    return 0;
}

size_t vcm_imports_find_whole(uint32_t out[VCM_IMPORTS_MAX], const struct vcm_imports *imports,
                              size_t from, struct vcm_slice target)
{
    char text[TARGET_MAX];
    struct vcm_slice path = to_path(text, imports->index->files[from].language, target);

    return path.len > 0 ? look_up(out, imports, from, path) : 0;
}

/* Whether names of a package have files of their own, as a rule. */
static bool has_files_for_names(enum vcm_language language)
{
    return language == VCM_LANGUAGE_JAVA || language == VCM_LANGUAGE_KOTLIN ||
           language == VCM_LANGUAGE_SCALA;
}

size_t vcm_imports_find_name(uint32_t out[VCM_IMPORTS_MAX], const struct vcm_imports *imports,
                             size_t from, const struct vcm_symbol_import *import,
                             struct vcm_slice name)
{
    char text[TARGET_MAX];
    const size_t len = import->target.len + 1 + name.len;

    if (!import->parts || !has_files_for_names(imports->index->files[from].language) ||
        len > sizeof text)
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
    while (has_files_for_names(imports->index->files[from].language) &&
           vcm_qualifier_next_name(&name, &here, &list)) {
        count = vcm_imports_find_name(files, imports, from, import, name);
        for (size_t i = 0; i < count; i++)
            visit(context, files[i]);
    }
}
