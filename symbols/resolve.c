#include "symbols/resolve.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/limits.h"
#include "symbols/imports.h"
#include "symbols/qualifier.h"

#include "base/banned.h"

/* How far a name reaches without an import. */
enum reach {
    REACH_FILE,
    REACH_DIRECTORY,
    REACH_REPOSITORY,
};

struct candidate {
    size_t file;
    struct vcm_symbol symbol; /* points into the index's store */
};

/* A type, module or namespace, of which others may have the same name. */
struct holder {
    uint64_t name, path; /* hashes */
    uint32_t file;
    bool type;
};

struct search {
    const struct vcm_index *index;
    const struct vcm_resolve_query *query;
    struct vcm_imports *imports;
    struct holder *holders; /* by name */
    size_t holder_count, holder_capacity;
    uint32_t *importers; /* for each file 1 + the last one that was seen to import it */
    size_t noted;        /* 1 + the file whose imports these are */
    struct candidate *candidates;
    size_t count, capacity;
    vcm_resolve_fn visit;
    void *context;
};

static enum reach reach_of(enum vcm_language language)
{
    switch (language) {
    case VCM_LANGUAGE_GO:
    case VCM_LANGUAGE_JAVA:
    case VCM_LANGUAGE_KOTLIN:
    case VCM_LANGUAGE_SCALA:
        return REACH_DIRECTORY;
    case VCM_LANGUAGE_PYTHON:
    case VCM_LANGUAGE_JAVASCRIPT:
    case VCM_LANGUAGE_TYPESCRIPT:
    case VCM_LANGUAGE_TSX:
    case VCM_LANGUAGE_RUST:
    case VCM_LANGUAGE_HASKELL:
    case VCM_LANGUAGE_OCAML:
    case VCM_LANGUAGE_OCAML_INTERFACE:
    case VCM_LANGUAGE_ELIXIR:
    case VCM_LANGUAGE_ZIG:
        return REACH_FILE;
    default:
        return REACH_REPOSITORY;
    }
}

static bool is_member(const struct vcm_symbol *symbol)
{
    return symbol->kind == VCM_SYMBOL_METHOD || symbol->kind == VCM_SYMBOL_FIELD;
}

/* Whether a member is only reached through its object. */
static bool names_objects(enum vcm_language language)
{
    switch (language) {
    case VCM_LANGUAGE_PYTHON:
    case VCM_LANGUAGE_JAVASCRIPT:
    case VCM_LANGUAGE_TYPESCRIPT:
    case VCM_LANGUAGE_TSX:
    case VCM_LANGUAGE_RUST:
    case VCM_LANGUAGE_GO:
    case VCM_LANGUAGE_PHP:
    case VCM_LANGUAGE_LUA:
        return true;
    default:
        return false;
    }
}

/* Whether what is in a function or module is seen from inside of it alone. */
static bool closes_scopes(enum vcm_language language)
{
    return language == VCM_LANGUAGE_PYTHON || language == VCM_LANGUAGE_JAVASCRIPT ||
           language == VCM_LANGUAGE_TYPESCRIPT || language == VCM_LANGUAGE_TSX ||
           language == VCM_LANGUAGE_GO || language == VCM_LANGUAGE_LUA ||
           language == VCM_LANGUAGE_ZIG || language == VCM_LANGUAGE_ELIXIR;
}

/* Whether a type's members may be in other files than the type. */
static bool spreads_types(enum vcm_language language)
{
    return language == VCM_LANGUAGE_CPP || language == VCM_LANGUAGE_RUST ||
           language == VCM_LANGUAGE_GO || language == VCM_LANGUAGE_RUBY ||
           language == VCM_LANGUAGE_SWIFT || language == VCM_LANGUAGE_C_SHARP;
}

static bool are_kin(enum vcm_language a, enum vcm_language b)
{
    bool c = a == VCM_LANGUAGE_C || a == VCM_LANGUAGE_CPP;

    return a == b || (c && (b == VCM_LANGUAGE_C || b == VCM_LANGUAGE_CPP));
}

