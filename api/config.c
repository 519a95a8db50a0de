#include "api/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/defaults.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/text.h"
#include "base/yaml.h"
#include "tokens/tokenizer.h"

#include "base/banned.h"

/* File times have the resolution of the clock tick, a few milliseconds: a file that was just
 * changed may change again and keep the same time. */
#define SETTLE_SECONDS 1

static const char *const policies[] = {"sieve", "s3fifo", "lru", "lfu", NULL};

static const struct vcm_config_key keys[] = {
    {"cache.capacity", VCM_CONFIG_SIZE, "1073741824", NULL, 0, UINT64_MAX / 2},
    {"cache.compressed_capacity", VCM_CONFIG_SIZE, "1073741824", NULL, 0, UINT64_MAX / 2},
    {"cache.policy", VCM_CONFIG_CHOICE, "s3fifo", policies, 0, 0},
    {"fetch.max_bytes", VCM_CONFIG_SIZE, "8589934592", NULL, VCM_MIB, UINT64_MAX / 2},
    {"fetch.max_memory", VCM_CONFIG_SIZE, "2147483648", NULL, 32 * VCM_MIB, SIZE_MAX / 2},
    {"mmap.flush_threshold", VCM_CONFIG_INT, VCM_DEFAULT_TEXT(VCM_DEFAULT_FLUSH_THRESHOLD), NULL, 1,
     VCM_LIMIT_FLUSH_THRESHOLD_MAX},
    {"mmap.flush_token_budget", VCM_CONFIG_INT, VCM_DEFAULT_TEXT(VCM_DEFAULT_FLUSH_TOKEN_BUDGET),
     NULL, VCM_LIMIT_TOKEN_BUDGET_MIN, VCM_LIMIT_TOKEN_BUDGET_MAX},
    {"mmap.pinned", VCM_CONFIG_BOOL, "false", NULL, 0, 0},
    {"tokenizer", VCM_CONFIG_CHOICE, VCM_TOKENIZER_DEFAULT, NULL, 0, 0},
    {"walk.max_entries", VCM_CONFIG_INT, VCM_DEFAULT_TEXT(VCM_DEFAULT_WALK_ENTRIES), NULL, 1,
     VCM_LIMIT_TREE_ENTRIES},
};

const struct vcm_config_key *vcm_config_keys(unsigned *count)
{
    *count = sizeof keys / sizeof keys[0];
    return keys;
}

static const struct vcm_config_key *find_key(const char *name)
{
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(keys[i].name, name) == 0)
            return &keys[i];
    return NULL;
}

static bool is_credential(const char *name)
{
    size_t prefix = strlen(VCM_CONFIG_CREDENTIALS);
    return strncmp(name, VCM_CONFIG_CREDENTIALS, prefix) == 0 && name[prefix] != '\0';
}

int vcm_config_check_name(const char *name, struct vcm_error *err)
{
    const char *names[sizeof keys / sizeof keys[0]];

    if (find_key(name) || is_credential(name))
        return VCM_OK;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        names[i] = keys[i].name;
    const char *nearest =
        vcm_text_nearest(vcm_slice_of_string(name), names, sizeof keys / sizeof keys[0]);
    if (nearest)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "unknown key '%s'; did you mean '%s'?",
                             name, nearest);
    return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                         "unknown key '%s'; 'vcm config list' shows the keys", name);
}

static int check_choice(struct vcm_buf *out, const struct vcm_config_key *key, const char *value,
                        struct vcm_error *err)
{
    const char *const *choices = key->choices ? key->choices : vcm_tokenizer_names();
    struct vcm_buf known = VCM_BUF_INIT(1024);

    for (const char *const *choice = choices; *choice; choice++) {
        if (strcmp(*choice, value) == 0) {
            vcm_buf_append_string(out, value);
            vcm_buf_release(&known);
            return vcm_buf_check(out, "the value", err);
        }
        vcm_buf_append_format(&known, "%s%s", choice == choices ? "" : ", ", *choice);
    }
    int rc = vcm_error_set(err, VCM_INVALID_ARGUMENT, "'%s' is no value of %s; choose one of %s",
                           value, key->name, vcm_buf_text(&known));
    vcm_buf_release(&known);
    return rc;
}

