#include "base/kv_handle.h"

#include <assert.h>
#include <errno.h>
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"

#include "base/banned.h"

#define MAP_DEFAULT ((size_t)1024 * VCM_GIB) /* address space: large, so that it need not move */
#define PAGE_BYTES  ((size_t)4096)
#define NO_TABLE    VCM_KV_HANDLE_NO_TABLE
#define SLOT_NAP_MS 10
#define FIRST_READS 32u
#define MOVES_MAX   100u /* how often the generation may change while it is being opened */

/* The environment whose writers' lock this thread holds: a second request never ends. */
static _Thread_local const struct vcm_kv_env *changing;

static void copy_handles(struct vcm_kv_txn *txn)
{
    bool complete = true;

    for (unsigned i = 0; i < txn->kv->tables_count; i++) {
        txn->handles[i] = atomic_load_explicit(&txn->door->handles[i], memory_order_acquire);
        complete &= txn->handles[i] != NO_TABLE;
    }
    txn->complete = complete;
}

/* Begins a transaction, or renews it when it was used before. The caller is inside. */
static int begin(struct vcm_kv_txn *txn)
{
    struct vcm_kv_env *env = txn->door->env;

    if (!txn->complete)
        copy_handles(txn);
    if (env->lost)
        return MDB_PANIC;
    if (txn->mdb)
        return mdb_txn_renew(txn->mdb);
    return mdb_txn_begin(env->mdb, NULL, txn->writes ? 0 : MDB_RDONLY, &txn->mdb);
}

static void leave(struct vcm_kv_txn *txn)
{
    if (txn->place)
        vcm_kv_door_put(txn->door, txn->place, NULL);
    else
        vcm_kv_door_leave(txn->door);
}

static void forget(struct vcm_kv_txn *txn)
{
    if (txn->mdb)
        mdb_txn_abort(txn->mdb);
    txn->mdb = NULL;
}

/* The attempts to begin one transaction. */
struct attempt {
    bool again; /* the obstacle was removed: the caller tries again */
    uint64_t
        deadline; /* for a reader slot, on the clock of vcm_clock_ms(); 0 until one is missing */
};

/* All reader slots are taken; the caller is outside. Waits a little: a process that is idle gives
 * its slots back after a second. */
static int wait_for_slot(struct attempt *attempt, const struct vcm_kv_options *options,
                         struct vcm_error *err)
{
    uint64_t now = vcm_clock_ms();

    if (attempt->deadline == 0)
        attempt->deadline = now + VCM_LIMIT_READER_WAIT_MS;
    if (now >= attempt->deadline)
        return vcm_kv_env_fail(options, MDB_READERS_FULL, err);
    vcm_clock_sleep_ms(SLOT_NAP_MS);
    attempt->again = true;
    return VCM_OK;
}

/* Begins at a door that the caller has entered; after a failure, or to try again, the caller is
 * outside. */
static int begin_inside(struct attempt *attempt, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    const struct vcm_kv_options *options = &txn->kv->options;
    struct vcm_kv_env *env = txn->door->env;
    bool cleared = false;
    int code, rc;

    attempt->again = false;
    while ((code = begin(txn)) == MDB_READERS_FULL && !cleared) {
        int dead;
        forget(txn);
        vcm_kv_door_drop_idle(env);
        mdb_reader_check(env->mdb, &dead);
        cleared = true;
    }
    if (code == 0)
        return VCM_OK;
    forget(txn);
    if (code == MDB_READERS_FULL) {
        leave(txn);
        return wait_for_slot(attempt, options, err);
    }
    if (code == MDB_MAP_RESIZED) {
        vcm_kv_env_retain(env);
        leave(txn);
        rc = vcm_kv_env_resize(env, options, false, err);
        vcm_kv_env_release(env);
        attempt->again = rc == VCM_OK;
        return rc;
    }
    leave(txn);
    return vcm_kv_env_fail(options, code, err);
}

/* Ends the transaction, also when it fails. */
static int commit(struct vcm_kv_txn *txn)
{
    int code = mdb_txn_commit(txn->mdb);
    if (code == 0 && txn->writes)
        vcm_kv_env_complete_file(txn->door->env);
    vcm_kv_door_leave(txn->door);
    return code;
}