static bool same_directory(struct vcm_slice a, struct vcm_slice b)
{
    const char *x = memrchr(a.data, '/', a.len), *y = memrchr(b.data, '/', b.len);

    a.len = x ? (size_t)(x - a.data) : 0;
    b.len = y ? (size_t)(y - b.data) : 0;
    return vcm_slice_equal(a, b);
}

static bool is_private_to_file(const struct search *search, const struct candidate *candidate)
{
    enum vcm_language language = search->index->files[candidate->file].language;

    return candidate->symbol.visibility == VCM_SYMBOL_PRIVATE &&
           (language == VCM_LANGUAGE_C || language == VCM_LANGUAGE_CPP);
}

/* Of the candidates that are marked, the one that is meant: definitions stand before prototypes. */
static const struct candidate *only_one(const struct search *search, const bool *marked)
{
    const struct candidate *one = NULL, *prototype = NULL;
    size_t count = 0, prototypes = 0;

    for (size_t i = 0; i < search->count; i++) {
        if (!marked[i])
            continue;
        bool promised = search->candidates[i].symbol.kind == VCM_SYMBOL_PROTOTYPE;
        prototypes += promised;
        count += !promised;
        *(promised ? &prototype : &one) = &search->candidates[i];
    }
    if (count > 0)
        return count == 1 ? one : NULL;
    return prototypes == 1 ? prototype : NULL;
}

static bool any(const bool *marked, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (marked[i])
            return true;
    return false;
}

/* Whether a place in the definition `from` is inside of a container. */
static bool is_inside(const struct vcm_symbol *from, struct vcm_slice container)
{
    struct vcm_slice around = from->container;

    if (container.len <= around.len)
        return memcmp(around.data, container.data, container.len) == 0 &&
               (container.len == around.len || around.data[container.len] == '.');
    size_t before = around.len + (around.len > 0);
    return container.len == before + from->name.len &&
           memcmp(container.data, around.data, around.len) == 0 &&
           memcmp(container.data + before, from->name.data, from->name.len) == 0;
}

/* Whether the name alone can mean it, in its own file. */
static bool is_reachable(const struct search *search, const struct vcm_resolved *found,
                         const struct vcm_symbol *symbol)
{
    enum vcm_language language = search->index->files[found->file].language;
    uint32_t from = found->reference->from;
    const struct vcm_symbol *around = from > 0 ? &found->symbols->definitions[from - 1] : NULL;

    if (is_member(symbol))
        return !names_objects(language) && around &&
               vcm_slice_equal(symbol->container, around->container);
    return symbol->container.len == 0 || !closes_scopes(language) ||
           (around && is_inside(around, symbol->container));
}

/* In the same file: one by that name, or one in the same container. A prototype says that the thing
 * itself is elsewhere. */
static const struct candidate *in_file(bool *settled, const struct search *search,
                                       const struct vcm_resolved *found, bool *marked)
{
    bool defined = false;

    for (size_t i = 0; i < search->count; i++) {
        const struct candidate *candidate = &search->candidates[i];
        marked[i] =
            candidate->file == found->file && is_reachable(search, found, &candidate->symbol);
        defined = defined || (marked[i] && candidate->symbol.kind != VCM_SYMBOL_PROTOTYPE);
    }
    *settled = defined;
    return defined ? only_one(search, marked) : NULL;
}

/* Notes which files the file imports. */
static void note_imports(struct search *search, const struct vcm_resolved *found)
{
    uint32_t files[VCM_IMPORTS_MAX];

    if (search->noted == found->file + 1)
        return;
    search->noted = found->file + 1;
    for (uint32_t i = 0; i < found->symbols->import_count; i++) {
        size_t count = vcm_imports_find(files, search->imports, found->file,
                                        found->symbols->imports[i].target);
        for (size_t j = 0; j < count; j++)
            search->importers[files[j]] = (uint32_t)found->file + 1;
    }
}

