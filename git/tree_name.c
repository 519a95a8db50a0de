#include "git/tree_name.h"

#include <strings.h>

#include "base/banned.h"

/* HFS+ ignores these code points in names: U+200C to U+200F, U+202A to U+202E, U+206A to U+206F,
 * U+FEFF. Returns the length of the one that the text begins with, or 0. */
static size_t ignorable(struct vcm_slice text)
{
    const unsigned char *p = (const unsigned char *)text.data;

    if (text.len < 3)
        return 0;
    if (p[0] == 0xef && p[1] == 0xbb && p[2] == 0xbf)
        return 3;
    if (p[0] != 0xe2)
        return 0;
    if (p[1] == 0x80 && ((p[2] >= 0x8c && p[2] <= 0x8f) || (p[2] >= 0xaa && p[2] <= 0xae)))
        return 3;
    return p[1] == 0x81 && p[2] >= 0xaa && p[2] <= 0xaf ? 3 : 0;
}

static char next_letter(struct vcm_slice *text)
{
    size_t skip;

    while ((skip = ignorable(*text)) > 0)
        *text = vcm_slice_of(text->data + skip, text->len - skip);
    if (text->len == 0)
        return '\0';
    char letter = text->data[0];
    *text = vcm_slice_of(text->data + 1, text->len - 1);
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static bool is_git_of_hfs(struct vcm_slice name)
{
    for (const char *want = ".git"; *want != '\0'; want++)
        if (next_letter(&name) != *want)
            return false;
    return next_letter(&name) == '\0';
}

/* NTFS knows ".git" as "git~1", too, and drops spaces and dots at the end; what is behind a colon
 * names a stream of the file. */
static bool is_git_of_ntfs(struct vcm_slice name)
{
    size_t len = 0;

    if (name.len >= 4 && strncasecmp(name.data, ".git", 4) == 0)
        len = 4;
    else if (name.len >= 5 && strncasecmp(name.data, "git~1", 5) == 0)
        len = 5;
    if (len == 0)
        return false;
    for (; len < name.len && name.data[len] != ':'; len++)
        if (name.data[len] != ' ' && name.data[len] != '.')
            return false;
    return true;
}

bool vcm_git_tree_name_is_safe(struct vcm_slice name)
{
    if (name.len == 0 || memchr(name.data, '/', name.len))
        return false;
    if (name.data[0] == '.' && (name.len == 1 || (name.len == 2 && name.data[1] == '.')))
        return false;
    return !is_git_of_hfs(name) && !is_git_of_ntfs(name);
}
