/* Writes the entries of one row of a page table, or of one omission. */
#include <assert.h>

#include "vcm/mapping/mapping_build.h"
#include "vcm/store/table.h"

#include "base/banned.h"

static struct vcm_slice frame_of(const struct vcm_mapping *mapping,
                                 const struct vcm_mapping_queued *q)
{
    assert(!q->is_known && q->frame_at + q->frame_len <= mapping->writing->bytes.len);
    return vcm_slice_of(mapping->writing->bytes.data + q->frame_at, q->frame_len);
}

static int write_new_page(struct vcm_mapping *mapping, struct vcm_transition *t,
                          const struct vcm_mapping_queued *q, struct vcm_error *err)
{
    const struct vcm_dictionary_samples samples = {mapping->frames, mapping->frames_count};
    struct vcm_page_info info = q->info;

    if (q->is_known)
        return VCM_RETRY; /* another process has dropped the page, and its frame is not here */
    mapping->batch.pages_created++;
    info.pins = mapping->options.pinned ? 1 : 0;
    return vcm_transition_add(t, &info, frame_of(mapping, q), mapping->options.scope_id,
                              mapping->number, &samples, err);
}

/* What is mapped now decides: the text has come into an object, or is in none that this scope could
 * read, whoever else holds the page. */
static int change_volatile(const struct vcm_mapping *mapping, struct vcm_transition *t,
                           const struct vcm_mapping_queued *q, struct vcm_page_info *there,
                           struct vcm_error *err)
{
    int rc = VCM_OK;

    if (q->info.is_volatile && there->state == VCM_PAGE_EVICTED && q->is_known)
        return VCM_OK; /* its frame is not here; when it was mapped, its text was in an object */
    if (q->info.is_volatile && there->state == VCM_PAGE_EVICTED)
        rc = vcm_transition_promote(t, there, frame_of(mapping, q), err);
    if (rc == VCM_NO_ROOM)
        return vcm_transition_no_room(t, there, err);
    if (rc == VCM_OK)
        rc = vcm_transition_set_volatile(t, there, q->info.is_volatile, err);
    return rc == VCM_OK && there->is_volatile ? vcm_transition_check_pinned(t, err) : rc;
}

/* The store has the page. A pinned table pins it once, however often it occurs. An orphan is one no
 * more. */
static int write_known_page(struct vcm_mapping *mapping, struct vcm_transition *t,
                            const struct vcm_mapping_queued *q, struct vcm_page_info *there,
                            bool is_held, struct vcm_error *err)
{
    int rc = vcm_kv_delete(t->txn, VCM_TABLE_ORPHANS, vcm_table_id_key(&there->id), err);
    if (rc == VCM_NOT_FOUND)
        rc = VCM_OK;
    mapping->batch.pages_reused++;
    if (rc == VCM_OK && there->is_volatile != q->info.is_volatile)
        rc = change_volatile(mapping, t, q, there, err);
    if (rc != VCM_OK || !mapping->options.pinned || is_held)
        return rc;
    if (q->is_known)
        return VCM_RETRY; /* it cannot be promoted: its frame is not here */
    rc = vcm_transition_promote(t, there, frame_of(mapping, q), err);
    if (rc == VCM_NO_ROOM)
        rc = vcm_transition_no_room(t, there, err);
    return rc == VCM_OK ? vcm_transition_pin(t, there, 1, there->pinned, err) : rc;
}

static int write_holder(const struct vcm_mapping *mapping, struct vcm_kv_txn *txn,
                        const struct vcm_mapping_queued *q, uint32_t occurrences,
                        uint32_t first_seq, struct vcm_error *err)
{
    struct vcm_buf value = VCM_BUF_INIT(16);
    unsigned char key[VCM_HOLDER_KEY_BYTES];

    vcm_wire_put_u32(&value, occurrences + 1);
    vcm_wire_put_u32(&value, occurrences > 0 ? first_seq : q->seq);
    int rc = vcm_buf_check(&value, "a holder of a page", err);
    if (rc == VCM_OK)
        rc = vcm_kv_put(txn, VCM_TABLE_HOLDERS,
                        vcm_table_holder_key(key, &q->info.id, mapping->number),
                        vcm_buf_slice(&value), err);
    vcm_buf_release(&value);
    return rc;
}

static int write_page(struct vcm_mapping *mapping, struct vcm_transition *t,
                      const struct vcm_mapping_queued *q, struct vcm_error *err)
{
    uint32_t occurrences, first_seq;
    struct vcm_page_info there;

    int rc = vcm_page_table_get_holder(&occurrences, &first_seq, t->txn, &q->info.id,
                                       mapping->number, err);
    if (rc != VCM_OK && rc != VCM_NOT_FOUND)
        return rc;
    rc = vcm_page_store_page(&there, t->txn, &q->info.id, err);
    if (rc == VCM_OK)
        rc = write_known_page(mapping, t, q, &there, occurrences > 0, err);
    else if (rc == VCM_NOT_FOUND)
        rc = write_new_page(mapping, t, q, err);
    return rc == VCM_OK ? write_holder(mapping, t->txn, q, occurrences, first_seq, err) : rc;
}

int vcm_mapping_row_write(struct vcm_mapping *mapping, struct vcm_transition *t,
                          const struct vcm_mapping_queued *q, struct vcm_slice value,
                          struct vcm_error *err)
{
    unsigned char key[VCM_ROW_KEY_BYTES];
    int rc = VCM_OK;

    assert(mapping->writing && vcm_mapping_mode_may_write(mapping, mapping->writing));
    if (q->is_page)
        rc = write_page(mapping, t, q, err);
    if (rc == VCM_OK)
        rc = vcm_kv_put(t->txn, q->is_page ? VCM_TABLE_ROWS : VCM_TABLE_OMISSIONS,
                        vcm_table_row_key(key, mapping->number, q->seq), value, err);
    return rc;
}