/* Whether an import lets a name of the module be used without the module's. */
static bool brings_name(enum vcm_language language, const struct vcm_symbol_import *import,
                        struct vcm_slice name)
{
    switch (language) {
    case VCM_LANGUAGE_GO:
    case VCM_LANGUAGE_ZIG:
        return false;
    case VCM_LANGUAGE_PYTHON:
        return vcm_qualifier_names(import->alias, name) ||
               vcm_qualifier_names(import->alias, vcm_slice_of("*", 1));
    case VCM_LANGUAGE_JAVASCRIPT:
    case VCM_LANGUAGE_TYPESCRIPT:
    case VCM_LANGUAGE_TSX:
        return vcm_slice_equal(import->alias, vcm_slice_of("-", 1));
    case VCM_LANGUAGE_ELIXIR:
        return import->alias.len == 0;
    default:
        return true;
    }
}

static const struct candidate *in_imports(bool *settled, const struct search *search,
                                          const struct vcm_resolved *found, bool *marked)
{
    enum vcm_language language = search->index->files[found->file].language;
    bool closed = closes_scopes(language) && language != VCM_LANGUAGE_ELIXIR;
    uint32_t files[VCM_IMPORTS_MAX];

    memset(marked, 0, search->count);
    for (uint32_t i = 0; i < found->symbols->import_count; i++) {
        const struct vcm_symbol_import *import = &found->symbols->imports[i];
        size_t count = brings_name(language, import, found->reference->name)
                           ? vcm_imports_find(files, search->imports, found->file, import->target)
                           : 0;
        for (size_t j = 0; j < count; j++)
            for (size_t k = 0; k < search->count; k++) {
                const struct candidate *candidate = &search->candidates[k];
                marked[k] =
                    marked[k] || (candidate->file == files[j] && !is_member(&candidate->symbol) &&
                                  (!closed || candidate->symbol.container.len == 0) &&
                                  !is_private_to_file(search, candidate));
            }
    }
    const struct candidate *one = only_one(search, marked);
    /* A header is imported, what it promises is defined elsewhere. */
    *settled = any(marked, search->count) && (!one || one->symbol.kind != VCM_SYMBOL_PROTOTYPE);
    return *settled ? one : NULL;
}

static bool is_near(const struct search *search, size_t from, size_t to)
{
    const struct vcm_index_file *here = &search->index->files[from];
    const struct vcm_index_file *there = &search->index->files[to];
    enum reach reach = reach_of(here->language);

    return are_kin(here->language, there->language) &&
           (reach == REACH_REPOSITORY ||
            (reach == REACH_DIRECTORY && same_directory(here->path, there->path)));
}

static const struct candidate *in_reach(const struct search *search,
                                        const struct vcm_resolved *found, bool *marked)
{
    bool closed = closes_scopes(search->index->files[found->file].language);

    for (size_t i = 0; i < search->count; i++) {
        const struct candidate *candidate = &search->candidates[i];
        marked[i] = is_near(search, found->file, candidate->file) &&
                    !is_member(&candidate->symbol) &&
                    (!closed || candidate->symbol.container.len == 0) &&
                    !is_private_to_file(search, candidate);
    }
    return only_one(search, marked);
}

static struct vcm_slice last_of(struct vcm_slice container)
{
    const char *dot = container.len > 0 ? memrchr(container.data, '.', container.len) : NULL;

    return dot ? vcm_slice_of(dot + 1, container.len - (size_t)(dot + 1 - container.data))
               : container;
}

/* Whether the type that an overriding method is in names `base` as one that it inherits from. An
 * impl block or instance is no definition itself: it names its base right before its methods. */
static bool has_base(const struct vcm_resolved *found, struct vcm_slice base)
{
    const struct vcm_symbols *symbols = found->symbols;
    const struct vcm_symbol *method = &symbols->definitions[found->reference->from - 1];
    const struct vcm_symbol_reference *before = NULL;

    for (uint32_t i = 0; i < symbols->reference_count; i++) {
        const struct vcm_symbol_reference *reference = &symbols->references[i];
        if (reference->use != VCM_SYMBOL_IMPLEMENTATION)
            continue;
        if (reference->from == 0 && reference->line <= found->reference->line)
            before = reference;
        const struct vcm_symbol *type =
            reference->from > 0 ? &symbols->definitions[reference->from - 1] : NULL;
        if (type && vcm_slice_equal(reference->name, base) &&
            vcm_slice_equal(type->name, last_of(method->container)))
            return true;
    }
    return before && vcm_slice_equal(before->name, base);
}

