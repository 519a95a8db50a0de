#include "repomap/problem.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/limits.h"
#include "base/utf8.h"

#include "base/banned.h"

#define PROBLEMS_MAX (VCM_LIMIT_PROBLEMS + 1) /* the last one says how many more there are */
#define ARENA_MAX    (4 * VCM_MIB)
#define MESSAGE_MAX  ((size_t)512)
#define DETAILS_MAX  16
#define MORE_MESSAGE "and %u more"

void vcm_problem_list_init(struct vcm_problem_list *list)
{
    memset(list, 0, sizeof *list);
    vcm_arena_init(&list->arena, ARENA_MAX);
}

void vcm_problem_list_release(struct vcm_problem_list *list)
{
    if (!list)
        return;
    vcm_arena_release(&list->arena);
    free(list->items);
    memset(list, 0, sizeof *list);
}

/* Copies the text to one line, truncated at a character boundary. */
static const char *keep(struct vcm_problem_list *list, const char *text)
{
    struct vcm_slice slice = vcm_slice_of_string(text);

    slice.len = vcm_utf8_valid_prefix(slice);
    char *copy = vcm_arena_copy(&list->arena, slice);
    for (char *c = copy; c && *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
    list->failed |= !copy;
    return copy;
}

static struct vcm_problem *append(struct vcm_problem_list *list)
{
    if (vcm_array_reserve(&list->items, &list->capacity, list->count + 1, PROBLEMS_MAX, NULL) !=
        VCM_OK) {
        list->failed = true;
        return NULL;
    }
    return &list->items[list->count++];
}

void vcm_problem_add(struct vcm_problem_list *list, bool is_warning,
                     struct vcm_repo_map_place place, const char *where, const char *format, ...)
{
    char message[MESSAGE_MAX];
    va_list args;

    if (is_warning)
        list->warning_count++;
    else
        list->error_count++;
    if (list->count >= VCM_LIMIT_PROBLEMS) {
        list->left_out++;
        return;
    }
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    const struct vcm_problem problem = {is_warning, place, keep(list, where), keep(list, message)};
    struct vcm_problem *slot = list->failed ? NULL : append(list);
    if (slot)
        *slot = problem;
}

/* Compares texts last, because qsort() is not stable. */
static int compare(const void *left, const void *right)
{
    const struct vcm_problem *a = left;
    const struct vcm_problem *b = right;

    if (a->place.line != b->place.line)
        return a->place.line < b->place.line ? -1 : 1;
    if (a->place.column != b->place.column)
        return a->place.column < b->place.column ? -1 : 1;
    int order = strcmp(a->where, b->where);
    return order != 0 ? order : strcmp(a->message, b->message);
}

int vcm_problem_list_finish(struct vcm_problem_list *list, struct vcm_error *err)
{
    if (!list->failed && list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, compare);
    assert(list->failed || list->count <= PROBLEMS_MAX);
    if (!list->failed && list->left_out > 0) {
        assert(list->count > 0);
        char message[64];
        snprintf(message, sizeof message, MORE_MESSAGE, list->left_out);
        struct vcm_problem last = list->items[list->count - 1];
        last.is_warning = list->error_count == 0;
        last.where = "";
        last.message = keep(list, message);
        struct vcm_problem *slot = list->failed ? NULL : append(list);
        if (slot)
            *slot = last;
        list->left_out = 0;
    }
    return list->failed ? vcm_error_memory(err) : VCM_OK;
}

static void describe(struct vcm_buf *out, const struct vcm_problem *problem)
{
    if (problem->place.line > 0)
        vcm_buf_append_format(out, "%u:%u: ", problem->place.line, problem->place.column);
    if (problem->where[0] != '\0')
        vcm_buf_append_format(out, "%s: ", problem->where);
    vcm_buf_append_string(out, problem->message);
}

static void set_details(const struct vcm_problem_list *list, struct vcm_error *err)
{
    struct vcm_buf texts[DETAILS_MAX];
    const char *values[DETAILS_MAX];
    unsigned count = 0;

    for (unsigned i = 0; i < list->count && count < DETAILS_MAX; i++) {
        if (list->items[i].is_warning)
            continue;
        vcm_buf_init(&texts[count], 2 * MESSAGE_MAX);
        describe(&texts[count], &list->items[i]);
        values[count] = vcm_buf_text(&texts[count]);
        count++;
    }
    vcm_error_detail_list(err, "problems", values, count);
    for (unsigned i = 0; i < count; i++)
        vcm_buf_release(&texts[i]);
}

int vcm_problem_list_to_error(const struct vcm_problem_list *list, const char *file,
                              struct vcm_error *err)
{
    unsigned first = 0;

    if (list->error_count == 0)
        return VCM_OK;
    assert(list->count > 0);
    while (first < list->count - 1 && list->items[first].is_warning)
        first++;
    assert(!list->items[first].is_warning);
    struct vcm_buf text = VCM_BUF_INIT(2 * MESSAGE_MAX);
    char more[64] = "";
    if (list->error_count > 1)
        snprintf(more, sizeof more, " (and %u more; 'vcm check' lists all)", list->error_count - 1);
    describe(&text, &list->items[first]);
    int rc = vcm_error_set(err, VCM_INVALID_REPO_MAP, "%s:%s%.*s%s", file,
                           list->items[first].place.line > 0 ? "" : " ", (int)(MESSAGE_MAX - 160),
                           vcm_buf_text(&text), more);
    set_details(list, err);
    vcm_buf_release(&text);
    return rc;
}
