#include "symbols/resolve.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/limits.h"
#include "symbols/exports.h"
#include "symbols/members.h"
#include "symbols/qualifier.h"
#include "symbols/reach.h"
#include "symbols/naming.h"

#include "base/banned.h"

#define ALIASES_MAX ((size_t)256) /* names for one thing, in a file or in all of them */

/* Names that may stand for the one that is asked for. */
struct aliases {
    struct vcm_slice items[ALIASES_MAX];
    size_t count;
};

struct search {
    struct vcm_naming scope;
    const struct vcm_resolve_query *query;
    struct aliases exported; /* by which other files may import it */
    vcm_resolve_fn visit;
    void *context;
};

static void add_alias(struct aliases *aliases, struct vcm_slice name)
{
    for (size_t i = 0; i < aliases->count; i++)
        if (vcm_slice_equal(aliases->items[i], name))
            return;
    if (aliases->count < ALIASES_MAX)
        aliases->items[aliases->count++] = name;
}

static bool has_alias(const struct aliases *aliases, struct vcm_slice name)
{
    for (size_t i = 0; i < aliases->count; i++)
        if (vcm_slice_equal(aliases->items[i], name))
            return true;
    return false;
}

/* The names by which files pass it on: "export {a as b}". */
static void list_exported(struct search *search)
{
    size_t count = 0, before = 0;
    const struct vcm_model_rename *renames = vcm_model_renames(&count, search->scope.model);

    add_alias(&search->exported, search->query->name);
    while (before < search->exported.count) {
        before = search->exported.count;
        for (size_t i = 0; i < count; i++)
            if (has_alias(&search->exported, renames[i].there))
                add_alias(&search->exported, renames[i].here);
    }
    add_alias(&search->exported, vcm_slice_of_string(VCM_SYMBOL_DEFAULT));
}

/* The names that may stand for it in a file. */
static void list_aliases(struct aliases *out, const struct search *search,
                         const struct vcm_symbols *symbols)
{
    out->count = 0;
    for (uint32_t i = 0; i < symbols->import_count; i++) {
        const struct vcm_symbol_import *import = &symbols->imports[i];
        struct vcm_slice list = import->alias, there, here;
        if (import->hidden)
            continue;
        if (!import->parts && import->alias.len > 0)
            add_alias(out, import->alias);
        while (import->parts && vcm_qualifier_next_name(&there, &here, &list))
            if (!vcm_slice_equal(here, search->query->name) && has_alias(&search->exported, there))
                add_alias(out, here);
    }
}

