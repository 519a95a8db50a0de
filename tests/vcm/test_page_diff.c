#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "tests/support/random.h"
#include "vcm/mapping/page_diff.h"

#include "base/banned.h"

#define PAGES_MAX 64u
#define PATHS_MAX 4u

/* A table from "A:a,b B:c": pages with their paths; a page's letter is its id. */
struct table {
    struct vcm_page_diff_table table;
    struct vcm_page_diff_entry entries[PAGES_MAX];
    struct vcm_slice paths[PAGES_MAX][PATHS_MAX];
};

static struct table *table_of(const char *text)
{
    struct table *t = calloc(1, sizeof *t);

    t->table.entries = t->entries;
    while (*text) {
        struct vcm_page_diff_entry *entry = &t->entries[t->table.count];
        struct vcm_slice *paths = t->paths[t->table.count++];
        entry->id.bytes[0] = (unsigned char)*text++;
        entry->paths = paths;
        while (*text == ':' || *text == ',') {
            size_t len = strcspn(text + 1, ", ");
            paths[entry->path_count++] = vcm_slice_of(text + 1, len);
            text += 1 + len;
        }
        text += *text == ' ';
    }
    return t;
}

static int append_change(void *context, const struct vcm_page_change *change, struct vcm_error *err)
{
    static const char marks[] = {'+', '>', '-'};

    (void)err;
    vcm_buf_append_byte(context, marks[change->kind]);
    if (change->old)
        vcm_buf_append_byte(context, (char)change->old->id.bytes[0]);
    vcm_buf_append_byte(context, (char)change->page->id.bytes[0]);
    vcm_buf_append_byte(context, ' ');
    assert_int_equal(change->old != NULL, change->kind == VCM_PAGE_REPLACED);
    return VCM_OK;
}

static void assert_diff(const char *before, const char *after, const char *expected)
{
    struct table *a = table_of(before), *b = table_of(after);
    struct vcm_buf seen = VCM_BUF_INIT(4096);
    struct vcm_error err = {0};

    assert_int_equal(vcm_page_diff(&a->table, &b->table, append_change, &seen, &err), VCM_OK);
    assert_string_equal(vcm_buf_text(&seen), expected);
    vcm_buf_release(&seen);
    free(a);
    free(b);
}

static void equal_tables_have_no_changes(void **state)
{
    (void)state;
    assert_diff("", "", "");
    assert_diff("A:a B:b", "A:a B:b", "");
    assert_diff("A:a B:b", "B:b A:a", "");
}

static void pages_come_and_go(void **state)
{
    (void)state;
    assert_diff("", "A:a B:b", "+A +B ");
    assert_diff("A:a B:b", "", "-A -B ");
    assert_diff("A:a", "A:a B:b", "+B ");
    assert_diff("A:a B:b C:c", "B:b", "-A -C ");
    assert_diff("A:a", "B:b", "+B -A ");
}

static void a_page_with_a_path_of_a_dropped_one_replaces_it(void **state)
{
    (void)state;
    assert_diff("A:a B:b", "C:a B:b", ">AC ");
    assert_diff("A:a,b", "B:b,c", ">AB ");
    assert_diff("A:a B:b", "C:b D:a", ">BC >AD ");
    /* A path that stays in a page that stays is of no use. */
    assert_diff("A:a B:a,b", "A:a C:a", ">BC ");
}

static void the_first_free_one_in_the_old_order_is_taken(void **state)
{
    (void)state;
    assert_diff("A:a B:a C:a", "D:a E:a", ">AD >BE -C ");
    assert_diff("A:a B:a", "C:a D:a E:a", ">AC >BD +E ");
    /* The order of the old table counts, not that of the paths. */
    assert_diff("A:b B:a", "C:a,b", ">AC -B ");
    assert_diff("A:a B:b C:a,b", "D:b E:a F:b", ">BD >AE >CF ");
}

