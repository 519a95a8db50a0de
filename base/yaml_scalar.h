/*
 * yaml_scalar.h - the type and value of a plain scalar by the core schema of YAML 1.2. For yaml.c.
 */
#ifndef VCM_BASE_YAML_SCALAR_H
#define VCM_BASE_YAML_SCALAR_H

#include "base/yaml.h"

/* Sets kind and value of a plain scalar from its text. An integer that does not fit int64_t is a
 * float. */
void vcm_yaml_scalar_resolve(struct vcm_yaml *node);

#endif
