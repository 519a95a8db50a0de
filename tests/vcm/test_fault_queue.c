/* Faults: what is asked for first, once, and together. */
#include <pthread.h>

#include "mapped.h"
#include "vcm/residency/fault_queue.h"
#include "vcm/residency/rebuild.h"
#include "vcm/store/table.h"

#include "base/banned.h"

static void every_page_comes_back_from_every_state(void **state)
{
    static const enum vcm_page_state targets[] = {VCM_PAGE_COMPRESSED, VCM_PAGE_EVICTED};
    struct fixture *fix = *state;
    struct vcm_loader_outcome outcomes[PAGES_MAX];
    struct vcm_fault_queue *queue;
    struct vcm_fault_queue_ticket *ticket;
    struct mapped mapped;

    map_tree(&mapped, fix);
    assert_ok(fix, vcm_fault_queue_open(&queue, fix->store, 3, &fix->err));
    for (unsigned round = 0; round < 2; round++) {
        send_all_down(&mapped, targets[round]);
        store_check(fix->disk.path, true);
        assert_ok(fix, vcm_fault_queue_ask(&ticket, queue, mapped.ids, mapped.count, 0, &fix->err));
        vcm_fault_queue_wait(outcomes, ticket, NULL);
        for (unsigned i = 0; i < mapped.count; i++) {
            assert_int_equal(outcomes[i].rc, VCM_OK);
            assert_int_equal(state_of(fix, &mapped.ids[i]), VCM_PAGE_RESIDENT);
            if (round == 0)
                assert_int_equal(outcomes[i].was, targets[round]);
        }
        store_check(fix->disk.path, true);
    }
    struct vcm_page_cache_counters counters = counters_of(fix);
    assert_int_equal(counters.minor_faults, mapped.count);
    /* Some came with others of their file before it was their turn. */
    assert_int_equal(counters.hits + counters.major_faults, mapped.count);
    assert_true(counters.major_faults > 0);
    assert_int_equal(counters.private_answers, 0);
    vcm_fault_queue_close(queue);
    release_mapped(&mapped);
}

static void of_ten_that_wait_the_higher_priority_is_done_first(void **state)
{
    struct fixture *fix = *state;
    struct vcm_fault_queue_ticket *tickets[10];
    struct vcm_loader_outcome outcome;
    struct vcm_fault_queue *queue;
    struct mapped mapped;

    map_tree(&mapped, fix);
    send_all_down(&mapped, VCM_PAGE_COMPRESSED);
    assert_ok(fix, vcm_fault_queue_open(&queue, fix->store, 0, &fix->err));
    for (unsigned i = 0; i < 10; i++)
        assert_ok(fix, vcm_fault_queue_ask(&tickets[i], queue, &mapped.ids[i], 1,
                                           i == 6   ? 9
                                           : i == 3 ? 5
                                                    : 1,
                                           &fix->err));
    static const unsigned order[10] = {6, 3, 0, 1, 2, 4, 5, 7, 8, 9};
    for (unsigned done = 0; done < 10; done++) {
        assert_true(vcm_fault_queue_serve(queue)); /* the one worker */
        for (unsigned i = 0; i < 10; i++)
            assert_int_equal(state_of(fix, &mapped.ids[order[i]]),
                             i <= done ? VCM_PAGE_RESIDENT : VCM_PAGE_COMPRESSED);
    }
    assert_false(vcm_fault_queue_serve(queue));
    for (unsigned i = 0; i < 10; i++)
        vcm_fault_queue_wait(&outcome, tickets[i], NULL);
    vcm_fault_queue_close(queue);
    release_mapped(&mapped);
}