/* What an overriding method overrides: the method of that name in a base of its type, if the
 * repository has one such. */
static const struct candidate *in_bases(const struct search *search,
                                        const struct vcm_resolved *found, bool *marked)
{
    if (found->reference->from == 0)
        return NULL;
    for (size_t i = 0; i < search->count; i++) {
        const struct candidate *candidate = &search->candidates[i];
        const struct vcm_index_file *files = search->index->files;
        marked[i] = files[candidate->file].language == files[found->file].language &&
                    candidate->symbol.container.len > 0 &&
                    has_base(found, last_of(candidate->symbol.container));
    }
    return only_one(search, marked);
}

/* The steps in which a name is looked for, each farther away. */
enum stage {
    STAGE_FILE,
    STAGE_IMPORTS,
    STAGE_NEAR,
    STAGE_COUNT,
};

static bool is_visible(struct search *search, const struct vcm_resolved *found, enum stage stage,
                       size_t file)
{
    if (stage == STAGE_FILE)
        return file == found->file;
    note_imports(search, found);
    return stage == STAGE_IMPORTS ? search->importers[file] == found->file + 1
                                  : is_near(search, found->file, file);
}

/* How many of the last words of two paths are the same; whether that is all of either. */
static bool compare_paths(bool *whole_a, bool *whole_b, struct vcm_slice a, struct vcm_slice b)
{
    bool same = true;

    while (a.len > 0 && b.len > 0 && same)
        same = vcm_slice_equal(vcm_qualifier_pop(&a), vcm_qualifier_pop(&b));
    *whole_a = same && a.len == 0;
    *whole_b = same && b.len == 0;
    return same;
}

/* Whether a qualifier names a container: by its last words, or, where modules are files, by more
 * than it knows of itself. */
static bool names_container(enum vcm_language language, struct vcm_slice qualifier,
                            struct vcm_slice container)
{
    bool all = false, known = false;
    bool paths = language == VCM_LANGUAGE_CPP || language == VCM_LANGUAGE_RUST ||
                 language == VCM_LANGUAGE_PHP || language == VCM_LANGUAGE_RUBY;

    return container.len > 0 && compare_paths(&all, &known, qualifier, container) &&
           (all || (paths && known));
}

