#include "symbols/languages/headers.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "symbols/snippet.h"

#include "base/banned.h"

#define FOLDERS_MAX 16u /* around a file that are looked at */

struct vcm_headers_folder {
    uint64_t name; /* its checksum: no two of a tree are likely to share one */
    size_t c, cpp; /* sources in it and below */
};

/* One whose language its name does not tell. */
static bool is_header(struct vcm_slice path)
{
    return vcm_snippet_ends(path, ".h");
}

bool vcm_headers_is_header(struct vcm_slice path)
{
    static const char *const names[] = {".h", ".H", ".hh", ".hpp", ".hxx", ".h++", ".ipp", ".inl"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (vcm_snippet_ends(path, names[i]))
            return true;
    return false;
}

/* The folder that a file or folder is in, "" of those at the top; false for the top itself. */
static bool go_up(struct vcm_slice *path)
{
    const char *slash = path->len > 0 ? memrchr(path->data, '/', path->len) : NULL;
    bool is_top = path->len == 0;

    path->len = slash ? (size_t)(slash - path->data) : 0;
    return !is_top;
}

static bool make_room(struct vcm_headers *headers)
{
    bool room = vcm_array_reserve(&headers->folders, &headers->capacity, headers->count + 1,
                                  VCM_LIMIT_LIST_ENTRIES, NULL) == VCM_OK;

    headers->no_memory = headers->no_memory || !room;
    return room;
}

void vcm_headers_note(struct vcm_headers *headers, struct vcm_slice path,
                      enum vcm_language language)
{
    const size_t c = language == VCM_LANGUAGE_C, cpp = language == VCM_LANGUAGE_CPP;
    size_t last = headers->last;

    if (headers->no_memory || is_header(path) || c + cpp == 0)
        return;
    for (unsigned i = 0; i < FOLDERS_MAX && go_up(&path); i++) {
        uint64_t name = vcm_hash_checksum(path, 0);
        /* Most files are in the folder of the one before. */
        if (i == 0 && (headers->count == 0 || headers->folders[last].name != name))
            headers->last = last = headers->count;
        if (last + i == headers->count) {
            if (!make_room(headers))
                return;
            headers->folders[headers->count++] = (struct vcm_headers_folder){.name = name};
        }
        headers->folders[last + i].c += c;
        headers->folders[last + i].cpp += cpp;
    }
}

static int by_name(const void *a, const void *b)
{
    const struct vcm_headers_folder *x = a, *y = b;

    return (x->name > y->name) - (x->name < y->name);
}

bool vcm_headers_settle(struct vcm_headers *headers)
{
    struct vcm_headers_folder *folders = headers->folders;
    size_t kept = 0;

    if (headers->count > 0)
        qsort(folders, headers->count, sizeof *folders, by_name);
    for (size_t i = 0; i < headers->count; i++) {
        if (kept > 0 && folders[kept - 1].name == folders[i].name) {
            folders[kept - 1].c += folders[i].c;
            folders[kept - 1].cpp += folders[i].cpp;
        } else {
            folders[kept++] = folders[i];
        }
    }
    headers->count = kept;
    return !headers->no_memory;
}

enum vcm_language vcm_headers_language(const struct vcm_headers *headers, struct vcm_slice path,
                                       enum vcm_language language)
{
    if (language != VCM_LANGUAGE_C || !is_header(path))
        return language;
    while (headers->count > 0 && go_up(&path)) {
        const struct vcm_headers_folder key = {.name = vcm_hash_checksum(path, 0)};
        const struct vcm_headers_folder *found =
            bsearch(&key, headers->folders, headers->count, sizeof key, by_name);
        if (found)
            return found->c > found->cpp ? VCM_LANGUAGE_C : VCM_LANGUAGE_CPP;
    }
    return VCM_LANGUAGE_CPP;
}

void vcm_headers_release(struct vcm_headers *headers)
{
    free(headers->folders);
    *headers = (struct vcm_headers){.folders = NULL};
}
