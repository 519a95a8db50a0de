/* Faults as a user of the library has them: what comes in, what does not, and in which order. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "api/vcm.h"
#include "tests/support/repo.h"
#include "tests/support/store_check.h"

#include "base/banned.h"

#define PAGES_MAX   4000
#define READS_MAX   4000
#define THOUSAND    1000
#define STACK_BYTES ((size_t)512 * 1024)

/* A source of the test's own: `files` small files, or one long one. While its gate is closed
 * reading waits, and what was read is remembered in order. */
struct notes {
    unsigned files;
    bool is_long;
    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t changed;
    bool gate_closed;
    unsigned arrived; /* at the gate */
    unsigned reads;
    unsigned order[READS_MAX];
    unsigned asked; /* faults that the log told of */
};

struct fixture {
    struct vcm_log log;
    struct test_repo repo;
    char *home, *store;
    struct vcm *vcm;
    struct vcm_error err;
    struct notes notes;
    char (*ids)[41];
    const char **names;
    unsigned count;
};

static void assert_ok(const struct fixture *fix, int rc)
{
    if (rc != VCM_OK)
        fail_msg("%s: %s", vcm_error_code_name((enum vcm_code)rc), fix->err.message);
}

static int open_notes(void **source, void *context, const struct vcm_source_row *row,
                      struct vcm_error *err)
{
    (void)row;
    (void)err;
    *source = context;
    return VCM_OK;
}

static void close_notes(void *source)
{
    (void)source;
}

static int walk_notes(void *source, vcm_source_entry_fn visit, void *context, struct vcm_error *err)
{
    const struct notes *notes = source;
    int rc = VCM_OK;

    for (unsigned i = 0; rc == VCM_OK && i < notes->files; i++) {
        char path[32];
        size_t len = (size_t)snprintf(path, sizeof path, "d%02u/%05u", i / 100, i);
        rc = visit(context, &(struct vcm_source_entry){path, len, path, len}, err);
    }
    return rc;
}

static void pass_gate(struct notes *notes, unsigned file)
{
    pthread_mutex_lock(&notes->mutex);
    notes->arrived++;
    pthread_cond_broadcast(&notes->changed);
    while (notes->gate_closed)
        pthread_cond_wait(&notes->changed, &notes->mutex);
    if (notes->reads < READS_MAX)
        notes->order[notes->reads] = file;
    notes->reads++;
    pthread_mutex_unlock(&notes->mutex);
}

static void set_gate(struct notes *notes, bool closed)
{
    pthread_mutex_lock(&notes->mutex);
    notes->gate_closed = closed;
    notes->arrived = notes->reads = 0;
    pthread_cond_broadcast(&notes->changed);
    pthread_mutex_unlock(&notes->mutex);
}

/* Waits until a number of the notes is so large. */
static void await(struct notes *notes, const unsigned *number, unsigned least)
{
    pthread_mutex_lock(&notes->mutex);
    while (*number < least)
        pthread_cond_wait(&notes->changed, &notes->mutex);
    pthread_mutex_unlock(&notes->mutex);
}

static void count_asked(void *context, enum vcm_log_level level, const char *line)
{
    struct notes *notes = context;

    (void)level;
    if (!strstr(line, "are asked for"))
        return;
    pthread_mutex_lock(&notes->mutex);
    notes->asked++;
    pthread_cond_broadcast(&notes->changed);
    pthread_mutex_unlock(&notes->mutex);
}

static int read_notes(void *source, const struct vcm_source_entry *entry, vcm_source_text_fn write,
                      void *context, struct vcm_error *err)
{
    struct notes *notes = source;
    char line[64];
    int rc = VCM_OK;

    snprintf(line, sizeof line, "%.*s", (int)entry->path_len, entry->path);
    pass_gate(notes, (unsigned)strtoul(line + 4, NULL, 10)); /* behind "d00/" */

    for (unsigned i = 0; rc == VCM_OK && i < (notes->is_long ? 60000u : 20u); i++) {
        size_t len = (size_t)snprintf(line, sizeof line, "%.*s has %u\n", (int)entry->path_len,
                                      entry->path, i * i);
        rc = write(context, line, len, err);
    }
    return rc;
}

