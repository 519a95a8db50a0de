#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sqlite3.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/path.h"
#include "kb/ingestor.h"
#include "kb/database.h"
#include "kb/database_vfs.h"
#include "tests/support/random.h"

#include "base/banned.h"

struct fixture {
    char folder[32];
    char path[64];
    struct vcm_database *store;
    struct vcm_tokenizer *tokenizer;
    struct vcm_buf seen; /* what a visitor wrote down */
    uint32_t target, overlap;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    snprintf(f->folder, sizeof f->folder, "/tmp/vcm-test-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof f->path, "%s/kb.sqlite", f->folder);
    assert_int_equal(vcm_database_open(&f->store, f->path, true, NULL, NULL), VCM_OK);
    assert_int_equal(vcm_tokenizer_open(&f->tokenizer, "o200k_base", NULL), VCM_OK);
    vcm_buf_init(&f->seen, VCM_MIB);
    f->target = 800;
    f->overlap = 80;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    static const char *const endings[] = {"", "-wal", "-shm"};
    char path[80];

    vcm_database_close(f->store);
    vcm_tokenizer_close(f->tokenizer);
    vcm_buf_release(&f->seen);
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", f->path, endings[i]);
        unlink(path);
    }
    rmdir(f->folder);
    free(f);
    return 0;
}

static int note_result(void *context, const struct vcm_ingestor_result *result,
                       struct vcm_error *err)
{
    struct fixture *f = context;

    (void)err;
    vcm_buf_append_format(&f->seen, "%s %s %s %u%s%s\n", result->item->path,
                          vcm_ingestor_status_name(result->status), result->data_type,
                          (unsigned)result->chunks, result->message ? " " : "",
                          result->message ? result->message : "");
    return VCM_OK;
}

/* Ingests one text; what was told is in f->seen. */
static const char *ingest(struct fixture *f, const char *source, const char *path,
                          const char *profile, const char *text)
{
    struct vcm_ingestor_options options = {f->store, f->tokenizer, 2, NULL};
    struct vcm_ingestor_item item = {.source = source,
                                     .path = path,
                                     .profile = profile,
                                     .target_tokens = f->target,
                                     .overlap_tokens = f->overlap,
                                     .token_budget = 4096,
                                     .bytes = vcm_slice_of_string(text)};

    vcm_buf_clear(&f->seen);
    assert_int_equal(vcm_ingestor_run(&options, &item, 1, note_result, f, NULL), VCM_OK);
    return vcm_buf_text(&f->seen);
}

static int note_hit(void *context, const struct vcm_database_chunk *chunk, struct vcm_error *err)
{
    struct fixture *f = context;

    (void)err;
    assert_true(chunk->score > 0);
    vcm_buf_append_format(&f->seen, "%s#%u ", chunk->document->path, (unsigned)chunk->seq);
    return VCM_OK;
}

static const char *find_with(struct fixture *f, const struct vcm_database_search *search,
                             uint64_t *total)
{
    struct vcm_error err = {0};

    vcm_buf_clear(&f->seen);
    if (vcm_database_search_find(total, f->store, search, note_hit, f, &err) != VCM_OK)
        fail_msg("%s", err.message);
    return vcm_buf_text(&f->seen);
}

static const char *find(struct fixture *f, const char *query)
{
    struct vcm_database_search search = {.query = vcm_slice_of_string(query)};
    uint64_t total;

    return find_with(f, &search, &total);
}

static void a_document_is_ingested_once_and_replaced_when_it_changed(void **state)
{
    struct fixture *f = *state;

    assert_string_equal(ingest(f, NULL, "a.md", NULL, "# A\n\nAlpha words.\n"),
                        "a.md ingested markdown 1\n");
    assert_string_equal(ingest(f, NULL, "a.md", NULL, "# A\n\nAlpha words.\n"),
                        "a.md skipped_already_present markdown 0\n");
    assert_string_equal(find(f, "alpha"), "a.md#0 ");
    assert_string_equal(ingest(f, NULL, "a.md", NULL, "# A\n\nBeta words.\n"),
                        "a.md ingested markdown 1\n");
    assert_string_equal(find(f, "alpha"), "");
    assert_string_equal(find(f, "beta"), "a.md#0 ");
    assert_string_equal(ingest(f, NULL, "a.md", "paper", "# A\n\nBeta words.\n"),
                        "a.md ingested paper 1\n");
    assert_string_equal(ingest(f, "repo", "a.md", "paper", "# A\n\nBeta words.\n"),
                        "a.md ingested paper 1\n");
    assert_string_equal(find(f, "beta"), "a.md#0 a.md#0 ");
}

