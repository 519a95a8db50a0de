#include "vcm/store/dictionary.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/limits.h"

#include "base/banned.h"

#define CACHE_SLOTS       32u
#define REFUSALS          16u
#define SAMPLE_FRAMES_MAX 1024u
#define SAMPLE_FRAMES_MIN 8u
/* A dictionary is worn when its ratio falls below this part of its first ratio. */
#define WORN_NUMERATOR   4u
#define WORN_DENOMINATOR 5u

struct slot {
    uint64_t number; /* 0: free */
    enum vcm_codec_use use;
    unsigned users;
    uint64_t used_at;
    struct vcm_codec_dictionary *dictionary;
};

/* A page table from which no dictionary could be trained when it had this number of pages. */
struct refusal {
    uint64_t mapping;
    uint64_t pages;
};

struct vcm_dictionary_cache {
    struct vcm_codec *codec;
    pthread_mutex_t mutex; /* protects what follows */
    uint64_t clock;
    struct slot slots[CACHE_SLOTS];
    struct refusal refusals[REFUSALS];
    unsigned next_refusal;
};

/* A digested dictionary in use; `slot` is NULL when the cache had no room for it. */
struct use {
    struct vcm_codec_dictionary *dictionary;
    struct slot *slot;
};

int vcm_dictionary_cache_open(struct vcm_dictionary_cache **out, struct vcm_error *err)
{
    *out = NULL;
    struct vcm_dictionary_cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        return vcm_error_memory(err);
    int rc = vcm_codec_open(&cache->codec, err);
    if (rc != VCM_OK) {
        free(cache);
        return rc;
    }
    pthread_mutex_init(&cache->mutex, NULL);
    *out = cache;
    return VCM_OK;
}

void vcm_dictionary_cache_close(struct vcm_dictionary_cache *cache)
{
    if (!cache)
        return;
    for (unsigned i = 0; i < CACHE_SLOTS; i++) {
        assert(cache->slots[i].users == 0);
        vcm_codec_dictionary_close(cache->slots[i].dictionary);
    }
    pthread_mutex_destroy(&cache->mutex);
    vcm_codec_close(cache->codec);
    free(cache);
}

static bool serves(const struct slot *slot, uint64_t number, enum vcm_codec_use use)
{
    return slot->number == number && (slot->use == use || slot->use == VCM_CODEC_WRITE);
}

static bool cache_take(struct use *out, struct vcm_dictionary_cache *cache, uint64_t number,
                       enum vcm_codec_use use)
{
    bool found = false;

    pthread_mutex_lock(&cache->mutex);
    for (unsigned i = 0; i < CACHE_SLOTS && !found; i++) {
        struct slot *slot = &cache->slots[i];
        if (!serves(slot, number, use))
            continue;
        slot->users++;
        slot->used_at = ++cache->clock;
        *out = (struct use){slot->dictionary, slot};
        found = true;
    }
    pthread_mutex_unlock(&cache->mutex);
    return found;
}

/* Gives the dictionary to the cache, which closes the least recently used one that is not in use.
 */
static void cache_keep(struct use *use_of, struct vcm_dictionary_cache *cache, uint64_t number,
                       enum vcm_codec_use use)
{
    struct slot *oldest = NULL;

    assert(number != 0 && use_of->dictionary && !use_of->slot);
    pthread_mutex_lock(&cache->mutex);
    for (unsigned i = 0; i < CACHE_SLOTS; i++) {
        struct slot *slot = &cache->slots[i];
        if (slot->users == 0 && (!oldest || slot->used_at < oldest->used_at))
            oldest = slot;
    }
    if (oldest) {
        vcm_codec_dictionary_close(oldest->dictionary);
        *oldest = (struct slot){number, use, 1, ++cache->clock, use_of->dictionary};
        use_of->slot = oldest;
    }
    pthread_mutex_unlock(&cache->mutex);
}

