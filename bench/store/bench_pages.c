/*
 * bench_pages.c - reads the pages of a home through the library and through what lies beneath it,
 * and prints the times and their ratios.
 *
 *     bench_pages HOME
 *
 * HOME is one with a scope that `vcm map` made; it is changed, so take one for this. A hit is
 * compared with a bare mdb_get of the same values in a copy of the file, in two styles: one
 * transaction for all reads, and one for each. The first round looks pages up, the others find most
 * of them where they lay (vcm/residency/frame_memo.h); rows of look-ups are of rounds before which
 * it was said that frames have gone, so that every page is looked up. A minor fault is compared
 * with zstd's decompression of the same bytes with the same dictionary into memory that is there; a
 * major fault of pages without parts of files with libgit2's reading of the same blobs. The fault
 * is the answer alone: the page comes in later, with others. All take turns, and the best of the
 * rounds counts; time is the thread's own.
 */
#include <git2.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <zstd.h>

#include "api/handle.h"
#include "base/limits.h"
#include "vcm/residency/pin.h"
#include "vcm/residency/rebuild.h"
#include "vcm/store/shm.h"
#include "vcm/store/table.h"
#include "vcm/residency/view.h"

#include "base/banned.h"

#define PAGES_MAX 200000u
#define ROUNDS    7
#define BATCH     256u

struct blob {
    git_oid id;
};

struct bench {
    struct vcm *vcm;
    struct vcm_error err;
    struct vcm_page_id ids[PAGES_MAX];
    uint64_t bytes[PAGES_MAX];
    unsigned count;
    char root[VCM_LIMIT_PATH_BYTES];
    struct vcm_page_id whole[PAGES_MAX]; /* pages without parts of files */
    unsigned whole_count;
    struct blob *blobs; /* of those pages */
    size_t blob_count, blob_capacity;
    MDB_env *env;
    MDB_dbi frames;
};

static struct bench bench;

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "bench_pages: %s\n", what);
    exit(1);
}

static void must(int rc)
{
    if (rc != VCM_OK)
        die(bench.err.message);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int take_row(void *context, const struct vcm_page_row *row, struct vcm_error *err)
{
    struct vcm_kv_txn *txn = context;
    struct vcm_page_record *records;
    struct vcm_page_info info;
    uint32_t count;
    bool whole = true;

    if (bench.count == PAGES_MAX)
        return VCM_STOP;
    must(vcm_page_store_page(&info, txn, &row->id, err));
    must(vcm_page_get_records(&records, &count, row->records, err));
    bench.ids[bench.count] = row->id;
    bench.bytes[bench.count++] = info.bytes;
    for (uint32_t i = 0; i < count; i++)
        whole = whole && records[i].parts == 1 && records[i].content_id.len == GIT_OID_RAWSZ;
    for (uint32_t i = 0; whole && i < count; i++) {
        if (bench.blob_count == bench.blob_capacity) {
            bench.blob_capacity = bench.blob_capacity ? 2 * bench.blob_capacity : 1024;
            bench.blobs = realloc(bench.blobs, bench.blob_capacity * sizeof *bench.blobs);
            if (!bench.blobs)
                die("no memory");
        }
        memcpy(bench.blobs[bench.blob_count++].id.id, records[i].content_id.data, GIT_OID_RAWSZ);
    }
    if (whole)
        bench.whole[bench.whole_count++] = row->id;
    free(records);
    return VCM_OK;
}

static int take_scope(void *context, const struct vcm_scope *scope, struct vcm_error *err)
{
    snprintf(bench.root, sizeof bench.root, "%.*s", (int)scope->repo_root.len,
             scope->repo_root.data);
    int rc = vcm_page_table_each_row(context, scope->mapping, 0, take_row, context, err);
    return rc == VCM_OK ? VCM_STOP : rc; /* the first one */
}

/* Pages in an order of their own. */
static void shuffle(struct vcm_page_id *ids, unsigned count)
{
    uint64_t state = 1;

    for (unsigned i = count; i > 1; i--) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        unsigned other = (unsigned)((state >> 33) % i);
        struct vcm_page_id id = ids[i - 1];
        ids[i - 1] = ids[other];
        ids[other] = id;
    }
}

