#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "tests/support/random.h"
#include "vcm/residency/trace.h"

#include "base/banned.h"

static int read_text(struct vcm_trace **out, const char *text, struct vcm_error *err)
{
    memset(err, 0, sizeof *err);
    assert_int_equal(vcm_trace_open(out, err), VCM_OK);
    return vcm_trace_read(*out, vcm_slice_of_string(text), err);
}

static struct vcm_trace *make(const char *text)
{
    struct vcm_trace *trace;
    struct vcm_error err;

    assert_int_equal(read_text(&trace, text, &err), VCM_OK);
    return trace;
}

static uint64_t hits(const struct vcm_trace *trace, enum vcm_evict_policy policy, uint64_t capacity)
{
    struct vcm_trace_result result;
    struct vcm_error err = {0};

    assert_int_equal(vcm_trace_replay(&result, trace, policy, capacity, NULL, &err), VCM_OK);
    assert_int_equal(result.capacity, capacity);
    assert_int_equal(result.accesses, vcm_trace_accesses(trace));
    return result.hits;
}

static uint64_t optimum(const struct vcm_trace *trace, uint64_t capacity)
{
    struct vcm_trace_result result;
    struct vcm_error err = {0};

    assert_int_equal(vcm_trace_optimum(&result, trace, capacity, NULL, &err), VCM_OK);
    return result.hits;
}

static void a_line_is_milliseconds_page_and_bytes(void **state)
{
    struct vcm_trace *trace = make("# a comment\n"
                                   "0 0123456789012345678901234567890123456789 100\n"
                                   "\n"
                                   "17\tffffffffffffffffffffffffffffffffffffffff\t50\r\n"
                                   "18, 0123456789012345678901234567890123456789, 100\n"
                                   "18 some-page 7");

    (void)state;
    assert_int_equal(vcm_trace_accesses(trace), 4);
    assert_int_equal(vcm_trace_pages(trace), 3);
    assert_int_equal(vcm_trace_bytes(trace), 157);
    vcm_trace_close(trace);
}

static void a_recorded_access_is_read_again(void **state)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);
    struct vcm_page_id id;

    (void)state;
    memset(&id, 0xab, sizeof id);
    vcm_trace_put(&text, UINT64_C(1790000000123), &id, 4096);
    assert_string_equal(vcm_buf_text(&text),
                        "1790000000123 abababababababababababababababababababab 4096\n");
    struct vcm_trace *trace = make(vcm_buf_text(&text));
    assert_int_equal(vcm_trace_accesses(trace), 1);
    assert_int_equal(vcm_trace_bytes(trace), 4096);
    vcm_trace_close(trace);
    vcm_buf_release(&text);
}

static void a_bad_line_is_named(void **state)
{
    static const char *const bad[] = {
        "1 a 1\nx a 1\n",
        "1 a 1\n1 a\n",
        "1 a 1\n1\n",
        "1 a 1\n   \n",
        "1 a 1\n1 a -1\n",
        "1 a 1\n1 a 1 1\n",
        "1 a 1\n1 a 1e9\n",
        "1 a 1\n99999999999999999999 a 1\n",
        "1 a 1\n1 a 99999999999\n",
        "1 a 1\n1 a 18446744073709551616\n",
        "1 a 1\n1 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 1\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct vcm_trace *trace;
        struct vcm_error err;
        assert_int_equal(read_text(&trace, bad[i], &err), VCM_INVALID_ARGUMENT);
        assert_non_null(strstr(err.message, "line 2 "));
        assert_int_equal(vcm_trace_accesses(trace), 1);
        vcm_trace_close(trace);
    }
}

static void an_empty_trace_has_no_hits(void **state)
{
    struct vcm_trace *trace = make("");

    (void)state;
    assert_int_equal(hits(trace, VCM_EVICT_DEFAULT, 100), 0);
    assert_int_equal(optimum(trace, 100), 0);
    vcm_trace_close(trace);
}

/* a b c a b c ... with room for two: LRU always throws away what comes next. */
static void a_loop_that_does_not_fit_defeats_lru_and_not_the_optimum(void **state)
{
    struct vcm_trace *trace = make("1 a 10\n2 b 10\n3 c 10\n4 a 10\n5 b 10\n6 c 10\n"
                                   "7 a 10\n8 b 10\n9 c 10\n");

    (void)state;
    assert_int_equal(hits(trace, VCM_EVICT_LRU, 20), 0);
    assert_int_equal(hits(trace, VCM_EVICT_LRU, 29), 0);
    assert_int_equal(hits(trace, VCM_EVICT_LRU, 30), 6);
    assert_int_equal(optimum(trace, 20), 4); /* a and b stay, c is let through */
    assert_int_equal(optimum(trace, 30), 6);
    assert_int_equal(optimum(trace, 9), 0);
    vcm_trace_close(trace);
}

