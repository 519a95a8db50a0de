#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/random.h"
#include "tests/vcm/evict_model.h"
#include "vcm/residency/evict.h"

#include "base/banned.h"

/* Memory of exactly the size, so that the sanitizer sees what goes past it. */
static void *make_memory(size_t bytes)
{
    void *memory = NULL;

    assert_int_equal(posix_memalign(&memory, 64, bytes), 0);
    memset(memory, 0xa5, bytes);
    return memory;
}

static void make_set(struct vcm_evict *set, uint32_t capacity, enum vcm_evict_policy policy)
{
    size_t bytes = vcm_evict_bytes(capacity);

    vcm_evict_init(set, make_memory(bytes), bytes, policy);
    assert_int_equal(set->capacity, capacity);
}

static void assert_sound(const struct vcm_evict *set)
{
    struct vcm_error err = {0};

    if (vcm_evict_check(set, &err) != VCM_OK)
        fail_msg("%s", err.message);
}

struct twins {
    struct vcm_evict set;
    struct model *model;
    uint64_t seed;
    uint64_t bytes_max;
    unsigned victims;
};

static uint64_t bytes_in(const struct model *model)
{
    const struct model_list *lists[] = {&model->bulk, &model->spared, &model->small, &model->main};
    uint64_t bytes = 0;

    for (unsigned i = 0; i < 4; i++)
        for (unsigned j = 0; j < lists[i]->len; j++)
            bytes += lists[i]->pages[j].bytes;
    return bytes;
}

/* Both name the same victim, or none. */
static bool next_of_both(struct twins *t, uint64_t *tag)
{
    uint64_t expected = 0;
    bool has = model_next(t->model, &expected);

    assert_int_equal(vcm_evict_next(&t->set, tag), has);
    if (has)
        assert_int_equal(*tag, expected);
    t->victims += has;
    return has;
}

static void make_room(struct twins *t)
{
    uint64_t tag;

    while (bytes_in(t->model) > t->bytes_max && next_of_both(t, &tag)) {
        if (test_random_below(&t->seed, 20) == 0) {
            vcm_evict_spare(&t->set, tag);
            model_spare(t->model, tag);
        } else {
            vcm_evict_remove(&t->set, tag);
            model_remove(t->model, tag);
        }
    }
    vcm_evict_settle(&t->set);
    model_settle(t->model);
}

static void insert_both(struct twins *t, uint64_t tag, enum vcm_evict_place place)
{
    uint64_t bytes = 1 + test_random_below(&t->seed, 100);

    assert_int_equal(vcm_evict_insert(&t->set, tag, bytes, place), VCM_OK);
    model_insert(t->model, tag, bytes, place);
    make_room(t);
}

/* Small numbers come more often than large ones. */
static uint64_t any_tag(struct twins *t)
{
    unsigned bound = 1 + test_random_below(&t->seed, 300);

    return test_random_below(&t->seed, bound);
}

static void move_to_larger_memory(struct twins *t)
{
    struct vcm_evict larger;

    make_set(&larger, t->set.capacity + 7, vcm_evict_policy(&t->set));
    assert_int_equal(vcm_evict_copy(&larger, &t->set), VCM_OK);
    free(t->set.header);
    t->set = larger;
    t->model->has_candidate = false;
}

static void step(struct twins *t)
{
    uint64_t tag = any_tag(t);
    unsigned what = test_random_below(&t->seed, 1000);

    if (what < 800) {
        bool hit = model_touch(t->model, tag);
        assert_int_equal(vcm_evict_touch(&t->set, tag), hit);
        if (!hit)
            insert_both(t, tag, VCM_EVICT_HOT);
    } else if (what < 900) {
        insert_both(t, tag + (what % 2) * 300, VCM_EVICT_COLD);
    } else if (what < 950) {
        vcm_evict_remove(&t->set, tag);
        model_remove(t->model, tag);
    } else if (what < 980) {
        next_of_both(t, &tag);
    } else if (what < 998) {
        insert_both(t, tag, VCM_EVICT_HOT);
    } else {
        move_to_larger_memory(t);
    }
    assert_int_equal(vcm_evict_count(&t->set), model_count(t->model));
}

