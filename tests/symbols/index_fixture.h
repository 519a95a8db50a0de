/*
 * index_fixture.h - repositories of generated files that use each other, and maps of them as text.
 */
#ifndef VCM_TESTS_SYMBOLS_INDEX_FIXTURE_H
#define VCM_TESTS_SYMBOLS_INDEX_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "symbols/listing.h"
#include "tests/support/random.h"
#include "tests/support/repo.h"

static const char *const fixture_verbs[] = {"read", "write", "parse", "open", "sort", "find"};
static const char *const fixture_nouns[] = {"page", "list", "cookie", "proxy", "node", "lock"};

static inline void fixture_name(char out[64], uint64_t *seed, unsigned file)
{
    snprintf(out, 64, "%s_%s%u", fixture_verbs[test_random_below(seed, 6)],
             fixture_nouns[test_random_below(seed, 6)], file);
}

/* A C file that defines some functions and calls some of others. */
static inline void fixture_write(const struct test_repo *repo, unsigned file, unsigned count,
                                 uint64_t *seed)
{
    static const char *const folders[] = {"", "src/", "tests/", "vendor/lib/", "src/deep/down/"};
    char name[64], path[128], text[4096] = "";
    size_t len = 0;

    snprintf(path, sizeof path, "%sfile%u.%s", folders[test_random_below(seed, 5)], file,
             test_random_below(seed, 4) == 0 ? "py" : "c");
    bool python = path[strlen(path) - 1] == 'y';
    for (unsigned i = 0; i < 1 + test_random_below(seed, 6); i++) {
        unsigned other = test_random_below(seed, count);
        uint64_t theirs = other;
        char call[64];
        fixture_name(call, &theirs, other);
        if (i == 0) {
            uint64_t own = file;
            fixture_name(name, &own, file);
        } else {
            fixture_name(name, seed, file);
        }
        len += (size_t)snprintf(text + len, sizeof text - len,
                                python ? "def %s(a):\n    return %s(a)\n\n"
                                       : "int %s(int a)\n{\n    return %s(a);\n}\n\n",
                                name, call);
    }
    test_repo_write(repo, path, text, len);
}

struct fixture_map {
    char *text;
    size_t tokens, shown, total, next;
    size_t parsed;
};

struct fixture_request {
    const char *directory; /* of the symbol store */
    const char *filter;    /* NULL: nothing is remembered */
    const char *const *mentions;
    size_t mention_count;
    const char *const *focus;
    size_t focus_count;
    size_t budget;
};

static bool fixture_takes(void *context, struct vcm_slice path)
{
    (void)context;
    (void)path;
    return true;
}

/* Everything from the repository to the text, as a program does it. */
static inline int fixture_make_map(struct fixture_map *out, const char *path,
                                   const struct fixture_request *request, struct vcm_error *err)
{
    struct vcm_git_repo *repo = NULL;
    struct vcm_index *index = NULL;
    struct vcm_rank *rank = NULL;
    struct vcm_tokenizer *tokenizer = NULL;
    struct vcm_listing map = {.tokens = 0};

    *out = (struct fixture_map){.text = NULL};
    int rc = vcm_git_repo_open(&repo, path, err);
    if (rc == VCM_OK)
        rc = vcm_tokenizer_open(&tokenizer, VCM_TOKENIZER_DEFAULT, err);
    if (rc == VCM_OK)
        rc = vcm_index_open(&index,
                            &(struct vcm_index_request){.directory = request->directory,
                                                        .repo = repo,
                                                        .subpath = "",
                                                        .takes = fixture_takes,
                                                        .filter = request->filter,
                                                        .workers = 2},
                            err);
    if (rc == VCM_OK)
        rc = vcm_rank_open(&rank, index,
                           &(struct vcm_rank_request){.mentions = request->mentions,
                                                      .mention_count = request->mention_count,
                                                      .focus = request->focus,
                                                      .focus_count = request->focus_count},
                           err);
    if (rc == VCM_OK)
        rc = vcm_listing_make(&map, index, rank, tokenizer, request->budget, err);
    if (rc == VCM_OK) {
        *out = (struct fixture_map){.tokens = map.tokens,
                                    .shown = map.symbols_shown,
                                    .total = map.symbols_total,
                                    .next = map.tokens_next,
                                    .parsed = index->parsed};
        out->text = strdup(vcm_buf_text(&map.text));
        rc = out->text ? VCM_OK : vcm_error_memory(err);
    }
    vcm_listing_release(&map);
    vcm_rank_close(rank);
    vcm_index_close(index);
    vcm_tokenizer_close(tokenizer);
    vcm_git_repo_close(repo);
    return rc;
}

#endif
