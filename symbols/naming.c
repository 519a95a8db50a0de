#include "symbols/naming.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "symbols/exports.h"
#include "symbols/languages/headers.h"
#include "symbols/qualifier.h"
#include "symbols/reach.h"

#include "base/banned.h"

static const struct vcm_naming_answer unsettled = {.definition = NULL};

int vcm_naming_open(struct vcm_naming *lookup, const struct vcm_index *index, struct vcm_error *err)
{
    *lookup = (struct vcm_naming){.index = index};
    int rc = vcm_imports_open(&lookup->imports, index, err);
    if (rc == VCM_OK)
        rc = vcm_model_open(&lookup->model, index, err);
    if (rc == VCM_OK &&
        !(lookup->importers = calloc(index->file_count + 1, sizeof *lookup->importers)))
        rc = vcm_error_memory(err);
    if (rc != VCM_OK)
        vcm_naming_close(lookup);
    return rc;
}

void vcm_naming_close(struct vcm_naming *lookup)
{
    vcm_model_close(lookup->model);
    vcm_imports_close(lookup->imports);
    free(lookup->importers);
    *lookup = (struct vcm_naming){.index = NULL};
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

static const struct vcm_language_descriptor *language_of(const struct vcm_naming *lookup,
                                                         size_t file)
{
    return vcm_language_get(lookup->index->files[file].language);
}

/* Whether other files can name it without seeing it: a function or a variable by its linkage, a
 * struct by its tag. */
static bool has_linkage(const struct vcm_symbol *symbol)
{
    return symbol->kind != VCM_SYMBOL_MACRO && symbol->kind != VCM_SYMBOL_ENUMERATOR &&
           (symbol->kind != VCM_SYMBOL_TYPE || vcm_naming_is_promise(symbol));
}

/* Whether no other file can use it: it is private where that means the file, or, in a language with
 * headers, it has no linkage and is in a source. */
static bool is_private_to_file(const struct vcm_naming *lookup,
                               const struct vcm_model_definition *definition)
{
    const struct vcm_language_names *names = &language_of(lookup, definition->file)->names;

    return (definition->symbol.visibility == VCM_SYMBOL_PRIVATE && names->private_to_file) ||
           (names->headers && !has_linkage(&definition->symbol) &&
            !vcm_headers_is_header(lookup->index->files[definition->file].path));
}

static struct vcm_slice last_of(struct vcm_slice container)
{
    const char *dot = container.len > 0 ? memrchr(container.data, '.', container.len) : NULL;

    return dot ? vcm_slice_of(dot + 1, container.len - (size_t)(dot + 1 - container.data))
               : container;
}

bool vcm_naming_is_constructor(const struct vcm_naming *lookup,
                               const struct vcm_model_definition *definition,
                               const struct vcm_model_definition *type)
{
    const struct vcm_symbol *symbol = &definition->symbol;
    bool outer = language_of(lookup, definition->file)->names.outer_constructors &&
                 vcm_slice_equal(symbol->container, type->symbol.container);

    return (vcm_symbol_is_function(symbol->kind) || symbol->kind == VCM_SYMBOL_PROTOTYPE) &&
           (outer || vcm_slice_equal(last_of(symbol->container), symbol->name));
}

/* Unmarks types that a call does not mean, and constructors beside the one type that is left. */
static void narrow(const struct vcm_naming *lookup, const struct vcm_naming_use *use,
                   const struct vcm_model_names *names, bool *marked)
{
    const struct vcm_language_descriptor *language = language_of(lookup, use->file);
    const struct vcm_model_definition *type = NULL;
    size_t types = 0;

    for (size_t i = 0; i < names->count; i++) {
        const struct vcm_model_definition *one = &names->items[i];
        if (use->types_only)
            marked[i] = marked[i] && vcm_symbol_is_type(one->symbol.kind);
        if (!marked[i] || !vcm_symbol_is_type(one->symbol.kind))
            continue;
        marked[i] = use->use != VCM_SYMBOL_CALL ||
                    vcm_reach_call_of_type(language, one->symbol.kind) != VCM_REACH_OTHER;
        types += marked[i];
        type = marked[i] ? one : type;
    }
    for (size_t i = 0; types == 1 && i < names->count; i++)
        if (marked[i] && vcm_naming_is_constructor(lookup, &names->items[i], type))
            marked[i] = false;
}

bool vcm_naming_is_promise(const struct vcm_symbol *symbol)
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

/* Whether both are the same thing, written several times in one file: overloads, the branches of a
 * condition. The first stands for all. */
static bool is_overload(const struct vcm_naming *lookup, const struct vcm_model_definition *first,
                        const struct vcm_model_definition *next)
{
    return language_of(lookup, first->file)->names.overloads && first->file == next->file &&
           vcm_slice_equal(first->symbol.container, next->symbol.container) &&
           (first->symbol.kind == next->symbol.kind ||
            language_of(lookup, first->file)->names.merges);
}

const struct vcm_model_definition *vcm_naming_only_one(struct vcm_naming *lookup,
                                                       const struct vcm_naming_use *use,
                                                       const struct vcm_model_names *names,
                                                       bool *marked)
{
    const struct vcm_model_definition *one = NULL, *prototype = NULL;
    size_t count = 0, prototypes = 0;

    narrow(lookup, use, names, marked);
    for (size_t i = 0; i < names->count; i++) {
        const struct vcm_model_definition *next = &names->items[i];
        if (!marked[i])
            continue;
        bool promised = vcm_naming_is_promise(&next->symbol);
        if (promised) {
            prototypes++;
            prototype = prototype ? prototype : next;
        } else if (!one || !is_overload(lookup, one, next)) {
            count++;
            one = next;
        }
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
static bool is_reachable(const struct vcm_naming *lookup, const struct vcm_naming_use *use,
                         const struct vcm_symbol *symbol)
{
    const struct vcm_language_descriptor *language = language_of(lookup, use->file);
    const struct vcm_symbol *around =
        use->from > 0 ? &use->symbols->definitions[use->from - 1] : NULL;

    if (is_member(symbol))
        return !language->names.members_qualified && around &&
               vcm_slice_equal(symbol->container, around->container);
    return symbol->container.len == 0 || !language->names.closed ||
           (around && is_inside(around, symbol->container));
}

/* Looks in the same file. Settled when a definition there can be meant: a prototype says that the
 * definition is elsewhere, and the search goes on. */
static struct vcm_naming_answer in_file(struct vcm_naming *lookup, const struct vcm_naming_use *use,
                                        const struct vcm_model_names *names, bool *marked)
{
    struct vcm_naming_answer answer = unsettled;

    for (size_t i = 0; i < names->count; i++)
        marked[i] =
            names->items[i].file == use->file && is_reachable(lookup, use, &names->items[i].symbol);
    const struct vcm_model_definition *one = vcm_naming_only_one(lookup, use, names, marked);
    for (size_t i = 0; i < names->count && !answer.settled; i++)
        answer.settled = marked[i] && !vcm_naming_is_promise(&names->items[i].symbol);
    answer.definition = answer.settled ? one : NULL;
    return answer;
}

static void note_import(void *context, uint32_t file)
{
    struct vcm_naming *lookup = context;

    lookup->importers[file] = (uint32_t)lookup->noted;
}

/* Notes which files the file imports. */
static void note_imports(struct vcm_naming *lookup, const struct vcm_naming_use *use)
{
    if (lookup->noted == use->file + 1)
        return;
    lookup->noted = use->file + 1;
    for (uint32_t i = 0; i < use->symbols->import_count; i++)
        vcm_imports_visit(lookup->imports, use->file, &use->symbols->imports[i], note_import,
                          lookup);
}

static struct vcm_naming_answer in_imports(struct vcm_naming *lookup,
                                           const struct vcm_naming_use *use,
                                           const struct vcm_model_names *names, bool *marked)
{
    const struct vcm_language_descriptor *language = language_of(lookup, use->file);
    bool closed = language->names.closed && !language->names.global_modules;
    uint32_t files[VCM_IMPORTS_MAX];
    struct vcm_naming_answer answer = unsettled;

    if (language->imports.exports != VCM_LANGUAGES_EXPORTS_NONE)
        return vcm_exports_find_imported(lookup, use);
    memset(marked, 0, names->count);
    for (uint32_t i = 0; i < use->symbols->import_count; i++) {
        const struct vcm_symbol_import *import = &use->symbols->imports[i];
        size_t count =
            vcm_reach_brings_name(language, import, use->name)
                ? vcm_imports_find_name(files, lookup->imports, use->file, import, use->name)
                : 0;
        for (size_t j = 0; j < count; j++)
            for (size_t k = 0; k < names->count; k++) {
                const struct vcm_model_definition *one = &names->items[k];
                marked[k] = marked[k] || (one->file == files[j] && !is_member(&one->symbol) &&
                                          (!closed || one->symbol.container.len == 0) &&
                                          !is_private_to_file(lookup, one));
            }
    }
    const struct vcm_model_definition *one = vcm_naming_only_one(lookup, use, names, marked);
    /* A header is imported; what it announces is defined elsewhere. */
    answer.settled = any(marked, names->count) && (!one || !vcm_naming_is_promise(&one->symbol));
    answer.definition = answer.settled ? one : NULL;
    return answer;
}

bool vcm_naming_is_near(const struct vcm_naming *lookup, size_t from, size_t to)
{
    const struct vcm_index_file *here = &lookup->index->files[from];
    const struct vcm_index_file *there = &lookup->index->files[to];
    enum vcm_language_reach reach = language_of(lookup, from)->names.reach;

    return vcm_language_are_kin(here->language, there->language) &&
           (reach == VCM_LANGUAGES_REACH_REPOSITORY ||
            (reach == VCM_LANGUAGES_REACH_DIRECTORY && same_directory(here->path, there->path)));
}

static struct vcm_naming_answer in_reach(struct vcm_naming *lookup,
                                         const struct vcm_naming_use *use,
                                         const struct vcm_model_names *names, bool *marked)
{
    bool closed = language_of(lookup, use->file)->names.closed;

    for (size_t i = 0; i < names->count; i++) {
        const struct vcm_model_definition *one = &names->items[i];
        marked[i] = vcm_naming_is_near(lookup, use->file, one->file) && !is_member(&one->symbol) &&
                    (!closed || one->symbol.container.len == 0) && !is_private_to_file(lookup, one);
    }
    return (struct vcm_naming_answer){.definition =
                                          vcm_naming_only_one(lookup, use, names, marked)};
}

struct vcm_naming_answer vcm_naming_find(struct vcm_naming *lookup,
                                         const struct vcm_naming_use *use)
{
    const struct vcm_model_names *names = vcm_model_find(lookup->model, use->name);
    bool *marked = names ? calloc(names->count + 1, sizeof *marked) : NULL;
    struct vcm_naming_answer answer = unsettled;

    if (!marked)
        return answer;
    answer = in_file(lookup, use, names, marked);
    if (!answer.settled)
        answer = in_imports(lookup, use, names, marked);
    if (!answer.settled)
        answer = in_reach(lookup, use, names, marked);
    free(marked);
    return answer;
}

/* The stages in which a name is searched, from near to far. */
enum stage {
    STAGE_FILE,
    STAGE_IMPORTS,
    STAGE_NEAR,
    STAGE_COUNT,
};

static bool is_visible(struct vcm_naming *lookup, const struct vcm_naming_use *use,
                       enum stage stage, size_t file)
{
    if (stage == STAGE_FILE)
        return file == use->file;
    note_imports(lookup, use);
    return stage == STAGE_IMPORTS ? lookup->importers[file] == use->file + 1
                                  : vcm_naming_is_near(lookup, use->file, file);
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

/* How many types by that name are visible at this stage: 0, 1, or 2 for several. */
static size_t count_types(struct vcm_naming *lookup, const struct vcm_naming_use *use,
                          enum stage stage, struct vcm_slice name)
{
    bool parts = language_of(lookup, use->file)->names.open_types;
    const struct vcm_model_names *names = vcm_model_find(lookup->model, name);
    const struct vcm_model_definition *one = NULL;

    for (size_t i = 0; names && i < names->count; i++) {
        const struct vcm_model_definition *next = &names->items[i];
        if (!vcm_symbol_is_type(next->symbol.kind) || !is_visible(lookup, use, stage, next->file))
            continue;
        if (one && (!vcm_slice_equal(one->symbol.container, next->symbol.container) ||
                    (!parts && one->file != next->file)))
            return 2;
        one = next;
    }
    return one != NULL;
}

static bool holds(struct vcm_naming *lookup, struct vcm_slice name, size_t file)
{
    const struct vcm_model_names *names = vcm_model_find(lookup->model, name);

    for (size_t i = 0; names && i < names->count; i++) {
        enum vcm_symbol_kind kind = names->items[i].symbol.kind;
        if (names->items[i].file == file &&
            (vcm_symbol_is_type(kind) || kind == VCM_SYMBOL_MODULE || kind == VCM_SYMBOL_NAMESPACE))
            return true;
    }
    return false;
}

/* A function in a container that is no function itself. */
static bool is_held(struct vcm_naming *lookup, const struct vcm_model_definition *definition)
{
    if (definition->symbol.kind != VCM_SYMBOL_FUNCTION)
        return true;
    struct vcm_slice container = definition->symbol.container;
    /* "defmodule Shop.Cart" and "namespace a::b" are one name of several words. */
    return holds(lookup, vcm_qualifier_pop(&container), definition->file) ||
           holds(lookup, definition->symbol.container, definition->file);
}

/* Whether the qualifier is the whole name of a module that is known everywhere. */
static bool is_global(const struct vcm_naming *lookup, const struct vcm_naming_use *use,
                      const struct vcm_model_definition *definition)
{
    const struct vcm_index_file *files = lookup->index->files;

    return language_of(lookup, use->file)->names.global_modules &&
           files[definition->file].language == files[use->file].language &&
           vcm_slice_equal(definition->symbol.container, use->qualifier);
}

/* A member of the type, module or namespace that the qualifier names. */
static struct vcm_naming_answer in_container(struct vcm_naming *lookup,
                                             const struct vcm_naming_use *use,
                                             const struct vcm_model_names *names, bool *marked)
{
    const struct vcm_language_descriptor *language = language_of(lookup, use->file);
    struct vcm_slice qualifier = use->qualifier, rest = qualifier;
    struct vcm_slice last = vcm_qualifier_pop(&rest);

    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        for (size_t i = 0; i < names->count; i++) {
            const struct vcm_model_definition *one = &names->items[i];
            bool hidden =
                stage != STAGE_FILE && !is_member(&one->symbol) && is_private_to_file(lookup, one);
            marked[i] = names_container(language, qualifier, one->symbol.container) && !hidden &&
                        (is_visible(lookup, use, (enum stage)stage, one->file) ||
                         (stage == STAGE_NEAR && is_global(lookup, use, one))) &&
                        is_held(lookup, one);
        }
        const struct vcm_model_definition *one = vcm_naming_only_one(lookup, use, names, marked);
        size_t types = count_types(lookup, use, (enum stage)stage, last);
        if (types > 1 || (types == 1 && !language->names.spread_types) ||
            (any(marked, names->count) &&
             (stage == STAGE_NEAR || !one || !vcm_naming_is_promise(&one->symbol))))
            return (struct vcm_naming_answer){.definition = types > 1 ? NULL : one,
                                              .settled = true};
    }
    return unsettled;
}

/* Whether an import can mean this file, and no module of the language or of another package that
 * has the same name. */
static bool is_meant(const struct vcm_naming *lookup, size_t from, struct vcm_slice target,
                     size_t file)
{
    struct vcm_slice path = lookup->index->files[file].path;
    const struct vcm_language_imports *habits = &language_of(lookup, from)->imports;
    struct vcm_language_place place = {
        .beside = same_directory(path, lookup->index->files[from].path), .itself = file == from};

    for (size_t i = 0; i < path.len; i++)
        place.depth += path.data[i] == '/';
    return !habits->means_file || habits->means_file(target, &place);
}

/* The files that an import means, if they are one module: those of one directory. */
static size_t one_module(uint32_t files[VCM_IMPORTS_MAX], const struct vcm_naming *lookup,
                         size_t from, struct vcm_slice target)
{
    const struct vcm_index_file *all = lookup->index->files;
    size_t count = 0, kept = 0;
    size_t found = vcm_imports_find_whole(files, lookup->imports, from, target);

    for (size_t i = 0; i < found; i++)
        if (is_meant(lookup, from, target, files[i]))
            files[count++] = files[i];
    if (count < found && language_of(lookup, from)->imports.opens_hide)
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

uint32_t vcm_naming_find_module(const struct vcm_naming *lookup, size_t from,
                                struct vcm_slice target)
{
    uint32_t files[VCM_IMPORTS_MAX];

    return one_module(files, lookup, from, target) > 0 ? files[0] + 1 : 0;
}

static void mark_top(const struct vcm_naming *lookup, const struct vcm_model_names *names,
                     bool *marked, struct vcm_slice target, size_t from)
{
    uint32_t files[VCM_IMPORTS_MAX];
    size_t count = one_module(files, lookup, from, target);

    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < names->count; k++)
            /* In some languages the module is written around what it holds. */
            marked[k] = marked[k] || (names->items[k].file == files[i] &&
                                      !is_private_to_file(lookup, &names->items[k]) &&
                                      (names->items[k].symbol.container.len == 0 ||
                                       vcm_slice_equal(names->items[k].symbol.container, target)));
}

/* The module that an import has for the qualifier, or "". */
static void put_module(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                       const struct vcm_symbol_import *import, struct vcm_slice qualifier)
{
    const char *separator = language->imports.separator ? language->imports.separator : ".";
    bool joined = false;

    vcm_buf_clear(out);
    if (import->target.len == 0 || import->hidden ||
        !vcm_reach_gives_name(&joined, language, import, qualifier))
        return;
    vcm_buf_append_slice(out, import->target);
    if (joined && import->target.data[import->target.len - 1] != '.')
        vcm_buf_append_string(out, separator);
    if (joined)
        vcm_buf_append_slice(out, qualifier);
}

/* What the module that the qualifier names has at its top, and what it passes on. */
static struct vcm_naming_answer in_exporting(struct vcm_naming *lookup,
                                             const struct vcm_naming_use *use)
{
    struct vcm_naming_use module = *use;
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct vcm_naming_answer answer = unsettled;
    uint32_t files[VCM_IMPORTS_MAX];

    module.name = use->qualifier;
    module.qualifier = vcm_slice_of("", 0);
    module.use = VCM_SYMBOL_READ;
    struct vcm_naming_answer found = vcm_exports_find_imported(lookup, &module);
    if (found.module > 0)
        answer = vcm_exports_find_in(lookup, found.module - 1, use->name, use);
    for (uint32_t i = 0; found.module == 0 && !answer.definition && i < use->symbols->import_count;
         i++) {
        const struct vcm_language_descriptor *language = language_of(lookup, use->file);
        put_module(&path, language, &use->symbols->imports[i], use->qualifier);
        if (path.len > 0 && one_module(files, lookup, use->file, vcm_buf_slice(&path)) == 1)
            answer = vcm_exports_find_in(lookup, files[0], use->name, use);
    }
    vcm_buf_release(&path);
    return answer;
}

/* What the module that the qualifier names has at its top. */
static struct vcm_naming_answer in_module(struct vcm_naming *lookup,
                                          const struct vcm_naming_use *use,
                                          const struct vcm_model_names *names, bool *marked)
{
    const struct vcm_language_descriptor *language = language_of(lookup, use->file);
    struct vcm_slice qualifier = use->qualifier;
    const char *separator = language->imports.separator ? language->imports.separator : ".";
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    if (language->imports.exports != VCM_LANGUAGES_EXPORTS_NONE)
        return in_exporting(lookup, use);
    memset(marked, 0, names->count);
    for (uint32_t i = 0; i < use->symbols->import_count; i++) {
        put_module(&path, language, &use->symbols->imports[i], qualifier);
        if (path.len > 0)
            mark_top(lookup, names, marked, vcm_buf_slice(&path), use->file);
    }
    if (language->imports.modules == VCM_LANGUAGES_MODULES_ALL ||
        (language->imports.modules == VCM_LANGUAGES_MODULES_BY_PATH &&
         memmem(qualifier.data, qualifier.len, separator, strlen(separator))))
        mark_top(lookup, names, marked, qualifier, use->file);
    vcm_buf_release(&path);
    return (struct vcm_naming_answer){.definition =
                                          vcm_naming_only_one(lookup, use, names, marked)};
}

struct vcm_naming_answer vcm_naming_find_qualified(struct vcm_naming *lookup,
                                                   const struct vcm_naming_use *use)
{
    const struct vcm_model_names *names = vcm_model_find(lookup->model, use->name);
    bool *marked = names ? calloc(names->count + 1, sizeof *marked) : NULL;
    struct vcm_naming_answer answer = unsettled;

    if (!marked)
        return answer;
    answer = in_container(lookup, use, names, marked);
    if (!answer.settled)
        answer = in_module(lookup, use, names, marked);
    free(marked);
    return answer;
}

/* Whether it is a member of the type whose method is at `container`. */
static bool is_member_of(const struct vcm_symbol *symbol,
                         const struct vcm_language_descriptor *language, struct vcm_slice container)
{
    bool all = false, known = false;
    bool local = (symbol->kind == VCM_SYMBOL_FUNCTION || symbol->kind == VCM_SYMBOL_VARIABLE) &&
                 !language->names.global_modules;

    return !local && symbol->container.len > 0 &&
           vcm_reach_compare_paths(&all, &known, symbol->container, container) && all && known;
}

static struct vcm_naming_answer in_self(struct vcm_naming *lookup, const struct vcm_naming_use *use,
                                        const struct vcm_model_names *names, bool *marked)
{
    const struct vcm_language_descriptor *language = language_of(lookup, use->file);
    struct vcm_slice container = use->symbols->definitions[use->from - 1].container;

    for (; container.len > 0; vcm_qualifier_pop(&container))
        for (int stage = 0; stage < (language->names.spread_types ? STAGE_COUNT : 1); stage++) {
            for (size_t i = 0; i < names->count; i++)
                marked[i] = is_member_of(&names->items[i].symbol, language, container) &&
                            is_visible(lookup, use, (enum stage)stage, names->items[i].file);
            const struct vcm_model_definition *one =
                vcm_naming_only_one(lookup, use, names, marked);
            if (any(marked, names->count) &&
                (stage == STAGE_NEAR || !one || !vcm_naming_is_promise(&one->symbol)))
                return (struct vcm_naming_answer){.definition = one, .settled = true};
        }
    return unsettled;
}

struct vcm_naming_answer vcm_naming_find_in_self(struct vcm_naming *lookup,
                                                 const struct vcm_naming_use *use)
{
    const struct vcm_model_names *names = vcm_model_find(lookup->model, use->name);
    bool *marked = names ? calloc(names->count + 1, sizeof *marked) : NULL;
    struct vcm_naming_answer answer = unsettled;

    if (marked && use->from > 0)
        answer = in_self(lookup, use, names, marked);
    free(marked);
    return answer;
}
