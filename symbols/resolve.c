#include "symbols/resolve.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/limits.h"
#include "symbols/imports.h"
#include "symbols/qualifier.h"
#include "symbols/reach.h"

#include "base/banned.h"

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
    struct holder *holders; /* sorted by name */
    size_t holder_count, holder_capacity;
    uint32_t *importers; /* for each file 1 + the last file that was found to import it */
    size_t noted;        /* 1 + the file whose imports these are */
    struct candidate *candidates;
    size_t count, capacity;
    vcm_resolve_fn visit;
    void *context;
};

static bool is_member(const struct vcm_symbol *symbol)
{
    return symbol->kind == VCM_SYMBOL_METHOD || symbol->kind == VCM_SYMBOL_FIELD;
}

static bool same_directory(struct vcm_slice a, struct vcm_slice b)
{
    const char *x = memrchr(a.data, '/', a.len), *y = memrchr(b.data, '/', b.len);

    a.len = x ? (size_t)(x - a.data) : 0;
    b.len = y ? (size_t)(y - b.data) : 0;
    return vcm_slice_equal(a, b);
}

static const struct vcm_language_descriptor *language_of(const struct search *search, size_t file)
{
    return vcm_language_get(search->index->files[file].language);
}

static bool is_private_to_file(const struct search *search, const struct candidate *candidate)
{
    return candidate->symbol.visibility == VCM_SYMBOL_PRIVATE &&
           language_of(search, candidate->file)->names.private_to_file;
}

static struct vcm_slice last_of(struct vcm_slice container)
{
    const char *dot = container.len > 0 ? memrchr(container.data, '.', container.len) : NULL;

    return dot ? vcm_slice_of(dot + 1, container.len - (size_t)(dot + 1 - container.data))
               : container;
}

/* Whether it makes objects of the type, which has the same name. */
static bool is_constructor(const struct search *search, const struct candidate *candidate,
                           const struct candidate *type)
{
    const struct vcm_symbol *symbol = &candidate->symbol;
    bool outer = language_of(search, candidate->file)->names.outer_constructors &&
                 vcm_slice_equal(symbol->container, type->symbol.container);

    return (vcm_symbol_is_function(symbol->kind) || symbol->kind == VCM_SYMBOL_PROTOTYPE) &&
           (outer || vcm_slice_equal(last_of(symbol->container), symbol->name));
}

/* Unmarks types that a call does not mean, and constructors beside the one type that is left. */
static void narrow(const struct search *search, const struct vcm_resolved *found, bool *marked)
{
    const struct vcm_language_descriptor *language = language_of(search, found->file);
    const struct candidate *type = NULL;
    size_t types = 0;

    for (size_t i = 0; i < search->count; i++) {
        const struct candidate *candidate = &search->candidates[i];
        if (!marked[i] || !vcm_symbol_is_type(candidate->symbol.kind))
            continue;
        marked[i] = found->reference->use != VCM_SYMBOL_CALL ||
                    vcm_reach_call_of_type(language, candidate->symbol.kind) != VCM_REACH_OTHER;
        types += marked[i];
        type = marked[i] ? candidate : type;
    }
    for (size_t i = 0; types == 1 && i < search->count; i++)
        if (marked[i] && is_constructor(search, &search->candidates[i], type))
            marked[i] = false;
}

/* Whether it only announces a definition by the same name: a prototype, "typedef struct a a". */
static bool is_promise(const struct vcm_symbol *symbol)
{
    static const char *const kinds[] = {"struct", "union", "enum"};
    const struct vcm_slice name = symbol->name;
    char alias[2 * VCM_LIMIT_SYMBOL_NAME_BYTES + 32];

    for (size_t i = 0; symbol->kind == VCM_SYMBOL_TYPE && i < 3; i++) {
        int len = snprintf(alias, sizeof alias, "typedef %s %.*s %.*s", kinds[i], (int)name.len,
                           name.data, (int)name.len, name.data);
        if (vcm_slice_equal(symbol->signature, vcm_slice_of(alias, (size_t)len)))
            return true;
    }
    return symbol->kind == VCM_SYMBOL_PROTOTYPE;
}

/* The one definition among the marked candidates, or without any the one announcement; NULL when
 * there are several. */
