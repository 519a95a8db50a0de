#include "symbols/find_node.h"

#include "base/limits.h"
#include "symbols/snippet.h"
#include "symbols/tree_paths.h"

#include "base/banned.h"

#define EXTENDS_MAX   8u /* configurations that extend each other */
#define EXPORTS_DEPTH 8u /* conditions in each other */
#define NONE          VCM_TREE_PATHS_NONE

struct finding {
    const struct vcm_index *index;
    struct vcm_packages *packages;
    bool typed; /* the importing file is TypeScript */
    struct vcm_buf path, trial;
};

static uint32_t try_ending(struct finding *finding, struct vcm_slice path, const char *ending)
{
    vcm_buf_clear(&finding->trial);
    vcm_buf_append_slice(&finding->trial, path);
    vcm_buf_append_string(&finding->trial, ending);
    return vcm_tree_paths_find(finding->index, vcm_buf_slice(&finding->trial));
}

static uint32_t try_endings(struct finding *finding, struct vcm_slice path)
{
    static const char *const typed[] = {".ts",  ".tsx", ".d.ts", ".mts",   ".cts", ".js",
                                        ".jsx", ".mjs", ".cjs",  ".d.mts", NULL};
    static const char *const plain[] = {".js",  ".jsx",  ".mjs", ".cjs", ".ts",
                                        ".tsx", ".d.ts", ".mts", ".cts", NULL};
    uint32_t found = NONE;

    for (const char *const *ending = finding->typed ? typed : plain; *ending && found == NONE;
         ending++)
        found = try_ending(finding, path, *ending);
    return found;
}

/* "a.js" may be written for a source "a.ts", or be described by "a.d.ts". */
static uint32_t try_written(struct finding *finding, struct vcm_slice path)
{
    static const struct {
        const char *written, *source[3];
    } endings[] = {{".js", {".ts", ".tsx", ".d.ts"}},
                   {".jsx", {".tsx", ".d.ts", NULL}},
                   {".mjs", {".mts", ".d.mts", NULL}},
                   {".cjs", {".cts", ".d.cts", NULL}}};
    uint32_t exact = vcm_tree_paths_find(finding->index, path), found = NONE;

    if (exact != NONE && !finding->typed)
        return exact;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (!vcm_snippet_ends(path, endings[i].written))
            continue;
        struct vcm_slice stem = vcm_slice_of(path.data, path.len - strlen(endings[i].written));
        for (size_t j = 0; j < 3 && endings[i].source[j] && found == NONE; j++)
            found = try_ending(finding, stem, endings[i].source[j]);
    }
    return found != NONE ? found : exact;
}

static uint32_t try_file(struct finding *finding, struct vcm_slice path)
{
    uint32_t found = path.len > 0 ? try_written(finding, path) : NONE;

    return found != NONE || path.len == 0 ? found : try_endings(finding, path);
}

static uint32_t try_in(struct finding *finding, struct vcm_slice directory, struct vcm_slice path)
{
    struct vcm_buf joined = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    uint32_t found = NONE;
    bool inside = vcm_tree_paths_join(&joined, directory, path);

    if (inside)
        found = try_file(finding, vcm_buf_slice(&joined));
    if (inside && found == NONE) {
        vcm_buf_append_string(&joined, joined.len > 0 ? "/index" : "index");
        found = try_endings(finding, vcm_buf_slice(&joined));
    }
    vcm_buf_release(&joined);
    return found;
}

/* What is built lies in a directory that is not in the tree; its source in "src" or at the top. */
static uint32_t try_built(struct finding *finding, struct vcm_slice directory,
                          struct vcm_slice path)
{
    static const char *const endings[] = {".d.ts", ".d.mts", ".d.cts", ".js", ".mjs", ".cjs"};
    struct vcm_buf source = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    uint32_t found = try_in(finding, directory, path);

    while (path.len > 1 && path.data[0] == '.' && path.data[1] == '/')
        path = vcm_slice_of(path.data + 2, path.len - 2);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (vcm_snippet_ends(path, endings[i])) {
            path.len -= strlen(endings[i]);
            break;
        }
    for (const char *slash = memchr(path.data, '/', path.len); slash && found == NONE;
         slash = memchr(path.data, '/', path.len)) {
        path = vcm_slice_of(slash + 1, path.len - (size_t)(slash + 1 - path.data));
        vcm_buf_clear(&source);
        vcm_buf_append_string(&source, "src/");
        vcm_buf_append_slice(&source, path);
        found = try_in(finding, directory, vcm_buf_slice(&source));
        if (found == NONE && !memchr(path.data, '/', path.len))
            found = try_in(finding, directory, path);
    }
    vcm_buf_release(&source);
    return found;
}

