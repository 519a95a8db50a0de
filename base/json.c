#include "base/json.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <sys/random.h>
#include <yajl/yajl_parse.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/utf8.h"

#include "base/banned.h"

/* Objects up to this size search duplicate keys linearly, larger ones in a table. */
#define SCAN_MEMBERS_MAX  8
#define NUMBER_DIGITS_MAX 4096
#define REPLACEMENT_POINT 0xfffdu

struct slot {
    struct vcm_json *member; /* NULL when free */
};

/* An array or object that is still open. */
struct level {
    struct vcm_json *node;
    struct vcm_json *last;
    struct slot *slots; /* open addressing; NULL while members are few */
    size_t slot_count;  /* a power of two, at most half full */
};

struct parser {
    struct vcm_arena *arena;
    struct vcm_slice text;
    yajl_handle yajl;
    struct vcm_json *root;
    struct level levels[VCM_LIMIT_JSON_DEPTH];
    unsigned depth;
    size_t nodes;
    struct vcm_slice key; /* of the next value */
    uint64_t hash_seed;
    struct vcm_buf scratch;
    locale_t c_locale;
    bool at_end; /* yajl has the whole text, and waits for the end of a number at its end */
    struct vcm_error *err;
    int rc; /* of the callback that stopped the parse */
};

/* Line and column of a byte, both from 1; columns count code points. */
static int fail_at(struct parser *p, size_t offset, const char *reason)
{
    size_t line = 1, column = 1;

    for (size_t i = 0; i < offset && i < p->text.len; i++) {
        if (p->text.data[i] == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)p->text.data[i] & 0xc0) != 0x80) {
            column++;
        }
    }
    return p->rc = vcm_error_set(p->err, VCM_INVALID_ARGUMENT,
                                 "invalid JSON at line %zu, column %zu: %s", line, column, reason);
}

/* Reports an error at the token of `len` bytes that yajl has just read. */
static int fail_token(struct parser *p, size_t len, const char *reason)
{
    size_t end = p->at_end ? p->text.len : yajl_get_bytes_consumed(p->yajl);
    return fail_at(p, end > len ? end - len : 0, reason);
}

/* The arena does not report why it failed: it is full if `size` could not have fitted. */
static int fail_memory(struct parser *p, size_t size)
{
    if (size + _Alignof(max_align_t) > p->arena->max - p->arena->used)
        p->rc =
            vcm_error_set(p->err, VCM_UNSUPPORTED,
                          "the JSON document needs more than %zu bytes of memory", p->arena->max);
    else
        p->rc = vcm_error_memory(p->err);
    return p->rc;
}

static struct slot *find_slot(const struct parser *p, const struct level *level,
                              struct vcm_slice key)
{
    size_t i = (size_t)vcm_hash_checksum(key, p->hash_seed);

    for (;; i++) {
        struct slot *slot = &level->slots[i & (level->slot_count - 1)];
        if (!slot->member || vcm_slice_equal(slot->member->key, key))
            return slot;
    }
}

static int grow_slots(struct parser *p, struct level *level)
{
    size_t count = level->slot_count ? 2 * level->slot_count : 8 * SCAN_MEMBERS_MAX;
    struct slot *slots = calloc(count, sizeof *slots);
    if (!slots)
        return p->rc = vcm_error_memory(p->err);
    free(level->slots);
    level->slots = slots;
    level->slot_count = count;
    for (struct vcm_json *member = level->node->first; member; member = member->next)
        find_slot(p, level, member->key)->member = member;
    return VCM_OK;
}

static bool has_member(const struct parser *p, const struct level *level, struct vcm_slice key)
{
    if (level->slots)
        return find_slot(p, level, key)->member != NULL;
    for (const struct vcm_json *member = level->node->first; member; member = member->next)
        if (vcm_slice_equal(member->key, key))
            return true;
    return false;
}

/* Appends a new node to the open level. */
static int add_child(struct parser *p, struct level *level, struct vcm_json *node)
{
    if (level->node->kind == VCM_JSON_OBJECT) {
        node->key = p->key;
        bool many = level->node->count >= SCAN_MEMBERS_MAX;
        if (many && 2 * ((size_t)level->node->count + 1) > level->slot_count &&
            grow_slots(p, level) != VCM_OK)
            return p->rc;
        if (level->slots)
            find_slot(p, level, node->key)->member = node;
    }
    if (level->last)
        level->last->next = node;
    else
        level->node->first = node;
    level->last = node;
    level->node->count++;
    return VCM_OK;
}

