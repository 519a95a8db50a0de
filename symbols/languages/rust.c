#include "symbols/languages/embed.h"
#include "symbols/languages/language.h"
#include "symbols/qualifier.h"
#include "symbols/snippet.h"

#include "base/banned.h"

#define USE_DEPTH_MAX 16             /* groups in groups */
#define USE_BYTES_MAX ((size_t)4096) /* of a "use"; what is beyond is left out */

VCM_EMBED_QUERY(vcm_rust_query, "rust.scm");
extern const struct TSLanguage *tree_sitter_rust(void);

/* "a::b" before the "::" that ends at `end`; *end moves to its beginning. */
static struct vcm_slice path_before(struct vcm_slice text, size_t *end)
{
    size_t stop = *end, start;

    while (stop > 0 && (vcm_snippet_is_blank(text.data[stop - 1]) || text.data[stop - 1] == ':'))
        stop--;
    for (start = stop; start > 0 && !vcm_snippet_is_blank(text.data[start - 1]) &&
                       !strchr("{,;", text.data[start - 1]);)
        start--;
    *end = start;
    struct vcm_slice path = vcm_slice_of(text.data + start, stop - start);
    return vcm_slice_equal(path, vcm_slice_of("use", 3)) ? vcm_slice_of("", 0) : path;
}

/* The beginning of the group that `at` is in, which is a place in a "use"; 0 when it is in none,
 * and when it is not found. */
static size_t group_around(bool *found, struct vcm_slice text, size_t at)
{
    size_t depth = 0, stop = at > USE_BYTES_MAX ? at - USE_BYTES_MAX : 0;

    for (; at > stop && text.data[at - 1] != ';'; at--) {
        if (text.data[at - 1] == '{' && depth-- == 0)
            return at - 1;
        depth += text.data[at - 1] == '}';
        if (at >= 4 && depth == 0 && memcmp(text.data + at - 4, "use ", 4) == 0)
            break;
    }
    *found = at > stop || stop == 0;
    return 0;
}

/* The modules that a group is in, outermost first, and its own; nothing when there are too many. */
static void put_path(struct vcm_buf *out, struct vcm_slice text, size_t group)
{
    struct vcm_slice parts[USE_DEPTH_MAX];
    size_t count = 0;
    bool found = true;

    for (size_t at = group; at > 0; at = group_around(&found, text, at)) {
        if (count == USE_DEPTH_MAX)
            return;
        parts[count++] = path_before(text, &at);
    }
    if (!found)
        return;
    for (; count > 0; count--) {
        if (out->len > 0 && parts[count - 1].len > 0)
            vcm_buf_append_string(out, "::");
        vcm_buf_append_slice(out, parts[count - 1]);
    }
}

/* One line, since a name may go on in the next: "a as b". */
static void put_words(struct vcm_buf *out, struct vcm_slice words)
{
    for (size_t i = 0; i < words.len; i++)
        if (!vcm_snippet_is_blank(words.data[i]))
            vcm_buf_append_byte(out, words.data[i]);
        else if (!vcm_snippet_is_blank(words.data[i - 1]))
            vcm_buf_append_byte(out, ' ');
}

/* The names of a group, without those of groups in it. */
static void put_group(struct vcm_buf *out, struct vcm_slice inside)
{
    size_t depth = 0, first = 0, end = inside.len < USE_BYTES_MAX ? inside.len : USE_BYTES_MAX;
    bool plain = true;

    /* Where it is cut off there is no whole name. */
    for (size_t i = 0; i < end || i == inside.len; i++) {
        char c = i < inside.len ? inside.data[i] : ',';
        plain = plain && c != '{';
        depth += c == '{';
        depth -= c == '}' && depth > 0;
        if (c != ',' || depth > 0)
            continue;
        struct vcm_slice name = vcm_snippet_trim(vcm_slice_of(inside.data + first, i - first));
        plain = plain && name.len > 0 && !memmem(name.data, name.len, "//", 2);
        if (plain && out->len > 0)
            vcm_buf_append_string(out, ", ");
        if (plain)
            put_words(out, name);
        plain = true;
        first = i + 1;
    }
}

