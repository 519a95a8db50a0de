#include "api/symbols_place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/path.h"
#include "symbols/index.h"

#include "base/banned.h"

#define MODE 0700

void vcm_symbols_place_init(struct vcm_symbols_place *place)
{
    *place = (struct vcm_symbols_place){.temporary = false};
    vcm_buf_init(&place->directory, VCM_LIMIT_PATH_BYTES);
}

void vcm_symbols_place_release(struct vcm_symbols_place *place)
{
    if (place->temporary)
        vcm_path_tree_remove(vcm_buf_text(&place->directory), NULL);
    vcm_buf_release(&place->directory);
}

int vcm_symbols_place_settle(struct vcm_symbols_place *place, struct vcm *vcm,
                             struct vcm_error *err)
{
    int rc = vcm_handle_path(&place->directory, vcm, VCM_SYMBOLS_PLACE_NAME, err);
    if (rc == VCM_OK)
        rc = vcm_handle_make_home(vcm, err);
    return rc == VCM_OK ? vcm_path_make_directories(vcm_buf_text(&place->directory), MODE, err)
                        : rc;
}

int vcm_symbols_place_drop(struct vcm *vcm, const char *why, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_buf aside = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    int rc = vcm_handle_path(&path, vcm, VCM_SYMBOLS_PLACE_NAME, err);
    if (rc == VCM_OK)
        rc = vcm_handle_path(&aside, vcm, VCM_SYMBOLS_PLACE_NAME ".aside", err);
    if (rc == VCM_OK)
        rc = vcm_path_tree_remove(vcm_buf_text(&aside), err);
    if (rc == VCM_OK && rename(vcm_buf_text(&path), vcm_buf_text(&aside)) != 0 && errno != ENOENT)
        rc = vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot remove the damaged symbols in '%s'",
                           vcm_buf_text(&path));
    if (rc == VCM_OK)
        rc = vcm_path_tree_remove(vcm_buf_text(&aside), err);
    if (rc == VCM_OK)
        vcm_log_write(vcm->log, VCM_LOG_WARNING,
                      "the stored symbols in '%s' were damaged and are made anew: %s",
                      vcm_buf_text(&path), why);
    vcm_buf_release(&aside);
    vcm_buf_release(&path);
    return rc;
}

/* A new folder in TMPDIR, which must not be found through a relative path. */
static int make_temporary(struct vcm_buf *out, struct vcm_error *err)
{
    const char *parent = getenv("TMPDIR");

    vcm_path_join(out, parent && parent[0] == '/' ? parent : "/tmp", "vcm-symbols.XXXXXX");
    int rc = vcm_buf_check(out, "the path of a temporary folder", err);
    if (rc == VCM_OK && !mkdtemp(out->data))
        rc = vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot make the temporary folder '%s'",
                           vcm_buf_text(out));
    return rc;
}

int vcm_symbols_place_copy(struct vcm_symbols_place *place, struct vcm_error *err)
{
    struct vcm_buf copy = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    int rc = make_temporary(&copy, err);
    if (rc != VCM_OK) {
        vcm_buf_release(&copy);
        return rc;
    }
    rc = vcm_index_copy_store(vcm_buf_text(&copy), vcm_buf_text(&place->directory), err);
    vcm_buf_release(&place->directory);
    *place = (struct vcm_symbols_place){copy, true};
    return rc;
}
