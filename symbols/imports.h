/*
 * imports.h - which files of a repository an import refers to.
 *
 * How a language finds a module is its own: relative to the file that imports, by configuration
 * (find_node.h, find_python.h, packages.h), or by the end of a path, which several files may have;
 * the caller decides how to weigh that. A module from outside has no files, whatever files are
 * called.
 */
#ifndef VCM_SYMBOLS_IMPORTS_H
#define VCM_SYMBOLS_IMPORTS_H

#include "symbols/index.h"

/* More files than this count as none. */
#define VCM_IMPORTS_MAX 64u

struct vcm_imports;

/* Looks at the index's list of files, which must live longer. */
int vcm_imports_open(struct vcm_imports **out, const struct vcm_index *index,
                     struct vcm_error *err);
void vcm_imports_close(struct vcm_imports *imports);

/* Fills in the files, in the order of the index, that `target` refers to in file `from`, and
 * returns how many. */
size_t vcm_imports_find(uint32_t out[VCM_IMPORTS_MAX], const struct vcm_imports *imports,
                        size_t from, struct vcm_slice target);

/* As above, but only files that all of the target names: "a.b" is not something in "a". */
size_t vcm_imports_find_whole(uint32_t out[VCM_IMPORTS_MAX], const struct vcm_imports *imports,
                              size_t from, struct vcm_slice target);

/* The files in which the import may have this name: of "import a.b.*" that is a file "a/b/Name". */
size_t vcm_imports_find_name(uint32_t out[VCM_IMPORTS_MAX], const struct vcm_imports *imports,
                             size_t from, const struct vcm_symbol_import *import,
                             struct vcm_slice name);

/* The file of a module that is in the module `target`: "a.b" of "from a import b". */
size_t vcm_imports_find_part(uint32_t out[VCM_IMPORTS_MAX], const struct vcm_imports *imports,
                             size_t from, struct vcm_slice target, struct vcm_slice name);

/* Whether the target is a module that is none of the repository's. */
bool vcm_imports_is_external(const struct vcm_imports *imports, size_t from,
                             struct vcm_slice target);

typedef void (*vcm_imports_fn)(void *context, uint32_t file);

/* All files that an import means, with those of the names that it lists; some more than once. */
void vcm_imports_visit(const struct vcm_imports *imports, size_t from,
                       const struct vcm_symbol_import *import, vcm_imports_fn visit, void *context);

#endif
