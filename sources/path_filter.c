#include "sources/path_filter.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/limits.h"
#include "git/blob.h"
#include "sources/glob.h"
#include "sources/ignore.h"

#include "base/banned.h"

struct patterns {
    struct vcm_glob_list list;
    bool *used; /* one for each */
};

struct entry {
    char *start_dir; /* no trailing slash */
    size_t start_len;
    struct patterns include, exclude;
    bool heeds_ignore_files;
    bool found;
};

/* The state of an entry at a directory that is its start_dir, below it, or above it. */
struct state {
    unsigned index;
    bool inside;   /* at start_dir or below */
    bool included; /* with all below it */
    bool excluded;
};

struct level {
    size_t first; /* index of its first state */
    size_t count;
    bool same_rules; /* the same ignore files as in the base, down to this directory */
};

struct vcm_path_filter {
    struct entry *entries;
    unsigned count;
    size_t capacity;
    bool heeds_ignore_files;
    bool notes_use;
    bool skips_excluded;

    struct state *states; /* of all levels, concatenated */
    size_t state_capacity;
    struct level *levels; /* VCM_LIMIT_TREE_DEPTH of them */
    size_t depth;
    struct vcm_path_filter_verdict *verdicts;
    struct vcm_glob_work work; /* of one walk */
    struct vcm_ignore *ignore;
    struct vcm_buf content; /* of an ignore file */
    struct vcm_git_repo *repo;
    vcm_path_filter_fn visit;
    void *context;
    const struct vcm_git_id *base;
    vcm_path_filter_unchanged_fn unchanged;
    vcm_path_filter_left_out_fn left_out;
};

int vcm_path_filter_open(struct vcm_path_filter **out, struct vcm_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return vcm_error_memory(err);
    vcm_buf_init(&(*out)->content, VCM_LIMIT_IGNORE_FILE_BYTES);
    return VCM_OK;
}

static void release_patterns(struct patterns *patterns)
{
    vcm_glob_list_release(&patterns->list);
    free(patterns->used);
}

static void release_entry(struct entry *entry)
{
    release_patterns(&entry->include);
    release_patterns(&entry->exclude);
    free(entry->start_dir);
}

void vcm_path_filter_close(struct vcm_path_filter *filter)
{
    if (!filter)
        return;
    for (unsigned i = 0; i < filter->count; i++)
        release_entry(&filter->entries[i]);
    free(filter->entries);
    vcm_buf_release(&filter->content);
    free(filter);
}

static int compile(struct patterns *patterns, const char *const *texts, unsigned count,
                   struct vcm_error *err)
{
    int rc = VCM_OK;

    vcm_glob_list_init(&patterns->list);
    for (unsigned i = 0; rc == VCM_OK && i < count; i++)
        rc = vcm_glob_list_add(&patterns->list, vcm_slice_of_string(texts[i]), err);
    if (rc == VCM_OK && count > 0) {
        patterns->used = calloc(count, sizeof *patterns->used);
        rc = patterns->used ? VCM_OK : vcm_error_memory(err);
    }
    return rc;
}

int vcm_path_filter_add(struct vcm_path_filter *filter, const struct vcm_path_filter_spec *spec,
                        struct vcm_error *err)
{
    struct entry entry = {.heeds_ignore_files = spec->heed_ignore_files};

    int rc = vcm_array_reserve(&filter->entries, &filter->capacity, filter->count + 1,
                               VCM_LIMIT_LIST_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    entry.start_len = strlen(spec->start_dir);
    while (entry.start_len > 0 && spec->start_dir[entry.start_len - 1] == '/')
        entry.start_len--;
    entry.start_dir = strndup(spec->start_dir, entry.start_len);
    if (!entry.start_dir)
        rc = vcm_error_memory(err);
    if (rc == VCM_OK)
        rc = compile(&entry.include, spec->include, spec->include_count, err);
    if (rc == VCM_OK)
        rc = compile(&entry.exclude, spec->exclude, spec->exclude_count, err);
    if (rc != VCM_OK) {
        release_entry(&entry);
        return rc;
    }
    filter->entries[filter->count++] = entry;
    filter->heeds_ignore_files |= entry.heeds_ignore_files;
    return VCM_OK;
}

void vcm_path_filter_note_use(struct vcm_path_filter *filter)
{
    filter->notes_use = true;
}

void vcm_path_filter_skip_excluded(struct vcm_path_filter *filter)
{
    filter->skips_excluded = true;
}

/* The path relative to start_dir, as the patterns expect it. */
static struct vcm_slice relative(const struct entry *entry, struct vcm_slice path)
{
    size_t skip = entry->start_len > 0 ? entry->start_len + 1 : 0;

