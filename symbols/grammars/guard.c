/*
 * guard.c - a scanner's state on its way to the parser and back. Compiled once for each grammar
 * that has a scanner, whose own functions are compiled under other names.
 */
#include "symbols/scanner_guard.h"

#include "base/banned.h"

#define JOIN_NAMES(a, b, c) a##b##c
#define JOIN(a, b, c)       JOIN_NAMES(a, b, c)
#define OURS(verb)          JOIN(tree_sitter_, VCM_GRAMMAR, _external_scanner_##verb)
#define THEIRS(verb)        JOIN(vcm_scanner_guard_of_, VCM_GRAMMAR, _##verb)

unsigned THEIRS(serialize)(void *payload, char *buffer);
void THEIRS(deserialize)(void *payload, const char *buffer, unsigned length);
unsigned OURS(serialize)(void *payload, char *buffer);
void OURS(deserialize)(void *payload, const char *buffer, unsigned length);

unsigned OURS(serialize)(void *payload, char *buffer)
{
    return vcm_scanner_guard_save(THEIRS(serialize), payload, buffer);
}

void OURS(deserialize)(void *payload, const char *buffer, unsigned length)
{
    vcm_scanner_guard_restore(THEIRS(deserialize), payload, buffer, length);
}