static void a_page_that_is_asked_for_twice_is_loaded_once(void **state)
{
    struct fixture *fix = *state;
    struct vcm_fault_queue_ticket *tickets[3];
    struct vcm_loader_outcome outcomes[2];
    struct vcm_fault_queue *queue;
    struct mapped mapped;

    map_tree(&mapped, fix);
    send_all_down(&mapped, VCM_PAGE_COMPRESSED);
    assert_ok(fix, vcm_fault_queue_open(&queue, fix->store, 0, &fix->err));
    const struct vcm_page_id pair[2] = {mapped.ids[4], mapped.ids[4]};
    assert_ok(fix, vcm_fault_queue_ask(&tickets[0], queue, &mapped.ids[2], 1, 1, &fix->err));
    assert_ok(fix, vcm_fault_queue_ask(&tickets[1], queue, pair, 2, 0, &fix->err));
    /* Who asks with more urgency takes the others along. */
    assert_ok(fix, vcm_fault_queue_ask(&tickets[2], queue, pair, 1, 7, &fix->err));
    assert_true(vcm_fault_queue_serve(queue));
    assert_int_equal(state_of(fix, &mapped.ids[4]), VCM_PAGE_RESIDENT);
    assert_int_equal(state_of(fix, &mapped.ids[2]), VCM_PAGE_COMPRESSED);
    assert_true(vcm_fault_queue_serve(queue));
    assert_false(vcm_fault_queue_serve(queue));
    for (unsigned i = 0; i < 3; i++) {
        vcm_fault_queue_wait(outcomes, tickets[i], NULL);
        assert_int_equal(outcomes[0].rc, VCM_OK);
        assert_int_equal(outcomes[0].was, VCM_PAGE_COMPRESSED);
    }
    assert_int_equal(counters_of(fix).minor_faults, 2);
    vcm_fault_queue_close(queue);
    release_mapped(&mapped);
}

struct asker {
    pthread_t thread;
    struct vcm_fault_queue *queue;
    const struct mapped *mapped;
    unsigned first;
};

static void *ask_for_all(void *argument)
{
    const struct asker *asker = argument;
    struct vcm_loader_outcome outcome;
    struct vcm_fault_queue_ticket *ticket;

    for (unsigned i = 0; i < asker->mapped->count; i++) {
        unsigned at = (asker->first + i) % asker->mapped->count;
        if (vcm_fault_queue_ask(&ticket, asker->queue, &asker->mapped->ids[at], 1, i % 3, NULL) !=
            VCM_OK)
            return "ask";
        vcm_fault_queue_wait(&outcome, ticket, NULL);
        if (outcome.rc != VCM_OK)
            return "wait";
    }
    return NULL;
}

static void threads_that_ask_for_the_same_pages_all_get_them(void **state)
{
    struct fixture *fix = *state;
    struct asker askers[4];
    struct vcm_fault_queue *queue;
    struct mapped mapped;

    map_tree(&mapped, fix);
    send_all_down(&mapped, VCM_PAGE_EVICTED);
    assert_ok(fix, vcm_fault_queue_open(&queue, fix->store, 3, &fix->err));
    for (unsigned i = 0; i < 4; i++) {
        askers[i] = (struct asker){.queue = queue, .mapped = &mapped, .first = i * 7};
        assert_int_equal(pthread_create(&askers[i].thread, NULL, ask_for_all, &askers[i]), 0);
    }
    for (unsigned i = 0; i < 4; i++) {
        void *answer;
        pthread_join(askers[i].thread, &answer);
        assert_null(answer);
    }
    assert_int_equal(count_resident(&mapped), mapped.count);
    assert_int_equal(counters_of(fix).private_answers, 0);
    vcm_fault_queue_close(queue);
    release_mapped(&mapped);
}

/* One file that is cut into many parts, over several pages, and a short one behind it. */
static char *map_long_file(struct mapped *mapped, struct fixture *fix)
{
    char *content = calloc(1, 20001);
    struct memory_item *items = calloc(2, sizeof *items);

    assert_true(content && items);
    for (size_t at = 0, line = 0; at + 40 < 20000; line++)
        at += (size_t)snprintf(content + at, 40, "line %zu is %zu\n", line, line * line);
    items[0] =
        (struct memory_item){"a/long.txt", content, VCM_SOURCE_PAGED, VCM_SOURCE_PAGED, NULL};
    items[1] = (struct memory_item){"b/other.txt", "x", VCM_SOURCE_PAGED, VCM_SOURCE_PAGED, NULL};
    map_items(mapped, fix, items, 2);
    assert_true(mapped->count > 10);
    send_all_down(mapped, VCM_PAGE_EVICTED);
    return content;
}

