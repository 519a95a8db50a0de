/*
 * What is remembered of a tree changes how long an answer takes and nothing else; a map never has
 * more tokens than it may. Seeds are fixed: VCM_TEST_SEED replays another.
 */
#include "index_fixture.h"

#include "base/kv.h"
#include "symbols/memo.h"
#include "symbols/sweep.h"
#include "symbols/words.h"

#include "base/banned.h"

#define FILES 40u

static uint64_t first_seed(void)
{
    const char *text = getenv("VCM_TEST_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 10) : 20;

    print_message("seed %llu\n", (unsigned long long)seed);
    return seed;
}

static void make_repo(struct test_repo *repo, uint64_t *seed)
{
    test_repo_init(repo);
    for (unsigned i = 0; i < FILES; i++)
        fixture_write(repo, i, FILES, seed);
    test_repo_commit(repo, "files");
}

static struct fixture_map make_map(const struct test_repo *repo, struct fixture_request request)
{
    struct vcm_error err = {0};
    struct fixture_map map;

    if (fixture_make_map(&map, repo->path, &request, &err) != VCM_OK)
        fail_msg("%s", err.message);
    return map;
}

static void assert_same(const struct fixture_map *a, const struct fixture_map *b)
{
    assert_string_equal(a->text, b->text);
    assert_int_equal(a->tokens, b->tokens);
    assert_int_equal(a->shown, b->shown);
    assert_int_equal(a->total, b->total);
    assert_int_equal(a->next, b->next);
}

static void a_remembered_graph_gives_the_same_bytes_as_a_new_one(void **state)
{
    static const char *const words[] = {"cookie", "parse", "find_lock7", "tests", "file3", "zzz"};
    static const char *const places[] = {"src", "tests/", "vendor/lib", "nowhere"};
    struct test_repo repo, store;
    uint64_t seed = first_seed();

    (void)state;
    make_repo(&repo, &seed);
    test_repo_init_directory(&store);
    for (unsigned i = 0; i < 12; i++) {
        const char *mentions[2] = {words[test_random_below(&seed, 6)],
                                   words[test_random_below(&seed, 6)]};
        const char *focus[1] = {places[test_random_below(&seed, 4)]};
        struct fixture_request request = {.directory = store.path,
                                          .mentions = mentions,
                                          .mention_count = test_random_below(&seed, 3),
                                          .focus = focus,
                                          .focus_count = test_random_below(&seed, 2),
                                          .budget = 20 + test_random_below(&seed, 800)};
        struct fixture_map fresh = make_map(&repo, request);
        request.filter = "";
        struct fixture_map first = make_map(&repo, request), again = make_map(&repo, request);
        assert_same(&fresh, &first);
        assert_same(&first, &again);
        assert_int_equal(again.parsed, 0);
        free(fresh.text);
        free(first.text);
        free(again.text);
    }
    test_repo_release(&store);
    test_repo_release(&repo);
}

static void a_changed_tree_is_another_one(void **state)
{
    struct test_repo repo, store;
    uint64_t seed = 3;

    (void)state;
    make_repo(&repo, &seed);
    test_repo_init_directory(&store);
    struct fixture_request request = {.directory = store.path, .filter = "", .budget = 4000};
    struct fixture_map old = make_map(&repo, request);
    assert_true(old.parsed > FILES / 2);
    test_repo_write_text(&repo, "fresh.c", "int quite_new_here(void) { return 1; }\n");
    test_repo_commit(&repo, "more");
    struct fixture_map changed = make_map(&repo, request);
    assert_int_equal(changed.parsed, 1);
    assert_non_null(strstr(changed.text, "quite_new_here"));
    test_repo_git(&repo, "reset", "-q", "--hard", "HEAD^", NULL);
    struct fixture_map back = make_map(&repo, request);
    assert_same(&old, &back);
    assert_int_equal(back.parsed, 0);
    free(old.text);
    free(changed.text);
    free(back.text);
    test_repo_release(&store);
    test_repo_release(&repo);
}

static enum vcm_language language_in(const struct vcm_index *index, const char *path)
{
    for (size_t i = 0; i < index->file_count; i++)
        if (vcm_slice_equal(index->files[i].path, vcm_slice_of_string(path)))
            return index->files[i].language;
    fail_msg("there is no %s", path);
    return VCM_LANGUAGE_NONE;
}

static void headers_are_of_the_language_of_the_sources_around_them(void **state)
{
    static const struct {
        const char *path;
        enum vcm_language language;
    } files[] = {
        {"app/include/deep/shape.h", VCM_LANGUAGE_CPP}, /* by app/src */
        {"app/src/shape.cc", VCM_LANGUAGE_CPP},
        {"app/src/shape.c", VCM_LANGUAGE_C}, /* as many of each */
        {"app/src/shape.h", VCM_LANGUAGE_CPP},
        {"lib/a.c", VCM_LANGUAGE_C},
        {"lib/b.c", VCM_LANGUAGE_C},
        {"lib/b.h", VCM_LANGUAGE_C},
        {"lib/wrap/b.cpp", VCM_LANGUAGE_CPP},
        {"lib/wrap/b.h", VCM_LANGUAGE_CPP},
        {"top.h", VCM_LANGUAGE_C}, /* three to two */
        {"tools/only.h", VCM_LANGUAGE_C},
    };
    struct test_repo repo, store;
    struct vcm_git_repo *git = NULL;
    struct vcm_error err = {0};

    (void)state;
    test_repo_init(&repo);
    test_repo_init_directory(&store);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        test_repo_write_text(&repo, files[i].path, files[i].path);
    test_repo_commit(&repo, "headers");
    assert_int_equal(vcm_git_repo_open(&git, repo.path, &err), VCM_OK);
    for (unsigned round = 0; round < 2; round++) { /* made, and remembered */
        const struct vcm_index_request request = {
            .directory = store.path, .repo = git, .subpath = "", .filter = ""};
        struct vcm_index *index = NULL;
        assert_int_equal(vcm_index_open(&index, &request, &err), VCM_OK);
        for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
            if (language_in(index, files[i].path) != files[i].language)
                fail_msg("%s is no file of %s", files[i].path,
                         vcm_language_name(files[i].language));
        vcm_index_close(index);
    }
    vcm_git_repo_close(git);
    test_repo_release(&store);
    test_repo_release(&repo);
}

/* Each decoy has a name that all use more than the one of the header, and mean something else: a
 * function of a library, a variable, a member of a struct. */
static void names_draw_only_those_who_can_mean_them(void **state)
{
    static const struct {
        const char *path, *text, *use;
    } decoys[] = {
        {"binding.py", "release_all_memory = load()\n", "release_all_memory(c);"},
        {"inner.c", "enum current_colour { ONE };\n", "set(current_colour);"},
        {"decoy.h", "struct size_of_things { int of; };\n", "set(c->size_of_things);"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof decoys / sizeof decoys[0]; i++) {
        struct test_repo repo, store;
        char path[32], text[256];
        test_repo_init(&repo);
        test_repo_init_directory(&store);
        test_repo_write_text(&repo, decoys[i].path, decoys[i].text);
        test_repo_write_text(&repo, "zcore.h", "struct zcore { int of; };\n");
        for (unsigned user = 0; user < 12; user++) {
            snprintf(path, sizeof path, "user%u.c", user);
            snprintf(text, sizeof text, "int use(struct zcore *c)\n{\n    %s\n    %s\n    %s\n}\n",
                     decoys[i].use, decoys[i].use, decoys[i].use);
            test_repo_write_text(&repo, path, text);
        }
        test_repo_commit(&repo, "names");
        struct fixture_request request = {.directory = store.path, .budget = 20};
        struct fixture_map map = make_map(&repo, request);
        if (strncmp(map.text, "zcore.h:", 8) != 0)
            fail_msg("%s draws:\n%s", decoys[i].path, map.text);
        free(map.text);
        test_repo_release(&store);
        test_repo_release(&repo);
    }
}

static void no_budget_is_exceeded_and_the_next_one_holds_more(void **state)
{
    static const size_t edges[] = {0, 1, 2, 7, 13, 100000, SIZE_MAX / 2};
    struct test_repo repo, store;
    uint64_t seed = first_seed();

    (void)state;
    make_repo(&repo, &seed);
    test_repo_init_directory(&store);
    for (unsigned i = 0; i < 25; i++) {
        struct fixture_request request = {.directory = store.path, .filter = ""};
        request.budget = i < 7 ? edges[i] : test_random_below(&seed, 1200);
        struct fixture_map map = make_map(&repo, request);
        assert_true(map.tokens <= request.budget);
        assert_true(map.shown <= map.total);
        assert_true((map.tokens == 0) == (map.text[0] == '\0'));
        if (map.next > 0) {
            assert_true(map.next > request.budget);
            request.budget = map.next;
            struct fixture_map more = make_map(&repo, request);
            assert_true(more.tokens > 0 && more.tokens <= request.budget);
            assert_true(more.next == 0 || more.next > request.budget);
            free(more.text);
        } else {
            assert_true(request.budget >= 1200 || map.shown > 0);
        }
        free(map.text);
    }
    test_repo_release(&store);
    test_repo_release(&repo);
}

static void a_tree_without_a_blob_is_looked_at_again(void **state)
{
    struct test_repo repo, store;

    (void)state;
    test_repo_init(&repo);
    test_repo_init_directory(&store);
    test_repo_write_text(&repo, "here.c", "int here(void) { return 1; }\n");
    test_repo_write_text(&repo, "away.c", "int away(void) { return here(); }\n");
    test_repo_commit(&repo, "two");
    char *id = test_repo_git_output(&repo, "rev-parse", "HEAD:away.c", NULL);
    char *object = test_repo_object_path(&repo, id);
    char *aside = test_repo_path(&repo, "aside");
    assert_int_equal(rename(object, aside), 0);
    struct fixture_request request = {.directory = store.path, .filter = "", .budget = 500};
    struct fixture_map without = make_map(&repo, request);
    assert_null(strstr(without.text, "away"));
    assert_int_equal(rename(aside, object), 0);
    struct fixture_map with = make_map(&repo, request);
    assert_non_null(strstr(with.text, "away"));
    free(without.text);
    free(with.text);
    free(aside);
    free(object);
    free(id);
    test_repo_release(&store);
    test_repo_release(&repo);
}

/* Whatever is remembered, readers are told or make it again; they never believe it. */
struct spoiling {
    uint64_t seed;
    unsigned kind;
};

static int spoil(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct spoiling *spoiling = context;
    struct vcm_buf value = VCM_BUF_INIT(16 * VCM_MIB), key = VCM_BUF_INIT(VCM_KIB);
    struct vcm_kv_cursor *cursor = NULL;
    struct vcm_slice found, bytes;

    int rc = vcm_kv_cursor_open(&cursor, txn, 1, err);
    const char kind = (char)spoiling->kind;
    if (rc == VCM_OK)
        rc = vcm_kv_cursor_seek(&found, &bytes, cursor, vcm_slice_of(&kind, 1), err);
    if (rc == VCM_OK) {
        vcm_buf_append_slice(&key, found);
        vcm_buf_append_slice(&value, bytes);
    }
    vcm_kv_cursor_close(cursor);
    assert_int_equal(rc, VCM_OK);
    assert_int_equal(key.data[0], kind);
    for (unsigned i = 0; i < 1 + test_random_below(&spoiling->seed, 4); i++)
        value.data[test_random_below(&spoiling->seed, (unsigned)value.len)] ^=
            (char)(1 + test_random_below(&spoiling->seed, 255));
    if (test_random_below(&spoiling->seed, 4) == 0)
        vcm_buf_truncate(&value, test_random_below(&spoiling->seed, (unsigned)value.len));
    rc = vcm_kv_put(txn, 1, vcm_buf_slice(&key), vcm_buf_slice(&value), err);
    vcm_buf_release(&value);
    vcm_buf_release(&key);
    return rc;
}

static void spoil_store(const char *directory, unsigned kind, uint64_t seed)
{
    static const char *const tables[] = {"blobs", "memos", NULL};
    struct spoiling spoiling = {seed, kind};
    struct vcm_kv *kv = NULL;
    char lock[512];

    snprintf(lock, sizeof lock, "%s/lock", directory);
    assert_int_equal(
        vcm_kv_handle_open(
            &kv,
            &(struct vcm_kv_options){.directory = directory, .lock_path = lock, .tables = tables},
            NULL),
        VCM_OK);
    assert_int_equal(vcm_kv_handle_update(kv, spoil, &spoiling, 1000, NULL, NULL), VCM_OK);
    vcm_kv_handle_close(kv);
}

/* Rows as the format before this one had them, which hold something else. */
static int make_older(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct vcm_buf rows = VCM_BUF_INIT(16 * VCM_MIB);
    struct vcm_kv_cursor *cursor = NULL;
    struct vcm_slice key, value;
    size_t bytes = 0, *count = context;

    assert_int_equal(vcm_kv_cursor_open(&cursor, txn, 0, err), VCM_OK);
    int rc = vcm_kv_cursor_seek(&key, &value, cursor, vcm_slice_of("", 0), err);
    for (; rc == VCM_OK; rc = vcm_kv_cursor_next(&key, &value, cursor, err)) {
        assert_int_equal(key.data[key.len - 1], VCM_SYMBOL_FORMAT);
        vcm_buf_append_slice(&rows, key);
        bytes = key.len;
        ++*count;
    }
    vcm_kv_cursor_close(cursor);
    assert_int_equal(rc, VCM_NOT_FOUND);
    for (size_t i = 0; i < *count; i++) {
        char older[] = {VCM_SYMBOL_FORMAT - 1, 0};
        char *row = rows.data + i * bytes;
        assert_int_equal(vcm_kv_delete(txn, 0, vcm_slice_of(row, bytes), err), VCM_OK);
        row[bytes - 1] = older[0];
        rc = vcm_kv_put(txn, 0, vcm_slice_of(row, bytes), vcm_slice_of(older, sizeof older), err);
        assert_int_equal(rc, VCM_OK);
    }
    vcm_buf_release(&rows);
    return vcm_kv_delete(txn, 1, vcm_slice_of("\0s", 2), err); /* nor did it sweep */
}

static void symbols_of_an_older_format_are_read_from_the_files_again(void **state)
{
    static const char *const tables[] = {"blobs", "memos", NULL};
    struct test_repo repo, store;
    uint64_t seed = first_seed();
    struct vcm_kv *kv = NULL;
    size_t rows = 0;
    char lock[512];

    (void)state;
    make_repo(&repo, &seed);
    test_repo_init_directory(&store);
    struct fixture_request request = {.directory = store.path, .budget = 700};
    struct fixture_map first = make_map(&repo, request), second = make_map(&repo, request);
    assert_int_equal(second.parsed, 0);
    snprintf(lock, sizeof lock, "%s/lock", store.path);
    assert_int_equal(
        vcm_kv_handle_open(
            &kv,
            &(struct vcm_kv_options){.directory = store.path, .lock_path = lock, .tables = tables},
            NULL),
        VCM_OK);
    assert_int_equal(vcm_kv_handle_update(kv, make_older, &rows, 1000, NULL, NULL), VCM_OK);
    vcm_kv_handle_close(kv);
    struct fixture_map third = make_map(&repo, request);
    assert_true(rows > 0);
    assert_int_equal(
        vcm_kv_handle_open(
            &kv,
            &(struct vcm_kv_options){.directory = store.path, .lock_path = lock, .tables = tables},
            NULL),
        VCM_OK);
    size_t again = 0; /* none of the older rows is left beside them */
    assert_int_equal(vcm_kv_handle_update(kv, make_older, &again, 1000, NULL, NULL), VCM_OK);
    assert_int_equal(again, rows);
    vcm_kv_handle_close(kv);
    assert_int_equal(third.parsed, first.parsed);
    assert_same(&first, &third);
    free(first.text);
    free(second.text);
    free(third.text);
    test_repo_release(&store);
    test_repo_release(&repo);
}

#define ROW_BYTES 4u

static int put_rows(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    (void)context;
    for (unsigned i = 0; i < 100; i++) {
        /* Formats 1 to 5, and a key that is none of ours. */
        char key[] = {(char)i, 'k', 'k', (char)(1 + i % 5), 1};
        assert_int_equal(vcm_kv_put(txn, 0, vcm_slice_of(key, i == 50 ? 5 : ROW_BYTES),
                                    vcm_slice_of("v", 1), err),
                         VCM_OK);
    }
    return VCM_OK;
}

/* How many rows there are, and how many of them are older than the format. */
static size_t count_rows(size_t *older, struct vcm_kv *kv, int format)
{
    struct vcm_kv_cursor *cursor = NULL;
    struct vcm_kv_txn *txn = NULL;
    struct vcm_slice key, value;
    size_t count = 0;

    *older = 0;
    assert_int_equal(vcm_kv_handle_read_begin(&txn, kv, NULL), VCM_OK);
    assert_int_equal(vcm_kv_cursor_open(&cursor, txn, 0, NULL), VCM_OK);
    int rc = vcm_kv_cursor_seek(&key, &value, cursor, vcm_slice_of("", 0), NULL);
    for (; rc == VCM_OK; rc = vcm_kv_cursor_next(&key, &value, cursor, NULL)) {
        count++;
        *older += key.len == ROW_BYTES && key.data[ROW_BYTES - 1] < format;
    }
    vcm_kv_cursor_close(cursor);
    vcm_kv_handle_read_end(txn);
    return count;
}

static size_t sweep_once(struct vcm_kv *kv, unsigned format)
{
    struct vcm_sweep sweep = {
        .blobs = 0, .key_bytes = ROW_BYTES, .memos = 1, .format = format, .rows_max = 30};
    size_t dropped = 0;

    assert_int_equal(vcm_sweep_run(&dropped, kv, &sweep, NULL, NULL), VCM_OK);
    return dropped;
}

static void rows_of_older_formats_go_some_at_a_time(void **state)
{
    static const char *const tables[] = {"blobs", "memos", NULL};
    struct test_repo store;
    struct vcm_kv *kv = NULL;
    size_t older = 0;
    char lock[512];

    (void)state;
    test_repo_init_directory(&store);
    snprintf(lock, sizeof lock, "%s/lock", store.path);
    assert_int_equal(
        vcm_kv_handle_open(
            &kv,
            &(struct vcm_kv_options){.directory = store.path, .lock_path = lock, .tables = tables},
            NULL),
        VCM_OK);
    assert_int_equal(vcm_kv_handle_update(kv, put_rows, NULL, 1000, NULL, NULL), VCM_OK);
    assert_int_equal(sweep_once(kv, 4), 18); /* 3 of 5 of 30 */
    size_t dropped = 18;
    for (unsigned i = 0; i < 4; i++)
        dropped += sweep_once(kv, 4);
    assert_int_equal(count_rows(&older, kv, 4), 100 - dropped);
    assert_int_equal(older, 0);
    assert_int_equal(dropped, 59); /* all but the one that only looks like it */
    /* Rows that an older program puts later wait for the next format; it drops none of ours. */
    assert_int_equal(vcm_kv_handle_update(kv, put_rows, NULL, 1000, NULL, NULL), VCM_OK);
    assert_int_equal(sweep_once(kv, 4), 0);
    assert_int_equal(sweep_once(kv, 3), 0);
    for (unsigned i = 0; i < 5; i++)
        sweep_once(kv, 5);
    assert_int_equal(count_rows(&older, kv, 5), 21);
    assert_int_equal(older, 0);
    vcm_kv_handle_close(kv);
    test_repo_release(&store);
}

static void spoiled_memos_are_survived(void **state)
{
    struct test_repo repo;
    uint64_t seed = first_seed();

    (void)state;
    make_repo(&repo, &seed);
    for (unsigned i = 0; i < 14; i++) {
        struct test_repo store;
        test_repo_init_directory(&store);
        const char *mention = "cookie";
        struct fixture_request request = {.directory = store.path,
                                          .filter = "",
                                          .mentions = &mention,
                                          .mention_count = 1,
                                          .budget = 700};
        struct fixture_map map = make_map(&repo, request);
        free(map.text);
        spoil_store(store.path, 1 + i % 2, seed + i);
        struct vcm_error err = {0};
        int rc = fixture_make_map(&map, repo.path, &request, &err);
        assert_true(rc == VCM_OK || rc == VCM_STORE_CORRUPT);
        if (rc == VCM_OK)
            assert_true(map.tokens <= 700);
        free(map.text);
        test_repo_release(&store);
    }
    test_repo_release(&repo);
}

static void names_and_messages_share_words(void **state)
{
    static const char *const pairs[][2] = {
        {"readHTTPRequest", "read_http_requests"},
        {"parsing", "parsed"},
        {"cookies", "Cookie"},
        {"proxies", "proxy"},
        {"stopped", "stop"},
        {"src/caches.c", "src cache c"},
    };
    uint64_t a[VCM_WORDS_MAX], b[VCM_WORDS_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        size_t count = vcm_words_of(a, vcm_slice_of_string(pairs[i][0]));
        assert_true(count > 0);
        assert_int_equal(count, vcm_words_of(b, vcm_slice_of_string(pairs[i][1])));
        assert_memory_equal(a, b, count * sizeof *a);
    }
    assert_int_equal(vcm_words_of(a, vcm_slice_of_string("x")), 0);
    assert_int_equal(vcm_words_of(a, vcm_slice_of_string("")), 0);
    assert_int_equal(vcm_words_of(a, vcm_slice_of_string("__aB__")), 0);
    vcm_words_of(a, vcm_slice_of_string("pass"));
    vcm_words_of(b, vcm_slice_of_string("pas"));
    assert_true(a[0] != b[0]);
    char many[1000];
    memset(many, 'a', sizeof many);
    for (size_t i = 2; i < sizeof many; i += 3)
        many[i] = '_';
    assert_int_equal(vcm_words_of(a, vcm_slice_of(many, sizeof many)), VCM_WORDS_MAX);
}

static void put_memo(struct vcm_kv *kv, unsigned number, size_t bytes)
{
    unsigned char digest[VCM_HASH_SHA256_BYTES] = {(unsigned char)number,
                                                   (unsigned char)(number >> 8)};
    struct vcm_memo_key key;
    char *value = calloc(bytes + 1, 1);

    vcm_memo_key_make(&key, VCM_MEMO_GRAPH, digest);
    assert_int_equal(vcm_memo_put(kv, 0, &key, vcm_slice_of(value, bytes), VCM_MIB, NULL, NULL),
                     VCM_OK);
    free(value);
}

static bool has_memo(struct vcm_kv *kv, unsigned number)
{
    unsigned char digest[VCM_HASH_SHA256_BYTES] = {(unsigned char)number,
                                                   (unsigned char)(number >> 8)};
    struct vcm_kv_txn *txn = NULL;
    struct vcm_memo_key key;
    struct vcm_slice value;

    vcm_memo_key_make(&key, VCM_MEMO_GRAPH, digest);
    assert_int_equal(vcm_kv_handle_read_begin(&txn, kv, NULL), VCM_OK);
    int rc = vcm_memo_get(&value, txn, 0, &key, NULL);
    vcm_kv_handle_read_end(txn);
    return rc == VCM_OK;
}

static void the_oldest_memos_go_when_there_are_many(void **state)
{
    static const char *const tables[] = {"memos", NULL};
    struct test_repo store;
    struct vcm_kv *kv = NULL;
    char lock[512];

    (void)state;
    test_repo_init_directory(&store);
    snprintf(lock, sizeof lock, "%s/lock", store.path);
    assert_int_equal(
        vcm_kv_handle_open(
            &kv,
            &(struct vcm_kv_options){.directory = store.path, .lock_path = lock, .tables = tables},
            NULL),
        VCM_OK);
    for (unsigned i = 0; i < VCM_LIMIT_SYMBOLS_MEMOS + 3; i++)
        put_memo(kv, i, 10);
    put_memo(kv, 40, 20); /* again: it is the newest now */
    for (unsigned i = 0; i < VCM_LIMIT_SYMBOLS_MEMOS + 3; i++)
        assert_int_equal(has_memo(kv, i), i >= 3);
    put_memo(kv, 500, VCM_MIB / 2 + 1); /* too large to be kept */
    assert_false(has_memo(kv, 500));
    for (unsigned i = 0; i < 12; i++)
        put_memo(kv, 600 + i, VCM_MIB / 8);
    assert_false(has_memo(kv, 40));
    for (unsigned i = 0; i < 12; i++)
        assert_int_equal(has_memo(kv, 600 + i), i >= 4);
    vcm_kv_handle_close(kv);
    test_repo_release(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_remembered_graph_gives_the_same_bytes_as_a_new_one),
        cmocka_unit_test(a_changed_tree_is_another_one),
        cmocka_unit_test(headers_are_of_the_language_of_the_sources_around_them),
        cmocka_unit_test(names_draw_only_those_who_can_mean_them),
        cmocka_unit_test(no_budget_is_exceeded_and_the_next_one_holds_more),
        cmocka_unit_test(a_tree_without_a_blob_is_looked_at_again),
        cmocka_unit_test(symbols_of_an_older_format_are_read_from_the_files_again),
        cmocka_unit_test(rows_of_older_formats_go_some_at_a_time),
        cmocka_unit_test(spoiled_memos_are_survived),
        cmocka_unit_test(names_and_messages_share_words),
        cmocka_unit_test(the_oldest_memos_go_when_there_are_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
