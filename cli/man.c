/*
 * man.c - prints the manual page from the table of commands. docs/man/vcm.1 is its output; a test
 * compares them.
 */
#include <stdio.h>

#include "base/limits.h"
#include "cli/help.h"

#include "base/banned.h"

int main(void)
{
    struct vcm_buf manual = VCM_BUF_INIT(1 * VCM_MIB);

    vcm_help_manual(&manual);
    bool fine = manual.fault == VCM_BUF_FINE &&
                fwrite(manual.data, 1, manual.len, stdout) == manual.len && fflush(stdout) == 0;
    vcm_buf_release(&manual);
    return fine ? 0 : 1;
}
