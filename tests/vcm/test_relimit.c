/* Limits that change under a store in use. */
#include "tests/vcm/store_fixture.h"

#include "base/kv_lock.h"
#include "vcm/residency/pin.h"
#include "vcm/mapping/relimit.h"
#include "vcm/store/table.h"

#include "base/banned.h"

#define PAGE_COUNT  12
#define PAGE_LENGTH 3000

/* Where the limits of these tests are kept, and how often they were asked for. */
struct settings {
    struct vcm_page_store_limits limits, next;
    unsigned reads, publications;
    bool is_broken;
    struct fixture *fix;
};

static struct settings settings;

static int read_settings(void *context, struct vcm_page_store_limits *out, struct vcm_error *err)
{
    struct settings *kept = context;

    kept->reads++;
    if (kept->is_broken)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "the settings are broken");
    *out = kept->limits;
    return VCM_OK;
}

/* Another handle of the store cannot write meanwhile. */
static int publish_settings(void *context, struct vcm_error *err)
{
    struct settings *kept = context;
    struct vcm_error busy = {0};
    struct vcm_kv_lock lock;
    char *path = test_repo_path(&kept->fix->disk, "writer.lock");

    assert_int_equal(vcm_kv_lock_take(&lock, path, 0, NULL, NULL, &busy), VCM_STORE_BUSY);
    free(path);
    (void)err;
    kept->publications++;
    kept->limits = kept->next;
    return VCM_OK;
}

static int set_up(void **state)
{
    fixture_setup(state);
    struct fixture *fix = *state;
    settings = (struct settings){
        .limits = {.capacity = VCM_MIB, .compressed_capacity = VCM_MIB, .tokenizer = "approx4"},
        .fix = fix};
    close_store(fix);
    fix->options.read_limits = read_settings;
    fix->options.read_limits_context = &settings;
    open_store(fix);
    return 0;
}

static void content_of(char out[PAGE_LENGTH + 1], unsigned i)
{
    for (unsigned at = 0; at < PAGE_LENGTH; at++)
        out[at] = (char)('a' + (at * (i + 3) + at / 7) % 26);
    out[PAGE_LENGTH] = '\0';
}

static void map_scope(struct fixture *fix, const char *scope_id)
{
    char content[PAGE_LENGTH + 1];
    struct vcm_mapping *mapping = begin(fix, scope_id);
    struct vcm_scope scope = {.scope_id = text(scope_id)};
    struct vcm_mapping_result result;

    for (unsigned i = 0; i < PAGE_COUNT; i++) {
        content_of(content, i);
        assert_ok(fix, add_page(mapping, &scope, content, &fix->err));
    }
    assert_ok(fix, vcm_mapping_commit(mapping, &scope, &result, &fix->err));
}

static int change(struct fixture *fix, uint64_t capacity, uint64_t compressed_capacity)
{
    settings.next = settings.limits;
    settings.next.capacity = capacity;
    settings.next.compressed_capacity = compressed_capacity;
    return vcm_relimit_capacity(fix->store, &settings.next, publish_settings, &settings, NULL,
                                &fix->err);
}

static int change_tokenizer(struct fixture *fix, const char *tokenizer)
{
    settings.next = settings.limits;
    snprintf(settings.next.tokenizer, sizeof settings.next.tokenizer, "%s", tokenizer);
    return vcm_relimit_tokenizer(fix->store, tokenizer, publish_settings, &settings, NULL,
                                 &fix->err);
}

static void assert_code(struct fixture *fix, int rc, enum vcm_code expected)
{
    assert_int_equal(rc, expected);
    vcm_error_reset(&fix->err);
}

static void every_write_reads_the_limits_once(void **state)
{
    struct fixture *fix = *state;
    struct vcm_page_id id;
    char content[PAGE_LENGTH + 1];
    bool changed;

    map_scope(fix, "a");
    content_of(content, 0);
    id = id_of(content);
    settings.reads = 0;
    assert_ok(fix, vcm_pin_page(&changed, fix->store, &id, text(""), true, NULL, &fix->err));
    assert_int_equal(settings.reads, 1);
    settings.limits.capacity = 100;
    assert_int_equal(vcm_relimit_shrink(fix->store, NULL, &fix->err), VCM_STORE_FULL);
    assert_int_equal(settings.reads, 2);
}