static int check_number(struct vcm_buf *out, const struct vcm_config_key *key, const char *value,
                        struct vcm_error *err)
{
    uint64_t number;
    bool is_size = key->type == VCM_CONFIG_SIZE;

    if (!(is_size ? vcm_text_parse_size(&number, value) : vcm_text_parse_uint(&number, value)))
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "'%s' is no value of %s; give %s", value,
                             key->name,
                             is_size ? "bytes, or a number with KiB, MiB or GiB" : "a number");
    if (number < key->min || number > key->max)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "%s must be from %llu to %llu, not %s",
                             key->name, (unsigned long long)key->min, (unsigned long long)key->max,
                             value);
    vcm_buf_append_format(out, "%llu", (unsigned long long)number);
    return vcm_buf_check(out, "the value", err);
}

/* Accepts only the name of a variable or the path of a file, so that secrets do not end up in the
 * file. A secret may look like a name, but few do. */
static int check_credential(struct vcm_buf *out, const char *name, const char *value,
                            struct vcm_error *err)
{
    bool is_variable =
        value[0] != '\0' && strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(value);
    bool is_file = value[0] == '/' || value[0] == '~';

    if (!is_variable && !is_file)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "%s takes the name of an environment variable (A-Z 0-9 _) or the path "
                             "of a file, never the secret itself",
                             name);
    vcm_buf_append_string(out, value);
    return vcm_buf_check(out, "the value", err);
}

int vcm_config_check_value(struct vcm_buf *out, const char *name, const char *value,
                           struct vcm_error *err)
{
    const struct vcm_config_key *key = find_key(name);

    if (strpbrk(value, "\r\n\t"))
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "the value of %s must be one line", name);
    if (!key)
        return check_credential(out, name, value, err);
    switch (key->type) {
    case VCM_CONFIG_CHOICE:
        return check_choice(out, key, value, err);
    case VCM_CONFIG_SIZE:
    case VCM_CONFIG_INT:
        return check_number(out, key, value, err);
    case VCM_CONFIG_BOOL:
        break;
    }
    if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "%s is true or false, not '%s'", name,
                             value);
    vcm_buf_append_string(out, value);
    return vcm_buf_check(out, "the value", err);
}

const struct vcm_config_setting *vcm_config_find(const struct vcm_config *config, const char *name)
{
    for (const struct vcm_config_setting *s = config->settings; s; s = s->next)
        if (strcmp(s->name, name) == 0)
            return s;
    return NULL;
}

static int add_setting(struct vcm_config *config, struct vcm_config_setting **last,
                       const struct vcm_yaml *node, struct vcm_error *err)
{
    struct vcm_buf value = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    const char *name = node->key->text.data;

    int rc = vcm_config_check_name(name, err);
    if (rc == VCM_OK && (node->kind == VCM_YAML_SEQUENCE || node->kind == VCM_YAML_MAPPING))
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT, "the value of '%s' must be a single one",
                           name);
    if (rc == VCM_OK && vcm_config_find(config, name))
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT, "'%s' is set twice", name);
    if (rc == VCM_OK)
        rc = vcm_config_check_value(&value, name, node->text.data, err);
    if (rc == VCM_OK) {
        struct vcm_config_setting *s = vcm_arena_alloc(&config->arena, sizeof *s);
        if (s && (s->value = vcm_arena_copy(&config->arena, vcm_buf_slice(&value)))) {
            s->name = name;
            s->line = node->end_line;
            *(*last ? &(*last)->next : &config->settings) = s;
            *last = s;
        } else {
            rc = vcm_error_memory(err);
        }
    }
    vcm_buf_release(&value);
    return rc;
}

static int parse(struct vcm_config *config, struct vcm_yaml_mark *mark, struct vcm_slice text,
                 struct vcm_error *err)
{
    struct vcm_config_setting *last = NULL;
    struct vcm_yaml *root = NULL;

