/* A view stays what it was, whatever happens to the store. Other processes are this program again,
 * started with a role. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store_fixture.h"
#include "tests/support/random.h"
#include "vcm/residency/lock.h"
#include "vcm/residency/page_cache.h"
#include "vcm/residency/pin.h"
#include "vcm/mapping/relimit.h"
#include "vcm/store/table.h"
#include "vcm/residency/view.h"

#include "base/banned.h"

#define CONTENT_BYTES 20000
#define THREADS       3u
#define PAGES_VIEWED  24u
#define MAILBOXES     8u
#define ROUNDS        48u

static const char *program;

static struct vcm_page_cache *open_cache(struct fixture *fix)
{
    struct vcm_page_cache *cache;

    assert_ok(fix, vcm_page_cache_open(&cache, fix->store, &fix->err));
    return cache;
}

/* A text of some length that a number makes its own. */
static char *content_of(unsigned number)
{
    char *text = calloc(1, CONTENT_BYTES + 64);

    assert_non_null(text);
    for (size_t at = 0, line = 0; at < CONTENT_BYTES; line++)
        at += (size_t)snprintf(text + at, 64, "line %zu of %u: %zu\n", line, number,
                               line * line * (number + 3));
    return text;
}

/* Maps a scope with the pages from `first` on. */
static void map_numbers(struct fixture *fix, const char *scope_id, unsigned first, unsigned count)
{
    struct vcm_scope scope = {.scope_id = text(scope_id)};
    struct vcm_mapping_result result;
    struct vcm_mapping *mapping = begin(fix, scope_id);

    for (unsigned i = 0; i < count; i++) {
        char *content = content_of(first + i);
        assert_ok(fix, add_page(mapping, &scope, content, &fix->err));
        free(content);
    }
    assert_ok(fix, vcm_mapping_commit(mapping, &scope, &result, &fix->err));
}

static struct vcm_page_id id_of_number(unsigned number)
{
    char *content = content_of(number);
    struct vcm_page_id id = id_of(content);

    free(content);
    return id;
}

static struct vcm_view *view(struct fixture *fix, struct vcm_page_cache *cache, unsigned number)
{
    struct vcm_page_id id = id_of_number(number);
    struct vcm_view *out;

    assert_ok(fix, vcm_view_open(&out, cache, &id, VCM_VIEW_BUSY, &fix->err));
    return out;
}

static void assert_bytes(const struct vcm_view *view, unsigned number)
{
    struct vcm_page_id id = id_of_number(number), seen;

    vcm_page_id_of(&seen, vcm_view_bytes(view));
    assert_memory_equal(&seen, &id, sizeof id);
}

static struct vcm_pin_departure send_down(struct fixture *fix, unsigned number,
                                          enum vcm_page_state target)
{
    struct vcm_page_id id = id_of_number(number);
    struct vcm_pin_departure departure;

    assert_ok(fix, vcm_pin_send_down(&departure, fix->store, &id, 1, target, NULL, &fix->err));
    return departure;
}

static void a_view_lasts_over_a_thousand_commits_a_gc_and_growth(void **state)
{
    struct fixture *fix = *state;
    struct vcm_kv_compacted compacted;

    map_numbers(fix, "s", 0, 10);
    struct vcm_page_cache *cache = open_cache(fix);
    struct vcm_view *held = view(fix, cache, 3);
    assert_true(vcm_view_is_in_place(held));
    const char *address = vcm_view_bytes(held).data;
    for (unsigned i = 0; i < 1000; i++) {
        unsigned number = i % 10;
        if (number == 3)
            number = 4;
        assert_int_equal(send_down(fix, number, VCM_PAGE_COMPRESSED).after, VCM_PAGE_COMPRESSED);
        struct vcm_view *other = view(fix, cache, number);
        assert_bytes(other, number);
        vcm_view_release(other);
        if (i % 2 == 1)
            vcm_page_cache_flush(cache);
        if (i == 300)
            map_numbers(fix, "s", 5, 10); /* its last holder goes */
        if (i == 300)
            map_numbers(fix, "t", 0, 10);
        if (i == 500)
            assert_ok(fix, vcm_kv_compact(&compacted, fix->store->kv, VCM_LIMIT_LOCK_TIMEOUT_MS,
                                          NULL, &fix->err));
        if (i == 700)
            map_numbers(fix, "u", 100, 200);
        if (i % 100 == 0)
            assert_bytes(held, 3);
    }
    assert_ptr_equal(vcm_view_bytes(held).data, address);
    assert_bytes(held, 3);
    vcm_view_release(held);
    vcm_page_cache_close(cache);
}

