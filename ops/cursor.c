#include "ops/cursor.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"

#include "base/banned.h"

#define CURSOR_BYTES_MAX ((size_t)128 * VCM_KIB) /* as an argument of a program may be */
#define NUMBER_BYTES     24u

static size_t count_of(const char *const *names)
{
    size_t count = 0;

    while (count < VCM_ANSWER_KEYS_MAX && names[count])
        count++;
    return count;
}

/* The text of a member of a key: NULL for null. `number` holds that of an integer. */
static const char *text_of(char number[NUMBER_BYTES], const struct vcm_json *value)
{
    if (value && value->kind == VCM_JSON_STRING)
        return value->text.data;
    if (!value || value->kind != VCM_JSON_INT)
        return NULL;
    snprintf(number, NUMBER_BYTES, "%lld", (long long)value->integer);
    return number;
}

static bool is_plain(char c)
{
    return isalnum((unsigned char)c) || (c != '\0' && strchr("/._-@", c));
}

static void append_escaped(struct vcm_buf *out, const char *text)
{
    for (; text && *text != '\0'; text++) {
        if (is_plain(*text))
            vcm_buf_append_byte(out, *text);
        else
            vcm_buf_append_format(out, "%%%02X", (unsigned char)*text);
    }
    if (!text)
        vcm_buf_append_byte(out, '~');
}

void vcm_cursor_append(struct vcm_buf *out, uint64_t before, uint64_t alike,
                       const char *const *names, const struct vcm_json *row)
{
    char number[NUMBER_BYTES];

    vcm_buf_append_format(out, "%llu", (unsigned long long)before);
    if (alike > 0)
        vcm_buf_append_format(out, "+%llu", (unsigned long long)alike);
    for (size_t i = 0; i < count_of(names); i++) {
        vcm_buf_append_byte(out, i == 0 ? ':' : ',');
        append_escaped(out, text_of(number, vcm_json_get(row, names[i])));
    }
}

int vcm_cursor_refuse(const char *text, struct vcm_error *err)
{
    return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                         "'%.80s' is no cursor of this listing; use the next_cursor of the answer "
                         "before",
                         text);
}

static int hex_of(char c)
{
    const char *digits = "0123456789ABCDEF", *at = c != '\0' ? strchr(digits, c) : NULL;

    return at ? (int)(at - digits) : -1;
}

/* Decodes one member of the key; false if it is malformed. */
static bool decode(char *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (is_plain(text[i])) {
            *out++ = text[i];
        } else {
            int high = text[i] == '%' && i + 2 < len ? hex_of(text[i + 1]) : -1;
            int low = high >= 0 ? hex_of(text[i + 2]) : -1;
            if (low < 0 || (high == 0 && low == 0))
                return false;
            *out++ = (char)(16 * high + low);
            i += 2;
        }
    }
    *out = '\0';
    return true;
}

/* "50" or "50+2" */
static bool parse_position(struct vcm_cursor *out, const char *text, size_t len)
{
    char digits[2 * NUMBER_BYTES];

    if (len == 0 || len >= sizeof digits)
        return false;
    memcpy(digits, text, len);
    digits[len] = '\0';
    char *plus = strchr(digits, '+');
    if (plus)
        *plus = '\0';
    return vcm_text_parse_uint(&out->before, digits) &&
           (!plus || vcm_text_parse_uint(&out->alike, plus + 1)) && out->before <= INT64_MAX &&
           out->alike <= out->before;
}

int vcm_cursor_parse(struct vcm_cursor *out, const char *text, const char *const *names,
                     struct vcm_error *err)
{
    const char *at = strchr(text, ':');
    size_t count = count_of(names);

    *out = (struct vcm_cursor){.is_set = true};
    if (!at || strlen(text) > CURSOR_BYTES_MAX || !parse_position(out, text, (size_t)(at - text)))
        return vcm_cursor_refuse(text, err);
    for (size_t i = 0; i < count; i++) {
        size_t len = strcspn(++at, ",");
        if ((at[len] == ',') != (i + 1 < count))
            return vcm_cursor_refuse(text, err);
        if (len != 1 || *at != '~') {
            out->key[i] = malloc(len + 1);
            if (!out->key[i])
                return vcm_error_memory(err);
            if (!decode(out->key[i], at, len))
                return vcm_cursor_refuse(text, err);
        }
        at += len;
    }
    return VCM_OK;
}

void vcm_cursor_release(struct vcm_cursor *cursor)
{
    for (size_t i = 0; i < VCM_ANSWER_KEYS_MAX; i++)
        free(cursor->key[i]);
    *cursor = (struct vcm_cursor){0};
}

static bool is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool vcm_cursor_names(const struct vcm_cursor *cursor, const char *const *names,
                      const struct vcm_json *row)
{
    char number[NUMBER_BYTES];

    for (size_t i = 0; i < count_of(names); i++)
        if (!is_same(cursor->key[i], text_of(number, vcm_json_get(row, names[i]))))
            return false;
    return true;
}

bool vcm_cursor_alike(const char *const *names, const struct vcm_json *a, const struct vcm_json *b)
{
    char left[NUMBER_BYTES], right[NUMBER_BYTES];

    for (size_t i = 0; i < count_of(names); i++)
        if (!is_same(text_of(left, vcm_json_get(a, names[i])),
                     text_of(right, vcm_json_get(b, names[i]))))
            return false;
    return true;
}