/* Allocates a node and appends it; NULL on failure. */
static struct vcm_json *add_node(struct parser *p, enum vcm_json_kind kind)
{
    if (++p->nodes > VCM_LIMIT_JSON_NODES) {
        fail_token(p, 0, "too many values");
        return NULL;
    }
    struct vcm_json *node = vcm_arena_alloc(p->arena, sizeof *node);
    if (!node) {
        fail_memory(p, sizeof *node);
        return NULL;
    }
    node->kind = kind;
    if (p->depth == 0)
        p->root = node;
    else if (add_child(p, &p->levels[p->depth - 1], node) != VCM_OK)
        return NULL;
    return node;
}

/* The raw text of the string that yajl has just read, without its quotes, or a NULL slice. yajl's
 * position is behind the closing quote. The opening quote is the nearest one without a backslash
 * before it: inside a string every quote has one, and between strings there are none. */
static struct vcm_slice raw_string(const struct parser *p)
{
    const char *text = p->text.data;
    size_t end = yajl_get_bytes_consumed(p->yajl);
    if (end < 2 || end > p->text.len || text[end - 1] != '"')
        return vcm_slice_of(NULL, 0);

    for (size_t start = end - 1; start-- > 0;)
        if (text[start] == '"' && (start == 0 || text[start - 1] != '\\'))
            return vcm_slice_of(text + start + 1, end - start - 2);
    return vcm_slice_of(NULL, 0);
}

/* Four hexadecimal digits, which yajl has validated. */
static unsigned read_unit(const char *digits)
{
    unsigned char bytes[2] = {0, 0};
    vcm_hash_from_hex(bytes, digits, 2);
    return (unsigned)bytes[0] << 8 | bytes[1];
}

static void append_point(struct vcm_buf *out, unsigned point)
{
    char bytes[4];
    size_t len = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};

    for (size_t i = len; i-- > 1; point >>= 6)
        bytes[i] = (char)(0x80 | (point & 0x3f));
    bytes[0] = (char)(leads[len] | point);
    vcm_buf_append(out, bytes, len);
}

/* Reads the \uXXXX at `in` and the other half of a surrogate pair; returns the bytes used. */
static size_t append_unicode_escape(struct vcm_buf *out, struct vcm_slice in)
{
    unsigned unit = read_unit(in.data + 2);
    size_t used = 6;

    if (unit >= 0xd800 && unit <= 0xdfff) {
        unsigned low = 0;
        if (unit < 0xdc00 && in.len >= 12 && in.data[6] == '\\' && in.data[7] == 'u')
            low = read_unit(in.data + 8);
        if (low >= 0xdc00 && low <= 0xdfff) {
            unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            used = 12;
        } else {
            unit = REPLACEMENT_POINT;
        }
    }
    append_point(out, unit);
    return used;
}

static char escaped_char(char letter)
{
    switch (letter) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return letter;
    }
}

static void unescape(struct vcm_buf *out, struct vcm_slice raw)
{
    while (raw.len > 0) {
        const char *backslash = memchr(raw.data, '\\', raw.len);
        size_t used = backslash ? (size_t)(backslash - raw.data) : raw.len;
        vcm_buf_append(out, raw.data, used);
        raw = vcm_slice_of(raw.data + used, raw.len - used);
        if (raw.len < 2)
            break;
        used = 2;
        if (raw.data[1] == 'u' && raw.len >= 6)
            used = append_unicode_escape(out, raw);
        else
            vcm_buf_append_byte(out, escaped_char(raw.data[1]));
        raw = vcm_slice_of(raw.data + used, raw.len - used);
    }
}

/* Copies a string into the arena. yajl passes strings without escapes as they are in the text. It
 * decodes escapes into a buffer of its own, but drops the character behind a lone surrogate and
 * combines surrogates that are no pair; so strings with such escapes are decoded here, from the
 * text. */