static void limits_are_published_when_the_store_keeps_them(void **state)
{
    struct fixture *fix = *state;

    map_scope(fix, "a");
    assert_ok(fix, change(fix, 4 * PAGE_LENGTH, 1000));
    assert_int_equal(settings.publications, 1);
    assert_int_equal(settings.limits.capacity, 4 * PAGE_LENGTH);
    assert_true(counts_of(fix).totals.resident_bytes <= 4 * PAGE_LENGTH);
    assert_true(counts_of(fix).totals.compressed_bytes <= 1000);
    assert_ok(fix, change(fix, VCM_MIB, VCM_MIB));
    assert_int_equal(settings.publications, 2);
}

static void limits_that_cannot_be_kept_are_not_published(void **state)
{
    struct fixture *fix = *state;
    char content[PAGE_LENGTH + 1];
    bool changed;

    map_scope(fix, "a");
    content_of(content, 0);
    struct vcm_page_id id = id_of(content);
    assert_ok(fix, vcm_pin_page(&changed, fix->store, &id, text(""), true, NULL, &fix->err));
    assert_code(fix, change(fix, 100, VCM_MIB), VCM_STORE_FULL);
    assert_int_equal(settings.publications, 0);
    settings.is_broken = true;
    assert_code(fix, change(fix, VCM_MIB, VCM_MIB), VCM_INVALID_ARGUMENT);
    assert_int_equal(settings.publications, 0);
}

static int fail_to_publish(void *context, struct vcm_error *err)
{
    (void)context;
    return vcm_error_set(err, VCM_IO_ERROR, "the settings cannot be written");
}

static void what_cannot_be_published_is_an_error(void **state)
{
    struct fixture *fix = *state;
    struct vcm_page_store_limits limits;

    settings.next = settings.limits;
    settings.next.capacity = 7 * PAGE_LENGTH;
    assert_int_equal(
        vcm_relimit_capacity(fix->store, &settings.next, fail_to_publish, NULL, NULL, &fix->err),
        VCM_IO_ERROR);
    assert_string_equal(fix->err.message, "the settings cannot be written");
    assert_ok(fix, vcm_page_store_read_limits(&limits, fix->store, NULL));
    assert_int_equal(limits.capacity, VCM_MIB);
    assert_int_equal(fix->store->limits.capacity, VCM_MIB);
}

static void nothing_is_written_without_the_limits(void **state)
{
    struct fixture *fix = *state;
    struct vcm_mapping *mapping;

    settings.is_broken = true;
    assert_int_equal(vcm_mapping_begin(&mapping, fix->store,
                                       &(struct vcm_mapping_options){.scope_id = text("a"),
                                                                     .tokenizer = "approx4"},
                                       &fix->err),
                     VCM_INVALID_ARGUMENT);
    assert_string_equal(fix->err.message, "the settings are broken");
    settings.is_broken = false;
    vcm_error_reset(&fix->err);
    map_scope(fix, "a");
}

static void a_first_mapping_has_the_tokenizer_in_force(void **state)
{
    struct fixture *fix = *state;
    struct vcm_mapping *mapping;

    assert_ok(fix, change_tokenizer(fix, "o200k_base"));
    assert_int_equal(vcm_mapping_begin(&mapping, fix->store,
                                       &(struct vcm_mapping_options){.scope_id = text("a"),
                                                                     .tokenizer = "approx4"},
                                       &fix->err),
                     VCM_STORE_BUSY);
    assert_null(mapping);
    vcm_error_reset(&fix->err);
    assert_ok(fix, change_tokenizer(fix, "approx4"));
    map_scope(fix, "a");
}

static void a_tokenizer_is_not_published_while_counts_of_another_are_there(void **state)
{
    struct fixture *fix = *state;

    struct vcm_mapping *mapping = begin(fix, "a");
    assert_code(fix, change_tokenizer(fix, "o200k_base"), VCM_STORE_BUSY);
    vcm_mapping_abort(mapping);
    map_scope(fix, "a");
    assert_code(fix, change_tokenizer(fix, "o200k_base"), VCM_INVALID_ARGUMENT);
    assert_int_equal(settings.publications, 0);
    assert_ok(fix, change_tokenizer(fix, "approx4"));
    assert_int_equal(settings.publications, 1);
}

#define RELIMIT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RELIMIT_TEST(every_write_reads_the_limits_once),
        RELIMIT_TEST(limits_are_published_when_the_store_keeps_them),
        RELIMIT_TEST(limits_that_cannot_be_kept_are_not_published),
        RELIMIT_TEST(what_cannot_be_published_is_an_error),
        RELIMIT_TEST(nothing_is_written_without_the_limits),
        RELIMIT_TEST(a_first_mapping_has_the_tokenizer_in_force),
        RELIMIT_TEST(a_tokenizer_is_not_published_while_counts_of_another_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