static void what_cannot_be_read_fails_alone(void **state)
{
    struct fixture *f = *state;
    struct vcm_ingestor_options options = {f->store, f->tokenizer, 2, NULL};
    struct vcm_ingestor_item items[] = {
        {.path = "a.txt", .bytes = vcm_slice_of_string("one")},
        {.path = "b.bin", .bytes = {"\0\1", 2}},
        {.path = "c.pdf", .bytes = vcm_slice_of_string("no pdf")},
        {.path = "d.md", .bytes = vcm_slice_of_string(" \n")},
        {.path = "e.rst", .bytes = vcm_slice_of_string("two")},
    };

    for (size_t i = 0; i < 5; i++) {
        items[i].target_tokens = 800;
        items[i].overlap_tokens = 80;
        items[i].token_budget = 4096;
    }
    assert_int_equal(vcm_ingestor_run(&options, items, 5, note_result, f, NULL), VCM_OK);
    assert_string_equal(vcm_buf_text(&f->seen),
                        "a.txt ingested text 1\n"
                        "b.bin failed text 0 unsupported type: the file is not text\n"
                        "c.pdf failed pdf 0 corrupt: the file is not a PDF\n"
                        "d.md failed markdown 0 empty: there is no text in the file\n"
                        "e.rst ingested rst 1\n");
}

static void words_phrases_prefixes_and_accents_are_found(void **state)
{
    struct fixture *f = *state;

    ingest(f, NULL, "a.txt", NULL, "The eviction hand sweeps pages.\n");
    ingest(f, NULL, "b.txt", NULL, "A page is evicted by the Café hand.\n");
    assert_string_equal(find(f, "hand eviction"), "a.txt#0 ");
    assert_string_equal(find(f, "evict*"), "a.txt#0 b.txt#0 ");
    assert_string_equal(find(f, "\"eviction hand\""), "a.txt#0 ");
    assert_string_equal(find(f, "\"hand eviction\""), "");
    assert_string_equal(find(f, "CAFE"), "b.txt#0 ");
    assert_string_equal(find(f, "eviction nowhere"), "a.txt#0 ");
    assert_string_equal(find(f, "nowhere"), "");
    assert_string_equal(find(f, ""), "");
}

static void no_query_is_a_syntax_error(void **state)
{
    struct fixture *f = *state;
    static const char *const pieces[] = {"\"", "'",   "(",  ")",    "*",     "NEAR", "AND",
                                         "OR", "NOT", ":",  "text", "-",     "^",    "+",
                                         "{",  "}",   " ",  "\\",   "\xc3",  "é",    "\x01",
                                         ",",  ";",   "--", "page", "NEAR(", "\n",   "search"};

    ingest(f, NULL, "a.txt", NULL, "text of a page AND not OR near search\n");
    print_message("seed 1\n");
    uint64_t seed = 1;
    for (int i = 0; i < 500; i++) {
        struct vcm_buf query = VCM_BUF_INIT(VCM_MIB);
        for (unsigned n = test_random_below(&seed, 12); n > 0; n--)
            vcm_buf_append_string(
                &query, pieces[test_random_below(&seed, sizeof pieces / sizeof pieces[0])]);
        find(f, vcm_buf_text(&query));
        vcm_buf_release(&query);
    }
}

static void a_match_in_the_overlap_is_one_hit(void **state)
{
    struct fixture *f = *state;

    f->target = 60;
    f->overlap = 30;
    ingest(f, NULL, "a.txt", NULL,
           "First there is a sentence about nothing in particular at all. "
           "Then comes another that says as little as the one before it did. "
           "The needle is in this sentence here. "
           "After it there are some words that fill the chunk that follows. "
           "And these are the last words of the text, with nothing in them.\n");
    struct vcm_database_search search = {.query = vcm_slice_of_string("needle")};
    uint64_t total;
    const char *hits = find_with(f, &search, &total);
    assert_int_equal(total, 2);
    assert_int_equal(strlen(hits), strlen("a.txt#0 "));
    /* A word beside the needle that only one of them has makes both worth showing. */
    assert_true(strlen(find(f, "needle first")) > 0);
}

