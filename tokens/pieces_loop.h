/*
 * pieces_loop.h - the hot loop of pieces.h, which is compiled once for each set of instructions.
 *
 * A file that includes it defines PIECES_COUNT, the name of its copy. Internal to tokens/.
 */
#ifndef VCM_TOKENS_PIECES_LOOP_H
#define VCM_TOKENS_PIECES_LOOP_H

#include "tokens/block.h"
#include "tokens/pieces.h"

/* The state of a count. Short pieces are looked up a block at a time, and the pieces that are not
 * in the cache are counted several at a time, so that their memory accesses overlap. */
struct counting {
    const struct bpe *bpe;
    struct bpe_cache *cache;
    const unsigned char *text; /* marks are offsets from here */
    const unsigned char *end;
    size_t count;
    size_t missed_count;             /* of the missed pieces, whose tokens are not in `count` */
    struct vcm_tokenizer_mark *mark; /* the next one */
    struct vcm_tokenizer_mark *marks_end;
    size_t missed_len;
    struct bpe_missed missed[BPE_MISSED_MAX];
    struct vcm_tokenizer_mark *missed_mark[BPE_MISSED_MAX]; /* the first behind it */
};

/* The pieces of a block that were looked up, in order. */
struct looked_up {
    struct bpe_missed pieces[BLOCK_BYTES / 2];
    size_t counts[BLOCK_BYTES / 2 + 1]; /* of all before it; those that were missed count 0 */
    uint64_t missed;                    /* a bit for each */
};

/* A mark does not include the pieces that were missed before it. The tokens of such a piece are
 * added to `late` of the first mark behind it, and summed up over all later marks at the end. */
static void count_missed(struct counting *counting, bool marked)
{
    counting->missed_count +=
        vcm_bpe_count_missed(counting->bpe, counting->missed, counting->missed_len);
    for (size_t i = 0; marked && i < counting->missed_len; i++)
        if (counting->missed_mark[i] < counting->marks_end)
            counting->missed_mark[i]->late += counting->missed[i].count;
    counting->missed_len = 0;
}

SCAN_INLINE void begin_lookup(const struct counting *counting, struct bpe_missed *lookup,
                              const unsigned char *piece, size_t len)
{
    lookup->key = bpe_short_key(piece, len, counting->end);
    lookup->slot = bpe_short_slot(counting->cache, lookup->key);
    __builtin_prefetch(lookup->slot);
}

/* `mark` is the first behind the piece. */
SCAN_INLINE void add_missed(struct counting *counting, const struct bpe_missed *lookup, bool marked,
                            struct vcm_tokenizer_mark *mark)
{
    counting->missed[counting->missed_len] = *lookup;
    if (marked)
        counting->missed_mark[counting->missed_len] = mark;
    if (++counting->missed_len == BPE_MISSED_MAX)
        count_missed(counting, marked);
}

static void count_piece(struct counting *counting, const unsigned char *piece, size_t len,
                        bool marked)
{
    struct bpe_missed lookup;
    if (counting->cache && len <= BPE_SHORT_BYTES) {
        begin_lookup(counting, &lookup, piece, len);
        if (bpe_short_holds(lookup.slot, &lookup.key))
            counting->count += (size_t)(lookup.slot->high >> 60);
        else
            add_missed(counting, &lookup, marked, counting->mark);
    } else if (counting->cache && len <= BPE_MIDDLE_BYTES) {
        if (vcm_bpe_find_middle(&lookup, counting->cache, piece, len))
            counting->count += lookup.count;
        else
            add_missed(counting, &lookup, marked, counting->mark);
    } else {
        counting->count += vcm_bpe_count_long(counting->bpe, counting->cache, piece, len);
    }
}

SCAN_INLINE uint64_t bits_below(unsigned bit)
{
    return (UINT64_C(1) << bit) - 1;
}

/* Fills in the marks that end in a block whose pieces, but the last, were counted. `singles` and
 * `lookups` are the beginnings of the pieces of one byte and of those that were looked up. */
SCAN_INLINE void mark_block(struct counting *counting, const unsigned char *block, uint64_t starts,
                            uint64_t singles, uint64_t lookups, const size_t *counts,
                            size_t count_before)
{
    size_t at = (size_t)(block - counting->text);
    unsigned last = 63 - (unsigned)__builtin_clzll(starts);
    for (; counting->mark < counting->marks_end && counting->mark->end <= at + last;
         counting->mark++) {
        /* The last piece that begins before the mark's end, which is behind the first one's. */
        uint64_t before = starts & bits_below((unsigned)(counting->mark->end - at));
        unsigned begin = 63 - (unsigned)__builtin_clzll(before);
        size_t looked_up = (size_t)__builtin_popcountll(lookups & bits_below(begin));
        counting->mark->at = (uint32_t)(at + begin);
        counting->mark->tokens =
            (uint32_t)(count_before + counts[looked_up] +
                       (size_t)__builtin_popcountll(singles & bits_below(begin)));
    }
}

