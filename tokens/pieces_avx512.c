#define PIECES_COUNT vcm_pieces_count_avx512
#include "tokens/pieces_loop.h"

#include "base/banned.h"