static bool takes_b(void *context, struct vcm_slice path)
{
    (void)context;
    return path.len > 0 && path.data[0] == 'b';
}

static int note_first(void *context, const struct vcm_database_chunk *chunk, struct vcm_error *err)
{
    struct fixture *f = context;

    (void)err;
    if (f->seen.len == 0)
        vcm_buf_append_format(&f->seen, "%s|%s", chunk->section, chunk->snippet);
    return VCM_OK;
}

/* Far more chunks than are ranked one by one. */
static void words_that_are_everywhere_are_counted_and_found(void **state)
{
    struct fixture *f = *state;
    struct vcm_buf text = VCM_BUF_INIT(4 * VCM_MIB);
    struct vcm_database_search search = {.query = vcm_slice_of_string("common"), .limit = 3};
    uint64_t total = 0;

    f->target = 40;
    f->overlap = 0;
    for (unsigned i = 0; i < 9500; i++)
        vcm_buf_append_format(&text, "# Part %u\n\nsome common words\n\n", i);
    vcm_buf_append_string(&text, "# About common matters\n\nhere common is in the title, too\n");
    ingest(f, NULL, "many.md", NULL, vcm_buf_text(&text));
    vcm_buf_clear(&f->seen);
    assert_int_equal(vcm_database_search_find(&total, f->store, &search, note_first, f, NULL),
                     VCM_OK);
    assert_int_equal(total, 9501);
    assert_string_equal(
        vcm_buf_text(&f->seen),
        "About common matters|# About common matters\n\nhere common is in the title, too\n");
    search.query = vcm_slice_of_string("com*");
    search.filter.takes = takes_b;
    assert_int_equal(vcm_database_search_find(&total, f->store, &search, note_first, f, NULL),
                     VCM_OK);
    assert_int_equal(total, 0);
    vcm_buf_release(&text);
}

static void filters_limits_and_budgets_hold(void **state)
{
    struct fixture *f = *state;
    uint64_t total;

    ingest(f, NULL, "a.txt", "notes", "needle one\n");
    ingest(f, "repo", "b.txt", NULL, "needle two\n");
    ingest(f, "repo", "c.txt", "notes", "needle three\n");
    struct vcm_database_search search = {.query = vcm_slice_of_string("needle")};
    assert_string_equal(find_with(f, &search, &total), "a.txt#0 b.txt#0 c.txt#0 ");
    search.filter.profile = "notes";
    assert_string_equal(find_with(f, &search, &total), "a.txt#0 c.txt#0 ");
    search.filter.source = "repo";
    assert_string_equal(find_with(f, &search, &total), "c.txt#0 ");
    assert_int_equal(total, 1);
    search.filter = (struct vcm_database_filter){.takes = takes_b};
    assert_string_equal(find_with(f, &search, &total), "b.txt#0 ");
    search.filter = (struct vcm_database_filter){.source = NULL};
    search.limit = 2;
    assert_string_equal(find_with(f, &search, &total), "a.txt#0 b.txt#0 ");
    assert_int_equal(total, 3);
    search.max_tokens = 20;
    assert_string_equal(find_with(f, &search, &total), "a.txt#0 ");
}

static int note_document(void *context, const struct vcm_database_document *document,
                         struct vcm_error *err)
{
    struct fixture *f = context;

    (void)err;
    vcm_buf_append_format(&f->seen, "%s:%s ", document->source ? document->source : "",
                          document->path);
    return VCM_OK;
}

static void removed_documents_are_gone_from_the_index(void **state)
{
    struct fixture *f = *state;
    struct vcm_database_filter all = {.source = NULL};
    struct vcm_database_filter some = {.takes = takes_b};
    struct vcm_database_stat stat;

    ingest(f, NULL, "b.txt", NULL, "needle one\n");
    ingest(f, "repo", "a.txt", NULL, "needle two\n");
    vcm_buf_clear(&f->seen);
    assert_int_equal(vcm_database_list(f->store, &all, note_document, f, NULL), VCM_OK);
    assert_string_equal(vcm_buf_text(&f->seen), ":b.txt repo:a.txt ");
    vcm_buf_clear(&f->seen);
    assert_int_equal(vcm_database_remove(f->store, &some, note_document, f, NULL), VCM_OK);
    assert_string_equal(vcm_buf_text(&f->seen), ":b.txt ");
    assert_string_equal(find(f, "needle"), "a.txt#0 ");
    assert_int_equal(vcm_database_remove(f->store, &all, NULL, NULL, NULL), VCM_OK);
    assert_int_equal(vcm_database_stat(&stat, f->store, NULL), VCM_OK);
    assert_int_equal(stat.documents + stat.chunks + stat.tokens, 0);
    assert_string_equal(find(f, "needle"), "");
}

