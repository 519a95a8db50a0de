#include <errno.h>
#include <ftw.h>
#include <stdio.h>

#include "base/path.h"

#include "base/banned.h"

#define OPEN_FILES 16

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

int vcm_path_tree_remove(const char *path, struct vcm_error *err)
{
    if (nftw(path, remove_entry, OPEN_FILES, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0 &&
        errno != ENOENT)
        return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot remove '%s'", path);
    return VCM_OK;
}