static void list_pages(void)
{
    struct vcm_kv_txn *txn;

    must(vcm_page_store_read_begin(&txn, bench.vcm->store, &bench.err));
    must(vcm_page_store_each_scope(txn, vcm_slice_of("", 0), take_scope, txn, &bench.err));
    vcm_kv_handle_read_end(txn);
    shuffle(bench.ids, bench.count);
}

static bool copy_file(const char *from, const char *to)
{
    static char piece[1 << 20];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    bool good = in && out;

    while (good) {
        size_t len = fread(piece, 1, sizeof piece, in);
        if (len == 0)
            break;
        good = fwrite(piece, 1, len, out) == len;
    }
    if (in)
        fclose(in);
    return good && fclose(out) == 0;
}

static void open_copy(const char *home)
{
    char from[VCM_LIMIT_PATH_BYTES], to[VCM_LIMIT_PATH_BYTES], path[VCM_LIMIT_PATH_BYTES];
    MDB_txn *txn;

    snprintf(path, sizeof path, "%s/bare", home);
    snprintf(from, sizeof from, "%s/store/data.mdb", home);
    snprintf(to, sizeof to, "%s/bare/data.mdb", home);
    mkdir(path, 0700);
    if (!copy_file(from, to) || mdb_env_create(&bench.env) != 0 ||
        mdb_env_set_maxdbs(bench.env, VCM_LIMIT_TABLES) != 0 ||
        mdb_env_set_mapsize(bench.env, (size_t)1 << 36) != 0 ||
        mdb_env_open(bench.env, path, MDB_NOTLS, 0600) != 0 ||
        mdb_txn_begin(bench.env, NULL, MDB_RDONLY, &txn) != 0 ||
        mdb_dbi_open(txn, "frames", 0, &bench.frames) != 0 || mdb_txn_commit(txn) != 0)
        die("cannot open a copy of the store");
}

static unsigned looked_at; /* so that reading is not left out */

static void look(const char *data, size_t len)
{
    looked_at += (unsigned char)data[0] + (unsigned char)data[len - 1];
}

static void read_bare(MDB_txn *txn, const struct vcm_page_id *id)
{
    MDB_val key = {sizeof id->bytes, (void *)id->bytes}, value;

    if (mdb_get(txn, bench.frames, &key, &value) != 0)
        die("a page is missing in the copy");
    look((const char *)value.mv_data + 8, value.mv_size - 8);
}

static void read_ours(struct vcm_kv_txn *txn, const struct vcm_page_id *id)
{
    struct vcm_page_cache_frame frame;

    must(vcm_page_cache_read(&frame, bench.vcm->cache, txn, id, &bench.err));
    look(frame.bytes.data, frame.bytes.len);
    vcm_page_cache_release(&frame);
}

static double hits_ours(bool one_for_each)
{
    struct vcm_kv_txn *txn = NULL;
    double start = now();

    if (!one_for_each)
        must(vcm_page_store_read_begin(&txn, bench.vcm->store, &bench.err));
    for (unsigned i = 0; i < bench.count; i++) {
        if (one_for_each)
            must(vcm_page_store_read_begin(&txn, bench.vcm->store, &bench.err));
        read_ours(txn, &bench.ids[i]);
        if (one_for_each)
            vcm_kv_handle_read_end(txn);
    }
    if (!one_for_each)
        vcm_kv_handle_read_end(txn);
    return now() - start;
}

static double hits_bare(bool one_for_each)
{
    MDB_txn *txn;

    if (mdb_txn_begin(bench.env, NULL, MDB_RDONLY, &txn) != 0)
        die("no transaction");
    double start = now();
    for (unsigned i = 0; i < bench.count; i++) {
        if (one_for_each) {
            mdb_txn_reset(txn);
            if (mdb_txn_renew(txn) != 0)
                die("no transaction");
        }
        read_bare(txn, &bench.ids[i]);
    }
    double elapsed = now() - start;
    mdb_txn_abort(txn);
    return elapsed;
}