static void compare_with_model(enum vcm_evict_policy policy, uint64_t seed)
{
    struct twins t = {.seed = seed, .model = calloc(1, sizeof *t.model)};

    assert_non_null(t.model);
    print_message("%s, seed %llu\n", vcm_evict_policy_name(policy), (unsigned long long)seed);
    for (unsigned round = 0; round < 6; round++) {
        make_set(&t.set, 400, policy);
        model_init(t.model, policy);
        t.bytes_max = 200 + 2500 * round;
        for (unsigned i = 0; i < 4000; i++) {
            step(&t);
            if (i % 64 == 0)
                assert_sound(&t.set);
        }
        for (uint64_t tag; next_of_both(&t, &tag);) {
            vcm_evict_remove(&t.set, tag);
            model_remove(t.model, tag);
        }
        assert_int_equal(vcm_evict_count(&t.set), 0);
        assert_sound(&t.set);
        free(t.set.header);
    }
    assert_true(t.victims > 5000);
    free(t.model);
}

static void sieve_takes_the_victims_of_its_model(void **state)
{
    (void)state;
    compare_with_model(VCM_EVICT_SIEVE, 1);
}

static void s3fifo_takes_the_victims_of_its_model(void **state)
{
    (void)state;
    compare_with_model(VCM_EVICT_S3FIFO, 2);
}

static void lru_takes_the_victims_of_its_model(void **state)
{
    (void)state;
    compare_with_model(VCM_EVICT_LRU, 3);
}

static void lfu_takes_the_victims_of_its_model(void **state)
{
    (void)state;
    compare_with_model(VCM_EVICT_LFU, 4);
}

static void cold_pages_go_before_hot_ones_and_in_their_order(void **state)
{
    (void)state;
    for (enum vcm_evict_policy policy = VCM_EVICT_SIEVE; policy < VCM_EVICT_POLICY_END; policy++) {
        struct vcm_evict set;
        uint64_t tag;
        make_set(&set, 100, policy);
        for (uint64_t i = 0; i < 50; i++) {
            assert_int_equal(vcm_evict_insert(&set, i, 10, VCM_EVICT_HOT), VCM_OK);
            assert_int_equal(vcm_evict_insert(&set, 100 + i, 10, VCM_EVICT_COLD), VCM_OK);
        }
        for (uint64_t i = 0; i < 100; i++) {
            assert_true(vcm_evict_next(&set, &tag));
            assert_int_equal(tag, i < 50 ? 100 + i : i - 50);
            vcm_evict_remove(&set, tag);
        }
        assert_false(vcm_evict_next(&set, &tag));
        free(set.header);
    }
}

static void a_bulk_load_leaves_the_working_set_alone(void **state)
{
    (void)state;
    for (enum vcm_evict_policy policy = VCM_EVICT_SIEVE; policy < VCM_EVICT_POLICY_END; policy++) {
        struct vcm_evict set;
        uint64_t tag;
        make_set(&set, 300, policy);
        for (uint64_t i = 0; i < 100; i++)
            assert_int_equal(vcm_evict_insert(&set, i, 10, VCM_EVICT_HOT), VCM_OK);
        for (uint64_t i = 1000; i < 5000; i++) {
            assert_int_equal(vcm_evict_insert(&set, i, 10, VCM_EVICT_COLD), VCM_OK);
            assert_true(vcm_evict_touch(&set, i % 100));
            while (vcm_evict_count(&set) > 200 && vcm_evict_next(&set, &tag))
                vcm_evict_remove(&set, tag);
        }
        for (uint64_t i = 0; i < 100; i++)
            assert_true(vcm_evict_touch(&set, i));
        free(set.header);
    }
}

static void a_spared_page_is_not_named_again_before_it_is_settled(void **state)
{
    (void)state;
    for (enum vcm_evict_policy policy = VCM_EVICT_SIEVE; policy < VCM_EVICT_POLICY_END; policy++) {
        struct vcm_evict set;
        uint64_t tag;
        make_set(&set, 10, policy);
        for (uint64_t i = 0; i < 10; i++)
            assert_int_equal(vcm_evict_insert(&set, i, 10, i % 3 ? VCM_EVICT_HOT : VCM_EVICT_COLD),
                             VCM_OK);
        for (unsigned i = 0; i < 10; i++) {
            assert_true(vcm_evict_next(&set, &tag));
            vcm_evict_spare(&set, tag);
            assert_true(vcm_evict_touch(&set, tag));
        }
        assert_false(vcm_evict_next(&set, &tag));
        assert_int_equal(vcm_evict_count(&set), 10);
        vcm_evict_settle(&set);
        assert_true(vcm_evict_next(&set, &tag));
        assert_sound(&set);
        free(set.header);
    }
}

