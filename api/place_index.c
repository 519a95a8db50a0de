#include "api/place_index.h"

#include <assert.h>
#include <string.h>

#include "api/damage.h"

#include "base/banned.h"

void vcm_place_index_init(struct vcm_place_index *index)
{
    index->index = NULL;
    vcm_symbols_place_init(&index->store);
}

void vcm_place_index_release(struct vcm_place_index *index)
{
    vcm_index_close(index->index);
    index->index = NULL;
    vcm_symbols_place_release(&index->store);
}

static int open_index(struct vcm_place_index *out, struct vcm_place *place, bool read_only,
                      struct vcm_error *err)
{
    return vcm_index_open(&out->index,
                          &(struct vcm_index_request){
                              .directory = vcm_buf_text(&out->store.directory),
                              .read_only = read_only,
                              .repo = place->repo,
                              .commit = &place->commit,
                              .subpath = "",
                              .filter = "",
                              .cancel = place->vcm->cancel,
                              .log = place->vcm->log,
                          },
                          err);
}

/* In a home that cannot be written: from what is stored if that is all, else with a copy of it. */
static int open_unwritable(struct vcm_place_index *out, struct vcm_place *place,
                           struct vcm_error *err)
{
    struct vcm_error ignored = {0};

    int rc = open_index(out, place, true, &ignored);
    if (rc == VCM_OK)
        return rc;
    rc = vcm_symbols_place_copy(&out->store, err);
    return rc == VCM_OK ? open_index(out, place, false, err) : rc;
}

static int try_open(struct vcm_place_index *out, struct vcm_place *place, struct vcm_error *err)
{
    vcm_place_index_release(out);
    vcm_place_index_init(out);
    int rc = vcm_verify_symbols(place->vcm, err);
    if (rc == VCM_OK)
        rc = vcm_symbols_place_settle(&out->store, place->vcm, err);
    if (rc == VCM_OK)
        rc = open_index(out, place, false, err);
    if (rc != VCM_OK && err && vcm_error_is_denial(err->sys_errno)) {
        vcm_error_reset(err);
        rc = open_unwritable(out, place, err);
    }
    return rc;
}

int vcm_place_index_open(struct vcm_place_index *out, struct vcm_place *place,
                         struct vcm_error *err)
{
    struct vcm_error found = {0}, ignored = {0};

    assert(place->repo);
    int rc = try_open(out, place, &found);
    if (rc == VCM_STORE_CORRUPT &&
        vcm_symbols_place_drop(place->vcm, found.message, &ignored) == VCM_OK) {
        vcm_error_reset(&found);
        rc = try_open(out, place, &found);
    }
    if (rc != VCM_OK && err)
        *err = found;
    return rc;
}

void vcm_place_index_open_stored(struct vcm_place_index *out, struct vcm_place *place)
{
    struct vcm_error ignored = {0};

    vcm_place_index_release(out);
    vcm_place_index_init(out);
    if (!place->repo || vcm_verify_symbols(place->vcm, &ignored) != VCM_OK ||
        vcm_handle_path(&out->store.directory, place->vcm, VCM_SYMBOLS_PLACE_NAME, &ignored) !=
            VCM_OK)
        return;
    open_index(out, place, true, &ignored);
}

bool vcm_place_index_find(size_t *file, const struct vcm_place_index *index, struct vcm_slice path)
{
    size_t low = 0, high = index->index ? index->index->file_count : 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct vcm_slice at = index->index->files[middle].path;
        int order = memcmp(at.data, path.data, at.len < path.len ? at.len : path.len);
        if (order == 0 && at.len == path.len) {
            *file = middle;
            return true;
        }
        if (order < 0 || (order == 0 && at.len < path.len))
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}