static size_t first_holder(const struct search *search, uint64_t name)
{
    size_t low = 0, high = search->holder_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (search->holders[middle].name < name)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether there are several types by that name, or none. */
static size_t count_types(struct search *search, const struct vcm_resolved *found, enum stage stage,
                          struct vcm_slice name)
{
    enum vcm_language language = search->index->files[found->file].language;
    bool parts = language == VCM_LANGUAGE_C_SHARP || language == VCM_LANGUAGE_RUBY ||
                 language == VCM_LANGUAGE_TYPESCRIPT || language == VCM_LANGUAGE_TSX;
    uint64_t hash = vcm_hash_checksum(name, 0);
    const struct holder *one = NULL;

    for (size_t i = first_holder(search, hash);
         i < search->holder_count && search->holders[i].name == hash; i++) {
        const struct holder *holder = &search->holders[i];
        if (!holder->type || !is_visible(search, found, stage, holder->file))
            continue;
        if (one && (one->path != holder->path || (!parts && one->file != holder->file)))
            return 2;
        one = holder;
    }
    return one != NULL;
}

/* A function in a container that is no function itself. */
static bool is_held(const struct search *search, const struct candidate *candidate)
{
    if (candidate->symbol.kind != VCM_SYMBOL_FUNCTION)
        return true;
    struct vcm_slice container = candidate->symbol.container;
    uint64_t hash = vcm_hash_checksum(vcm_qualifier_pop(&container), 0);
    /* "defmodule Shop.Cart" and "namespace a::b" are one name of several words. */
    uint64_t whole = vcm_hash_checksum(candidate->symbol.container, 0);
    for (size_t i = 0; i < 2; i++, hash = whole)
        for (size_t j = first_holder(search, hash);
             j < search->holder_count && search->holders[j].name == hash; j++)
            if (search->holders[j].file == candidate->file)
                return true;
    return false;
}

/* Whether all of a name is known everywhere, as modules of Elixir are. */
static bool is_global(const struct search *search, const struct vcm_resolved *found,
                      const struct candidate *candidate)
{
    const struct vcm_index_file *files = search->index->files;

    return files[found->file].language == VCM_LANGUAGE_ELIXIR &&
           files[candidate->file].language == VCM_LANGUAGE_ELIXIR &&
           vcm_slice_equal(candidate->symbol.container, found->reference->qualifier);
}

/* A member of the type, module or namespace that the qualifier names. */
static const struct candidate *in_container(bool *settled, struct search *search,
                                            const struct vcm_resolved *found, bool *marked)
{
    enum vcm_language language = search->index->files[found->file].language;
    struct vcm_slice qualifier = found->reference->qualifier, rest = qualifier;
    struct vcm_slice last = vcm_qualifier_pop(&rest);

    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        for (size_t i = 0; i < search->count; i++) {
            const struct candidate *candidate = &search->candidates[i];
            bool hidden = stage != STAGE_FILE && !is_member(&candidate->symbol) &&
                          is_private_to_file(search, candidate);
            marked[i] = names_container(language, qualifier, candidate->symbol.container) &&
                        !hidden &&
                        (is_visible(search, found, (enum stage)stage, candidate->file) ||
                         (stage == STAGE_NEAR && is_global(search, found, candidate))) &&
                        is_held(search, candidate);
        }
        const struct candidate *one = only_one(search, marked);
        size_t types = count_types(search, found, (enum stage)stage, last);
        *settled = types > 1 || (types == 1 && !spreads_types(language)) ||
                   (any(marked, search->count) &&
                    (stage == STAGE_NEAR || !one || one->symbol.kind != VCM_SYMBOL_PROTOTYPE));
        if (*settled)
            return types > 1 ? NULL : one;
    }
    return NULL;
}

/* Whether an import gives this name to what it imports; `joined` when it is a module in that. */
static bool gives_name(bool *joined, enum vcm_language language,
                       const struct vcm_symbol_import *import, struct vcm_slice name)
{
    struct vcm_slice rest = import->target;
    bool all = false, known = false;

    *joined = language == VCM_LANGUAGE_PYTHON && vcm_qualifier_names(import->alias, name);
    if (import->alias.len > 0)
        return *joined || vcm_slice_equal(import->alias, name);
    if (language == VCM_LANGUAGE_GO || language == VCM_LANGUAGE_RUST)
        return vcm_slice_equal(vcm_qualifier_pop(&rest), name);
    return compare_paths(&all, &known, import->target, name) && all && known;
}

static bool is_of_go(struct vcm_slice target)
{
    static const char words[] =
        " archive bufio bytes cmp compress container context crypto database debug embed encoding "
        "errors expvar flag fmt go hash html image index io iter log maps math mime net os path "
        "plugin reflect regexp runtime slices sort strconv strings structs sync syscall testing "
        "text time unicode unique unsafe ";
    const char *slash = memchr(target.data, '/', target.len);
    char word[16];
    size_t len = slash ? (size_t)(slash - target.data) : target.len;

    if (len + 3 > sizeof word)
        return false;
    snprintf(word, sizeof word, " %.*s ", (int)len, target.data);
    return strstr(words, word) != NULL;
}

/* Whether an import can mean this file, and no module of the language or of another package that
 * has the same name. */
