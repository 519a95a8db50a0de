#include "vcm/mapping/mapping_mode.h"

#include <assert.h>

#include "vcm/mapping/mapping_build.h"
#include "vcm/mapping/mapping_lock.h"

#include "base/banned.h"

bool vcm_mapping_mode_owns_number(const struct vcm_mapping *mapping)
{
    const struct vcm_known_base *base = mapping->options.base;

    return mapping->number != 0 && (!base || mapping->number != base->mapping);
}

#ifndef NDEBUG

#define BIT(mode) (1u << VCM_MAPPING_MODE_##mode)

/* The arrows of the diagram in mapping.c. */
static const unsigned successors[] = {
    [VCM_MAPPING_MODE_OPENING] = BIT(REVISING) | BIT(WRITING) | BIT(PINNING),
    [VCM_MAPPING_MODE_REVISING] = BIT(WRITING) | BIT(PUBLISHED) | BIT(FAILED),
    [VCM_MAPPING_MODE_WRITING] = BIT(PUBLISHED) | BIT(FAILED),
    [VCM_MAPPING_MODE_PINNING] = BIT(SPOOLING) | BIT(PUBLISHED) | BIT(FAILED),
    [VCM_MAPPING_MODE_SPOOLING] = BIT(PUBLISHED) | BIT(FAILED),
    [VCM_MAPPING_MODE_PUBLISHED] = 0,
    [VCM_MAPPING_MODE_FAILED] = 0,
};

static void assert_queue(const struct vcm_mapping *mapping)
{
    const struct vcm_mapping_queue *queue = &mapping->queue;

    assert(queue->count <= queue->capacity);
    assert(queue->capacity == 0 || queue->items);
    if (queue->count == 0)
        return;
    const struct vcm_mapping_queued *last = &queue->items[queue->count - 1];
    assert(last->seq < (last->is_page ? mapping->next_page : mapping->next_omission));
    assert(last->value_at + last->value_len <= queue->bytes.len);
    assert(last->frame_at + last->frame_len <= queue->bytes.len);
    assert(!last->is_page || last->value_len >= VCM_PAGE_ID_BYTES);
    assert(last->is_page || last->frame_len == 0);
    assert(!last->is_known || last->frame_len == 0);
}

static void assert_spool_is_unused(const struct vcm_mapping_spool *spool)
{
    assert(spool->fd == -1);
    assert(spool->batch_count == 0 && spool->page_count == 0);
    assert(spool->length == 0 && spool->page_bytes == 0);
}

static void assert_spool(const struct vcm_mapping_spool *spool)
{
    assert(spool->batch_count <= spool->batch_capacity);
    assert(spool->page_count <= spool->page_capacity);
    assert((spool->fd >= 0) == (spool->batch_count > 0));
    if (spool->batch_count == 0) {
        assert(spool->length == 0);
        return;
    }
    const struct vcm_mapping_batch *last = &spool->batches[spool->batch_count - 1];
    assert(last->count > 0);
    assert(last->at + last->count * sizeof(struct vcm_mapping_queued) + last->bytes ==
           spool->length);
}

/* What the writer's thread uses, when there is no such thread or it has nothing to do. */
static void assert_no_writer(const struct vcm_mapping *mapping)
{
    assert(mapping->written.count == 0);
    assert(mapping->writing == NULL || mapping->writing == &mapping->queue);
    assert(mapping->frames == NULL || mapping->writing != NULL);
}

static void assert_revising(const struct vcm_mapping *mapping)
{
    assert(mapping->options.base && !mapping->options.pinned);
    assert(mapping->number == mapping->options.base->mapping);
    assert(!mapping->writer && mapping->paths.count == 0);
    assert(mapping->next_page <= mapping->origin_capacity);
    assert(mapping->queue.count <= (size_t)mapping->next_page + mapping->next_omission);
    assert_no_writer(mapping);
    assert_spool_is_unused(&mapping->spool);
}

/* Its `written`, `paths` and `result` are the writer's: they are not read here. */
static void assert_writing(const struct vcm_mapping *mapping)
{
    assert(!mapping->options.pinned);
    assert(vcm_mapping_mode_owns_number(mapping));
    assert_spool_is_unused(&mapping->spool);
}

