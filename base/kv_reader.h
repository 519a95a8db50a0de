/*
 * kv_reader.h - the number by which LMDB knows this process among the readers of a store.
 *
 * LMDB takes the process id: it marks reader slots with it, and keeps the byte of that number in
 * the lock file locked, so that others can tell which slots belong to the dead. But ids are unique
 * in one pid namespace only. Of two containers with a shared home, both with a process 1, the
 * second could not read at all; and a process that gets the id of one that was killed keeps that
 * one's slots, and with them old pages, from being cleared. So every environment gets a number at
 * random, beyond all process ids.
 */
#ifndef VCM_BASE_KV_READER_H
#define VCM_BASE_KV_READER_H

struct MDB_env;

/* For an environment that was created and not opened yet. With an LMDB whose environments look
 * different from those of 0.9, the number is still the process id. */
void vcm_kv_reader_number(struct MDB_env *env);

#endif
