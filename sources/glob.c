#include "sources/glob.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/limits.h"
#include "sources/glob_program.h"

#include "base/banned.h"

#define ARENA_MAX   (64 * VCM_MIB)
#define CHECK_STEPS 4096u /* between two checks of what matching has cost */

enum kind {
    NEVER,  /* malformed, or empty */
    EQUAL,  /* equal to the text */
    PREFIX, /* the text, then anything without a slash */
    SUFFIX, /* a name that ends with the text */
    WILD,   /* the text, then what the program matches */
};

struct vcm_glob {
    enum kind kind;
    bool negated;
    bool directory_only;
    bool name_only; /* no slash in the pattern: it is matched against the last part of the path */
    struct vcm_slice text;
    struct vcm_glob_program program;
};

void vcm_glob_list_init(struct vcm_glob_list *list)
{
    memset(list, 0, sizeof *list);
    vcm_arena_init(&list->arena, ARENA_MAX);
}

void vcm_glob_list_release(struct vcm_glob_list *list)
{
    if (!list)
        return;
    vcm_arena_release(&list->arena);
    free(list->globs);
    memset(list, 0, sizeof *list);
}

static bool is_special(char c)
{
    return c == '*' || c == '?' || c == '[' || c == '\\';
}

static size_t literal_length(struct vcm_slice pattern)
{
    size_t len = 0;

    while (len < pattern.len && !is_special(pattern.data[len]))
        len++;
    return len;
}

/* Removes trailing spaces, unless a backslash precedes them; tabs are kept, as in git. */
static struct vcm_slice trim(struct vcm_slice line)
{
    size_t end = 0;

    for (size_t i = 0; i < line.len; i++) {
        if (line.data[i] == '\\') {
            if (++i == line.len)
                return line;
            end = i + 1;
        } else if (line.data[i] != ' ') {
            end = i + 1;
        }
    }
    return vcm_slice_of(line.data, end);
}

static struct vcm_slice skip(struct vcm_slice slice, size_t len)
{
    return vcm_slice_of(slice.data + len, slice.len - len);
}

/* Removes the markers: '!', the slash at the end, the slash at the front. */
static struct vcm_slice take_marks(struct vcm_glob *glob, struct vcm_slice pattern)
{
    if (pattern.len > 0 && pattern.data[0] == '!') {
        glob->negated = true;
        pattern = skip(pattern, 1);
    }
    if (pattern.len > 0 && pattern.data[pattern.len - 1] == '/') {
        glob->directory_only = true;
        pattern.len--;
    }
    glob->name_only = pattern.len == 0 || !memchr(pattern.data, '/', pattern.len);
    if (pattern.len > 0 && pattern.data[0] == '/')
        pattern = skip(pattern, 1);
    return pattern;
}

/* The literal prefix is compared separately, and the rest is matched like the start of a pattern:
 * that is why "a**" followed by a slash crosses directories in git, contrary to its manual. */
static int compile(struct vcm_glob *glob, struct vcm_arena *arena, struct vcm_slice pattern,
                   struct vcm_error *err)
{
    bool well_formed = true;
    size_t len = literal_length(pattern);
    struct vcm_slice rest = skip(pattern, len);

    glob->text = vcm_slice_of(pattern.data, len);
    if (pattern.len == 0)
        glob->kind = NEVER;
    else if (rest.len == 0)
        glob->kind = EQUAL;
    else if (glob->name_only && rest.len == 1 && rest.data[0] == '*')
        glob->kind = PREFIX;
    else if (glob->name_only && len == 0 && rest.data[0] == '*' &&
             literal_length(skip(rest, 1)) == rest.len - 1) {
        glob->kind = SUFFIX;
        glob->text = skip(rest, 1);
    } else {
        glob->kind = WILD;
        int rc = vcm_glob_program_compile(&glob->program, &well_formed, arena, rest, err);
        if (rc != VCM_OK)
            return rc;
        if (!well_formed)
            glob->kind = NEVER;
    }
    return VCM_OK;
}

/* The last byte of a path is enough for most lists to exclude a match. */
static void note_last_byte(struct vcm_glob_list *list, const struct vcm_glob *glob,
                           struct vcm_slice pattern)
{
    unsigned char last = pattern.len > 0 ? (unsigned char)pattern.data[pattern.len - 1] : 0;

    if (glob->kind == NEVER)
        return;
    /* A slash behind two stars may match nothing. */
    if (last == '*' || last == '?' || last == ']' || last == '/')
        memset(list->last_bytes, 0xff, sizeof list->last_bytes);
    else
        list->last_bytes[last / 64] |= (uint64_t)1 << last % 64;
}

static bool can_end(const struct vcm_glob_list *list, struct vcm_slice path)
{
    unsigned char last = path.len > 0 ? (unsigned char)path.data[path.len - 1] : 0;

    return list->last_bytes[last / 64] >> last % 64 & 1;
}

