/*
 * mapped.h - a store with a scope that was mapped from memory, for tests that fault its pages.
 */
#ifndef VCM_TESTS_VCM_MAPPED_H
#define VCM_TESTS_VCM_MAPPED_H

#include "store_fixture.h"
#include "tests/support/memory_source.h"
#include "vcm/mapping/ingest.h"
#include "vcm/residency/page_cache.h"
#include "vcm/residency/pin.h"

#define FILES     40
#define PAGES_MAX 400

/* A store with a scope that was mapped from memory, and the pages of it. */
struct mapped {
    struct fixture *fix;
    struct vcm_tokenizer *tokenizer;
    struct memory_item *items;
    struct memory_source source;
    struct memory_source again; /* what the store opens to rebuild from */
    struct vcm_page_id ids[PAGES_MAX];
    unsigned count;
};

static inline int open_again(void *context, struct vcm_source **out, const struct vcm_scope *scope,
                             struct vcm_error *err)
{
    struct mapped *mapped = context;

    (void)scope;
    (void)err;
    *out = &mapped->again.source;
    return VCM_OK;
}

static inline int take_id(void *context, const struct vcm_page_row *row, struct vcm_error *err)
{
    struct mapped *mapped = context;

    (void)err;
    assert_true(mapped->count < PAGES_MAX);
    mapped->ids[mapped->count++] = row->id;
    return VCM_OK;
}

static inline void map_items(struct mapped *mapped, struct fixture *fix, struct memory_item *items,
                             unsigned count)
{
    struct vcm_scope scope = {
        .scope_id = text("s"), .flush_threshold = 20, .flush_token_budget = 300};
    struct vcm_ingest_result result;

    memset(mapped, 0, sizeof *mapped);
    mapped->fix = fix;
    mapped->items = items;
    memory_source_init(&mapped->source, items, count);
    memory_source_init(&mapped->again, items, count);
    assert_ok(fix, vcm_tokenizer_open(&mapped->tokenizer, "approx4", &fix->err));
    vcm_page_store_set_sources(fix->store, open_again, mapped);
    assert_ok(fix, vcm_ingest_run(&result, fix->store, &scope,
                                  &(struct vcm_ingest_options){.source = &mapped->source.source,
                                                               .tokenizer = mapped->tokenizer,
                                                               .jobs = 1},
                                  &fix->err));
    struct vcm_kv_txn *txn = read_begin(fix);
    assert_ok(fix, vcm_page_table_each_row(txn, scope.mapping, 0, take_id, mapped, &fix->err));
    vcm_kv_handle_read_end(txn);
}

static inline void map_tree(struct mapped *mapped, struct fixture *fix)
{
    unsigned count;
    struct memory_item *items = memory_source_tree(&count, 5, 0, FILES);

    map_items(mapped, fix, items, count);
    assert_true(mapped->count > 20);
}

static inline void release_mapped(struct mapped *mapped)
{
    vcm_tokenizer_close(mapped->tokenizer);
    free(mapped->items);
}

static inline void send_all_down(struct mapped *mapped, enum vcm_page_state target)
{
    struct vcm_pin_departure departures[PAGES_MAX];

    assert_ok(mapped->fix, vcm_pin_send_down(departures, mapped->fix->store, mapped->ids,
                                             mapped->count, target, NULL, &mapped->fix->err));
    for (unsigned i = 0; i < mapped->count; i++)
        assert_int_equal(departures[i].after, target);
}

static inline enum vcm_page_state state_of(struct fixture *fix, const struct vcm_page_id *id)
{
    struct vcm_page_info info;
    struct vcm_kv_txn *txn = read_begin(fix);

    assert_ok(fix, vcm_page_store_page(&info, txn, id, &fix->err));
    vcm_kv_handle_read_end(txn);
    return info.state;
}

static inline struct vcm_page_cache_counters counters_of(const struct fixture *fix)
{
    struct vcm_page_cache_counters counters;

    vcm_page_cache_counters(&counters, fix->store);
    return counters;
}

static inline unsigned count_resident(const struct mapped *mapped)
{
    unsigned resident = 0;

    for (unsigned i = 0; i < mapped->count; i++)
        resident += state_of(mapped->fix, &mapped->ids[i]) == VCM_PAGE_RESIDENT;
    return resident;
}

#endif