static void what_is_viewed_does_not_go(void **state)
{
    struct fixture *fix = *state;

    map_numbers(fix, "s", 0, 3);
    struct vcm_page_cache *cache = open_cache(fix);
    struct vcm_view *one = view(fix, cache, 1), *two = view(fix, cache, 1);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(send_down(fix, 1, VCM_PAGE_COMPRESSED).hindrance, VCM_PIN_VIEWED);
        assert_int_equal(send_down(fix, 1, VCM_PAGE_EVICTED).after, VCM_PAGE_RESIDENT);
        vcm_view_release(i == 0 ? one : two);
    }
    assert_int_equal(send_down(fix, 1, VCM_PAGE_COMPRESSED).after, VCM_PAGE_COMPRESSED);
    vcm_page_cache_close(cache);
}

static void a_page_that_nobody_holds_stays_while_it_is_viewed(void **state)
{
    struct fixture *fix = *state;

    map_numbers(fix, "s", 0, 3);
    struct vcm_page_cache *cache = open_cache(fix);
    struct vcm_view *held = view(fix, cache, 1);
    assert_ok(fix, vcm_mapping_drop_scope(fix->store, text("s"), NULL, &fix->err));
    assert_int_equal(counts_of(fix).pages, 1);
    store_check(fix->disk.path, true);
    assert_bytes(held, 1);
    map_numbers(fix, "s", 1, 1); /* taken up again */
    vcm_view_release(held);
    assert_ok(fix, vcm_mapping_drop_scope(fix->store, text("s"), NULL, &fix->err));
    assert_int_equal(counts_of(fix).pages, 0);

    map_numbers(fix, "s", 0, 3);
    held = view(fix, cache, 1);
    assert_ok(fix, vcm_mapping_drop_scope(fix->store, text("s"), NULL, &fix->err));
    vcm_view_release(held);
    map_numbers(fix, "t", 7, 1); /* whoever writes next sweeps */
    assert_int_equal(counts_of(fix).pages, 1);
    vcm_page_cache_close(cache);
}

static void views_are_bounded_by_the_capacity(void **state)
{
    struct fixture *fix = *state;
    struct vcm_page_id id = id_of_number(1);
    struct vcm_view *second;

    map_numbers(fix, "s", 0, 8);
    struct vcm_page_cache *cache = open_cache(fix);
    struct vcm_page_store_limits limits = {.capacity = 5 * 30000, .compressed_capacity = VCM_GIB};
    vcm_page_store_set_limits(fix->store, &limits);
    assert_ok(fix, vcm_relimit_shrink(fix->store, NULL, &fix->err));
    struct vcm_page_cache_frame frame;
    struct vcm_kv_txn *txn = read_begin(fix);
    assert_ok(fix, vcm_page_cache_read(&frame, cache, txn, &id, &fix->err));
    vcm_page_cache_release(&frame);
    vcm_kv_handle_read_end(txn);
    vcm_page_cache_flush(cache);
    struct vcm_view *first = view(fix, cache, 1);
    assert_true(vcm_view_is_in_place(first));
    assert_int_equal(vcm_view_open(&second, cache, &id, VCM_VIEW_BUSY, &fix->err), VCM_STORE_BUSY);
    assert_null(second);
    vcm_error_reset(&fix->err);
    assert_ok(fix, vcm_view_open(&second, cache, &id, VCM_VIEW_COPY, &fix->err));
    assert_false(vcm_view_is_in_place(second));
    assert_bytes(second, 1);
    vcm_view_release(second);
    vcm_view_release(first);
    vcm_page_cache_close(cache);
}