/* The pieces of a block that were not in their slots. */
static void add_block_missed(struct counting *counting, const struct looked_up *found,
                             uint64_t lookups, size_t at, struct vcm_tokenizer_mark *mark,
                             bool marked)
{
    size_t i = 0;
    for (; lookups; lookups &= lookups - 1, i++) {
        if (!(found->missed >> i & 1))
            continue;
        size_t begin = at + (unsigned)__builtin_ctzll(lookups);
        while (marked && mark < counting->mark && mark->at <= begin)
            mark++;
        add_missed(counting, &found->pieces[i], marked, mark);
    }
}

/* Counts the pieces that begin at the bits of `starts`, but for the last, and returns that. */
SCAN_INLINE const unsigned char *count_block(struct counting *counting, uint64_t starts,
                                             const unsigned char *block, bool marked)
{
    struct looked_up found;
    struct vcm_tokenizer_mark *mark = counting->mark;
    uint64_t last = UINT64_C(1) << (63 - __builtin_clzll(starts));
    uint64_t single = starts & starts >> 1;
    uint64_t lookups = starts & ~single & ~last;
    size_t before = counting->count, held = 0, sum = 0;
    for (uint64_t left = lookups; left; left &= left - 1) {
        unsigned from = (unsigned)__builtin_ctzll(left);
        size_t len = (size_t)__builtin_ctzll(starts >> from >> 1) + 1;
        if (__builtin_expect(len > BPE_SHORT_BYTES, 0)) {
            found.pieces[held].slot = NULL;
            found.pieces[held++].count =
                (uint32_t)vcm_bpe_count_long(counting->bpe, counting->cache, block + from, len);
            continue;
        }
        begin_lookup(counting, &found.pieces[held++], block + from, len);
    }
    found.missed = 0;
    for (size_t i = 0; i < held; i++) {
        const struct bpe_missed *piece = &found.pieces[i];
        found.counts[i] = sum;
        if (__builtin_expect(!piece->slot, 0))
            sum += piece->count;
        else if (__builtin_expect(bpe_short_holds(piece->slot, &piece->key), 1))
            sum += (size_t)(piece->slot->high >> 60);
        else
            found.missed |= UINT64_C(1) << i;
    }
    found.counts[held] = sum;
    /* A single byte is one token. */
    counting->count += sum + (size_t)__builtin_popcountll(single);
    if (marked)
        mark_block(counting, block, starts, single, lookups, found.counts, before);
    if (found.missed)
        add_block_missed(counting, &found, lookups, (size_t)(block - counting->text), mark, marked);
    return block + __builtin_ctzll(last);
}

/* Fills in the marks that end in a piece. */
SCAN_INLINE void mark_piece(struct counting *counting, const unsigned char *piece,
                            const unsigned char *next)
{
    for (; counting->mark < counting->marks_end &&
           counting->mark->end <= (size_t)(next - counting->text);
         counting->mark++) {
        counting->mark->at = (uint32_t)(piece - counting->text);
        counting->mark->tokens = (uint32_t)counting->count;
    }
}

/* Adds the late counts up. The first mark that was not reached may have some too: the next job
 * begins with all of them. */
static void settle_marks(const struct counting *counting, const struct pieces_job *job)
{
    size_t tokens = job->tokens;
    for (struct vcm_tokenizer_mark *mark = job->marks; mark < counting->mark; mark++) {
        tokens += mark->late;
        mark->tokens += (uint32_t)tokens;
    }
    if (counting->mark < counting->marks_end)
        counting->mark->late = 0;
}

SCAN_INLINE void count_pieces(enum scan_pattern pattern, const struct bpe *bpe,
                              struct pieces_job *job, bool marked)
{
    struct counting counting; /* not cleared: the lists are long, and the text may be short */
    counting.bpe = bpe;
    counting.cache = vcm_bpe_cache(bpe);
    counting.text = job->text;
    counting.end = job->end;
    counting.count = 0;
    counting.missed_count = 0;
    counting.mark = job->marks;
    counting.marks_end = job->marks ? job->marks + job->marks_len : NULL;
    counting.missed_len = 0;
    const unsigned char *piece = job->at;
    while (piece < job->end) {
        uint64_t starts = 1;
        if (counting.cache && job->end - piece >= BLOCK_BYTES)
            starts = block_starts(pattern, piece);
        if (starts != 1) {
            piece = count_block(&counting, starts, piece, marked);
            continue;
        }
        const unsigned char *next = scan_next(pattern, piece, job->end, job->final);
        if (!next)
            break;
        if (marked)
            mark_piece(&counting, piece, next);
        count_piece(&counting, piece, (size_t)(next - piece), marked);
        piece = next;
    }
    count_missed(&counting, marked);
    if (marked)
        settle_marks(&counting, job);
    job->at = piece;
    job->marks_done = (size_t)(counting.mark - job->marks);
    job->tokens += counting.count + counting.missed_count;
}

void PIECES_COUNT(const struct vcm_tokenizer *tokenizer, struct pieces_job *job)
{
    const struct bpe *bpe = &tokenizer->bpe;
    bool marked = job->marks_len > 0;

    if (tokenizer->pattern == SCAN_O200K && marked)
        count_pieces(SCAN_O200K, bpe, job, true);
    else if (tokenizer->pattern == SCAN_O200K)
        count_pieces(SCAN_O200K, bpe, job, false);
    else if (marked)
        count_pieces(SCAN_CL100K, bpe, job, true);
    else
        count_pieces(SCAN_CL100K, bpe, job, false);
}

#endif
