#include "symbols/orientation.h"

#include <stdlib.h>
#include <strings.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/jsonw.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/utf8.h"
#include "git/blob.h"
#include "symbols/languages/language.h"

#include "base/banned.h"

#define TREE_MAX        ((size_t)300)
#define ENTRYPOINTS_MAX ((size_t)40)
#define README_MAX      (4 * VCM_KIB)
#define LONG_PATH       ((size_t)512)
#define README_WORST    1000u /* the rank of any other file */

struct leaf {
    struct vcm_slice path; /* from the root of the repository */
    struct vcm_git_id id;
    enum vcm_git_kind kind;
    const char *entry_kind; /* of an entry point, else NULL */
    unsigned depth;         /* slashes below the subpath */
    bool first_of_top;      /* represents its top-level entry when the tree is cut */
    bool is_long;           /* longer than many others together, which come first */
};

struct survey {
    const struct vcm_orientation_request *request;
    struct vcm_arena arena;
    struct leaf *leaves; /* sorted by path, once complete */
    size_t count, capacity;
    size_t below;        /* bytes of a path that are the subpath and its slash */
    struct leaf **shown; /* by rank for the tree: what is cut last comes first */
    struct leaf **entries;
    size_t entry_count;
    struct vcm_buf readme; /* valid UTF-8, at most README_MAX bytes of the file */
    bool readme_is_cut;
    const struct leaf *readme_leaf;
    size_t docs, code;
    bool has_docs_dir;
};

/* How much of each part goes into the document. */
struct clip {
    size_t readme, tree, entries;
    bool no_readme; /* not even its path */
};

static const struct {
    const char *name, *kind;
} entry_names[] = {
    {"Makefile", "build"},
    {"CMakeLists.txt", "cmake"},
    {"go.mod", "go"},
    {"package.json", "node"},
    {"pyproject.toml", "python"},
    {"setup.py", "python"},
    {"Cargo.toml", "rust"},
    {"pom.xml", "java"},
    {"build.gradle", "gradle"},
    {"build.gradle.kts", "gradle"},
    {"devfile.yaml", "devfile"},
    {"Dockerfile", "container"},
    {"docker-compose.yml", "compose"},
    {"CLAUDE.md", "agent-doc"},
    {"AGENTS.md", "agent-doc"},
    {"CONTRIBUTING.md", "contributing"},
};

/* Patterns of where documents are; `folder` is at the top, NULL for the README itself. */
static const struct {
    const char *glob, *folder, *ending;
} hints[] = {
    {"README*", NULL, ""},
    {"docs/**/*.md", "docs/", ".md"},
    {"docs/**/*.adoc", "docs/", ".adoc"},
    {"docs/**/*.rst", "docs/", ".rst"},
    {"content/**/*.md", "content/", ".md"},
    {"content/**/*.adoc", "content/", ".adoc"},
};

static struct vcm_slice inside(const struct survey *survey, const struct leaf *leaf)
{
    return vcm_slice_of(leaf->path.data + survey->below, leaf->path.len - survey->below);
}

static bool ends_with(struct vcm_slice text, const char *ending)
{
    size_t len = strlen(ending);

    return text.len >= len && strncasecmp(text.data + text.len - len, ending, len) == 0;
}

static bool begins_with(struct vcm_slice text, const char *beginning)
{
    size_t len = strlen(beginning);

    return text.len >= len && memcmp(text.data, beginning, len) == 0;
}