static int grow(struct vcm_glob_list *list, struct vcm_error *err)
{
    if (list->count == VCM_LIMIT_GLOBS)
        return vcm_error_set(err, VCM_UNSUPPORTED, "more than %u patterns in one list",
                             VCM_LIMIT_GLOBS);
    return vcm_array_reserve(&list->globs, &list->capacity, list->count + 1, VCM_LIMIT_GLOBS, err);
}

int vcm_glob_list_add(struct vcm_glob_list *list, struct vcm_slice pattern, struct vcm_error *err)
{
    struct vcm_glob glob = {.kind = NEVER};

    if (pattern.len > VCM_LIMIT_GLOB_BYTES)
        return vcm_error_set(err, VCM_UNSUPPORTED, "a pattern is longer than %zu bytes",
                             VCM_LIMIT_GLOB_BYTES);
    int rc = grow(list, err);
    if (rc != VCM_OK)
        return rc;
    pattern = trim(pattern);
    if (pattern.len > 0 && pattern.data[0] != '#') {
        const char *copy = vcm_arena_copy(&list->arena, pattern);
        if (!copy)
            return vcm_error_memory(err);
        pattern = take_marks(&glob, vcm_slice_of(copy, pattern.len));
        rc = compile(&glob, &list->arena, pattern, err);
        if (rc != VCM_OK)
            return rc;
        note_last_byte(list, &glob, pattern);
    }
    list->globs[list->count++] = glob;
    return VCM_OK;
}

int vcm_glob_list_add_lines(struct vcm_glob_list *list, struct vcm_slice text,
                            struct vcm_error *err)
{
    int rc = VCM_OK;

    if (text.len > VCM_LIMIT_IGNORE_FILE_BYTES)
        return vcm_error_set(err, VCM_UNSUPPORTED, "an ignore file is larger than %zu bytes",
                             VCM_LIMIT_IGNORE_FILE_BYTES);
    if (text.len >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0)
        text = skip(text, 3);
    while (rc == VCM_OK && text.len > 0) {
        const char *end = memchr(text.data, '\n', text.len);
        size_t len = end ? (size_t)(end - text.data) : text.len;
        struct vcm_slice line = vcm_slice_of(text.data, len);
        text = skip(text, end ? len + 1 : len);
        if (line.len > 0 && line.data[line.len - 1] == '\r')
            line.len--;
        const char *nul = line.len > 0 ? memchr(line.data, '\0', line.len) : NULL;
        if (nul) /* git reads the line as a string */
            line.len = (size_t)(nul - line.data);
        if (line.len == 0 || line.data[0] == '#' || line.len > VCM_LIMIT_GLOB_BYTES)
            continue;
        rc = vcm_glob_list_add(list, line, err);
        if (rc == VCM_OK && list->globs[list->count - 1].kind == NEVER)
            list->count--;
    }
    return rc;
}

/* Compares one byte before calling memcmp(): it excludes most of thousands of patterns. */
static bool begins_with(struct vcm_slice slice, struct vcm_slice start)
{
    return start.len == 0 || (slice.len >= start.len && slice.data[0] == start.data[0] &&
                              memcmp(slice.data, start.data, start.len) == 0);
}

static bool ends_with(struct vcm_slice slice, struct vcm_slice end)
{
    return end.len == 0 ||
           (slice.len >= end.len && slice.data[slice.len - 1] == end.data[end.len - 1] &&
            memcmp(slice.data + slice.len - end.len, end.data, end.len) == 0);
}

/* `name` is the last part of `path`. */
static bool matches(const struct vcm_glob *glob, struct vcm_slice path, struct vcm_slice name,
                    bool is_directory, uint64_t *steps, uint64_t steps_max)
{
    struct vcm_slice subject = glob->name_only ? name : path;
    struct vcm_slice text = glob->text;

    if (glob->directory_only && !is_directory)
        return false;
    switch (glob->kind) {
    case NEVER:
        return false;
    case EQUAL:
        return subject.len == text.len && begins_with(subject, text);
    case PREFIX:
        return begins_with(subject, text);
    case SUFFIX:
        return ends_with(subject, text);
    case WILD:
        return begins_with(subject, text) &&
               vcm_glob_program_run(&glob->program, skip(subject, text.len), steps, steps_max);
    }
    return false;
}

struct vcm_slice vcm_glob_last_part(struct vcm_slice path)
{
    const char *slash = path.len > 0 ? memrchr(path.data, '/', path.len) : NULL;

    return slash ? skip(path, (size_t)(slash - path.data) + 1) : path;
}

/* Moves the steps to what was counted before; false when it is too much. */
static bool go_on(struct vcm_glob_work *work, uint64_t *steps)
{
    if (!work) {
        *steps = 0;
        return true;
    }
    work->is_over = work->is_over || *steps > VCM_LIMIT_GLOB_STEPS_ONE;
    work->steps += *steps;
    *steps = 0;
    work->is_over = work->is_over || vcm_cancel_is_requested(work->cancel) ||
                    work->steps > VCM_LIMIT_GLOB_STEPS + work->paths * VCM_LIMIT_GLOB_STEPS_EACH;
    return !work->is_over;
}