static void rollback(struct vcm_kv_txn *txn)
{
    mdb_txn_abort(txn->mdb);
    vcm_kv_door_leave(txn->door);
}

/* A read at a door whose generation may be an old one. */
static int begin_at(struct vcm_kv_txn *txn, struct vcm_kv *kv, struct vcm_kv_door *door,
                    struct vcm_error *err)
{
    struct attempt attempt = {0};
    int rc;

    *txn = (struct vcm_kv_txn){.kv = kv, .door = door};
    do {
        if (!vcm_kv_door_enter(door))
            return vcm_error_set(err, VCM_STORE_BUSY,
                                 "the store in '%s' changed to another generation; try again",
                                 kv->options.directory);
        rc = begin_inside(&attempt, txn, err);
    } while (attempt.again);
    return rc;
}

static int open_table(struct vcm_kv_txn *txn, unsigned table, unsigned flags)
{
    MDB_dbi handle;
    int code = mdb_dbi_open(txn->mdb, txn->kv->tables[table].name, flags, &handle);
    if (code == 0)
        txn->handles[table] = handle;
    return code;
}

/* Publishes the tables' numbers to other threads, once the transaction that opened them is
 * committed. */
static void publish_tables(const struct vcm_kv_txn *txn)
{
    bool missing = false;

    for (unsigned i = 0; i < txn->kv->tables_count; i++) {
        atomic_store_explicit(&txn->door->handles[i], txn->handles[i], memory_order_release);
        missing |= txn->handles[i] == NO_TABLE;
    }
    atomic_store(&txn->door->incomplete, missing);
}

static int create_tables(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    (void)context;
    for (unsigned i = 0; i < txn->kv->tables_count; i++) {
        int code = open_table(txn, i, MDB_CREATE);
        if (code != 0) {
            txn->fault = code;
            return vcm_kv_env_fail(&txn->kv->options, code, err);
        }
    }
    return VCM_OK;
}

/* Opens the tables that the file has. */
static int find_tables(struct vcm_kv *kv, struct vcm_kv_door *door, struct vcm_error *err)
{
    struct vcm_kv_txn txn;
    int code = 0;

    int rc = begin_at(&txn, kv, door, err);
    if (rc != VCM_OK)
        return rc;
    for (unsigned i = 0; i < kv->tables_count && (code == 0 || code == MDB_NOTFOUND); i++)
        code = open_table(&txn, i, 0);
    if (code != 0 && code != MDB_NOTFOUND) {
        rollback(&txn);
        return vcm_kv_env_fail(&kv->options, code, err);
    }
    code = commit(&txn); /* keeps the tables' numbers valid */
    if (code != 0)
        return vcm_kv_env_fail(&kv->options, code, err);
    publish_tables(&txn);
    return VCM_OK;
}

static int no_store(struct vcm_kv *kv, uint64_t number, struct vcm_error *err)
{
    if (number == 0)
        return vcm_error_set(err, VCM_NOT_FOUND, "there is no store in '%s'",
                             kv->options.directory);
    return vcm_error_set(err, VCM_STORE_CORRUPT,
                         "the store in '%s' is damaged: generation %llu is missing",
                         kv->options.directory, (unsigned long long)number);
}

/* Opens the current environment. Its generation may change meanwhile. */
static int acquire(struct vcm_kv_env **out, uint64_t *number, struct vcm_kv *kv,
                   const struct vcm_kv_lock *held, struct vcm_error *err)
{
    char path[VCM_LIMIT_PATH_BYTES];
    struct vcm_error cause = {0};
    int rc = VCM_OK;

    for (unsigned i = 0; i < MOVES_MAX; i++) {
        vcm_error_reset(&cause);
        *number = vcm_kv_generation_now(&kv->generation);
        if (!vcm_kv_generation_path(path, &kv->generation, *number, ""))
            return vcm_error_set(err, VCM_INVALID_ARGUMENT, "the path '%s' is too long",
                                 kv->options.directory);
        bool create = *number == 0 && !kv->options.read_only;
        rc = vcm_kv_env_acquire(out, path, create, &kv->options, held, &cause);
        if (vcm_kv_generation_now(&kv->generation) == *number)
            break;
        vcm_kv_env_release(*out);
        *out = NULL;
        rc = VCM_STORE_BUSY;
    }
    if (rc == VCM_NOT_FOUND)
        return no_store(kv, *number, err);
    if (rc != VCM_OK && err && err->code == VCM_OK)
        *err = cause;
    return rc;
}