static void a_full_set_says_so_and_grows_by_copying(void **state)
{
    (void)state;
    for (enum vcm_evict_policy policy = VCM_EVICT_SIEVE; policy < VCM_EVICT_POLICY_END; policy++) {
        struct vcm_evict set;
        struct vcm_evict larger;
        uint64_t tag;
        make_set(&set, 5, policy);
        for (uint64_t i = 0; i < 5; i++)
            assert_int_equal(vcm_evict_insert(&set, i, 10, VCM_EVICT_HOT), VCM_OK);
        assert_int_equal(vcm_evict_insert(&set, 5, 10, VCM_EVICT_HOT), VCM_STORE_FULL);
        assert_int_equal(vcm_evict_insert(&set, 4, 12, VCM_EVICT_HOT), VCM_OK);
        make_set(&larger, 3, policy);
        assert_int_equal(vcm_evict_copy(&larger, &set), VCM_STORE_FULL);
        free(larger.header);
        make_set(&larger, 6, policy);
        assert_int_equal(vcm_evict_copy(&larger, &set), VCM_OK);
        assert_int_equal(vcm_evict_insert(&larger, 5, 10, VCM_EVICT_HOT), VCM_OK);
        assert_sound(&larger);
        assert_true(vcm_evict_next(&larger, &tag));
        assert_int_equal(tag, 0);
        free(larger.header);
        free(set.header);
    }
}

static void another_policy_takes_over_in_the_order_of_the_old_one(void **state)
{
    (void)state;
    for (enum vcm_evict_policy a = VCM_EVICT_SIEVE; a < VCM_EVICT_POLICY_END; a++)
        for (enum vcm_evict_policy b = VCM_EVICT_SIEVE; b < VCM_EVICT_POLICY_END; b++) {
            struct vcm_evict from;
            struct vcm_evict to;
            uint64_t tag;
            make_set(&from, 20, a);
            make_set(&to, 20, b);
            for (uint64_t i = 0; i < 20; i++)
                assert_int_equal(
                    vcm_evict_insert(&from, i, 10, i < 10 ? VCM_EVICT_HOT : VCM_EVICT_COLD),
                    VCM_OK);
            assert_int_equal(vcm_evict_copy(&to, &from), VCM_OK);
            assert_sound(&from);
            assert_sound(&to);
            for (uint64_t i = 0; i < 20; i++) {
                assert_true(vcm_evict_next(&to, &tag));
                assert_int_equal(tag, (i + 10) % 20);
                vcm_evict_remove(&to, tag);
            }
            free(from.header);
            free(to.header);
        }
}

static void another_process_finds_the_set_again(void **state)
{
    struct vcm_evict set;
    struct vcm_evict again;
    size_t bytes = vcm_evict_bytes(50);
    uint64_t tag;

    (void)state;
    make_set(&set, 50, VCM_EVICT_LFU);
    assert_int_equal(vcm_evict_insert(&set, 7, 10, VCM_EVICT_HOT), VCM_OK);
    assert_true(vcm_evict_attach(&again, set.header, bytes + 1000));
    assert_int_equal(vcm_evict_policy(&again), VCM_EVICT_LFU);
    assert_true(vcm_evict_touch(&again, 7));
    assert_true(vcm_evict_next(&again, &tag));
    assert_int_equal(tag, 7);
    assert_false(vcm_evict_attach(&again, set.header, bytes - 1));
    assert_false(vcm_evict_attach(&again, NULL, 0));
    memset(set.header, 0, bytes);
    assert_false(vcm_evict_attach(&again, set.header, bytes));
    free(set.header);
}

static void policies_have_the_names_of_the_configuration(void **state)
{
    static const char *const names[] = {"sieve", "s3fifo", "lru", "lfu"};
    enum vcm_evict_policy policy;

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        assert_true(vcm_evict_policy_of(&policy, names[i]));
        assert_string_equal(vcm_evict_policy_name(policy), names[i]);
    }
    assert_false(vcm_evict_policy_of(&policy, "random"));
    assert_null(vcm_evict_policy_name((enum vcm_evict_policy)0));
    assert_null(vcm_evict_policy_name(VCM_EVICT_POLICY_END));
}

struct toucher {
    const struct vcm_evict *set;
    atomic_bool stop;
    atomic_uint threads;
    atomic_ulong hits;
};

