#include "symbols/parse_memory.h"

#include <assert.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "symbols/parse_work.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#endif
#ifdef HAS_ASAN
#include <sanitizer/asan_interface.h>
#endif

#include "base/banned.h"

#define STEPS_AT_ONCE ((int64_t)1 << 20)
#define UNIT          ((size_t)16)
#define SMALL_MAX     ((size_t)1024) /* size classes: a unit apart up to here, then powers of two */
#define SMALL_COUNT   (SMALL_MAX / UNIT)
#define CLASS_COUNT   (SMALL_COUNT + 32)
#define CHUNK_MIN     (64 * VCM_KIB)
#define CHUNK_MAX     (4 * VCM_MIB)
#define KEEP_MAX      (16 * VCM_MIB) /* bytes kept for the next file */

/* In front of every piece; pieces are aligned as those of malloc() are. */
struct head {
    size_t class;
    struct head *next; /* of the free ones of its class */
};
_Static_assert(sizeof(struct head) == UNIT, "pieces would not be aligned");

struct chunk {
    struct chunk *next;
    size_t size; /* without this */
};
_Static_assert(sizeof(struct chunk) == UNIT, "pieces would not be aligned");

struct vcm_parse_memory {
    struct chunk *chunks; /* the newest first */
    struct chunk *idle;   /* kept for the next time */
    char *at;             /* free bytes of the newest chunk */
    size_t left;
    size_t bytes, bytes_max;
    uint64_t asked;
    uint64_t steps, steps_max; /* steps: granted so far, work_left of them unused */
    const struct vcm_cancel *cancel;
    struct head *free_pieces[CLASS_COUNT];
    enum vcm_parse_memory_outcome outcome;
    jmp_buf exit;
    struct vcm_parse_memory_room rooms;
    unsigned char fill; /* of new pieces where AddressSanitizer watches; another in each run */
};

static _Thread_local struct vcm_parse_memory *current;
_Thread_local int64_t vcm_parse_work_left;

/* All pieces are inside chunks, which would hide faults of a scanner from AddressSanitizer: so it
 * is told which bytes are allocated. Heads of pieces are poisoned except while they are
 * accessed. */
static void allow(const void *at, size_t size)
{
#ifdef HAS_ASAN
    __asan_unpoison_memory_region(at, size);
#else
    (void)at;
    (void)size;
#endif
}

static void forbid(const void *at, size_t size)
{
#ifdef HAS_ASAN
    __asan_poison_memory_region(at, size);
#else
    (void)at;
    (void)size;
#endif
}

struct vcm_parse_memory *vcm_parse_memory_open(size_t bytes_max)
{
    struct vcm_parse_memory *memory = calloc(1, sizeof *memory);

    if (memory) {
        memory->bytes_max = bytes_max;
        memory->steps_max = UINT64_MAX;
    }
    return memory;
}

static void free_chunks(struct chunk **list)
{
    while (*list) {
        struct chunk *next = (*list)->next;
        free(*list);
        *list = next;
    }
}

void vcm_parse_memory_close(struct vcm_parse_memory *memory)
{
    if (!memory)
        return;
    free_chunks(&memory->chunks);
    free_chunks(&memory->idle);
    free(memory);
}

void vcm_parse_memory_reset(struct vcm_parse_memory *memory)
{
    size_t kept = 0;

    for (struct chunk *chunk = memory->idle; chunk; chunk = chunk->next)
        kept += chunk->size;
    while (memory->chunks) {
        struct chunk *chunk = memory->chunks;
        memory->chunks = chunk->next;
        if (chunk->size > CHUNK_MAX || kept + chunk->size > KEEP_MAX) {
            free(chunk);
            continue;
        }
        kept += chunk->size;
        chunk->next = memory->idle;
        memory->idle = chunk;
    }
    memory->at = NULL;
    memory->left = memory->bytes = 0;
    memset(memory->free_pieces, 0, sizeof memory->free_pieces);
}

enum vcm_parse_memory_outcome vcm_parse_memory_run(struct vcm_parse_memory *memory,
                                                   void (*work)(void *context), void *context)
{
    struct vcm_parse_memory *volatile outer = current;

    memory->outcome = VCM_PARSE_DONE;
    memory->asked = memory->steps = 0;
    vcm_parse_work_left = 0;
    memory->fill = (unsigned char)(memory->fill * 5 + 0x5b);
    current = memory;
    if (setjmp(memory->exit) == 0)
        work(context);
    current = outer;
    memory->steps -= vcm_parse_work_left > 0 ? (uint64_t)vcm_parse_work_left : 0;
    vcm_parse_work_left = 0;
    return memory->outcome;
}

void vcm_parse_memory_bound(struct vcm_parse_memory *memory, uint64_t steps,
                            const struct vcm_cancel *cancel)
{
    memory->steps_max = steps;
    memory->cancel = cancel;
}

uint64_t vcm_parse_memory_steps(const struct vcm_parse_memory *memory)
{
    return memory->steps;
}

uint64_t vcm_parse_memory_asked(void)
{
    return current ? current->asked : 0;
}

static _Noreturn void give_up(struct vcm_parse_memory *memory,
                              enum vcm_parse_memory_outcome outcome)
{
    assert(memory == current && "only the current work can be left");
    memory->outcome = outcome;
    longjmp(memory->exit, 1);
}

