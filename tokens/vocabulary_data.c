/* The compiled vocabularies, as constant data of the program. The build names the files. */
#include "tokens/vocabulary.h"

#include "base/banned.h"

#define EMBED(symbol, file)                                                                        \
    __asm__(".pushsection .rodata, \"a\"\n"                                                        \
            ".balign 64\n"                                                                         \
            ".globl " #symbol "\n"                                                                 \
            ".hidden " #symbol "\n"                                                                \
            ".type " #symbol ", %object\n" #symbol ":\n"                                           \
            ".incbin \"" file "\"\n"                                                               \
            ".size " #symbol ", . - " #symbol "\n"                                                 \
            ".popsection\n")

EMBED(vcm_vocabulary_o200k_base, VCM_TOKENS_O200K_BASE);
EMBED(vcm_vocabulary_cl100k_base, VCM_TOKENS_CL100K_BASE);

/* A file needs one declaration of its own. */
_Static_assert(sizeof(struct vocabulary) % 64 == 0, "sections are aligned to 64 bytes");
