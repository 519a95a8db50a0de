#include "git/notes.h"

#include <stdlib.h>

#include "base/banned.h"

#define SLOTS_FIRST 1024

static uint64_t usable(uint64_t key)
{
    return key ? key : 1;
}

static struct vcm_git_note *find(const struct vcm_git_notes *notes, uint64_t key)
{
    for (size_t i = (size_t)key;; i++) {
        struct vcm_git_note *slot = &notes->slots[i & (notes->capacity - 1)];
        if (slot->key == 0 || slot->key == key)
            return slot;
    }
}

static int grow(struct vcm_git_notes *notes, struct vcm_error *err)
{
    struct vcm_git_notes larger = {.capacity = notes->capacity ? 2 * notes->capacity : SLOTS_FIRST};

    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (!larger.slots)
        return vcm_error_memory(err);
    for (size_t i = 0; i < notes->capacity; i++)
        if (notes->slots[i].key)
            *find(&larger, notes->slots[i].key) = notes->slots[i];
    larger.count = notes->count;
    free(notes->slots);
    *notes = larger;
    return VCM_OK;
}

bool vcm_git_notes_get(uint64_t *value, const struct vcm_git_notes *notes, uint64_t key)
{
    *value = 0;
    if (notes->capacity == 0)
        return false;
    const struct vcm_git_note *slot = find(notes, usable(key));
    *value = slot->value;
    return slot->key != 0;
}

int vcm_git_notes_put(struct vcm_git_notes *notes, uint64_t key, uint64_t value,
                      struct vcm_error *err)
{
    if (2 * (notes->count + 1) > notes->capacity) {
        int rc = grow(notes, err);
        if (rc != VCM_OK)
            return rc;
    }
    struct vcm_git_note *slot = find(notes, usable(key));
    notes->count += slot->key == 0;
    *slot = (struct vcm_git_note){usable(key), value};
    return VCM_OK;
}

void vcm_git_notes_release(struct vcm_git_notes *notes)
{
    free(notes->slots);
    *notes = (struct vcm_git_notes){.slots = NULL};
}
