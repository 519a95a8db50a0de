/*
 * schema_doc.h - what the published descriptions of the repo map must say, from the schema's
 * tables.
 */
#ifndef VCM_TESTS_REPOMAP_SCHEMA_DOC_H
#define VCM_TESTS_REPOMAP_SCHEMA_DOC_H

#include "base/buf.h"
#include "repomap/repo_map_schema.h"

/* The JSON Schema for editors, indented. */
void schema_doc_json(struct vcm_buf *out);

/* The Markdown table of a level. */
void schema_doc_table(struct vcm_buf *out, const struct vcm_schema_level *level);

#endif
