/*
 * bench_open.c - opens a store with many pages, adds it up, and lists the first of them; prints the
 * times.
 *
 *     bench_open DIRECTORY PAGES
 *
 * The store is made in DIRECTORY when there is none: every page is evicted, so that it has all
 * tables and few bytes. The time is that of the wall, the best of nine; nothing else has the store
 * open, so that the map is made anew each time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/limits.h"
#include "base/text.h"
#include "vcm/mapping/mapping.h"
#include "vcm/store/page_store.h"

#include "base/banned.h"

#define ROUNDS  9
#define LISTING 100u

static struct vcm_error err;

static void must(int rc)
{
    if (rc != VCM_OK) {
        fprintf(stderr, "bench_open: %s\n", err.message);
        exit(1);
    }
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void add_page(struct vcm_mapping *mapping, struct vcm_scope *scope, unsigned number)
{
    struct vcm_buf frame = VCM_BUF_INIT(VCM_KIB);
    struct vcm_page_record record = {
        .content_id = vcm_slice_of("\1\2\3", 3), .part = 1, .parts = 1};
    struct vcm_page_built page = {.records = &record, .record_count = 1};
    char path[32];

    snprintf(path, sizeof path, "dir%u/file%u.c", number / 20, number);
    record.path = vcm_slice_of_string(path);
    vcm_page_serialise(&frame, record.path, record.path);
    record.bytes = (uint32_t)frame.len;
    record.tokens = page.tokens = (uint32_t)(frame.len + 3) / 4;
    vcm_buf_append_byte(&frame, '\n');
    page.frame = vcm_buf_slice(&frame);
    vcm_page_id_of(&page.id, page.frame);
    must(vcm_mapping_add_page(mapping, &page, &err));
    scope->pages++;
    scope->records++;
    scope->tokens += page.tokens;
    scope->bytes += page.frame.len;
    vcm_buf_release(&frame);
}

static struct vcm_page_store *open_store(const char *directory, bool read_only)
{
    static const struct vcm_page_store_limits none = {0};
    struct vcm_page_store *store;

    must(vcm_page_store_open(&store,
                             &(struct vcm_page_store_options){
                                 .directory = directory, .read_only = read_only, .limits = &none},
                             &err));
    return store;
}

static void fill(struct vcm_page_store *store, unsigned pages)
{
    struct vcm_scope scope = {.scope_id = vcm_slice_of_string("s")};
    struct vcm_mapping_result result;
    struct vcm_mapping *mapping;

    must(vcm_mapping_begin(
        &mapping, store,
        &(struct vcm_mapping_options){.scope_id = scope.scope_id, .tokenizer = "approx4"}, &err));
    for (unsigned i = 0; i < pages; i++)
        add_page(mapping, &scope, i);
    must(vcm_mapping_commit(mapping, &scope, &result, &err));
}

static int count_row(void *context, const struct vcm_page_row *row, struct vcm_error *row_err)
{
    unsigned *left = context;

    (void)row;
    (void)row_err;
    return --*left == 0 ? VCM_STOP : VCM_OK;
}

static int list_scope(void *context, const struct vcm_scope *scope, struct vcm_error *scope_err)
{
    unsigned left = LISTING;

    int rc = vcm_page_table_each_row(context, scope->mapping, 0, count_row, &left, scope_err);
    return rc == VCM_OK ? VCM_STOP : rc;
}

int main(int argc, char **argv)
{
    uint64_t pages = 0;
    double best[3] = {0};
    struct vcm_page_totals totals;

    if (argc != 3 || !vcm_text_parse_uint(&pages, argv[2]) || pages > UINT32_MAX) {
        fprintf(stderr, "usage: bench_open DIRECTORY PAGES\n");
        return 2;
    }
    struct vcm_page_store *store = open_store(argv[1], false);
    struct vcm_kv_txn *txn;
    must(vcm_page_store_read_begin(&txn, store, &err));
    must(vcm_page_store_totals(&totals, txn, &err));
    vcm_kv_handle_read_end(txn);
    if (totals.pages == 0)
        fill(store, (unsigned)pages);
    vcm_page_store_close(store);
    for (unsigned round = 0; round < ROUNDS; round++) {
        double times[4] = {now()};
        store = open_store(argv[1], true);
        times[1] = now();
        must(vcm_page_store_read_begin(&txn, store, &err));
        must(vcm_page_store_totals(&totals, txn, &err));
        times[2] = now();
        must(vcm_page_store_each_scope(txn, vcm_slice_of("", 0), list_scope, txn, &err));
        times[3] = now();
        vcm_kv_handle_read_end(txn);
        vcm_page_store_close(store);
        for (unsigned i = 0; i < 3; i++)
            if (round == 0 || times[i + 1] - times[i] < best[i])
                best[i] = times[i + 1] - times[i];
    }
    printf("%llu pages: open %.3f ms, sums %.3f ms, a listing of %u rows %.3f ms\n",
           (unsigned long long)totals.pages, best[0] * 1e3, best[1] * 1e3, LISTING, best[2] * 1e3);
    return 0;
}
