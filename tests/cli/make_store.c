/*
 * For tests of the command line: makes a store of format 1 in a directory, or changes the format
 * number of the store that is there.
 *
 * usage: make_store DIRECTORY [FORMAT]
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/old_store.h"

#include "base/banned.h"

int main(int argc, char **argv)
{
    struct vcm_error err = {0};

    if (argc < 2 || argc > 3)
        return 2;
    int rc = argc == 2 ? old_store_write(argv[1], &err)
                       : old_store_set_format(argv[1], (uint32_t)strtoul(argv[2], NULL, 10), &err);
    if (rc != VCM_OK)
        fprintf(stderr, "%s\n", err.message);
    return rc == VCM_OK ? 0 : 1;
}