static bool is_meant(const struct search *search, size_t from, struct vcm_slice target, size_t file)
{
    struct vcm_slice path = search->index->files[file].path;
    bool beside = same_directory(path, search->index->files[from].path);
    size_t depth = 0;

    for (size_t i = 0; i < path.len; i++)
        depth += path.data[i] == '/';
    switch (search->index->files[from].language) {
    case VCM_LANGUAGE_JAVASCRIPT:
    case VCM_LANGUAGE_TYPESCRIPT:
    case VCM_LANGUAGE_TSX:
        return target.data[0] == '.' || target.data[0] == '/';
    case VCM_LANGUAGE_GO:
        return !is_of_go(target);
    case VCM_LANGUAGE_ZIG:
        return memmem(target.data, target.len, ".zig", 4) != NULL;
    case VCM_LANGUAGE_OCAML:
    case VCM_LANGUAGE_OCAML_INTERFACE:
        return beside;
    case VCM_LANGUAGE_PYTHON:
    case VCM_LANGUAGE_LUA:
        return beside || depth < 2 || memchr(target.data, '.', target.len) != NULL;
    default:
        return true;
    }
}

/* The files that an import means, if they are one module: those of one directory. */
static size_t one_module(uint32_t files[VCM_IMPORTS_MAX], const struct search *search, size_t from,
                         struct vcm_slice target)
{
    const struct vcm_index_file *all = search->index->files;
    size_t count = 0, kept = 0;
    size_t found = vcm_imports_find_whole(files, search->imports, from, target);

    for (size_t i = 0; i < found; i++)
        if (is_meant(search, from, target, files[i]))
            files[count++] = files[i];
    for (size_t i = 0; i < count; i++)
        if (target.data[0] == '.' && same_directory(all[files[i]].path, all[from].path))
            files[kept++] = files[i];
    count = kept > 0 ? kept : count;
    for (size_t i = 1; i < count; i++)
        if (!same_directory(all[files[i]].path, all[files[0]].path))
            return 0;
    return count;
}

static void mark_top(const struct search *search, bool *marked, struct vcm_slice target,
                     size_t from)
{
    uint32_t files[VCM_IMPORTS_MAX];
    size_t count = one_module(files, search, from, target);

    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < search->count; k++)
            marked[k] = marked[k] || (search->candidates[k].file == files[i] &&
                                      search->candidates[k].symbol.container.len == 0);
}

/* What the module that the qualifier names has at its top. */
static const struct candidate *in_module(const struct search *search,
                                         const struct vcm_resolved *found, bool *marked)
{
    enum vcm_language language = search->index->files[found->file].language;
    struct vcm_slice qualifier = found->reference->qualifier;
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    memset(marked, 0, search->count);
    for (uint32_t i = 0; i < found->symbols->import_count; i++) {
        const struct vcm_symbol_import *import = &found->symbols->imports[i];
        bool joined = false;
        if (import->target.len == 0 || !gives_name(&joined, language, import, qualifier))
            continue;
        vcm_buf_clear(&path);
        vcm_buf_append_slice(&path, import->target);
        if (joined && import->target.data[import->target.len - 1] != '.')
            vcm_buf_append_byte(&path, '.');
        if (joined)
            vcm_buf_append_slice(&path, qualifier);
        if (path.len > 0)
            mark_top(search, marked, vcm_buf_slice(&path), found->file);
    }
    bool everywhere =
        language == VCM_LANGUAGE_OCAML || language == VCM_LANGUAGE_OCAML_INTERFACE ||
        (language == VCM_LANGUAGE_RUST && memmem(qualifier.data, qualifier.len, "::", 2));
    if (everywhere)
        mark_top(search, marked, qualifier, found->file);
    vcm_buf_release(&path);
    return only_one(search, marked);
}

/* Whether it is a member of the type whose method is at `container`. */
static bool is_member_of(const struct candidate *candidate, enum vcm_language language,
                         struct vcm_slice container)
{
    bool all = false, known = false;
    enum vcm_symbol_kind kind = candidate->symbol.kind;
    bool local = (kind == VCM_SYMBOL_FUNCTION || kind == VCM_SYMBOL_VARIABLE) &&
                 language != VCM_LANGUAGE_ELIXIR;

    return !local && candidate->symbol.container.len > 0 &&
           compare_paths(&all, &known, candidate->symbol.container, container) && all && known;
}