static int note_chunk(void *context, const struct vcm_database_chunk *chunk, struct vcm_error *err)
{
    struct fixture *f = context;

    (void)err;
    vcm_buf_append_format(&f->seen, "%s %s %s", chunk->chunk_id, chunk->document->path,
                          chunk->section);
    return VCM_OK;
}

static void a_chunk_is_shown_by_a_prefix_of_its_id(void **state)
{
    struct fixture *f = *state;
    struct vcm_error err = {0};
    char id[VCM_CHUNKER_ID_BYTES * 2 + 1];

    ingest(f, NULL, "a.md", NULL, "# One\n\nneedle\n");
    struct vcm_database_search search = {.query = vcm_slice_of_string("needle")};
    uint64_t total;
    vcm_buf_clear(&f->seen);
    assert_int_equal(vcm_database_search_find(&total, f->store, &search, note_chunk, f, NULL),
                     VCM_OK);
    snprintf(id, sizeof id, "%s", vcm_buf_text(&f->seen));
    vcm_buf_clear(&f->seen);
    id[8] = '\0';
    assert_int_equal(vcm_database_show(f->store, id, note_chunk, f, NULL), VCM_OK);
    assert_string_equal(vcm_buf_text(&f->seen) + 40, " a.md One");
    assert_int_equal(vcm_database_show(f->store, "ffffffffffff", note_chunk, f, &err),
                     VCM_NOT_FOUND);
    assert_int_equal(vcm_database_show(f->store, "12", note_chunk, f, NULL), VCM_INVALID_ARGUMENT);
    assert_int_equal(vcm_database_show(f->store, "%_%_%_%_", note_chunk, f, NULL),
                     VCM_INVALID_ARGUMENT);
}

static void an_unfinished_document_leaves_the_old_one(void **state)
{
    struct fixture *f = *state;
    struct vcm_database_document document = {
        .path = "a.txt", .data_type = "text", .settings = "other"};

    ingest(f, NULL, "a.txt", NULL, "needle\n");
    assert_int_equal(vcm_database_begin(f->store, &document, NULL), VCM_OK);
    vcm_database_rollback(f->store);
    assert_string_equal(find(f, "needle"), "a.txt#0 ");
    assert_int_equal(vcm_database_begin(f->store, &document, NULL), VCM_OK);
    vcm_database_close(f->store);
    assert_int_equal(vcm_database_open(&f->store, f->path, false, NULL, NULL), VCM_OK);
    assert_string_equal(find(f, "needle"), "a.txt#0 ");
}

/* Runs SQL beside the store, as another version of vcm would; returns the first number. */
static int64_t run_beside(struct fixture *f, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    const char *rest = sql;
    int64_t first = -1;

    assert_int_equal(sqlite3_open_v2(f->path, &db, SQLITE_OPEN_READWRITE, VCM_DATABASE_VFS_NAME),
                     SQLITE_OK);
    while (*rest != '\0') {
        assert_int_equal(sqlite3_prepare_v2(db, rest, -1, &statement, &rest), SQLITE_OK);
        if (sqlite3_step(statement) == SQLITE_ROW)
            first = sqlite3_column_int64(statement, 0);
        assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    }
    sqlite3_close(db);
    return first;
}

static void write_file(const char *path, const char *bytes, size_t len)
{
    assert_int_equal(vcm_path_write_file(path, vcm_slice_of(bytes, len), 0600, NULL), VCM_OK);
}