/* Opens a door to the current environment, with the tables that exist. */
static int make_door(struct vcm_kv_door **out, struct vcm_kv *kv, const struct vcm_kv_lock *held,
                     struct vcm_error *err)
{
    struct vcm_kv_env *env;
    uint64_t number;

    int rc = acquire(&env, &number, kv, held, err);
    if (rc != VCM_OK)
        return rc;
    struct vcm_kv_door *door = vcm_kv_door_open(env, number);
    if (!door)
        return vcm_error_memory(err);
    for (unsigned i = 0; i < kv->tables_count; i++)
        atomic_init(&door->handles[i], NO_TABLE);
    pthread_mutex_lock(&env->tables_mutex);
    rc = find_tables(kv, door, err);
    pthread_mutex_unlock(&env->tables_mutex);
    if (rc != VCM_OK) {
        vcm_kv_door_close(door);
        vcm_kv_door_free(door);
        return rc;
    }
    *out = door;
    return VCM_OK;
}

/* Changes to the current generation. */
static int refresh(struct vcm_kv *kv, const struct vcm_kv_lock *held, struct vcm_error *err)
{
    int rc = VCM_OK;

    pthread_mutex_lock(&kv->mutex);
    struct vcm_kv_door *old = atomic_load(&kv->current);
    if (!old || old->generation != vcm_kv_generation_now(&kv->generation)) {
        struct vcm_kv_door *door;
        rc = make_door(&door, kv, held, err);
        if (rc == VCM_OK) {
            door->next_of_handle = kv->doors;
            kv->doors = door;
            atomic_store(&kv->current, door);
            if (old)
                vcm_kv_door_close(old);
        }
    }
    pthread_mutex_unlock(&kv->mutex);
    return rc;
}

bool vcm_kv_handle_is_current(struct vcm_kv *kv)
{
    const struct vcm_kv_door *door = atomic_load(&kv->current);

    return door->generation == vcm_kv_generation_now(&kv->generation);
}

static bool is_in_force(struct vcm_kv_door *door, struct vcm_kv *kv)
{
    return door->generation == vcm_kv_generation_now(&kv->generation) &&
           !vcm_kv_env_is_forked(door->env);
}

int vcm_kv_handle_enter(struct vcm_kv_door **out, struct vcm_kv *kv, const struct vcm_kv_lock *held,
                        struct vcm_error *err)
{
    for (;;) {
        struct vcm_kv_door *door = atomic_load_explicit(&kv->current, memory_order_acquire);
        if (!vcm_kv_door_enter(door))
            continue; /* another thread has just installed a new one */
        *out = door;
        if (is_in_force(door, kv))
            return VCM_OK;
        int rc = vcm_kv_env_check_process(door->env, &kv->options, err);
        vcm_kv_door_leave(door);
        if (rc == VCM_OK)
            rc = refresh(kv, held, err);
        if (rc != VCM_OK)
            return rc;
    }
}

/* The same for readers. A reader that opened the store before its first writer finished looks for
 * the tables again; missing tables read as empty. */
static int enter_to_read(struct vcm_kv_door **out, struct vcm_kv *kv, struct vcm_error *err)
{
    int rc = vcm_kv_handle_enter(out, kv, NULL, err);

    if (rc != VCM_OK || !atomic_load_explicit(&(*out)->incomplete, memory_order_relaxed))
        return rc;
    struct vcm_kv_env *env = (*out)->env;
    vcm_kv_env_retain(env);
    vcm_kv_door_leave(*out);
    if (pthread_mutex_trylock(&env->tables_mutex) == 0) {
        find_tables(kv, *out, NULL);
        pthread_mutex_unlock(&env->tables_mutex);
    }
    vcm_kv_env_release(env);
    return vcm_kv_handle_enter(out, kv, NULL, err);
}

/* For a thread that entered by being counted: moves it to a place, where its transaction can stay
 * for reuse; unless the handle has hardly been read from. */
static struct vcm_kv_txn *new_txn(struct vcm_kv *kv, struct vcm_kv_door *door)
{
    struct vcm_kv_txn *txn = NULL;
    bool reads_much = atomic_load_explicit(&door->begun, memory_order_relaxed) >= FIRST_READS;
    struct vcm_kv_place *place = reads_much ? vcm_kv_door_take(&txn, door) : NULL;