static int copy_string(struct vcm_slice *out, struct parser *p, const unsigned char *data,
                       size_t len)
{
    struct vcm_slice value = vcm_slice_of(data, len);
    uintptr_t at = (uintptr_t)data, start = (uintptr_t)p->text.data;

    vcm_buf_clear(&p->scratch);
    if (at < start || at >= start + p->text.len) {
        struct vcm_slice raw = raw_string(p);
        if (!raw.data)
            return p->rc = vcm_error_set(p->err, VCM_INTERNAL, "a JSON string is not in its text");
        unescape(&p->scratch, raw);
        p->rc = vcm_buf_check(&p->scratch, "a JSON string", p->err);
        if (p->rc != VCM_OK)
            return p->rc;
        value = vcm_buf_slice(&p->scratch);
    }
    char *copy = vcm_arena_copy(p->arena, value);
    if (!copy)
        return fail_memory(p, value.len + 1);
    *out = vcm_slice_of(copy, value.len);
    return VCM_OK;
}

static int on_null(void *context)
{
    return add_node(context, VCM_JSON_NULL) != NULL;
}

static int on_boolean(void *context, int value)
{
    struct vcm_json *node = add_node(context, VCM_JSON_BOOL);
    if (!node)
        return 0;
    node->boolean = value != 0;
    return 1;
}

static int on_number(void *context, const char *data, size_t len)
{
    struct parser *p = context;
    if (len > NUMBER_DIGITS_MAX) {
        fail_token(p, len, "a number has too many digits");
        return 0;
    }

    char text[NUMBER_DIGITS_MAX + 1];
    memcpy(text, data, len);
    text[len] = '\0';
    double number = strtod_l(text, NULL, p->c_locale);
    if (!isfinite(number)) {
        fail_token(p, len, "a number is out of range");
        return 0;
    }

    struct vcm_json *node = add_node(p, VCM_JSON_NUMBER);
    if (!node)
        return 0;
    node->number = number;
    if (strpbrk(text, ".eE"))
        return 1;
    errno = 0;
    long long integer = strtoll(text, NULL, 10);
    if (errno == 0) {
        node->kind = VCM_JSON_INT;
        node->integer = integer;
    }
    return 1;
}

static int on_string(void *context, const unsigned char *data, size_t len)
{
    struct vcm_slice text;

    if (copy_string(&text, context, data, len) != VCM_OK)
        return 0;
    struct vcm_json *node = add_node(context, VCM_JSON_STRING);
    if (!node)
        return 0;
    node->text = text;
    return 1;
}

static int on_key(void *context, const unsigned char *data, size_t len)
{
    struct parser *p = context;

    if (copy_string(&p->key, p, data, len) != VCM_OK)
        return 0;
    if (has_member(p, &p->levels[p->depth - 1], p->key)) {
        struct vcm_buf reason = VCM_BUF_INIT(VCM_KIB);
        size_t shown = p->key.len < 80 ? p->key.len : 80;
        vcm_buf_append_format(&reason, "the key '%.*s' stands twice in one object", (int)shown,
                              p->key.data);
        fail_token(p, raw_string(p).len + 2, vcm_buf_text(&reason));
        vcm_buf_release(&reason);
        return 0;
    }
    return 1;
}

static int open_level(struct parser *p, enum vcm_json_kind kind)
{
    if (p->depth == VCM_LIMIT_JSON_DEPTH) {
        fail_token(p, 1, "nested too deeply");
        return 0;
    }
    struct vcm_json *node = add_node(p, kind);
    if (!node)
        return 0;
    p->levels[p->depth++] = (struct level){.node = node};
    return 1;
}

static int on_array(void *context)
{
    return open_level(context, VCM_JSON_ARRAY);
}

static int on_object(void *context)
{
    return open_level(context, VCM_JSON_OBJECT);
}

static int on_end(void *context)
{
    struct parser *p = context;
    free(p->levels[--p->depth].slots);
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_object,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end,
    .yajl_start_array = on_array,
    .yajl_end_array = on_end,
};