static void *touch_on(void *context)
{
    struct toucher *t = context;
    uint64_t seed = atomic_fetch_add(&t->threads, 1);

    while (!atomic_load(&t->stop))
        if (vcm_evict_touch(t->set, test_random_below(&seed, 600)))
            atomic_fetch_add_explicit(&t->hits, 1, memory_order_relaxed);
    return NULL;
}

/* Goes on until the others had their share, on however busy a machine. */
static void write_beside(struct vcm_evict *set, struct toucher *t)
{
    uint64_t seed = 11;
    uint64_t tag;

    for (unsigned i = 0; i < 10000 || atomic_load(&t->hits) < 10000; i++) {
        assert_int_equal(vcm_evict_insert(set, test_random_below(&seed, 600), 10,
                                          i % 5 ? VCM_EVICT_HOT : VCM_EVICT_COLD),
                         VCM_OK);
        while (vcm_evict_count(set) > 300) {
            assert_true(vcm_evict_next(set, &tag));
            vcm_evict_remove(set, tag);
        }
    }
}

static void touches_from_many_threads_do_not_disturb_the_writer(void **state)
{
    (void)state;
    for (enum vcm_evict_policy policy = VCM_EVICT_SIEVE; policy < VCM_EVICT_POLICY_END; policy++) {
        struct vcm_evict set;
        struct toucher toucher = {.set = &set};
        pthread_t threads[4];
        make_set(&set, 400, policy);
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, touch_on, &toucher), 0);
        write_beside(&set, &toucher);
        atomic_store(&toucher.stop, true);
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_sound(&set);
        free(set.header);
    }
}

static void use_everything(struct vcm_evict *set, uint64_t *seed)
{
    struct vcm_error err = {0};
    struct vcm_evict other;
    uint64_t tag;

    (void)vcm_evict_check(set, &err);
    for (unsigned i = 0; i < 60; i++) {
        tag = test_random_below(seed, 64);
        vcm_evict_touch(set, tag);
        vcm_evict_insert(set, tag, 10, i % 3 ? VCM_EVICT_HOT : VCM_EVICT_COLD);
        if (vcm_evict_next(set, &tag)) {
            if (i % 4 == 0)
                vcm_evict_spare(set, tag);
            else
                vcm_evict_remove(set, tag);
        }
        vcm_evict_remove(set, test_random_below(seed, 64));
        if (i % 16 == 0)
            vcm_evict_settle(set);
    }
    make_set(&other, 40, 1 + test_random_below(seed, 4));
    (void)vcm_evict_copy(&other, set);
    (void)vcm_evict_check(&other, &err);
    free(other.header);
}

static void memory_that_holds_anything_never_crashes(void **state)
{
    uint64_t seed = 12345;
    size_t bytes = vcm_evict_bytes(40);

    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (unsigned round = 0; round < 1200; round++) {
        struct vcm_evict set;
        make_set(&set, 40, 1 + round % 4);
        unsigned char *memory = (unsigned char *)set.header;
        uint64_t head[2];
        memcpy(head, memory, sizeof head); /* what attaching asks for: the rest is anything */
        for (size_t i = 0; i < bytes; i++) {
            unsigned what = test_random_below(&seed, 4);
            memory[i] = what == 0 ? (unsigned char)test_random(&seed) : what == 1 ? 0 : memory[i];
        }
        memcpy(memory, head, sizeof head);
        if (round % 2)
            memset(memory + 16, 0, 4); /* not known to be damaged */
        assert_true(vcm_evict_attach(&set, memory, bytes));
        use_everything(&set, &seed);
        free(memory);
    }
}

static void a_set_with_a_few_broken_bytes_never_crashes(void **state)
{
    uint64_t seed = 54321;
    size_t bytes = vcm_evict_bytes(40);
    unsigned seen = 0;

    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (unsigned round = 0; round < 2400; round++) {
        struct vcm_evict set;
        make_set(&set, 40, 1 + round % 4);
        unsigned char *memory = (unsigned char *)set.header;
        for (uint64_t i = 0; i < 45; i++) {
            uint64_t tag;
            vcm_evict_insert(&set, i, 10, i % 3 ? VCM_EVICT_HOT : VCM_EVICT_COLD);
            vcm_evict_touch(&set, i / 2);
            if (vcm_evict_count(&set) > 30 && vcm_evict_next(&set, &tag))
                vcm_evict_remove(&set, tag);
        }
        for (unsigned i = 1 + test_random_below(&seed, 5); i > 0; i--) {
            size_t at = 20 + test_random_below(&seed, (unsigned)bytes - 20);
            memory[at] = round % 8 < 4 ? (unsigned char)test_random(&seed)
                                       : (unsigned char)test_random_below(&seed, 64);
        }
        if (vcm_evict_attach(&set, memory, bytes)) {
            use_everything(&set, &seed);
            seen += vcm_evict_is_damaged(&set);
        }
        free(memory);
    }
    assert_true(seen > 50);
}