static int see_page(void *context, const struct vcm_page_entry *page, struct vcm_error *err)
{
    struct fixture *fix = context;

    (void)err;
    assert_true(fix->count < PAGES_MAX);
    snprintf(fix->ids[fix->count], sizeof fix->ids[0], "%s", page->page_id);
    fix->names[fix->count] = fix->ids[fix->count];
    fix->count++;
    return VCM_OK;
}

static const struct vcm_source_definition notes_type = {
    .name = "notes",
    .open = open_notes,
    .walk = walk_notes,
    .read = read_notes,
    .close = close_notes,
};

static struct vcm *open_handle(struct fixture *fix, unsigned workers)
{
    struct vcm_source_definition type = notes_type;
    struct vcm *vcm = NULL;

    type.context = &fix->notes;
    assert_ok(fix, vcm_open(&vcm,
                            &(struct vcm_open_options){
                                .home = fix->home, .log = &fix->log, .fault_workers = workers},
                            &fix->err));
    assert_ok(fix, vcm_register_source(vcm, &type, &fix->err));
    return vcm;
}

static void map_notes(struct fixture *fix)
{
    const struct vcm_mmap_config config = {.flush_threshold = 1, .flush_token_budget = 4000};
    const struct vcm_mmap_options options = {.scope_id = "notes",
                                             .origin_url = fix->repo.path,
                                             .source_type = "notes",
                                             .config = &config,
                                             .chunk_overlap_tokens = -1};
    struct vcm_map_result *result = NULL;
    char *cursor = NULL;

    assert_ok(fix, vcm_mmap_application_scope(&result, fix->vcm, &options, &fix->err));
    assert_int_equal(result->sources[0].status, VCM_STATUS_MAPPED);
    vcm_map_result_free(result);
    do {
        const struct vcm_pages_query query = {.scope = "notes", .cursor = cursor};
        char *next = NULL;
        assert_ok(fix, vcm_pages(&next, fix->vcm, &query, see_page, fix, &fix->err));
        free(cursor);
        cursor = next;
    } while (cursor);
}

static void send_all_down(struct fixture *fix, const char *target)
{
    struct vcm_evict_result evicted;

    assert_ok(fix, vcm_evict(&evicted, fix->vcm,
                             &(struct vcm_evict_query){.all = true, .target = target}, NULL, NULL,
                             &fix->err));
    assert_int_equal(evicted.pages_stayed, 0);
}

static int set_up(void **state, unsigned files, bool is_long, unsigned workers)
{
    struct fixture *fix = calloc(1, sizeof *fix);

    fix->ids = calloc(PAGES_MAX, sizeof *fix->ids);
    fix->names = calloc(PAGES_MAX, sizeof *fix->names);
    test_repo_init(&fix->repo);
    test_repo_write_text(&fix->repo, "x", "x\n");
    test_repo_commit(&fix->repo, "first");
    fix->home = test_repo_path(&fix->repo, ".git/home");
    fix->store = test_repo_path(&fix->repo, ".git/home/store");
    fix->notes.files = files;
    fix->notes.is_long = is_long;
    pthread_mutex_init(&fix->notes.mutex, NULL);
    pthread_cond_init(&fix->notes.changed, NULL);
    fix->log = (struct vcm_log){count_asked, &fix->notes, VCM_LOG_DEBUG};
    fix->vcm = open_handle(fix, workers);
    assert_ok(fix, vcm_config_set(fix->vcm, "tokenizer", "approx4", &fix->err));
    map_notes(fix);
    *state = fix;
    return 0;
}

static int set_up_many(void **state)
{
    return set_up(state, 3000, false, 0);
}

static int set_up_long(void **state)
{
    return set_up(state, 1, true, 0);
}

static int set_up_many_workers(void **state)
{
    return set_up(state, 3000, false, 3);
}

static int set_up_one_worker(void **state)
{
    return set_up(state, 10, false, 1);
}

static int set_up_workers(void **state)
{
    return set_up(state, 10, false, 3);
}

