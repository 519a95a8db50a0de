/*
 * ignore.h - which files the ignore files of a tree exclude, by git's rules, for a depth-first
 * walk.
 *
 * A path is ignored when a directory above it is, or when the last pattern that matches it says so;
 * ignore files of deeper directories take precedence, and patterns are relative to the directory of
 * their file. In one directory .colonyignore follows .gitignore in one list, so its patterns take
 * precedence. As in git, files below an ignored directory cannot be re-included, and ignore files
 * there are not read.
 * Whether a path is tracked makes no difference. The caller finds and reads the files.
 */
#ifndef VCM_SOURCES_IGNORE_H
#define VCM_SOURCES_IGNORE_H

#include <stdbool.h>

#include "base/buf.h"

/* In the order in which they are read. */
#define VCM_IGNORE_FILE_COUNT 2
extern const char *const vcm_ignore_file_names[VCM_IGNORE_FILE_COUNT];

struct vcm_ignore;
struct vcm_glob_work;

/* `work` counts what matching costs (glob.h); it may be NULL, and outlives the object. */
int vcm_ignore_open(struct vcm_ignore **out, struct vcm_glob_work *work, struct vcm_error *err);
void vcm_ignore_close(struct vcm_ignore *ignore);

/* Enters a directory: first the root, "", then one inside the current one, by its path from the
 * root. *ignored: everything in it is ignored, and its ignore files need not be read. */
int vcm_ignore_enter(struct vcm_ignore *ignore, bool *ignored, struct vcm_slice directory,
                     struct vcm_error *err);

/* Adds an ignore file of the current directory. UNSUPPORTED when it, or all that apply here
 * together, are too large. */
int vcm_ignore_add(struct vcm_ignore *ignore, struct vcm_slice content, struct vcm_error *err);

/* Returns to the parent directory. */
void vcm_ignore_leave(struct vcm_ignore *ignore);

/* Whether a file of the current directory is ignored, by its path from the root. */
bool vcm_ignore_has(const struct vcm_ignore *ignore, struct vcm_slice path);

/* Whether a directory in the current one is ignored, with everything in it. */
bool vcm_ignore_has_directory(const struct vcm_ignore *ignore, struct vcm_slice path);

#endif
