/*
 * table_check.h - what must hold for the descriptor of every operation, checked.
 *
 * Descriptors are constants of the program, so a flaw is our own bug: the program asserts in debug
 * builds that there is none, and tests/ops/test_table_check.c names the flaw of broken ones.
 */
#ifndef VCM_OPS_TABLE_CHECK_H
#define VCM_OPS_TABLE_CHECK_H

#include "ops/op.h"

/* The first rule that the descriptor breaks, or NULL. A static string. */
const char *vcm_table_check_flaw(const struct vcm_op *op);

/* The first rule that the list as a whole breaks, or NULL: names are unique, the operations of a
 * family are neighbours, and no family is called like an operation. `ops` ends with NULL. */
const char *vcm_table_check_list_flaw(const struct vcm_op *const *ops);

/* Asserts that no operation of table.h has a flaw, nor the table itself. */
void vcm_table_check_assert(void);

#endif