    if (!reads_much)
        atomic_fetch_add_explicit(&door->begun, 1, memory_order_relaxed);

    if (!txn)
        txn = calloc(1, sizeof *txn);
    if (txn) {
        txn->kv = kv;
        txn->door = door;
        txn->place = place;
    } else if (place) {
        vcm_kv_door_put(door, place, NULL);
    }
    if (txn && place)
        vcm_kv_door_leave(door);
    return txn;
}

static int begin_slowly(struct vcm_kv_txn **out, struct vcm_kv *kv, struct vcm_error *err)
{
    struct vcm_kv_door *door;
    struct attempt attempt = {0};
    int rc;

    do {
        rc = enter_to_read(&door, kv, err);
        if (rc != VCM_OK)
            return rc;
        struct vcm_kv_txn *txn = new_txn(kv, door);
        if (!txn) {
            vcm_kv_door_leave(door);
            return vcm_error_memory(err);
        }
        if (txn->place)
            vcm_kv_door_expect_idle();
        rc = begin_inside(&attempt, txn, err);
        if (rc == VCM_OK && !attempt.again)
            *out = txn;
        else
            free(txn);
    } while (attempt.again);
    return rc;
}

/* The common case: there is an idle transaction at the current door. */
int vcm_kv_handle_read_begin(struct vcm_kv_txn **out, struct vcm_kv *kv, struct vcm_error *err)
{
    struct vcm_kv_door *door = atomic_load_explicit(&kv->current, memory_order_acquire);
    struct vcm_kv_txn *txn;

    struct vcm_kv_place *place = vcm_kv_door_take(&txn, door);
    if (place && txn && txn->complete && !door->env->lost && is_in_force(door, kv) &&
        mdb_txn_renew(txn->mdb) == 0) {
        *out = txn;
        return VCM_OK;
    }
    if (place)
        vcm_kv_door_put(door, place, txn);
    *out = NULL;
    return begin_slowly(out, kv, err);
}

void vcm_kv_handle_read_end(struct vcm_kv_txn *txn)
{
    if (!txn)
        return;
    assert(!txn->writes);
    if (txn->place) {
        mdb_txn_reset(txn->mdb);
        vcm_kv_door_put(txn->door, txn->place, txn);
        return;
    }
    mdb_txn_abort(txn->mdb);
    vcm_kv_door_leave(txn->door);
    free(txn);
}

bool vcm_kv_handle_is_new(const struct vcm_kv_txn *txn)
{
    return txn->door->generation == 0 && mdb_txn_id(txn->mdb) <= 2;
}

bool vcm_kv_handle_is_latest(const struct vcm_kv_txn *txn)
{
    MDB_envinfo info;

    mdb_env_info(txn->door->env->mdb, &info);
    return info.me_last_txnid == mdb_txn_id(txn->mdb);
}

/* The caller is inside. */
static struct vcm_kv_handle_hold *hold_env(struct vcm_kv_env *env)
{
    vcm_kv_env_retain(env);
    atomic_fetch_add(&env->holds, 1);
    return &env->hold;
}

int vcm_kv_handle_hold(struct vcm_kv_handle_hold **out, struct vcm_kv_txn *txn,
                       struct vcm_error *err)
{
    struct vcm_kv_env *env = txn->door->env;

    *out = NULL;
    if (txn->writes) /* its changes are not in the map yet */
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "memory of a write cannot be held");
    *out = hold_env(env);
    return VCM_OK;
}

uint64_t vcm_kv_handle_map_number(const struct vcm_kv_txn *txn)
{
    return txn->door->env->map_number;
}

/* The map does not move while a thread is inside, so the hold is taken there. A caller that finds
 * no free place does not wait: it begins a transaction instead. */
int vcm_kv_handle_hold_map(struct vcm_kv_handle_hold **out, struct vcm_kv *kv, uint64_t map_number)
{
    struct vcm_kv_door *door = atomic_load_explicit(&kv->current, memory_order_acquire);
    struct vcm_kv_txn *txn;

    *out = NULL;
    struct vcm_kv_place *place = vcm_kv_door_take(&txn, door);
    if (!place)
        return VCM_RETRY;
    if (is_in_force(door, kv) && door->env->map_number == map_number)
        *out = hold_env(door->env);
    vcm_kv_door_put(door, place, txn);
    return *out ? VCM_OK : VCM_RETRY;
}