static int use_begin(struct use *out, struct vcm_page_store *store, struct vcm_kv_txn *txn,
                     uint64_t number, enum vcm_codec_use use, struct vcm_error *err)
{
    struct vcm_slice bytes;
    unsigned char key[8];

    *out = (struct use){NULL, NULL};
    if (number == 0 || cache_take(out, store->dictionaries, number, use))
        return VCM_OK;
    vcm_wire_store_be64(key, number);
    int rc =
        vcm_kv_get(&bytes, txn, VCM_TABLE_DICTIONARY_BYTES, vcm_slice_of(key, sizeof key), err);
    if (rc == VCM_NOT_FOUND)
        return vcm_table_malformed("the number of a dictionary", err);
    if (rc == VCM_OK)
        rc = vcm_codec_dictionary_open(&out->dictionary, bytes, use, err);
    if (rc == VCM_OK)
        cache_keep(out, store->dictionaries, number, use);
    return rc;
}

static void use_end(struct use *use, struct vcm_page_store *store)
{
    if (use->slot) {
        pthread_mutex_lock(&store->dictionaries->mutex);
        assert(use->slot->users > 0 && use->slot->dictionary == use->dictionary);
        use->slot->users--;
        pthread_mutex_unlock(&store->dictionaries->mutex);
    } else {
        vcm_codec_dictionary_close(use->dictionary);
    }
}

static int parse_info(struct vcm_dictionary_info *out, struct vcm_slice key, struct vcm_slice value,
                      struct vcm_error *err)
{
    struct vcm_wire_reader r;

    memset(out, 0, sizeof *out);
    vcm_wire_reader_init(&r, value);
    out->scope_id = vcm_wire_get_bytes(&r);
    out->pages = vcm_wire_get_u64(&r);
    out->ratio = vcm_wire_get_u32(&r);
    out->worn = vcm_wire_get_u8(&r) != 0;
    out->window_pages = vcm_wire_get_u32(&r);
    out->window_bytes = vcm_wire_get_u64(&r);
    out->window_compressed_bytes = vcm_wire_get_u64(&r);
    if (key.len != 8 || !vcm_wire_reader_done(&r))
        return vcm_table_malformed("a dictionary", err);
    out->number = vcm_wire_load_be64((const unsigned char *)key.data);
    return VCM_OK;
}

int vcm_dictionary_get(struct vcm_dictionary_info *out, struct vcm_kv_txn *txn, uint64_t number,
                       struct vcm_error *err)
{
    unsigned char bytes[8];
    struct vcm_slice value;

    vcm_wire_store_be64(bytes, number);
    struct vcm_slice key = vcm_slice_of(bytes, sizeof bytes);
    int rc = vcm_kv_get(&value, txn, VCM_TABLE_DICTIONARIES, key, err);
    return rc == VCM_OK ? parse_info(out, key, value, err) : rc;
}

static int put_info(struct vcm_kv_txn *txn, const struct vcm_dictionary_info *info,
                    struct vcm_error *err)
{
    struct vcm_buf value = VCM_BUF_INIT(1024);
    unsigned char key[8];

    vcm_wire_store_be64(key, info->number);
    vcm_wire_put_bytes(&value, info->scope_id);
    vcm_wire_put_u64(&value, info->pages);
    vcm_wire_put_u32(&value, info->ratio);
    vcm_wire_put_u8(&value, info->worn);
    vcm_wire_put_u32(&value, info->window_pages);
    vcm_wire_put_u64(&value, info->window_bytes);
    vcm_wire_put_u64(&value, info->window_compressed_bytes);
    int rc = vcm_buf_check(&value, "a dictionary", err);
    if (rc == VCM_OK)
        rc = vcm_kv_put(txn, VCM_TABLE_DICTIONARIES, vcm_slice_of(key, sizeof key),
                        vcm_buf_slice(&value), err);
    vcm_buf_release(&value);
    return rc;
}

struct search {
    struct vcm_slice scope_id;
    struct vcm_dictionary_info found; /* the newest of the scope; number 0 for none */
};

static int consider(void *context, struct vcm_slice key, struct vcm_slice value,
                    struct vcm_error *err)
{
    struct search *search = context;
    struct vcm_dictionary_info info;

    int rc = parse_info(&info, key, value, err);
    if (rc == VCM_OK && vcm_slice_equal(info.scope_id, search->scope_id))
        search->found = info; /* the walk is in the order of numbers */
    return rc;
}

static int find_newest(struct vcm_dictionary_info *out, struct vcm_kv_txn *txn,
                       struct vcm_slice scope_id, struct vcm_error *err)
{
    struct search search = {.scope_id = scope_id};
    struct vcm_slice all = vcm_slice_of("", 0);

