#include "lfs/scaffold.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/path.h"
#include "base/utf8.h"
#include "lfs/template.h"

#include "base/banned.h"

#define COLONY_DIRECTORY ".colony"
#define UNSPECIFIED      "unspecified"
#define PATTERNS_SHOWN   5

/* A file of ours as it was before the run. */
struct look {
    const char *path;
    bool on_disk;
    bool is_link;
    struct vcm_commit_entry entry;
};

struct planner {
    struct vcm_scaffold *s;
    struct vcm_bootstrap *b;
    const struct vcm_command *git;
    const struct vcm_scaffold_facts *facts;
    const struct vcm_bootstrap_options *options;
    int root_fd;
    struct look manifest, repo_map, attributes;
};

static const struct vcm_slice no_input = {NULL, 0};

void vcm_scaffold_init(struct vcm_scaffold *scaffold)
{
    *scaffold = (struct vcm_scaffold){.file_count = 0};
    vcm_manifest_init(&scaffold->manifest);
    vcm_buf_init(&scaffold->manifest_text, VCM_LIMIT_MANIFEST_BYTES);
    vcm_buf_init(&scaffold->manifest_before, VCM_LIMIT_MANIFEST_BYTES);
    vcm_buf_init(&scaffold->attributes_text, VCM_LIMIT_ATTRIBUTES_BYTES);
}

void vcm_scaffold_release(struct vcm_scaffold *scaffold)
{
    vcm_manifest_release(&scaffold->manifest);
    vcm_buf_release(&scaffold->manifest_text);
    vcm_buf_release(&scaffold->manifest_before);
    vcm_buf_release(&scaffold->attributes_text);
}

static int check_colony(struct planner *p, struct vcm_error *err)
{
    struct stat status;

    if (fstatat(p->root_fd, COLONY_DIRECTORY, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        S_ISDIR(status.st_mode))
        return VCM_OK;
    return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                         "'%s/%s' is %s; move it away: it must be a directory", p->b->repo_root,
                         COLONY_DIRECTORY,
                         S_ISLNK(status.st_mode) ? "a symbolic link" : "no directory");
}

static int look_at(struct look *look, struct planner *p, struct vcm_error *err)
{
    const char *path = look->path;
    struct stat status;

    look->on_disk = fstatat(p->root_fd, path, &status, AT_SYMLINK_NOFOLLOW) == 0;
    look->is_link = look->on_disk && S_ISLNK(status.st_mode);
    if (look->on_disk && !S_ISREG(status.st_mode) &&
        !(look->is_link && strcmp(path, VCM_ATTRIBUTES_PATH) == 0))
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "'%s/%s' is %s; it must be a plain file",
                             p->b->repo_root, path, look->is_link ? "a symbolic link" : "no file");
    return VCM_OK;
}

static int look_around(struct planner *p, struct vcm_error *err)
{
    static const char *const paths[] = {VCM_MANIFEST_PATH, VCM_TEMPLATE_REPO_MAP_PATH,
                                        VCM_ATTRIBUTES_PATH};
    struct look *const looks[] = {&p->manifest, &p->repo_map, &p->attributes};
    struct vcm_commit_entry entries[VCM_BOOTSTRAP_FILES_MAX];

    int rc = vcm_commit_look_up(entries, p->git, paths, VCM_BOOTSTRAP_FILES_MAX, err);
    for (size_t i = 0; rc == VCM_OK && i < VCM_BOOTSTRAP_FILES_MAX; i++) {
        looks[i]->path = paths[i];
        looks[i]->entry = entries[i];
        rc = look_at(looks[i], p, err);
    }
    return rc;
}

/* A file that is in git but not on disk is not created: the user deleted it, or the checkout is
 * sparse. */
static bool is_missing(const struct look *look)
{
    return !look->on_disk && !look->entry.head[0] && !look->entry.staged[0];
}

static void warn_about(struct planner *p, const struct look *look)
{
    if (!look->on_disk && !is_missing(look))
        vcm_bootstrap_warn(p->b,
                           "%s is in git but not on disk, and was not created; git restore %s "
                           "restores it",
                           look->path, look->path);
    else if (look->on_disk && !look->entry.head[0] && !look->entry.staged[0])
        vcm_bootstrap_warn(p->b, "%s was here but is not in git; add and commit it yourself",
                           look->path);
}

/* The content of a file on disk, else in git. */
static int read_look(struct vcm_buf *out, struct planner *p, const struct look *look, size_t max,
                     struct vcm_error *err)
{
    const char *id = look->entry.staged[0] ? look->entry.staged : look->entry.head;
    char path[64];

