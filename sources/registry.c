#include "sources/registry.h"

#include <string.h>

#include "base/buf.h"
#include "sources/git_source.h"
#include "sources/literature_source.h"

#include "base/banned.h"

static const struct vcm_source_type *lookup(const struct vcm_registry *registry, const char *name)
{
    for (unsigned i = 0; i < registry->count; i++)
        if (strcmp(registry->types[i]->name, name) == 0)
            return registry->types[i];
    return NULL;
}

void vcm_registry_init(struct vcm_registry *registry)
{
    memset(registry, 0, sizeof *registry);
    registry->types[registry->count++] = &vcm_git_source_type;
    registry->types[registry->count++] = &vcm_literature_source_type;
}

int vcm_registry_add(struct vcm_registry *registry, const struct vcm_source_type *type,
                     struct vcm_error *err)
{
    if (lookup(registry, type->name))
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "the source type '%s' is registered already", type->name);
    if (registry->count == VCM_REGISTRY_TYPES_MAX)
        return vcm_error_set(err, VCM_UNSUPPORTED, "no more than %d source types can be registered",
                             VCM_REGISTRY_TYPES_MAX);
    registry->types[registry->count++] = type;
    return VCM_OK;
}

int vcm_registry_find(const struct vcm_source_type **out, const struct vcm_registry *registry,
                      const char *name, struct vcm_error *err)
{
    *out = lookup(registry, name);
    if (*out)
        return VCM_OK;

    struct vcm_buf known = VCM_BUF_INIT(1024);
    for (unsigned i = 0; i < registry->count; i++)
        vcm_buf_append_format(&known, "%s%s", i > 0 ? ", " : "", registry->types[i]->name);
    int rc = vcm_error_set(err, VCM_INVALID_ARGUMENT, "unknown source type '%s'; known: %s", name,
                           vcm_buf_text(&known));
    vcm_buf_release(&known);
    return rc;
}