static void damaged_foreign_and_newer_files_are_refused(void **state)
{
    struct fixture *f = *state;
    struct vcm_database *other;
    struct vcm_buf bytes = VCM_BUF_INIT(64 * VCM_MIB);
    struct vcm_error err = {0};
    char path[64];

    ingest(f, NULL, "a.txt", NULL, "needle\n");
    vcm_database_close(f->store);
    f->store = NULL;
    run_beside(f, "PRAGMA user_version = 99");
    assert_int_equal(vcm_database_open(&other, f->path, true, NULL, NULL), VCM_UNSUPPORTED);
    run_beside(f, "PRAGMA user_version = 2; PRAGMA application_id = 7");
    assert_int_equal(vcm_database_open(&other, f->path, true, NULL, NULL), VCM_STORE_CORRUPT);
    run_beside(f, "PRAGMA application_id = 0x76636d6b");
    assert_int_equal(vcm_path_read_file(&bytes, f->path, 64 * VCM_MIB, NULL), VCM_OK);
    snprintf(path, sizeof path, "%s/x.sqlite", f->folder);
    assert_int_equal(vcm_database_open(&other, path, false, NULL, &err), VCM_NOT_FOUND);
    assert_null(other);
    write_file(path, "this is no database, though it is long enough to be one..........", 65);
    assert_int_equal(vcm_database_open(&other, path, true, NULL, NULL), VCM_STORE_CORRUPT);
    /* The application id is at 68: changed without SQLite, the first page is damaged. */
    bytes.data[68] ^= 1;
    write_file(path, bytes.data, bytes.len);
    assert_int_equal(vcm_database_open(&other, path, true, NULL, NULL), VCM_STORE_CORRUPT);
    bytes.data[68] ^= 1;
    memset(bytes.data + 4096, 0x5a, bytes.len - 4096);
    write_file(path, bytes.data, bytes.len);
    int rc = vcm_database_open(&other, path, true, NULL, NULL);
    if (rc == VCM_OK) {
        struct vcm_database_stat stat;
        rc = vcm_database_stat(&stat, other, NULL);
    }
    assert_int_equal(rc, VCM_STORE_CORRUPT);
    vcm_database_close(other);
    unlink(path);
    snprintf(path, sizeof path, "%s/x.sqlite-wal", f->folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/x.sqlite-shm", f->folder);
    unlink(path);
    vcm_buf_release(&bytes);
}

static void extractions_are_kept_while_a_document_needs_them(void **state)
{
    struct fixture *f = *state;
    unsigned char content[VCM_HASH_SHA256_BYTES];
    struct vcm_buf out = VCM_BUF_INIT(VCM_MIB);
    struct vcm_database_filter some = {.takes = takes_b};

    ingest(f, NULL, "b.txt", NULL, "needle\n");
    vcm_hash_sha256_of(content, vcm_slice_of_string("needle\n"));
    assert_int_equal(vcm_database_extractions_get(&out, f->store, content, 1, NULL), VCM_NOT_FOUND);
    assert_int_equal(
        vcm_database_extractions_put(f->store, content, 1, vcm_slice_of_string("text"), NULL),
        VCM_OK);
    assert_int_equal(vcm_database_extractions_get(&out, f->store, content, 2, NULL), VCM_NOT_FOUND);
    assert_int_equal(vcm_database_extractions_get(&out, f->store, content, 1, NULL), VCM_OK);
    assert_string_equal(vcm_buf_text(&out), "text");
    assert_int_equal(vcm_database_remove(f->store, &some, NULL, NULL, NULL), VCM_OK);
    assert_int_equal(vcm_database_extractions_get(&out, f->store, content, 1, NULL), VCM_NOT_FOUND);
    vcm_buf_release(&out);
}

/* Puts a text of many equal lines under the content that `word` stands for. */
static void put_text(struct fixture *f, const char *word, struct vcm_buf *text)
{
    unsigned char content[VCM_HASH_SHA256_BYTES];

    vcm_buf_clear(text);
    for (unsigned i = 0; i < 2000; i++)
        vcm_buf_append_format(text, "%s in line %u\n", word, i);
    vcm_hash_sha256_of(content, vcm_slice_of_string(word));
    assert_int_equal(vcm_database_extractions_put(f->store, content, 1, vcm_buf_slice(text), NULL),
                     VCM_OK);
}

static int get_text(struct fixture *f, const char *word, struct vcm_buf *out)
{
    unsigned char content[VCM_HASH_SHA256_BYTES];

    vcm_buf_clear(out);
    vcm_hash_sha256_of(content, vcm_slice_of_string(word));
    return vcm_database_extractions_get(out, f->store, content, 1, NULL);
}

static void keep_text(struct fixture *f, const char *word, const char *scope, const char *name)
{
    unsigned char content[VCM_HASH_SHA256_BYTES];

    vcm_hash_sha256_of(content, vcm_slice_of_string(word));
    assert_int_equal(
        vcm_database_extractions_keep(f->store, content, scope, vcm_slice_of_string(name), NULL),
        VCM_OK);
}

static void kept_texts_are_compressed_and_checked(void **state)
{
    struct fixture *f = *state;
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);
    struct vcm_buf out = VCM_BUF_INIT(VCM_MIB);

    put_text(f, "needle", &text);
    assert_int_equal(get_text(f, "needle", &out), VCM_OK);
    assert_true(vcm_slice_equal(vcm_buf_slice(&out), vcm_buf_slice(&text)));
    int64_t kept = run_beside(f, "SELECT length(document) FROM extractions");
    assert_true(kept > 0 && kept < (int64_t)text.len / 4);

    run_beside(f, "UPDATE extractions SET document = substr(document, 1, 50) || x'00'"
                  " || substr(document, 52)");
    assert_int_equal(get_text(f, "needle", &out), VCM_STORE_CORRUPT);
    vcm_buf_release(&out);
    vcm_buf_release(&text);
}

