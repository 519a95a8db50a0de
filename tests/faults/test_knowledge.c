/*
 * The n-th allocation of the knowledge base fails, once or from then on: readers, chunker,
 * ingestor, store and search answer with a clean code, and what is in the file afterwards are whole
 * documents.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/limits.h"
#include "kb/ingestor.h"
#include "tests/faults/allocation.h"
#include "tests/support/pdf.h"

#include "base/banned.h"

#define RUNS_MAX 100000u
#define ITEMS    5

struct fixture {
    char folder[32], path[64];
    struct vcm_tokenizer *tokenizer;
    struct vcm_ingestor_item items[ITEMS];
    struct vcm_buf pdf, text, expected;
    int failed; /* code of a document */
};

static const char *const names[ITEMS] = {"a.md", "b.rst", "c.html", "d.txt", "e.pdf"};

static void write_documents(struct fixture *f)
{
    struct test_pdf pdf;

    vcm_buf_init(&f->pdf, VCM_MIB);
    vcm_buf_init(&f->text, VCM_MIB);
    vcm_buf_init(&f->expected, VCM_MIB);
    for (unsigned i = 0; i < 40; i++)
        vcm_buf_append_format(&f->text, "%sSentence %u of a text with words. It goes on.\n",
                              i % 8 == 0 ? "\n" : "", i);
    test_pdf_init(&pdf);
    test_pdf_add_page(&pdf);
    test_pdf_add_text(&pdf, TEST_PDF_BOLD, 18, 72, 700, "Title");
    test_pdf_add_text(&pdf, TEST_PDF_ROMAN, 10, 72, 640, "Some words to read.");
    test_pdf_write(&f->pdf, &pdf);
    test_pdf_release(&pdf);
    static const char *const contents[ITEMS] = {
        "# One\n\nwords here\n\n## Two\n\n- words there\n",
        "One\n===\n\nwords ``x``\n\nTwo\n---\n\nx\n",
        "<h1>One</h1><p>words &amp; more</p><ul><li>a<li>b</ul>", NULL, NULL};
    for (unsigned i = 0; i < ITEMS; i++) {
        struct vcm_slice bytes = i == 3   ? vcm_buf_slice(&f->text)
                                 : i == 4 ? vcm_buf_slice(&f->pdf)
                                          : vcm_slice_of_string(contents[i]);
        f->items[i] = (struct vcm_ingestor_item){.path = names[i],
                                                 .target_tokens = 60,
                                                 .overlap_tokens = 10,
                                                 .token_budget = 4096,
                                                 .bytes = bytes};
    }
}

static void remove_store(struct fixture *f)
{
    static const char *const endings[] = {"", "-wal", "-shm"};
    char path[80];

    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", f->path, endings[i]);
        unlink(path);
    }
}

static int see_result(void *context, const struct vcm_ingestor_result *result,
                      struct vcm_error *err)
{
    struct fixture *f = context;

    (void)err;
    if (result->status == VCM_INGESTOR_FAILED)
        f->failed = (int)result->code;
    return VCM_OK;
}

static int see_chunk(void *context, const struct vcm_database_chunk *chunk, struct vcm_error *err)
{
    char *id = context;

    (void)err;
    snprintf(id, 2 * VCM_CHUNKER_ID_BYTES + 1, "%s", chunk->chunk_id);
    return VCM_OK;
}

static bool uses_none(void *context, struct vcm_slice name)
{
    (void)context;
    (void)name;
    return false;
}

/* Everything that the store does beside taking documents in. */
static int use_store(struct vcm_database *store, struct vcm_error *err)
{
    struct vcm_buf kept = VCM_BUF_INIT(VCM_MIB);
    struct vcm_buf scopes = VCM_BUF_INIT(VCM_MIB);
    unsigned char content[VCM_HASH_SHA256_BYTES] = {1};
    char id[2 * VCM_CHUNKER_ID_BYTES + 1] = "";
    struct vcm_database_search search = {.query = vcm_slice_of_string("words nowhere"), .limit = 5};
    struct vcm_database_stat stat;
    uint64_t total;

    int rc = vcm_database_search_find(&total, store, &search, see_chunk, id, err);
    if (rc == VCM_OK)
        rc = vcm_database_show(store, id, see_chunk, id, err);
    if (rc == VCM_OK)
        rc = vcm_database_stat(&stat, store, err);
    if (rc == VCM_OK)
        rc = vcm_database_extractions_put(store, content, 1, vcm_slice_of_string("text"), err);
    if (rc == VCM_OK)
        rc = vcm_database_extractions_keep(store, content, "s", vcm_slice_of_string("n"), err);
    if (rc == VCM_OK)
        rc = vcm_database_extractions_get(&kept, store, content, 1, err);
    if (rc == VCM_OK)
        rc = vcm_database_extractions_list_scopes(&scopes, store, err);
    if (rc == VCM_OK)
        rc = vcm_database_extractions_settle_scope(store, "s", uses_none, NULL, err);
    vcm_buf_release(&scopes);
    vcm_buf_release(&kept);
    return rc;
}

