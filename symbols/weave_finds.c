#include "symbols/weave_finds.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/limits.h"

#include "base/banned.h"

#define FINDS_MAX (2 * VCM_LIMIT_SYMBOLS_COUNT) /* of one list */

static struct vcm_finds *list_of(struct vcm_weave *weave, enum vcm_tree_query_role role)
{
    switch (role) {
    case VCM_ROLE_DEFINE:
    case VCM_ROLE_SCOPE:
    case VCM_ROLE_REGION:
    case VCM_ROLE_HEAD:
    case VCM_ROLE_ACCESS:
    case VCM_ROLE_HIDE:
        return &weave->blocks;
    case VCM_ROLE_EXPORT:
    case VCM_ROLE_EXPORT_ALL:
    case VCM_ROLE_EXPORT_PART:
        return &weave->exported;
    case VCM_ROLE_IMPORTED:
    case VCM_ROLE_GIVE:
        return &weave->passed;
    default:
        return &weave->uses;
    }
}

void vcm_weave_finds_add(struct vcm_weave *weave, const struct vcm_find *found)
{
    struct vcm_finds *list = list_of(weave, found->role);

    if (list->count >= FINDS_MAX) {
        weave->too_many = true;
        return;
    }
    if (vcm_array_reserve(&list->items, &list->capacity, list->count + 1, FINDS_MAX, NULL) !=
        VCM_OK) {
        weave->no_memory = true;
        return;
    }
    list->items[list->count++] = *found;
}

bool vcm_weave_finds_have_same_span(const struct vcm_find *a, const struct vcm_find *b)
{
    return a->start == b->start && a->end == b->end;
}

/* Outer before inner; of several for one name the first pattern of the query. */
static int by_place(const void *a, const void *b)
{
    const struct vcm_find *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return (x->pattern > y->pattern) - (x->pattern < y->pattern);
}

bool vcm_weave_finds_is_aside(const struct vcm_find *found)
{
    return found->role == VCM_ROLE_NONE || found->role == VCM_ROLE_LOCAL ||
           found->role == VCM_ROLE_OUTER || found->role == VCM_ROLE_REGION ||
           found->role == VCM_ROLE_HEAD || found->role == VCM_ROLE_HIDE;
}

static int by_name(const void *a, const void *b)
{
    const struct vcm_find *x = a, *y = b;

    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (vcm_weave_finds_is_aside(x) != vcm_weave_finds_is_aside(y))
        return vcm_weave_finds_is_aside(x) ? -1 : 1;
    return (x->pattern > y->pattern) - (x->pattern < y->pattern);
}

void vcm_weave_finds_drop_repeated(struct vcm_finds *list)
{
    size_t kept = 0;

    if (list->count > 0)
        qsort(list->items, list->count, sizeof *list->items, by_name);
    for (size_t i = 0; i < list->count; i++)
        if (kept == 0 || list->items[kept - 1].name != list->items[i].name ||
            vcm_weave_finds_is_aside(&list->items[kept - 1]))
            list->items[kept++] = list->items[i];
    list->count = kept;
    if (list->count > 0)
        qsort(list->items, list->count, sizeof *list->items, by_place);
}

bool vcm_weave_finds_is_imported(const struct vcm_weave *weave, uint32_t name)
{
    const struct vcm_finds *list = &weave->passed;
    size_t low = 0, high = list->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->items[middle].name < name)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < list->count && list->items[low].name == name; low++)
        if (list->items[low].role == VCM_ROLE_IMPORTED)
            return true;
    return false;
}

void vcm_weave_finds_sort_uses(struct vcm_finds *list)
{
    if (list->count > 0)
        qsort(list->items, list->count, sizeof *list->items, by_name);
}