static void texts_of_earlier_versions_are_read_and_compressed(void **state)
{
    struct fixture *f = *state;
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);
    struct vcm_buf out = VCM_BUF_INIT(VCM_MIB);

    put_text(f, "needle", &text);
    run_beside(f, "UPDATE extractions SET document = CAST('plain text' AS BLOB);"
                  "CREATE TABLE extraction_scopes (scope TEXT NOT NULL, content BLOB NOT NULL,"
                  " PRIMARY KEY (scope, content)) WITHOUT ROWID;"
                  "INSERT INTO extraction_scopes SELECT 'old', content FROM extractions;"
                  "DROP TABLE extraction_uses");
    vcm_database_close(f->store);

    /* Who may not write leaves it as it is. */
    assert_int_equal(vcm_database_open(&f->store, f->path, false, NULL, NULL), VCM_OK);
    assert_int_equal(get_text(f, "needle", &out), VCM_OK);
    assert_string_equal(vcm_buf_text(&out), "plain text");
    assert_int_equal(run_beside(f, "SELECT document = CAST('plain text' AS BLOB) FROM extractions"),
                     1);
    vcm_database_close(f->store);

    assert_int_equal(vcm_database_open(&f->store, f->path, true, NULL, NULL), VCM_OK);
    assert_int_equal(get_text(f, "needle", &out), VCM_OK);
    assert_string_equal(vcm_buf_text(&out), "plain text");
    assert_int_equal(run_beside(f, "SELECT hex(substr(document, 1, 4)) = '28B52FFD'"
                                   " FROM extractions"),
                     1);
    assert_int_equal(get_text(f, "needle", &out), VCM_OK);
    assert_string_equal(vcm_buf_text(&out), "plain text");

    /* What the scope kept without a name is kept until it is forgotten. */
    assert_int_equal(vcm_database_extractions_settle_scope(f->store, "old", NULL, NULL, NULL),
                     VCM_OK);
    assert_int_equal(vcm_database_extractions_forget_scope(f->store, "other", NULL), VCM_OK);
    assert_int_equal(get_text(f, "needle", &out), VCM_OK);
    assert_int_equal(vcm_database_extractions_forget_scope(f->store, "old", NULL), VCM_OK);
    assert_int_equal(get_text(f, "needle", &out), VCM_NOT_FOUND);
    vcm_buf_release(&out);
    vcm_buf_release(&text);
}

static void a_new_extractor_replaces_the_old_text(void **state)
{
    struct fixture *f = *state;
    unsigned char content[VCM_HASH_SHA256_BYTES];

    vcm_hash_sha256_of(content, vcm_slice_of_string("a"));
    for (uint32_t version = 1; version <= 3; version++)
        assert_int_equal(vcm_database_extractions_put(f->store, content, version,
                                                      vcm_slice_of_string("x"), NULL),
                         VCM_OK);
    assert_int_equal(run_beside(f, "SELECT count(*) FROM extractions"), 1);
    assert_int_equal(run_beside(f, "SELECT version FROM extractions"), 3);
}

