#include "base/text.h"
#include "repomap/repo_map_value.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/path.h"
#include "base/utf8.h"
#include "sources/glob.h"

#include "base/banned.h"

#define WORDS_SHOWN_MAX 256

#define fail(load, place, ...) vcm_problem_add((load)->problems, false, place, __VA_ARGS__)

size_t vcm_repo_map_value_shown_length(struct vcm_slice text)
{
    if (text.len > VCM_LOAD_SHOWN_MAX)
        text.len = VCM_LOAD_SHOWN_MAX;
    return vcm_utf8_valid_prefix(text);
}

static const char *kind_name(const struct vcm_yaml *node)
{
    switch (node->kind) {
    case VCM_YAML_NULL:
        return "null";
    case VCM_YAML_BOOL:
        return "a bool";
    case VCM_YAML_INT:
    case VCM_YAML_FLOAT:
        return "a number";
    case VCM_YAML_STRING:
        return "a string";
    case VCM_YAML_SEQUENCE:
        return "a list";
    case VCM_YAML_MAPPING:
        return "a mapping";
    }
    return "something else";
}

void *vcm_repo_map_value_take(struct vcm_load *load, size_t count, size_t size)
{
    void *memory = count > 0 ? vcm_arena_alloc(&load->map->arena, count * size) : NULL;

    load->failed |= count > 0 && !memory;
    return memory;
}

static const char *keep(struct vcm_load *load, struct vcm_slice text)
{
    const char *copy = vcm_arena_copy(&load->map->arena, text);

    load->failed |= !copy;
    return copy;
}

bool vcm_repo_map_value_fail_kind(struct vcm_load *load, const struct vcm_yaml *node,
                                  const char *where, const char *wanted)
{
    bool number = node->kind == VCM_YAML_INT || node->kind == VCM_YAML_FLOAT;

    if (strcmp(wanted, "a string") == 0 && (number || node->kind == VCM_YAML_BOOL))
        fail(load, VCM_LOAD_PLACE(node), where,
             "must be a string, not %s; write it in quotes: \"%.*s%s\"", kind_name(node),
             VCM_LOAD_SHOWN(node->text));
    else
        fail(load, VCM_LOAD_PLACE(node), where, "must be %s, not %s", wanted, kind_name(node));
    return false;
}

static bool read_int(int64_t *out, struct vcm_load *load, const struct vcm_schema_key *key,
                     const struct vcm_yaml *node, const char *where)
{
    if (node->kind != VCM_YAML_INT)
        return vcm_repo_map_value_fail_kind(load, node, where, "an integer");
    *out = node->integer;
    if (node->integer >= key->min && node->integer <= key->max)
        return true;
    if (key->min == key->max)
        fail(load, VCM_LOAD_PLACE(node), where,
             "must be %" PRId64 ", not %" PRId64 "; this program knows no other", key->min,
             node->integer);
    else
        fail(load, VCM_LOAD_PLACE(node), where, "must be %" PRId64 " to %" PRId64 ", not %" PRId64,
             key->min, key->max, node->integer);
    return false;
}

static bool is_name(struct vcm_slice text)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789._-";

    return text.len > 0 && text.len <= VCM_LIMIT_NAME_BYTES &&
           strspn(text.data, allowed) == text.len;
}

static bool has_control(struct vcm_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.data[i] < ' ' || text.data[i] == 0x7f)
            return true;
    return false;
}

/* Joins the parts of a relative directory without empty and "." parts; false if it has "..". */
static bool tidy_directory(struct vcm_buf *out, struct vcm_slice path)
{
    for (size_t at = 0; at < path.len;) {
        const char *slash = memchr(path.data + at, '/', path.len - at);
        struct vcm_slice part =
            vcm_slice_of(path.data + at, slash ? (size_t)(slash - path.data) - at : path.len - at);
        at += part.len + 1;
        if (vcm_slice_equal(part, vcm_slice_of("..", 2)))
            return false;
        if (part.len == 0 || vcm_slice_equal(part, vcm_slice_of(".", 1)))
            continue;
        if (out->len > 0)
            vcm_buf_append_byte(out, '/');
        vcm_buf_append_slice(out, part);
    }
    return true;
}

