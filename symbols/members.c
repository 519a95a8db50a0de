#include "symbols/members.h"

#include "symbols/exports.h"

#include "base/banned.h"

struct vcm_lookup_answer vcm_members_find(struct vcm_lookup *scope,
                                          const struct vcm_lookup_use *use,
                                          struct vcm_slice receiver)
{
    if (receiver.len > 1 && receiver.data[0] == '@')
        return vcm_exports_find(scope, use->file, vcm_slice_of(receiver.data + 1, receiver.len - 1),
                                use->name, use);
    return (struct vcm_lookup_answer){.definition = NULL};
}

struct vcm_lookup_answer vcm_members_find_overridden(struct vcm_lookup *scope,
                                                     const struct vcm_lookup_use *use)
{
    (void)scope;
    (void)use;
    return (struct vcm_lookup_answer){.definition = NULL};
}
