#include "kb/query.h"

#include "base/utf8.h"

#include "base/banned.h"

static bool has_word(struct vcm_slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        if (byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
            (byte >= 'a' && byte <= 'z'))
            return true;
    }
    return false;
}

/* Adds a term unless it has no word or is a duplicate. */
static void add_term(struct vcm_query *query, struct vcm_slice text, bool is_prefix)
{
    if (!has_word(text) || query->count == VCM_QUERY_TERMS_MAX)
        return;
    for (unsigned i = 0; i < query->count; i++) {
        if (vcm_slice_equal(query->terms[i].text, text) && query->terms[i].is_prefix == is_prefix)
            return;
    }
    query->terms[query->count++] = (struct vcm_query_term){text, is_prefix};
}

/* The length of the last word, to which a star applies. */
static size_t last_word_length(struct vcm_slice text)
{
    size_t begin = text.len;

    while (begin > 0 && has_word(vcm_slice_of(text.data + begin - 1, 1)))
        begin--;
    return text.len - begin;
}

/* Converts the text to UTF-8, with spaces for control characters, up to the maximum length. */
static void take_text(struct vcm_query *query, struct vcm_slice text)
{
    if (text.len > VCM_QUERY_BYTES_MAX)
        text.len = VCM_QUERY_BYTES_MAX;
    vcm_utf8_replace(&query->text, text);
    for (size_t i = 0; i < query->text.len; i++) {
        unsigned char byte = (unsigned char)query->text.data[i];
        if (byte < 0x20 || byte == 0x7f)
            query->text.data[i] = ' ';
    }
}

int vcm_query_init(struct vcm_query *query, struct vcm_slice text, struct vcm_error *err)
{
    *query = (struct vcm_query){.count = 0};
    vcm_buf_init(&query->text, 4 * VCM_QUERY_BYTES_MAX);
    take_text(query, text);
    const char *at = vcm_buf_text(&query->text);
    while (*at != '\0') {
        bool quoted = *at == '"';
        const char *begin = quoted ? at + 1 : at;
        size_t len = strcspn(begin, quoted ? "\"" : " \"");
        const char *end = begin + len;
        at = quoted && *end == '"' ? end + 1 : end;
        bool is_prefix = quoted ? *at == '*' : len > 1 && end[-1] == '*';
        if (!quoted && is_prefix)
            len--;
        struct vcm_slice term = vcm_slice_of(begin, len);
        add_term(query, term, is_prefix && last_word_length(term) >= VCM_QUERY_PREFIX_MIN);
        at += !quoted && len == 0 && *at == ' ' ? 1 : 0;
        at += quoted && is_prefix ? 1 : 0;
    }
    return vcm_buf_check(&query->text, "the query", err);
}

void vcm_query_release(struct vcm_query *query)
{
    vcm_buf_release(&query->text);
}

void vcm_query_quote(struct vcm_buf *out, const struct vcm_query_term *term)
{
    vcm_buf_append_byte(out, '"');
    for (size_t i = 0; i < term->text.len; i++) {
        if (term->text.data[i] == '"')
            vcm_buf_append_byte(out, '"');
        vcm_buf_append_byte(out, term->text.data[i]);
    }
    vcm_buf_append_string(out, term->is_prefix ? "\"*" : "\"");
}