static bool read_directory(struct vcm_load_value *out, struct vcm_load *load,
                           const struct vcm_yaml *node, const char *where)
{
    struct vcm_buf tidy = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    const char *fault = NULL;

    if (node->text.len > 0 && node->text.data[0] == '/')
        fault = "must be relative to the root of the repository; take the leading '/' away";
    else if (node->text.len > VCM_LIMIT_PATH_BYTES)
        fault = "is too long for a path";
    else if (!tidy_directory(&tidy, node->text))
        fault = "must not have a '..' in it";
    if (fault)
        fail(load, VCM_LOAD_PLACE(node), where, "%s", fault);
    else
        out->text = keep(load, vcm_buf_slice(&tidy));
    vcm_buf_release(&tidy);
    return !fault;
}

static bool read_submodule(struct vcm_load_value *out, struct vcm_load *load,
                           const struct vcm_yaml *node, const char *where)
{
    struct vcm_error reason = {0};
    struct vcm_slice path = node->text;

    if (vcm_path_check_relative("the path", path, &reason) != VCM_OK) {
        fail(load, VCM_LOAD_PLACE(node), where, "%s", reason.message);
        return false;
    }
    if (path.data[path.len - 1] == '/')
        path.len--;
    out->text = keep(load, path);
    return true;
}

static bool read_address(struct vcm_load_value *out, struct vcm_load *load,
                         const struct vcm_yaml *node, const char *where)
{
    const char *fault = NULL;

    if (node->text.len == 0)
        fault = "must not be empty";
    else if (node->text.len > VCM_LIMIT_PATH_BYTES)
        fault = "is too long";
    else if (node->text.data[0] == '-')
        fault = "must not begin with '-'";
    else if (has_control(node->text))
        fault = "must not have line breaks or control characters in it";
    if (fault)
        fail(load, VCM_LOAD_PLACE(node), where, "%s", fault);
    else
        out->text = keep(load, node->text);
    return !fault;
}

static void list_word(struct vcm_buf *out, const char *word)
{
    vcm_buf_append_format(out, "%s%s", out->len > 0 ? ", " : "", word);
}

static bool is_word(struct vcm_slice text, const char *const *words, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (vcm_slice_equal(text, vcm_slice_of_string(words[i])))
            return true;
    return false;
}

static unsigned count_words(const char *const *words)
{
    unsigned count = 0;

    while (words[count])
        count++;
    return count;
}

/* Reads one of the key's words, or one of `more`. */
static bool read_word(struct vcm_load_value *out, struct vcm_load *load,
                      const struct vcm_yaml *node, const char *where, const char *const *words,
                      const struct vcm_repo_map_types *more)
{
    unsigned count = count_words(words);

    if (is_word(node->text, words, count) ||
        (more && is_word(node->text, more->names, more->count))) {
        out->text = keep(load, node->text);
        return true;
    }
    struct vcm_buf known = VCM_BUF_INIT(WORDS_SHOWN_MAX);
    const char *nearest = vcm_text_nearest(node->text, words, count);
    if (!nearest && more)
        nearest = vcm_text_nearest(node->text, more->names, more->count);
    for (unsigned i = 0; i < count; i++)
        list_word(&known, words[i]);
    for (unsigned i = 0; more && i < more->count; i++)
        if (!is_word(vcm_slice_of_string(more->names[i]), words, count))
            list_word(&known, more->names[i]);
    if (nearest)
        fail(load, VCM_LOAD_PLACE(node), where,
             "unknown value '%.*s%s'; did you mean '%s'? known: %s", VCM_LOAD_SHOWN(node->text),
             nearest, vcm_buf_text(&known));
    else
        fail(load, VCM_LOAD_PLACE(node), where, "unknown value '%.*s%s'; known: %s",
             VCM_LOAD_SHOWN(node->text), vcm_buf_text(&known));
    vcm_buf_release(&known);
    return false;
}

