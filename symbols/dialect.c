#include "symbols/dialect.h"

#include "symbols/qualifier.h"
#include "symbols/weave_finds.h"

#include "base/banned.h"

/* The definitions of one declaration from `first` on begin where their head does. */
static void take_head(struct vcm_finds *blocks, size_t first, const struct vcm_find *head)
{
    const struct vcm_find block = blocks->items[first];

    for (size_t i = first;
         i < blocks->count && vcm_weave_finds_have_same_span(&block, &blocks->items[i]); i++) {
        blocks->items[i].start = head->start;
        blocks->items[i].line = head->line;
    }
}

void vcm_dialect_join_heads(struct vcm_finds *blocks)
{
    struct vcm_find head = {.role = VCM_ROLE_NONE}; /* of the last find that was kept */
    size_t kept = blocks->count;

    /* A head may have a head: each definition inside is moved only once. */
    for (size_t i = blocks->count; i > 0; i--) {
        struct vcm_find block = blocks->items[i - 1];
        const struct vcm_find *next = head.role == VCM_ROLE_HEAD ? &head
                                      : kept < blocks->count     ? &blocks->items[kept]
                                                                 : NULL;
        if (block.role == VCM_ROLE_HEAD && next && next->start < block.end &&
            blocks->items[kept].role == VCM_ROLE_DEFINE) {
            head = block;
            continue;
        }
        if (head.role == VCM_ROLE_HEAD)
            take_head(blocks, kept, &head);
        head.role = VCM_ROLE_NONE;
        if (block.role == VCM_ROLE_HEAD)
            block.role = VCM_ROLE_REGION;
        blocks->items[--kept] = block;
    }
    if (head.role == VCM_ROLE_HEAD)
        take_head(blocks, kept, &head);
    blocks->count -= kept;
    if (kept > 0)
        memmove(blocks->items, blocks->items + kept, blocks->count * sizeof *blocks->items);
}

void vcm_dialect_put_container(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                               struct vcm_slice container)
{
    unsigned depth = 0;

    if (!language->definitions.template_containers) {
        vcm_buf_append_slice(out, container);
        return;
    }
    for (size_t i = 0; i < container.len; i++) {
        char c = container.data[i];
        bool scope = c == ':' && i + 1 < container.len && container.data[i + 1] == ':';
        depth += c == '<';
        if (depth == 0 && (scope || !strchr(": \t\r\n", c)))
            vcm_buf_append_byte(out, scope ? '.' : c);
        depth -= c == '>' && depth > 0;
    }
}

bool vcm_dialect_is_constructor(const struct vcm_language_descriptor *language,
                                const struct vcm_find *found, struct vcm_slice name,
                                struct vcm_slice type)
{
    const char *arguments = type.len > 0 ? memchr(type.data, '<', type.len) : NULL;

    if (!language->definitions.named_constructors ||
        (found->detail != VCM_SYMBOL_FUNCTION && found->detail != VCM_SYMBOL_METHOD))
        return false;
    if (arguments)
        type.len = (size_t)(arguments - type.data);
    return type.len > 0 && vcm_slice_equal(vcm_qualifier_pop(&type), name);
}

bool vcm_dialect_is_keyword(const struct vcm_language_descriptor *language, struct vcm_slice name,
                            enum vcm_symbol_use use)
{
    const struct vcm_language_definitions *habits = &language->definitions;

    for (size_t i = 0; habits->keywords && habits->keywords[i]; i++)
        if (name.data[0] == habits->keywords[i][0] &&
            vcm_slice_equal(name, vcm_slice_of_string(habits->keywords[i])))
            return true;
    if (habits->self_type && use == VCM_SYMBOL_READ &&
        vcm_slice_equal(name, vcm_slice_of("Self", 4)))
        return true;
    return habits->blank && vcm_slice_equal(name, vcm_slice_of("_", 1));
}

bool vcm_dialect_is_implied(const struct vcm_language_descriptor *language, struct vcm_slice name,
                            bool in_field)
{
    const struct vcm_language_implied *implied = language->definitions.implied;

    if (language->definitions.numbered_arguments && name.len > 1 && name.data[0] == '$' &&
        name.data[1] >= '0' && name.data[1] <= '9')
        return true;
    for (; implied && implied->name; implied++)
        if (vcm_slice_equal(name, vcm_slice_of_string(implied->name)) &&
            (!implied->in_field || in_field))
            return true;
    return false;
}