    if (!look->on_disk)
        return vcm_command_read(out, p->git, VCM_COMMAND_ARGS("cat-file", "blob", id), no_input,
                                err);
    int fd = vcm_path_open_beneath(p->root_fd, look->path, O_RDONLY | O_NONBLOCK, err);
    if (fd < 0)
        return VCM_IO_ERROR;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int rc = vcm_path_read_file(out, path, max, err);
    close(fd);
    return vcm_error_wrap(err, rc, "%s", look->path);
}

/* Whether a run that was killed left the file: it is on disk with the content that this run would
 * give it, and not in HEAD. It is committed then as if this run had written it. */
static bool is_left_over(struct planner *p, const struct look *look, struct vcm_slice content)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_ATTRIBUTES_BYTES);

    bool left = look->on_disk && !look->is_link && !look->entry.head[0] &&
                read_look(&text, p, look, VCM_LIMIT_ATTRIBUTES_BYTES, NULL) == VCM_OK &&
                vcm_slice_equal(vcm_buf_slice(&text), content);
    vcm_buf_release(&text);
    return left;
}

/* The last part of a URL or path, without ".git"; and the part before it when the URL has a
 * host. */
static void name_parts(struct vcm_slice *name, struct vcm_slice *owner, const char *url)
{
    struct vcm_slice text = vcm_slice_of_string(url);
    const char *scheme = strstr(url, "://");
    bool has_host = scheme ? strncmp(url, "file:", 5) != 0
                           : strchr(url, ':') && strcspn(url, ":") < strcspn(url, "/");

    while (text.len > 0 && text.data[text.len - 1] == '/')
        text.len--;
    if (text.len > 4 && memcmp(text.data + text.len - 4, ".git", 4) == 0)
        text.len -= 4;
    size_t start = text.len;
    while (start > 0 && !strchr("/:", text.data[start - 1]))
        start--;
    *name = vcm_slice_of(text.data + start, text.len - start);
    *owner = vcm_slice_of(NULL, 0);
    if (!has_host || start < 2)
        return;
    size_t end = start - 1, from = end;
    while (from > 0 && !strchr("/:", text.data[from - 1]))
        from--;
    /* "https://host/name" and "host:name" have no owner before the name. */
    bool is_host = scheme ? from <= (size_t)(scheme - url) + 3 : from == 0;
    if (!is_host)
        *owner = vcm_slice_of(text.data + from, end - from);
}

static int settle(const char **out, struct planner *p, const char *given,
                  struct vcm_slice otherwise, struct vcm_error *err)
{
    struct vcm_buf clean = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    *out = NULL;
    if (given)
        otherwise = vcm_slice_of_string(given);
    else if (otherwise.len == 0)
        otherwise = vcm_slice_of_string(UNSPECIFIED);
    vcm_utf8_replace(&clean, otherwise);
    int rc = vcm_buf_check(&clean, "a name", err);
    if (rc == VCM_OK && !(*out = vcm_arena_copy(&p->s->manifest.arena, vcm_buf_slice(&clean))))
        rc = vcm_error_memory(err);
    vcm_buf_release(&clean);
    return rc;
}

static int new_manifest(struct planner *p, struct vcm_error *err)
{
    const struct vcm_bootstrap_options *o = p->options;
    struct vcm_manifest *m = &p->s->manifest;
    const char *origin = p->facts->origin_url;
    struct vcm_slice name, owner;

    name_parts(&name, &owner, origin[0] ? origin : p->b->repo_root);
    if (!origin[0])
        owner = vcm_slice_of(NULL, 0);
    int rc = settle(&m->tenant, p, o->tenant, owner, err);
    if (rc == VCM_OK)
        rc = settle(&m->colony, p, o->colony, name, err);
    if (rc == VCM_OK)
        rc = settle(&m->program, p, o->program, vcm_slice_of_string(m->colony), err);
    if (rc == VCM_OK && origin[0])
        rc = settle(&m->design_repo_url, p, origin, name, err);
    if (rc == VCM_OK && p->facts->branch[0])
        rc = settle(&m->default_branch, p, p->facts->branch, name, err);
    m->lfs.mode = o->no_lfs ? VCM_MANIFEST_LFS_DISABLED : VCM_MANIFEST_LFS_SAME_REMOTE;
    return rc == VCM_OK ? vcm_manifest_format(&p->s->manifest_text, m, err) : rc;
}

