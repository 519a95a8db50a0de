/*
 * embed.h - puts the text of a query into the library, as a string. The build names the folder.
 * Private to the descriptors.
 */
#ifndef VCM_SYMBOLS_LANGUAGES_EMBED_H
#define VCM_SYMBOLS_LANGUAGES_EMBED_H

/* VCM_EMBED_QUERY(vcm_go_query, "go.scm"); defines the array of that name. */
#define VCM_EMBED_QUERY(symbol, file)                                                              \
    __asm__(".pushsection .rodata, \"a\"\n"                                                        \
            ".globl " #symbol "\n"                                                                 \
            ".hidden " #symbol "\n"                                                                \
            ".type " #symbol ", %object\n" #symbol ":\n"                                           \
            ".incbin \"" VCM_QUERIES "/" file "\"\n"                                               \
            ".byte 0\n"                                                                            \
            ".size " #symbol ", . - " #symbol "\n"                                                 \
            ".popsection\n");                                                                      \
    extern const char symbol[] /* NOLINT(bugprone-macro-parentheses) */

#endif
