#include "base/jsonw.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/utf8.h"

#include "base/banned.h"

#define DIGITS_MAX     17 /* of any double */
#define PIECE_BYTES    1024u
#define FIXED_EXPONENT 21 /* from here on ECMAScript writes an exponent */

void vcm_jsonw_init(struct vcm_jsonw *w, struct vcm_buf *out)
{
    memset(w, 0, sizeof *w);
    w->out = out;
}

void vcm_jsonw_set_drain(struct vcm_jsonw *w, vcm_jsonw_drain_fn drain, void *context)
{
    w->drain = drain;
    w->drain_context = context;
}

/* A buffer with a fault is not drained: its content is not the document any more. */
static void drain(struct vcm_jsonw *w)
{
    if (w->out->fault != VCM_BUF_FINE || w->out->len == 0)
        return;
    if (w->drain_rc == VCM_OK)
        w->drain_rc = w->drain(w->drain_context, w->out->data, w->out->len, &w->drain_error);
    vcm_buf_truncate(w->out, 0);
}

static void begin_value(struct vcm_jsonw *w)
{
    if (w->after_key) {
        w->after_key = false;
        return;
    }
    if (w->depth == 0 || w->depth > VCM_LIMIT_JSON_DEPTH)
        return;
    if (w->has_members[w->depth - 1])
        vcm_buf_append_byte(w->out, ',');
    w->has_members[w->depth - 1] = true;
}

static void end_value(struct vcm_jsonw *w)
{
    if (w->drain && w->out->len > VCM_JSONW_DRAIN_BYTES)
        drain(w);
}

/* The depth of a document may depend on outside data: too deep is an error, not a bug. */
static void begin_container(struct vcm_jsonw *w, char bracket)
{
    begin_value(w);
    if (w->depth >= VCM_LIMIT_JSON_DEPTH && w->out->fault == VCM_BUF_FINE)
        w->out->fault = VCM_BUF_TOO_LARGE;
    if (w->depth < VCM_LIMIT_JSON_DEPTH)
        w->has_members[w->depth] = false;
    w->depth++;
    vcm_buf_append_byte(w->out, bracket);
}

static void end_container(struct vcm_jsonw *w, char bracket)
{
    assert(w->depth > 0 && !w->after_key);
    w->depth--;
    vcm_buf_append_byte(w->out, bracket);
    end_value(w);
}

void vcm_jsonw_begin_object(struct vcm_jsonw *w)
{
    begin_container(w, '{');
}

void vcm_jsonw_end_object(struct vcm_jsonw *w)
{
    end_container(w, '}');
}

void vcm_jsonw_begin_array(struct vcm_jsonw *w)
{
    begin_container(w, '[');
}

void vcm_jsonw_end_array(struct vcm_jsonw *w)
{
    end_container(w, ']');
}

void vcm_jsonw_key(struct vcm_jsonw *w, const char *name)
{
    assert(w->depth > 0 && !w->after_key);
    begin_value(w);
    vcm_jsonw_escape(w->out, vcm_slice_of_string(name));
    vcm_buf_append_byte(w->out, ':');
    w->after_key = true;
}

void vcm_jsonw_raw(struct vcm_jsonw *w, struct vcm_slice json)
{
    begin_value(w);
    vcm_buf_append_slice(w->out, json);
    end_value(w);
}

void vcm_jsonw_string(struct vcm_jsonw *w, const char *text)
{
    if (text)
        vcm_jsonw_slice(w, vcm_slice_of_string(text));
    else
        vcm_jsonw_null(w);
}

void vcm_jsonw_slice(struct vcm_jsonw *w, struct vcm_slice text)
{
    begin_value(w);
    vcm_jsonw_escape(w->out, text);
    end_value(w);
}

void vcm_jsonw_int(struct vcm_jsonw *w, int64_t value)
{
    begin_value(w);
    vcm_buf_append_format(w->out, "%lld", (long long)value);
    end_value(w);
}

void vcm_jsonw_uint(struct vcm_jsonw *w, uint64_t value)
{
    begin_value(w);
    vcm_buf_append_format(w->out, "%llu", (unsigned long long)value);
    end_value(w);
}

void vcm_jsonw_bool(struct vcm_jsonw *w, bool value)
{
    vcm_jsonw_raw(w, vcm_slice_of_string(value ? "true" : "false"));
}