/* Pinned tables have no writer's thread, and write the paths of a row with the row. */
static void assert_pinned(const struct vcm_mapping *mapping)
{
    assert(mapping->options.pinned && !mapping->options.base);
    assert(vcm_mapping_mode_owns_number(mapping));
    assert(!mapping->writer && mapping->paths.count == 0);
    assert_no_writer(mapping);
    if (mapping->mode == VCM_MAPPING_MODE_SPOOLING)
        assert_spool(&mapping->spool);
    else
        assert_spool_is_unused(&mapping->spool);
}

static void assert_published(const struct vcm_mapping *mapping)
{
    const struct vcm_mapping_result *result = &mapping->result;

    assert(mapping->number != 0);
    assert(mapping->queue.count == 0);
    assert(mapping->writing == NULL);
    assert(mapping->written_rc == VCM_OK);
    assert(result->pages_created + result->pages_reused == mapping->next_page);
    assert_no_writer(mapping);
}

bool vcm_mapping_mode_holds(const struct vcm_mapping *mapping)
{
    assert(mapping->store && mapping->scope_id);
    assert(mapping->options.scope_id.data == mapping->scope_id);
    assert(mapping->lock_fd >= 0);
    assert(!mapping->origins || mapping->options.base);
    if (mapping->mode != VCM_MAPPING_MODE_FAILED)
        assert_queue(mapping);
    switch (mapping->mode) {
    case VCM_MAPPING_MODE_OPENING:
        assert(mapping->number == 0 && mapping->next_page == 0 && mapping->next_omission == 0);
        assert(!mapping->writer && !mapping->origins);
        assert_spool_is_unused(&mapping->spool);
        break;
    case VCM_MAPPING_MODE_REVISING:
        assert_revising(mapping);
        break;
    case VCM_MAPPING_MODE_WRITING:
        assert_writing(mapping);
        break;
    case VCM_MAPPING_MODE_PINNING:
    case VCM_MAPPING_MODE_SPOOLING:
        assert_pinned(mapping);
        break;
    case VCM_MAPPING_MODE_PUBLISHED:
        assert_published(mapping);
        break;
    case VCM_MAPPING_MODE_FAILED:
        assert(mapping->writing == NULL && mapping->frames == NULL);
        break;
    }
    return true;
}

bool vcm_mapping_mode_may_write(const struct vcm_mapping *mapping,
                                const struct vcm_mapping_queue *queue)
{
    assert(mapping->mode >= VCM_MAPPING_MODE_REVISING &&
           mapping->mode <= VCM_MAPPING_MODE_SPOOLING);
    assert(mapping->number != 0);
    assert(queue == &mapping->queue || queue == &mapping->written);
    assert(queue == &mapping->queue || mapping->mode == VCM_MAPPING_MODE_WRITING);
    assert(mapping->writing == NULL || mapping->writing == queue);
    assert(queue->count <= queue->capacity);
    return true;
}

static bool is_allowed(const struct vcm_mapping *mapping, enum vcm_mapping_mode mode)
{
    assert(vcm_mapping_mode_holds(mapping));
    return (successors[mapping->mode] & 1u << mode) != 0;
}

/* Other processes drop a mapping whose lock is free. */
static bool lock_is_held(const struct vcm_mapping *mapping)
{
    return !vcm_mapping_mode_owns_number(mapping) ||
           vcm_mapping_lock_is_held(mapping->lock_fd, mapping->number);
}

#endif

void vcm_mapping_mode_enter(struct vcm_mapping *mapping, enum vcm_mapping_mode mode)
{
    vcm_mapping_mode_enter_with(mapping, mode, mapping->number);
}

void vcm_mapping_mode_enter_with(struct vcm_mapping *mapping, enum vcm_mapping_mode mode,
                                 uint64_t number)
{
    assert(is_allowed(mapping, mode));
    mapping->mode = mode;
    mapping->number = number;
    assert(vcm_mapping_mode_holds(mapping));
    assert(lock_is_held(mapping));
}
