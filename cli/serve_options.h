/*
 * serve_options.h - the parameters that `vcm mcp` and `vcm serve` share: what clients may do and
 * see.
 */
#ifndef VCM_CLI_SERVE_OPTIONS_H
#define VCM_CLI_SERVE_OPTIONS_H

#include "ops/op.h"
#include "serve/service.h"

/* Their places among the parameters of the command: they come first. */
enum vcm_serve_options_index {
    VCM_SERVE_OPTIONS_ROOT,
    VCM_SERVE_OPTIONS_TOOLSET,
    VCM_SERVE_OPTIONS_NAMES,
    VCM_SERVE_OPTIONS_OUTPUT_SCHEMAS,
    VCM_SERVE_OPTIONS_READ_ONLY,
    VCM_SERVE_OPTIONS_ALLOW_URL,
    VCM_SERVE_OPTIONS_COUNT,
};

extern const char *const vcm_serve_options_names[];

#define VCM_SERVE_OPTIONS                                                                          \
    [VCM_SERVE_OPTIONS_ROOT] = {.name = "root",                                                    \
                                .type = VCM_OP_TEXT,                                               \
                                .repeated = true,                                                  \
                                .placeholder = "DIR",                                              \
                                .hint = VCM_OP_HINT_DIRECTORY,                                     \
                                .summary =                                                         \
                                    "directory whose repositories and files clients may name "     \
                                    "(may be repeated)"},                                          \
    [VCM_SERVE_OPTIONS_TOOLSET] = {.name = "toolset",                                              \
                                   .type = VCM_OP_CHOICE,                                          \
                                   .repeated = true,                                               \
                                   .placeholder = "SET",                                           \
                                   .choices = vcm_tools_set_names,                                 \
                                   .default_text = "all but store",                                \
                                   .summary = "offer these tools (may be repeated)"},              \
    [VCM_SERVE_OPTIONS_NAMES] = {.name = "names",                                                  \
                                 .type = VCM_OP_CHOICE,                                            \
                                 .placeholder = "FORM",                                            \
                                 .choices = vcm_serve_options_names,                               \
                                 .default_text = "underscores",                                    \
                                 .summary = "list tools as kb_search or as kb.search; both work"}, \
    [VCM_SERVE_OPTIONS_OUTPUT_SCHEMAS] = {.name = "output-schemas",                                \
                                          .type = VCM_OP_FLAG,                                     \
                                          .summary =                                               \
                                              "list the schema of each tool's result, too"},       \
    [VCM_SERVE_OPTIONS_READ_ONLY] = {.name = "read-only",                                          \
                                     .type = VCM_OP_FLAG,                                          \
                                     .summary = "leave out tools that write"},                     \
    [VCM_SERVE_OPTIONS_ALLOW_URL] = {.name = "allow-url",                                          \
                                     .type = VCM_OP_TEXT,                                          \
                                     .repeated = true,                                             \
                                     .placeholder = "PATTERN",                                     \
                                     .summary = "let clients fetch URLs that match, besides "      \
                                                "public https ones (may be repeated)"}

/* Fills in what the tools take from the command line, and opens their roots, which the caller
 * closes, also after a failure. */
int vcm_serve_options_take(struct vcm_tools *tools, struct vcm_roots **roots,
                           const struct vcm_op_call *call, bool current_directory,
                           struct vcm_error *err);

#endif