static void a_view_outlives_its_store(void **state)
{
    struct fixture *fix = *state;

    map_numbers(fix, "s", 0, 2);
    struct vcm_page_cache *cache = open_cache(fix);
    struct vcm_view *held = view(fix, cache, 1);
    vcm_page_cache_close(cache);
    close_store(fix);
    open_store(fix);
    assert_int_equal(send_down(fix, 1, VCM_PAGE_EVICTED).hindrance, VCM_PIN_VIEWED);
    assert_bytes(held, 1);
    vcm_view_release(held);
    assert_int_equal(send_down(fix, 1, VCM_PAGE_EVICTED).after, VCM_PAGE_EVICTED);
}

static bool knows(struct vcm_page_cache *cache, unsigned number)
{
    struct vcm_page_id id = id_of_number(number);
    struct vcm_slice frame;

    return vcm_frame_memo_find(&frame, vcm_page_cache_memo(cache), &id);
}

static void a_place_is_remembered_until_a_frame_has_gone(void **state)
{
    struct fixture *fix = *state;

    map_numbers(fix, "s", 0, 4);
    struct vcm_page_cache *cache = open_cache(fix);
    struct vcm_view *first = view(fix, cache, 1);
    assert_true(knows(cache, 1));
    map_numbers(fix, "t", 10, 4); /* moves nothing */
    struct vcm_view *again = view(fix, cache, 1);
    assert_true(vcm_view_is_in_place(again));
    assert_ptr_equal(vcm_view_bytes(again).data, vcm_view_bytes(first).data);
    assert_int_equal(vcm_view_bytes(again).len, vcm_view_bytes(first).len);
    vcm_view_release(first);
    assert_int_equal(send_down(fix, 1, VCM_PAGE_COMPRESSED).hindrance, VCM_PIN_VIEWED);
    vcm_view_release(again);
    assert_int_equal(send_down(fix, 1, VCM_PAGE_COMPRESSED).after, VCM_PAGE_COMPRESSED);
    map_numbers(fix, "u", 20, 8); /* over what was freed */
    again = view(fix, cache, 1);
    assert_false(vcm_view_is_in_place(again));
    assert_bytes(again, 1);
    vcm_view_release(again);
    again = view(fix, cache, 2);
    assert_true(vcm_view_is_in_place(again));
    assert_bytes(again, 2);
    vcm_view_release(again);
    assert_false(knows(cache, 1));
    vcm_page_cache_close(cache);
}

static void a_page_that_is_gone_is_not_found_where_it_lay(void **state)
{
    struct fixture *fix = *state;
    struct vcm_page_id id = id_of_number(1);
    struct vcm_view *held;

    map_numbers(fix, "s", 0, 3);
    struct vcm_page_cache *cache = open_cache(fix);
    vcm_view_release(view(fix, cache, 1));
    assert_ok(fix, vcm_mapping_drop_scope(fix->store, text("s"), NULL, &fix->err));
    assert_true(knows(cache, 1));
    assert_int_equal(vcm_view_open(&held, cache, &id, VCM_VIEW_BUSY, &fix->err), VCM_NOT_FOUND);
    assert_null(held);
    vcm_page_cache_close(cache);
}

/* A read that began before a frame went sees it, and must not be believed afterwards. */
static void what_an_old_transaction_finds_is_not_remembered(void **state)
{
    struct fixture *fix = *state;
    struct vcm_page_id id = id_of_number(1);
    struct vcm_page_cache_frame frame;

    map_numbers(fix, "s", 0, 3);
    struct vcm_page_cache *cache = open_cache(fix);
    struct vcm_kv_txn *txn = read_begin(fix);
    assert_int_equal(send_down(fix, 1, VCM_PAGE_COMPRESSED).after, VCM_PAGE_COMPRESSED);
    assert_ok(fix, vcm_page_cache_read(&frame, cache, txn, &id, &fix->err));
    assert_null(frame.memory); /* in place, as this transaction has it */
    vcm_kv_handle_read_end(txn);
    assert_false(knows(cache, 1));
    struct vcm_view *held = view(fix, cache, 1);
    assert_false(vcm_view_is_in_place(held));
    vcm_view_release(held);
    vcm_page_cache_close(cache);
}

