#include "cli/serve_options.h"

#include <string.h>

#include "base/banned.h"

const char *const vcm_serve_options_names[] = {"underscores", "dots", NULL};

static unsigned sets_of(const struct vcm_op_value *names)
{
    unsigned sets = 0;

    for (size_t i = 0; i < names->count; i++)
        for (unsigned set = 0; vcm_tools_set_names[set]; set++)
            if (strcmp(names->list[i], vcm_tools_set_names[set]) == 0)
                sets |= 1u << set;
    return sets ? sets : VCM_TOOLS_SETS_DEFAULT;
}

int vcm_serve_options_take(struct vcm_tools *tools, struct vcm_roots **roots,
                           const struct vcm_op_call *call, bool current_directory,
                           struct vcm_error *err)
{
    const struct vcm_op_value *root = &call->values[VCM_SERVE_OPTIONS_ROOT];
    const struct vcm_op_value *urls = &call->values[VCM_SERVE_OPTIONS_ALLOW_URL];
    const char *names = vcm_op_text(call, VCM_SERVE_OPTIONS_NAMES);

    int rc = vcm_roots_open(roots,
                            &(struct vcm_roots_options){.directories = root->list,
                                                        .directory_count = root->count,
                                                        .url_patterns = urls->list,
                                                        .url_pattern_count = urls->count,
                                                        .current_directory = current_directory},
                            err);
    *tools = (struct vcm_tools){
        .sets = sets_of(&call->values[VCM_SERVE_OPTIONS_TOOLSET]),
        .dots = names && strcmp(names, "dots") == 0,
        .output_schemas = vcm_op_flag(call, VCM_SERVE_OPTIONS_OUTPUT_SCHEMAS),
        .read_only = vcm_op_flag(call, VCM_SERVE_OPTIONS_READ_ONLY),
        .roots = *roots,
    };
    return rc;
}
