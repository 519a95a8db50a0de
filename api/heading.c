#include "api/heading.h"

#include "symbols/enclosing.h"

#include "base/banned.h"

static int open_finder(void **out, struct vcm_error *err)
{
    struct vcm_enclosing *enclosing;

    int rc = vcm_enclosing_open(&enclosing, err);
    *out = enclosing;
    return rc;
}

static void close_finder(void *finder)
{
    vcm_enclosing_close(finder);
}

static void begin_file(void *finder, struct vcm_slice path, struct vcm_slice text)
{
    vcm_enclosing_begin(finder, path, text);
}

static void find_heading(struct vcm_buf *out, void *finder, size_t offset)
{
    vcm_enclosing_find(out, finder, offset);
}

const struct vcm_heading_functions vcm_heading_functions = {
    .open = open_finder,
    .close = close_finder,
    .begin = begin_file,
    .find = find_heading,
};
