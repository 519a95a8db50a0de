#include "symbols/effort.h"

#include <pthread.h>
#include <stdlib.h>
#include <tree_sitter/api.h>

#include "base/banned.h"

static _Thread_local uint64_t asked;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *count_malloc(size_t size)
{
    asked += size;
    return malloc(size);
}

static void *count_calloc(size_t count, size_t size)
{
    asked += (uint64_t)count * size;
    return calloc(count, size);
}

static void *count_realloc(void *memory, size_t size)
{
    asked += size;
    return realloc(memory, size);
}

static void install(void)
{
    ts_set_allocator(count_malloc, count_calloc, count_realloc, free);
}

void vcm_effort_install(void)
{
    pthread_once(&once, install);
}

uint64_t vcm_effort_bytes(void)
{
    return asked;
}