/* A member of the type that the reference is in, or of one around that. */
static const struct candidate *in_self(bool *settled, struct search *search,
                                       const struct vcm_resolved *found, bool *marked)
{
    enum vcm_language language = search->index->files[found->file].language;
    struct vcm_slice container = found->symbols->definitions[found->reference->from - 1].container;

    for (; container.len > 0; vcm_qualifier_pop(&container))
        for (int stage = 0; stage < (spreads_types(language) ? STAGE_COUNT : 1); stage++) {
            for (size_t i = 0; i < search->count; i++)
                marked[i] =
                    is_member_of(&search->candidates[i], language, container) &&
                    is_visible(search, found, (enum stage)stage, search->candidates[i].file);
            const struct candidate *one = only_one(search, marked);
            *settled = any(marked, search->count) &&
                       (stage == STAGE_NEAR || !one || one->symbol.kind != VCM_SYMBOL_PROTOTYPE);
            if (*settled)
                return one;
        }
    return NULL;
}

/* Only where the qualifier is known: the object itself, a type, a module. */
static const struct candidate *find_qualified(struct search *search,
                                              const struct vcm_resolved *found, bool *marked)
{
    const struct vcm_symbol_reference *reference = found->reference;
    struct vcm_slice function = reference->from > 0
                                    ? found->symbols->definitions[reference->from - 1].signature
                                    : vcm_slice_of("", 0);
    const struct candidate *target = NULL;
    bool settled = false;

    if (reference->qualifier.len == 0)
        return NULL;
    enum vcm_qualifier_self self = vcm_qualifier_self(search->index->files[found->file].language,
                                                      reference->qualifier, function);
    if (self != VCM_QUALIFIER_OTHER && reference->from == 0)
        return NULL;
    if (self == VCM_QUALIFIER_SELF)
        target = in_self(&settled, search, found, marked);
    else if (self == VCM_QUALIFIER_OTHER)
        target = in_container(&settled, search, found, marked);
    if (settled)
        return target;
    return self == VCM_QUALIFIER_OTHER ? in_module(search, found, marked)
                                       : in_bases(search, found, marked);
}

static const struct candidate *find_target(struct search *search, const struct vcm_resolved *found,
                                           bool *marked)
{
    bool settled = false;

    if (found->reference->use == VCM_SYMBOL_OVERRIDE)
        return in_bases(search, found, marked);
    if (found->reference->qualified)
        return find_qualified(search, found, marked);
    const struct candidate *target = in_file(&settled, search, found, marked);
    if (!settled)
        target = in_imports(&settled, search, found, marked);
    return settled ? target : in_reach(search, found, marked);
}

static int visit_reference(struct search *search, struct vcm_resolved *found, bool *marked,
                           struct vcm_error *err)
{
    const struct vcm_resolve_query *query = search->query;
    const struct candidate *target = find_target(search, found, marked);

    if (target && query->only_line > 0 &&
        (target->symbol.line != query->only_line ||
         !vcm_slice_equal(search->index->files[target->file].path, query->only_file)))
        return VCM_OK;
    found->target = target ? &target->symbol : NULL;
    found->target_file = target ? target->file : 0;
    found->use = found->reference->use;
    if (target && found->use == VCM_SYMBOL_CALL && vcm_symbol_is_type(target->symbol.kind))
        found->use = VCM_SYMBOL_INSTANTIATE;
    return search->visit(search->context, found, err);
}

static int take_holder(struct search *search, size_t file, const struct vcm_symbol *symbol,
                       struct vcm_error *err)
{
    bool type = vcm_symbol_is_type(symbol->kind);

    if (!type && symbol->kind != VCM_SYMBOL_MODULE && symbol->kind != VCM_SYMBOL_NAMESPACE)
        return VCM_OK;
    if (search->holder_count == search->holder_capacity) {
        size_t capacity = search->holder_capacity ? 2 * search->holder_capacity : 256;
        struct holder *more = realloc(search->holders, capacity * sizeof *more);
        if (!more)
            return vcm_error_memory(err);
        search->holders = more;
        search->holder_capacity = capacity;
    }
    uint64_t name = vcm_hash_checksum(symbol->name, 0);
    search->holders[search->holder_count++] =
        (struct holder){name, vcm_hash_checksum(symbol->container, name), (uint32_t)file, type};
    return VCM_OK;
}

