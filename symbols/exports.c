#include "symbols/exports.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/limits.h"
#include "symbols/qualifier.h"

#include "base/banned.h"

#define STEPS_MAX ((size_t)8192) /* names of files that one question leads to */

/* A name of a file that is still to be looked up. */
struct step {
    uint32_t file;
    struct vcm_slice name;
    bool own; /* the name is one of the file itself, whoever sees it */
};

struct walk {
    struct vcm_naming *lookup;
    const struct vcm_naming_use *use;
    struct step *steps; /* those behind `next` are to do; each is there once */
    size_t count, capacity, next;
    uint32_t slots[2 * 8192]; /* 1 + the number of a step, by its hash */
    struct vcm_naming_answer answer;
    bool several;
};

static const struct vcm_language_imports *habits_of(const struct vcm_naming *lookup, size_t file)
{
    return &vcm_language_get(lookup->index->files[file].language)->imports;
}

static bool is_word(struct vcm_slice text, const char *word)
{
    return vcm_slice_equal(text, vcm_slice_of_string(word));
}

static void add_step(struct walk *walk, const struct step *step)
{
    const size_t mask = sizeof walk->slots / sizeof walk->slots[0] - 1;
    size_t slot = vcm_hash_checksum(step->name, step->file * 2 + step->own) & mask;

    for (; walk->slots[slot] > 0; slot = (slot + 1) & mask) {
        const struct step *other = &walk->steps[walk->slots[slot] - 1];
        if (other->file == step->file && other->own == step->own &&
            vcm_slice_equal(other->name, step->name))
            return;
    }
    if (walk->count >= STEPS_MAX || vcm_array_reserve(&walk->steps, &walk->capacity,
                                                      walk->count + 1, STEPS_MAX, NULL) != VCM_OK)
        return;
    walk->steps[walk->count++] = *step;
    walk->slots[slot] = (uint32_t)walk->count;
}

static void answer_definition(struct walk *walk, const struct vcm_model_definition *definition)
{
    const struct vcm_model_definition *old = walk->answer.definition;

    walk->answer.settled = true;
    if (old && (old->file != definition->file || old->number != definition->number))
        walk->several = true;
    walk->answer.definition = definition;
}

static void answer_module(struct walk *walk, uint32_t file)
{
    walk->answer.settled = true;
    if (walk->answer.module > 0 && walk->answer.module != file + 1)
        walk->several = true;
    walk->answer.module = file + 1;
}

/* Whether other files can import what is defined at the top. */
static bool is_seen(const struct vcm_naming *lookup, const struct vcm_model_definition *definition)
{
    const struct vcm_language_descriptor *language =
        vcm_language_get(lookup->index->files[definition->file].language);

    return definition->symbol.visibility != VCM_SYMBOL_PRIVATE || !language->names.private_to_file;
}

static bool is_member(const struct vcm_symbol *symbol)
{
    return symbol->kind == VCM_SYMBOL_FIELD || symbol->kind == VCM_SYMBOL_CONSTRUCTOR;
}

/* Looks among what the file itself defines. */
static bool take_defined(struct walk *walk, const struct step *step)
{
    const struct vcm_model_names *names = vcm_model_find(walk->lookup->model, step->name);
    bool *marked = names && names->count > 0 ? calloc(names->count, sizeof *marked) : NULL;
    bool any = false;

    for (size_t i = 0; marked && i < names->count; i++) {
        const struct vcm_model_definition *one = &names->items[i];
        marked[i] = one->file == step->file && one->symbol.container.len == 0 &&
                    !is_member(&one->symbol) && (step->own || is_seen(walk->lookup, one));
        any = any || marked[i];
    }
    const struct vcm_model_definition *one =
        any ? vcm_naming_only_one(walk->lookup, walk->use, names, marked) : NULL;
    free(marked);
    if (one)
        answer_definition(walk, one);
    walk->several = walk->several || (any && !one);
    return any;
}

/* What an import that has the name, or passes all names on, leads to. */
static void follow(struct walk *walk, const struct step *step,
                   const struct vcm_symbol_import *import, struct vcm_slice there)
{
    uint32_t files[VCM_IMPORTS_MAX];

    if (import->target.len == 0) {
        add_step(walk, &(struct step){step->file, there, true});
        return;
    }
    size_t count = vcm_imports_find(files, walk->lookup->imports, step->file, import->target);
    if (is_word(there, "*")) {
        if (count == 1)
            answer_module(walk, files[0]);
        walk->answer.settled = true;
        return;
    }
    if (count == 0 && vcm_imports_is_external(walk->lookup->imports, step->file, import->target))
        walk->answer.external = !is_word(step->name, "*");
    uint32_t part[VCM_IMPORTS_MAX];
    for (size_t i = 0; i < count; i++)
        add_step(walk, &(struct step){files[i], there, false});
    /* "from a import b" takes a module when "a" has no such name. */
    if (vcm_imports_find_part(part, walk->lookup->imports, step->file, import->target, there) == 1)
        add_step(walk, &(struct step){part[0], vcm_slice_of("", 0), false});
    walk->answer.settled = true;
}

/* What stands for a module by the name of an import: "import a.b as c", `const c = require("./b")`.
 * It is the module itself, and what the module says that it stands for. */
