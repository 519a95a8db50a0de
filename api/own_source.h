/*
 * own_source.h - source types that a caller of the library defined, as the registry wants them.
 */
#ifndef VCM_API_OWN_SOURCE_H
#define VCM_API_OWN_SOURCE_H

struct vcm_own_source;

/* All of a handle's. */
void vcm_own_source_free_all(struct vcm_own_source *first);

#endif
