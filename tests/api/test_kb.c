/*
 * The knowledge base for programs that acquire documents themselves: bytes with a name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "api/vcm.h"
#include "base/buf.h"
#include "tests/support/pdf.h"
#include "tests/support/repo.h"

#include "base/banned.h"

struct fixture {
    struct test_repo disk;
    struct vcm *vcm;
    char seen[1024]; /* what a visitor wrote down */
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    char home[300];

    assert_non_null(f);
    test_repo_init_directory(&f->disk);
    snprintf(home, sizeof home, "%s/home", f->disk.path);
    assert_int_equal(vcm_open(&f->vcm, &(struct vcm_open_options){.home = home}, NULL), VCM_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    vcm_close(f->vcm);
    test_repo_release(&f->disk);
    free(f);
    return 0;
}

static void note(struct fixture *f, const char *text)
{
    size_t len = strlen(f->seen);

    snprintf(f->seen + len, sizeof f->seen - len, "%s\n", text);
}

static int note_file(void *context, const struct vcm_kb_file *file, struct vcm_error *err)
{
    char line[256];

    (void)err;
    snprintf(line, sizeof line, "%s %s %s %s %d", file->source ? file->source : "-", file->path,
             file->status, file->data_type, (int)file->chunks);
    note(context, line);
    return VCM_OK;
}

static int note_hit(void *context, const struct vcm_kb_chunk *chunk, struct vcm_error *err)
{
    char line[256];

    (void)err;
    snprintf(line, sizeof line, "%s|%s|%s|%u", chunk->source ? chunk->source : "-", chunk->path,
             chunk->section, chunk->page);
    note(context, line);
    return VCM_OK;
}

static const char *ingest(struct fixture *f, const char *source, const char *profile,
                          const struct vcm_kb_bytes *documents, size_t count)
{
    f->seen[0] = '\0';
    assert_int_equal(vcm_kb_ingest(f->vcm,
                                   &(struct vcm_kb_ingest_options){.documents = documents,
                                                                   .document_count = count,
                                                                   .source = source,
                                                                   .profile = profile},
                                   note_file, f, NULL),
                     VCM_OK);
    return f->seen;
}

static const char *search(struct fixture *f, const char *query)
{
    uint64_t total;

    f->seen[0] = '\0';
    assert_int_equal(vcm_kb_search(&total, f->vcm, &(struct vcm_kb_search_options){.query = query},
                                   note_hit, f, NULL),
                     VCM_OK);
    return f->seen;
}

static void bytes_with_a_name_are_documents(void **state)
{
    struct fixture *f = *state;
    struct vcm_buf bytes = VCM_BUF_INIT(1 << 20);
    struct test_pdf pdf;

    test_pdf_init(&pdf);
    test_pdf_add_page(&pdf);
    test_pdf_add_text(&pdf, TEST_PDF_ROMAN, 10, 72, 700, "Nothing on this page.");
    test_pdf_add_page(&pdf);
    test_pdf_add_text(&pdf, TEST_PDF_BOLD, 18, 72, 700, "A Title");
    test_pdf_add_text(&pdf, TEST_PDF_ROMAN, 10, 72, 640, "The needle is on the second page.");
    test_pdf_write(&bytes, &pdf);
    test_pdf_release(&pdf);
    const struct vcm_kb_bytes documents[] = {
        {"papers/a.pdf", bytes.data, bytes.len},
        {"notes/b.md", "# Notes\n\nalpha\n", 15},
        {"empty.pdf", "", 0},
        {"c.bin", "\0\1", 2},
    };
    assert_string_equal(ingest(f, "web", NULL, documents, 4), "web papers/a.pdf ingested pdf 2\n"
                                                              "web notes/b.md ingested markdown 1\n"
                                                              "web empty.pdf failed pdf 0\n"
                                                              "web c.bin failed text 0\n");
    assert_string_equal(search(f, "needle"), "web|papers/a.pdf|A Title|2\n");
    assert_string_equal(ingest(f, "web", NULL, documents, 2),
                        "web papers/a.pdf skipped_already_present pdf 0\n"
                        "web notes/b.md skipped_already_present markdown 0\n");
    vcm_buf_release(&bytes);
}

static void a_document_is_its_source_and_name(void **state)
{
    struct fixture *f = *state;
    const struct vcm_kb_bytes old = {"a.txt", "old words\n", 10};
    const struct vcm_kb_bytes new = {"a.txt", "new words\n", 10};

    ingest(f, "one", NULL, &old, 1);
    ingest(f, NULL, NULL, &old, 1);
    assert_string_equal(ingest(f, "one", NULL, &new, 1), "one a.txt ingested text 1\n");
    assert_string_equal(search(f, "old"), "-|a.txt||0\n");
    assert_string_equal(search(f, "new"), "one|a.txt||0\n");
    assert_string_equal(ingest(f, "one", "note", &new, 1), "one a.txt ingested note 1\n");
    assert_string_equal(search(f, "new"), "one|a.txt||0\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bytes_with_a_name_are_documents, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_document_is_its_source_and_name, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
