#include "base/kv_door.h"

#include <assert.h>
#include <linux/membarrier.h>
#include <lmdb.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/kv_handle.h"

#include "base/banned.h"

#define SHUT         VCM_KV_DOOR_SHUT
#define CLOSED       VCM_KV_DOOR_CLOSED
#define RELEASED     (UINT64_C(1) << 61) /* the reference to the environment was released */
#define FLAGS        (SHUT | CLOSED | RELEASED)
#define IDLE_SECONDS 1 /* how often idle transactions are ended */
#define SHUT_WAIT    1 /* seconds for this process's transactions to end before the map moves */

/* Protects the lists of doors, env->resizing and the sweeper. Not taken by a read that finds an
 * idle transaction. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static struct vcm_kv_door *doors; /* all that are not released */

/* The thread that ends idle transactions. */
static struct {
    pthread_t thread;
    bool exists; /* `thread` is to be joined */
    bool runs;   /* and will look again */
} sweeper;

bool vcm_kv_door_has_barrier;

static void init_changed(void)
{
    pthread_condattr_t clock;

    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &clock);
    pthread_condattr_destroy(&clock);
}

static void init_once(void)
{
    vcm_kv_door_has_barrier =
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
    init_changed();
}

struct vcm_kv_door *vcm_kv_door_open(struct vcm_kv_env *env, uint64_t generation)
{
    struct vcm_kv_door *door = calloc(1, sizeof *door);

    pthread_once(&once, init_once);
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
    door->next_of_all = doors;
    doors = door;
    pthread_mutex_unlock(&mutex);
    return door;
}

/* Ends the idle transactions. False when others are in use. */
static bool drop_idle(struct vcm_kv_door *door)
{
    bool all = true;

    for (unsigned i = 0; i < VCM_KV_DOOR_PLACES; i++) {
        struct vcm_kv_txn *txn = atomic_load(&door->places[i].txn);
        if (txn && txn != VCM_KV_DOOR_TAKEN &&
            atomic_compare_exchange_strong(&door->places[i].txn, &txn, NULL)) {
            mdb_txn_abort(txn->mdb);
            free(txn);
        } else if (txn) {
            all = false;
        }
    }
    return all;
}

/* Releases the environment when the door is closed, not shut, and nothing is inside. The mutex is
 * held. A reader that takes a place from now on sees the CLOSED flag and does not touch the
 * environment. */
static void release_if_empty(struct vcm_kv_door *door)
{
    if (atomic_load(&door->state) != CLOSED || !drop_idle(door))
        return;
    struct vcm_kv_door **link = &door->env->doors;
    while (*link != door)
        link = &(*link)->next_of_env;
    *link = door->next_of_env;
    for (link = &doors; *link != door;)
        link = &(*link)->next_of_all;
    *link = door->next_of_all;
    vcm_kv_env_release(door->env);
    door->env = NULL;
    atomic_fetch_or(&door->state, RELEASED);
}

/* A thread that left before the barrier is seen as gone by everyone; a thread that leaves after it
 * sees the flag. */
static void pass_barrier(void)
{
    if (vcm_kv_door_has_barrier)
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

void vcm_kv_door_close(struct vcm_kv_door *door)
{
    pthread_mutex_lock(&mutex);
    atomic_fetch_or(&door->state, CLOSED);
    pass_barrier();
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

    assert(((state + 1) & ~FLAGS) > 0 && "only a counted thread leaves");
    if (state & FLAGS)
        vcm_kv_door_tell(door);
}

void vcm_kv_door_tell(struct vcm_kv_door *door)
{
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

void vcm_kv_door_drop_idle(struct vcm_kv_env *env)
{
    pthread_mutex_lock(&mutex);
    for (struct vcm_kv_door *door = env->doors; door; door = door->next_of_env)
        drop_idle(door);
    pthread_mutex_unlock(&mutex);
}

static bool is_vacant(struct vcm_kv_door *door)
{
    bool vacant = true;

    for (unsigned i = 0; i < VCM_KV_DOOR_PLACES && vacant; i++)
        vacant = atomic_load(&door->places[i].txn) == NULL;
    return vacant;
}

/* False for one that was told to end, even if there is another by now. The mutex is held. */
static bool is_sweeper(void)
{
    return sweeper.exists && pthread_equal(sweeper.thread, pthread_self());
}

static void *sweep(void *argument)
{
    bool done = false;

    pthread_mutex_lock(&mutex);
    while (is_sweeper() && !done) {
        struct timespec until;
        int waited = 0;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += IDLE_SECONDS;
        while (is_sweeper() && waited == 0)
            waited = pthread_cond_timedwait(&changed, &mutex, &until);
        done = true;
        for (struct vcm_kv_door *door = doors; door; door = door->next_of_all) {
            done &= is_vacant(door);
            if (!door->env->resizing)
                drop_idle(door);
        }
    }
    if (is_sweeper())
        sweeper.runs = false;
    pthread_mutex_unlock(&mutex);
    return argument;
}

/* No signal of the program is handled in this thread. The mutex is held. */
static void start_sweeper(void)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    sweeper.runs = pthread_create(&sweeper.thread, NULL, sweep, NULL) == 0;
    sweeper.exists = sweeper.runs;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* A thread that does not run any more has released the mutex for good, so it can be joined here. */
void vcm_kv_door_expect_idle(void)
{
    pthread_mutex_lock(&mutex);
    if (!sweeper.runs) {
        if (sweeper.exists)
            pthread_join(sweeper.thread, NULL);
        start_sweeper();
    }
    pthread_mutex_unlock(&mutex);
}

void vcm_kv_door_end_thread(void)
{
    pthread_mutex_lock(&mutex);
    bool ends = sweeper.exists && !doors;
    pthread_t thread = sweeper.thread;
    if (ends) {
        sweeper.exists = sweeper.runs = false;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&mutex);
    if (ends)
        pthread_join(thread, NULL);
}

void vcm_kv_door_begin_fork(void)
{
    pthread_mutex_lock(&mutex);
}

/* The doors and the thread are the parent's. */
void vcm_kv_door_end_fork(bool is_child)
{
    if (is_child) {
        doors = NULL;
        sweeper.exists = sweeper.runs = false;
        init_changed(); /* the parent's may have waiters, which are not here */
    }
    pthread_mutex_unlock(&mutex);
}

static bool has_anyone(struct vcm_kv_door *door)
{
    bool anyone = (atomic_load(&door->state) & ~FLAGS) > 0;

    for (unsigned i = 0; i < VCM_KV_DOOR_PLACES && !anyone; i++)
        anyone = atomic_load(&door->places[i].txn) == VCM_KV_DOOR_TAKEN;
    return anyone;
}

/* All doors are shut. Holds are taken inside, so they are checked only when no thread is inside. */
static bool in_use(const struct vcm_kv_env *env)
{
    bool used = false;

    for (struct vcm_kv_door *door = env->doors; door && !used; door = door->next_of_env)
        used = has_anyone(door);
    return used || atomic_load(&env->holds) > 0;
}

/* A thread that left a closed door while it was shut could not release it, so that is done here. */
static void open_all(struct vcm_kv_env *env)
{
    struct vcm_kv_door *next;

    assert(env->resizing);
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
    pass_barrier();
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
    unsigned holds = atomic_fetch_sub(&env->holds, 1);

    assert(holds > 0);
    (void)holds;
    if (!atomic_load(&env->resizing))
        return;
    pthread_mutex_lock(&mutex);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}
