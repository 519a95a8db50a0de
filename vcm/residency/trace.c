#include "vcm/residency/trace.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/limits.h"

#include "base/banned.h"

#define WORD_BYTES_MAX 64
#define NEVER          UINT32_MAX
#define CANCEL_EVERY   65536 /* accesses between two checks for cancellation */

/* Pages are numbered in the order of their first access. */
struct vcm_trace {
    uint32_t *accesses; /* the page of each */
    uint32_t accesses_len;
    size_t accesses_capacity;
    uint32_t *sizes; /* of each page */
    uint64_t *keys;  /* hash of each page's name */
    uint32_t pages_len;
    size_t pages_capacity;
    uint32_t *table; /* page + 1 by hash, open addressing */
    uint32_t table_len;
    uint64_t bytes;
};

int vcm_trace_open(struct vcm_trace **out, struct vcm_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? VCM_OK : vcm_error_memory(err);
}

void vcm_trace_close(struct vcm_trace *trace)
{
    if (!trace)
        return;
    free(trace->accesses);
    free(trace->sizes);
    free(trace->keys);
    free(trace->table);
    free(trace);
}

uint64_t vcm_trace_accesses(const struct vcm_trace *trace)
{
    return trace->accesses_len;
}

uint64_t vcm_trace_pages(const struct vcm_trace *trace)
{
    return trace->pages_len;
}

uint64_t vcm_trace_bytes(const struct vcm_trace *trace)
{
    return trace->bytes;
}

static int grow_accesses(struct vcm_trace *trace, struct vcm_error *err)
{
    if (trace->accesses_len >= VCM_LIMIT_TRACE_ACCESSES)
        return vcm_error_set(err, VCM_UNSUPPORTED, "a trace has at most %u accesses",
                             VCM_LIMIT_TRACE_ACCESSES);
    return vcm_array_reserve(&trace->accesses, &trace->accesses_capacity,
                             (size_t)trace->accesses_len + 1, VCM_LIMIT_TRACE_ACCESSES, err);
}

/* The place of a page in the table: its own, or the empty one where it would be. */
static uint32_t *find(const struct vcm_trace *trace, uint64_t key)
{
    uint32_t at = (uint32_t)key & (trace->table_len - 1);

    assert(trace->pages_len < trace->table_len); /* the search ends at an empty place */
    while (trace->table[at] != 0 && trace->keys[trace->table[at] - 1] != key)
        at = (at + 1) & (trace->table_len - 1);
    return &trace->table[at];
}

/* Twice as many places in the table as pages, so that it always has empty ones. */
static int grow_pages(struct vcm_trace *trace, struct vcm_error *err)
{
    size_t capacity = trace->pages_capacity, needed = (size_t)trace->pages_len + 1;

    if (trace->pages_len >= VCM_LIMIT_TRACE_PAGES)
        return vcm_error_set(err, VCM_UNSUPPORTED, "a trace has at most %u pages",
                             VCM_LIMIT_TRACE_PAGES);
    int rc = vcm_array_reserve(&trace->sizes, &capacity, needed, VCM_LIMIT_TRACE_PAGES, err);
    if (rc != VCM_OK)
        return rc;
    capacity = trace->pages_capacity;
    rc = vcm_array_reserve(&trace->keys, &capacity, needed, VCM_LIMIT_TRACE_PAGES, err);
    if (rc != VCM_OK)
        return rc;
    uint32_t *table = calloc(2 * capacity, sizeof *table);
    if (!table)
        return vcm_error_memory(err);
    free(trace->table);
    trace->table = table;
    trace->table_len = 2 * (uint32_t)capacity;
    trace->pages_capacity = capacity;
    assert((trace->table_len & (trace->table_len - 1)) == 0);
    for (uint32_t i = 0; i < trace->pages_len; i++)
        *find(trace, trace->keys[i]) = i + 1;
    return VCM_OK;
}

static int add(struct vcm_trace *trace, struct vcm_slice word, uint64_t bytes,
               struct vcm_error *err)
{
    uint64_t key = vcm_hash_checksum(word, 0);
    int rc = VCM_OK;

    if (trace->accesses_len == trace->accesses_capacity)
        rc = grow_accesses(trace, err);
    if (rc == VCM_OK && trace->pages_len == trace->pages_capacity)
        rc = grow_pages(trace, err);
    if (rc != VCM_OK)
        return rc;
    uint32_t *place = find(trace, key);
    if (*place == 0) {
        trace->keys[trace->pages_len] = key;
        trace->sizes[trace->pages_len] = (uint32_t)bytes;
        trace->bytes += bytes;
        *place = ++trace->pages_len;
    }
    trace->accesses[trace->accesses_len++] = *place - 1;
    return VCM_OK;
}