static bool uses_new(void *context, struct vcm_slice name)
{
    (void)context;
    return vcm_slice_equal(name, vcm_slice_of_string("new"));
}

static void a_text_goes_with_the_last_that_refers_to_it(void **state)
{
    struct fixture *f = *state;
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);
    static const char *const words[] = {"one\n", "two\n", "three\n", "four\n"};

    for (size_t i = 0; i < 4; i++)
        put_text(f, words[i], &text);
    keep_text(f, "one\n", "s", "old");  /* by this scope alone */
    keep_text(f, "two\n", "s", "old2"); /* by another scope, too */
    keep_text(f, "two\n", "t", "old2");
    keep_text(f, "three\n", "s", "old3"); /* by a document, too */
    ingest(f, NULL, "d.txt", NULL, "three\n");
    keep_text(f, "four\n", "s", "new"); /* still in the page table */
    assert_int_equal(vcm_database_extractions_settle_scope(f->store, "s", uses_new, NULL, NULL),
                     VCM_OK);
    assert_int_equal(get_text(f, "one\n", &text), VCM_NOT_FOUND);
    assert_int_equal(get_text(f, "two\n", &text), VCM_OK);
    assert_int_equal(get_text(f, "three\n", &text), VCM_OK);
    assert_int_equal(get_text(f, "four\n", &text), VCM_OK);

    /* Other bytes take the document's place. */
    ingest(f, NULL, "d.txt", NULL, "five\n");
    assert_int_equal(get_text(f, "three\n", &text), VCM_NOT_FOUND);
    ingest(f, NULL, "d.txt", NULL, "two\n");
    ingest(f, NULL, "d.txt", NULL, "five\n");
    assert_int_equal(get_text(f, "two\n", &text), VCM_OK);
    assert_int_equal(vcm_database_extractions_forget_scope(f->store, "t", NULL), VCM_OK);
    assert_int_equal(get_text(f, "two\n", &text), VCM_NOT_FOUND);
    assert_int_equal(get_text(f, "four\n", &text), VCM_OK);
    vcm_buf_clear(&text);
    assert_int_equal(vcm_database_extractions_list_scopes(&text, f->store, NULL), VCM_OK);
    assert_int_equal(text.len, 2);
    assert_memory_equal(text.data, "s\0", 2);
    vcm_buf_release(&text);
}

static void a_stop_that_was_asked_for_ends_the_work(void **state)
{
    struct fixture *f = *state;
    struct vcm_cancel cancel = {true};
    struct vcm_ingestor_options options = {f->store, f->tokenizer, 2, &cancel};
    struct vcm_ingestor_item items[8];

    for (size_t i = 0; i < 8; i++)
        items[i] = (struct vcm_ingestor_item){.path = "a.txt", .bytes = vcm_slice_of_string("x")};
    assert_int_equal(vcm_ingestor_run(&options, items, 8, note_result, f, NULL), VCM_INTERRUPTED);
    assert_int_equal(f->seen.len, 0);
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(a_document_is_ingested_once_and_replaced_when_it_changed),
        STORE_TEST(what_cannot_be_read_fails_alone),
        STORE_TEST(words_phrases_prefixes_and_accents_are_found),
        STORE_TEST(no_query_is_a_syntax_error),
        STORE_TEST(a_match_in_the_overlap_is_one_hit),
        STORE_TEST(words_that_are_everywhere_are_counted_and_found),
        STORE_TEST(filters_limits_and_budgets_hold),
        STORE_TEST(removed_documents_are_gone_from_the_index),
        STORE_TEST(a_chunk_is_shown_by_a_prefix_of_its_id),
        STORE_TEST(an_unfinished_document_leaves_the_old_one),
        STORE_TEST(damaged_foreign_and_newer_files_are_refused),
        STORE_TEST(extractions_are_kept_while_a_document_needs_them),
        STORE_TEST(kept_texts_are_compressed_and_checked),
        STORE_TEST(texts_of_earlier_versions_are_read_and_compressed),
        STORE_TEST(a_new_extractor_replaces_the_old_text),
        STORE_TEST(a_text_goes_with_the_last_that_refers_to_it),
        STORE_TEST(a_stop_that_was_asked_for_ends_the_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