/* The "use" at [start, end), or the braces of a group in its group. */
static bool read_use(struct vcm_buf *target, struct vcm_buf *names, struct vcm_slice text,
                     size_t start, size_t end)
{
    struct vcm_slice whole = vcm_slice_of(text.data + start, end - start);
    const char *open = memchr(whole.data, '{', whole.len);

    if (open && whole.data[whole.len - 1] == '}') {
        put_path(target, text, (size_t)(open - text.data));
        put_group(names, vcm_slice_of(open + 1, whole.len - (size_t)(open + 1 - whole.data) - 1));
        return true;
    }
    const char *as = memmem(whole.data, whole.len, " as ", 4);
    size_t len = as ? (size_t)(as - whole.data) : whole.len;
    put_words(target, vcm_snippet_trim(vcm_slice_of(whole.data, len)));
    if (as)
        put_words(names, vcm_snippet_trim(vcm_slice_of(as + 4, whole.len - len - 4)));
    return false;
}

static struct vcm_slice last_word(struct vcm_slice path)
{
    return vcm_qualifier_pop(&path);
}

/* "use a::b::{c, d::e}" brings c and e, "use a::b::c" brings c, "use a::b::*" may bring any. */
static bool brings_name(const struct vcm_symbol_import *import, struct vcm_slice name)
{
    const struct vcm_slice all = vcm_slice_of("*", 1);
    struct vcm_slice list = import->alias, there, here;

    if (!import->parts)
        return import->alias.len == 0 && (vcm_slice_equal(last_word(import->target), name) ||
                                          vcm_slice_equal(last_word(import->target), all));
    while (vcm_qualifier_next_name(&there, &here, &list))
        if (vcm_slice_equal(here, there) &&
            (vcm_slice_equal(last_word(here), name) || vcm_slice_equal(last_word(here), all)))
            return true;
    return false;
}

/* "use a::{self, b}" gives a and a::b their names. */
static bool gives_name(bool *joined, const struct vcm_symbol_import *import, struct vcm_slice name)
{
    if (!import->parts)
        return vcm_slice_equal(import->alias.len > 0 ? import->alias : last_word(import->target),
                               name);
    *joined = vcm_qualifier_names(import->alias, name);
    return *joined || (vcm_qualifier_names(import->alias, vcm_slice_of("self", 4)) &&
                       vcm_slice_equal(last_word(import->target), name));
}

static const char *const roots[] = {"crate::", "self::", "super::", NULL};

const struct vcm_language_descriptor vcm_rust_language = {
    .name = "rust",
    .endings = {"rs"},
    .grammar = tree_sitter_rust,
    .queries = {vcm_rust_query},
    .comments = {VCM_LANGUAGES_SLASH_COMMENTS, .about_file = "//!"},
    .qualifiers = {.dot = VCM_LANGUAGES_DOT_OBJECT,
                   .scope_mark = true,
                   .module_words = true,
                   .self = {"self", "Self"}},
    .imports = {.read_use = read_use,
                .roots = roots,
                .separator = "::",
                .single_words = true,
                .modules = VCM_LANGUAGES_MODULES_BY_PATH,
                .brings_name = brings_name,
                .gives_name = gives_name},
    .names = {.reach = VCM_LANGUAGES_REACH_FILE,
              .call = VCM_LANGUAGES_CALL_MAKES,
              .members_qualified = true,
              .spread_types = true,
              .partial_paths = true},
    .definitions = {.self_type = true, .blank = true},
    .visibility = {.words = {{"pub(", VCM_SYMBOL_INTERNAL}, {"pub", VCM_SYMBOL_PUBLIC}},
                   .at_top = VCM_SYMBOL_PRIVATE,
                   .in_type = VCM_SYMBOL_PRIVATE},
    .tree = {.tuple_heads = true},
};