static double views(void)
{
    double start = now();

    for (unsigned i = 0; i < bench.count; i++) {
        struct vcm_view *view;
        must(vcm_view_open(&view, bench.vcm->cache, &bench.ids[i], VCM_VIEW_COPY, &bench.err));
        struct vcm_slice bytes = vcm_view_bytes(view);
        look(bytes.data, bytes.len);
        vcm_view_release(view);
    }
    return now() - start;
}

/* As somebody who frees a frame does: nobody relies on where he found one before. */
static void forget_places(void)
{
    vcm_shm_depart_begin(bench.vcm->store->shm);
    vcm_shm_depart_end(bench.vcm->store->shm);
}

static void keep_least(double *best, double time)
{
    if (*best == 0 || time < *best)
        *best = time;
}

static void print(const char *what, unsigned count, double ours, const char *peer, double theirs)
{
    printf("%-34s %9.3f us    %-12s %9.3f us    rate %5.1f %%    time %.2f times\n", what,
           ours / count * 1e6, peer, theirs / count * 1e6, theirs / ours * 100, ours / theirs);
}

static double views_of(bool each)
{
    (void)each; /* a view has a transaction of its own, or none */
    return views();
}

/* Each with as many tries of mdb_get right behind it, so that none has the better of luck. */
static void bench_hits(void)
{
    struct {
        const char *name;
        double (*read)(bool each);
        bool each, looked_up;
        double ours, bare;
    } rows[] = {
        {"hit, one transaction for all", hits_ours, false, false, 0, 0},
        {"  looked up", hits_ours, false, true, 0, 0},
        {"hit, one transaction for each", hits_ours, true, false, 0, 0},
        {"  looked up", hits_ours, true, true, 0, 0},
        {"view", views_of, true, false, 0, 0},
        {"  looked up", views_of, true, true, 0, 0},
    };
    const size_t count = sizeof rows / sizeof rows[0];

    for (unsigned round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < count; i++) {
            if (rows[i].looked_up)
                forget_places();
            keep_least(&rows[i].ours, rows[i].read(rows[i].each));
            keep_least(&rows[i].bare, hits_bare(rows[i].each));
        }
    for (size_t i = 0; i < count; i++)
        print(rows[i].name, bench.count, rows[i].ours, "mdb_get", rows[i].bare);
}

static void send_down(enum vcm_page_state target)
{
    struct vcm_pin_departure departures[BATCH];

    for (unsigned at = 0; at < bench.count; at += BATCH) {
        unsigned count = bench.count - at < BATCH ? bench.count - at : BATCH;
        must(vcm_pin_send_down(departures, bench.vcm->store, bench.ids + at, count, target, NULL,
                               &bench.err));
    }
}

static double faults(const struct vcm_page_id *ids, unsigned count)
{
    struct vcm_kv_txn *txn;

    must(vcm_page_store_read_begin(&txn, bench.vcm->store, &bench.err));
    double start = now();
    for (unsigned i = 0; i < count; i++) {
        struct vcm_page_cache_frame frame;
        must(vcm_page_cache_peek(&frame, bench.vcm->cache, txn, &ids[i], &bench.err));
        look(frame.bytes.data, frame.bytes.len);
        vcm_page_cache_release(&frame);
    }
    double elapsed = now() - start;
    vcm_kv_handle_read_end(txn);
    return elapsed;
}

/* The dictionaries that there are, digested once. */
struct digested {
    uint64_t number;
    ZSTD_DDict *dictionary;
};

static ZSTD_DDict *find_dictionary(struct digested *digested, unsigned *count,
                                   struct vcm_kv_txn *txn, uint64_t number)
{
    struct vcm_slice bytes;
    unsigned char key[8];

