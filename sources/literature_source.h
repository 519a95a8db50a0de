/*
 * literature_source.h - the documents of a commit as a source: `type: literature`.
 *
 * Walks the tree like the git source. A record is a chunk of prose (kb/chunker.h) with its section
 * and page; where a document's text is the file's own, it has lines, too.
 */
#ifndef VCM_SOURCES_LITERATURE_SOURCE_H
#define VCM_SOURCES_LITERATURE_SOURCE_H

#include "sources/registry.h"

extern const struct vcm_source_type vcm_literature_source_type;

#endif