static void bytes_are_counted_beside_accesses(void **state)
{
    struct vcm_trace *trace = make("1 a 30\n2 b 10\n3 a 30\n4 huge 1000\n5 b 10\n6 a 30\n");
    struct vcm_trace_result result;
    struct vcm_error err = {0};

    (void)state;
    for (enum vcm_evict_policy i = VCM_EVICT_SIEVE; i < VCM_EVICT_POLICY_END; i++) {
        assert_int_equal(vcm_trace_replay(&result, trace, i, 40, NULL, &err), VCM_OK);
        assert_int_equal(result.hits, 3);
        assert_int_equal(result.hit_bytes, 70);
        assert_int_equal(result.bytes, 1110);
        assert_true(result.hit_ratio == 0.5);
        assert_true(result.byte_hit_ratio == 70.0 / 1110.0);
    }
    vcm_trace_close(trace);
}

static struct vcm_trace *make_random(uint64_t *seed, unsigned accesses, unsigned pages, bool equal)
{
    struct vcm_buf text = VCM_BUF_INIT(16 * VCM_MIB);
    struct vcm_trace *trace;

    for (unsigned i = 0; i < accesses; i++) {
        unsigned page = test_random_below(seed, 1 + test_random_below(seed, pages));
        vcm_buf_append_format(&text, "%u %040x %u\n", i, page, equal ? 10 : 1 + page * 7 % 31);
    }
    trace = make(vcm_buf_text(&text));
    vcm_buf_release(&text);
    return trace;
}

/* The most hits that any choice of victims can give, by trying all of them. */
static unsigned best(const unsigned *accesses, unsigned len, unsigned resident, unsigned room)
{
    unsigned most = 0;

    if (len == 0)
        return 0;
    unsigned page = 1u << accesses[0];
    if (resident & page)
        return 1 + best(accesses + 1, len - 1, resident, room);
    most = best(accesses + 1, len - 1, resident, room);
    if ((unsigned)__builtin_popcount(resident) < room)
        return best(accesses + 1, len - 1, resident | page, room);
    for (unsigned i = 0; i < 5; i++)
        if (resident & 1u << i) {
            unsigned with = best(accesses + 1, len - 1, (resident & ~(1u << i)) | page, room);
            most = with > most ? with : most;
        }
    return most;
}

static void the_optimum_is_the_best_of_all_choices(void **state)
{
    uint64_t seed = 4711;

    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (unsigned round = 0; round < 200; round++) {
        unsigned accesses[12];
        char text[12 * 8 + 1] = "";
        for (unsigned i = 0; i < 12; i++) {
            accesses[i] = test_random_below(&seed, 5);
            snprintf(text + strlen(text), sizeof text - strlen(text), "%u %u 1\n", i % 10,
                     accesses[i]);
        }
        struct vcm_trace *trace = make(text);
        for (unsigned room = 1; room < 5; room++)
            assert_int_equal(optimum(trace, room), best(accesses, 12, 0, room));
        vcm_trace_close(trace);
    }
}

static void no_policy_beats_the_optimum_on_pages_of_one_size(void **state)
{
    uint64_t seed = 31;

    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (unsigned round = 0; round < 20; round++) {
        struct vcm_trace *trace = make_random(&seed, 3000, 200, true);
        for (uint64_t capacity = 5; capacity < 3000; capacity = capacity * 2 + 3) {
            uint64_t most = optimum(trace, capacity);
            for (enum vcm_evict_policy i = VCM_EVICT_SIEVE; i < VCM_EVICT_POLICY_END; i++)
                assert_true(hits(trace, i, capacity) <= most);
        }
        assert_true(optimum(trace, 500) > 0);
        vcm_trace_close(trace);
    }
}

static void with_room_for_all_only_first_accesses_miss(void **state)
{
    uint64_t seed = 32;
    struct vcm_trace *trace = make_random(&seed, 5000, 300, false);
    uint64_t expected = vcm_trace_accesses(trace) - vcm_trace_pages(trace);

    (void)state;
    for (enum vcm_evict_policy i = VCM_EVICT_SIEVE; i < VCM_EVICT_POLICY_END; i++)
        assert_int_equal(hits(trace, i, vcm_trace_bytes(trace)), expected);
    assert_int_equal(optimum(trace, vcm_trace_bytes(trace)), expected);
    vcm_trace_close(trace);
}

static void a_replay_can_be_interrupted(void **state)
{
    struct vcm_trace *trace = make("1 a 1\n");
    struct vcm_trace_result result;
    struct vcm_cancel cancel = {true};
    struct vcm_error err = {0};

    (void)state;
    assert_int_equal(vcm_trace_replay(&result, trace, VCM_EVICT_LRU, 9, &cancel, &err),
                     VCM_INTERRUPTED);
    vcm_error_reset(&err);
    assert_int_equal(vcm_trace_optimum(&result, trace, 9, &cancel, &err), VCM_INTERRUPTED);
    vcm_trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_milliseconds_page_and_bytes),
        cmocka_unit_test(a_recorded_access_is_read_again),
        cmocka_unit_test(a_bad_line_is_named),
        cmocka_unit_test(an_empty_trace_has_no_hits),
        cmocka_unit_test(a_loop_that_does_not_fit_defeats_lru_and_not_the_optimum),
        cmocka_unit_test(bytes_are_counted_beside_accesses),
        cmocka_unit_test(the_optimum_is_the_best_of_all_choices),
        cmocka_unit_test(no_policy_beats_the_optimum_on_pages_of_one_size),
        cmocka_unit_test(with_room_for_all_only_first_accesses_miss),
        cmocka_unit_test(a_replay_can_be_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
