#include "git/libgit2.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/banned.h"

struct vcm_libgit2 vcm_libgit2;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_loaded;

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define FUNCTION(name) {"git_" #name, offsetof(struct vcm_libgit2, name)},
    VCM_LIBGIT2_FUNCTIONS(FUNCTION)};

static int load(struct vcm_error *err)
{
    void *library = dlopen(VCM_LIBGIT2_NAME, RTLD_LAZY | RTLD_LOCAL);

    if (!library)
        return vcm_error_set(err, VCM_UNSUPPORTED,
                             "cannot load libgit2 (%s); install the package that has it",
                             dlerror());
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *function = dlsym(library, functions[i].name);
        if (!function)
            return vcm_error_set(err, VCM_UNSUPPORTED, "there is no %s in " VCM_LIBGIT2_NAME,
                                 functions[i].name);
        memcpy((char *)&vcm_libgit2 + functions[i].offset, &function, sizeof function);
    }
    is_loaded = true;
    return VCM_OK;
}

int vcm_libgit2_load(struct vcm_error *err)
{
    pthread_mutex_lock(&lock);
    int rc = is_loaded ? VCM_OK : load(err);
    pthread_mutex_unlock(&lock);
    return rc;
}
