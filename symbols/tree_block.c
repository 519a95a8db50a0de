#include "symbols/tree_block.h"

#include <ctype.h>

#include "base/banned.h"

#define LAST_DEPTH_MAX  64u
#define LAST_LOOKED_MAX 16u

/* For grammars without a field for bodies: one of the last children. */
static TSNode find_body(TSNode node)
{
    static const char *const bodies[] = {"class_body", "enum_class_body", "function_body",
                                         "block",      "getter",          "setter"};
    uint32_t count = ts_node_named_child_count(node);

    for (uint32_t i = count > 3 ? count - 3 : 0; i < count; i++) {
        TSNode child = ts_node_named_child(node, i);
        for (size_t j = 0; j < sizeof bodies / sizeof bodies[0]; j++)
            if (strcmp(ts_node_type(child), bodies[j]) == 0)
                return child;
    }
    return (TSNode){.id = NULL};
}

/* The last child that is more than a mark or a comment; without an id when there is none. */
static TSNode last_child(TSNode node)
{
    uint32_t count = ts_node_child_count(node);

    for (uint32_t i = count; i > 0 && count - i < LAST_LOOKED_MAX; i--) {
        TSNode child = ts_node_child(node, i - 1);
        if (!ts_node_is_extra(child) && ts_node_end_byte(child) > ts_node_start_byte(child))
            return child;
    }
    return (TSNode){.id = NULL};
}

/* The last leaf of a node that is no comment. */
static TSNode end_of(TSNode node)
{
    TSNode last = node;

    for (unsigned depth = 0; depth < LAST_DEPTH_MAX && last.id; depth++) {
        node = last;
        last = last_child(node);
    }
    return node;
}

void vcm_tree_block_read(struct vcm_find *found, TSNode node,
                         const struct vcm_language_descriptor *language)
{
    TSNode body = language->tree.body == VCM_LANGUAGES_BODY_LAST
                      ? find_body(node)
                      : ts_node_child_by_field_name(node, "body", 4);

    found->start = ts_node_start_byte(node);
    found->end = ts_node_end_byte(node);
    if (ts_node_is_null(body) &&
        !ts_node_is_null(ts_node_child_by_field_name(node, "parameters", 10)))
        body = ts_node_child_by_field_name(node, "value", 5); /* of a macro with parameters */
    found->body = ts_node_is_null(body) ? found->end : ts_node_start_byte(body);
    found->line = ts_node_start_point(node).row + 1;
    /* "namespace A;" applies to everything after it. */
    if (strcmp(ts_node_type(node), "file_scoped_namespace_declaration") == 0) {
        node = ts_node_parent(node);
        found->end = ts_node_end_byte(node);
    }
    if (language->tree.trailing_comments)
        node = end_of(node);
    found->end_line = ts_node_end_point(node).row + 1;
    /* A node that includes the line's end ends in the line before. */
    if (ts_node_end_point(node).column == 0 && found->end_line > found->line)
        found->end_line--;
}

/* For grammars without fields: the body of a function is the child behind its head. */
static void set_body_behind(struct vcm_find *found, TSNode node)
{
    const bool is_value = strcmp(ts_node_type(node), "assignment") == 0;
    const uint32_t count = ts_node_named_child_count(node), place = is_value ? count - 1 : 1;

    if ((found->detail == VCM_SYMBOL_FUNCTION || found->detail == VCM_SYMBOL_CONSTRUCTOR ||
         found->detail == VCM_SYMBOL_MACRO) &&
        count > 1)
        found->body = ts_node_start_byte(ts_node_named_child(node, place));
}

/* Moves `at` before the word that ends there, and the blanks before that, if it is one of these. */
static bool step_over(uint32_t *at, const char *text, const char *const *words)
{
    uint32_t end = *at, start;

    while (end > 0 && isspace((unsigned char)text[end - 1]))
        end--;
    for (start = end; start > 0 && isalnum((unsigned char)text[start - 1]) && end - start < 8;)
        start--;
    for (; *words; words++)
        if (strlen(*words) == end - start && memcmp(text + start, *words, end - start) == 0) {
            *at = start;
            return true;
        }
    return false;
}

/* Keywords come before the node of what they bind: "let rec", "type", "and". They are siblings, and
 * stepping back to them is slow where there are many. */
static void take_words_before(struct vcm_find *found, TSNode node, const char *text)
{
    static const char *const more[] = {"rec", "nonrec", NULL}, *const class[] = {"class", NULL};
    static const char *const first[] = {"let", "and", "type", "module", "class", NULL};
    size_t len = strlen(ts_node_type(node)), end = sizeof "_binding" - 1;
    const uint32_t start = found->start;

    if (len < end || strcmp(ts_node_type(node) + len - end, "_binding") != 0)
        return;
    step_over(&found->start, text, more);
    if (step_over(&found->start, text, first) && text[found->start] == 't')
        step_over(&found->start, text, class);
    for (uint32_t at = found->start; at < start; at++)
        found->line -= text[at] == '\n';
}

void vcm_tree_block_adapt(struct vcm_find *found, TSNode node, const struct vcm_weave *weave)
{
    if (weave->language->tree.body == VCM_LANGUAGES_BODY_BEHIND_HEAD)
        set_body_behind(found, node);
    if (weave->language->tree.words_before)
        take_words_before(found, node, weave->text.data);
}
