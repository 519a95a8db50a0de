/*
 * knowledge.h - takes the files that a map routes to the knowledge base into it.
 *
 * Files come from the tree of the plan's commit. What the tree lost is removed; what merely lost
 * its route stays until it is cleared, and so does what was ingested by hand.
 */
#ifndef VCM_REPOMAP_KNOWLEDGE_H
#define VCM_REPOMAP_KNOWLEDGE_H

#include "kb/ingestor.h"
#include "repomap/plan.h"

/* How a file is cut when no literature row covers it. */
#define VCM_KNOWLEDGE_TARGET  800u
#define VCM_KNOWLEDGE_OVERLAP 80u
#define VCM_KNOWLEDGE_BUDGET  4096u

/* The literature rows of a map, ready to be asked about paths. */
struct vcm_knowledge_rules;

int vcm_knowledge_rules_open(struct vcm_knowledge_rules **out, const struct vcm_repo_map *map,
                             const struct vcm_plan_request *request, struct vcm_error *err);
void vcm_knowledge_rules_close(struct vcm_knowledge_rules *rules);

/* Sets target, overlap and budget of the item as the first literature row says that covers its
 * path, else to the numbers above. NULL rules have no rows. */
void vcm_knowledge_rules_apply(const struct vcm_knowledge_rules *rules, struct vcm_slice path,
                               struct vcm_ingestor_item *item);

/* Whether a literature row covers the path. */
bool vcm_knowledge_rules_cover(const struct vcm_knowledge_rules *rules, struct vcm_slice path);

/* The files that the plan's routes send to the knowledge base, then what the tree lost. `profile`
 * is for routes without one; may be NULL. */
int vcm_knowledge_run(const struct vcm_plan *plan, const struct vcm_plan_request *request,
                      const char *profile, const struct vcm_ingestor_options *options,
                      vcm_ingestor_fn visit, void *context, struct vcm_error *err);

/* Puts the content in the place of a Git LFS pointer, when the bytes are one; `repository` is a
 * path at or below the repository that has it. UNSUPPORTED, "lfs_missing", when it is not here. */
int vcm_knowledge_resolve_pointer(struct vcm_buf *bytes, const char *repository,
                                  struct vcm_error *err);

#endif
