#include "lfs/manifest.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/json.h"
#include "base/jsonw.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/text.h"

#include "base/banned.h"

#define ARENA_BYTES_MAX (4 * VCM_MIB)
#define INDENT          2

enum type {
    TYPE_VERSION,
    TYPE_TEXT,
    TYPE_OPTIONAL_TEXT, /* a string or null */
    TYPE_BOOL,
    TYPE_NAME, /* one of a list of words, kept as its index */
    TYPE_OBJECT,
    TYPE_IMPORTS, /* a list of objects */
};

/* One key. Tables are sorted by name, because they are written in this order. */
struct field {
    const char *name;
    enum type type;
    bool required;
    size_t offset;
    const char *const *names;    /* of TYPE_NAME; ends with NULL */
    const struct field *members; /* of TYPE_OBJECT and TYPE_IMPORTS; ends with a NULL name */
};

static const char *const topologies[] = {
    [VCM_MANIFEST_EXTERNAL] = "external",
    [VCM_MANIFEST_SELF_HOSTED_GITEA] = "self_hosted_gitea",
    [VCM_MANIFEST_AIR_GAPPED] = "air_gapped",
    NULL,
};

static const char *const modes[] = {
    [VCM_MANIFEST_LFS_SAME_REMOTE] = "same_remote",
    [VCM_MANIFEST_LFS_SEPARATE] = "separate",
    [VCM_MANIFEST_LFS_DISABLED] = "disabled",
    NULL,
};

#define AT(type, member) .offset = offsetof(struct type, member)

static const struct field lfs_fields[] = {
    {"credentials_ref", TYPE_OPTIONAL_TEXT, AT(vcm_manifest_lfs, credentials_ref)},
    {"mode", TYPE_NAME, AT(vcm_manifest_lfs, mode), .names = modes},
    {"separate_url", TYPE_OPTIONAL_TEXT, AT(vcm_manifest_lfs, separate_url)},
    {.name = NULL},
};

static const struct field webhook_fields[] = {
    {"enabled", TYPE_BOOL, AT(vcm_manifest_webhook, enabled)},
    {"endpoint", TYPE_OPTIONAL_TEXT, AT(vcm_manifest_webhook, endpoint)},
    {"secret_ref", TYPE_OPTIONAL_TEXT, AT(vcm_manifest_webhook, secret_ref)},
    {.name = NULL},
};

static const struct field import_fields[] = {
    {"name", TYPE_TEXT, true, AT(vcm_manifest_import, name)},
    {"ref", TYPE_TEXT, AT(vcm_manifest_import, ref)},
    {"scope", TYPE_TEXT, AT(vcm_manifest_import, scope)},
    {"url", TYPE_TEXT, true, AT(vcm_manifest_import, url)},
    {"writable", TYPE_BOOL, AT(vcm_manifest_import, writable)},
    {.name = NULL},
};

static const struct field manifest_fields[] = {
    {"agent_email_domain", TYPE_TEXT, AT(vcm_manifest, agent_email_domain)},
    {"colony", TYPE_TEXT, true, AT(vcm_manifest, colony)},
    {"credentials_ref", TYPE_OPTIONAL_TEXT, AT(vcm_manifest, credentials_ref)},
    {"default_branch", TYPE_TEXT, AT(vcm_manifest, default_branch)},
    {"design_repo_url", TYPE_TEXT, true, AT(vcm_manifest, design_repo_url)},
    {"imports_tooling_from", TYPE_IMPORTS, AT(vcm_manifest, imports_tooling_from),
     .members = import_fields},
    {"lfs", TYPE_OBJECT, AT(vcm_manifest, lfs), .members = lfs_fields},
    {"program", TYPE_TEXT, true, AT(vcm_manifest, program)},
    {"schema_version", TYPE_VERSION, true, AT(vcm_manifest, schema_version)},
    {"target_system", TYPE_TEXT, true, AT(vcm_manifest, target_system)},
    {"tenant", TYPE_TEXT, true, AT(vcm_manifest, tenant)},
    {"topology", TYPE_NAME, AT(vcm_manifest, topology), .names = topologies},
    {"webhook", TYPE_OBJECT, AT(vcm_manifest, webhook), .members = webhook_fields},
    {.name = NULL},
};