void vcm_jsonw_null(struct vcm_jsonw *w)
{
    vcm_jsonw_raw(w, vcm_slice_of_string("null"));
}

struct decimal {
    char digits[DIGITS_MAX + 1];
    unsigned count;
    int exponent; /* of the first digit */
};

/* Parses the output of printf's %e in any locale: the decimal point is any byte that is no
 * digit. */
static void read_decimal(struct decimal *d, const char *text)
{
    d->count = 0;
    for (; *text != 'e'; text++)
        if (*text >= '0' && *text <= '9' && d->count < DIGITS_MAX)
            d->digits[d->count++] = *text;
    d->digits[d->count] = '\0';
    d->exponent = (int)strtol(text + 1, NULL, 10);
}

/* Rounds up to the next decimal with the same number of digits, away from zero. */
static void step_up(struct decimal *d)
{
    for (unsigned i = d->count; i-- > 0;) {
        if (d->digits[i] != '9') {
            d->digits[i]++;
            return;
        }
        d->digits[i] = '0';
    }
    d->digits[0] = '1';
    d->exponent++;
}

static bool reads_back(const struct decimal *d, double value)
{
    char text[DIGITS_MAX + 16];
    snprintf(text, sizeof text, "%se%d", d->digits, d->exponent - (int)d->count + 1);
    return strtod(text, NULL) == value;
}

/* The fewest digits that read back as `value`, which is finite and above zero. Below a power of two
 * doubles are twice as dense: there the nearest decimal of some length may read back as another
 * double while the next one above reads back correctly. */
static void shortest(struct decimal *d, double value)
{
    int power;
    bool uneven = frexp(value, &power) == 0.5;

    for (int precision = 0; precision < DIGITS_MAX; precision++) {
        char text[64];
        snprintf(text, sizeof text, "%.*e", precision, value);
        read_decimal(d, text);
        if (reads_back(d, value))
            break;
        if (uneven) {
            step_up(d);
            if (reads_back(d, value))
                break;
        }
    }
    while (d->count > 1 && d->digits[d->count - 1] == '0')
        d->digits[--d->count] = '\0';
}

static void append_zeros(struct vcm_buf *out, int count)
{
    while (count-- > 0)
        vcm_buf_append_byte(out, '0');
}

/* Number::toString of ECMAScript; `point` is its n, `count` its k. */
static void append_decimal(struct vcm_buf *out, const struct decimal *d)
{
    int count = (int)d->count;
    int point = d->exponent + 1;

    if (point >= count && point <= FIXED_EXPONENT) {
        vcm_buf_append(out, d->digits, d->count);
        append_zeros(out, point - count);
    } else if (point > 0 && point <= FIXED_EXPONENT) {
        vcm_buf_append_format(out, "%.*s.%s", point, d->digits, d->digits + point);
    } else if (point > -6 && point <= 0) {
        vcm_buf_append_string(out, "0.");
        append_zeros(out, -point);
        vcm_buf_append(out, d->digits, d->count);
    } else {
        vcm_buf_append_byte(out, d->digits[0]);
        if (count > 1)
            vcm_buf_append_format(out, ".%s", d->digits + 1);
        vcm_buf_append_format(out, "e%+d", d->exponent);
    }
}

void vcm_jsonw_number(struct vcm_jsonw *w, double value)
{
    struct decimal d;

    if (!isfinite(value)) {
        vcm_jsonw_null(w);
        return;
    }
    begin_value(w);
    if (value < 0)
        vcm_buf_append_byte(w->out, '-');
    if (fpclassify(value) == FP_ZERO) {
        vcm_buf_append_byte(w->out, '0');
    } else {
        shortest(&d, fabs(value));
        append_decimal(w->out, &d);
    }
    end_value(w);
}

void vcm_jsonw_member_string(struct vcm_jsonw *w, const char *name, const char *text)
{
    vcm_jsonw_key(w, name);
    vcm_jsonw_string(w, text);
}

void vcm_jsonw_member_slice(struct vcm_jsonw *w, const char *name, struct vcm_slice text)
{
    vcm_jsonw_key(w, name);
    vcm_jsonw_slice(w, text);
}