static bool is_between(char c)
{
    return c == ' ' || c == '\t' || c == ',';
}

static struct vcm_slice next_word(struct vcm_slice *line)
{
    size_t start = 0;

    while (start < line->len && is_between(line->data[start]))
        start++;
    size_t end = start;
    while (end < line->len && !is_between(line->data[end]))
        end++;
    struct vcm_slice word = vcm_slice_of(line->data + start, end - start);
    *line = vcm_slice_of(line->data + end, line->len - end);
    return word;
}

static bool read_number(uint64_t *out, struct vcm_slice word)
{
    uint64_t value = 0;

    for (size_t i = 0; i < word.len; i++) {
        if (word.data[i] < '0' || word.data[i] > '9' || value > UINT64_MAX / 10 - 1)
            return false;
        value = 10 * value + (uint64_t)(word.data[i] - '0');
    }
    *out = value;
    return word.len > 0;
}

static int read_line(struct vcm_trace *trace, struct vcm_slice line, size_t number,
                     struct vcm_error *err)
{
    uint64_t ms;
    uint64_t bytes;

    if (line.len > 0 && line.data[line.len - 1] == '\r')
        line.len--;
    if (line.len == 0 || line.data[0] == '#')
        return VCM_OK;
    struct vcm_slice when = next_word(&line);
    struct vcm_slice page = next_word(&line);
    struct vcm_slice size = next_word(&line);
    if (!read_number(&ms, when))
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "line %zu of the trace does not begin with milliseconds", number);
    if (page.len == 0 || page.len > WORD_BYTES_MAX)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "line %zu of the trace names no page",
                             number);
    if (!read_number(&bytes, size) || bytes > VCM_LIMIT_FRAME_BYTES)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "line %zu of the trace has no size, or one above %zu bytes", number,
                             VCM_LIMIT_FRAME_BYTES);
    if (next_word(&line).len > 0)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "line %zu of the trace has more than a time, a page and a size",
                             number);
    return add(trace, page, bytes, err);
}

int vcm_trace_read(struct vcm_trace *trace, struct vcm_slice text, struct vcm_error *err)
{
    size_t number = 0;

    while (text.len > 0) {
        const char *end = memchr(text.data, '\n', text.len);
        size_t len = end ? (size_t)(end - text.data) : text.len;
        int rc = read_line(trace, vcm_slice_of(text.data, len), ++number, err);
        if (rc != VCM_OK)
            return rc;
        len += end != NULL;
        text = vcm_slice_of(text.data + len, text.len - len);
    }
    return VCM_OK;
}

void vcm_trace_put(struct vcm_buf *out, uint64_t ms, const struct vcm_page_id *id, uint64_t bytes)
{
    char hex[VCM_PAGE_ID_HEX + 1];

    vcm_page_id_to_hex(hex, id);
    vcm_buf_append_format(out, "%" PRIu64 " %s %" PRIu64 "\n", ms, hex, bytes);
}

static void count(struct vcm_trace_result *out, uint64_t bytes, bool hit)
{
    out->accesses++;
    out->bytes += bytes;
    if (!hit)
        return;
    out->hits++;
    out->hit_bytes += bytes;
}

static void finish(struct vcm_trace_result *out)
{
    if (out->accesses > 0)
        out->hit_ratio = (double)out->hits / (double)out->accesses;
    if (out->bytes > 0)
        out->byte_hit_ratio = (double)out->hit_bytes / (double)out->bytes;
}

/* Makes room for a page and inserts it; `used` has the bytes of the set's pages. */
static int admit(struct vcm_evict *set, uint64_t *used, const struct vcm_trace *trace,
                 uint32_t page, uint64_t capacity)
{
    uint64_t victim;

    if (trace->sizes[page] > capacity)
        return VCM_OK;
    while (*used + trace->sizes[page] > capacity && vcm_evict_next(set, &victim)) {
        assert(victim < trace->pages_len && *used >= trace->sizes[victim]);
        *used -= trace->sizes[victim];
        vcm_evict_remove(set, victim);
    }
    *used += trace->sizes[page];
    assert(*used <= capacity);
    return vcm_evict_insert(set, page, trace->sizes[page], VCM_EVICT_HOT);
}