static void a_fault_on_one_page_of_a_group_loads_the_group_in_one_pass(void **state)
{
    struct fixture *fix = *state;
    struct vcm_loader_outcome outcome;
    struct vcm_fault_queue *queue;
    struct vcm_fault_queue_ticket *ticket;
    struct mapped mapped;
    char *content = map_long_file(&mapped, fix);

    assert_ok(fix, vcm_fault_queue_open(&queue, fix->store, 0, &fix->err));
    assert_ok(fix, vcm_fault_queue_ask(&ticket, queue, &mapped.ids[3], 1, 0, &fix->err));
    assert_true(vcm_fault_queue_serve(queue));
    vcm_fault_queue_wait(&outcome, ticket, NULL);
    assert_int_equal(outcome.was, VCM_PAGE_EVICTED);
    assert_true(count_resident(&mapped) >= mapped.count - 1); /* but that of the other file */
    assert_true(mapped.again.reads <= 2);
    assert_int_equal(counters_of(fix).major_faults, 1);
    vcm_fault_queue_close(queue);
    release_mapped(&mapped);
    free(content);
}

static void read_page(struct fixture *fix, struct vcm_page_cache *cache,
                      const struct vcm_page_id *id)
{
    struct vcm_page_cache_frame frame;
    struct vcm_page_id made;
    struct vcm_kv_txn *txn = read_begin(fix);

    assert_ok(fix, vcm_page_cache_read(&frame, cache, txn, id, &fix->err));
    vcm_page_id_of(&made, frame.bytes);
    assert_memory_equal(&made, id, sizeof made);
    vcm_page_cache_release(&frame);
    vcm_kv_handle_read_end(txn);
}

static void a_read_of_one_page_of_a_group_loads_the_group_in_one_pass(void **state)
{
    struct fixture *fix = *state;
    struct vcm_page_cache *cache;
    struct mapped mapped;
    char *content = map_long_file(&mapped, fix);

    assert_ok(fix, vcm_page_cache_open(&cache, fix->store, &fix->err));
    read_page(fix, cache, &mapped.ids[3]);
    assert_true(count_resident(&mapped) >= mapped.count - 1);
    assert_true(mapped.again.reads <= 2);
    read_page(fix, cache, &mapped.ids[4]);
    assert_int_equal(counters_of(fix).major_faults, 1);
    assert_int_equal(counters_of(fix).hits, 1);
    vcm_page_cache_close(cache);
    release_mapped(&mapped);
    free(content);
}

/* The pages behind it first, and no more than a quarter. */
static void a_group_does_not_fill_the_capacity(void **state)
{
    struct fixture *fix = *state;
    struct vcm_page_cache *cache;
    struct mapped mapped;
    char *content = map_long_file(&mapped, fix);
    struct vcm_page_store_limits limits = {.capacity = 16000, .compressed_capacity = 0};

    vcm_page_store_set_limits(fix->store, &limits);
    assert_ok(fix, vcm_page_cache_open(&cache, fix->store, &fix->err));
    read_page(fix, cache, &mapped.ids[3]);
    assert_true(count_resident(&mapped) > 1 && count_resident(&mapped) < mapped.count / 2);
    assert_int_equal(state_of(fix, &mapped.ids[3]), VCM_PAGE_RESIDENT);
    assert_int_equal(state_of(fix, &mapped.ids[4]), VCM_PAGE_RESIDENT);
    assert_int_equal(state_of(fix, &mapped.ids[2]), VCM_PAGE_EVICTED);
    vcm_page_cache_close(cache);
    release_mapped(&mapped);
    free(content);
}

static void what_a_source_gives_otherwise_is_refused(void **state)
{
    struct fixture *fix = *state;
    struct vcm_loader_outcome outcome;
    struct vcm_fault_queue *queue;
    struct vcm_fault_queue_ticket *ticket;
    struct memory_item *items = calloc(1, sizeof *items);
    struct mapped mapped;

    items[0] = (struct memory_item){"a", "one", VCM_SOURCE_PAGED, VCM_SOURCE_PAGED, NULL};
    map_items(&mapped, fix, items, 1);
    send_all_down(&mapped, VCM_PAGE_EVICTED);
    assert_ok(fix, vcm_fault_queue_open(&queue, fix->store, 1, &fix->err));
    items[0].text = "another";
    assert_ok(fix, vcm_fault_queue_ask(&ticket, queue, mapped.ids, 1, 0, &fix->err));
    vcm_fault_queue_wait(&outcome, ticket, NULL);
    assert_int_equal(outcome.rc, VCM_NOT_FOUND);
    items[0].read = VCM_SOURCE_FAILED;
    items[0].reason = "object_missing";
    assert_ok(fix, vcm_fault_queue_ask(&ticket, queue, mapped.ids, 1, 0, &fix->err));
    vcm_fault_queue_wait(&outcome, ticket, NULL);
    assert_int_equal(outcome.rc, VCM_NOT_FOUND);
    assert_non_null(strstr(outcome.error.message, "object_missing"));
    assert_int_equal(state_of(fix, mapped.ids), VCM_PAGE_EVICTED);
    assert_int_equal(counters_of(fix).major_faults, 0);
    vcm_fault_queue_close(queue);
    release_mapped(&mapped);
}

