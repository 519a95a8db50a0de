#include "symbols/imports.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/limits.h"
#include "symbols/find_node.h"
#include "symbols/find_python.h"
#include "symbols/packages.h"
#include "symbols/qualifier.h"
#include "symbols/tree_paths.h"

#include "base/banned.h"

#define TARGET_MAX ((size_t)1024)

struct vcm_imports {
    const struct vcm_index *index;
    uint32_t *heads; /* 1 + the first file of a bucket */
    uint32_t *next;  /* 1 + the next one */
    uint32_t mask;
    struct vcm_packages *packages;
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

static struct vcm_slice last_part(struct vcm_slice path)
{
    const char *slash = path.len > 0 ? memrchr(path.data, '/', path.len) : NULL;

    return slash ? vcm_slice_of(slash + 1, path.len - (size_t)(slash + 1 - path.data)) : path;
}

/* The part of a file's path that an import names: a package's directory, or the file. */
static struct vcm_slice named_part(const struct vcm_index_file *file)
{
    return vcm_language_get(file->language)->imports.directories
               ? vcm_tree_paths_directory(file->path)
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
    if (!imports->heads || !imports->next ||
        vcm_packages_open(&imports->packages, index, err) != VCM_OK) {
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
    vcm_packages_close(imports->packages);
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

/* Of the files that a written path may mean, the one that it means from the directory of the
 * importing file, or from the top. A path that begins with a dot means no other. */
static size_t nearest(uint32_t out[VCM_IMPORTS_MAX], size_t count,
                      const struct vcm_imports *imports, size_t from, struct vcm_slice target)
{
    const struct vcm_index_file *files = imports->index->files;
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    bool relative = target.len > 0 && target.data[0] == '.';
    struct vcm_slice directories[] = {vcm_tree_paths_directory(files[from].path),
                                      vcm_slice_of("", 0)};
    size_t kept = 0;

    for (size_t i = 0; i < 2 - (size_t)relative && kept == 0; i++) {
        if (!vcm_tree_paths_join(&path, directories[i], target))
            continue;
        struct vcm_slice wanted = vcm_buf_slice(&path), stem = stem_of(wanted);
        for (size_t j = 0; j < count; j++)
            if (vcm_slice_equal(files[out[j]].path, wanted))
                out[kept++] = out[j];
        for (size_t j = 0; j < count && kept == 0; j++)
            if (vcm_slice_equal(stem_of(files[out[j]].path), stem))
                out[kept++] = out[j];
    }
    vcm_buf_release(&path);
    return kept > 0 || relative ? kept : count;
}

/* The packages of Python by the name of the target's first word. */
static size_t list_packages(uint32_t out[VCM_IMPORTS_MAX], const struct vcm_imports *imports,
                            struct vcm_slice target)
{
    const struct vcm_index_file *files = imports->index->files;
    struct vcm_slice word = vcm_find_python_first_word(target);
    size_t count = 0;

    for (uint32_t i = imports->heads[bucket_of(imports, word)]; i > 0; i = imports->next[i - 1]) {
        struct vcm_slice path = files[i - 1].path;
        bool package = vcm_slice_equal(last_part(path), vcm_slice_of("__init__.py", 11));
        if (package && count < VCM_IMPORTS_MAX &&
            vcm_slice_equal(last_part(vcm_tree_paths_directory(path)), word))
            out[count++] = i - 1;
    }
    return count;
}

/* The directory that a path of packages means by a module that go.mod names. */
static size_t find_go(uint32_t out[VCM_IMPORTS_MAX], bool *external,
                      const struct vcm_imports *imports, size_t from, struct vcm_slice target)
{
    const struct vcm_index_file *files = imports->index->files;
    size_t count = 0, found = 0, kept = 0;
    const struct vcm_packages_item *items = vcm_packages_all(&count, imports->packages);
    bool modules = false;

    for (size_t i = 0; i < count; i++) {
        const struct vcm_slice module = items[i].module;
        modules = modules || module.len > 0;
        if (module.len == 0 || module.len > target.len ||
            memcmp(module.data, target.data, module.len) != 0 ||
            (target.len > module.len && target.data[module.len] != '/'))
            continue;
        struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
        struct vcm_slice rest = vcm_slice_of(target.data + module.len, target.len - module.len);
        if (vcm_tree_paths_join(&path, items[i].directory, rest)) {
            found = look_up(out, imports, from, vcm_buf_slice(&path));
            for (size_t j = 0; j < found; j++)
                if (vcm_slice_equal(vcm_tree_paths_directory(files[out[j]].path),
                                    vcm_buf_slice(&path)))
                    out[kept++] = out[j];
        }
        vcm_buf_release(&path);
        if (kept > 0)
            return kept;
    }
    *external = modules;
    return modules ? 0 : look_up(out, imports, from, target);
}

/* The files of a module, where the language has rules of its own for that. */
static size_t find_module(uint32_t out[VCM_IMPORTS_MAX], bool *external,
                          const struct vcm_imports *imports, size_t from, struct vcm_slice target)
{
    uint32_t packages[VCM_IMPORTS_MAX];

    *external = false;
    switch (habits_of(imports, from)->finder) {
    case VCM_LANGUAGES_FIND_NODE:
        out[0] = vcm_find_node(external, imports->index, imports->packages, from, target);
        break;
    case VCM_LANGUAGES_FIND_PYTHON:
        out[0] = vcm_find_python(external, imports->index, from, target, packages,
                                 list_packages(packages, imports, target));
        break;
    default:
        return find_go(out, external, imports, from, target);
    }
    return out[0] != VCM_TREE_PATHS_NONE;
}

bool vcm_imports_is_external(const struct vcm_imports *imports, size_t from,
                             struct vcm_slice target)
{
    uint32_t files[VCM_IMPORTS_MAX];
    bool external = false;

    if (habits_of(imports, from)->finder == VCM_LANGUAGES_FIND_BY_END)
        return vcm_imports_find(files, imports, from, target) == 0;
    find_module(files, &external, imports, from, target);
    return external;
}

size_t vcm_imports_find(uint32_t out[VCM_IMPORTS_MAX], const struct vcm_imports *imports,
                        size_t from, struct vcm_slice target)
{
    const struct vcm_language_imports *habits = habits_of(imports, from);
    const bool paths = has_paths(habits, target);
    char text[TARGET_MAX];
    bool external = false;

    if (habits->finder != VCM_LANGUAGES_FIND_BY_END)
        return find_module(out, &external, imports, from, target);
    struct vcm_slice path = to_path(text, habits, target);
    while (path.len > 0) {
        size_t count = look_up(out, imports, from, path);
        if (paths)
            return nearest(out, count, imports, from, target);
        /* "a::b::Name" and "a.b.C.method" name something in a file: shorter paths are tried. */
        const char *slash = memrchr(path.data, '/', path.len);
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
    const struct vcm_language_imports *habits = habits_of(imports, from);
    char text[TARGET_MAX];
    bool external = false;

    if (habits->finder != VCM_LANGUAGES_FIND_BY_END)
        return find_module(out, &external, imports, from, target);
    struct vcm_slice path = to_path(text, habits, target);
    size_t count = path.len > 0 ? look_up(out, imports, from, path) : 0;
    return has_paths(habits, target) ? nearest(out, count, imports, from, target) : count;
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

/* "m.name", or ".name", which is a module when names that are imported may be. */
size_t vcm_imports_find_part(uint32_t out[VCM_IMPORTS_MAX], const struct vcm_imports *imports,
                             size_t from, struct vcm_slice target, struct vcm_slice name)
{
    char text[TARGET_MAX];
    size_t dot = target.len > 0 && target.data[target.len - 1] != '.';

    if (!habits_of(imports, from)->submodules || target.len + dot + name.len > sizeof text)
        return 0;
    memcpy(text, target.data, target.len);
    if (dot > 0)
        text[target.len] = '.';
    memcpy(text + target.len + dot, name.data, name.len);
    return vcm_imports_find_whole(out, imports, from,
                                  vcm_slice_of(text, target.len + dot + name.len));
}

void vcm_imports_visit(const struct vcm_imports *imports, size_t from,
                       const struct vcm_symbol_import *import, vcm_imports_fn visit, void *context)
{
    struct vcm_slice list = import->parts ? import->alias : vcm_slice_of("", 0), name, here;
    const struct vcm_language_imports *habits = habits_of(imports, from);
    uint32_t files[VCM_IMPORTS_MAX];

    if (import->target.len == 0)
        return;
    size_t count = vcm_imports_find(files, imports, from, import->target);
    for (size_t i = 0; i < count; i++)
        visit(context, files[i]);
    bool submodules = habits->finder == VCM_LANGUAGES_FIND_PYTHON;
    while ((habits->file_per_name || submodules) && vcm_qualifier_next_name(&name, &here, &list)) {
        count = submodules ? vcm_imports_find_part(files, imports, from, import->target, name)
                           : vcm_imports_find_name(files, imports, from, import, name);
        for (size_t i = 0; i < count; i++)
            visit(context, files[i]);
    }
}