    return vcm_slice_of(path.data + skip, path.len - skip);
}

/* A path and its last part, which is the same for all entries. */
struct subject {
    struct vcm_slice path;
    struct vcm_slice name;
    bool is_directory;
};

/* Whether the list selects the path, given whether it selects the directory above. */
static bool takes(const struct patterns *patterns, bool above, struct vcm_slice path,
                  const struct subject *subject, bool note_use)
{
    if (patterns->list.count == 0 || (above && !note_use))
        return above;
    return vcm_glob_list_match_named(&patterns->list, path, subject->name, subject->is_directory,
                                     note_use ? patterns->used : NULL) == VCM_GLOB_MATCH ||
           above;
}

static bool is_above(struct vcm_slice directory, const struct entry *entry)
{
    return entry->start_len > directory.len &&
           memcmp(entry->start_dir, directory.data, directory.len) == 0 &&
           (directory.len == 0 || entry->start_dir[directory.len] == '/');
}

/* Whether the entry could select anything below the directory, or has an unused pattern to note. */
static bool is_of_use(const struct vcm_path_filter *filter, const struct entry *entry,
                      const struct state *state, struct vcm_slice path)
{
    if (!filter->skips_excluded)
        return true;
    if (filter->notes_use && vcm_glob_list_reaches(&entry->exclude.list, path))
        return true;
    if (!filter->notes_use && state->excluded)
        return false;
    return state->included || vcm_glob_list_reaches(&entry->include.list, path);
}

/* The entry's state at a directory, from that at the directory above; false when it has none. */
static bool go_down(struct state *out, struct vcm_path_filter *filter, const struct state *above,
                    const struct subject *directory)
{
    struct entry *entry = &filter->entries[above->index];

    *out = *above;
    if (!above->inside) {
        out->inside =
            vcm_slice_equal(directory->path, vcm_slice_of(entry->start_dir, entry->start_len));
        entry->found |= out->inside;
        return out->inside || is_above(directory->path, entry);
    }
    struct vcm_slice path = relative(entry, directory->path);
    out->excluded = takes(&entry->exclude, above->excluded, path, directory, filter->notes_use);
    out->included = takes(&entry->include, above->included, path, directory, filter->notes_use);
    return is_of_use(filter, entry, out, path);
}

static int reserve_states(struct vcm_path_filter *filter, size_t count, struct vcm_error *err)
{
    return vcm_array_reserve(&filter->states, &filter->state_capacity, count,
                             VCM_LIMIT_LIST_ENTRIES, err);
}

static int enter_root(struct vcm_path_filter *filter, struct vcm_error *err)
{
    int rc = reserve_states(filter, filter->count, err);
    if (rc != VCM_OK)
        return rc;
    for (unsigned i = 0; i < filter->count; i++) {
        struct entry *entry = &filter->entries[i];
        bool inside = entry->start_len == 0;
        filter->states[i] = (struct state){
            .index = i, .inside = inside, .included = entry->include.list.count == 0};
        entry->found |= inside;
    }
    filter->levels[filter->depth++] = (struct level){0, filter->count, true};
    return VCM_OK;
}

static int enter_below(struct vcm_path_filter *filter, struct vcm_slice directory,
                       struct vcm_error *err)
{
    const struct subject subject = {directory, vcm_glob_last_part(directory), true};
    struct level above = filter->levels[filter->depth - 1];
    struct level level = {above.first + above.count, 0, above.same_rules};