static void follow_module(struct walk *walk, const struct step *step,
                          const struct vcm_symbol_import *import)
{
    uint32_t files[VCM_IMPORTS_MAX];
    size_t count = vcm_imports_find(files, walk->lookup->imports, step->file, import->target);

    walk->answer.settled = true;
    if (count == 0) {
        walk->answer.external =
            vcm_imports_is_external(walk->lookup->imports, step->file, import->target);
        return;
    }
    answer_module(walk, files[0]);
    if (habits_of(walk->lookup, step->file)->exports == VCM_LANGUAGES_EXPORTS_GIVEN)
        add_step(walk, &(struct step){files[0], vcm_slice_of_string(VCM_SYMBOL_WHOLE), false});
}

static bool has_name(const struct vcm_symbol_import *import, const struct step *step)
{
    struct vcm_slice rest = import->target;

    if (import->alias.len > 0)
        return vcm_slice_equal(import->alias, step->name);
    return !memchr(import->target.data, '.', import->target.len) &&
           vcm_slice_equal(vcm_qualifier_pop(&rest), step->name);
}

/* Follows one import; `own` when the name is looked for in the file itself. True when it has the
 * name. */
static bool take_import(struct walk *walk, const struct step *step,
                        const struct vcm_symbol_import *import)
{
    struct vcm_slice list = import->alias, there, here;
    bool all = false;

    if (step->own ? import->hidden : !import->exports)
        return false;
    if (!import->parts) {
        bool named = import->target.len > 0 && has_name(import, step);
        if (named)
            follow_module(walk, step, import);
        return named;
    }
    while (vcm_qualifier_next_name(&there, &here, &list)) {
        all = all || (is_word(there, "*") && is_word(here, "*"));
        if (!vcm_slice_equal(here, step->name) || is_word(here, "*"))
            continue;
        follow(walk, step, import, there);
        return true;
    }
    if (all && !is_word(step->name, VCM_SYMBOL_DEFAULT) && !is_word(step->name, VCM_SYMBOL_WHOLE)) {
        const struct vcm_naming_answer before = walk->answer;
        follow(walk, step, import, step->name);
        /* All names are taken: this one may not be among them. */
        walk->answer.settled = before.settled;
        walk->answer.external = before.external;
    }
    return false;
}

static bool take_imports(struct walk *walk, const struct step *step)
{
    const struct vcm_symbols *symbols = vcm_model_file(walk->lookup->model, step->file);
    bool has = false;

    for (uint32_t i = 0; symbols && i < symbols->import_count; i++)
        has = take_import(walk, step, &symbols->imports[i]) || has;
    return has;
}

/* What a module of the one kind is for an importer of the other: the default of what is exported as
 * a whole is the whole. */
static void take_default(struct walk *walk, const struct step *step)
{
    const char *other = is_word(step->name, VCM_SYMBOL_DEFAULT) ? VCM_SYMBOL_WHOLE : NULL;

    if (other)
        add_step(walk, &(struct step){step->file, vcm_slice_of_string(other), false});
}

static void take_step(struct walk *walk, const struct step step)
{
    if (step.name.len == 0) {
        if (!walk->answer.definition && !walk->several)
            answer_module(walk, step.file);
        return;
    }
    bool found = take_imports(walk, &step);
    if (!found || !walk->answer.definition)
        found = take_defined(walk, &step) || found;
    if (!found)
        take_default(walk, &step);
}

static struct vcm_naming_answer run(struct walk *walk)
{
    for (walk->next = 0; walk->next < walk->count && !walk->several; walk->next++)
        take_step(walk, walk->steps[walk->next]);
    free(walk->steps);
    if (walk->several)
        walk->answer = (struct vcm_naming_answer){.settled = true};
    walk->answer.external = walk->answer.external && !walk->answer.definition;
    return walk->answer;
}

struct vcm_naming_answer vcm_exports_find_in(struct vcm_naming *lookup, size_t file,
                                             struct vcm_slice name,
                                             const struct vcm_naming_use *use)
{
    struct walk *walk = calloc(1, sizeof *walk);
    struct vcm_naming_answer answer = {.settled = true};

    if (!walk)
        return answer;
    walk->lookup = lookup;
    walk->use = use;
    add_step(walk, &(struct step){(uint32_t)file, name, false});
    answer = run(walk);
    free(walk);
    return answer;
}

struct vcm_naming_answer vcm_exports_find(struct vcm_naming *lookup, size_t from,
                                          struct vcm_slice target, struct vcm_slice name,
                                          const struct vcm_naming_use *use)
{
    const struct vcm_symbol_import import = {.target = target, .alias = name, .parts = true};
    struct walk *walk = calloc(1, sizeof *walk);
    struct vcm_naming_answer answer = {.settled = true};

    if (!walk)
        return answer;
    walk->lookup = lookup;
    walk->use = use;
    follow(walk, &(struct step){(uint32_t)from, name, false}, &import, name);
    answer = run(walk);
    free(walk);
    answer.settled = true;
    return answer;
}

struct vcm_naming_answer vcm_exports_find_imported(struct vcm_naming *lookup,
                                                   const struct vcm_naming_use *use)
{
    const struct step step = {(uint32_t)use->file, use->name, true};
    struct walk *walk = calloc(1, sizeof *walk);
    struct vcm_naming_answer answer = {.settled = true};

    if (!walk)
        return answer;
    walk->lookup = lookup;
    walk->use = use;
    for (uint32_t i = 0; i < use->symbols->import_count; i++)
        take_import(walk, &step, &use->symbols->imports[i]);
    answer = run(walk);
    free(walk);
    return answer;
}
