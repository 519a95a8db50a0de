#include "base/buf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/banned.h"

void vcm_buf_init(struct vcm_buf *buf, size_t max)
{
    memset(buf, 0, sizeof *buf);
    buf->max = max;
}

void vcm_buf_release(struct vcm_buf *buf)
{
    if (!buf)
        return;
    free(buf->data);
    vcm_buf_init(buf, buf->max);
}

void vcm_buf_clear(struct vcm_buf *buf)
{
    buf->fault = VCM_BUF_FINE;
    vcm_buf_truncate(buf, 0);
}

static bool grow(struct vcm_buf *buf, size_t len)
{
    if (buf->fault != VCM_BUF_FINE)
        return false;
    if (len > buf->max || buf->len > buf->max - len) {
        buf->fault = VCM_BUF_TOO_LARGE;
        return false;
    }
    size_t need = buf->len + len + 1;
    if (need <= buf->capacity)
        return true;

    size_t capacity = buf->capacity ? buf->capacity : 64;
    while (capacity < need)
        capacity += capacity / 2 + 64;
    char *data = realloc(buf->data, capacity);
    if (!data) {
        buf->fault = VCM_BUF_NO_MEMORY;
        return false;
    }
    buf->data = data;
    buf->capacity = capacity;
    return true;
}

char *vcm_buf_reserve(struct vcm_buf *buf, size_t len)
{
    return grow(buf, len) ? buf->data + buf->len : NULL;
}

void vcm_buf_advance(struct vcm_buf *buf, size_t len)
{
    assert(buf->len + len < buf->capacity);
    buf->len += len;
    buf->data[buf->len] = '\0';
}

void vcm_buf_append(struct vcm_buf *buf, const void *data, size_t len)
{
    if (len == 0 || !grow(buf, len))
        return;
    memcpy(buf->data + buf->len, data, len);
    vcm_buf_advance(buf, len);
}

void vcm_buf_append_string(struct vcm_buf *buf, const char *text)
{
    vcm_buf_append(buf, text, strlen(text));
}

void vcm_buf_append_slice(struct vcm_buf *buf, struct vcm_slice slice)
{
    vcm_buf_append(buf, slice.data, slice.len);
}

void vcm_buf_append_byte(struct vcm_buf *buf, char byte)
{
    if (!grow(buf, 1))
        return;
    buf->data[buf->len] = byte;
    vcm_buf_advance(buf, 1);
}

void vcm_buf_append_format_list(struct vcm_buf *buf, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    if (len >= 0 && grow(buf, (size_t)len)) {
        vsnprintf(buf->data + buf->len, (size_t)len + 1, format, again);
        vcm_buf_advance(buf, (size_t)len);
    }
    va_end(again);
}

void vcm_buf_append_format(struct vcm_buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vcm_buf_append_format_list(buf, format, args);
    va_end(args);
}

void vcm_buf_truncate(struct vcm_buf *buf, size_t len)
{
    if (len >= buf->len)
        return;
    buf->len = len;
    buf->data[len] = '\0';
}

const char *vcm_buf_text(const struct vcm_buf *buf)
{
    return buf->data ? buf->data : "";
}

struct vcm_slice vcm_buf_slice(const struct vcm_buf *buf)
{
    return vcm_slice_of(vcm_buf_text(buf), buf->len);
}

int vcm_buf_check(const struct vcm_buf *buf, const char *what, struct vcm_error *err)
{
    switch (buf->fault) {
    case VCM_BUF_FINE:
        return VCM_OK;
    case VCM_BUF_NO_MEMORY:
        return vcm_error_memory(err);
    case VCM_BUF_TOO_LARGE:
        break;
    }
    return vcm_error_set(err, VCM_UNSUPPORTED, "%s is larger than %zu bytes", what, buf->max);
}

char *vcm_buf_detach(struct vcm_buf *buf)
{
    char *data = buf->data;
    vcm_buf_init(buf, buf->max);
    return data;
}