static const struct vcm_language_descriptor *language_of(const struct search *search, size_t file)
{
    return vcm_language_get(search->scope.index->files[file].language);
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
static const struct vcm_model_definition *
in_bases(struct search *search, const struct vcm_resolved *found, const struct vcm_naming_use *use)
{
    const struct vcm_index_file *files = search->scope.index->files;
    const struct vcm_model_names *names = vcm_model_find(search->scope.model, use->name);
    bool *marked = names && use->from > 0 ? calloc(names->count + 1, sizeof *marked) : NULL;
    const struct vcm_model_definition *one = NULL;

    for (size_t i = 0; marked && i < names->count; i++) {
        const struct vcm_model_definition *definition = &names->items[i];
        marked[i] = files[definition->file].language == files[found->file].language &&
                    definition->symbol.container.len > 0 &&
                    has_base(found, last_of(definition->symbol.container));
    }
    if (marked)
        one = vcm_naming_only_one(&search->scope, use, names, marked);
    free(marked);
    return one;
}

/* Resolves a name whose qualifier is known to be the object itself, a type or a module, or whose
 * receiver has a type; the member of any other object stays unresolved. */
static struct vcm_naming_answer find_qualified(struct search *search,
                                               const struct vcm_resolved *found,
                                               const struct vcm_naming_use *use)
{
    const struct vcm_symbol_reference *reference = found->reference;
    struct vcm_slice function = reference->from > 0
                                    ? found->symbols->definitions[reference->from - 1].signature
                                    : vcm_slice_of("", 0);
    struct vcm_naming_answer answer = {.definition = NULL};
    enum vcm_qualifier_self self = VCM_QUALIFIER_OTHER;

    if (reference->qualifier.len > 0)
        self = vcm_qualifier_self(language_of(search, found->file), reference->qualifier, function);
    if (self == VCM_QUALIFIER_SELF)
        answer = vcm_naming_find_in_self(&search->scope, use);
    else if (self == VCM_QUALIFIER_OTHER && reference->qualifier.len > 0)
        answer = vcm_naming_find_qualified(&search->scope, use);
    if (!answer.settled && !answer.definition)
        answer = vcm_members_find(&search->scope, use, reference->receiver);
    if (!answer.settled && !answer.definition && self != VCM_QUALIFIER_OTHER)
        answer.definition = in_bases(search, found, use);
    return answer;
}

static struct vcm_naming_answer find_target(struct search *search, const struct vcm_resolved *found)
{
    const struct vcm_symbol_reference *reference = found->reference;
    const struct vcm_naming_use use = {
        .file = found->file,
        .symbols = found->symbols,
        .from = reference->from,
        .line = reference->line,
        .use = reference->use,
        .types_only = reference->is_type,
        .name = reference->name,
        .qualifier = reference->qualifier,
    };
    struct vcm_naming_answer answer = {.definition = NULL};

    if (reference->use == VCM_SYMBOL_OVERRIDE) {
        answer = vcm_members_find_overridden(&search->scope, &use);
        if (!answer.definition)
            answer.definition = in_bases(search, found, &use);
        return answer;
    }
    if (reference->receiver.len > 0 && reference->receiver.data[0] == '@')
        return vcm_members_find(&search->scope, &use, reference->receiver);
    return reference->qualified ? find_qualified(search, found, &use)
                                : vcm_naming_find(&search->scope, &use);
}

static bool is_wanted(const struct search *search, const struct vcm_model_definition *definition)
{
    const struct vcm_resolve_query *query = search->query;

    return (definition->symbol.line == query->only_line ||
            definition->symbol.start_line == query->only_line) &&
           vcm_slice_equal(search->scope.index->files[definition->file].path, query->only_file);
}

/* Whether a constructor is asked for, and the type that it makes objects of is meant. Which one is
 * called is only known when there is one. */
static bool asks_for_constructor(const struct vcm_model_definition **only, struct search *search,
                                 const struct vcm_model_definition *type)
{
    const struct vcm_model_names *names = vcm_model_find(search->scope.model, search->query->name);
    size_t count = 0;
    bool asked = false;

    for (size_t i = 0; names && i < names->count; i++) {
        const struct vcm_model_definition *one = &names->items[i];
        if (one->file != type->file || !vcm_naming_is_constructor(&search->scope, one, type))
            continue;
        asked = asked || is_wanted(search, one);
        *only = ++count == 1 ? one : NULL;
    }
    return asked;
}

/* Whether the one that is asked for is written several times, and this is another of these. */
static bool is_same(const struct search *search, const struct vcm_model_definition *target)
{
    const struct vcm_symbols *symbols = vcm_model_file(search->scope.model, target->file);

    if (!language_of(search, target->file)->names.overloads ||
        !vcm_slice_equal(search->scope.index->files[target->file].path, search->query->only_file))
        return false;
    for (uint32_t i = 0; symbols && i < symbols->definition_count; i++) {
        const struct vcm_symbol *one = &symbols->definitions[i];
        if (one->line == search->query->only_line &&
            vcm_slice_equal(one->name, target->symbol.name) &&
            vcm_slice_equal(one->container, target->symbol.container))
            return true;
    }
    return false;
}

static int visit_reference(struct search *search, struct vcm_resolved *found, struct vcm_error *err)
{
    assert(found->reference->from <= found->symbols->definition_count);
    const bool named = vcm_slice_equal(found->reference->name, search->query->name);
    struct vcm_naming_answer answer = find_target(search, found);
    const struct vcm_model_definition *target = answer.definition;
    bool is_type = target && vcm_symbol_is_type(target->symbol.kind);

    /* Another name stands for this one, or for something else. */
    if (!named && (!target || !vcm_slice_equal(target->symbol.name, search->query->name)))
        return VCM_OK;
    found->use = found->reference->use;
    if (is_type && found->use == VCM_SYMBOL_CALL &&
        vcm_reach_call_of_type(language_of(search, found->file), target->symbol.kind) ==
            VCM_REACH_MAKE)
        found->use = VCM_SYMBOL_INSTANTIATE;
    if (target && search->query->only_line > 0 && !is_wanted(search, target) &&
        !is_same(search, target) &&
        !(is_type && found->use == VCM_SYMBOL_INSTANTIATE &&
          asks_for_constructor(&target, search, target)))
        return VCM_OK;
    found->target = target ? &target->symbol : NULL;
    found->target_file = target ? target->file : 0;
    found->external = !target && answer.external;
    found->candidates = vcm_model_find(search->scope.model, search->query->name);
    return search->visit(search->context, found, err);
}

/* A method that overrides or implements another says so by its place alone. */
static int visit_method(struct search *search, size_t file, const struct vcm_symbols *symbols,
                        uint32_t number, struct vcm_error *err)
{
    const struct vcm_symbol *method = &symbols->definitions[number];
    struct vcm_symbol_reference reference = {
        .name = method->name, .line = method->line, .from = number + 1, .use = VCM_SYMBOL_OVERRIDE};
    struct vcm_resolved found = {.file = file, .symbols = symbols, .reference = &reference};
    const struct vcm_naming_use use = {.file = file,
                                       .symbols = symbols,
                                       .from = number + 1,
                                       .line = method->line,
                                       .use = VCM_SYMBOL_OVERRIDE,
                                       .name = method->name};

    for (uint32_t i = 0; i < symbols->reference_count; i++)
        if (symbols->references[i].from == number + 1 &&
            symbols->references[i].use == VCM_SYMBOL_OVERRIDE)
            return VCM_OK; /* it is written down */
    struct vcm_naming_answer answer = vcm_members_find_overridden(&search->scope, &use);
    if (!answer.definition)
        return VCM_OK;
    if (search->query->only_line > 0 && !is_wanted(search, answer.definition))
        return VCM_OK;
    found.target = &answer.definition->symbol;
    found.target_file = answer.definition->file;
    found.use = answer.implements ? VCM_SYMBOL_IMPLEMENTATION : VCM_SYMBOL_OVERRIDE;
    return search->visit(search->context, &found, err);
}

/* References in the order of lines, and methods that override among them. */
static int visit_file(struct search *search, size_t file, const struct vcm_symbols *symbols,
                      struct vcm_error *err)
{
    struct aliases aliases;
    uint32_t next = 0; /* definition */
    int rc = VCM_OK;

    assert(symbols->references || symbols->reference_count == 0);
    list_aliases(&aliases, search, symbols);
    for (uint32_t i = 0; rc == VCM_OK && i <= symbols->reference_count; i++) {
        const struct vcm_symbol_reference *reference =
            i < symbols->reference_count ? &symbols->references[i] : NULL;
        struct vcm_resolved found = {.file = file, .symbols = symbols, .reference = reference};
        bool named = reference && vcm_slice_equal(reference->name, search->query->name);
        if (reference && !named && (reference->qualified || !has_alias(&aliases, reference->name)))
            continue;
        for (; rc == VCM_OK && next < symbols->definition_count &&
               (!reference || symbols->definitions[next].line <= reference->line);
             next++)
            if (symbols->definitions[next].kind == VCM_SYMBOL_METHOD &&
                vcm_slice_equal(symbols->definitions[next].name, search->query->name))
                rc = visit_method(search, file, symbols, next, err);
        if (rc == VCM_OK && reference)
            rc = visit_reference(search, &found, err);
    }
    vcm_model_trim(search->scope.model);
    return rc == VCM_OK ? vcm_model_check(search->scope.model, err) : rc;
}

static int check_wanted(struct search *search, struct vcm_error *err)
{
    const struct vcm_resolve_query *query = search->query;
    const struct vcm_model_names *names = vcm_model_find(search->scope.model, query->name);
    bool found = query->only_line == 0;

    for (size_t i = 0; names && i < names->count && !found; i++)
        found = is_wanted(search, &names->items[i]);
    return found ? VCM_OK
                 : vcm_error_set(err, VCM_NOT_FOUND, "no '%.*s' is defined in line %u of '%.*s'",
                                 (int)query->name.len, query->name.data, query->only_line,
                                 (int)query->only_file.len, query->only_file.data);
}

int vcm_resolve_visit(const struct vcm_index *index, const struct vcm_resolve_query *query,
                      vcm_resolve_fn visit, void *context, struct vcm_error *err)
{
    struct search *search = calloc(1, sizeof *search);
    struct vcm_symbols symbols;

    if (!search)
        return vcm_error_memory(err);
    search->query = query;
    search->visit = visit;
    search->context = context;
    int rc = vcm_naming_open(&search->scope, index, err);
    if (rc == VCM_OK)
        rc = check_wanted(search, err);
    if (rc == VCM_OK)
        list_exported(search);
    for (size_t i = 0; rc == VCM_OK && i < index->file_count; i++) {
        vcm_symbols_init(&symbols);
        rc = vcm_index_read(&symbols, index, i, err);
        if (rc == VCM_OK)
            rc = visit_file(search, i, &symbols, err);
        vcm_symbols_release(&symbols);
    }
    vcm_naming_close(&search->scope);
    free(search);
    return rc;
}