void vcm_manifest_init(struct vcm_manifest *manifest)
{
    *manifest = (struct vcm_manifest){
        .schema_version = VCM_MANIFEST_SCHEMA_VERSION,
        .tenant = "",
        .colony = "",
        .program = "",
        .target_system = "unspecified",
        .design_repo_url = "",
        .topology = VCM_MANIFEST_EXTERNAL,
        .lfs = {.mode = VCM_MANIFEST_LFS_SAME_REMOTE},
        .default_branch = "main",
        .agent_email_domain = "agent.colony.local",
    };
    vcm_arena_init(&manifest->arena, ARENA_BYTES_MAX);
}

void vcm_manifest_release(struct vcm_manifest *manifest)
{
    vcm_arena_release(&manifest->arena);
}

/* The position of a node in the text of its document. The text is valid JSON, so the scan only has
 * to tell strings from the rest. */
struct finder {
    struct vcm_slice text;
    const struct vcm_json *target;
    size_t at;
    size_t key;   /* of the target, when it is a member; else its value */
    size_t value; /* of the target */
};

static void skip_space(struct finder *f)
{
    while (f->at < f->text.len && strchr(" \t\r\n,:", f->text.data[f->at]))
        f->at++;
}

static void skip_scalar(struct finder *f)
{
    bool quoted = f->at < f->text.len && f->text.data[f->at] == '"';

    if (quoted)
        for (f->at++; f->at < f->text.len && f->text.data[f->at] != '"'; f->at++)
            f->at += f->text.data[f->at] == '\\';
    else
        while (f->at < f->text.len && !strchr(" \t\r\n,]}", f->text.data[f->at]))
            f->at++;
    f->at += quoted;
}

static bool find_node(struct finder *f, const struct vcm_json *node, size_t key)
{
    skip_space(f);
    if (node == f->target) {
        f->value = f->at;
        f->key = key < f->at ? key : f->at;
        return true;
    }
    if (node->kind != VCM_JSON_OBJECT && node->kind != VCM_JSON_ARRAY) {
        skip_scalar(f);
        return false;
    }
    f->at++;
    for (const struct vcm_json *child = node->first; child; child = child->next) {
        skip_space(f);
        size_t start = f->at;
        if (node->kind == VCM_JSON_OBJECT)
            skip_scalar(f);
        if (find_node(f, child, start))
            return true;
    }
    skip_space(f);
    f->at++;
    return false;
}

struct reader {
    struct vcm_manifest *out;
    const struct vcm_json *root;
    struct vcm_slice text;
    const char *path;
    struct vcm_error *err;
};

/* Sets the line and column of `node`: of its key, or of its value when it has none. */
static int fail(const struct reader *r, const struct vcm_json *node, bool at_key,
                enum vcm_code code, const char *format, ...) __attribute__((format(printf, 5, 6)));

static int fail(const struct reader *r, const struct vcm_json *node, bool at_key,
                enum vcm_code code, const char *format, ...)
{
    struct finder f = {.text = r->text, .target = node};
    unsigned line = 1, column = 1;
    char what[320];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    find_node(&f, r->root, 0);
    size_t offset = at_key ? f.key : f.value;
    for (size_t i = 0; i < offset && i < r->text.len; i++) {
        bool ends = r->text.data[i] == '\n';
        line += ends;
        column = ends ? 1 : column + (((unsigned char)r->text.data[i] & 0xc0) != 0x80);
    }
    return vcm_error_set(r->err, code, "%s, line %u, column %u: %s", r->path, line, column, what);
}

static int wrong_type(const struct reader *r, const struct vcm_json *node, const char *name,
                      const char *wanted)
{
    return fail(r, node, false, VCM_INVALID_ARGUMENT, "'%s' must be %s", name, wanted);
}

static int take_text(const char **out, const struct reader *r, const struct vcm_json *node,
                     const char *name, bool optional)
{
    if (optional && node->kind == VCM_JSON_NULL) {
        *out = NULL;
        return VCM_OK;
    }
    if (node->kind != VCM_JSON_STRING)
        return wrong_type(r, node, name, optional ? "a string or null" : "a string");
    if (memchr(node->text.data, '\0', node->text.len))
        return wrong_type(r, node, name, "a string without NUL");
    *out = node->text.data;
    return VCM_OK;
}

