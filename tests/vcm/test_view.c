/* A view stays what it was, whatever happens to the store. Other processes are this program again,
 * started with a role. */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store_fixture.h"
#include "vcm/lock.h"
#include "vcm/page_cache.h"
#include "vcm/pin.h"
#include "vcm/tables.h"
#include "vcm/view.h"

#include "base/banned.h"

#define CONTENT_BYTES 20000

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
    assert_ok(fix, vcm_mapping_remove(fix->store, text("s"), NULL, &fix->err));
    assert_int_equal(counts_of(fix).pages, 1);
    store_check(fix->disk.path, true);
    assert_bytes(held, 1);
    map_numbers(fix, "s", 1, 1); /* taken up again */
    vcm_view_release(held);
    assert_ok(fix, vcm_mapping_remove(fix->store, text("s"), NULL, &fix->err));
    assert_int_equal(counts_of(fix).pages, 0);

    map_numbers(fix, "s", 0, 3);
    held = view(fix, cache, 1);
    assert_ok(fix, vcm_mapping_remove(fix->store, text("s"), NULL, &fix->err));
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
    assert_ok(fix, vcm_page_cache_shrink(fix->store, NULL, &fix->err));
    struct vcm_page_cache_frame frame;
    struct vcm_kv_txn *txn = read_begin(fix);
    assert_ok(fix, vcm_page_cache_read(&frame, cache, txn, &id, &fix->err));
    vcm_page_cache_release(&frame);
    vcm_kv_read_end(txn);
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
        STORE_TEST(views_of_other_processes_count_until_they_die),
    };
    if (argc == 3)
        _exit(run_role(argv[2]));
    program = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
