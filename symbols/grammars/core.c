/*
 * core.c - tree-sitter's lib.c, with its work counted: a progress callback is called between steps,
 * and one step may cost as much as the file is long, squared.
 *
 * Counted are accesses to arrays in the stack and in both cursors, look-ups in the parse table,
 * and the siblings that the query cursor may have to pass. The macros are defined behind what they
 * count: a function that is called through a macro of its own name has to be defined before.
 */
/* NOLINTBEGIN(bugprone-suspicious-include): as lib.c does it. */
#include <alloc.c>
#include <get_changed_ranges.c>
#include <language.c>
#include <lexer.c>
#include <node.c>
#include <subtree.c>
#include <tree.c>
#include <wasm_store.c>

#include "symbols/parse_work.h"

/* The cursor looks for a later sibling that is named, if need be up to the last. */
static inline void count_siblings(const TSTreeCursor *of)
{
    const TreeCursor *cursor = (const TreeCursor *)of;
    uint32_t size = cursor->stack.size;

    if (size < 2)
        return;
    const Subtree parent = *cursor->stack.contents[size - 2].subtree;
    vcm_parse_work_count(1 + ts_subtree_child_count(parent) -
                         cursor->stack.contents[size - 1].child_index);
}

#undef array_get
#define array_get(self, _index)                                                                    \
    (vcm_parse_work_count(1), ts_assert((uint32_t)(_index) < (self)->size),                        \
     &(self)->contents[_index])
#include <stack.c>
#include <tree_cursor.c>

#undef array_get
#define array_get(self, _index)                                                                    \
    (ts_assert((uint32_t)(_index) < (self)->size), &(self)->contents[_index])
#define ts_language_table_entry(...) (vcm_parse_work_count(1), ts_language_table_entry(__VA_ARGS__))
#include <parser.c>
#undef ts_language_table_entry

#undef array_get
#define array_get(self, _index)                                                                    \
    (vcm_parse_work_count(1), ts_assert((uint32_t)(_index) < (self)->size),                        \
     &(self)->contents[_index])
#define ts_tree_cursor_current_status(cursor, ...)                                                 \
    (count_siblings((const TSTreeCursor *)(cursor)),                                               \
     ts_tree_cursor_current_status(cursor, __VA_ARGS__))
#include <query.c>
/* NOLINTEND(bugprone-suspicious-include) */

#include "base/banned.h"