static int take_name(int *out, const struct reader *r, const struct vcm_json *node,
                     const struct field *field)
{
    char list[160] = "one of";
    size_t used = strlen(list);

    for (int i = 0; field->names[i]; i++) {
        if (node->kind == VCM_JSON_STRING &&
            vcm_slice_equal(node->text, vcm_slice_of_string(field->names[i]))) {
            *out = i;
            return VCM_OK;
        }
        int more =
            snprintf(list + used, sizeof list - used, "%s %s", i > 0 ? "," : "", field->names[i]);
        used += more > 0 ? (size_t)more : 0;
    }
    return wrong_type(r, node, field->name, list);
}

static int take_version(int *out, const struct reader *r, const struct vcm_json *node)
{
    if (node->kind != VCM_JSON_INT || node->integer < 1)
        return wrong_type(r, node, "schema_version", "the number 1");
    if (node->integer > VCM_MANIFEST_SCHEMA_VERSION)
        return fail(r, node, false, VCM_UNSUPPORTED,
                    "schema_version %lld is newer than %d, the newest that this vcm knows; use a "
                    "newer vcm",
                    (long long)node->integer, VCM_MANIFEST_SCHEMA_VERSION);
    *out = (int)node->integer;
    return VCM_OK;
}

static int take_object(void *out, const struct reader *r, const struct vcm_json *node,
                       const struct field *fields, const char *name);

static int take_imports(struct vcm_manifest_import **out, const struct reader *r,
                        const struct vcm_json *node)
{
    if (node->kind != VCM_JSON_ARRAY)
        return wrong_type(r, node, "imports_tooling_from", "a list of objects");
    for (const struct vcm_json *item = node->first; item; item = item->next) {
        struct vcm_manifest_import *import = vcm_arena_alloc(&r->out->arena, sizeof *import);
        if (!import)
            return vcm_error_memory(r->err);
        *import = (struct vcm_manifest_import){.ref = "main", .scope = "tools/"};
        int rc = take_object(import, r, item, import_fields, "imports_tooling_from");
        if (rc != VCM_OK)
            return rc;
        *out = import;
        out = &import->next;
    }
    return VCM_OK;
}

static int take_value(void *place, const struct reader *r, const struct vcm_json *node,
                      const struct field *field)
{
    switch (field->type) {
    case TYPE_VERSION:
        return take_version(place, r, node);
    case TYPE_TEXT:
    case TYPE_OPTIONAL_TEXT:
        return take_text(place, r, node, field->name, field->type == TYPE_OPTIONAL_TEXT);
    case TYPE_BOOL:
        if (node->kind != VCM_JSON_BOOL)
            return wrong_type(r, node, field->name, "true or false");
        *(bool *)place = node->boolean;
        return VCM_OK;
    case TYPE_NAME:
        return take_name(place, r, node, field);
    case TYPE_OBJECT:
        return take_object(place, r, node, field->members, field->name);
    case TYPE_IMPORTS:
        return take_imports(place, r, node);
    }
    return VCM_OK;
}

static const struct field *find_field(const struct field *fields, struct vcm_slice name)
{
    for (; fields->name; fields++)
        if (vcm_slice_equal(name, vcm_slice_of_string(fields->name)))
            return fields;
    return NULL;
}

static int refuse_key(const struct reader *r, const struct vcm_json *member,
                      const struct field *fields)
{
    const char *names[VCM_LIMIT_NAME_BYTES];
    size_t count = 0;

    for (; fields[count].name; count++)
        names[count] = fields[count].name;
    const char *nearest = vcm_text_nearest(member->key, names, count);
    return fail(r, member, true, VCM_INVALID_ARGUMENT, "unknown key '%.*s'%s%s%s",
                (int)(member->key.len < 64 ? member->key.len : 64), member->key.data,
                nearest ? "; did you mean '" : "; remove it, or use the vcm that wrote it",
                nearest ? nearest : "", nearest ? "'?" : "");
}

