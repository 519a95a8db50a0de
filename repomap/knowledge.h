/*
 * knowledge.h - ingests the files that a map routes to the knowledge base.
 *
 * Files are read from the tree of the plan's commit. Documents whose file left the tree are
 * removed. Documents that only lost their route stay until they are cleared, and so do documents
 * that the user ingested by path.
 */
#ifndef VCM_REPOMAP_KNOWLEDGE_H
#define VCM_REPOMAP_KNOWLEDGE_H

#include "kb/ingestor.h"
#include "repomap/plan.h"

/* Chunk sizes for files that no literature row covers. */
#define VCM_KNOWLEDGE_TARGET  800u
#define VCM_KNOWLEDGE_OVERLAP 80u
#define VCM_KNOWLEDGE_BUDGET  4096u

/* The literature rows of a map, compiled to match paths. */
struct vcm_knowledge_rules;

int vcm_knowledge_rules_open(struct vcm_knowledge_rules **out, const struct vcm_repo_map *map,
                             const struct vcm_plan_request *request, struct vcm_error *err);
void vcm_knowledge_rules_close(struct vcm_knowledge_rules *rules);

/* Sets target, overlap and budget of the item from the first literature row that covers its path,
 * else from the numbers above. NULL rules have no rows. */
void vcm_knowledge_rules_apply(const struct vcm_knowledge_rules *rules, struct vcm_slice path,
                               struct vcm_ingestor_item *item);

/* Whether a literature row covers the path. */
bool vcm_knowledge_rules_cover(const struct vcm_knowledge_rules *rules, struct vcm_slice path);

/* Ingests the files that the plan's routes name, then removes documents that the tree no longer
 * has. `profile` is for routes without one; may be NULL. */
int vcm_knowledge_run(const struct vcm_plan *plan, const struct vcm_plan_request *request,
                      const char *profile, const struct vcm_ingestor_options *options,
                      vcm_ingestor_fn visit, void *context, struct vcm_error *err);

/* If the bytes are a Git LFS pointer, replaces them by the content; `repository` is a path at or
 * below the repository that has it. UNSUPPORTED, "lfs_missing", when the content is not on this
 * machine. */
int vcm_knowledge_resolve_pointer(struct vcm_buf *bytes, const char *repository,
                                  struct vcm_error *err);

#endif