void vcm_kv_handle_hold_release(struct vcm_kv_handle_hold *hold)
{
    if (!hold || vcm_kv_env_is_forked(hold->env))
        return;
    vcm_kv_door_drop_hold(hold->env);
    vcm_kv_env_release(hold->env);
}

/* One attempt at a change. When the map was too small, `*full` is the environment to resize, which
 * the caller releases. */
static int run_change(struct vcm_kv_env **full, struct vcm_kv *kv, vcm_kv_change_fn change,
                      void *context, const struct vcm_kv_lock *lock, struct vcm_error *err)
{
    struct vcm_kv_door *door;
    struct vcm_kv_txn txn;
    struct attempt attempt = {0};
    int rc;

    *full = NULL;
    do {
        rc = vcm_kv_handle_enter(&door, kv, lock, err);
        if (rc != VCM_OK)
            return rc;
        txn = (struct vcm_kv_txn){.kv = kv, .door = door, .writes = true};
        rc = begin_inside(&attempt, &txn, err);
    } while (attempt.again);
    if (rc != VCM_OK)
        return rc;
    struct vcm_kv_env *env = door->env;
    vcm_kv_env_retain(env);
    bool opens = change == create_tables;
    if (opens)
        pthread_mutex_lock(&env->tables_mutex);
    rc = change(context, &txn, err);
    int code = txn.fault;
    if (rc == VCM_OK && code == 0)
        code = commit(&txn);
    else
        rollback(&txn);
    if (opens && rc == VCM_OK && code == 0)
        publish_tables(&txn);
    if (opens)
        pthread_mutex_unlock(&env->tables_mutex);
    if (code == MDB_MAP_FULL)
        *full = env;
    else
        vcm_kv_env_release(env);
    return rc == VCM_OK && code != 0 ? vcm_kv_env_fail(&kv->options, code, err) : rc;
}

/* Runs a change, again with a larger map whenever it did not fit. The errors of an attempt that did
 * not fit are discarded. */
static int run_until_it_fits(struct vcm_kv *kv, vcm_kv_change_fn change, void *context,
                             const struct vcm_kv_lock *lock, const struct vcm_cancel *cancel,
                             struct vcm_error *err)
{
    struct vcm_kv_env *full;
    int rc;

    do {
        vcm_error_reset(err);
        rc = run_change(&full, kv, change, context, lock, err);
        if (full) {
            vcm_error_reset(err);
            rc = vcm_cancel_check(cancel, err);
            if (rc == VCM_OK)
                rc = vcm_kv_env_resize(full, &kv->options, true, err);
            vcm_kv_env_release(full);
        }
    } while (full && rc == VCM_OK);
    return rc;
}

