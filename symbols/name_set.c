#include "symbols/name_set.h"

#include <assert.h>
#include <stdlib.h>

#include "base/banned.h"

static int by_bytes(const void *a, const void *b)
{
    const struct vcm_slice *x = a, *y = b;
    int order = memcmp(x->data, y->data, x->len < y->len ? x->len : y->len);

    return order != 0 ? order : (x->len > y->len) - (x->len < y->len);
}

void vcm_name_set_sort(struct vcm_name_set *names)
{
    if (names->count > 0)
        qsort(names->items, names->count, sizeof *names->items, by_bytes);
    names->sorted = true;
}

bool vcm_name_set_have(const struct vcm_name_set *names, struct vcm_slice name)
{
    assert(names->sorted || names->count == 0);
    return names->count > 0 &&
           bsearch(&name, names->items, names->count, sizeof name, by_bytes) != NULL;
}