static int use(struct fixture *f, struct vcm_error *err)
{
    struct vcm_database *store = NULL;

    f->failed = VCM_OK;
    int rc = vcm_database_open(&store, f->path, true, NULL, err);
    struct vcm_ingestor_options options = {store, f->tokenizer, 1, NULL};
    if (rc == VCM_OK)
        rc = vcm_ingestor_run(&options, f->items, ITEMS, see_result, f, err);
    if (rc == VCM_OK)
        rc = use_store(store, err);
    vcm_database_close(store);
    return rc == VCM_OK ? f->failed : rc;
}

struct listing {
    struct vcm_buf *out;
    uint64_t chunks;
};

static int list_document(void *context, const struct vcm_database_document *document,
                         struct vcm_error *err)
{
    struct listing *listing = context;

    (void)err;
    listing->chunks += document->chunks;
    vcm_buf_append_format(listing->out, "%s %u %u\n", document->path, (unsigned)document->chunks,
                          (unsigned)document->tokens);
    return VCM_OK;
}

/* The documents in the file, each of them whole. */
static void list(struct fixture *f, struct vcm_buf *out)
{
    struct vcm_database_filter all = {.source = NULL};
    struct listing listing = {out, 0};
    struct vcm_database *store;
    uint64_t total = 0;

    assert_int_equal(vcm_database_open(&store, f->path, true, NULL, NULL), VCM_OK);
    assert_int_equal(vcm_database_list(store, &all, list_document, &listing, NULL), VCM_OK);
    struct vcm_database_search search = {.query = vcm_slice_of_string("sentence"), .limit = 100};
    char id[2 * VCM_CHUNKER_ID_BYTES + 1];
    assert_int_equal(vcm_database_search_find(&total, store, &search, see_chunk, id, NULL), VCM_OK);
    vcm_buf_append_format(out, "%u chunks, %u found\n", (unsigned)listing.chunks, (unsigned)total);
    vcm_database_close(store);
}

static bool run_once(struct fixture *f, unsigned long n, unsigned variant)
{
    struct vcm_buf now = VCM_BUF_INIT(VCM_MIB);
    struct vcm_error err = {0};

    remove_store(f);
    allocation_arm(n, variant);
    int rc = use(f, &err);
    bool came = allocation_disarm();
    if (rc != VCM_OK && !(came && rc == VCM_INTERNAL))
        fail_msg("fault %lu.%u: code %d: %s", n, variant, rc, err.message);
    list(f, &now);
    vcm_buf_clear(&now);
    assert_int_equal(use(f, &err), VCM_OK);
    list(f, &now);
    assert_string_equal(vcm_buf_text(&now), vcm_buf_text(&f->expected));
    vcm_buf_release(&now);
    return came;
}

static void the_knowledge_base_survives_any_failed_allocation(void **state)
{
    struct fixture f = {.folder = "/tmp/vcm-test-XXXXXX"};
    unsigned stride = getenv("VCM_TEST_LONG") ? 1 : 7;
    unsigned long runs = 0;
    struct vcm_error err = {0};

    (void)state;
    assert_non_null(mkdtemp(f.folder));
    snprintf(f.path, sizeof f.path, "%s/kb.sqlite", f.folder);
    assert_int_equal(vcm_tokenizer_open(&f.tokenizer, "approx4", NULL), VCM_OK);
    write_documents(&f);
    assert_int_equal(use(&f, &err), VCM_OK);
    list(&f, &f.expected);
    for (unsigned variant = 0; variant < ALLOCATION_VARIANTS; variant++) {
        unsigned long n = 1 + variant;
        for (; n < RUNS_MAX && run_once(&f, n, variant); n += stride)
            runs++;
        assert_true(n < RUNS_MAX);
    }
    print_message("%lu runs met a fault\n", runs);
    assert_true(runs > 5);
    remove_store(&f);
    rmdir(f.folder);
    vcm_tokenizer_close(f.tokenizer);
    vcm_buf_release(&f.pdf);
    vcm_buf_release(&f.text);
    vcm_buf_release(&f.expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_knowledge_base_survives_any_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