/* What "*" stands for when the text fits the pattern, which has at most one. */
static bool fits(struct vcm_slice *star, struct vcm_slice pattern, struct vcm_slice text)
{
    const char *mark = pattern.len > 0 ? memchr(pattern.data, '*', pattern.len) : NULL;

    *star = vcm_slice_of("", 0);
    if (!mark)
        return vcm_slice_equal(pattern, text);
    size_t before = (size_t)(mark - pattern.data), after = pattern.len - before - 1;
    if (text.len < before + after || memcmp(text.data, pattern.data, before) != 0 ||
        memcmp(text.data + text.len - after, mark + 1, after) != 0)
        return false;
    *star = vcm_slice_of(text.data + before, text.len - before - after);
    return true;
}

static void put_star(struct vcm_buf *out, struct vcm_slice pattern, struct vcm_slice star)
{
    vcm_buf_clear(out);
    for (size_t i = 0; i < pattern.len; i++) {
        if (pattern.data[i] == '*')
            vcm_buf_append_slice(out, star);
        else
            vcm_buf_append_byte(out, pattern.data[i]);
    }
}

/* The first target, of conditions or alternatives, that is a file. Recurses as deep as the bound.
 */
static uint32_t try_target(struct finding *finding, struct vcm_slice directory,
                           const struct vcm_json *target, struct vcm_slice star, unsigned depth)
{
    uint32_t found = NONE;

    if (!target || depth > EXPORTS_DEPTH)
        return NONE;
    if (target->kind == VCM_JSON_STRING) {
        put_star(&finding->path, target->text, star);
        return try_built(finding, directory, vcm_buf_slice(&finding->path));
    }
    if (target->kind == VCM_JSON_OBJECT || target->kind == VCM_JSON_ARRAY)
        for (const struct vcm_json *one = target->first; one && found == NONE; one = one->next)
            found = try_target(finding, directory, one, star, depth + 1);
    return found;
}

/* "exports" or "imports" of a package, for "." or "./part" or "#name". */
static uint32_t try_map(struct finding *finding, struct vcm_slice directory,
                        const struct vcm_json *map, struct vcm_slice wanted)
{
    struct vcm_slice star;
    uint32_t found = NONE;

    if (!map)
        return NONE;
    bool parts = map->kind == VCM_JSON_OBJECT && map->first && map->first->key.len > 0 &&
                 strchr(".#", map->first->key.data[0]);
    if (!parts)
        return wanted.len == 1 ? try_target(finding, directory, map, vcm_slice_of("", 0), 0) : NONE;
    for (const struct vcm_json *one = map->first; one && found == NONE; one = one->next)
        if (fits(&star, one->key, wanted))
            found = try_target(finding, directory, one, star, 0);
    return found;
}

/* The file of a package, by what follows its name: "" or "/part". */
static uint32_t try_package(struct finding *finding, const struct vcm_packages_item *item,
                            struct vcm_slice part)
{
    static const char *const fields[] = {"source", "types", "typings", "module", "main"};
    struct vcm_buf wanted = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    uint32_t found = NONE;

    vcm_buf_append_byte(&wanted, '.');
    vcm_buf_append_slice(&wanted, part);
    found = try_map(finding, item->directory, vcm_json_get(item->package, "exports"),
                    vcm_buf_slice(&wanted));
    for (size_t i = 0; part.len == 0 && found == NONE && i < sizeof fields / sizeof fields[0]; i++)
        found = try_target(finding, item->directory, vcm_json_get(item->package, fields[i]),
                           vcm_slice_of("", 0), 0);
    if (found == NONE)
        found = try_in(finding, item->directory, vcm_buf_slice(&wanted));
    if (found == NONE && part.len == 0)
        found = try_in(finding, item->directory, vcm_slice_of("src", 3));
    if (found == NONE && part.len > 0) {
        vcm_buf_clear(&wanted);
        vcm_buf_append_string(&wanted, "src");
        vcm_buf_append_slice(&wanted, part);
        found = try_in(finding, item->directory, vcm_buf_slice(&wanted));
    }
    vcm_buf_release(&wanted);
    return found;
}

static uint32_t try_packages(bool *known, struct finding *finding, struct vcm_slice target)
{
    size_t count = 0;
    const struct vcm_packages_item *items = vcm_packages_all(&count, finding->packages);
    uint32_t found = NONE;

    for (size_t i = 0; i < count && found == NONE; i++) {
        const struct vcm_json *name = vcm_json_get(items[i].package, "name");
        if (!name || name->kind != VCM_JSON_STRING || name->text.len == 0 ||
            name->text.len > target.len ||
            memcmp(target.data, name->text.data, name->text.len) != 0 ||
            (target.len > name->text.len && target.data[name->text.len] != '/'))
            continue;
        *known = true;
        found =
            try_package(finding, &items[i],
                        vcm_slice_of(target.data + name->text.len, target.len - name->text.len));
    }
    return found;
}