static void the_check_finds_what_is_broken(void **state)
{
    uint64_t seed = 777;
    unsigned tags_found = 0;

    (void)state;
    for (unsigned round = 0; round < 400; round++) {
        struct vcm_evict set;
        struct vcm_error err = {0};
        bool in_tag = round % 8 < 4;
        make_set(&set, 40, 1 + round % 4);
        for (uint64_t i = 0; i < 40; i++)
            assert_int_equal(vcm_evict_insert(&set, i, 10, i % 3 ? VCM_EVICT_HOT : VCM_EVICT_COLD),
                             VCM_OK);
        assert_sound(&set);
        unsigned char *nodes = (unsigned char *)set.nodes;
        size_t at = 32 * (size_t)test_random_below(&seed, 40);
        at += in_tag ? 0 : 24 + test_random_below(&seed, 4); /* the tag, or kind and size */
        nodes[at] = (unsigned char)(nodes[at] ^ (1 + test_random_below(&seed, 255)));
        int rc = vcm_evict_check(&set, &err);
        /* Another tag may by chance stand at a place where it is found. */
        if (in_tag)
            tags_found += rc == VCM_STORE_CORRUPT;
        else
            assert_int_equal(rc, VCM_STORE_CORRUPT);
        free(set.header);
    }
    assert_true(tags_found > 150);
}

/* An operation that looks at all pages would not come to an end here. */
static void fill_and_drain(enum vcm_evict_policy policy, unsigned count)
{
    struct vcm_evict set;
    uint64_t seed = 3;
    uint64_t tag;

    make_set(&set, count, policy);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(vcm_evict_insert(&set, test_random(&seed), 10000,
                                          i % 2 ? VCM_EVICT_HOT : VCM_EVICT_COLD),
                         VCM_OK);
    seed = 3;
    for (unsigned i = 0; i < count / 2; i++)
        assert_true(vcm_evict_touch(&set, test_random(&seed)));
    for (unsigned i = 0; i < count / 4 * 3; i++) {
        assert_true(vcm_evict_next(&set, &tag));
        vcm_evict_remove(&set, tag);
    }
    assert_int_equal(vcm_evict_count(&set), count / 4);
    assert_sound(&set);
    free(set.header);
}

static void a_million_pages_are_no_trouble(void **state)
{
    (void)state;
    fill_and_drain(VCM_EVICT_SIEVE, 1000000);
    fill_and_drain(VCM_EVICT_S3FIFO, 100000);
    fill_and_drain(VCM_EVICT_LRU, 100000);
    fill_and_drain(VCM_EVICT_LFU, 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sieve_takes_the_victims_of_its_model),
        cmocka_unit_test(s3fifo_takes_the_victims_of_its_model),
        cmocka_unit_test(lru_takes_the_victims_of_its_model),
        cmocka_unit_test(lfu_takes_the_victims_of_its_model),
        cmocka_unit_test(cold_pages_go_before_hot_ones_and_in_their_order),
        cmocka_unit_test(a_bulk_load_leaves_the_working_set_alone),
        cmocka_unit_test(a_spared_page_is_not_named_again_before_it_is_settled),
        cmocka_unit_test(a_full_set_says_so_and_grows_by_copying),
        cmocka_unit_test(another_policy_takes_over_in_the_order_of_the_old_one),
        cmocka_unit_test(another_process_finds_the_set_again),
        cmocka_unit_test(policies_have_the_names_of_the_configuration),
        cmocka_unit_test(touches_from_many_threads_do_not_disturb_the_writer),
        cmocka_unit_test(memory_that_holds_anything_never_crashes),
        cmocka_unit_test(a_set_with_a_few_broken_bytes_never_crashes),
        cmocka_unit_test(the_check_finds_what_is_broken),
        cmocka_unit_test(a_million_pages_are_no_trouble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