static int tear_down(void **state)
{
    struct fixture *fix = *state;

    vcm_close(fix->vcm);
    store_check(fix->store, true);
    test_repo_release(&fix->repo);
    pthread_cond_destroy(&fix->notes.changed);
    pthread_mutex_destroy(&fix->notes.mutex);
    free(fix->home);
    free(fix->store);
    free(fix->ids);
    free(fix->names);
    free(fix);
    return 0;
}

/* What a fault told. */
struct told {
    unsigned resident, without_error;
    enum vcm_code code; /* of the last error */
};

static int take_outcome(void *context, const struct vcm_page_outcome *page, struct vcm_error *err)
{
    struct told *told = context;

    (void)err;
    bool is_resident = strcmp(page->state, "resident") == 0;
    told->resident += is_resident;
    told->without_error += !page->error;
    if (page->error)
        told->code = page->error->code;
    return VCM_OK;
}

static struct told fault(struct fixture *fix, unsigned first, unsigned count)
{
    const struct vcm_fault_query query = {.pages = fix->names + first, .count = count};
    struct told told = {0};

    assert_ok(fix, vcm_fault(fix->vcm, &query, take_outcome, &told, &fix->err));
    return told;
}

static void three_thousand_pages_of_an_idle_home_all_come_in(void **state)
{
    struct fixture *fix = *state;

    assert_int_equal(fix->count, 3000);
    for (unsigned round = 0; round < 3; round++) {
        send_all_down(fix, round < 2 ? "compressed" : "evicted");
        struct told told = fault(fix, 0, fix->count);
        assert_int_equal(told.without_error, told.resident);
        assert_int_equal(told.resident, fix->count);
    }
}

static void a_fault_of_a_part_of_a_large_file_ends_resident(void **state)
{
    struct fixture *fix = *state;

    assert_true(fix->count > 50);
    assert_ok(fix, vcm_config_set(fix->vcm, "cache.capacity", "262144", &fix->err));
    for (unsigned i = 0; i < fix->count; i += 7) {
        send_all_down(fix, "evicted");
        struct told told = fault(fix, i, 1);
        assert_int_equal(told.resident, 1);
        assert_int_equal(told.without_error, 1);
    }
}

/* A thread that faults one page. */
struct asker {
    pthread_t thread;
    struct vcm *vcm;
    const char *page;
    unsigned priority;
    int rc;
    struct told told;
};

static void *ask(void *argument)
{
    struct asker *asker = argument;
    const struct vcm_fault_query query = {
        .pages = &asker->page, .count = 1, .priority = asker->priority};

    asker->rc = vcm_fault(asker->vcm, &query, take_outcome, &asker->told, NULL);
    return NULL;
}

static void start(struct asker *asker, struct fixture *fix, unsigned page, unsigned priority)
{
    pthread_attr_t small;

    *asker = (struct asker){.vcm = fix->vcm, .page = fix->names[page], .priority = priority};
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK_BYTES);
    assert_int_equal(pthread_create(&asker->thread, &small, ask, asker), 0);
    pthread_attr_destroy(&small);
}

static void join(struct asker *asker)
{
    pthread_join(asker->thread, NULL);
    assert_int_equal(asker->rc, VCM_OK);
    assert_int_equal(asker->told.resident, 1);
    assert_int_equal(asker->told.without_error, 1);
}

static void a_later_request_of_higher_priority_is_served_first(void **state)
{
    static const unsigned priorities[] = {0, 1, 5, 3, 5, 9};
    static const unsigned order[] = {0, 5, 2, 4, 3, 1};
    struct fixture *fix = *state;
    struct asker askers[6];

    send_all_down(fix, "evicted");
    set_gate(&fix->notes, true);
    for (unsigned i = 0; i < 6; i++) {
        start(&askers[i], fix, i, priorities[i]);
        await(&fix->notes, &fix->notes.asked, i + 1);
        await(&fix->notes, &fix->notes.arrived, 1); /* the first keeps the one worker busy */
    }
    assert_int_equal(fix->notes.arrived, 1);
    pthread_mutex_lock(&fix->notes.mutex);
    fix->notes.gate_closed = false;
    pthread_cond_broadcast(&fix->notes.changed);
    pthread_mutex_unlock(&fix->notes.mutex);
    for (unsigned i = 0; i < 6; i++)
        join(&askers[i]);
    assert_int_equal(fix->notes.reads, 6);
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(fix->notes.order[i], order[i]);
}

