#include "symbols/find_python.h"

#include "base/limits.h"
#include "symbols/tree_paths.h"

#include "base/banned.h"

#define NONE VCM_TREE_PATHS_NONE

static uint32_t try_name(const struct vcm_index *index, struct vcm_slice path, const char *ending)
{
    char name[VCM_LIMIT_PATH_BYTES];
    size_t len = strlen(ending);

    if (path.len + len >= sizeof name)
        return NONE;
    memcpy(name, path.data, path.len);
    memcpy(name + path.len, ending, len + 1);
    return vcm_tree_paths_find(index, vcm_slice_of(name, path.len + len));
}

static bool is_package(const struct vcm_index *index, struct vcm_slice directory)
{
    if (directory.len == 0)
        return vcm_tree_paths_find(index, vcm_slice_of("__init__.py", 11)) != NONE;
    return try_name(index, directory, "/__init__.py") != NONE ||
           try_name(index, directory, "/__init__.pyi") != NONE;
}

/* The module at a path. *known when it is at least a directory. */
static uint32_t try_path(bool *known, const struct vcm_index *index, struct vcm_slice path)
{
    static const char *const endings[] = {"/__init__.pyi", "/__init__.py", ".pyi", ".py"};
    uint32_t found = NONE;

    if (path.len == 0)
        return vcm_tree_paths_find(index, vcm_slice_of("__init__.py", 11));
    for (size_t i = 0; found == NONE && i < sizeof endings / sizeof endings[0]; i++)
        found = try_name(index, path, endings[i]);
    *known = *known || found != NONE || vcm_tree_paths_has_directory(index, path);
    return found;
}

/* "a/b" of "a.b", below a root. */
static uint32_t try_below(bool *known, const struct vcm_index *index, struct vcm_slice root,
                          struct vcm_slice target)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    uint32_t found = NONE;

    vcm_buf_append_slice(&path, root);
    vcm_buf_append_string(&path, root.len > 0 && target.len > 0 ? "/" : "");
    for (size_t i = 0; i < target.len; i++)
        vcm_buf_append_byte(&path, target.data[i] == '.' ? '/' : target.data[i]);
    if (path.fault == VCM_BUF_FINE)
        found = try_path(known, index, vcm_buf_slice(&path));
    vcm_buf_release(&path);
    return found;
}

/* Behind one dot the module is in the package of the file, behind more in one above it. */
static uint32_t find_relative(bool *known, const struct vcm_index *index,
                              struct vcm_slice directory, struct vcm_slice target)
{
    size_t dots = 0;

    while (dots < target.len && target.data[dots] == '.')
        dots++;
    for (size_t i = 1; i < dots; i++) {
        if (directory.len == 0)
            return NONE;
        directory = vcm_tree_paths_directory(directory);
    }
    return try_below(known, index, directory, vcm_slice_of(target.data + dots, target.len - dots));
}

/* Whether a word is a module of the language, which files of other directories do not hide. */
static bool is_standard(struct vcm_slice word)
{
    static const char modules[] =
        " abc argparse array ast asyncio atexit base64 bdb binascii bisect builtins bz2 calendar "
        "cmath cmd code codecs collections colorsys concurrent configparser contextlib contextvars "
        "copy copyreg csv ctypes curses dataclasses datetime dbm decimal difflib dis distutils "
        "doctest email encodings enum errno faulthandler fcntl filecmp fileinput fnmatch fractions "
        "ftplib functools gc getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html "
        "http imaplib importlib inspect io ipaddress itertools json keyword linecache locale "
        "logging lzma mailbox marshal math mimetypes mmap multiprocessing netrc numbers operator "
        "os pathlib pdb pickle pkgutil platform plistlib poplib posixpath pprint profile pstats "
        "pty pwd py_compile pydoc queue quopri random re readline reprlib resource sched secrets "
        "select selectors shelve shlex shutil signal site smtplib socket socketserver sqlite3 ssl "
        "stat statistics string struct subprocess symtable sys sysconfig syslog tarfile tempfile "
        "termios textwrap threading time timeit tkinter token tokenize tomllib trace traceback "
        "tracemalloc tty turtle types typing unicodedata unittest urllib uuid venv warnings wave "
        "weakref webbrowser winreg wsgiref xml xmlrpc zipapp zipfile zipimport zlib zoneinfo ";
    char text[24];

    if (word.len + 2 >= sizeof text)
        return false;
    text[0] = text[word.len + 1] = ' ';
    memcpy(text + 1, word.data, word.len);
    text[word.len + 2] = '\0';
    return strstr(modules, text) != NULL;
}

/* The top of a package: it is beside no "__init__.py". */
static struct vcm_slice root_of(const struct vcm_index *index, struct vcm_slice directory)
{
    while (directory.len > 0 && is_package(index, directory))
        directory = vcm_tree_paths_directory(directory);
    return directory;
}

struct vcm_slice vcm_find_python_first_word(struct vcm_slice target)
{
    const char *dot = target.len > 0 ? memchr(target.data, '.', target.len) : NULL;

    return vcm_slice_of(target.data, dot ? (size_t)(dot - target.data) : target.len);
}

/* In a directory elsewhere that is found from outside, as "python/" or "packages/a/src/" are; not
 * when there are several. */
static uint32_t find_elsewhere(bool *known, const struct vcm_index *index, struct vcm_slice target,
                               const uint32_t *packages, size_t count)
{
    uint32_t found = NONE;

    if (is_standard(vcm_find_python_first_word(target)))
        return NONE;
    for (size_t i = 0; i < count; i++) {
        struct vcm_slice package = vcm_tree_paths_directory(index->files[packages[i]].path);
        struct vcm_slice root = vcm_tree_paths_directory(package);
        uint32_t one = is_package(index, root) ? NONE : try_below(known, index, root, target);
        if (one != NONE && found != NONE)
            return NONE;
        found = one != NONE ? one : found;
    }
    return found;
}

uint32_t vcm_find_python(bool *external, const struct vcm_index *index, size_t from,
                         struct vcm_slice target, const uint32_t *packages, size_t count)
{
    struct vcm_slice directory = vcm_tree_paths_directory(index->files[from].path);
    bool known = false;

    *external = false;
    if (target.len == 0)
        return NONE;
    if (target.data[0] == '.')
        return find_relative(&known, index, directory, target);
    struct vcm_slice root = root_of(index, directory);
    uint32_t found = try_below(&known, index, root, target);
    while (found == NONE && root.len > 0) {
        root = vcm_tree_paths_directory(root);
        found = try_below(&known, index, root, target);
    }
    static const char *const roots[] = {"src", "lib", "python"};
    for (size_t i = 0; found == NONE && i < sizeof roots / sizeof roots[0]; i++)
        found = try_below(&known, index, vcm_slice_of_string(roots[i]), target);
    if (found == NONE && !known)
        found = find_elsewhere(&known, index, target, packages, count);
    *external = found == NONE && !known;
    return found;
}