    int rc = reserve_states(filter, level.first + above.count, err);
    if (rc != VCM_OK)
        return rc;
    for (size_t i = 0; i < above.count; i++)
        if (go_down(&filter->states[level.first + level.count], filter,
                    &filter->states[above.first + i], &subject))
            level.count++;
    filter->levels[filter->depth++] = level;
    return VCM_OK;
}

static int read_ignore_files(struct vcm_path_filter *filter,
                             const struct vcm_git_directory *directory, struct vcm_error *err)
{
    struct vcm_slice path = vcm_git_tree_directory_path(directory);
    bool ignored = false;

    int rc = vcm_ignore_enter(filter->ignore, &ignored, path, err);
    for (unsigned i = 0; rc == VCM_OK && !ignored && i < VCM_IGNORE_FILE_COUNT; i++) {
        struct vcm_git_entry entry;
        if (!vcm_git_tree_directory_entry(&entry, directory, vcm_ignore_file_names[i]) ||
            entry.kind == VCM_GIT_SYMLINK || entry.kind == VCM_GIT_SUBMODULE)
            continue;
        vcm_buf_clear(&filter->content);
        rc = vcm_git_blob_read(&filter->content, filter->repo, &entry.id, err);
        if (rc == VCM_OK)
            rc = vcm_ignore_add(filter->ignore, vcm_buf_slice(&filter->content), err);
        if (rc != VCM_OK)
            vcm_error_wrap(err, rc, "%.*s%s%s", (int)path.len, path.data, path.len > 0 ? "/" : "",
                           vcm_ignore_file_names[i]);
    }
    return rc;
}

static bool has_same_ignore_files(const struct vcm_git_directory *directory)
{
    for (unsigned i = 0; i < VCM_IGNORE_FILE_COUNT; i++)
        if (!vcm_git_tree_directory_same_entry(directory, vcm_ignore_file_names[i]))
            return false;
    return true;
}

static int enter(void *context, const struct vcm_git_directory *directory, struct vcm_error *err)
{
    struct vcm_path_filter *filter = context;

    assert(filter->depth < VCM_LIMIT_TREE_DEPTH && "the walk bounds its depth");
    int rc = filter->depth == 0 ? enter_root(filter, err)
                                : enter_below(filter, vcm_git_tree_directory_path(directory), err);
    if (rc == VCM_OK)
        rc = vcm_glob_work_check(&filter->work, err);
    if (rc != VCM_OK || !filter->ignore)
        return rc;
    if (!has_same_ignore_files(directory))
        filter->levels[filter->depth - 1].same_rules = false;
    rc = read_ignore_files(filter, directory, err);
    return rc == VCM_OK ? vcm_glob_work_check(&filter->work, err) : rc;
}

static int pass_unchanged(void *context, struct vcm_slice path, bool *skip, struct vcm_error *err)
{
    struct vcm_path_filter *filter = context;

    if (!filter->unchanged || !filter->levels[filter->depth - 1].same_rules)
        return VCM_OK;
    return filter->unchanged(filter->context, path, skip, err);
}

static void leave(void *context)
{
    struct vcm_path_filter *filter = context;

    assert(filter->depth > 0);
    filter->depth--;
    if (filter->ignore)
        vcm_ignore_leave(filter->ignore);
}

/* Sets the verdicts of a leaf and returns how many there are. The ignore files are asked at most
 * once per path, and only when some entry needs the answer. */
static unsigned judge_leaf(struct vcm_path_filter *filter, struct vcm_slice leaf)
{
    const struct subject subject = {leaf, vcm_glob_last_part(leaf), false};
    struct level level = filter->levels[filter->depth - 1];
    unsigned count = 0;
    int ignored = -1;

    for (size_t i = 0; i < level.count; i++) {
        const struct state *state = &filter->states[level.first + i];
        struct entry *entry = &filter->entries[state->index];
        if (!state->inside)
            continue;
        struct vcm_slice path = relative(entry, leaf);
        bool excluded = takes(&entry->exclude, state->excluded, path, &subject, filter->notes_use);
        bool included = takes(&entry->include, state->included, path, &subject, filter->notes_use);
        enum vcm_path_verdict verdict = excluded || !included ? VCM_PATH_EXCLUDED : VCM_PATH_TAKEN;
        if (verdict == VCM_PATH_EXCLUDED && filter->skips_excluded)
            continue;
        if (verdict == VCM_PATH_TAKEN && entry->heeds_ignore_files) {
            if (ignored < 0)
                ignored = vcm_ignore_has(filter->ignore, leaf);
            verdict = ignored ? VCM_PATH_IGNORED : VCM_PATH_TAKEN;
        }
        filter->verdicts[count++] = (struct vcm_path_filter_verdict){state->index, verdict};
    }
    return count;
}

/* The same for a directory that is not entered, as a whole. */
static unsigned judge_directory(struct vcm_path_filter *filter, struct vcm_slice path)
{
    const struct subject subject = {path, vcm_glob_last_part(path), true};
    struct level level = filter->levels[filter->depth - 1];
    unsigned count = 0;

    for (size_t i = 0; i < level.count; i++) {
        const struct state *above = &filter->states[level.first + i];
        const struct entry *rule = &filter->entries[above->index];
        struct state state;
        if (!above->inside || !go_down(&state, filter, above, &subject))
            continue;
        bool taken =
            !state.excluded &&
            (state.included || vcm_glob_list_reaches(&rule->include.list, relative(rule, path)));
        bool ignored = rule->heeds_ignore_files && vcm_ignore_has_directory(filter->ignore, path);
        filter->verdicts[count++] =
            (struct vcm_path_filter_verdict){state.index, !taken    ? VCM_PATH_EXCLUDED
                                                          : ignored ? VCM_PATH_IGNORED
                                                                    : VCM_PATH_TAKEN};
    }
    return count;
}

static int visit_leaf(void *context, const struct vcm_git_entry *leaf, struct vcm_error *err)
{
    struct vcm_path_filter *filter = context;
    unsigned count = judge_leaf(filter, leaf->path);

    int rc = vcm_glob_work_check(&filter->work, err);
    return rc == VCM_OK ? filter->visit(filter->context, leaf, filter->verdicts, count, err) : rc;
}

static int pass_missing(void *context, struct vcm_slice path, const struct vcm_git_id *id,
                        struct vcm_error *err)
{
    struct vcm_path_filter *filter = context;
    const struct vcm_git_entry entry = {.path = path, .kind = VCM_GIT_FILE, .id = *id};
    unsigned count = judge_directory(filter, path);