/* The edit is committed with the whole file, so the file must have no other uncommitted changes. */
static int check_unchanged(struct planner *p, struct vcm_error *err)
{
    const struct vcm_commit_entry *entry = &p->manifest.entry;
    struct vcm_buf id = VCM_BUF_INIT(256);

    int rc = vcm_command_read(
        &id, p->git, VCM_COMMAND_ARGS("hash-object", "--stdin", "--path=" VCM_MANIFEST_PATH),
        vcm_buf_slice(&p->s->manifest_before), err);
    bool untracked = !entry->head[0] && !entry->staged[0];
    if (rc == VCM_OK && !untracked &&
        (strcmp(entry->head, entry->staged) != 0 || strcmp(entry->head, vcm_buf_text(&id)) != 0))
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT,
                           "%s has changes that are not committed; commit them, then run vcm init "
                           "again to turn LFS on, or use --no-lfs",
                           VCM_MANIFEST_PATH);
    vcm_buf_release(&id);
    return rc;
}

static void add_file(struct planner *p, const char *path, struct vcm_slice content,
                     struct vcm_slice before)
{
    p->s->files[p->s->file_count++] =
        (struct vcm_commit_file){.path = path, .content = content, .before = before};
}

/* Plans a manifest that git does not have: a new one, or one that a killed run left. */
static int plan_new_manifest(bool *planned, struct planner *p, struct vcm_error *err)
{
    struct vcm_scaffold *s = p->s;
    bool missing = is_missing(&p->manifest), left = false;
    struct vcm_slice nothing = {NULL, 0};

    int rc = new_manifest(p, err);
    struct vcm_slice content = vcm_buf_slice(&s->manifest_text);
    if (rc == VCM_OK && !missing)
        left = is_left_over(p, &p->manifest, content);
    *planned = rc == VCM_OK && (missing || left);
    if (*planned)
        add_file(p, VCM_MANIFEST_PATH, content, left ? content : nothing);
    else
        vcm_buf_clear(&s->manifest_text);
    return rc;
}

/* Whether a killed run left HEAD's manifest on disk with LFS turned on, and nothing else changed.
 */
static int is_left_edited(bool *out, struct planner *p, struct vcm_error *err)
{
    struct vcm_buf head = VCM_BUF_INIT(VCM_LIMIT_MANIFEST_BYTES);
    struct vcm_buf edited = VCM_BUF_INIT(VCM_LIMIT_MANIFEST_BYTES);
    const char *id = p->manifest.entry.head;
    struct vcm_manifest manifest;
    int status = -1;

    *out = false;
    if (!id[0] || !p->manifest.on_disk)
        return VCM_OK;
    vcm_manifest_init(&manifest);
    int rc = vcm_command_run(&status, &head, NULL, p->git, VCM_COMMAND_ARGS("cat-file", "blob", id),
                             no_input, err);
    if (rc == VCM_OK && status == 0 &&
        vcm_manifest_parse(&manifest, vcm_buf_slice(&head), VCM_MANIFEST_PATH, NULL) == VCM_OK &&
        manifest.lfs.mode == VCM_MANIFEST_LFS_DISABLED &&
        vcm_manifest_enable_lfs(&edited, vcm_buf_slice(&head), NULL) == VCM_OK)
        *out = vcm_slice_equal(vcm_buf_slice(&edited), vcm_buf_slice(&p->s->manifest_before));
    vcm_manifest_release(&manifest);
    vcm_buf_release(&edited);
    vcm_buf_release(&head);
    return rc;
}

static int plan_manifest(struct planner *p, struct vcm_error *err)
{
    struct vcm_scaffold *s = p->s;
    struct vcm_slice before = {NULL, 0};
    bool planned = false, left = false;
    int rc = VCM_OK;

    if (!p->manifest.entry.head[0] && (p->manifest.on_disk || is_missing(&p->manifest)))
        rc = plan_new_manifest(&planned, p, err);
    if (rc != VCM_OK || planned)
        return rc;
    rc = read_look(&s->manifest_before, p, &p->manifest, VCM_LIMIT_MANIFEST_BYTES, err);
    before = vcm_buf_slice(&s->manifest_before);
    if (rc == VCM_OK) {
        vcm_manifest_release(&s->manifest);
        rc = vcm_manifest_parse(&s->manifest, before, VCM_MANIFEST_PATH, err);
    }
    if (rc == VCM_OK && !p->options->no_lfs)
        rc = is_left_edited(&left, p, err);
    if (left) {
        add_file(p, VCM_MANIFEST_PATH, before, before);
        return rc;
    }
    bool edit = rc == VCM_OK && s->manifest.lfs.mode == VCM_MANIFEST_LFS_DISABLED &&
                !p->options->no_lfs && p->manifest.on_disk;
    if (!edit) {
        warn_about(p, &p->manifest);
        return rc;
    }
    rc = check_unchanged(p, err);
    if (rc == VCM_OK)
        rc = vcm_manifest_enable_lfs(&s->manifest_text, before, err);
    s->manifest.lfs.mode = VCM_MANIFEST_LFS_SAME_REMOTE;
    add_file(p, VCM_MANIFEST_PATH, vcm_buf_slice(&s->manifest_text), before);
    return rc;
}

