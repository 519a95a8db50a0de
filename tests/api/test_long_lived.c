/* A process that lives long: it opens the store once, and faults and views pages for ever. */
#include <dirent.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "api/vcm.h"
#include "tests/api/handle_fixture.h"

#include "base/banned.h"

/* A long run has a million; under valgrind each costs a hundredfold. */
#define FAULTS_QUICK    20000u
#define FAULTS_VALGRIND 1500u
#define FAULTS_LONG     1000000u
/* Every so often a page is sent down before it is faulted, which costs two commits. */
#define TURNS_A_MISS 64
/* What the allocator may take more from the system, by the way that free pieces lie. */
#define RESIDENT_SLACK ((size_t)1 << 20)

#define PAGES_MAX 16

struct fixture {
    struct handle_fixture of;
    char pages[PAGES_MAX][41];
    size_t count;
};

static int keep_page_id(void *context, const struct vcm_page_entry *page, struct vcm_error *err)
{
    struct fixture *fix = context;

    (void)err;
    if (fix->count < PAGES_MAX)
        snprintf(fix->pages[fix->count++], sizeof fix->pages[0], "%s", page->page_id);
    return VCM_OK;
}

static void map(struct fixture *fix, struct vcm *vcm)
{
    const struct vcm_mmap_config config = {.flush_threshold = 1};
    const struct vcm_mmap_options options = {.scope_id = "s",
                                             .origin_url = fix->of.repo.path,
                                             .config = &config,
                                             .chunk_overlap_tokens = -1};
    struct vcm_map_result *result = NULL;

    if (vcm_mmap_application_scope(&result, vcm, &options, &fix->of.err) != VCM_OK)
        fail_msg("%s", fix->of.err.message);
    vcm_map_result_free(result);
}

static void list(struct fixture *fix)
{
    char *cursor = NULL;

    fix->count = 0;
    assert_int_equal(vcm_pages(&cursor, fix->of.vcm, &(struct vcm_pages_query){.scope = "s"},
                               keep_page_id, fix, &fix->of.err),
                     VCM_OK);
    free(cursor);
}

static int set_up(void **state)
{
    struct fixture *fix = calloc(1, sizeof *fix);

    test_repo_init(&fix->of.repo);
    for (int i = 0; i < 8; i++) {
        char name[32], text[64];
        snprintf(name, sizeof name, "f%d.c", i);
        snprintf(text, sizeof text, "int f%d;\n", i);
        test_repo_write_text(&fix->of.repo, name, text);
    }
    handle_fixture_open(&fix->of);
    map(fix, fix->of.vcm);
    list(fix);
    *state = fix;
    return 0;
}

static int count_fault(void *context, const struct vcm_page_outcome *page, struct vcm_error *err)
{
    (void)err;
    *(uint64_t *)context += page->error == NULL;
    return VCM_OK;
}

static bool runs_under_valgrind(void)
{
    const char *preloaded = getenv("LD_PRELOAD");
    return preloaded && strstr(preloaded, "vgpreload");
}

/* What a sanitizer or valgrind keeps of freed memory is not ours. */
static bool memory_is_watched(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#else
    return runs_under_valgrind();
#endif
}

static size_t count_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    size_t count = 0;

    assert_non_null(directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

/* Anonymous memory in use: the map of the store counts for itself. */
static size_t resident_bytes(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    size_t kib = 0;
    char line[256];

    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, "RssAnon:", 8) == 0)
            kib = strtoul(line + 8, NULL, 10);
    fclose(file);
    assert_int_not_equal(kib, 0);
    return kib * 1024;
}

/* Each turn: a view of a page, and a fault of it. */
static void work(struct fixture *fix, size_t turns)
{
    for (size_t i = 0; i < turns; i++) {
        const char *page = fix->pages[i % fix->count];
        struct vcm_page_view *view = NULL;
        struct vcm_evict_result evicted;
        uint64_t faulted = 0;
        assert_int_equal(vcm_page_view_open(&view, fix->of.vcm, page, &fix->of.err), VCM_OK);
        vcm_page_view_release(view);
        if (i % TURNS_A_MISS == 0)
            assert_int_equal(vcm_evict(&evicted, fix->of.vcm,
                                       &(struct vcm_evict_query){.pages = &page, .count = 1}, NULL,
                                       NULL, &fix->of.err),
                             VCM_OK);
        assert_int_equal(vcm_fault(fix->of.vcm,
                                   &(struct vcm_fault_query){.pages = &page, .count = 1},
                                   count_fault, &faulted, &fix->of.err),
                         VCM_OK);
        assert_int_equal(faulted, 1);
    }
}

static void faults_leave_nothing_behind(void **state)
{
    struct fixture *fix = *state;
    size_t turns = runs_under_valgrind()     ? FAULTS_VALGRIND
                   : getenv("VCM_TEST_LONG") ? FAULTS_LONG
                                             : FAULTS_QUICK;

    work(fix, turns / 4);
    size_t before = mallinfo2().uordblks, resident = resident_bytes();
    size_t descriptors = count_descriptors();
    work(fix, turns - turns / 4);
    size_t after = mallinfo2().uordblks;
    /* Less than a byte a turn: the trace, the queues and the tables have their size by now. */
    if (after > before)
        assert_in_range(after - before, 0, turns / 2);
    assert_int_equal(count_descriptors(), descriptors);
    if (!memory_is_watched())
        assert_in_range(resident_bytes(), 0, resident + RESIDENT_SLACK);
}

static void what_another_handle_maps_is_read_without_opening_again(void **state)
{
    struct fixture *fix = *state;
    const struct vcm_open_options options = {.home = fix->of.home};
    char former[41];
    struct vcm_page_view *held = NULL, *view = NULL;
    struct vcm *other = NULL;

    snprintf(former, sizeof former, "%s", fix->pages[0]);
    assert_int_equal(vcm_page_view_open(&held, fix->of.vcm, former, &fix->of.err), VCM_OK);
    char *text = strndup(held->data, held->bytes);
    test_repo_write_text(&fix->of.repo, "f0.c", "int changed;\n");
    test_repo_commit(&fix->of.repo, "second");
    assert_int_equal(vcm_open(&other, &options, &fix->of.err), VCM_OK);
    map(fix, other);

    list(fix);
    assert_string_not_equal(fix->pages[0], former);
    assert_int_equal(vcm_page_view_open(&view, fix->of.vcm, fix->pages[0], &fix->of.err), VCM_OK);
    assert_non_null(strstr(view->data, "changed"));
    vcm_page_view_release(view);
    assert_memory_equal(held->data, text, held->bytes);
    vcm_page_view_release(held);
    vcm_close(other);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(faults_leave_nothing_behind, set_up,
                                        handle_fixture_tear_down),
        cmocka_unit_test_setup_teardown(what_another_handle_maps_is_read_without_opening_again,
                                        set_up, handle_fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
