#include "tokens/pieces.h"

#define PIECES_COUNT vcm_pieces_count_plain
#include "tokens/pieces_loop.h"

#include "base/banned.h"

vcm_pieces_fn vcm_pieces_choose(void)
{
#ifdef VCM_TOKENS_X86_64
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("popcnt"))
        return vcm_pieces_count_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("popcnt"))
        return vcm_pieces_count_avx2;
#endif
    return vcm_pieces_count_plain;
}