static int take_object(void *out, const struct reader *r, const struct vcm_json *node,
                       const struct field *fields, const char *name)
{
    if (node->kind != VCM_JSON_OBJECT)
        return wrong_type(r, node, name, "an object");
    for (const struct vcm_json *member = node->first; member; member = member->next) {
        const struct field *field = find_field(fields, member->key);
        if (!field)
            return refuse_key(r, member, fields);
        int rc = take_value((char *)out + field->offset, r, member, field);
        if (rc != VCM_OK)
            return rc;
    }
    for (const struct field *field = fields; field->name; field++)
        if (field->required && !vcm_json_get(node, field->name))
            return fail(r, node, false, VCM_INVALID_ARGUMENT, "the key '%s' is missing",
                        field->name);
    return VCM_OK;
}

/* The version is checked first: a newer schema has keys that would be reported as unknown. */
static int check_version(const struct reader *r)
{
    const struct vcm_json *version = vcm_json_get(r->root, "schema_version");
    int ignored;

    return version ? take_version(&ignored, r, version) : VCM_OK;
}

/* A manifest comes with a repository, so its URL is as untrusted as the repository. */
static int check_separate_url(const struct reader *r)
{
    static const char *const schemes[] = {"https://", "http://", "ssh://", "file:///"};
    const struct vcm_json *lfs = vcm_json_get(r->root, "lfs");
    const char *url = r->out->lfs.separate_url;

    if (!url) {
        if (r->out->lfs.mode != VCM_MANIFEST_LFS_SEPARATE)
            return VCM_OK;
        return fail(r, lfs, true, VCM_INVALID_ARGUMENT,
                    "the mode 'separate' needs a 'separate_url'");
    }
    for (const unsigned char *c = (const unsigned char *)url; *c; c++)
        if (*c <= ' ' || *c == 0x7f)
            return wrong_type(r, vcm_json_get(lfs, "separate_url"), "separate_url",
                              "a URL without spaces");
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
        if (strncmp(url, schemes[i], strlen(schemes[i])) == 0 && url[strlen(schemes[i])] != '-')
            return VCM_OK;
    return wrong_type(r, vcm_json_get(lfs, "separate_url"), "separate_url",
                      "a URL with https, http, ssh or file");
}

int vcm_manifest_parse(struct vcm_manifest *out, struct vcm_slice text, const char *path,
                       struct vcm_error *err)
{
    struct reader r = {.out = out, .text = text, .path = path, .err = err};
    struct vcm_json *root = NULL;

    vcm_manifest_init(out);
    int rc = vcm_json_parse(&root, &out->arena, text, err);
    if (rc != VCM_OK)
        return vcm_error_wrap(err, rc, "%s", path);
    r.root = root;
    rc = check_version(&r);
    if (rc == VCM_OK)
        rc = take_object(out, &r, root, manifest_fields, "the manifest");
    return rc == VCM_OK ? check_separate_url(&r) : rc;
}

static int read_beneath(struct vcm_buf *text, const char *root, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(64);
    int fd = -1;
    int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (root_fd < 0)
        return vcm_error_set(err, VCM_NOT_FOUND, "no directory '%s'", root);
    fd = vcm_path_open_beneath(root_fd, VCM_MANIFEST_PATH, O_RDONLY | O_NONBLOCK, err);
    int rc = fd >= 0 ? VCM_OK : (int)err->code;
    if (rc == VCM_OK) {
        vcm_buf_append_format(&path, "/proc/self/fd/%d", fd);
        rc = vcm_path_read_file(text, vcm_buf_text(&path), VCM_LIMIT_MANIFEST_BYTES, err);
        close(fd);
    }
    vcm_buf_release(&path);
    close(root_fd);
    return rc == VCM_OK ? VCM_OK : vcm_error_wrap(err, rc, VCM_MANIFEST_PATH);
}

int vcm_manifest_load(struct vcm_manifest *out, const char *root, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_MANIFEST_BYTES);
    struct vcm_error failure = {0};

    vcm_manifest_init(out);
    int rc = read_beneath(&text, root, &failure);
    if (rc == VCM_OK)
        rc = vcm_manifest_parse(out, vcm_buf_slice(&text), VCM_MANIFEST_PATH, &failure);
    if (rc != VCM_OK && err && err->code == VCM_OK)
        *err = failure;
    vcm_buf_release(&text);
    return rc;
}