static void a_thousand_faults_of_one_page_at_a_time_read_it_once(void **state)
{
    struct fixture *fix = *state;
    struct asker *askers = calloc(THOUSAND, sizeof *askers);

    assert_non_null(askers);
    send_all_down(fix, "evicted");
    set_gate(&fix->notes, true);
    for (unsigned i = 0; i < THOUSAND; i++)
        start(&askers[i], fix, 3, i % 7);
    await(&fix->notes, &fix->notes.asked, THOUSAND);
    set_gate(&fix->notes, false);
    for (unsigned i = 0; i < THOUSAND; i++)
        join(&askers[i]);
    assert_int_equal(fix->notes.reads, 1);
    free(askers);
}

/* vcm_fault() of all threads, beside other calls of the handle in this one. */
static void faults_run_beside_other_calls_of_their_handle(void **state)
{
    struct fixture *fix = *state;
    struct asker askers[8];

    for (unsigned round = 0; round < 10; round++) {
        struct vcm_stat stat;
        send_all_down(fix, round % 2 ? "evicted" : "compressed");
        for (unsigned i = 0; i < 8; i++)
            start(&askers[i], fix, i, i);
        for (unsigned i = 0; i < 8; i++) {
            struct vcm_page *page = NULL;
            const struct vcm_page_query query = {.page = fix->names[i], .seq = -1};
            assert_ok(fix, vcm_page_open(&page, fix->vcm, &query, &fix->err));
            vcm_page_release(page);
        }
        assert_ok(fix, vcm_stat(&stat, fix->vcm, &fix->err));
        for (unsigned i = 0; i < 8; i++)
            pthread_join(askers[i].thread, NULL);
        for (unsigned i = 0; i < 8; i++)
            assert_int_equal(askers[i].rc, VCM_OK);
    }
}

/* The most that may be asked for at a time fits; one page more does not. */
static void what_does_not_fit_is_reported_and_the_rest_is_resident(void **state)
{
    struct fixture *fix = *state;

    send_all_down(fix, "evicted");
    assert_ok(fix, vcm_config_set(fix->vcm, "cache.capacity", "65536", &fix->err));
    struct told told = fault(fix, 0, fix->count);
    assert_true(told.resident > 50 && told.resident < fix->count);
    assert_int_equal(told.without_error, told.resident);
    assert_int_equal(told.code, VCM_STORE_FULL);
    told = fault(fix, 100, 50);
    assert_int_equal(told.without_error, 50);
    assert_int_equal(told.resident, 50);
}

static void too_many_workers_are_refused(void **state)
{
    struct vcm_error err = {0};
    struct vcm *vcm = NULL;

    (void)state;
    assert_int_equal(
        vcm_open(&vcm, &(struct vcm_open_options){.home = "x", .fault_workers = 65}, &err),
        VCM_INVALID_ARGUMENT);
    assert_null(vcm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(three_thousand_pages_of_an_idle_home_all_come_in,
                                        set_up_many_workers, tear_down),
        cmocka_unit_test_setup_teardown(what_does_not_fit_is_reported_and_the_rest_is_resident,
                                        set_up_many, tear_down),
        cmocka_unit_test_setup_teardown(a_later_request_of_higher_priority_is_served_first,
                                        set_up_one_worker, tear_down),
        cmocka_unit_test_setup_teardown(a_thousand_faults_of_one_page_at_a_time_read_it_once,
                                        set_up_workers, tear_down),
        cmocka_unit_test_setup_teardown(faults_run_beside_other_calls_of_their_handle,
                                        set_up_workers, tear_down),
        cmocka_unit_test(too_many_workers_are_refused),
        cmocka_unit_test_setup_teardown(three_thousand_pages_of_an_idle_home_all_come_in,
                                        set_up_many, tear_down),
        cmocka_unit_test_setup_teardown(a_fault_of_a_part_of_a_large_file_ends_resident,
                                        set_up_long, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