    int rc = vcm_glob_work_check(&filter->work, err);
    return rc == VCM_OK ? filter->left_out(filter->context, &entry, VCM_PATH_FILTER_MISSING,
                                           filter->verdicts, count, err)
                        : rc;
}

static int pass_refused(void *context, const struct vcm_git_entry *refused, bool is_directory,
                        enum vcm_git_refusal refusal, struct vcm_error *err)
{
    struct vcm_path_filter *filter = context;
    unsigned count =
        is_directory ? judge_directory(filter, refused->path) : judge_leaf(filter, refused->path);

    int rc = vcm_glob_work_check(&filter->work, err);
    if (rc != VCM_OK)
        return rc;
    return filter->left_out(filter->context, refused,
                            refusal == VCM_GIT_REFUSED_TWIN ? VCM_PATH_FILTER_TWIN
                                                            : VCM_PATH_FILTER_NAME,
                            filter->verdicts, count, err);
}

void vcm_path_filter_set_left_out(struct vcm_path_filter *filter,
                                  vcm_path_filter_left_out_fn left_out)
{
    filter->left_out = left_out;
}

void vcm_path_filter_set_base(struct vcm_path_filter *filter, const struct vcm_git_id *base,
                              vcm_path_filter_unchanged_fn unchanged)
{
    filter->base = base;
    filter->unchanged = base ? unchanged : NULL;
}

int vcm_path_filter_walk(struct vcm_path_filter *filter, struct vcm_git_repo *repo,
                         const struct vcm_git_id *commit, const char *start_dir,
                         vcm_path_filter_fn visit, void *context, const struct vcm_cancel *cancel,
                         struct vcm_error *err)
{
    const struct vcm_git_visitor visitor = {
        .entry = visit_leaf,
        .enter = enter,
        .leave = leave,
        .base = filter->base,
        .unchanged = pass_unchanged,
        .missing = filter->left_out ? pass_missing : NULL,
        .refused = filter->left_out ? pass_refused : NULL,
    };
    int rc = VCM_OK;

    filter->work = (struct vcm_glob_work){.cancel = cancel};
    for (unsigned i = 0; i < filter->count; i++)
        filter->entries[i].include.list.work = filter->entries[i].exclude.list.work = &filter->work;
    filter->repo = repo;
    filter->visit = visit;
    filter->context = context;
    filter->depth = 0;
    filter->levels = calloc(VCM_LIMIT_TREE_DEPTH, sizeof *filter->levels);
    filter->verdicts = calloc((size_t)filter->count + 1, sizeof *filter->verdicts);
    if (!filter->levels || !filter->verdicts)
        rc = vcm_error_memory(err);
    if (rc == VCM_OK && filter->heeds_ignore_files)
        rc = vcm_ignore_open(&filter->ignore, &filter->work, err);
    if (rc == VCM_OK)
        rc = vcm_git_tree_visit(repo, commit, start_dir, &visitor, filter, cancel, err);
    vcm_ignore_close(filter->ignore);
    filter->ignore = NULL;
    free(filter->levels);
    filter->levels = NULL;
    free(filter->verdicts);
    filter->verdicts = NULL;
    free(filter->states);
    filter->states = NULL;
    filter->state_capacity = 0;
    return rc;
}

bool vcm_path_filter_found(const struct vcm_path_filter *filter, unsigned index)
{
    return filter->entries[index].found;
}

bool vcm_path_filter_include_used(const struct vcm_path_filter *filter, unsigned index,
                                  unsigned pattern)
{
    return filter->entries[index].include.used[pattern];
}

bool vcm_path_filter_exclude_used(const struct vcm_path_filter *filter, unsigned index,
                                  unsigned pattern)
{
    return filter->entries[index].exclude.used[pattern];
}