static void put_line(struct vcm_buf *out, unsigned depth, bool first)
{
    vcm_buf_append_string(out, first ? "\n" : ",\n");
    for (unsigned i = 0; i < INDENT * depth; i++)
        vcm_buf_append_byte(out, ' ');
}

static void put_end(struct vcm_buf *out, unsigned depth, bool empty, char bracket)
{
    if (!empty)
        put_line(out, depth, true);
    vcm_buf_append_byte(out, bracket);
}

static void put_object(struct vcm_buf *out, const void *object, const struct field *fields,
                       unsigned depth);

static void put_imports(struct vcm_buf *out, const struct vcm_manifest_import *first,
                        unsigned depth)
{
    vcm_buf_append_byte(out, '[');
    for (const struct vcm_manifest_import *i = first; i; i = i->next) {
        put_line(out, depth + 1, i == first);
        put_object(out, i, import_fields, depth + 1);
    }
    put_end(out, depth, !first, ']');
}

static void put_text(struct vcm_buf *out, const char *text)
{
    if (text)
        vcm_jsonw_escape(out, vcm_slice_of_string(text));
    else
        vcm_buf_append_string(out, "null");
}

static void put_value(struct vcm_buf *out, const void *place, const struct field *field,
                      unsigned depth)
{
    switch (field->type) {
    case TYPE_VERSION:
        vcm_buf_append_format(out, "%d", *(const int *)place);
        break;
    case TYPE_TEXT:
    case TYPE_OPTIONAL_TEXT:
        put_text(out, *(const char *const *)place);
        break;
    case TYPE_BOOL:
        vcm_buf_append_string(out, *(const bool *)place ? "true" : "false");
        break;
    case TYPE_NAME:
        put_text(out, field->names[*(const int *)place]);
        break;
    case TYPE_OBJECT:
        put_object(out, place, field->members, depth);
        break;
    case TYPE_IMPORTS:
        put_imports(out, *(struct vcm_manifest_import *const *)place, depth);
        break;
    }
}

static void put_object(struct vcm_buf *out, const void *object, const struct field *fields,
                       unsigned depth)
{
    vcm_buf_append_byte(out, '{');
    for (const struct field *field = fields; field->name; field++) {
        put_line(out, depth + 1, field == fields);
        vcm_jsonw_escape(out, vcm_slice_of_string(field->name));
        vcm_buf_append_string(out, ": ");
        put_value(out, (const char *)object + field->offset, field, depth + 1);
    }
    put_end(out, depth, false, '}');
}

int vcm_manifest_format(struct vcm_buf *out, const struct vcm_manifest *manifest,
                        struct vcm_error *err)
{
    put_object(out, manifest, manifest_fields, 0);
    vcm_buf_append_byte(out, '\n');
    return vcm_buf_check(out, "the manifest", err);
}

int vcm_manifest_enable_lfs(struct vcm_buf *out, struct vcm_slice text, struct vcm_error *err)
{
    static const char disabled[] = "disabled";
    struct vcm_arena arena;
    struct vcm_json *root = NULL;

    vcm_arena_init(&arena, ARENA_BYTES_MAX);
    int rc = vcm_json_parse(&root, &arena, text, err);
    const struct vcm_json *lfs = vcm_json_get(root, "lfs");
    struct finder f = {.text = text, .target = vcm_json_get(lfs, "mode")};
    if (rc == VCM_OK && (!f.target || !find_node(&f, root, 0) ||
                         strcmp(vcm_json_get_text(lfs, "mode", ""), disabled) != 0))
        rc = vcm_error_set(err, VCM_INTERNAL, "the manifest does not disable LFS");
    if (rc == VCM_OK) {
        size_t start = f.at;
        skip_scalar(&f);
        vcm_buf_append(out, text.data, start);
        vcm_buf_append_string(out, "\"same_remote\"");
        vcm_buf_append(out, text.data + f.at, text.len - f.at);
        rc = vcm_buf_check(out, "the manifest", err);
    }
    vcm_arena_release(&arena);
    return rc;
}