static void what_is_not_right_unverified_is_read_again(void **state)
{
    struct fixture *fix = *state;
    struct vcm_page_cache_frame frame;
    struct vcm_page_cache *cache;
    struct vcm_page_id made;
    struct mapped mapped;

    map_tree(&mapped, fix);
    send_all_down(&mapped, VCM_PAGE_EVICTED);
    mapped.again.wrong_unverified = true;
    assert_ok(fix, vcm_page_cache_open(&cache, fix->store, &fix->err));
    struct vcm_kv_txn *txn = read_begin(fix);
    for (unsigned i = 0; i < mapped.count; i++) {
        assert_ok(fix, vcm_page_cache_peek(&frame, cache, txn, &mapped.ids[i], &fix->err));
        vcm_page_id_of(&made, frame.bytes);
        assert_memory_equal(&made, &mapped.ids[i], sizeof made);
        vcm_page_cache_release(&frame);
    }
    vcm_kv_handle_read_end(txn);
    vcm_page_cache_close(cache);
    release_mapped(&mapped);
}

static void closing_answers_who_still_waits(void **state)
{
    struct fixture *fix = *state;
    struct vcm_fault_queue *queue;
    struct mapped mapped;

    map_tree(&mapped, fix);
    assert_ok(fix, vcm_fault_queue_open(&queue, fix->store, 0, &fix->err));
    vcm_fault_queue_close(queue);
    vcm_fault_queue_close(NULL);
    release_mapped(&mapped);
}

static void *read_three(void *argument)
{
    struct mapped *mapped = argument;
    struct fixture *fix = mapped->fix;
    struct vcm_page_cache_frame frame;
    struct vcm_page_cache *cache;

    assert_ok(fix, vcm_page_cache_open(&cache, fix->store, &fix->err));
    struct vcm_kv_txn *txn = read_begin(fix);
    for (unsigned i = 0; i < 3; i++) {
        assert_ok(fix, vcm_page_cache_read(&frame, cache, txn, &mapped->ids[i], &fix->err));
        assert_non_null(frame.memory);
        vcm_page_cache_release(&frame);
    }
    vcm_kv_handle_read_end(txn);
    vcm_page_cache_close(cache);
    return NULL;
}

/* While this runs the writers' lock is taken. */
static int read_meanwhile(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    pthread_t reader;

    (void)txn;
    (void)err;
    assert_int_equal(pthread_create(&reader, NULL, read_three, context), 0);
    assert_int_equal(pthread_join(reader, NULL), 0);
    return VCM_OK;
}

static void a_fault_that_cannot_have_the_lock_answers_and_changes_nothing(void **state)
{
    struct fixture *fix = *state;
    struct mapped mapped;

    map_tree(&mapped, fix);
    send_all_down(&mapped, VCM_PAGE_COMPRESSED);
    assert_ok(fix,
              vcm_kv_handle_update(fix->store->kv, read_meanwhile, &mapped, 1000, NULL, &fix->err));
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(state_of(fix, &mapped.ids[i]), VCM_PAGE_COMPRESSED);
    assert_int_equal(counters_of(fix).minor_faults, 3);
    assert_int_equal(counters_of(fix).private_answers, 3);
    release_mapped(&mapped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(every_page_comes_back_from_every_state),
        STORE_TEST(of_ten_that_wait_the_higher_priority_is_done_first),
        STORE_TEST(a_page_that_is_asked_for_twice_is_loaded_once),
        STORE_TEST(threads_that_ask_for_the_same_pages_all_get_them),
        STORE_TEST(a_fault_on_one_page_of_a_group_loads_the_group_in_one_pass),
        STORE_TEST(a_read_of_one_page_of_a_group_loads_the_group_in_one_pass),
        STORE_TEST(a_group_does_not_fill_the_capacity),
        STORE_TEST(what_a_source_gives_otherwise_is_refused),
        STORE_TEST(what_is_not_right_unverified_is_read_again),
        STORE_TEST(closing_answers_who_still_waits),
        STORE_TEST(a_fault_that_cannot_have_the_lock_answers_and_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
