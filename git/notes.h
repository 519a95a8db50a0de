/*
 * notes.h - what is known about many objects: a table of numbers under 64-bit keys, which are
 * hashes. Two names with the same hash share a note. Private to this folder.
 */
#ifndef VCM_GIT_NOTES_H
#define VCM_GIT_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct vcm_git_note {
    uint64_t key; /* 0 when free */
    uint64_t value;
};

/* Zeroed at first. */
struct vcm_git_notes {
    struct vcm_git_note *slots;
    size_t count, capacity; /* capacity: a power of two, at most half full */
};

/* False, and 0, without a note. */
bool vcm_git_notes_get(uint64_t *value, const struct vcm_git_notes *notes, uint64_t key);

/* Adds or replaces a note. */
int vcm_git_notes_put(struct vcm_git_notes *notes, uint64_t key, uint64_t value,
                      struct vcm_error *err);

void vcm_git_notes_release(struct vcm_git_notes *notes);

#endif