static void a_page_that_occurs_twice_counts_once(void **state)
{
    (void)state;
    assert_diff("A:a A:a", "B:a B:a", ">AB ");
    assert_diff("A:a", "A:a A:a", "");
    assert_diff("A:a A:a", "A:a", "");
    assert_diff("A:a B:b A:a", "B:b C:a D:a C:a", ">AC +D ");
}

/* The rule, straight from its description. */
static void expect(struct vcm_buf *out, const struct table *a, const struct table *b)
{
    bool used[PAGES_MAX] = {false};

    for (uint32_t pass = 0; pass < 2; pass++) {
        const struct table *mine = pass == 0 ? b : a, *other = pass == 0 ? a : b;
        for (uint32_t i = 0; i < mine->table.count; i++) {
            char id = (char)mine->entries[i].id.bytes[0];
            bool known = false;
            for (uint32_t j = 0; j < other->table.count; j++)
                known |= (char)other->entries[j].id.bytes[0] == id;
            for (uint32_t j = 0; j < i; j++)
                known |= (char)mine->entries[j].id.bytes[0] == id;
            if (known || (pass == 1 && used[i]))
                continue;
            if (pass == 1) {
                vcm_buf_append_format(out, "-%c ", id);
                continue;
            }
            uint32_t found = PAGES_MAX;
            for (uint32_t j = 0; j < a->table.count && found == PAGES_MAX; j++) {
                bool dropped = !used[j], shares = false;
                for (uint32_t k = 0; k < b->table.count; k++)
                    dropped &= b->entries[k].id.bytes[0] != a->entries[j].id.bytes[0];
                for (uint32_t k = 0; k < j; k++)
                    dropped &= a->entries[k].id.bytes[0] != a->entries[j].id.bytes[0];
                for (uint32_t p = 0; p < a->entries[j].path_count; p++)
                    for (uint32_t q = 0; q < b->entries[i].path_count; q++)
                        shares |= vcm_slice_equal(a->paths[j][p], b->paths[i][q]);
                if (dropped && shares)
                    found = j;
            }
            if (found == PAGES_MAX) {
                vcm_buf_append_format(out, "+%c ", id);
            } else {
                used[found] = true;
                vcm_buf_append_format(out, ">%c%c ", (char)a->entries[found].id.bytes[0], id);
            }
        }
    }
}

/* A page's paths follow from its id, as they do in truth. */
static void random_table(char *out, size_t size, uint64_t *seed)
{
    static const char *const paths[] = {"a", "b", "a,b", "c", "b,c", "a,b,c", "d"};
    unsigned count = test_random_below(seed, 9);
    size_t used = 0;

    out[0] = '\0';
    for (unsigned i = 0; i < count; i++) {
        unsigned id = test_random_below(seed, 14);
        used += (size_t)snprintf(out + used, size - used, "%s%c:%s", i > 0 ? " " : "",
                                 (char)('A' + id), paths[id % 7]);
    }
}

static void random_tables_change_as_the_rule_says(void **state)
{
    uint64_t seed = 99;
    char before[256], after[256];

    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (unsigned i = 0; i < 5000; i++) {
        struct vcm_buf expected = VCM_BUF_INIT(4096);
        random_table(before, sizeof before, &seed);
        random_table(after, sizeof after, &seed);
        struct table *a = table_of(before), *b = table_of(after);
        expect(&expected, a, b);
        assert_diff(before, after, vcm_buf_text(&expected));
        vcm_buf_release(&expected);
        free(a);
        free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_tables_have_no_changes),
        cmocka_unit_test(pages_come_and_go),
        cmocka_unit_test(a_page_with_a_path_of_a_dropped_one_replaces_it),
        cmocka_unit_test(the_first_free_one_in_the_old_order_is_taken),
        cmocka_unit_test(a_page_that_occurs_twice_counts_once),
        cmocka_unit_test(random_tables_change_as_the_rule_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
