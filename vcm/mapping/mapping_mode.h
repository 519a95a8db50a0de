/*
 * mapping_mode.h - the modes of a mapping that is being built, and what must hold in each. Private
 * to vcm/mapping/.
 *
 * The diagram of the modes is in mapping.c. They exist in the memory of the builder alone; what
 * other processes see in the table of mappings is enum vcm_mapping_state (vcm/store/table.h).
 */
#ifndef VCM_VCM_MAPPING_MAPPING_MODE_H
#define VCM_VCM_MAPPING_MAPPING_MODE_H

#include <stdbool.h>
#include <stdint.h>

struct vcm_mapping;
struct vcm_mapping_queue;

enum vcm_mapping_mode {
    VCM_MAPPING_MODE_OPENING,   /* inside of vcm_mapping_begin(): no number, no rows */
    VCM_MAPPING_MODE_REVISING,  /* rows that differ from the base gather in memory */
    VCM_MAPPING_MODE_WRITING,   /* not pinned: the writer's thread writes full batches */
    VCM_MAPPING_MODE_PINNING,   /* pinned, no page had to be evicted: the caller writes batches */
    VCM_MAPPING_MODE_SPOOLING,  /* pinned, batches wait in a file until the table is complete */
    VCM_MAPPING_MODE_PUBLISHED, /* in force; vcm_mapping_commit() has to clean up */
    VCM_MAPPING_MODE_FAILED,    /* a call failed; vcm_mapping_abort() is all that may follow */
};

/* Changes the mode. Asserts that the diagram has this change and that what must hold in the old and
 * in the new mode holds. */
void vcm_mapping_mode_enter(struct vcm_mapping *mapping, enum vcm_mapping_mode mode);

/* The same, and the mapping has this number from now on. */
void vcm_mapping_mode_enter_with(struct vcm_mapping *mapping, enum vcm_mapping_mode mode,
                                 uint64_t number);

/* Whether `number` is the builder's own, with rows to drop after a failure, and not the base's. */
bool vcm_mapping_mode_owns_number(const struct vcm_mapping *mapping);

#ifndef NDEBUG
/* For assert(): checks by assertions of its own what must hold in the mode, and returns true. Only
 * the thread that builds the mapping may call it: it reads what the writer's thread does not. */
bool vcm_mapping_mode_holds(const struct vcm_mapping *mapping);

/* The same for the thread that is writing `queue`, which may be the writer's. */
bool vcm_mapping_mode_may_write(const struct vcm_mapping *mapping,
                                const struct vcm_mapping_queue *queue);
#endif

#endif