static bool read_string(struct vcm_load_value *out, struct vcm_load *load,
                        const struct vcm_schema_key *key, const struct vcm_yaml *node,
                        const char *where)
{
    if (node->kind != VCM_YAML_STRING)
        return vcm_repo_map_value_fail_kind(load, node, where, "a string");
    if (key->words)
        return read_word(out, load, node, where, key->words, NULL);
    switch (key->form) {
    case VCM_SCHEMA_SOURCE_TYPE:
        return read_word(out, load, node, where, vcm_schema_source_types, load->types);
    case VCM_SCHEMA_ADDRESS:
        return read_address(out, load, node, where);
    case VCM_SCHEMA_DIRECTORY:
        return read_directory(out, load, node, where);
    case VCM_SCHEMA_SUBMODULE:
        return read_submodule(out, load, node, where);
    case VCM_SCHEMA_NAME:
        if (!is_name(node->text)) {
            fail(load, VCM_LOAD_PLACE(node), where,
                 "'%.*s%s' must be 1 to %zu of A-Z a-z 0-9 . _ -", VCM_LOAD_SHOWN(node->text),
                 VCM_LIMIT_NAME_BYTES);
            return false;
        }
        break;
    case VCM_SCHEMA_ANY:
        if (node->text.len == 0) {
            fail(load, VCM_LOAD_PLACE(node), where, "must not be empty");
            return false;
        }
        break;
    }
    out->text = keep(load, node->text);
    return true;
}

static bool read_glob(const char **out, struct vcm_load *load, const struct vcm_yaml *node,
                      const char *where)
{
    struct vcm_error reason = {0};

    if (node->kind != VCM_YAML_STRING)
        return vcm_repo_map_value_fail_kind(load, node, where, "a string");
    int rc = vcm_glob_check(node->text, &reason);
    if (rc == VCM_INTERNAL)
        load->failed = true;
    if (rc != VCM_OK) {
        fail(load, VCM_LOAD_PLACE(node), where, "'%.*s%s' is no pattern: %s",
             VCM_LOAD_SHOWN(node->text), reason.message);
        return false;
    }
    *out = keep(load, node->text);
    return true;
}

static bool read_globs(struct vcm_load_value *out, struct vcm_load *load,
                       const struct vcm_schema_key *key, const struct vcm_yaml *node,
                       const char *where)
{
    bool good = true;

    if (node->kind != VCM_YAML_SEQUENCE)
        return vcm_repo_map_value_fail_kind(load, node, where, "a list of patterns");
    if (node->count < key->min) {
        fail(load, VCM_LOAD_PLACE(node), where, "must not be empty%s",
             key->required ? "" : "; leave it out to take everything");
        return false;
    }
    const char **items = vcm_repo_map_value_take(load, node->count, sizeof *items);
    struct vcm_repo_map_place *places = vcm_repo_map_value_take(load, node->count, sizeof *places);
    if (load->failed)
        return false;
    unsigned i = 0;
    for (const struct vcm_yaml *item = node->first; item; item = item->next, i++) {
        char place[VCM_LOAD_WHERE_MAX + 16];
        snprintf(place, sizeof place, "%s[%u]", where, i);
        places[i] = VCM_LOAD_PLACE(item);
        good &= read_glob(&items[i], load, item, place);
    }
    out->list = (struct vcm_repo_map_list){items, places, node->count};
    return good;
}

bool vcm_repo_map_value_read(struct vcm_load_value *out, struct vcm_load *load,
                             const struct vcm_schema_key *key, const struct vcm_yaml *node,
                             const char *where)
{
    memset(out, 0, sizeof *out);
    switch (key->type) {
    case VCM_SCHEMA_INT:
        return read_int(&out->integer, load, key, node, where);
    case VCM_SCHEMA_BOOL:
        if (node->kind != VCM_YAML_BOOL)
            return vcm_repo_map_value_fail_kind(load, node, where, "true or false");
        out->boolean = node->boolean;
        return true;
    case VCM_SCHEMA_STRING:
        return read_string(out, load, key, node, where);
    case VCM_SCHEMA_GLOBS:
        return read_globs(out, load, key, node, where);
    case VCM_SCHEMA_SOURCES:
    case VCM_SCHEMA_ROUTES:
        break;
    }
    return false;
}