int vcm_trace_replay(struct vcm_trace_result *out, const struct vcm_trace *trace,
                     enum vcm_evict_policy policy, uint64_t capacity,
                     const struct vcm_cancel *cancel, struct vcm_error *err)
{
    size_t bytes = (vcm_evict_bytes(trace->pages_len) + 63) / 64 * 64;
    void *memory = aligned_alloc(64, bytes);
    struct vcm_evict set;
    uint64_t used = 0;
    int rc = VCM_OK;

    memset(out, 0, sizeof *out);
    out->capacity = capacity;
    if (!memory)
        return vcm_error_memory(err);
    vcm_evict_init(&set, memory, bytes, policy);
    for (uint32_t i = 0; rc == VCM_OK && i < trace->accesses_len; i++) {
        uint32_t page = trace->accesses[i];
        bool hit = vcm_evict_touch(&set, page);
        count(out, trace->sizes[page], hit);
        if (!hit && admit(&set, &used, trace, page, capacity) != VCM_OK)
            rc = vcm_error_set(err, VCM_INTERNAL, "the eviction set of a replay is damaged");
        if (rc == VCM_OK && i % CANCEL_EVERY == 0)
            rc = vcm_cancel_check(cancel, err);
    }
    finish(out);
    free(memory);
    return rc;
}

/* A heap of the resident pages by their next access, the furthest first; `place` is a page's place
 * in it. */
struct future {
    uint32_t *next; /* of each access: the next one to the same page, or NEVER */
    uint32_t *key;  /* of each page */
    uint32_t *heap;
    uint32_t *place; /* NEVER for a page that is not resident */
    uint32_t len;
};

static void put(struct future *future, uint32_t place, uint32_t page)
{
    future->heap[place] = page;
    future->place[page] = place;
}

static void sift_up(struct future *future, uint32_t place, uint32_t page)
{
    while (place > 0 && future->key[future->heap[(place - 1) / 2]] < future->key[page]) {
        put(future, place, future->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(future, place, page);
}

static void sift_down(struct future *future, uint32_t place, uint32_t page)
{
    for (uint32_t child; (child = 2 * place + 1) < future->len; place = child) {
        if (child + 1 < future->len &&
            future->key[future->heap[child + 1]] > future->key[future->heap[child]])
            child++;
        if (future->key[future->heap[child]] <= future->key[page])
            break;
        put(future, place, future->heap[child]);
    }
    put(future, place, page);
}

static uint32_t pop(struct future *future)
{
    uint32_t page = future->heap[0];

    assert(future->len > 0 && future->place[page] == 0);
    future->place[page] = NEVER;
    if (--future->len > 0)
        sift_down(future, 0, future->heap[future->len]);
    return page;
}

static void release(struct future *future)
{
    free(future->next);
    free(future->key);
    free(future->heap);
    free(future->place);
}

static int look_ahead(struct future *future, const struct vcm_trace *trace, struct vcm_error *err)
{
    size_t pages = (size_t)trace->pages_len + 1;

    future->next = calloc((size_t)trace->accesses_len + 1, sizeof *future->next);
    future->key = calloc(pages, sizeof *future->key);
    future->heap = calloc(pages, sizeof *future->heap);
    future->place = calloc(pages, sizeof *future->place);
    if (!future->next || !future->key || !future->heap || !future->place)
        return vcm_error_memory(err);
    memset(future->key, 0xff, pages * sizeof *future->key);
    memset(future->place, 0xff, pages * sizeof *future->place);
    for (uint32_t i = trace->accesses_len; i-- > 0;) {
        future->next[i] = future->key[trace->accesses[i]];
        future->key[trace->accesses[i]] = i;
    }
    return VCM_OK;
}

int vcm_trace_optimum(struct vcm_trace_result *out, const struct vcm_trace *trace,
                      uint64_t capacity, const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct future future = {0};
    uint64_t used = 0;

    memset(out, 0, sizeof *out);
    out->capacity = capacity;
    int rc = look_ahead(&future, trace, err);
    for (uint32_t i = 0; rc == VCM_OK && i < trace->accesses_len; i++) {
        uint32_t page = trace->accesses[i];
        bool hit = future.place[page] != NEVER;
        count(out, trace->sizes[page], hit);
        future.key[page] = future.next[i];
        if (hit) {
            sift_up(&future, future.place[page], page);
        } else if (trace->sizes[page] <= capacity) {
            used += trace->sizes[page];
            sift_up(&future, future.len++, page);
        }
        while (used > capacity)
            used -= trace->sizes[pop(&future)];
        if (i % CANCEL_EVERY == 0)
            rc = vcm_cancel_check(cancel, err);
    }
    finish(out);
    release(&future);
    return rc;
}
