#include <ctype.h>
#include <stdio.h>

#include "symbols/languages/embed.h"
#include "symbols/languages/language.h"
#include "symbols/snippet.h"

#include "base/banned.h"

VCM_EMBED_QUERY(vcm_go_query, "go.scm");
extern const struct TSLanguage *tree_sitter_go(void);

/* The name before the path, "." of a package whose names are taken without it. */
static bool read_names(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                       struct vcm_slice text, size_t start, size_t end)
{
    (void)end;
    for (; start > 0 && strchr("\"` ", text.data[start - 1]);)
        start--;
    if (start > 0 && text.data[start - 1] == '.') {
        vcm_buf_append_byte(out, '.');
        return false;
    }
    size_t first = vcm_snippet_word_start(text, start, language->qualifiers.name_mark);
    struct vcm_slice word = vcm_slice_of(text.data + first, start - first);
    if (!vcm_slice_equal(word, vcm_slice_of_string("import")))
        vcm_buf_append_slice(out, word);
    return false;
}

static bool brings_name(const struct vcm_symbol_import *import, struct vcm_slice name)
{
    (void)name;
    return vcm_slice_equal(import->alias, vcm_slice_of(".", 1));
}

/* Not of a package of the language. */
static bool means_file(struct vcm_slice target, const struct vcm_language_place *place)
{
    static const char packages[] =
        " archive bufio bytes cmp compress container context crypto database debug embed encoding "
        "errors expvar flag fmt go hash html image index io iter log maps math mime net os path "
        "plugin reflect regexp runtime slices sort strconv strings structs sync syscall testing "
        "text time unicode unique unsafe ";
    const char *slash = memchr(target.data, '/', target.len);
    char word[16];
    size_t len = slash ? (size_t)(slash - target.data) : target.len;

    (void)place;
    if (len + 3 > sizeof word)
        return true;
    snprintf(word, sizeof word, " %.*s ", (int)len, target.data);
    return strstr(packages, word) == NULL;
}

/* Lower-case letters of other scripts are rare enough. */
static bool is_lower(const struct vcm_symbol *symbol, bool in_type)
{
    (void)in_type;
    return symbol->name.len > 0 &&
           (islower((unsigned char)symbol->name.data[0]) || symbol->name.data[0] == '_');
}

const struct vcm_language_descriptor vcm_go_language = {
    .name = "go",
    .endings = {"go"},
    .grammar = tree_sitter_go,
    .queries = {vcm_go_query},
    .comments = {VCM_LANGUAGES_SLASH_COMMENTS},
    .qualifiers = {.receivers = true},
    .imports = {.read_names = read_names,
                .path = VCM_LANGUAGES_PATH_WRITTEN,
                .finder = VCM_LANGUAGES_FIND_GO,
                .directories = true,
                .means_file = means_file,
                .last_word = true,
                .brings_name = brings_name},
    .names = {.reach = VCM_LANGUAGES_REACH_DIRECTORY,
              .members_qualified = true,
              .closed = true,
              .spread_types = true,
              .types_apart = true},
    .definitions = {.blank = true},
    .visibility = {.hides = is_lower},
    .lines = {.strings = {"`"}},
};
