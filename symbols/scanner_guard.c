#include "symbols/scanner_guard.h"

#include <string.h>

#include "symbols/parse_memory.h"

#include "base/banned.h"

/* What tree-sitter has room for, TREE_SITTER_SERIALIZATION_BUFFER_SIZE. */
#define STATE_MAX 1024u

unsigned vcm_scanner_guard_save(vcm_scanner_guard_save_fn save, void *payload, char *buffer)
{
    struct vcm_parse_memory_room *rooms = vcm_parse_memory_rooms();

    if (!rooms)
        return save(payload, buffer);
    unsigned length = save(payload, rooms->saved);
    if (length > STATE_MAX)
        vcm_parse_memory_refuse();
    memcpy(buffer, rooms->saved, length);
    return length;
}

void vcm_scanner_guard_restore(vcm_scanner_guard_restore_fn restore, void *payload,
                               const char *buffer, unsigned length)
{
    struct vcm_parse_memory_room *rooms = vcm_parse_memory_rooms();

    if (!rooms || length == 0) {
        restore(payload, buffer, length);
        return;
    }
    memcpy(rooms->restored, buffer, length);
    if (rooms->restored_length > length)
        memset(rooms->restored + length, 0, rooms->restored_length - length);
    rooms->restored_length = length;
    restore(payload, rooms->restored, length);
}

_Noreturn void vcm_scanner_guard_fail(const char *assertion, const char *file, unsigned line,
                                      const char *function)
{
    (void)assertion;
    (void)file;
    (void)line;
    (void)function;
    vcm_parse_memory_refuse();
}

int vcm_scanner_guard_isdigit(int c)
{
    return c >= '0' && c <= '9';
}

int vcm_scanner_guard_iswdigit(wint_t c)
{
    return c >= '0' && c <= '9';
}

int vcm_scanner_guard_iswlower(wint_t c)
{
    return c >= 'a' && c <= 'z';
}

int vcm_scanner_guard_iswupper(wint_t c)
{
    return c >= 'A' && c <= 'Z';
}

int vcm_scanner_guard_iswalpha(wint_t c)
{
    return vcm_scanner_guard_iswlower(c | 0x20) && c < 0x80;
}

int vcm_scanner_guard_iswalnum(wint_t c)
{
    return vcm_scanner_guard_iswalpha(c) || vcm_scanner_guard_iswdigit(c);
}

int vcm_scanner_guard_iswspace(wint_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

int vcm_scanner_guard_iswxdigit(wint_t c)
{
    return vcm_scanner_guard_iswdigit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

wint_t vcm_scanner_guard_towupper(wint_t c)
{
    return vcm_scanner_guard_iswlower(c) ? c - 'a' + 'A' : c;
}
