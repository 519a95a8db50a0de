/*
 * bench_kv.c - reads values through base/kv.h and through bare LMDB, and prints the rates and their
 * ratio.
 *
 *     bench_kv [KEYS [VALUE_BYTES [ROUNDS]]]          default: 20000 values of 16352 bytes, 9
 * rounds
 *
 * Keys are 20 bytes and asked for in an order of their own; the first and the last byte of every
 * value are looked at. Two styles: one transaction for all reads, and one for each read; bare LMDB
 * does the latter in its two ways, by renewing a transaction and by beginning one. LMDB opens a
 * file once in a process, so it has a copy of the file. All take turns, 1,000 keys at a time, and
 * the best round counts for each of these pieces; time is the thread's own. The stores are made in
 * the current directory and removed.
 */
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/kv.h"
#include "base/limits.h"

#include "base/banned.h"

#define KEY_BYTES ((size_t)20)
#define PIECE     1000u

enum style { ALL_IN_ONE, RENEWED_FOR_EACH, BEGUN_FOR_EACH, STYLES };
enum reader { OURS, CHECKED, BARE, READERS };

static const char *const style_names[STYLES] = {
    "one transaction for all reads",
    "one for each, LMDB renews",
    "one for each, LMDB begins",
};

static const char *const tables[] = {"frames", NULL};

struct bench {
    char directory[64];
    char lock[80];
    char copy[80]; /* directory of bare LMDB's copy */
    unsigned keys;
    size_t value_bytes;
    unsigned rounds;
    unsigned *order;
    double *best[READERS][STYLES]; /* seconds for each piece */
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "bench_kv: %s\n", what);
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void make_key(unsigned char key[KEY_BYTES], unsigned number)
{
    uint64_t words[3];
    for (unsigned i = 0; i < 3; i++)
        words[i] = mix(number * UINT64_C(3) + i + 1);
    memcpy(key, words, KEY_BYTES);
}

struct batch {
    const struct bench *bench;
    unsigned first;
};

static int put_batch(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    const struct batch *batch = context;
    unsigned char key[KEY_BYTES];
    char *value = malloc(batch->bench->value_bytes);
    int rc = VCM_OK;

    if (!value)
        die("no memory");
    for (unsigned i = batch->first;
         i < batch->first + PIECE && i < batch->bench->keys && rc == VCM_OK; i++) {
        make_key(key, i);
        memset(value, (int)(i % 251), batch->bench->value_bytes);
        rc = vcm_kv_put(txn, 0, vcm_slice_of(key, KEY_BYTES),
                        vcm_slice_of(value, batch->bench->value_bytes), err);
    }
    free(value);
    return rc;
}

static struct vcm_kv *open_kv(const struct bench *bench)
{
    struct vcm_kv *kv;
    struct vcm_error err = {0};
    struct vcm_kv_options options = {
        .directory = bench->directory, .lock_path = bench->lock, .tables = tables};

    if (vcm_kv_handle_open(&kv, &options, &err) != VCM_OK)
        die(err.message);
    return kv;
}

static void fill(const struct bench *bench)
{
    struct vcm_kv *kv = open_kv(bench);
    struct vcm_error err = {0};

    for (unsigned i = 0; i < bench->keys; i += PIECE) {
        struct batch batch = {bench, i};
        if (vcm_kv_handle_update(kv, put_batch, &batch, VCM_LIMIT_LOCK_TIMEOUT_MS, NULL, &err) !=
            VCM_OK)
            die(err.message);
    }
    vcm_kv_handle_close(kv);
}

static void make_order(struct bench *bench)
{
    bench->order = calloc(bench->keys, sizeof bench->order[0]);
    if (!bench->order)
        die("no memory");
    for (unsigned i = 0; i < bench->keys; i++) {
        unsigned other = (unsigned)(mix(i + 77) % (i + 1));
        bench->order[i] = bench->order[other];
        bench->order[other] = i;
    }
}

typedef int (*get_fn)(struct vcm_slice *value, struct vcm_kv_txn *txn, unsigned table,
                      struct vcm_slice key, struct vcm_error *err);

