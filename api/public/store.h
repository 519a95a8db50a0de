/*
 * <vcm/store.h> - the store: its state, checks, garbage collection and traces of accesses.
 *
 * Samples, findings, accesses and outcomes live until the callback returns.
 */
#ifndef VCM_PUBLIC_STORE_H
#define VCM_PUBLIC_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/public/handle.h"

#ifdef __cplusplus
extern "C" {
/* A struct and a function may have one name, as in stat(2). */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

struct vcm_stat {
    const char *home;
    uint32_t format_version;
    char tokenizer[32];
    uint64_t scopes;
    uint64_t pages, pages_resident, pages_compressed, pages_evicted, pages_pinned, pages_locked;
    uint64_t bytes_resident, bytes_compressed, bytes_capacity, bytes_file;
    uint64_t tokens;
    uint64_t hits, minor_faults, major_faults, evictions;
    uint64_t private_answers; /* faults that were answered from private memory: the page did not
                                 become resident */
    const char *policy;
};

int vcm_stat(struct vcm_stat *out, struct vcm *vcm, struct vcm_error *err);

struct vcm_top_scope {
    char scope_id[258];
    uint64_t pages, bytes, tokens;
};

/* A sample of the store's state. */
struct vcm_top_sample {
    struct vcm_stat stat;
    bool has_rate;                      /* false for the first sample */
    double faults_per_second;           /* minor and major faults since the sample before */
    const struct vcm_top_scope *scopes; /* the largest scopes, largest first */
    size_t scope_count;
};

struct vcm_top_options {
    uint64_t interval_ms, count; /* count 0: until interrupted */
    int (*visit)(void *context, const struct vcm_top_sample *sample, struct vcm_error *err);
    int (*idle)(void *context, struct vcm_error *err); /* called while waiting; may be NULL */
    void *context;
};

/* Samples the store at intervals. INTERRUPTED when the handle is cancelled. */
int vcm_top(struct vcm *vcm, const struct vcm_top_options *options, struct vcm_error *err);

struct vcm_verify_finding {
    const char *what, *where;
};
typedef int (*vcm_verify_fn)(void *context, const struct vcm_verify_finding *finding,
                             struct vcm_error *err);

struct vcm_verify_result {
    bool ok;
    uint64_t pages_checked, findings; /* checking stops after a thousand findings */
};

/* Hashes every page and checks every index, in a forked child process; if the child dies, that is a
 * finding. `deep` also rebuilds evicted pages. A damaged store is marked, and the next vcm_map()
 * sets it aside; when there is no damage, a mark is removed. The knowledge base is checked, too,
 * and stored symbols, which are removed when they are damaged. VCM_OK also when something is wrong:
 * see `ok`. */
int vcm_verify(struct vcm_verify_result *result, struct vcm *vcm, bool deep, vcm_verify_fn visit,
               void *context, struct vcm_error *err);

struct vcm_gc_counts {
    uint64_t pages_dropped, bytes_before, bytes_after; /* bytes of the file */
};

/* Verifies the store, removes what no scope refers to and compacts the file, while others read.
 * STORE_BUSY, STORE_FULL, STORE_CORRUPT. */
int vcm_gc(struct vcm_gc_counts *out, struct vcm *vcm, struct vcm_error *err);

struct vcm_gc_clone_counts {
    uint64_t dropped, kept;
    uint64_t bytes; /* of the dropped clones */
};

/* Removes the clones of URLs that no scope uses, neither as a row nor for its repo map, and that
 * were neither fetched nor read for `unused_ms`, 0 for 336 hours. INVALID_ARGUMENT for less than
 * an hour, because a mapping under way may use a clone. */
int vcm_gc_clones(struct vcm_gc_clone_counts *out, struct vcm *vcm, uint64_t unused_ms,
                  struct vcm_error *err);

/* Traces of page accesses. A line per access: milliseconds, page id, bytes. */
struct vcm_trace_access {
    uint64_t ms; /* since the recording began */
    const char *page_id;
    uint64_t bytes;
};

struct vcm_trace_record_options {
    uint64_t duration_ms, count; /* 0: no limit; if both are 0, until interrupted */
    int (*visit)(void *context, const struct vcm_trace_access *access, struct vcm_error *err);
    int (*idle)(void *context,
                struct vcm_error *err); /* called several times a second; may be NULL */
    void *context;
};

struct vcm_trace_recorded {
    uint64_t accesses, lost; /* lost: accesses that came faster than they were recorded */
};

/* Visits every read of a page, by any process, until a limit is reached. INTERRUPTED when the
 * handle is cancelled; *out is valid then, too. STORE_BUSY while another process records. */
int vcm_trace_record(struct vcm_trace_recorded *out, struct vcm *vcm,
                     const struct vcm_trace_record_options *options, struct vcm_error *err);

struct vcm_trace_outcome {
    const char *policy; /* "sieve", ..., "optimum" */
    uint64_t capacity;
    double hit_ratio, byte_hit_ratio;
};
typedef int (*vcm_trace_outcome_fn)(void *context, const struct vcm_trace_outcome *outcome,
                                    struct vcm_error *err);

/* Replays a trace against every eviction policy and the clairvoyant optimum, at one capacity or,
 * when it is 0, at five fractions of the size of the trace's pages. INVALID_ARGUMENT names a bad
 * line.
 */
int vcm_trace_replay_file(uint64_t *accesses, struct vcm *vcm, const char *path, uint64_t capacity,
                          vcm_trace_outcome_fn visit, void *context, struct vcm_error *err);

#ifdef __cplusplus
#pragma GCC diagnostic pop
}
#endif

#endif
