#include "ops/result.h"

#include <assert.h>

#include "base/banned.h"

/* The field of a struct at an offset, which the table's macros took from the field. */
#define AT(type, from, at) (*(type const *)(const void *)((const char *)(from) + (at)))

static void put_strings(struct vcm_jsonw *w, const struct vcm_result_member *member,
                        const void *from)
{
    const char *const *strings = AT(const char *const *, from, member->offset);
    size_t count = AT(size_t, from, member->count_offset);

    vcm_jsonw_begin_array(w);
    for (size_t i = 0; i < count; i++)
        vcm_jsonw_string(w, strings[i]);
    vcm_jsonw_end_array(w);
}

static void put_structs(struct vcm_jsonw *w, const struct vcm_result_member *member,
                        const void *from)
{
    const char *first = AT(char *, from, member->offset);
    size_t count = AT(size_t, from, member->count_offset);

    vcm_jsonw_begin_array(w);
    for (size_t i = 0; i < count; i++)
        vcm_result_put(w, member->members, first + i * member->size);
    vcm_jsonw_end_array(w);
}

static void put_unsigned(struct vcm_jsonw *w, const struct vcm_result_member *member,
                         uint64_t value)
{
    if (value == 0 && member->unset_is_null)
        vcm_jsonw_null(w);
    else
        vcm_jsonw_uint(w, value);
}

static void put_signed(struct vcm_jsonw *w, const struct vcm_result_member *member, int64_t value)
{
    if (value < 0 && member->unset_is_null)
        vcm_jsonw_null(w);
    else
        vcm_jsonw_int(w, value);
}

static void put_field(struct vcm_jsonw *w, const struct vcm_result_member *member, const void *from)
{
    size_t at = member->offset;

    assert(from);
    switch (member->field) {
    case VCM_RESULT_POINTER:
        vcm_jsonw_string(w, AT(char *, from, at));
        break;
    case VCM_RESULT_CHARS:
        vcm_jsonw_string(w, (const char *)from + at);
        break;
    case VCM_RESULT_SLICE:
        vcm_jsonw_slice(w,
                        vcm_slice_of(AT(char *, from, at), AT(size_t, from, member->count_offset)));
        break;
    case VCM_RESULT_UINT32:
        put_unsigned(w, member, AT(uint32_t, from, at));
        break;
    case VCM_RESULT_UINT64:
        put_unsigned(w, member, AT(uint64_t, from, at));
        break;
    case VCM_RESULT_INT64:
        put_signed(w, member, AT(int64_t, from, at));
        break;
    case VCM_RESULT_FLAG:
        vcm_jsonw_bool(w, AT(bool, from, at));
        break;
    case VCM_RESULT_DOUBLE:
        vcm_jsonw_number(w, AT(double, from, at));
        break;
    case VCM_RESULT_STRING_LIST:
        put_strings(w, member, from);
        break;
    case VCM_RESULT_STRUCT_LIST:
        put_structs(w, member, from);
        break;
    case VCM_RESULT_STRUCT:
        vcm_result_put(w, member->members, (const char *)from + at);
        break;
    case VCM_RESULT_STRUCT_OR_NULL:
        if (AT(char *, from, at))
            vcm_result_put(w, member->members, AT(char *, from, at));
        else
            vcm_jsonw_null(w);
        break;
    case VCM_RESULT_NOWHERE:
        assert(member->field != VCM_RESULT_NOWHERE);
        break;
    }
}

/* Writes members, none of which may be one that is written by hand. */
static void put_all(struct vcm_jsonw *w, const struct vcm_result_member *members, const void *from)
{
    const struct vcm_result_member *end = vcm_result_put_members(w, members, from);
    assert(!end->name && "a member that has to be written by hand");
    (void)end;
}

const struct vcm_result_member *vcm_result_put_members(struct vcm_jsonw *w,
                                                       const struct vcm_result_member *members,
                                                       const void *from)
{
    for (; members->name; members++) {
        assert(!members->put || members->field == VCM_RESULT_NOWHERE);
        if (!members->put && members->field == VCM_RESULT_NOWHERE)
            return members;
        if (members->is_spliced) {
            put_all(w, members->members, (const char *)from + members->offset);
            continue;
        }
        vcm_jsonw_key(w, members->name);
        if (members->put)
            members->put(w, from);
        else
            put_field(w, members, from);
    }
    return members;
}

void vcm_result_put(struct vcm_jsonw *w, const struct vcm_result_member *members, const void *from)
{
    vcm_jsonw_begin_object(w);
    put_all(w, members, from);
    vcm_jsonw_end_object(w);
}