static uint64_t read_ours(const struct bench *bench, struct vcm_kv *kv, get_fn get, unsigned first,
                          bool each)
{
    struct vcm_kv_txn *txn = NULL;
    struct vcm_slice value;
    unsigned char key[KEY_BYTES];
    uint64_t sum = 0;

    if (!each && vcm_kv_handle_read_begin(&txn, kv, NULL) != VCM_OK)
        die("cannot begin");
    for (unsigned i = first; i < first + PIECE && i < bench->keys; i++) {
        make_key(key, bench->order[i]);
        if (each && vcm_kv_handle_read_begin(&txn, kv, NULL) != VCM_OK)
            die("cannot begin");
        if (get(&value, txn, 0, vcm_slice_of(key, KEY_BYTES), NULL) != VCM_OK)
            die("a value is missing");
        sum += (unsigned char)value.data[0] + (unsigned char)value.data[value.len - 1];
        if (each)
            vcm_kv_handle_read_end(txn);
    }
    if (!each)
        vcm_kv_handle_read_end(txn);
    return sum;
}

struct bare {
    MDB_env *env;
    MDB_dbi table;
    MDB_txn *txn; /* reset */
};

static void open_bare(struct bare *bare, const struct bench *bench)
{
    if (mdb_env_create(&bare->env) != 0 ||
        mdb_env_set_mapsize(bare->env, (size_t)1024 * VCM_GIB) != 0 ||
        mdb_env_set_maxreaders(bare->env, VCM_LIMIT_READERS) != 0 ||
        mdb_env_set_maxdbs(bare->env, VCM_LIMIT_TABLES) != 0 ||
        mdb_env_open(bare->env, bench->copy, MDB_NOTLS, 0644) != 0 ||
        mdb_txn_begin(bare->env, NULL, MDB_RDONLY, &bare->txn) != 0 ||
        mdb_dbi_open(bare->txn, tables[0], 0, &bare->table) != 0 ||
        mdb_txn_commit(bare->txn) != 0 ||
        mdb_txn_begin(bare->env, NULL, MDB_RDONLY, &bare->txn) != 0)
        die("cannot open the store with LMDB");
    mdb_txn_reset(bare->txn);
}

static void close_bare(struct bare *bare)
{
    mdb_txn_abort(bare->txn);
    mdb_env_close(bare->env);
}

static uint64_t read_bare(const struct bench *bench, struct bare *bare, unsigned first,
                          enum style style)
{
    MDB_txn *txn = bare->txn;
    unsigned char key[KEY_BYTES];
    MDB_val name = {KEY_BYTES, key}, value;
    uint64_t sum = 0;

    if (style == ALL_IN_ONE && mdb_txn_renew(txn) != 0)
        die("cannot renew");
    for (unsigned i = first; i < first + PIECE && i < bench->keys; i++) {
        make_key(key, bench->order[i]);
        if ((style == RENEWED_FOR_EACH && mdb_txn_renew(txn) != 0) ||
            (style == BEGUN_FOR_EACH && mdb_txn_begin(bare->env, NULL, MDB_RDONLY, &txn) != 0))
            die("cannot begin");
        if (mdb_get(txn, bare->table, &name, &value) != 0)
            die("a value is missing");
        const unsigned char *bytes = value.mv_data;
        sum += (uint64_t)bytes[8] + bytes[value.mv_size - 1]; /* behind the checksum */
        if (style == RENEWED_FOR_EACH)
            mdb_txn_reset(txn);
        if (style == BEGUN_FOR_EACH)
            mdb_txn_abort(txn);
    }
    if (style == ALL_IN_ONE)
        mdb_txn_reset(txn);
    return sum;
}

/* One piece by one reader in one style. Returns the sum of the bytes looked at. */
static uint64_t time_piece(struct bench *bench, struct vcm_kv *kv, struct bare *bare,
                           enum reader reader, enum style style, unsigned first)
{
    double *best = &bench->best[reader][style][first / PIECE];
    double start = now();
    uint64_t sum = reader == BARE
                       ? read_bare(bench, bare, first, style)
                       : read_ours(bench, kv, reader == OURS ? vcm_kv_get_unchecked : vcm_kv_get,
                                   first, style != ALL_IN_ONE);
    double seconds = now() - start;

    if (*best == 0 || seconds < *best)
        *best = seconds;
    return sum;
}