/* "paths" and "baseUrl" of a configuration, or of the one that it extends. */
static uint32_t try_config(struct finding *finding, struct vcm_slice directory,
                           const struct vcm_json *config, struct vcm_slice target)
{
    struct vcm_buf base = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES),
                   next = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_buf place = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    uint32_t found = NONE;
    struct vcm_slice star;

    vcm_buf_append_slice(&place, directory);
    for (unsigned i = 0; config && found == NONE && i < EXTENDS_MAX; i++) {
        const struct vcm_json *options = vcm_json_get(config, "compilerOptions");
        const struct vcm_json *url = vcm_json_get(options, "baseUrl");
        const struct vcm_json *paths = vcm_json_get(options, "paths");
        bool based = url && url->kind == VCM_JSON_STRING;
        if (!vcm_tree_paths_join(&base, vcm_buf_slice(&place),
                                 based ? url->text : vcm_slice_of(".", 1)))
            break;
        for (const struct vcm_json *one = paths && paths->kind == VCM_JSON_OBJECT ? paths->first
                                                                                  : NULL;
             one && found == NONE; one = one->next)
            if (fits(&star, one->key, target))
                found = try_target(finding, vcm_buf_slice(&base), one, star, 0);
        if (found == NONE && based)
            found = try_in(finding, vcm_buf_slice(&base), target);
        const struct vcm_json *extends = vcm_json_get(config, "extends");
        if (found != NONE || !extends || extends->kind != VCM_JSON_STRING ||
            extends->text.len == 0 || extends->text.data[0] != '.' ||
            !vcm_tree_paths_join(&next, vcm_buf_slice(&place), extends->text))
            break;
        if (!vcm_snippet_ends(vcm_buf_slice(&next), ".json"))
            vcm_buf_append_string(&next, ".json");
        config = vcm_packages_read(finding->packages, vcm_buf_slice(&next));
        vcm_buf_clear(&place);
        vcm_buf_append_slice(&place, vcm_tree_paths_directory(vcm_buf_slice(&next)));
    }
    vcm_buf_release(&base);
    vcm_buf_release(&next);
    vcm_buf_release(&place);
    return found;
}

/* What the configurations of the directories around the file say. */
static uint32_t try_around(struct finding *finding, struct vcm_slice directory,
                           struct vcm_slice target)
{
    uint32_t found = NONE;
    bool internal = target.data[0] == '#', configured = false;

    for (bool more = true; more && found == NONE; directory = vcm_tree_paths_directory(directory)) {
        const struct vcm_packages_item *item = vcm_packages_at(finding->packages, directory);
        if (item && item->config && !configured) {
            found = try_config(finding, directory, item->config, target);
            configured = true;
        }
        if (item && item->package && internal && found == NONE)
            found = try_map(finding, directory, vcm_json_get(item->package, "imports"), target);
        more = directory.len > 0;
    }
    return found;
}

/* A directory may say in its package.json which file is meant. */
static uint32_t try_relative(struct finding *finding, struct vcm_slice directory,
                             struct vcm_slice target)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    uint32_t found = try_in(finding, directory, target);

    if (found == NONE && vcm_tree_paths_join(&path, directory, target)) {
        const struct vcm_packages_item *item =
            vcm_packages_at(finding->packages, vcm_buf_slice(&path));
        if (item && item->package)
            found = try_package(finding, item, vcm_slice_of("", 0));
    }
    vcm_buf_release(&path);
    return found;
}

uint32_t vcm_find_node(bool *external, const struct vcm_index *index, struct vcm_packages *packages,
                       size_t from, struct vcm_slice target)
{
    struct finding finding = {.index = index, .packages = packages};
    struct vcm_slice directory = vcm_tree_paths_directory(index->files[from].path);
    uint32_t found = NONE;
    bool known = false;

    *external = false;
    if (target.len == 0 || target.len >= VCM_LIMIT_PATH_BYTES)
        return NONE;
    finding.typed = vcm_language_get(index->files[from].language)->imports.typed_first;
    vcm_buf_init(&finding.path, VCM_LIMIT_PATH_BYTES);
    vcm_buf_init(&finding.trial, VCM_LIMIT_PATH_BYTES);
    if (target.data[0] == '.')
        found = try_relative(&finding, directory, target);
    else if (target.data[0] == '/')
        found = try_in(&finding, vcm_slice_of("", 0), target);
    else {
        found = try_around(&finding, directory, target);
        if (found == NONE)
            found = try_packages(&known, &finding, target);
        *external = found == NONE && !known && target.data[0] != '#';
    }
    vcm_buf_release(&finding.path);
    vcm_buf_release(&finding.trial);
    return found;
}