void vcm_parse_memory_check_work(void)
{
    struct vcm_parse_memory *memory = current;
    int64_t over = vcm_parse_work_left; /* negative: steps that were not granted */

    vcm_parse_work_left = STEPS_AT_ONCE;
    if (!memory)
        return;
    memory->steps += (uint64_t)(STEPS_AT_ONCE - over);
    if (vcm_cancel_is_requested(memory->cancel))
        give_up(memory, VCM_PARSE_CANCELLED);
    if (memory->steps - STEPS_AT_ONCE > memory->steps_max)
        give_up(memory, VCM_PARSE_TOO_LARGE);
}

_Noreturn void vcm_parse_memory_refuse(void)
{
    if (!current)
        abort();
    give_up(current, VCM_PARSE_TOO_LARGE);
}

struct vcm_parse_memory_room *vcm_parse_memory_rooms(void)
{
    return current ? &current->rooms : NULL;
}

static size_t class_of(size_t size)
{
    size_t class = size > 0 ? (size - 1) / UNIT : 0;

    if (class < SMALL_COUNT)
        return class;
    for (class = SMALL_COUNT;
         class + 1 < CLASS_COUNT && (SMALL_MAX << 1) << (class - SMALL_COUNT) < size;)
        class ++;
    return class;
}

static size_t size_of(size_t class)
{
    return class < SMALL_COUNT ? (class + 1) * UNIT : (SMALL_MAX << 1) << (class - SMALL_COUNT);
}

/* Room for `size` bytes at memory->at. */
static void add_chunk(struct vcm_parse_memory *memory, size_t size)
{
    size_t want = memory->chunks ? 2 * memory->chunks->size : CHUNK_MIN;
    struct chunk *chunk = memory->idle;

    if (chunk && chunk->size >= size) {
        memory->idle = chunk->next;
    } else {
        want = want < CHUNK_MIN ? CHUNK_MIN : want > CHUNK_MAX ? CHUNK_MAX : want;
        want = want < size ? size : want;
        chunk = malloc(sizeof *chunk + want);
        if (!chunk)
            give_up(memory, VCM_PARSE_NO_MEMORY);
        chunk->size = want;
    }
    chunk->next = memory->chunks;
    memory->chunks = chunk;
    memory->at = (char *)(chunk + 1);
    memory->left = chunk->size;
    forbid(memory->at, memory->left);
}

/* The piece behind a head, of which `size` bytes are asked for. */
static void *open_piece(struct head *head, size_t size)
{
    forbid(head, sizeof *head);
    allow(head + 1, size);
    return head + 1;
}

/* A new piece. Its fill differs from run to run, so that a read of uninitialised bytes changes the
 * result and is noticed. */
static void *begin_piece(struct vcm_parse_memory *memory, struct head *head, size_t size)
{
    void *piece = open_piece(head, size);

#ifdef HAS_ASAN
    memset(piece, memory->fill, size);
#else
    (void)memory;
#endif
    return piece;
}

static void *take(struct vcm_parse_memory *memory, size_t size)
{
    size_t class = class_of(size), whole = size_of(class) + sizeof(struct head);
    struct head *head = memory->free_pieces[class];

    memory->asked += size;
    if (head) {
        allow(head, sizeof *head);
        memory->free_pieces[class] = head->next;
        return begin_piece(memory, head, size);
    }
    if (size > memory->bytes_max || memory->bytes + whole > memory->bytes_max)
        give_up(memory, VCM_PARSE_TOO_LARGE);
    if (whole > memory->left)
        add_chunk(memory, whole);
    head = (struct head *)memory->at;
    memory->at += whole;
    memory->left -= whole;
    memory->bytes += whole;
    allow(head, sizeof *head);
    head->class = class;
    return begin_piece(memory, head, size);
}

void *vcm_parse_memory_malloc(size_t size)
{
    return current ? take(current, size) : malloc(size);
}

void *vcm_parse_memory_calloc(size_t count, size_t size)
{
    if (!current)
        return calloc(count, size);
    if (size > 0 && count > SIZE_MAX / size)
        give_up(current, VCM_PARSE_TOO_LARGE);
    /* Swift's scanner allocates 0 bytes and keeps a number there: so it gets one, initially 0. */
    size_t bytes = count * size > 0 ? count * size : UNIT;
    return memset(take(current, bytes), 0, bytes);
}

void *vcm_parse_memory_realloc(void *old, size_t size)
{
    if (!current)
        return realloc(old, size);
    if (!old)
        return take(current, size);
    struct head *head = (struct head *)old - 1;
    allow(head, sizeof *head);
    size_t had = size_of(head->class);
    allow(old, had);
    if (size <= had) {
        forbid((char *)old + size, had - size);
        return open_piece(head, size);
    }
    void *grown = take(current, size);
    memcpy(grown, old, had);
    vcm_parse_memory_free(old);
    return grown;
}

void vcm_parse_memory_free(void *old)
{
    if (!current) {
        free(old);
        return;
    }
    if (!old)
        return;
    struct head *head = (struct head *)old - 1;
    allow(head, sizeof *head);
    head->next = current->free_pieces[head->class];
    current->free_pieces[head->class] = head;
    forbid(head, sizeof *head + size_of(head->class));
}