static void who_is_not_told_of_departures_remembers_nothing(void **state)
{
    struct fixture *fix = *state;
    char *shm = test_repo_path(&fix->disk, "residency");

    map_numbers(fix, "s", 0, 3);
    close_store(fix);
    assert_int_equal(unlink(shm), 0);
    assert_int_equal(mkdir(shm, 0700), 0); /* nothing that could be mapped */
    open_store(fix);
    struct vcm_page_cache *cache = open_cache(fix);
    struct vcm_view *held = view(fix, cache, 1);
    assert_false(vcm_view_is_in_place(held));
    assert_false(knows(cache, 1));
    vcm_view_release(held);
    vcm_page_cache_close(cache);
    close_store(fix);
    assert_int_equal(rmdir(shm), 0);
    free(shm);
    open_store(fix);
}

/* Threads that view pages, keep some of their views for each other, and compare. */
struct crowd {
    struct fixture *fix;
    struct vcm_buf frames[PAGES_VIEWED];
    struct vcm_page_id ids[PAGES_VIEWED];
    _Atomic(struct vcm_view *) mailboxes[MAILBOXES];
    atomic_bool done;
    atomic_uint in_place;
    atomic_uint wrong;
};

/* Whether the bytes are those of some page of the crowd. */
static bool is_right(const struct crowd *crowd, const struct vcm_view *view)
{
    struct vcm_slice bytes = vcm_view_bytes(view);
    bool found = false;

    for (unsigned i = 0; i < PAGES_VIEWED && !found; i++)
        found = vcm_slice_equal(bytes, vcm_buf_slice(&crowd->frames[i]));
    return found;
}

static void *view_and_compare(void *argument)
{
    static atomic_uint seeds;
    struct crowd *crowd = argument;
    uint64_t random = atomic_fetch_add(&seeds, 1);
    struct vcm_page_cache *cache;

    if (vcm_page_cache_open(&cache, crowd->fix->store, NULL) != VCM_OK) {
        atomic_fetch_add(&crowd->wrong, 1);
        return NULL;
    }
    while (!atomic_load(&crowd->done)) {
        unsigned number = test_random_below(&random, PAGES_VIEWED);
        struct vcm_view *view;
        if (vcm_view_open(&view, cache, &crowd->ids[number], VCM_VIEW_COPY, NULL) != VCM_OK) {
            atomic_fetch_add(&crowd->wrong, 1);
            continue;
        }
        bool right = vcm_slice_equal(vcm_view_bytes(view), vcm_buf_slice(&crowd->frames[number]));
        atomic_fetch_add(&crowd->wrong, !right);
        atomic_fetch_add(&crowd->in_place, vcm_view_is_in_place(view));
        if (test_random_below(&random, 4) == 0)
            view = atomic_exchange(&crowd->mailboxes[test_random_below(&random, MAILBOXES)], view);
        if (view)
            atomic_fetch_add(&crowd->wrong, !is_right(crowd, view));
        vcm_view_release(view);
    }
    vcm_page_cache_close(cache);
    return NULL;
}

/* Pages go and come back, others are written over them, the file is replaced. */
static void stir(struct fixture *fix, struct vcm_page_cache *cache, unsigned round)
{
    struct vcm_kv_compacted compacted;

    for (unsigned i = 0; i < 4; i++) {
        unsigned number = (round * 5 + i * 7) % PAGES_VIEWED;
        send_down(fix, number, VCM_PAGE_COMPRESSED);
        struct vcm_view *back = view(fix, cache, (number + 11) % PAGES_VIEWED);
        assert_bytes(back, (number + 11) % PAGES_VIEWED);
        vcm_view_release(back);
    }
    vcm_page_cache_flush(cache);
    if (round % 8 == 0)
        map_numbers(fix, "other", 1000 + round, 4);
    if (round % 16 == 15)
        assert_ok(fix, vcm_kv_compact(&compacted, fix->store->kv, VCM_LIMIT_LOCK_TIMEOUT_MS, NULL,
                                      &fix->err));
}