static void time_round(struct bench *bench, struct vcm_kv *kv, struct bare *bare,
                       enum reader reader, enum reader other)
{
    for (unsigned first = 0; first < bench->keys; first += PIECE)
        for (unsigned style = 0; style < STYLES; style++)
            if (time_piece(bench, kv, bare, reader, style, first) !=
                time_piece(bench, kv, bare, other, style, first))
                die("the values differ");
}

static void run(struct bench *bench)
{
    struct vcm_kv *kv = open_kv(bench);
    struct bare bare;

    open_bare(&bare, bench);
    for (unsigned i = 0; i < bench->rounds; i++)
        time_round(bench, kv, &bare, i % 2 ? OURS : BARE, i % 2 ? BARE : OURS);
    time_round(bench, kv, &bare, CHECKED, CHECKED);
    close_bare(&bare);
    vcm_kv_handle_close(kv);
}

static double rate(const struct bench *bench, enum reader reader, enum style style)
{
    double seconds = 0;

    for (unsigned first = 0; first < bench->keys; first += PIECE)
        seconds += bench->best[reader][style][first / PIECE];
    return bench->keys / seconds;
}

static void print_results(const struct bench *bench)
{
    printf("%u values of %zu bytes, best of %u rounds, reads a second\n", bench->keys,
           bench->value_bytes, bench->rounds);
    printf("%-32s %10s %10s %6s %10s\n", "", "kv", "LMDB", "ratio", "checked");
    for (unsigned style = 0; style < STYLES; style++)
        printf("%-32s %10.0f %10.0f %6.2f %10.0f\n", style_names[style], rate(bench, OURS, style),
               rate(bench, BARE, style), rate(bench, OURS, style) / rate(bench, BARE, style),
               rate(bench, CHECKED, style));
}

static void copy_store(const struct bench *bench)
{
    MDB_env *env;

    if (mkdir(bench->copy, 0755) != 0 || mdb_env_create(&env) != 0 ||
        mdb_env_open(env, bench->directory, MDB_RDONLY, 0644) != 0 ||
        mdb_env_copy(env, bench->copy) != 0)
        die("cannot copy the store");
    mdb_env_close(env);
}

static void remove_store(const struct bench *bench)
{
    static const char *const names[] = {"copy/data.mdb", "copy/lock.mdb", "data.mdb",
                                        "lock.mdb",      "writer.lock",   "generation"};
    char path[96];

    for (unsigned i = 0; i < 6; i++) {
        snprintf(path, sizeof path, "%s/%s", bench->directory, names[i]);
        unlink(path);
    }
    rmdir(bench->copy);
    rmdir(bench->directory);
}

static void init(struct bench *bench)
{
    if (!mkdtemp(bench->directory))
        die("cannot make a directory here");
    snprintf(bench->lock, sizeof bench->lock, "%s/writer.lock", bench->directory);
    snprintf(bench->copy, sizeof bench->copy, "%s/copy", bench->directory);
    for (unsigned i = 0; i < READERS * STYLES; i++) {
        bench->best[i / STYLES][i % STYLES] = calloc(bench->keys / PIECE + 1, sizeof(double));
        if (!bench->best[i / STYLES][i % STYLES])
            die("no memory");
    }
}

static void release(struct bench *bench)
{
    for (unsigned i = 0; i < READERS * STYLES; i++)
        free(bench->best[i / STYLES][i % STYLES]);
    free(bench->order);
}

static unsigned argument(int argc, char **argv, int number, unsigned otherwise)
{
    unsigned long value = argc > number ? strtoul(argv[number], NULL, 10) : otherwise;
    if (value == 0 || value > 10 * 1000 * 1000)
        die("usage: bench_kv [KEYS [VALUE_BYTES [ROUNDS]]]");
    return (unsigned)value;
}

int main(int argc, char **argv)
{
    struct bench bench = {.directory = "bench-kv-XXXXXX"};

    bench.keys = argument(argc, argv, 1, 20000);
    bench.value_bytes = argument(argc, argv, 2, 16352);
    bench.rounds = argument(argc, argv, 3, 9);
    init(&bench);
    make_order(&bench);
    fill(&bench);
    copy_store(&bench);
    run(&bench);
    print_results(&bench);
    remove_store(&bench);
    release(&bench);
    return 0;
}
