#include "base/kv_door.h"

#include <assert.h>
#include <lmdb.h>
#include <stdlib.h>
#include <time.h>

#include "base/kv_handle.h"

#include "base/banned.h"

#define SHUT      (UINT64_C(1) << 62)
#define CLOSED    (UINT64_C(1) << 63)
#define RELEASED  (UINT64_C(1) << 61) /* the environment is no longer ours */
#define FLAGS     (SHUT | CLOSED | RELEASED)
#define SHUT_WAIT 1 /* seconds for this process's transactions to end before the map moves */

/* Of the lists of doors and env->resizing; never taken while nothing moves. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static _Thread_local unsigned favourite; /* place of the idle transaction that this thread used */

static void init_condition(void)
{
    pthread_condattr_t clock;

    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &clock);
    pthread_condattr_destroy(&clock);
}

struct vcm_kv_door *vcm_kv_door_open(struct vcm_kv_env *env, uint64_t generation)
{
    struct vcm_kv_door *door = calloc(1, sizeof *door);

    pthread_once(&once, init_condition);
    if (!door) {
        vcm_kv_env_release(env);
        return NULL;
    }
    door->env = env;
    door->generation = generation;
    pthread_mutex_lock(&mutex);
    while (env->resizing)
        pthread_cond_wait(&changed, &mutex);
    door->next_of_env = env->doors;
    env->doors = door;
    pthread_mutex_unlock(&mutex);
    return door;
}

static void drop_idle(struct vcm_kv_door *door)
{
    for (unsigned i = 0; i < VCM_KV_DOOR_IDLE; i++) {
        struct vcm_kv_txn *txn = atomic_exchange(&door->idle[i], NULL);
        if (txn) {
            mdb_txn_abort(txn->mdb);
            free(txn);
        }
    }
}

/* When it is closed, not shut, and nobody is inside. Under the mutex. */
static void release_if_empty(struct vcm_kv_door *door)
{
    if (atomic_load(&door->state) != CLOSED)
        return;
    drop_idle(door);
    struct vcm_kv_door **link = &door->env->doors;
    while (*link != door)
        link = &(*link)->next_of_env;
    *link = door->next_of_env;
    vcm_kv_env_release(door->env);
    door->env = NULL;
    atomic_fetch_or(&door->state, RELEASED);
}

void vcm_kv_door_close(struct vcm_kv_door *door)
{
    pthread_mutex_lock(&mutex);
    atomic_fetch_or(&door->state, CLOSED);
    release_if_empty(door);
    pthread_mutex_unlock(&mutex);
}

void vcm_kv_door_free(struct vcm_kv_door *door)
{
    pthread_mutex_lock(&mutex);
    while (atomic_load(&door->state) & SHUT)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    assert(atomic_load(&door->state) == (CLOSED | RELEASED));
    free(door);
}

void vcm_kv_door_leave(struct vcm_kv_door *door)
{
    uint64_t state = atomic_fetch_sub(&door->state, 1) - 1;

    if ((state & FLAGS) == 0)
        return;
    pthread_mutex_lock(&mutex);
    release_if_empty(door);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

static void wait_until_open(struct vcm_kv_door *door)
{
    pthread_mutex_lock(&mutex);
    while (atomic_load(&door->state) & SHUT)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

bool vcm_kv_door_enter(struct vcm_kv_door *door)
{
    for (;;) {
        uint64_t state = atomic_fetch_add(&door->state, 1);
        if ((state & FLAGS) == 0)
            return true;
        vcm_kv_door_leave(door);
        if (state & CLOSED)
            return false;
        wait_until_open(door);
    }
}

struct vcm_kv_txn *vcm_kv_door_take_idle(struct vcm_kv_door *door)
{
    for (unsigned i = 0; i < VCM_KV_DOOR_IDLE; i++) {
        unsigned place = (favourite + i) % VCM_KV_DOOR_IDLE;
        if (atomic_load_explicit(&door->idle[place], memory_order_relaxed)) {
            struct vcm_kv_txn *txn = atomic_exchange(&door->idle[place], NULL);
            favourite = place;
            if (txn)
                return txn;
        }
    }
    return NULL;
}

bool vcm_kv_door_put_idle(struct vcm_kv_door *door, struct vcm_kv_txn *txn)
{
    for (unsigned i = 0; i < VCM_KV_DOOR_IDLE; i++) {
        unsigned place = (favourite + i) % VCM_KV_DOOR_IDLE;
        struct vcm_kv_txn *none = NULL;
        if (atomic_compare_exchange_strong(&door->idle[place], &none, txn))
            return true;
    }
    return false;
}

void vcm_kv_door_drop_idle(struct vcm_kv_env *env)
{
    pthread_mutex_lock(&mutex);
    for (struct vcm_kv_door *door = env->doors; door; door = door->next_of_env)
        drop_idle(door);
    pthread_mutex_unlock(&mutex);
}

static bool in_use(const struct vcm_kv_env *env)
{
    bool used = atomic_load(&env->holds) > 0;

    for (struct vcm_kv_door *door = env->doors; door && !used; door = door->next_of_env)
        used = (atomic_load(&door->state) & ~FLAGS) > 0;
    return used;
}

/* Those who left a closed door meanwhile could not release it. */
static void open_all(struct vcm_kv_env *env)
{
    struct vcm_kv_door *next;

    env->resizing = false;
    for (struct vcm_kv_door *door = env->doors; door; door = next) {
        next = door->next_of_env;
        atomic_fetch_and(&door->state, ~SHUT);
        release_if_empty(door);
    }
    pthread_cond_broadcast(&changed);
}

bool vcm_kv_door_shut_all(struct vcm_kv_env *env)
{
    struct timespec until;
    int waited = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += SHUT_WAIT;
    pthread_mutex_lock(&mutex);
    while (env->resizing)
        pthread_cond_wait(&changed, &mutex);
    env->resizing = true;
    for (struct vcm_kv_door *door = env->doors; door; door = door->next_of_env)
        atomic_fetch_or(&door->state, SHUT);
    while (in_use(env) && waited == 0)
        waited = pthread_cond_timedwait(&changed, &mutex, &until);
    bool shut = !in_use(env);
    if (!shut)
        open_all(env);
    pthread_mutex_unlock(&mutex);
    return shut;
}

void vcm_kv_door_open_all(struct vcm_kv_env *env)
{
    pthread_mutex_lock(&mutex);
    open_all(env);
    pthread_mutex_unlock(&mutex);
}

void vcm_kv_door_drop_hold(struct vcm_kv_env *env)
{
    atomic_fetch_sub(&env->holds, 1);
    if (!atomic_load(&env->resizing))
        return;
    pthread_mutex_lock(&mutex);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}
