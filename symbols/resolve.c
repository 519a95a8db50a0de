#include "symbols/resolve.h"

#include <stdlib.h>

#include "base/limits.h"
#include "symbols/imports.h"

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

struct search {
    const struct vcm_index *index;
    const struct vcm_resolve_query *query;
    struct vcm_imports *imports;
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

/* In the same file: one by that name, or one in the same container. A prototype says that the thing
 * itself is elsewhere. */
static const struct candidate *in_file(bool *settled, const struct search *search,
                                       const struct vcm_resolved *found, bool *marked)
{
    const struct vcm_symbol_reference *reference = found->reference;
    struct vcm_slice around = reference->from > 0
                                  ? found->symbols->definitions[reference->from - 1].container
                                  : vcm_slice_of("", 0);
    bool defined = false;

    for (size_t i = 0; i < search->count; i++) {
        const struct candidate *candidate = &search->candidates[i];
        bool reachable =
            !is_member(&candidate->symbol) || vcm_slice_equal(candidate->symbol.container, around);
        marked[i] = candidate->file == found->file && reachable;
        defined = defined || (marked[i] && candidate->symbol.kind != VCM_SYMBOL_PROTOTYPE);
    }
    *settled = defined;
    return defined ? only_one(search, marked) : NULL;
}

static const struct candidate *in_imports(bool *settled, const struct search *search,
                                          const struct vcm_resolved *found, bool *marked)
{
    uint32_t files[VCM_IMPORTS_MAX];

    memset(marked, 0, search->count);
    for (uint32_t i = 0; i < found->symbols->import_count; i++) {
        size_t count = vcm_imports_find(files, search->imports, found->file,
                                        found->symbols->imports[i].target);
        for (size_t j = 0; j < count; j++)
            for (size_t k = 0; k < search->count; k++)
                marked[k] = marked[k] || (search->candidates[k].file == files[j] &&
                                          !is_member(&search->candidates[k].symbol) &&
                                          !is_private_to_file(search, &search->candidates[k]));
    }
    const struct candidate *one = only_one(search, marked);
    /* A header is imported, what it promises is defined elsewhere. */
    *settled = any(marked, search->count) && (!one || one->symbol.kind != VCM_SYMBOL_PROTOTYPE);
    return *settled ? one : NULL;
}

static const struct candidate *in_reach(const struct search *search,
                                        const struct vcm_resolved *found, bool *marked)
{
    const struct vcm_index_file *files = search->index->files, *here = &files[found->file];
    enum reach reach = reach_of(here->language);

    for (size_t i = 0; i < search->count; i++) {
        const struct candidate *candidate = &search->candidates[i];
        const struct vcm_index_file *there = &files[candidate->file];
        bool near = reach == REACH_REPOSITORY ||
                    (reach == REACH_DIRECTORY && same_directory(here->path, there->path));
        bool kin = here->language == there->language ||
                   (here->language == VCM_LANGUAGE_CPP && there->language == VCM_LANGUAGE_C) ||
                   (here->language == VCM_LANGUAGE_C && there->language == VCM_LANGUAGE_CPP);
        marked[i] =
            near && kin && !is_member(&candidate->symbol) && !is_private_to_file(search, candidate);
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

static int visit_reference(struct search *search, struct vcm_resolved *found, bool *marked,
                           struct vcm_error *err)
{
    const struct vcm_resolve_query *query = search->query;
    bool settled = false;

    bool overrides = found->reference->use == VCM_SYMBOL_OVERRIDE;
    const struct candidate *target =
        overrides ? in_bases(search, found, marked) : in_file(&settled, search, found, marked);
    settled = settled || overrides;
    if (!settled)
        target = in_imports(&settled, search, found, marked);
    if (!settled)
        target = in_reach(search, found, marked);
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

static int take_candidates(struct search *search, size_t file, const struct vcm_symbols *symbols,
                           struct vcm_error *err)
{
    for (uint32_t i = 0; i < symbols->definition_count; i++) {
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
    if (rc == VCM_OK && !(marked = calloc(search.count + 1, sizeof *marked)))
        rc = vcm_error_memory(err);
    for (size_t i = 0; rc == VCM_OK && i < index->file_count; i++) {
        vcm_symbols_init(&symbols);
        rc = vcm_index_read(&symbols, index, i, err);
        if (rc == VCM_OK)
            rc = visit_file(&search, i, &symbols, marked, err);
        vcm_symbols_release(&symbols);
    }
    free(marked);
    free(search.candidates);
    vcm_imports_close(search.imports);
    return rc;
}