void vcm_jsonw_member_int(struct vcm_jsonw *w, const char *name, int64_t value)
{
    vcm_jsonw_key(w, name);
    vcm_jsonw_int(w, value);
}

void vcm_jsonw_member_uint(struct vcm_jsonw *w, const char *name, uint64_t value)
{
    vcm_jsonw_key(w, name);
    vcm_jsonw_uint(w, value);
}

void vcm_jsonw_member_bool(struct vcm_jsonw *w, const char *name, bool value)
{
    vcm_jsonw_key(w, name);
    vcm_jsonw_bool(w, value);
}

void vcm_jsonw_member_null(struct vcm_jsonw *w, const char *name)
{
    vcm_jsonw_key(w, name);
    vcm_jsonw_null(w);
}

int vcm_jsonw_finish(struct vcm_jsonw *w, struct vcm_error *err)
{
    assert(w->depth == 0 && !w->after_key);
    int rc = vcm_buf_check(w->out, "the JSON document", err);
    if (rc != VCM_OK)
        return rc;
    if (w->drain)
        drain(w);
    if (w->drain_rc != VCM_OK && err && err->code == VCM_OK)
        *err = w->drain_error;
    return w->drain_rc;
}

static bool needs_escape(unsigned char byte)
{
    return byte < 0x20 || byte == '"' || byte == '\\';
}

static const char short_forms[0x20] = {
    ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r',
};

/* Copies the leading bytes that need no escape, perhaps with some bytes behind them, and returns
 * how many need none. */
static size_t copy_plain(char *out, const char *text, size_t len)
{
    size_t i = 0;

#ifdef __SSE2__
    for (; len - i >= 16; i += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(text + i));
        __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
        __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
        __m128i backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
        unsigned marks =
            (unsigned)_mm_movemask_epi8(_mm_or_si128(control, _mm_or_si128(quote, backslash)));
        _mm_storeu_si128((__m128i *)(void *)(out + i), bytes);
        if (marks)
            return i + (size_t)__builtin_ctz(marks);
    }
#endif
    for (; i < len && !needs_escape((unsigned char)text[i]); i++)
        out[i] = text[i];
    return i;
}

char *vcm_jsonw_escape_to(char *out, struct vcm_slice text)
{
    static const char hex[] = "0123456789abcdef";

    for (size_t at = 0; at < text.len;) {
        size_t plain = copy_plain(out, text.data + at, text.len - at);
        out += plain;
        at += plain;
        for (; at < text.len && needs_escape((unsigned char)text.data[at]); at++) {
            unsigned char byte = (unsigned char)text.data[at];
            char letter = byte < 0x20 ? short_forms[byte] : (char)byte;
            *out++ = '\\';
            *out++ = letter ? letter : 'u';
            if (!letter) {
                *out++ = '0';
                *out++ = '0';
                *out++ = hex[byte >> 4];
                *out++ = hex[byte & 15];
            }
        }
    }
    return out;
}

static void escape_valid(struct vcm_buf *out, struct vcm_slice text)
{
    char piece[VCM_JSONW_ESCAPE_BYTES(PIECE_BYTES)];

    for (size_t at = 0; at < text.len; at += PIECE_BYTES) {
        size_t len = text.len - at < PIECE_BYTES ? text.len - at : PIECE_BYTES;
        const char *end = vcm_jsonw_escape_to(piece, vcm_slice_of(text.data + at, len));
        vcm_buf_append(out, piece, (size_t)(end - piece));
    }
}

void vcm_jsonw_escape(struct vcm_buf *out, struct vcm_slice text)
{
    /* The escaped text is never shorter than the input, so this reserves nothing in vain. */
    if (!vcm_buf_reserve(out, text.len + 2))
        return;
    vcm_buf_append_byte(out, '"');
    while (text.len > 0) {
        size_t skip = vcm_utf8_valid_prefix(text);
        escape_valid(out, vcm_slice_of(text.data, skip));
        if (skip < text.len) {
            vcm_buf_append_string(out, "\xef\xbf\xbd");
            skip += vcm_utf8_invalid_prefix(vcm_slice_of(text.data + skip, text.len - skip));
        }
        text = vcm_slice_of(text.data + skip, text.len - skip);
    }
    vcm_buf_append_byte(out, '"');
}
