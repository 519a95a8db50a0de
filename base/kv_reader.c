#include "base/kv_reader.h"

#include <lmdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/banned.h"

#define PROCESS_ID_MAX (UINT32_C(1) << 22)
#define LMDB_TABLES    2u /* that an environment has from the start */

/* The beginning of LMDB's MDB_env, the same in all releases of 0.9 from 0.9.11 on. LMDB has no
 * function that sets the number. */
struct env_head {
    int data_fd, lock_fd, meta_fd;
    uint32_t flags;
    unsigned page_bytes, os_page_bytes;
    unsigned readers_max;
    volatile int close_readers;
    MDB_dbi tables, tables_max;
    pid_t process;
};

/* Whether the memory is what mdb_env_create() makes of the struct above. */
static bool is_as_expected(MDB_env *env, const struct env_head *head)
{
    int major, minor;
    unsigned readers_max = 0;

    mdb_version(&major, &minor, NULL);
    mdb_env_get_maxreaders(env, &readers_max);
    return major == 0 && minor == 9 && head->data_fd == -1 && head->lock_fd == -1 &&
           head->meta_fd == -1 && head->flags == 0 && head->page_bytes == 0 &&
           head->os_page_bytes == (unsigned)sysconf(_SC_PAGESIZE) &&
           head->readers_max == readers_max && head->close_readers == 0 &&
           head->tables == LMDB_TABLES && head->tables_max == LMDB_TABLES &&
           head->process == getpid();
}

void vcm_kv_reader_number(MDB_env *env)
{
    struct env_head *head = (void *)env;
    uint32_t number;

    if (!is_as_expected(env, head) ||
        getrandom(&number, sizeof number, GRND_NONBLOCK) != (ssize_t)sizeof number)
        return;
    head->process = (pid_t)(PROCESS_ID_MAX + 1 + number % (INT32_MAX - PROCESS_ID_MAX));
}