    for (unsigned i = 0; i < *count; i++)
        if (digested[i].number == number)
            return digested[i].dictionary;
    if (number == 0)
        return NULL;
    vcm_wire_store_be64(key, number);
    must(vcm_kv_get(&bytes, txn, VCM_TABLE_DICTIONARY_BYTES, vcm_slice_of(key, 8), &bench.err));
    digested[*count] = (struct digested){number, ZSTD_createDDict(bytes.data, bytes.len)};
    return digested[(*count)++].dictionary;
}

static double decompress_bare(size_t *packed_bytes)
{
    static char place[1 << 22];
    struct digested digested[16];
    ZSTD_DCtx *context = ZSTD_createDCtx();
    struct vcm_kv_txn *txn;
    double elapsed = 0;
    unsigned count = 0;

    *packed_bytes = 0;
    must(vcm_page_store_read_begin(&txn, bench.vcm->store, &bench.err));
    for (unsigned i = 0; i < bench.count; i++) {
        struct vcm_page_info info;
        struct vcm_slice packed;
        must(vcm_page_store_page(&info, txn, &bench.ids[i], &bench.err));
        must(vcm_page_store_compressed(&packed, txn, &bench.ids[i], &bench.err));
        ZSTD_DDict *dictionary = find_dictionary(digested, &count, txn, info.dictionary);
        *packed_bytes += packed.len;
        double start = now();
        size_t len =
            dictionary ? ZSTD_decompress_usingDDict(context, place, sizeof place, packed.data,
                                                    packed.len, dictionary)
                       : ZSTD_decompressDCtx(context, place, sizeof place, packed.data, packed.len);
        elapsed += now() - start;
        if (ZSTD_isError(len))
            die("a page cannot be decompressed");
        look(place, len);
    }
    vcm_kv_handle_read_end(txn);
    ZSTD_freeDCtx(context);
    for (unsigned i = 0; i < count; i++)
        ZSTD_freeDDict(digested[i].dictionary);
    return elapsed;
}

static void bench_minor(void)
{
    double ours = 0, bare = 0;
    size_t packed = 0, raw = 0;

    send_down(VCM_PAGE_COMPRESSED);
    for (unsigned round = 0; round < ROUNDS; round++) {
        keep_least(&ours, faults(bench.ids, bench.count));
        keep_least(&bare, decompress_bare(&packed));
    }
    for (unsigned i = 0; i < bench.count; i++)
        raw += bench.bytes[i];
    print("minor fault", bench.count, ours, "zstd", bare);
    printf("compressed pages are %.2f times smaller\n", (double)raw / (double)packed);
}

static double read_blobs(void)
{
    git_repository *repository = NULL;

    if (git_repository_open(&repository, bench.root) != 0)
        die("cannot open the repository");
    double start = now();
    for (size_t i = 0; i < bench.blob_count; i++) {
        git_blob *blob;
        if (git_blob_lookup(&blob, repository, &bench.blobs[i].id) != 0)
            die("cannot read a blob");
        looked_at += (unsigned)git_blob_rawsize(blob);
        git_blob_free(blob);
    }
    double elapsed = now() - start;
    git_repository_free(repository);
    return elapsed;
}

static void bench_major(void)
{
    double ours = 0, bare = 0;

    send_down(VCM_PAGE_EVICTED);
    for (unsigned round = 0; round < 3; round++) {
        keep_least(&ours, faults(bench.whole, bench.whole_count));
        keep_least(&bare, read_blobs());
    }
    print("major fault", bench.whole_count, ours, "libgit2", bare);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        die("usage: bench_pages HOME");
    git_libgit2_init();
    must(vcm_open(&bench.vcm, &(struct vcm_open_options){.home = argv[1]}, &bench.err));
    must(vcm_handle_open_for_writing(bench.vcm, &bench.err));
    list_pages();
    open_copy(argv[1]);
    printf("%u pages, %u of them of whole files\n", bench.count, bench.whole_count);
    bench_hits();
    bench_minor();
    bench_major();
    mdb_env_close(bench.env);
    vcm_close(bench.vcm);
    free(bench.blobs);
    git_libgit2_shutdown();
    return looked_at == 0;
}
