#include "symbols/weave_import.h"

#include "base/limits.h"
#include "symbols/qualifier.h"
#include "symbols/snippet.h"
#include "symbols/weave_text.h"

#include "base/banned.h"

/* The target without the keyword, where the query captures a whole statement: "import a.b". */
static struct vcm_slice without_keyword(struct vcm_slice target)
{
    static const char *const keywords[] = {"import ", "using ", "export "};

    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
        size_t len = strlen(keywords[i]);
        if (target.len > len && vcm_snippet_begins(target, keywords[i]))
            return vcm_slice_of(target.data + len, target.len - len);
    }
    return target;
}

/* An import whose target, as written, is a part of the text. */
static void put_target(struct vcm_weave *weave, struct vcm_slice target, uint32_t line)
{
    struct vcm_symbol_import *import = &weave->out->imports[weave->out->import_count++];
    struct vcm_buf alias = VCM_BUF_INIT(64 * VCM_KIB);
    size_t start = (size_t)(target.data - weave->text.data);

    *import = (struct vcm_symbol_import){.line = line};
    const struct vcm_language_imports *habits = &weave->language->imports;
    import->parts = habits->read_names && habits->read_names(&alias, weave->language, weave->text,
                                                             start, start + target.len);
    /* What begins so is passed on, and is no name here. */
    bool hidden = alias.len > 0 && vcm_buf_text(&alias)[0] == '>';
    struct vcm_slice names = vcm_buf_slice(&alias);
    import->alias =
        vcm_weave_text_keep(weave, vcm_slice_of(names.data + hidden, names.len - hidden));
    import->hidden = hidden;
    import->exports = hidden || habits->exports == VCM_LANGUAGES_EXPORTS_ALL;
    while (target.len > 1 && strchr("\"'<`", target.data[0]))
        target = vcm_slice_of(target.data + 1, target.len - 1);
    while (target.len > 1 && strchr("\"'>`", target.data[target.len - 1]))
        target.len--;
    import->target = vcm_weave_text_keep(weave, target);
    vcm_buf_release(&alias);
}

static void put_use(struct vcm_weave *weave, const struct vcm_find *use)
{
    struct vcm_symbol_import *import = &weave->out->imports[weave->out->import_count++];
    struct vcm_buf target = VCM_BUF_INIT(64 * VCM_KIB), names = VCM_BUF_INIT(64 * VCM_KIB);

    *import = (struct vcm_symbol_import){.line = use->line};
    import->parts =
        weave->language->imports.read_use(&target, &names, weave->text, use->name, use->name_end);
    /* It has nothing but groups, which are found by themselves, or is nested too deep. */
    bool empty = target.len == 0 || (import->parts && names.len == 0);
    import->target = vcm_weave_text_keep_line(weave, &target);
    import->alias = vcm_weave_text_keep_line(weave, &names);
    weave->out->import_count -= empty;
    vcm_buf_release(&names);
    vcm_buf_release(&target);
}

void vcm_weave_import_put(struct vcm_weave *weave, const struct vcm_find *use)
{
    struct vcm_slice rest = vcm_slice_of(weave->text.data + use->name, use->name_end - use->name),
                     one;

    if (weave->language->imports.read_use) {
        put_use(weave, use);
        return;
    }
    if (!weave->language->imports.lists) {
        put_target(weave, without_keyword(rest), use->line);
        return;
    }
    rest = without_keyword(rest);
    while (vcm_qualifier_next_import(&one, &rest))
        put_target(weave, vcm_qualifier_target(one), use->line);
}

void vcm_weave_import_put_given(struct vcm_weave *weave)
{
    static const char *const words[] = {
        [VCM_MANNER_DEFAULT] = VCM_SYMBOL_DEFAULT, [VCM_MANNER_WHOLE] = VCM_SYMBOL_WHOLE};
    struct vcm_buf alias = VCM_BUF_INIT(64 * VCM_KIB);

    for (size_t i = 0; i < weave->passed.count; i++) {
        const struct vcm_find *given = &weave->passed.items[i];
        if (given->role != VCM_ROLE_GIVE)
            continue;
        struct vcm_slice name = vcm_weave_text_at(weave, given->name, given->name_end), here = name;
        if (given->detail == VCM_MANNER_DEFAULT || given->detail == VCM_MANNER_WHOLE)
            here = vcm_slice_of_string(words[given->detail]);
        else if (given->holder_end > 0)
            name = vcm_weave_text_at(weave, given->holder, given->holder_end);
        vcm_snippet_put_name(&alias, name, here);
        weave->out->imports[weave->out->import_count++] = (struct vcm_symbol_import){
            .target = vcm_slice_of("", 0),
            .alias = vcm_weave_text_keep_line(weave, &alias),
            .line = given->line,
            .parts = true,
            .exports = true,
            .hidden = true,
        };
    }
    vcm_buf_release(&alias);
}

size_t vcm_weave_import_count(const struct vcm_weave *weave)
{
    size_t count = weave->passed.count;

    for (size_t i = 0; i < weave->uses.count; i++) {
        const struct vcm_find *use = &weave->uses.items[i];
        if (use->role != VCM_ROLE_IMPORT)
            continue;
        count++;
        for (uint32_t at = use->name; weave->language->imports.lists && at < use->name_end; at++)
            count += weave->text.data[at] == ',';
    }
    return count;
}
