/*
 * own_source.h - wraps source types that a caller of the library defined as types of the registry.
 */
#ifndef VCM_API_OWN_SOURCE_H
#define VCM_API_OWN_SOURCE_H

struct vcm_own_source;

/* Frees all source types of a handle. */
void vcm_own_source_free_all(struct vcm_own_source *first);

#endif