int vcm_glob_work_check(const struct vcm_glob_work *work, struct vcm_error *err)
{
    if (!work->is_over)
        return VCM_OK;
    int rc = vcm_cancel_check(work->cancel, err);
    if (rc != VCM_OK)
        return rc;
    return vcm_error_set(err, VCM_UNSUPPORTED,
                         "the patterns of the repo map and the ignore files are too costly: %llu "
                         "steps for %llu paths; write fewer, or with fewer stars",
                         (unsigned long long)work->steps, (unsigned long long)work->paths);
}

enum vcm_glob_result vcm_glob_list_match_named(const struct vcm_glob_list *list,
                                               struct vcm_slice path, struct vcm_slice name,
                                               bool is_directory, bool *used)
{
    enum vcm_glob_result result = VCM_GLOB_NONE;
    const uint64_t steps_max = list->work ? CHECK_STEPS + VCM_LIMIT_GLOB_STEPS_ONE : UINT64_MAX;
    uint64_t steps = 0;

    if (!can_end(list, path))
        return VCM_GLOB_NONE;
    if (list->work)
        list->work->paths++;
    for (unsigned i = list->count; i-- > 0;) {
        const struct vcm_glob *glob = &list->globs[i];
        if (++steps > CHECK_STEPS && !go_on(list->work, &steps))
            return VCM_GLOB_NONE;
        if (result != VCM_GLOB_NONE && used[i])
            continue;
        if (!matches(glob, path, name, is_directory, &steps, steps_max))
            continue;
        if (result == VCM_GLOB_NONE)
            result = glob->negated ? VCM_GLOB_NEGATED : VCM_GLOB_MATCH;
        if (!used)
            break;
        used[i] = true;
    }
    go_on(list->work, &steps);
    return result;
}

enum vcm_glob_result vcm_glob_list_match(const struct vcm_glob_list *list, struct vcm_slice path,
                                         bool is_directory)
{
    return vcm_glob_list_match_named(list, path, vcm_glob_last_part(path), is_directory, NULL);
}

static bool reaches(const struct vcm_glob *glob, struct vcm_slice directory)
{
    struct vcm_slice text = glob->text;

    if (glob->kind == NEVER)
        return false;
    if (glob->name_only)
        return true;
    if (text.len <= directory.len)
        return glob->kind == WILD && memcmp(directory.data, text.data, text.len) == 0;
    return memcmp(directory.data, text.data, directory.len) == 0 && text.data[directory.len] == '/';
}

bool vcm_glob_list_reaches(const struct vcm_glob_list *list, struct vcm_slice directory)
{
    for (unsigned i = 0; i < list->count; i++)
        if (reaches(&list->globs[i], directory))
            return true;
    return false;
}

bool vcm_glob_list_takes(const struct vcm_glob_list *list, struct vcm_slice path)
{
    for (size_t i = 0; i < path.len; i++)
        if (path.data[i] == '/' &&
            vcm_glob_list_match(list, vcm_slice_of(path.data, i), true) == VCM_GLOB_MATCH)
            return true;
    return vcm_glob_list_match(list, path, false) == VCM_GLOB_MATCH;
}

static const char *find_fault(struct vcm_slice pattern)
{
    if (pattern.len > VCM_LIMIT_GLOB_BYTES)
        return "it is too long";
    if (memchr(pattern.data, '\0', pattern.len) || memchr(pattern.data, '\n', pattern.len))
        return "it holds a NUL or a line break";
    if (pattern.len > 0 && pattern.data[0] == '#')
        return "'#' begins a comment; write '\\#' for the character";
    pattern = trim(pattern);
    if (pattern.len > 0 && pattern.data[0] == '!')
        pattern = skip(pattern, 1);
    if (pattern.len > 0 && pattern.data[pattern.len - 1] == '/')
        pattern.len--;
    if (pattern.len == 0)
        return "there is nothing to match";
    if (pattern.data[pattern.len - 1] == '/' || memmem(pattern.data, pattern.len, "//", 2))
        return "it has two slashes in a row";
    return NULL;
}

int vcm_glob_check(struct vcm_slice pattern, struct vcm_error *err)
{
    struct vcm_glob_list list;
    const char *fault = pattern.len == 0 ? "it is empty" : find_fault(pattern);

    if (fault)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "%s", fault);
    vcm_glob_list_init(&list);
    int rc = vcm_glob_list_add(&list, pattern, err);
    if (rc == VCM_OK && list.globs[0].kind == NEVER)
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT,
                           "a '[' is not closed, names an unknown class, or a '\\' ends it");
    vcm_glob_list_release(&list);
    return rc;
}

bool vcm_glob_matches(struct vcm_slice pattern, struct vcm_slice path, uint64_t *steps)
{
    struct vcm_arena arena;
    struct vcm_glob glob = {.name_only = !memchr(pattern.data, '/', pattern.len)};

    vcm_arena_init(&arena, ARENA_MAX);
    bool found = compile(&glob, &arena, pattern, NULL) == VCM_OK &&
                 matches(&glob, path, vcm_glob_last_part(path), true, steps, UINT64_MAX);
    vcm_arena_release(&arena);
    return found;
}
