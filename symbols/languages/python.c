#include "symbols/languages/embed.h"
#include "symbols/languages/import_text.h"
#include "symbols/qualifier.h"
#include "symbols/snippet.h"

#include "base/banned.h"

VCM_EMBED_QUERY(vcm_python_query, "python.scm");
extern const struct TSLanguage *tree_sitter_python(void);

/* The names of "from m import a, b", up to the end of the line or the bracket. What holds another
 * import is broken, and would be kept once for each. */
static bool put_names_behind(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                             struct vcm_slice text, size_t at)
{
    static const char word[] = "import";
    const size_t len = sizeof word - 1;

    at = vcm_import_text_skip(text, at, " \t");
    if (text.len - at <= len || memcmp(text.data + at, word, len) != 0 ||
        vcm_snippet_is_word(text.data[at + len], language->qualifiers.name_mark))
        return false;
    size_t names = vcm_import_text_skip(text, at + len, " \t");
    size_t left = text.len - names < VCM_IMPORT_TEXT_MAX ? text.len - names : VCM_IMPORT_TEXT_MAX;
    bool bracket = left > 0 && text.data[names] == '(';
    const char *end = memchr(text.data + names, bracket ? ')' : '\n', left);
    while (end && !bracket && end > text.data + names && end[-1] == '\\')
        end = memchr(end + 1, '\n', left - (size_t)(end + 1 - (text.data + names)));
    size_t stop = end ? (size_t)(end - text.data) : names + left;
    if ((end || stop == text.len) && !memmem(text.data + names, stop - names, "import ", len + 1))
        vcm_import_text_put_names(out, language, text, names, stop, NULL);
    else
        vcm_buf_append_byte(out, '-');
    return true;
}

static bool read_names(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                       struct vcm_slice text, size_t start, size_t end)
{
    (void)start;
    if (put_names_behind(out, language, text, end))
        return true;
    vcm_buf_append_slice(out, vcm_import_text_word_behind(language, text, end, "as "));
    return false;
}

static bool has_underscore(const struct vcm_symbol *symbol, bool in_type)
{
    const struct vcm_slice name = symbol->name;
    bool is_special =
        name.len > 4 && vcm_snippet_begins(name, "__") && vcm_snippet_ends(name, "__");

    (void)in_type;
    return vcm_snippet_begins(name, "_") && !is_special;
}

const struct vcm_language_descriptor vcm_python_language = {
    .name = "python",
    .endings = {"py", "pyi"},
    .grammar = tree_sitter_python,
    .queries = {vcm_python_query},
    .comments = {.line = "#", .begin_bodies = true},
    .head = {.hash_comments = true},
    .qualifiers = {.self = {"self", "cls"}, .super = "super"},
    .imports = {.read_names = read_names,
                .finder = VCM_LANGUAGES_FIND_PYTHON,
                .exports = VCM_LANGUAGES_EXPORTS_ALL,
                .submodules = true},
    .names = {.reach = VCM_LANGUAGES_REACH_FILE,
              .call = VCM_LANGUAGES_CALL_MAKES,
              .members_qualified = true,
              .closed = true,
              .overloads = true,
              .merges = true},
    .definitions = {.first_assignment = true, .self_fields = true, .class_values_stay = true},
    .visibility = {.hides = has_underscore},
    .lines = {.strings = {"\"\"\"", "'''"}},
};