/* yajl's message without its line break and its "parse error: ". */
static int fail_syntax(struct parser *p, size_t offset)
{
    unsigned char *words = yajl_get_error(p->yajl, 0, NULL, 0);
    const char *reason = words ? (const char *)words : "syntax error";
    const char *colon = strstr(reason, ": ");
    struct vcm_buf trimmed = VCM_BUF_INIT(VCM_KIB);

    vcm_buf_append_string(&trimmed, colon ? colon + 2 : reason);
    while (trimmed.len > 0 && strchr("\n .", trimmed.data[trimmed.len - 1]))
        vcm_buf_truncate(&trimmed, trimmed.len - 1);
    fail_at(p, offset, vcm_buf_text(&trimmed));
    vcm_buf_release(&trimmed);
    if (words)
        yajl_free_error(p->yajl, words);
    return p->rc;
}

static int run(struct parser *p)
{
    size_t valid = vcm_utf8_valid_prefix(p->text);
    if (valid < p->text.len)
        return fail_at(p, valid, "invalid UTF-8");

    p->yajl = yajl_alloc(&callbacks, NULL, p);
    if (!p->yajl)
        return vcm_error_memory(p->err);
    /* Validated above, because yajl accepts surrogates and overlong forms. */
    yajl_config(p->yajl, yajl_dont_validate_strings, 1);

    const unsigned char *data = (const unsigned char *)(p->text.len > 0 ? p->text.data : "");
    size_t offset = p->text.len;
    yajl_status status = yajl_parse(p->yajl, data, p->text.len);
    if (status == yajl_status_ok) {
        p->at_end = true;
        status = yajl_complete_parse(p->yajl);
    } else {
        /* yajl's position is behind the byte that it could not use. */
        size_t consumed = yajl_get_bytes_consumed(p->yajl);
        offset = consumed > 0 ? consumed - 1 : 0;
    }
    if (status != yajl_status_ok && p->rc == VCM_OK)
        fail_syntax(p, offset);
    yajl_free(p->yajl);
    return p->rc;
}

int vcm_json_parse(struct vcm_json **out, struct vcm_arena *arena, struct vcm_slice text,
                   struct vcm_error *err)
{
    struct parser p = {.arena = arena, .text = text, .err = err};

    *out = NULL;
    if (text.len > VCM_LIMIT_JSON_BYTES)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "the JSON document is larger than %zu bytes", VCM_LIMIT_JSON_BYTES);
    vcm_buf_init(&p.scratch, text.len);
    /* Numbers have a decimal point whatever the program's locale is. newlocale("C") is cheap. */
    p.c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!p.c_locale)
        return vcm_error_memory(err);
    /* A random seed, so that the author of a text cannot choose keys that collide. Without
     * randomness parsing continues: only that protection is missing. */
    if (getrandom(&p.hash_seed, sizeof p.hash_seed, GRND_NONBLOCK) < 0)
        p.hash_seed = 0;

    int rc = run(&p);
    if (rc == VCM_OK)
        *out = p.root;
    while (p.depth > 0)
        free(p.levels[--p.depth].slots);
    freelocale(p.c_locale);
    vcm_buf_release(&p.scratch);
    return rc;
}

const struct vcm_json *vcm_json_get(const struct vcm_json *object, const char *name)
{
    if (!object || object->kind != VCM_JSON_OBJECT)
        return NULL;
    struct vcm_slice key = vcm_slice_of_string(name);
    for (const struct vcm_json *member = object->first; member; member = member->next)
        if (vcm_slice_equal(member->key, key))
            return member;
    return NULL;
}

const char *vcm_json_get_text(const struct vcm_json *object, const char *name,
                              const char *otherwise)
{
    const struct vcm_json *member = vcm_json_get(object, name);
    return member && member->kind == VCM_JSON_STRING ? member->text.data : otherwise;
}

int64_t vcm_json_get_int(const struct vcm_json *object, const char *name, int64_t otherwise)
{
    const struct vcm_json *member = vcm_json_get(object, name);
    return member && member->kind == VCM_JSON_INT ? member->integer : otherwise;
}

bool vcm_json_get_bool(const struct vcm_json *object, const char *name, bool otherwise)
{
    const struct vcm_json *member = vcm_json_get(object, name);
    return member && member->kind == VCM_JSON_BOOL ? member->boolean : otherwise;
}
