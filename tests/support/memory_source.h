/*
 * memory_source.h - a source of the tests' own: items that a test lists, read from memory.
 *
 * It fills in struct vcm_source_functions as a user of the library would for a type of their own.
 */
#ifndef VCM_TESTS_SUPPORT_MEMORY_SOURCE_H
#define VCM_TESTS_SUPPORT_MEMORY_SOURCE_H

#include <stdatomic.h>

#include "vcm/page/source.h"

struct memory_item {
    const char *path;
    const char *text;
    enum vcm_source_outcome walked; /* what the walk says */
    enum vcm_source_outcome read;   /* what reading says, when the walk says PAGED */
    const char *reason;
};

struct memory_source {
    struct vcm_source source;
    const struct memory_item *items;
    unsigned count;
    bool texts_in_ids;      /* content ids are of the text, not only of its place */
    unsigned walk_fails_at; /* the walk ends with IO_ERROR before this item, 1-based */
    unsigned read_fails_at; /* reading this item is an error, 1-based */
    bool reader_fails;      /* readers cannot be opened */
    bool wrong_unverified;  /* who does not want it verified is given something else */
    unsigned cancel_at;     /* reading this item asks for a stop, 1-based */
    struct vcm_cancel *cancel;
    atomic_uint readers_open;
    atomic_uint reads;
    atomic_uint closed;
};

void memory_source_init(struct memory_source *memory, const struct memory_item *items,
                        unsigned count);

/* A tree of `count` files in directories, made from a seed; `revision` changes about one file in
 * eight and adds some. Items and texts live in one block that the caller frees. */
struct memory_item *memory_source_tree(unsigned *count, uint64_t seed, unsigned revision,
                                       unsigned files);

#endif
