#include "symbols/languages/language.h"

#include <assert.h>

#include "base/path.h"

static const struct vcm_language_descriptor none = {
    .name = "",
    .comments = {VCM_LANGUAGES_SLASH_COMMENTS},
};

static const struct vcm_language_descriptor *const table[VCM_LANGUAGES_COUNT] = {
    &none,
#define LANGUAGE(upper, descriptor, grammar) [VCM_LANGUAGE_##upper] = &(descriptor),
#include "symbols/languages/languages.def"
#undef LANGUAGE
};

#include "base/banned.h"

const struct vcm_language_descriptor *vcm_language_get(enum vcm_language language)
{
    return (unsigned)language < VCM_LANGUAGES_COUNT ? table[language] : &none;
}

const char *vcm_language_name(enum vcm_language language)
{
    return vcm_language_get(language)->name;
}

bool vcm_language_is_known(enum vcm_language language)
{
    return vcm_language_get(language) != &none;
}

enum vcm_language_level vcm_language_level(enum vcm_language language)
{
    if (!vcm_language_is_known(language))
        return VCM_LANGUAGES_ABSENT;
    return vcm_language_ctags_name(language) ? VCM_LANGUAGES_DEFINITIONS : VCM_LANGUAGES_FULL;
}

const char *vcm_language_ctags_name(enum vcm_language language)
{
    return vcm_language_get(language)->ctags_name;
}

const char *vcm_language_source(enum vcm_language language)
{
    return vcm_language_ctags_name(language) ? "ctags" : "tree-sitter";
}

bool vcm_language_are_kin(enum vcm_language a, enum vcm_language b)
{
    assert((unsigned)a < VCM_LANGUAGES_COUNT && (unsigned)b < VCM_LANGUAGES_COUNT);
    return a == b ||
           (table[a]->family != VCM_LANGUAGE_NONE && table[a]->family == table[b]->family);
}

static bool is_among(struct vcm_slice word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count && words[i]; i++)
        if (vcm_slice_equal(word, vcm_slice_of_string(words[i])))
            return true;
    return false;
}

enum vcm_language vcm_language_of_path(struct vcm_slice path)
{
    struct vcm_slice name = vcm_path_base_name(path), ending = vcm_slice_of("", 0);
    const char *dot = name.len > 0 ? memrchr(name.data, '.', name.len) : NULL;

    if (dot && dot > name.data)
        ending = vcm_slice_of(dot + 1, name.len - (size_t)(dot + 1 - name.data));
    for (unsigned i = 1; i < VCM_LANGUAGES_COUNT; i++)
        if (is_among(ending, table[i]->endings, VCM_LANGUAGES_ENDINGS_MAX) ||
            is_among(name, table[i]->file_names, 3))
            return (enum vcm_language)i;
    return VCM_LANGUAGE_NONE;
}
