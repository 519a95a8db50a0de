/*
 * defaults.h - the values that are used when a caller gives none: each number that code, help and
 * documentation share is defined once, here.
 *
 * Code uses the number, help and messages VCM_DEFAULT_TEXT() of it; tests/cli/test_defaults.py
 * checks that the documents state each of them, and tests/repomap/test_docs.c those of a repo map.
 * Defaults of the configuration alone are in api/config.c.
 */
#ifndef VCM_BASE_DEFAULTS_H
#define VCM_BASE_DEFAULTS_H

/* The digits of a default that is a plain number. */
#define VCM_DEFAULT_TEXT(number)    VCM_DEFAULT_TEXT_OF(number)
#define VCM_DEFAULT_TEXT_OF(number) #number

/* How text is cut, unless a row or the configuration says otherwise. */
#define VCM_DEFAULT_FLUSH_THRESHOLD      20   /* records in a page */
#define VCM_DEFAULT_FLUSH_TOKEN_BUDGET   4096 /* tokens in a page */
#define VCM_DEFAULT_CHUNK_TARGET_TOKENS  800
#define VCM_DEFAULT_CHUNK_OVERLAP_TOKENS 80

/* Sizes of answers. */
#define VCM_DEFAULT_REPO_MAP_TOKENS 1500
#define VCM_DEFAULT_ANSWER_ROWS     50   /* of a listing as text */
#define VCM_DEFAULT_ANSWER_TOKENS   4000 /* of it, as printed */
#define VCM_DEFAULT_KB_LIMIT        10   /* hits of a search on the command line */
#define VCM_DEFAULT_TREE_DEPTH      8
#define VCM_DEFAULT_TREE_NODES      5000

/* Entries of a tree, directories too, that one walk may visit. */
#define VCM_DEFAULT_WALK_ENTRIES 5000000

/* Durations. */
#define VCM_DEFAULT_FETCH_MINUTES      10 /* to fetch one commit for a mapping */
#define VCM_DEFAULT_REPO_FETCH_SECONDS 60
#define VCM_DEFAULT_POLL_SECONDS       60 /* between two checks of a remote */
#define VCM_DEFAULT_TOP_SECONDS        1
#define VCM_DEFAULT_UNUSED_HOURS       336 /* that an unused clone is kept */

#endif