    int rc = vcm_yaml_parse(&root, mark, &config->arena, text, err);
    if (rc != VCM_OK || !root)
        return rc;
    mark->line = root->line;
    mark->column = root->column;
    if (root->kind == VCM_YAML_NULL)
        return VCM_OK;
    if (root->kind != VCM_YAML_MAPPING)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "the file must be a list of lines 'key: value'");
    for (struct vcm_yaml *node = root->first; rc == VCM_OK && node; node = node->next) {
        mark->line = node->key->line;
        mark->column = node->key->column;
        rc = add_setting(config, &last, node, err);
    }
    return rc;
}

/* Also returns the text that the settings were read from. */
static int load(struct vcm_config *config, struct vcm_buf *text, const char *path,
                struct vcm_error *err)
{
    struct vcm_yaml_mark mark = {0};
    struct vcm_error read = {0};

    memset(config, 0, sizeof *config);
    vcm_arena_init(&config->arena, 16 * VCM_MIB);
    int rc = vcm_path_read_file(text, path, VCM_LIMIT_CONFIG_BYTES, &read);
    if (rc == VCM_NOT_FOUND) {
        rc = VCM_OK;
    } else if (rc != VCM_OK) {
        if (err)
            *err = read;
    } else {
        rc = parse(config, &mark, vcm_buf_slice(text), err);
        vcm_error_wrap(err, rc, "%s:%u:%u", path, mark.line, mark.column);
    }
    if (rc != VCM_OK)
        vcm_config_release(config);
    return rc;
}

int vcm_config_load(struct vcm_config *config, const char *path, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_CONFIG_BYTES);

    int rc = load(config, &text, path, err);
    vcm_buf_release(&text);
    return rc;
}

