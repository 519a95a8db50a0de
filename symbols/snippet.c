#include "symbols/snippet.h"

#include "base/banned.h"

bool vcm_snippet_begins(struct vcm_slice text, const char *with)
{
    size_t len = strlen(with);

    return text.len >= len && memcmp(text.data, with, len) == 0;
}

bool vcm_snippet_ends(struct vcm_slice text, const char *with)
{
    size_t len = strlen(with);

    return text.len >= len && memcmp(text.data + text.len - len, with, len) == 0;
}

size_t vcm_snippet_word_start(struct vcm_slice text, size_t end, char mark)
{
    while (end > 0 && vcm_snippet_is_word(text.data[end - 1], mark))
        end--;
    return end;
}

bool vcm_snippet_ends_at(struct vcm_slice text, size_t at, const char *with)
{
    return vcm_snippet_ends(vcm_slice_of(text.data, at), with);
}

static bool shows_nothing(char c)
{
    return vcm_snippet_is_blank(c) || c == '\f' || c == '\v' || c == '\0';
}

struct vcm_slice vcm_snippet_trim(struct vcm_slice text)
{
    while (text.len > 0 && shows_nothing(text.data[0]))
        text = vcm_slice_of(text.data + 1, text.len - 1);
    while (text.len > 0 && shows_nothing(text.data[text.len - 1]))
        text.len--;
    return text;
}

struct vcm_slice vcm_snippet_first(struct vcm_slice text, size_t bytes_max)
{
    return vcm_slice_of(text.data, text.len < bytes_max ? text.len : bytes_max);
}

void vcm_snippet_put_name(struct vcm_buf *out, struct vcm_slice name, struct vcm_slice here)
{
    if (name.len == 0)
        return;
    if (out->len > 0)
        vcm_buf_append_string(out, ", ");
    vcm_buf_append_slice(out, name);
    if (here.len > 0)
        vcm_buf_append_string(out, " as ");
    vcm_buf_append_slice(out, here);
}
