#define PIECES_COUNT vcm_pieces_count_avx2
#include "tokens/pieces_loop.h"

#include "base/banned.h"