int vcm_kv_handle_lock(struct vcm_kv_lock *lock, struct vcm_kv *kv, unsigned timeout_ms,
                       const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct vcm_kv_door *door;

    if (kv->options.read_only)
        return vcm_error_sys(err, VCM_INVALID_ARGUMENT, EROFS,
                             "the store in '%s' was opened for reading only",
                             kv->options.directory);
    int rc = vcm_kv_handle_enter(&door, kv, NULL, err);
    if (rc != VCM_OK)
        return rc;
    assert(changing != door->env);
    vcm_kv_door_leave(door);
    rc = vcm_kv_lock_take(lock, kv->options.lock_path, timeout_ms, cancel, kv->options.log, err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_kv_handle_enter(&door, kv, lock, err);
    if (rc != VCM_OK) {
        vcm_kv_lock_release(lock);
        return rc;
    }
    if (lock->previous_died || !atomic_load(&kv->swept)) {
        int dead;
        vcm_kv_generation_sweep(&kv->generation, door->generation);
        mdb_reader_check(door->env->mdb, &dead); /* what the dead were reading can be reused */
        atomic_store(&kv->swept, true);
    }
    changing = door->env;
    vcm_kv_door_leave(door);
    return VCM_OK;
}

void vcm_kv_handle_unlock(struct vcm_kv_lock *lock)
{
    changing = NULL;
    vcm_kv_lock_release(lock);
}

int vcm_kv_handle_update_settled(struct vcm_kv *kv, vcm_kv_change_fn change,
                                 vcm_kv_settled_fn settled, void *context, unsigned timeout_ms,
                                 const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct vcm_kv_lock lock;
    struct vcm_error cause = {0};

    int rc = vcm_kv_handle_lock(&lock, kv, timeout_ms, cancel, err);
    if (rc != VCM_OK)
        return rc;
    rc = run_until_it_fits(kv, change, context, &lock, cancel, &cause);
    if (settled)
        settled(context, rc == VCM_OK);
    vcm_kv_handle_unlock(&lock);
    if (rc != VCM_OK && err && err->code == VCM_OK)
        *err = cause;
    return rc;
}

int vcm_kv_handle_update(struct vcm_kv *kv, vcm_kv_change_fn change, void *context,
                         unsigned timeout_ms, const struct vcm_cancel *cancel,
                         struct vcm_error *err)
{
    return vcm_kv_handle_update_settled(kv, change, NULL, context, timeout_ms, cancel, err);
}

static int copy_options(struct vcm_kv *kv, const struct vcm_kv_options *options,
                        struct vcm_error *err)
{
    size_t max = options->map_bytes_max ? options->map_bytes_max : VCM_LIMIT_STORE_BYTES;
    size_t first = options->map_bytes ? options->map_bytes : MAP_DEFAULT;

    kv->options = *options;
    kv->options.tables = NULL;
    kv->options.map_bytes_max = max / PAGE_BYTES * PAGE_BYTES;
    kv->options.map_bytes = first < max ? (first + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES
                                        : kv->options.map_bytes_max;
    kv->options.readers_max = options->readers_max ? options->readers_max : VCM_LIMIT_READERS;
    kv->options.directory = strdup(options->directory);
    kv->options.lock_path = strdup(options->lock_path);
    if (!kv->options.directory || !kv->options.lock_path)
        return vcm_error_memory(err);
    for (const char *const *name = options->tables; *name; name++) {
        assert(kv->tables_count < VCM_LIMIT_TABLES);
        struct vcm_kv_table *table = &kv->tables[kv->tables_count++];
        table->seed = vcm_hash_checksum(vcm_slice_of_string(*name), 0);
        table->name = strdup(*name);
        if (!table->name)
            return vcm_error_memory(err);
    }
    return VCM_OK;
}

int vcm_kv_handle_open(struct vcm_kv **out, const struct vcm_kv_options *options,
                       struct vcm_error *err)
{
    *out = NULL;
    struct vcm_kv *kv = calloc(1, sizeof *kv);
    if (!kv)
        return vcm_error_memory(err);
    pthread_mutex_init(&kv->mutex, NULL);
    int rc = copy_options(kv, options, err);
    if (rc == VCM_OK) {
        vcm_kv_generation_open(&kv->generation, kv->options.directory, !options->read_only);
        rc = refresh(kv, NULL, err);
    }
    if (rc == VCM_OK && !kv->options.read_only &&
        atomic_load(&atomic_load(&kv->current)->incomplete))
        rc = vcm_kv_handle_update(kv, create_tables, NULL, VCM_LIMIT_LOCK_TIMEOUT_MS, NULL, err);
    if (rc != VCM_OK) {
        vcm_kv_handle_close(kv);
        return rc;
    }
    *out = kv;
    return VCM_OK;
}

/* In a forked child the environment is the parent's: only memory is freed. */
static void close_doors(struct vcm_kv *kv)
{
    struct vcm_kv_door *current = atomic_load(&kv->current), *next;
    bool forked = current && vcm_kv_env_is_forked(current->env);

    if (current && !forked)
        vcm_kv_door_close(current);
    for (struct vcm_kv_door *door = kv->doors; door; door = next) {
        next = door->next_of_handle;
        if (forked)
            free(door);
        else
            vcm_kv_door_free(door);
    }
}

void vcm_kv_handle_close(struct vcm_kv *kv)
{
    if (!kv)
        return;
    close_doors(kv);
    vcm_kv_door_end_thread();
    vcm_kv_generation_close(&kv->generation);
    for (unsigned i = 0; i < kv->tables_count; i++)
        free(kv->tables[i].name);
    free((char *)kv->options.directory);
    free((char *)kv->options.lock_path);
    pthread_mutex_destroy(&kv->mutex);
    free(kv);
}
