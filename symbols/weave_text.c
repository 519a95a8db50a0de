#include "symbols/weave_text.h"

#include "base/banned.h"

struct vcm_slice vcm_weave_text_keep(struct vcm_weave *weave, struct vcm_slice text)
{
    const char *copy = vcm_arena_copy(&weave->out->arena, text);

    weave->no_memory = weave->no_memory || !copy;
    return vcm_slice_of(copy ? copy : "", copy ? text.len : 0);
}

struct vcm_slice vcm_weave_text_keep_line(struct vcm_weave *weave, struct vcm_buf *line)
{
    struct vcm_slice kept = vcm_weave_text_keep(weave, vcm_buf_slice(line));

    weave->no_memory = weave->no_memory || line->fault == VCM_BUF_NO_MEMORY;
    vcm_buf_clear(line);
    return kept;
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

struct vcm_slice vcm_weave_text_opening_word(const struct vcm_weave *weave,
                                             const struct vcm_find *found)
{
    size_t start = found->statement > 0 ? found->statement - 1 : found->start, end = start;

    while (found->statement > 0 && end < found->start && is_lower(weave->text.data[end]))
        end++;
    return vcm_slice_of(weave->text.data + start, end - start);
}

/* A comment between head and body may be in no node of its own. */
uint32_t vcm_weave_text_head_end(const struct vcm_weave *weave, const struct vcm_find *found)
{
    const char *start = weave->text.data + found->start;
    const char *comment = weave->language->head.dash_comment && found->body < found->end
                              ? memmem(start, found->body - found->start, "--", 2)
                              : NULL;

    return comment ? (uint32_t)(comment - weave->text.data) : found->body;
}

bool vcm_weave_text_is_no_name(const struct vcm_weave *weave, const struct vcm_find *use)
{
    const char *text = weave->text.data;
    const struct vcm_slice name = vcm_slice_of(text + use->name, use->name_end - use->name);
    bool tag = use->detail == VCM_SYMBOL_INSTANTIATE &&
               weave->language->definitions.document_tags && use->name > 0 &&
               text[use->name - 1] == '<' && is_lower(text[use->name]);
    bool self = use->detail == VCM_SYMBOL_READ && weave->language->definitions.self_object &&
                vcm_slice_equal(name, vcm_slice_of("self", 4));

    return tag || self;
}