/* The user's file is not changed; a warning lists the formats that it does not name. */
static void warn_about_patterns(struct planner *p)
{
    struct vcm_buf names = VCM_BUF_INIT(1024);
    size_t missing = 0;
    const char *pattern;

    for (size_t i = 0; (pattern = vcm_template_pattern(i)); i++) {
        if (vcm_attributes_has(p->s->patterns, pattern))
            continue;
        if (missing++ < PATTERNS_SHOWN)
            vcm_buf_append_format(&names, "%s%s", missing > 1 ? ", " : "", pattern);
    }
    if (missing > 0)
        vcm_bootstrap_warn(p->b,
                           "%s was here and is left as it is; it does not send %zu of the usual "
                           "formats to LFS: %s%s. Add those that you use with git lfs track",
                           VCM_ATTRIBUTES_PATH, missing, vcm_buf_text(&names),
                           missing > PATTERNS_SHOWN ? " and more" : "");
    vcm_buf_release(&names);
}

static int plan_attributes(struct planner *p, struct vcm_error *err)
{
    struct vcm_scaffold *s = p->s;
    bool missing = is_missing(&p->attributes), left = false;
    struct vcm_slice nothing = {NULL, 0};
    int rc = VCM_OK;

    if (p->attributes.is_link) {
        vcm_bootstrap_warn(p->b, "%s is a symbolic link, which git does not follow; make it a file",
                           VCM_ATTRIBUTES_PATH);
        return VCM_OK;
    }
    vcm_template_attributes(&s->attributes_text);
    if (!missing)
        left = is_left_over(p, &p->attributes, vcm_buf_slice(&s->attributes_text));
    if (!missing && !left) {
        vcm_buf_clear(&s->attributes_text);
        rc = read_look(&s->attributes_text, p, &p->attributes, VCM_LIMIT_ATTRIBUTES_BYTES, err);
    }
    if (rc == VCM_OK)
        rc = vcm_buf_check(&s->attributes_text, VCM_ATTRIBUTES_PATH, err);
    if (rc == VCM_OK)
        rc = vcm_attributes_parse(&s->patterns, &p->b->arena, vcm_buf_slice(&s->attributes_text),
                                  err);
    if (rc != VCM_OK)
        return rc;
    if (missing || left) {
        struct vcm_slice content = vcm_buf_slice(&s->attributes_text);
        add_file(p, VCM_ATTRIBUTES_PATH, content, left ? content : nothing);
    } else {
        warn_about(p, &p->attributes);
        warn_about_patterns(p);
    }
    return VCM_OK;
}

static void plan_repo_map(struct planner *p)
{
    struct vcm_slice content = vcm_slice_of_string(vcm_template_repo_map);
    struct vcm_slice nothing = {NULL, 0};
    bool left = is_left_over(p, &p->repo_map, content);

    if (left || is_missing(&p->repo_map))
        add_file(p, VCM_TEMPLATE_REPO_MAP_PATH, content, left ? content : nothing);
    else
        warn_about(p, &p->repo_map);
}

static int plan_all(struct planner *p, struct vcm_error *err)
{
    int rc = check_colony(p, err);
    if (rc == VCM_OK)
        rc = look_around(p, err);
    if (rc == VCM_OK)
        rc = plan_manifest(p, err);
    if (rc == VCM_OK)
        plan_repo_map(p);
    bool lfs = !p->options->no_lfs && p->s->manifest.lfs.mode != VCM_MANIFEST_LFS_DISABLED;
    return rc == VCM_OK && lfs ? plan_attributes(p, err) : rc;
}

int vcm_scaffold_plan(struct vcm_scaffold *scaffold, struct vcm_bootstrap *bootstrap,
                      const struct vcm_command *git, const struct vcm_scaffold_facts *facts,
                      const struct vcm_bootstrap_options *options, struct vcm_error *err)
{
    struct planner p = {.s = scaffold,
                        .b = bootstrap,
                        .git = git,
                        .facts = facts,
                        .options = options,
                        .root_fd = open(bootstrap->repo_root, O_PATH | O_DIRECTORY | O_CLOEXEC)};

    if (p.root_fd < 0)
        return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot open '%s'", bootstrap->repo_root);
    int rc = plan_all(&p, err);
    close(p.root_fd);
    return rc;
}