void vcm_config_look(struct vcm_config_file *out, const char *path)
{
    struct timespec now;
    struct stat status;

    *out = (struct vcm_config_file){.is_there = stat(path, &status) == 0};
    if (!out->is_there) {
        out->is_settled = errno == ENOENT;
        return;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    out->device = status.st_dev;
    out->inode = status.st_ino;
    out->bytes = status.st_size;
    out->modified = status.st_mtim;
    out->changed = status.st_ctim;
    out->is_settled = status.st_ctim.tv_sec + SETTLE_SECONDS < now.tv_sec;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool vcm_config_is_same(const struct vcm_config_file *read, const struct vcm_config_file *now)
{
    return read->is_settled && read->is_there == now->is_there && read->device == now->device &&
           read->inode == now->inode && read->bytes == now->bytes &&
           same_time(&read->modified, &now->modified) && same_time(&read->changed, &now->changed);
}

void vcm_config_release(struct vcm_config *config)
{
    vcm_arena_release(&config->arena);
    config->settings = NULL;
}

const char *vcm_config_text(const struct vcm_config *config, const char *name)
{
    const struct vcm_config_setting *setting = vcm_config_find(config, name);
    return setting ? setting->value : find_key(name)->default_value;
}

uint64_t vcm_config_number(const struct vcm_config *config, const char *name)
{
    uint64_t number = 0;
    vcm_text_parse_uint(&number, vcm_config_text(config, name));
    return number;
}

bool vcm_config_flag(const struct vcm_config *config, const char *name)
{
    return strcmp(vcm_config_text(config, name), "true") == 0;
}

/* The comment after a line's value, with the blanks before it and without the line end. */
static struct vcm_slice comment_of(struct vcm_slice line)
{
    size_t end = line.len, start = 0;
    char quote = '\0';

    while (end > 0 && (line.data[end - 1] == '\n' || line.data[end - 1] == '\r'))
        end--;
    for (size_t i = 0; i < end; i++) {
        char c = line.data[i];
        if (c == '#' && !quote && i > start)
            return vcm_slice_of(line.data + start, end - start);
        if (c == quote)
            quote = '\0';
        else if (!quote && (c == '\'' || c == '"'))
            quote = c;
        if (c != ' ' && c != '\t')
            start = i + 1;
    }
    return vcm_slice_of("", 0);
}

/* Appends "name: value"; the name is quoted if YAML requires it. */
static void append_line(struct vcm_buf *out, const char *name, const char *value,
                        struct vcm_slice comment)
{
    bool plain =
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
        strlen(name);
    const char *quote = plain ? "" : "\"";

    vcm_buf_append_format(out, "%s%s%s: ", quote, name, quote);
    bool plain_value = value[0] != '~' && !strpbrk(value, ":#\"'\\ ");
    quote = plain_value ? "" : "\"";
    vcm_buf_append_format(out, "%s%s%s", quote, value, quote);
    vcm_buf_append_slice(out, comment);
    vcm_buf_append_byte(out, '\n');
}

/* Appends the text with the line of `setting` replaced, or with a new line if `setting` is NULL. */
static void edit(struct vcm_buf *out, struct vcm_slice text,
                 const struct vcm_config_setting *setting, const char *name, const char *value)
{
    const char *p = text.data, *end = p + text.len;

    for (unsigned line = 1; p < end; line++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        size_t len = newline ? (size_t)(newline - p) + 1 : (size_t)(end - p);
        if (setting && setting->line == line)
            append_line(out, name, value, comment_of(vcm_slice_of(p, len)));
        else
            vcm_buf_append(out, p, len);
        p += len;
    }
    if (setting)
        return;
    if (out->len > 0 && out->data[out->len - 1] != '\n')
        vcm_buf_append_byte(out, '\n');
    append_line(out, name, value, vcm_slice_of("", 0));
}

/* Whether `text` has the settings of `config`, except that `name` is `value`. */
static int is_same_but(bool *same, const struct vcm_config *config, struct vcm_slice text,
                       const char *name, const char *value, struct vcm_error *err)
{
    struct vcm_config edited = {0};
    struct vcm_yaml_mark mark;
    struct vcm_error cause = {0};
    unsigned old_count = 0, new_count = 0;

    vcm_arena_init(&edited.arena, 16 * VCM_MIB);
    int rc = parse(&edited, &mark, text, &cause);
    *same = rc == VCM_OK;
    for (const struct vcm_config_setting *s = edited.settings; *same && s; s = s->next) {
        const struct vcm_config_setting *old = vcm_config_find(config, s->name);
        new_count++;
        if (strcmp(s->name, name) == 0)
            *same = strcmp(s->value, value) == 0;
        else
            *same = old && strcmp(old->value, s->value) == 0;
    }
    for (const struct vcm_config_setting *s = config->settings; s; s = s->next)
        old_count++;
    *same = *same && vcm_config_find(&edited, name) &&
            new_count == old_count + (vcm_config_find(config, name) ? 0 : 1);
    vcm_config_release(&edited);
    return rc == VCM_INTERNAL ? vcm_error_set(err, VCM_INTERNAL, "%s", cause.message) : VCM_OK;
}

/* The text of the file with one setting changed. */
static int change(struct vcm_buf *out, const char *path, const char *name, const char *value,
                  struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_CONFIG_BYTES);
    struct vcm_config config;
    bool same = false;

    int rc = load(&config, &text, path, err);
    if (rc == VCM_OK) {
        edit(out, vcm_buf_slice(&text), vcm_config_find(&config, name), name, value);
        rc = vcm_buf_check(out, VCM_CONFIG_FILE, err);
    }
    if (rc == VCM_OK)
        rc = is_same_but(&same, &config, vcm_buf_slice(out), name, value, err);
    if (rc == VCM_OK && !same)
        rc = vcm_error_set(err, VCM_UNSUPPORTED,
                           "'%s' is not laid out as lines 'key: value'; set %s there by hand", path,
                           name);
    vcm_config_release(&config);
    vcm_buf_release(&text);
    return rc;
}

int vcm_config_store(const char *path, const char *name, const char *value, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_CONFIG_BYTES);

    int rc = change(&text, path, name, value, err);
    if (rc == VCM_OK)
        rc = vcm_path_write_file(path, vcm_buf_slice(&text), 0600, err);
    vcm_buf_release(&text);
    return rc;
}