    int rc = vcm_table_each(txn, VCM_TABLE_DICTIONARIES, all, all, consider, &search, err);
    *out = search.found;
    return rc;
}

/* Frames to train with, concatenated. */
struct training {
    struct vcm_buf bytes;
    size_t sizes[SAMPLE_FRAMES_MAX];
    unsigned count;
    uint64_t content_bytes; /* of all pages of the scope, estimated */
};

static void add_sample(struct training *training, struct vcm_slice frame)
{
    if (training->count == SAMPLE_FRAMES_MAX ||
        training->bytes.len + frame.len > VCM_LIMIT_DICTIONARY_SAMPLES)
        return;
    vcm_buf_append_slice(&training->bytes, frame);
    training->sizes[training->count++] = frame.len;
}

static bool row_exists(struct vcm_kv_txn *txn, uint64_t mapping, uint64_t seq)
{
    struct vcm_error ignored = {0};
    struct vcm_page_row row;

    return seq <= UINT32_MAX &&
           vcm_page_table_row(&row, txn, mapping, (uint32_t)seq, &ignored) == VCM_OK;
}

/* The number of rows of a table, by binary search: rows are numbered without gaps. */
static uint64_t count_rows(struct vcm_kv_txn *txn, uint64_t mapping)
{
    uint64_t low = 0, high = 1;

    if (!row_exists(txn, mapping, 0))
        return 0;
    while (row_exists(txn, mapping, high)) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (row_exists(txn, mapping, middle))
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Takes samples of the resident pages of a table, spread over all of it. */
static int sample_table(struct training *training, struct vcm_kv_txn *txn, uint64_t mapping,
                        uint64_t rows, struct vcm_error *err)
{
    uint64_t step = rows / SAMPLE_FRAMES_MAX + 1, seen = 0, bytes = 0;
    int rc = VCM_OK;

    for (uint64_t seq = 0; rc == VCM_OK && seq < rows; seq += step) {
        struct vcm_page_info info;
        struct vcm_page_row row;
        struct vcm_slice frame;
        rc = vcm_page_table_row(&row, txn, mapping, (uint32_t)seq, err);
        if (rc == VCM_OK)
            rc = vcm_page_store_page(&info, txn, &row.id, err);
        if (rc != VCM_OK)
            return rc == VCM_NOT_FOUND ? VCM_OK : rc;
        seen++;
        bytes += info.bytes;
        if (info.state != VCM_PAGE_RESIDENT)
            continue;
        rc = vcm_page_store_frame(&frame, txn, &row.id, err);
        if (rc == VCM_OK)
            add_sample(training, frame);
    }
    training->content_bytes = seen > 0 ? bytes / seen * rows : 0;
    return rc;
}

static int store_dictionary(struct vcm_dictionary_info *out, struct vcm_kv_txn *txn,
                            struct vcm_slice scope_id, struct vcm_slice bytes,
                            struct vcm_error *err)
{
    unsigned char key[8];
    uint64_t serial;

    int rc = vcm_table_take_number(&serial, txn, VCM_META_NEXT_DICTIONARY, err);
    if (rc == VCM_OK && serial > UINT32_MAX)
        rc = vcm_table_malformed("the next dictionary's number", err);
    if (rc != VCM_OK)
        return rc;
    /* A transaction that is rolled back frees its serial number for the next one, but the digested
     * dictionary stays in the cache. The hash in the number keeps the two apart. */
    uint64_t number = serial << 32 | (vcm_hash_checksum(bytes, 0) & UINT32_MAX);
    *out = (struct vcm_dictionary_info){.number = number, .scope_id = scope_id};
    vcm_wire_store_be64(key, out->number);
    rc = vcm_kv_put(txn, VCM_TABLE_DICTIONARY_BYTES, vcm_slice_of(key, sizeof key), bytes, err);
    return rc == VCM_OK ? put_info(txn, out, err) : rc;
}

/* Whether training failed before, with more than half of the pages that there are now. */
static bool is_refused(struct vcm_dictionary_cache *cache, uint64_t mapping, uint64_t pages)
{
    bool refused = false;

    pthread_mutex_lock(&cache->mutex);
    for (unsigned i = 0; i < REFUSALS; i++)
        refused |= cache->refusals[i].mapping == mapping && pages < 2 * cache->refusals[i].pages;
    pthread_mutex_unlock(&cache->mutex);
    return refused;
}

static void refuse(struct vcm_dictionary_cache *cache, uint64_t mapping, uint64_t pages)
{
    pthread_mutex_lock(&cache->mutex);
    cache->refusals[cache->next_refusal++ % REFUSALS] = (struct refusal){mapping, pages};
    pthread_mutex_unlock(&cache->mutex);
}

/* Leaves out->number 0 when there is too little to train with. */
static int train(struct vcm_dictionary_info *out, struct vcm_dictionary_cache *cache,
                 struct vcm_kv_txn *txn, struct vcm_slice scope_id, uint64_t mapping,
                 const struct vcm_dictionary_samples *samples, struct vcm_error *err)
{
    struct vcm_buf bytes = VCM_BUF_INIT(VCM_LIMIT_DICTIONARY_BYTES);
    struct vcm_error too_little = {0};

    uint64_t rows = count_rows(txn, mapping);
    uint64_t pages = rows + (samples ? samples->count : 0) + 1;

    memset(out, 0, sizeof *out);
    if (is_refused(cache, mapping, pages))
        return VCM_OK;
    struct training *training = calloc(1, sizeof *training);
    if (!training)
        return vcm_error_memory(err);
    vcm_buf_init(&training->bytes, VCM_LIMIT_DICTIONARY_SAMPLES);
    int rc = sample_table(training, txn, mapping, rows, err);
    for (unsigned i = 0; rc == VCM_OK && samples && i < samples->count; i++) {
        training->content_bytes += samples->frames[i].len;
        add_sample(training, samples->frames[i]);
    }
    if (rc == VCM_OK)
        rc = vcm_buf_check(&training->bytes, "samples", err);
    size_t size = rc == VCM_OK ? vcm_codec_dictionary_size(training->content_bytes) : 0;
    if (size > 0 && training->count >= SAMPLE_FRAMES_MIN) {
        rc = vcm_codec_train(&bytes, vcm_buf_slice(&training->bytes), training->sizes,
                             training->count, size, &too_little);
        if (rc == VCM_OK)
            rc = store_dictionary(out, txn, scope_id, vcm_buf_slice(&bytes), err);
        else if (rc == VCM_UNSUPPORTED)
            rc = VCM_OK;
        else if (err)
            *err = too_little;
    }
    if (rc == VCM_OK && out->number == 0)
        refuse(cache, mapping, pages);
    vcm_buf_release(&bytes);
    vcm_buf_release(&training->bytes);
    free(training);
    return rc;
}

/* Counts a page, and at the end of a window compares the dictionary's ratio with its first one. */
static int note_page(struct vcm_kv_txn *txn, struct vcm_dictionary_info *info, size_t bytes,
                     size_t compressed_bytes, struct vcm_error *err)
{
    assert(info->number != 0);
    info->pages++;
    info->window_pages++;
    info->window_bytes += bytes;
    info->window_compressed_bytes += compressed_bytes;
    if (info->window_pages >= VCM_DICTIONARY_WINDOW && info->window_compressed_bytes > 0) {
        uint64_t ratio = info->window_bytes * 1000 / info->window_compressed_bytes;
        if (info->ratio == 0)
            info->ratio = (uint32_t)ratio;
        else if (ratio * WORN_DENOMINATOR < (uint64_t)info->ratio * WORN_NUMERATOR)
            info->worn = true;
        info->window_pages = 0;
        info->window_bytes = info->window_compressed_bytes = 0;
    }
    return put_info(txn, info, err);
}

int vcm_dictionary_compress(struct vcm_buf *out, uint64_t *number, struct vcm_page_store *store,
                            struct vcm_kv_txn *txn, struct vcm_slice scope_id, uint64_t mapping,
                            const struct vcm_dictionary_samples *samples, struct vcm_slice frame,
                            struct vcm_error *err)
{
    char id[VCM_LIMIT_SCOPE_ID_BYTES];
    struct vcm_dictionary_info info;
    struct use use = {NULL, NULL};

    *number = 0;
    if (scope_id.len > sizeof id)
        return vcm_table_malformed("a scope id", err);
    memcpy(id, scope_id.data, scope_id.len); /* the next write may move what was read */
    scope_id.data = id;
    int rc = find_newest(&info, txn, scope_id, err);
    if (rc == VCM_OK && (info.number == 0 || info.worn)) {
        struct vcm_dictionary_info fresh;
        rc = train(&fresh, store->dictionaries, txn, scope_id, mapping, samples, err);
        if (rc == VCM_OK && fresh.number != 0)
            info = fresh;
    }
    info.scope_id = scope_id;
    if (rc == VCM_OK)
        rc = use_begin(&use, store, txn, info.number, VCM_CODEC_WRITE, err);
    size_t before = out->len;
    if (rc == VCM_OK)
        rc = vcm_codec_compress(out, store->dictionaries->codec, frame, use.dictionary, err);
    if (rc == VCM_OK && info.number != 0)
        rc = note_page(txn, &info, frame.len, out->len - before, err);
    use_end(&use, store);
    *number = info.number;
    return rc;
}

int vcm_dictionary_decompress(void *frame, struct vcm_page_store *store, struct vcm_kv_txn *txn,
                              const struct vcm_page_info *info, struct vcm_error *err)
{
    struct use use = {NULL, NULL};
    struct vcm_slice packed;

    int rc = vcm_page_store_compressed(&packed, txn, &info->id, err);
    if (rc == VCM_OK)
        rc = use_begin(&use, store, txn, info->dictionary, VCM_CODEC_READ, err);
    if (rc == VCM_OK)
        rc = vcm_codec_decompress(frame, info->bytes, store->dictionaries->codec, packed,
                                  use.dictionary, err);
    use_end(&use, store);
    return rc;
}

int vcm_dictionary_leave(struct vcm_kv_txn *txn, uint64_t number, struct vcm_error *err)
{
    char id[VCM_LIMIT_SCOPE_ID_BYTES];
    struct vcm_dictionary_info info;

    if (number == 0)
        return VCM_OK;
    int rc = vcm_dictionary_get(&info, txn, number, err);
    if (rc == VCM_NOT_FOUND || (rc == VCM_OK && (info.pages == 0 || info.scope_id.len > sizeof id)))
        return vcm_table_malformed("the number of a dictionary", err);
    if (rc != VCM_OK)
        return rc;
    memcpy(id, info.scope_id.data, info.scope_id.len);
    info.scope_id.data = id;
    info.pages--;
    return put_info(txn, &info, err);
}

struct sweep {
    struct vcm_kv_txn *txn;
    uint64_t found; /* number of a dictionary to delete, or 0 */
};

static int consider_sweeping(void *context, struct vcm_slice key, struct vcm_slice value,
                             struct vcm_error *err)
{
    struct sweep *sweep = context;
    struct vcm_dictionary_info info, newest;
    struct vcm_scope scope;

    int rc = parse_info(&info, key, value, err);
    if (rc != VCM_OK || info.pages > 0)
        return rc;
    rc = find_newest(&newest, sweep->txn, info.scope_id, err);
    if (rc == VCM_OK && newest.number == info.number) {
        rc = vcm_page_store_scope(&scope, sweep->txn, info.scope_id, err);
        if (rc == VCM_OK) {
            vcm_scope_release(&scope);
            return VCM_OK;
        }
    }
    if (rc != VCM_OK && rc != VCM_NOT_FOUND)
        return rc;
    sweep->found = info.number;
    return VCM_STOP; /* the walk cannot go on after a deletion */
}

int vcm_dictionary_sweep(struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct vcm_slice all = vcm_slice_of("", 0);
    struct sweep sweep = {.txn = txn};
    int rc;

    do {
        sweep.found = 0;
        rc = vcm_table_each(txn, VCM_TABLE_DICTIONARIES, all, all, consider_sweeping, &sweep, err);
        if (rc == VCM_OK && sweep.found != 0) {
            unsigned char key[8];
            vcm_wire_store_be64(key, sweep.found);
            rc = vcm_kv_delete(txn, VCM_TABLE_DICTIONARIES, vcm_slice_of(key, sizeof key), err);
            if (rc == VCM_OK)
                rc = vcm_kv_delete(txn, VCM_TABLE_DICTIONARY_BYTES, vcm_slice_of(key, sizeof key),
                                   err);
        }
    } while (rc == VCM_OK && sweep.found != 0);
    return rc;
}
