/*
 * outcome.h - the outcome of each item of a source, and its reason: the one table of both.
 *
 * The ledger, the store, JSON, 'vcm coverage --reason' with its help, the library (<vcm/scopes.h>)
 * and its bindings are made from the two lists below. A new reason is a line here. A new outcome is
 * a line here and a counter of that name in struct vcm_coverage (api/public/map.h), without which
 * api/map.c does not compile.
 * Everything here is constant; any thread may read it.
 */
#ifndef VCM_BASE_OUTCOME_H
#define VCM_BASE_OUTCOME_H

#include <stdbool.h>

#include "base/buf.h"

/*
 * X(NAME, name, number, retried, meaning, remedy), in the order in which counts are shown. `number`
 * is what the store records: it is never changed and never given to another outcome, and the
 * numbers have no gap. `retried`: every map reads such an item again, unless its reason rules that
 * out. `meaning` describes the items of such a count. `remedy` is what a person can do to have it
 * mapped, or NULL.
 */
#define VCM_OUTCOME_LIST(X)                                                                        \
    X(PAGED, paged, 8, false, "that are in pages", NULL)                                           \
    X(EXCLUDED, excluded, 2, false, "by the row's globs",                                          \
      "change include_globs or exclude_globs of the row if it should be mapped")                   \
    X(IGNORED, ignored, 3, false, "by ignore files of the tree",                                   \
      "take it out of .gitignore or .colonyignore if it should be mapped")                         \
    X(BINARY, binary, 7, false, "that are no text",                                                \
      "set 'binary_policy: include' for the row to have it in base64")                             \
    X(SYMLINK, symlink, 1, false, "never followed", NULL)                                          \
    X(SUBMODULE, submodule, 0, false, "never followed",                                            \
      "add a row with 'submodule' and its path to map it")                                         \
    X(LFS_MISSING, lfs_missing, 4, true, "whose content in LFS is not here",                       \
      "fetch it with 'vcm lfs pull', then map again")                                              \
    X(TOO_LARGE, too_large, 5, false, "over the limit",                                            \
      "split it into smaller files, or exclude it")                                                \
    X(FAILED, failed, 6, true, "that could not be read", NULL)

/*
 * X(OUTCOME, NAME, word, name, retried, remedy). `name` is what the store and JSON contain, and is
 * never changed; `word` is the same for a command line. `retried` is false where the same content
 * and configuration fail in the same way.
 */
#define VCM_REASON_LIST(X)                                                                         \
    X(FAILED, OBJECT_MISSING, object_missing, "object_missing", true,                              \
      "fetch its object into the repository ('git fetch'; in a partial clone, check the commit "   \
      "out), then map again")                                                                      \
    X(FAILED, OBJECT_DAMAGED, object_damaged, "object_damaged", true,                              \
      "restore its object ('git fsck' says more), or clone anew, then map again")                  \
    X(FAILED, PATH_EXCEEDS_BUDGET, path_exceeds_budget, "path_exceeds_budget", false,              \
      "raise flush_token_budget of the row: the path alone fills a page")                          \
    X(FAILED, NAME_REFUSED, name_refused, "name_refused", false,                                   \
      "rename it: git itself refuses to check out a file of this name")                            \
    X(FAILED, NAME_TWICE, name_twice, "name_twice", false,                                         \
      "remove it: its directory has another entry of this name ('git fsck' says more)")            \
    X(FAILED, LFS_EXTENSION, lfs_extension, "lfs_extension", true,                                 \
      "store it in LFS without an extension: vcm runs none")                                       \
    X(FAILED, LFS_CORRUPT, lfs_corrupt, "lfs_corrupt", true,                                       \
      "move the damaged object away with 'git lfs fsck', fetch it with 'git lfs fetch', then map " \
      "again")                                                                                     \
    X(FAILED, LFS_UNREADABLE, lfs_unreadable, "lfs_unreadable", true,                              \
      "make the files below lfs/objects in the git directory readable, then map again")            \
    X(FAILED, CORRUPT, corrupt, "corrupt", false, "replace it by a sound copy")                    \
    X(FAILED, ENCRYPTED, encrypted, "encrypted", false, "replace it by a copy without a password") \
    X(FAILED, EMPTY, empty, "empty", false, "exclude it: there is nothing to map")                 \
    X(FAILED, NO_TEXT_LAYER, no_text_layer, "no text layer", false,                                \
      "replace it by a copy that went through text recognition (OCR)")                             \
    X(FAILED, UNSUPPORTED_TYPE, unsupported_type, "unsupported type", false,                       \
      "convert it to PDF, HTML, Markdown or plain text, or exclude it")                            \
    X(FAILED, OVER_THE_LIMITS, over_the_limits, "over the limits", true,                           \
      "split it into smaller documents, or exclude it")                                            \
    X(FAILED, NO_EXTRACTOR, no_extractor, "no extractor", true,                                    \
      "run 'vcm doctor', which says what vcm-extract lacks, then map again")                       \
    X(FAILED, UNREADABLE, unreadable, "unreadable", true,                                          \
      "map again; 'vcm doctor' looks for what may be wrong with the installation")

/* The outcome of an item. */
enum vcm_source_outcome {
#define VCM_OUTCOME_CONSTANT(NAME, name, number, retried, meaning, remedy)                         \
    VCM_SOURCE_##NAME = (number),
    VCM_OUTCOME_LIST(VCM_OUTCOME_CONSTANT)
#undef VCM_OUTCOME_CONSTANT
};

/* How many outcomes there are. */
enum vcm_outcome_place {
#define VCM_OUTCOME_CONSTANT(NAME, name, number, retried, meaning, remedy) VCM_OUTCOME_PLACE_##NAME,
    VCM_OUTCOME_LIST(VCM_OUTCOME_CONSTANT)
#undef VCM_OUTCOME_CONSTANT
        VCM_OUTCOME_PLACES,
};
#define VCM_SOURCE_OUTCOMES ((unsigned)VCM_OUTCOME_PLACES)

/* Why, where the outcome alone does not say enough. */
enum vcm_reason {
    VCM_REASON_NONE = 0,
    VCM_REASON_OTHER, /* of a user's source type, or of another version: it has its own text */
#define VCM_OUTCOME_CONSTANT(OUTCOME, NAME, word, name, retried, remedy) VCM_REASON_##NAME,
    VCM_REASON_LIST(VCM_OUTCOME_CONSTANT)
#undef VCM_OUTCOME_CONSTANT
};

/* "lfs_missing" */
const char *vcm_outcome_name(enum vcm_source_outcome outcome);
bool vcm_outcome_is_retried(enum vcm_source_outcome outcome);

/* "no text layer"; NULL for VCM_REASON_NONE and VCM_REASON_OTHER. */
const char *vcm_outcome_reason_name(enum vcm_reason reason);

/* By its name or its word. VCM_REASON_NONE for an empty text, VCM_REASON_OTHER for an unknown. */
enum vcm_reason vcm_outcome_reason_of(struct vcm_slice text);

/* Whether an item that failed for this reason may succeed later without any change to it. */
bool vcm_outcome_reason_is_retried(enum vcm_reason reason);

#endif
