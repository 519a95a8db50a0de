/*
 * scanner_guard.h - protects the process from faults of the grammars' scanners.
 *
 * A grammar's scanner is third-party C code that reads untrusted bytes. It saves its state into a
 * buffer inside the parser, and trusts what it reads back; some write beyond its end, or read
 * lengths that did not fit their byte. Scanners are compiled so that their state passes through
 * here, with room on both sides; so that a failed assertion of theirs fails the file and not the
 * process; and so that character classes do not depend on the caller's locale. Private to this
 * folder.
 */
#ifndef VCM_SYMBOLS_SCANNER_GUARD_H
#define VCM_SYMBOLS_SCANNER_GUARD_H

#include <wchar.h>

typedef unsigned (*vcm_scanner_guard_save_fn)(void *payload, char *buffer);
typedef void (*vcm_scanner_guard_restore_fn)(void *payload, const char *buffer, unsigned length);

/* A state of more than the parser has room for ends the work (parse_memory.h). */
unsigned vcm_scanner_guard_save(vcm_scanner_guard_save_fn save, void *payload, char *buffer);
void vcm_scanner_guard_restore(vcm_scanner_guard_restore_fn restore, void *payload,
                               const char *buffer, unsigned length);

/* Replaces __assert_fail(): ends the work. */
_Noreturn void vcm_scanner_guard_fail(const char *assertion, const char *file, unsigned line,
                                      const char *function);

/* Replace the functions of <ctype.h> and <wctype.h>: those of the C locale, for any number. */
int vcm_scanner_guard_isdigit(int c);
int vcm_scanner_guard_iswalnum(wint_t c);
int vcm_scanner_guard_iswalpha(wint_t c);
int vcm_scanner_guard_iswdigit(wint_t c);
int vcm_scanner_guard_iswlower(wint_t c);
int vcm_scanner_guard_iswspace(wint_t c);
int vcm_scanner_guard_iswupper(wint_t c);
int vcm_scanner_guard_iswxdigit(wint_t c);
wint_t vcm_scanner_guard_towupper(wint_t c);

#endif