static const struct candidate *only_one(const struct search *search,
                                        const struct vcm_resolved *found, bool *marked)
{
    const struct candidate *one = NULL, *prototype = NULL;
    size_t count = 0, prototypes = 0;

    narrow(search, found, marked);
    for (size_t i = 0; i < search->count; i++) {
        if (!marked[i])
            continue;
        bool promised = is_promise(&search->candidates[i].symbol);
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
    const struct vcm_language_descriptor *language = language_of(search, found->file);
    uint32_t from = found->reference->from;
    const struct vcm_symbol *around = from > 0 ? &found->symbols->definitions[from - 1] : NULL;

    if (is_member(symbol))
        return !language->names.members_qualified && around &&
               vcm_slice_equal(symbol->container, around->container);
    return symbol->container.len == 0 || !language->names.closed ||
           (around && is_inside(around, symbol->container));
}

/* Looks in the same file. *settled when a definition there can be meant: a prototype says that the
 * definition is elsewhere, and the search goes on. */
static const struct candidate *in_file(bool *settled, const struct search *search,
                                       const struct vcm_resolved *found, bool *marked)
{
    for (size_t i = 0; i < search->count; i++) {
        const struct candidate *candidate = &search->candidates[i];
        marked[i] =
            candidate->file == found->file && is_reachable(search, found, &candidate->symbol);
    }
    const struct candidate *one = only_one(search, found, marked);
    *settled = false;
    for (size_t i = 0; i < search->count && !*settled; i++)
        *settled = marked[i] && !is_promise(&search->candidates[i].symbol);
    return *settled ? one : NULL;
}

static void note_import(void *context, uint32_t file)
{
    struct search *search = context;

    search->importers[file] = (uint32_t)search->noted;
}

/* Notes which files the file imports. */
static void note_imports(struct search *search, const struct vcm_resolved *found)
{
    if (search->noted == found->file + 1)
        return;
    search->noted = found->file + 1;
    for (uint32_t i = 0; i < found->symbols->import_count; i++)
        vcm_imports_visit(search->imports, found->file, &found->symbols->imports[i], note_import,
                          search);
}

static const struct candidate *in_imports(bool *settled, const struct search *search,
                                          const struct vcm_resolved *found, bool *marked)
{
    const struct vcm_language_descriptor *language = language_of(search, found->file);
    bool closed = language->names.closed && !language->names.global_modules;
    uint32_t files[VCM_IMPORTS_MAX];

    memset(marked, 0, search->count);
    for (uint32_t i = 0; i < found->symbols->import_count; i++) {
        const struct vcm_symbol_import *import = &found->symbols->imports[i];
        size_t count = vcm_reach_brings_name(language, import, found->reference->name)
                           ? vcm_imports_find_name(files, search->imports, found->file, import,
                                                   found->reference->name)
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
    const struct candidate *one = only_one(search, found, marked);
    /* A header is imported; what it announces is defined elsewhere. */
    *settled = any(marked, search->count) && (!one || !is_promise(&one->symbol));
    return *settled ? one : NULL;
}

static bool is_near(const struct search *search, size_t from, size_t to)
{
    const struct vcm_index_file *here = &search->index->files[from];
    const struct vcm_index_file *there = &search->index->files[to];
    enum vcm_language_reach reach = language_of(search, from)->names.reach;

    return vcm_language_are_kin(here->language, there->language) &&
           (reach == VCM_LANGUAGES_REACH_REPOSITORY ||
            (reach == VCM_LANGUAGES_REACH_DIRECTORY && same_directory(here->path, there->path)));
}

static const struct candidate *in_reach(const struct search *search,
                                        const struct vcm_resolved *found, bool *marked)
{
    bool closed = language_of(search, found->file)->names.closed;

    for (size_t i = 0; i < search->count; i++) {
        const struct candidate *candidate = &search->candidates[i];
        marked[i] = is_near(search, found->file, candidate->file) &&
                    !is_member(&candidate->symbol) &&
                    (!closed || candidate->symbol.container.len == 0) &&
                    !is_private_to_file(search, candidate);
    }
    return only_one(search, found, marked);
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
    return only_one(search, found, marked);
}

/* The stages in which a name is searched, from near to far. */
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

/* Whether a qualifier names a container: all its words are the last ones of the container, or,
 * where modules are files, the container's words are the last ones of the qualifier. */
static bool names_container(const struct vcm_language_descriptor *language,
                            struct vcm_slice qualifier, struct vcm_slice container)
{
    bool all = false, known = false;

    return container.len > 0 && vcm_reach_compare_paths(&all, &known, qualifier, container) &&
           (all || (language->names.partial_paths && known));
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

/* How many types by that name are visible at this stage: 0, 1, or 2 for several. */
static size_t count_types(struct search *search, const struct vcm_resolved *found, enum stage stage,
                          struct vcm_slice name)
{
    bool parts = language_of(search, found->file)->names.open_types;
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

/* Whether the qualifier is the whole name of a module that is known everywhere. */
static bool is_global(const struct search *search, const struct vcm_resolved *found,
                      const struct candidate *candidate)
{
    const struct vcm_index_file *files = search->index->files;

    return language_of(search, found->file)->names.global_modules &&
           files[candidate->file].language == files[found->file].language &&
           vcm_slice_equal(candidate->symbol.container, found->reference->qualifier);
}

/* A member of the type, module or namespace that the qualifier names. */
static const struct candidate *in_container(bool *settled, struct search *search,
                                            const struct vcm_resolved *found, bool *marked)
{
    const struct vcm_language_descriptor *language = language_of(search, found->file);
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
        const struct candidate *one = only_one(search, found, marked);
        size_t types = count_types(search, found, (enum stage)stage, last);
        *settled = types > 1 || (types == 1 && !language->names.spread_types) ||
                   (any(marked, search->count) &&
                    (stage == STAGE_NEAR || !one || !is_promise(&one->symbol)));
        if (*settled)
            return types > 1 ? NULL : one;
    }
    return NULL;
}

/* Whether an import can mean this file, and no module of the language or of another package that
 * has the same name. */
static bool is_meant(const struct search *search, size_t from, struct vcm_slice target, size_t file)
{
    struct vcm_slice path = search->index->files[file].path;
    const struct vcm_language_imports *habits = &language_of(search, from)->imports;
    struct vcm_language_place place = {
        .beside = same_directory(path, search->index->files[from].path), .itself = file == from};

    for (size_t i = 0; i < path.len; i++)
        place.depth += path.data[i] == '/';
    return !habits->means_file || habits->means_file(target, &place);
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
    if (count < found && language_of(search, from)->imports.opens_hide)
        return 0;
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
            /* In some languages the module is written around what it holds. */
            marked[k] =
                marked[k] || (search->candidates[k].file == files[i] &&
                              !is_private_to_file(search, &search->candidates[k]) &&
                              (search->candidates[k].symbol.container.len == 0 ||
                               vcm_slice_equal(search->candidates[k].symbol.container, target)));
}

/* What the module that the qualifier names has at its top. */
static const struct candidate *in_module(const struct search *search,
                                         const struct vcm_resolved *found, bool *marked)
{
    const struct vcm_language_descriptor *language = language_of(search, found->file);
    struct vcm_slice qualifier = found->reference->qualifier;
    const char *separator = language->imports.separator ? language->imports.separator : ".";
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    memset(marked, 0, search->count);
    for (uint32_t i = 0; i < found->symbols->import_count; i++) {
        const struct vcm_symbol_import *import = &found->symbols->imports[i];
        bool joined = false;
        if (import->target.len == 0 || !vcm_reach_gives_name(&joined, language, import, qualifier))
            continue;
        vcm_buf_clear(&path);
        vcm_buf_append_slice(&path, import->target);
        if (joined && import->target.data[import->target.len - 1] != '.')
            vcm_buf_append_string(&path, separator);
        if (joined)
            vcm_buf_append_slice(&path, qualifier);
        if (path.len > 0)
            mark_top(search, marked, vcm_buf_slice(&path), found->file);
    }
    if (language->imports.modules == VCM_LANGUAGES_MODULES_ALL ||
        (language->imports.modules == VCM_LANGUAGES_MODULES_BY_PATH &&
         memmem(qualifier.data, qualifier.len, separator, strlen(separator))))
        mark_top(search, marked, qualifier, found->file);
    vcm_buf_release(&path);
    return only_one(search, found, marked);
}

/* Whether it is a member of the type whose method is at `container`. */
static bool is_member_of(const struct candidate *candidate,
                         const struct vcm_language_descriptor *language, struct vcm_slice container)
{
    bool all = false, known = false;
    enum vcm_symbol_kind kind = candidate->symbol.kind;
    bool local = (kind == VCM_SYMBOL_FUNCTION || kind == VCM_SYMBOL_VARIABLE) &&
                 !language->names.global_modules;

    return !local && candidate->symbol.container.len > 0 &&
           vcm_reach_compare_paths(&all, &known, candidate->symbol.container, container) && all &&
           known;
}

/* A member of the type that the reference is in, or of one around that. */
static const struct candidate *in_self(bool *settled, struct search *search,
                                       const struct vcm_resolved *found, bool *marked)
{
    const struct vcm_language_descriptor *language = language_of(search, found->file);
    struct vcm_slice container = found->symbols->definitions[found->reference->from - 1].container;

    for (; container.len > 0; vcm_qualifier_pop(&container))
        for (int stage = 0; stage < (language->names.spread_types ? STAGE_COUNT : 1); stage++) {
            for (size_t i = 0; i < search->count; i++)
                marked[i] =
                    is_member_of(&search->candidates[i], language, container) &&
                    is_visible(search, found, (enum stage)stage, search->candidates[i].file);
            const struct candidate *one = only_one(search, found, marked);
            *settled = any(marked, search->count) &&
                       (stage == STAGE_NEAR || !one || !is_promise(&one->symbol));
            if (*settled)
                return one;
        }
    return NULL;
}

/* Resolves a name whose qualifier is known to be the object itself, a type or a module; the member
 * of any other object stays unresolved. */
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
    enum vcm_qualifier_self self =
        vcm_qualifier_self(language_of(search, found->file), reference->qualifier, function);
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

static bool is_wanted(const struct search *search, const struct candidate *candidate)
{
    const struct vcm_resolve_query *query = search->query;

    return candidate->symbol.line == query->only_line &&
           vcm_slice_equal(search->index->files[candidate->file].path, query->only_file);
}

/* Whether a constructor is asked for, and the type that it makes objects of is meant. Which one is
 * called is only known when there is one. */
static bool asks_for_constructor(const struct candidate **only, const struct search *search,
                                 const struct candidate *type)
{
    size_t count = 0;
    bool asked = false;

    for (size_t i = 0; i < search->count; i++) {
        const struct candidate *candidate = &search->candidates[i];
        if (candidate->file != type->file || !is_constructor(search, candidate, type))
            continue;
        asked = asked || is_wanted(search, candidate);
        *only = ++count == 1 ? candidate : NULL;
    }
    return asked;
}

static int visit_reference(struct search *search, struct vcm_resolved *found, bool *marked,
                           struct vcm_error *err)
{
    assert(found->reference->from <= found->symbols->definition_count);
    const struct candidate *target = find_target(search, found, marked);
    bool is_type = target && vcm_symbol_is_type(target->symbol.kind);

    found->use = found->reference->use;
    if (is_type && found->use == VCM_SYMBOL_CALL &&
        vcm_reach_call_of_type(language_of(search, found->file), target->symbol.kind) ==
            VCM_REACH_MAKE)
        found->use = VCM_SYMBOL_INSTANTIATE;
    if (target && search->query->only_line > 0 && !is_wanted(search, target) &&
        !(is_type && found->use == VCM_SYMBOL_INSTANTIATE &&
          asks_for_constructor(&target, search, target)))
        return VCM_OK;
    found->target = target ? &target->symbol : NULL;
    found->target_file = target ? target->file : 0;
    return search->visit(search->context, found, err);
}

static int take_holder(struct search *search, size_t file, const struct vcm_symbol *symbol,
                       struct vcm_error *err)
{
    bool type = vcm_symbol_is_type(symbol->kind);

    if (!type && symbol->kind != VCM_SYMBOL_MODULE && symbol->kind != VCM_SYMBOL_NAMESPACE)
        return VCM_OK;
    int rc = vcm_array_reserve(&search->holders, &search->holder_capacity, search->holder_count + 1,
                               VCM_LIMIT_LIST_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
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
        rc = vcm_array_reserve(&search->candidates, &search->capacity, search->count + 1,
                               VCM_LIMIT_LIST_ENTRIES, err);
        if (rc != VCM_OK)
            return rc;
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
        found = is_wanted(search, &search->candidates[i]);
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
