#include "vcm/mapping/gc.h"

#include <string.h>

#include "api/arguments.h"
#include "api/damage.h"
#include "api/handle.h"
#include "api/kb_internal.h"

#include "base/banned.h"

int vcm_gc(struct vcm_gc_counts *out, struct vcm *vcm, struct vcm_error *err)
{
    if (out)
        memset(out, 0, sizeof *out);
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(out));
    if (rc != VCM_OK)
        return rc;
    struct vcm_gc_result done;

    /* Compaction would copy the damage and report success. */
    rc = vcm_verify_first(vcm, err);
    if (rc == VCM_OK)
        rc = vcm_handle_config(vcm, err);
    if (rc == VCM_OK)
        rc = vcm_handle_open_for_change(vcm, err);
    if (rc != VCM_OK || !vcm->store)
        return rc; /* do not create a missing home */
    rc = vcm_handle_open_for_writing(vcm, err);
    if (rc == VCM_OK)
        rc = vcm_gc_run(&done, vcm->store, vcm->cancel, err);
    if (rc == VCM_OK)
        vcm_kb_texts_settle_all(vcm);
    if (rc == VCM_OK) {
        out->pages_dropped = done.pages_dropped;
        out->bytes_before = done.bytes_before;
        out->bytes_after = done.bytes_after;
    }
    return vcm_damage_note(vcm, rc, err);
}
