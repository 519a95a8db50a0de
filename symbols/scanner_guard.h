/*
 * scanner_guard.h - what stands between the grammars' scanners and the rest of the process.
 *
 * A grammar's scanner is C of others that sees hostile bytes. It saves its state into a buffer that
 * lies inside of the parser, and trusts what it reads back; some go over the end, or read lengths
 * that did not fit their byte. Scanners are compiled so that their state passes through here, with
 * room on both sides; that an assertion of theirs costs the file and not the process; and that what
 * is a letter does not depend on the locale of whoever called. Private to this folder.
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

/* In the place of __assert_fail(): ends the work. */
_Noreturn void vcm_scanner_guard_fail(const char *assertion, const char *file, unsigned line,
                                      const char *function);

/* In the place of the functions of <ctype.h> and <wctype.h>: those of the C locale, of any
 * number. */
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