static void views_of_many_threads_stay_what_they_are_beside_an_evicting_writer(void **state)
{
    struct fixture *fix = *state;
    struct crowd crowd = {.fix = fix};
    pthread_t threads[THREADS];

    map_numbers(fix, "s", 0, PAGES_VIEWED);
    struct vcm_page_cache *cache = open_cache(fix);
    for (unsigned i = 0; i < PAGES_VIEWED; i++) {
        struct vcm_view *held = view(fix, cache, i);
        crowd.ids[i] = id_of_number(i);
        vcm_buf_init(&crowd.frames[i], VCM_MIB);
        vcm_buf_append_slice(&crowd.frames[i], vcm_view_bytes(held));
        assert_bytes(held, i);
        vcm_view_release(held);
    }
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, view_and_compare, &crowd), 0);
    for (unsigned i = 0; i < ROUNDS && atomic_load(&crowd.wrong) == 0; i++)
        stir(fix, cache, i);
    atomic_store(&crowd.done, true);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < MAILBOXES; i++) {
        struct vcm_view *left = atomic_load(&crowd.mailboxes[i]);
        assert_true(!left || is_right(&crowd, left));
        vcm_view_release(left);
    }
    for (unsigned i = 0; i < PAGES_VIEWED; i++)
        vcm_buf_release(&crowd.frames[i]);
    assert_int_equal(atomic_load(&crowd.wrong), 0);
    assert_true(atomic_load(&crowd.in_place) > 0);
    vcm_page_cache_close(cache);
}

/* Opens a view of page 1, says so, waits, and dies with it. */
static int run_role(const char *directory)
{
    struct vcm_page_id id = id_of_number(1);
    struct vcm_page_store *store;
    struct vcm_page_cache *cache;
    struct vcm_view *held;
    char byte;

    if (vcm_page_store_open(
            &store, &(struct vcm_page_store_options){.directory = directory, .read_only = true},
            NULL) != VCM_OK ||
        vcm_page_cache_open(&cache, store, NULL) != VCM_OK ||
        vcm_view_open(&held, cache, &id, VCM_VIEW_BUSY, NULL) != VCM_OK || write(1, "!", 1) != 1)
        return 1;
    while (read(0, &byte, 1) > 0)
        continue;
    return 0;
}

static void views_of_other_processes_count_until_they_die(void **state)
{
    struct fixture *fix = *state;
    int in[2], out[2], status;
    char byte;

    map_numbers(fix, "s", 0, 3);
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execl(program, program, "view", fix->disk.path, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    assert_int_equal(read(out[0], &byte, 1), 1);
    assert_int_equal(send_down(fix, 1, VCM_PAGE_EVICTED).hindrance, VCM_PIN_VIEWED);
    close(in[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    close(out[0]);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(send_down(fix, 1, VCM_PAGE_EVICTED).after, VCM_PAGE_EVICTED);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(a_view_lasts_over_a_thousand_commits_a_gc_and_growth),
        STORE_TEST(what_is_viewed_does_not_go),
        STORE_TEST(a_page_that_nobody_holds_stays_while_it_is_viewed),
        STORE_TEST(views_are_bounded_by_the_capacity),
        STORE_TEST(a_view_outlives_its_store),
        STORE_TEST(a_place_is_remembered_until_a_frame_has_gone),
        STORE_TEST(a_page_that_is_gone_is_not_found_where_it_lay),
        STORE_TEST(what_an_old_transaction_finds_is_not_remembered),
        STORE_TEST(who_is_not_told_of_departures_remembers_nothing),
        STORE_TEST(views_of_many_threads_stay_what_they_are_beside_an_evicting_writer),
        STORE_TEST(views_of_other_processes_count_until_they_die),
    };
    if (argc == 3)
        _exit(run_role(argv[2]));
    program = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