static int take_leaf(void *context, const struct vcm_git_entry *entry, struct vcm_error *err)
{
    struct survey *survey = context;

    int rc = vcm_array_reserve(&survey->leaves, &survey->capacity, survey->count + 1,
                               VCM_LIMIT_TREE_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    char *path = vcm_arena_copy(&survey->arena, entry->path);
    if (!path)
        return vcm_error_memory(err);
    survey->leaves[survey->count++] = (struct leaf){
        .path = vcm_slice_of(path, entry->path.len), .id = entry->id, .kind = entry->kind};
    return VCM_OK;
}

static int compare_slices(struct vcm_slice a, struct vcm_slice b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len > 0 ? memcmp(a.data, b.data, len) : 0;

    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

static int by_path(const void *a, const void *b)
{
    return compare_slices(((const struct leaf *)a)->path, ((const struct leaf *)b)->path);
}

static int by_path_of_pointer(const void *a, const void *b)
{
    return by_path(*(struct leaf *const *)a, *(struct leaf *const *)b);
}

static int by_depth(const void *a, const void *b)
{
    const struct leaf *x = *(struct leaf *const *)a, *y = *(struct leaf *const *)b;

    if (x->is_long != y->is_long)
        return x->is_long - y->is_long;
    return x->depth != y->depth ? (x->depth > y->depth) - (x->depth < y->depth) : by_path(x, y);
}

static int by_rank(const void *a, const void *b)
{
    const struct leaf *x = *(struct leaf *const *)a, *y = *(struct leaf *const *)b;

    if (x->is_long != y->is_long)
        return x->is_long - y->is_long;
    return x->first_of_top != y->first_of_top ? y->first_of_top - x->first_of_top : by_depth(a, b);
}

static bool is_document(struct vcm_slice name)
{
    static const char *const endings[] = {".md", ".adoc", ".rst", ".txt", ".pdf", ".html"};
    static const char *const licences[] = {"licence", "license", "copying", "notice"};

    for (size_t i = 0; i < sizeof licences / sizeof licences[0]; i++) {
        size_t len = strlen(licences[i]);
        if (name.len >= len && strncasecmp(name.data, licences[i], len) == 0 &&
            (name.len == len || strchr(".-_", name.data[len])))
            return false;
    }
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (ends_with(name, endings[i]))
            return true;
    return false;
}

/* Documents are neither entry points nor code; CMakeLists.txt is a build file. */
static void judge(struct survey *survey, struct leaf *leaf)
{
    static const char *const docs[] = {"doc/", "docs/", "documentation/", "content/"};
    struct vcm_slice path = inside(survey, leaf), name = vcm_path_base_name(path);

    leaf->is_long = path.len > LONG_PATH;
    for (size_t i = 0; i < path.len; i++)
        leaf->depth += path.data[i] == '/';
    for (size_t i = 0; i < sizeof docs / sizeof docs[0]; i++)
        survey->has_docs_dir = survey->has_docs_dir || begins_with(path, docs[i]);
    if (leaf->kind == VCM_GIT_SUBMODULE)
        return;
    for (size_t i = 0; i < sizeof entry_names / sizeof entry_names[0]; i++)
        if (vcm_slice_equal(name, vcm_slice_of_string(entry_names[i].name)))
            leaf->entry_kind = entry_names[i].kind;
    if (vcm_language_is_known(vcm_language_of_path(path)))
        survey->code++;
    else if (is_document(name) && !vcm_slice_equal(name, vcm_slice_of_string("CMakeLists.txt")))
        survey->docs++;
}

/* Smaller is better: md, adoc, rst, txt, none; translations after all of them, English first. */
static unsigned rank_readme(const struct survey *survey, const struct leaf *leaf)
{
    static const char *const endings[] = {".md", ".adoc", ".rst", ".txt", ""};
    struct vcm_slice name = inside(survey, leaf);
    const size_t stem = sizeof "readme" - 1;
    unsigned rank = 0;

    if (leaf->depth > 0 || leaf->kind == VCM_GIT_SUBMODULE || name.len < stem ||
        strncasecmp(name.data, "readme", stem) != 0)
        return README_WORST;
    while (endings[rank][0] != '\0' && !ends_with(name, endings[rank]))
        rank++;
    struct vcm_slice middle =
        vcm_slice_of(name.data + stem, name.len - stem - strlen(endings[rank]));
    if (middle.len == 0)
        return rank;
    /* "README.zh-CN.md", "README_de.rst"; nothing longer is a language. */
    bool is_language = endings[rank][0] != '\0' && strchr("._-", middle.data[0]) &&
                       middle.len >= 3 && middle.len <= 8;
    for (size_t i = 1; i < middle.len; i++)
        is_language = is_language &&
                      (strchr("-_", middle.data[i]) || (middle.data[i] | 32) >= 'a') &&
                      (middle.data[i] | 32) <= 'z';
    if (!is_language)
        return README_WORST;
    bool english = middle.len >= 3 && strncasecmp(middle.data + 1, "en", 2) == 0;
    return (english ? 100 : 200) + rank;
}

static void choose_readme(struct survey *survey)
{
    unsigned best = README_WORST;

    for (size_t i = 0; i < survey->count; i++) {
        unsigned rank = rank_readme(survey, &survey->leaves[i]);
        if (rank < best) {
            best = rank;
            survey->readme_leaf = &survey->leaves[i];
        }
    }
}

/* The longest beginning of at most `max` bytes that ends between two characters. */
static size_t cut_text(struct vcm_slice text, size_t max)
{
    size_t len = text.len < max ? text.len : max;

    while (len > 0 && len < text.len && ((unsigned char)text.data[len] & 0xc0) == 0x80)
        len--;
    return len;
}

static int read_readme(struct survey *survey, struct vcm_git_repo *repo,
                       const struct vcm_git_id *commit, struct vcm_error *err)
{
    struct vcm_buf bytes = VCM_BUF_INIT(VCM_LIMIT_FILE_BYTES);
    struct vcm_buf target = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    const struct leaf *leaf = survey->readme_leaf;
    struct vcm_error ignored = {0};
    struct vcm_git_entry entry = {.id = leaf->id};
    uint64_t size = 0;

    int rc = vcm_git_blob_read_upto(&bytes, &size, repo, &entry.id, VCM_LIMIT_FILE_BYTES, err);
    if (rc == VCM_OK && leaf->kind == VCM_GIT_SYMLINK) {
        vcm_buf_append(&target, leaf->path.data, survey->below);
        vcm_buf_append_slice(&target, vcm_buf_slice(&bytes));
        bool found =
            vcm_git_tree_entry(&entry, repo, commit, vcm_buf_text(&target), &ignored) == VCM_OK &&
            entry.kind <= VCM_GIT_EXECUTABLE;
        vcm_buf_clear(&bytes);
        if (found)
            rc = vcm_git_blob_read_upto(&bytes, &size, repo, &entry.id, VCM_LIMIT_FILE_BYTES, err);
    }
    size_t taken = bytes.len < README_MAX ? bytes.len : README_MAX;
    /* A character that the cut divides is omitted, not replaced. */
    if (taken < bytes.len)
        taken = cut_text(vcm_buf_slice(&bytes), taken);
    vcm_utf8_replace(&survey->readme, vcm_slice_of(vcm_buf_text(&bytes), taken));
    survey->readme_is_cut = taken < size;
    if (rc == VCM_OK)
        rc = vcm_buf_check(&survey->readme, "the README", err);
    vcm_buf_release(&target);
    vcm_buf_release(&bytes);
    return rc;
}

/* The first of the shallowest files of each top-level entry represents it. */
static void mark_tops(struct survey *survey)
{
    for (size_t i = 0, next; i < survey->count; i = next) {
        struct vcm_slice path = inside(survey, &survey->leaves[i]);
        const char *slash = memchr(path.data, '/', path.len);
        struct leaf *first = &survey->leaves[i];
        size_t len = slash ? (size_t)(slash - path.data) + 1 : path.len;

        for (next = i + 1; slash && next < survey->count; next++) {
            struct vcm_slice other = inside(survey, &survey->leaves[next]);
            if (other.len < len || memcmp(other.data, path.data, len) != 0)
                break;
            if (survey->leaves[next].depth < first->depth)
                first = &survey->leaves[next];
        }
        first->first_of_top = true;
    }
}

static int arrange(struct survey *survey, struct vcm_error *err)
{
    survey->shown = calloc(survey->count + 1, sizeof(struct leaf *));
    survey->entries = calloc(survey->count + 1, sizeof(struct leaf *));
    if (!survey->shown || !survey->entries)
        return vcm_error_memory(err);
    if (survey->count > 0)
        qsort(survey->leaves, survey->count, sizeof *survey->leaves, by_path);
    for (size_t i = 0; i < survey->count; i++) {
        judge(survey, &survey->leaves[i]);
        survey->shown[i] = &survey->leaves[i];
        if (survey->leaves[i].entry_kind)
            survey->entries[survey->entry_count++] = &survey->leaves[i];
    }
    mark_tops(survey);
    if (survey->count > 0)
        qsort(survey->shown, survey->count, sizeof(struct leaf *), by_rank);
    if (survey->entry_count > 0)
        qsort(survey->entries, survey->entry_count, sizeof(struct leaf *), by_depth);
    choose_readme(survey);
    return VCM_OK;
}

static void put_path(struct vcm_jsonw *w, struct vcm_slice path)
{
    struct vcm_buf text = VCM_BUF_INIT(8 * VCM_LIMIT_TREE_PATH_BYTES);

    vcm_utf8_escape_path(&text, path);
    vcm_jsonw_slice(w, vcm_buf_slice(&text));
    vcm_buf_release(&text);
}

static void put_tree(struct vcm_jsonw *w, const struct survey *survey, size_t count)
{
    struct leaf *sorted[TREE_MAX];

    for (size_t i = 0; i < count; i++)
        sorted[i] = survey->shown[i];
    qsort(sorted, count, sizeof(struct leaf *), by_path_of_pointer);
    vcm_jsonw_key(w, "tree");
    vcm_jsonw_begin_array(w);
    for (size_t i = 0; i < count; i++)
        put_path(w, sorted[i]->path);
    vcm_jsonw_end_array(w);
    vcm_jsonw_member_uint(w, "tree_total", survey->count);
    vcm_jsonw_member_bool(w, "tree_truncated", count < survey->count);
}

static void put_readme(struct vcm_jsonw *w, const struct survey *survey, const struct clip *clip)
{
    struct vcm_slice text = vcm_buf_slice(&survey->readme);

    vcm_jsonw_key(w, "readme");
    if (!survey->readme_leaf || clip->no_readme) {
        vcm_jsonw_null(w);
        return;
    }
    size_t len = cut_text(text, clip->readme);
    vcm_jsonw_begin_object(w);
    vcm_jsonw_key(w, "path");
    put_path(w, survey->readme_leaf->path);
    vcm_jsonw_member_slice(w, "content", vcm_slice_of(vcm_buf_text(&survey->readme), len));
    vcm_jsonw_member_bool(w, "truncated", survey->readme_is_cut || len < text.len);
    vcm_jsonw_end_object(w);
}

static void put_entries(struct vcm_jsonw *w, const struct survey *survey, size_t count)
{
    vcm_jsonw_key(w, "entrypoints");
    vcm_jsonw_begin_array(w);
    for (size_t i = 0; i < count; i++) {
        vcm_jsonw_begin_object(w);
        vcm_jsonw_key(w, "path");
        put_path(w, survey->entries[i]->path);
        vcm_jsonw_member_string(w, "kind", survey->entries[i]->entry_kind);
        vcm_jsonw_end_object(w);
    }
    vcm_jsonw_end_array(w);
    vcm_jsonw_member_uint(w, "entrypoints_total", survey->entry_count);
}

static bool hint_matches(const struct survey *survey, size_t hint)
{
    for (size_t i = 0; i < survey->count; i++) {
        const struct leaf *leaf = &survey->leaves[i];
        struct vcm_slice path = inside(survey, leaf);
        if (hints[hint].folder
                ? begins_with(path, hints[hint].folder) && path.len > strlen(hints[hint].ending) &&
                      memcmp(path.data + path.len - strlen(hints[hint].ending), hints[hint].ending,
                             strlen(hints[hint].ending)) == 0
                : leaf->depth == 0 && begins_with(path, "README"))
            return true;
    }
    return false;
}

static void put_signals(struct vcm_jsonw *w, const struct survey *survey)
{
    bool has_readme = survey->readme_leaf != NULL;

    vcm_jsonw_key(w, "doc_hints");
    vcm_jsonw_begin_array(w);
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++)
        if (hint_matches(survey, i))
            vcm_jsonw_string(w, hints[i].glob);
    vcm_jsonw_end_array(w);
    vcm_jsonw_key(w, "signals");
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_bool(w, "has_readme", has_readme);
    vcm_jsonw_member_bool(w, "has_docs_dir", survey->has_docs_dir);
    vcm_jsonw_member_bool(w, "has_code", survey->code > 0);
    vcm_jsonw_member_uint(w, "doc_file_count", survey->docs);
    vcm_jsonw_member_uint(w, "code_file_count", survey->code);
    vcm_jsonw_member_bool(w, "sparse", !has_readme && survey->code == 0 && survey->docs == 0);
    vcm_jsonw_end_object(w);
}

static size_t write_document(struct vcm_buf *out, const struct survey *survey,
                             const struct vcm_git_id *commit, const struct clip *clip)
{
    char hex[VCM_GIT_ID_HEX + 1];
    struct vcm_jsonw w;

    vcm_buf_clear(out);
    vcm_jsonw_init(&w, out);
    vcm_git_repo_id_to_hex(hex, commit);
    vcm_jsonw_begin_object(&w);
    vcm_jsonw_member_string(&w, "clone_path", survey->request->clone_path);
    vcm_jsonw_member_string(&w, "commit", hex);
    vcm_jsonw_member_uint(&w, "files", survey->count);
    vcm_jsonw_member_uint(&w, "files_not_fetched", survey->request->files_not_fetched);
    put_tree(&w, survey, clip->tree);
    put_readme(&w, survey, clip);
    put_entries(&w, survey, clip->entries);
    put_signals(&w, survey);
    vcm_jsonw_end_object(&w);
    return out->len;
}

/* The most of one part with which the document fits; 0 when nothing fits. */
static void fit(struct vcm_buf *out, const struct survey *survey, const struct vcm_git_id *commit,
                struct clip *clip, size_t *part)
{
    size_t low = 0, high = *part;

    if (write_document(out, survey, commit, clip) <= VCM_ORIENTATION_BYTES_MAX)
        return;
    while (low < high) {
        *part = low + (high - low + 1) / 2;
        if (write_document(out, survey, commit, clip) <= VCM_ORIENTATION_BYTES_MAX)
            low = *part;
        else
            high = *part - 1;
    }
    *part = low;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int write_clipped(struct vcm_buf *out, const struct survey *survey,
                         const struct vcm_git_id *commit, struct vcm_error *err)
{
    struct vcm_buf document = VCM_BUF_INIT(64 * VCM_MIB);
    struct clip clip = {
        .readme = survey->readme.len,
        .tree = least(survey->count, TREE_MAX),
        .entries = least(survey->entry_count, ENTRYPOINTS_MAX),
    };

    fit(&document, survey, commit, &clip, &clip.readme);
    fit(&document, survey, commit, &clip, &clip.tree);
    fit(&document, survey, commit, &clip, &clip.entries);
    /* The paths alone can be too long: that of the README, with a long --subpath, and that of the
     * clone. */
    clip.no_readme = write_document(&document, survey, commit, &clip) > VCM_ORIENTATION_BYTES_MAX;
    size_t len = write_document(&document, survey, commit, &clip);
    vcm_buf_append_slice(out, vcm_buf_slice(&document));
    int rc = vcm_buf_check(&document, "the description of a repository", err);
    if (rc == VCM_OK && len > VCM_ORIENTATION_BYTES_MAX)
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT,
                           "the path of the clone is too long for a description of %zu bytes",
                           VCM_ORIENTATION_BYTES_MAX);
    vcm_buf_release(&document);
    return rc == VCM_OK ? vcm_buf_check(out, "the description of a repository", err) : rc;
}

int vcm_orientation_describe(struct vcm_buf *out, struct vcm_git_repo *repo,
                             const struct vcm_git_id *commit,
                             const struct vcm_orientation_request *request, struct vcm_error *err)
{
    struct survey survey = {.request = request};
    size_t len = strlen(request->subpath);

    survey.below = len > 0 ? len + 1 : 0;
    vcm_arena_init(&survey.arena, 4 * VCM_GIB);
    vcm_buf_init(&survey.readme, 4 * README_MAX);
    int rc =
        vcm_git_tree_walk(repo, commit, request->subpath, take_leaf, &survey, request->cancel, err);
    if (rc == VCM_OK)
        rc = arrange(&survey, err);
    if (rc == VCM_OK && survey.readme_leaf)
        rc = read_readme(&survey, repo, commit, err);
    if (rc == VCM_OK)
        rc = write_clipped(out, &survey, commit, err);
    vcm_buf_release(&survey.readme);
    free(survey.entries);
    free(survey.shown);
    free(survey.leaves);
    vcm_arena_release(&survey.arena);
    return rc;
}