static int by_name(const void *a, const void *b)
{
    const struct holder *x = a, *y = b;

    return (x->name > y->name) - (x->name < y->name);
}

static int take_candidates(struct search *search, size_t file, const struct vcm_symbols *symbols,
                           struct vcm_error *err)
{
    for (uint32_t i = 0; i < symbols->definition_count; i++) {
        int rc = take_holder(search, file, &symbols->definitions[i], err);
        if (rc != VCM_OK)
            return rc;
        if (!vcm_slice_equal(symbols->definitions[i].name, search->query->name))
            continue;
        if (search->count == search->capacity) {
            size_t capacity = search->capacity ? 2 * search->capacity : 64;
            struct candidate *more = realloc(search->candidates, capacity * sizeof *more);
            if (!more)
                return vcm_error_memory(err);
            search->candidates = more;
            search->capacity = capacity;
        }
        search->candidates[search->count++] = (struct candidate){file, symbols->definitions[i]};
    }
    return VCM_OK;
}

static int visit_file(struct search *search, size_t file, const struct vcm_symbols *symbols,
                      bool *marked, struct vcm_error *err)
{
    int rc = VCM_OK;

    for (uint32_t i = 0; rc == VCM_OK && i < symbols->reference_count; i++) {
        struct vcm_resolved found = {
            .file = file, .symbols = symbols, .reference = &symbols->references[i]};
        if (vcm_slice_equal(symbols->references[i].name, search->query->name))
            rc = visit_reference(search, &found, marked, err);
    }
    return rc;
}

static int check_wanted(const struct search *search, struct vcm_error *err)
{
    const struct vcm_resolve_query *query = search->query;
    bool found = query->only_line == 0;

    for (size_t i = 0; i < search->count && !found; i++)
        found = search->candidates[i].symbol.line == query->only_line &&
                vcm_slice_equal(search->index->files[search->candidates[i].file].path,
                                query->only_file);
    return found ? VCM_OK
                 : vcm_error_set(err, VCM_NOT_FOUND, "no '%.*s' is defined in line %u of '%.*s'",
                                 (int)query->name.len, query->name.data, query->only_line,
                                 (int)query->only_file.len, query->only_file.data);
}

int vcm_resolve_visit(const struct vcm_index *index, const struct vcm_resolve_query *query,
                      vcm_resolve_fn visit, void *context, struct vcm_error *err)
{
    struct search search = {.index = index, .query = query, .visit = visit, .context = context};
    struct vcm_symbols symbols;
    bool *marked = NULL;

    int rc = vcm_imports_open(&search.imports, index, err);
    for (size_t i = 0; rc == VCM_OK && i < index->file_count; i++) {
        vcm_symbols_init(&symbols);
        rc = vcm_index_read_definitions(&symbols, index, i, err);
        if (rc == VCM_OK)
            rc = take_candidates(&search, i, &symbols, err);
        vcm_symbols_release(&symbols);
    }
    if (rc == VCM_OK)
        rc = check_wanted(&search, err);
    if (rc == VCM_OK && search.holder_count > 0)
        qsort(search.holders, search.holder_count, sizeof *search.holders, by_name);
    if (rc == VCM_OK &&
        (!(marked = calloc(search.count + 1, sizeof *marked)) ||
         !(search.importers = calloc(index->file_count + 1, sizeof *search.importers))))
        rc = vcm_error_memory(err);
    for (size_t i = 0; rc == VCM_OK && i < index->file_count; i++) {
        vcm_symbols_init(&symbols);
        rc = vcm_index_read(&symbols, index, i, err);
        if (rc == VCM_OK)
            rc = visit_file(&search, i, &symbols, marked, err);
        vcm_symbols_release(&symbols);
    }
    free(marked);
    free(search.importers);
    free(search.holders);
    free(search.candidates);
    vcm_imports_close(search.imports);
    return rc;
}
