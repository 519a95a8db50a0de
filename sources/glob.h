/*
 * glob.h - gitignore patterns, matched as git matches them.
 *
 * A list of patterns is compiled once and asked about paths relative to the list's base; the last
 * pattern that matches decides. Whether a directory's verdict applies to the files below it is
 * decided by path_filter.h for globs of a map, by ignore.h for ignore files.
 * Matching is case-sensitive and by bytes. The work for one pattern and one path is bounded by the
 * product of their lengths and the path's depth, whatever the pattern.
 * Any number of threads may match while no thread changes the list.
 */
#ifndef VCM_SOURCES_GLOB_H
#define VCM_SOURCES_GLOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/cancel.h"

enum vcm_glob_result {
    VCM_GLOB_NONE,
    VCM_GLOB_MATCH,
    VCM_GLOB_NEGATED, /* by a pattern that begins with '!' */
};

struct vcm_glob; /* a compiled pattern */

/* What matching has cost, over many lists and paths, for patterns that are not the user's own: tens
 * of thousands of them, each of which fits at the last byte, against thousands of names. Zeroed at
 * first, but for `cancel`. When `is_over` is set, results are no longer valid and the caller stops
 * with vcm_glob_work_check(). */
struct vcm_glob_work {
    uint64_t steps, paths;
    bool is_over; /* VCM_LIMIT_GLOB_STEPS, or asked to stop */
    const struct vcm_cancel *cancel;
};

struct vcm_glob_list {
    struct vcm_arena arena;
    struct vcm_glob *globs;
    unsigned count;
    size_t capacity;
    uint64_t last_bytes[4];     /* a bit for each byte that a matching path can end with */
    struct vcm_glob_work *work; /* may be NULL; one thread at a time then */
};

/* INTERRUPTED, or UNSUPPORTED when the patterns are too costly. */
int vcm_glob_work_check(const struct vcm_glob_work *work, struct vcm_error *err);

void vcm_glob_list_init(struct vcm_glob_list *list);
void vcm_glob_list_release(struct vcm_glob_list *list);

/* Adds a pattern as a line of an ignore file holds it, without the line's end. What can never match
 * (an empty line, a comment, a malformed bracket) is kept and never matches, so that the n-th call
 * adds the pattern with index n. UNSUPPORTED when the list is full or the pattern longer than
 * VCM_LIMIT_GLOB_BYTES. */
int vcm_glob_list_add(struct vcm_glob_list *list, struct vcm_slice pattern, struct vcm_error *err);

/* Adds the lines of an ignore file. Lines that can never match or are too long are skipped; a BOM
 * and CRLF are accepted. UNSUPPORTED when the file is larger than VCM_LIMIT_IGNORE_FILE_BYTES or
 * the list is full. */
int vcm_glob_list_add_lines(struct vcm_glob_list *list, struct vcm_slice text,
                            struct vcm_error *err);

/* What the last matching pattern says of this path alone, its parents not considered. The path is
 * relative to the list's base, without slashes at its ends. */
enum vcm_glob_result vcm_glob_list_match(const struct vcm_glob_list *list, struct vcm_slice path,
                                         bool is_directory);

/* The same for callers that ask many lists: `name` is the last part of the path. With `used`, which
 * has a flag for each pattern, those that match by themselves are marked, whatever other patterns
 * say. */
enum vcm_glob_result vcm_glob_list_match_named(const struct vcm_glob_list *list,
                                               struct vcm_slice path, struct vcm_slice name,
                                               bool is_directory, bool *used);

/* Whether a pattern could match anything below the directory; true when that is hard to decide. */
bool vcm_glob_list_reaches(const struct vcm_glob_list *list, struct vcm_slice directory);

/* Whether the list selects a file: the last match for it, or for a directory above it, is positive.
 * For single paths; path_filter.h is for trees. */
bool vcm_glob_list_takes(const struct vcm_glob_list *list, struct vcm_slice path);

/* The last part of a path. */
struct vcm_slice vcm_glob_last_part(struct vcm_slice path);

/* INVALID_ARGUMENT that says why when the pattern is malformed, or can never match anything. */
int vcm_glob_check(struct vcm_slice pattern, struct vcm_error *err);

/* One pattern against a path or, for a pattern without a slash, a name; '!' and a trailing slash
 * have no meaning here. Adds the number of steps taken to *steps. For tests and fuzzers. */
bool vcm_glob_matches(struct vcm_slice pattern, struct vcm_slice path, uint64_t *steps);

#endif
