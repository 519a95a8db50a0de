#include "symbols/ctags.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/spawn.h"
#include "symbols/describe.h"

#include "base/banned.h"

#define PROGRAM "ctags"

/* What ctags calls a thing, of whatever language. Kinds that are not here are no definitions that
 * somebody looks for: labels, formats, sections. */
static const struct {
    const char *word;
    enum vcm_symbol_kind kind;
} kinds[] = {
    {"function", VCM_SYMBOL_FUNCTION},
    {"subroutine", VCM_SYMBOL_FUNCTION},
    {"procedure", VCM_SYMBOL_FUNCTION},
    {"subprogram", VCM_SYMBOL_FUNCTION},
    {"task", VCM_SYMBOL_FUNCTION},
    {"inline", VCM_SYMBOL_FUNCTION},
    {"subst", VCM_SYMBOL_FUNCTION},
    {"command", VCM_SYMBOL_FUNCTION},
    {"rpc", VCM_SYMBOL_METHOD},
    {"method", VCM_SYMBOL_METHOD},
    {"constructor", VCM_SYMBOL_ENUMERATOR},
    {"subprogspec", VCM_SYMBOL_PROTOTYPE},
    {"macro", VCM_SYMBOL_MACRO},
    {"define", VCM_SYMBOL_MACRO},
    {"template", VCM_SYMBOL_MACRO},
    {"class", VCM_SYMBOL_CLASS},
    {"implementation", VCM_SYMBOL_CLASS},
    {"category", VCM_SYMBOL_CLASS},
    {"definition", VCM_SYMBOL_CLASS},
    {"struct", VCM_SYMBOL_STRUCT},
    {"record", VCM_SYMBOL_STRUCT},
    {"message", VCM_SYMBOL_STRUCT},
    {"structure", VCM_SYMBOL_STRUCT},
    {"union", VCM_SYMBOL_UNION},
    {"enum", VCM_SYMBOL_ENUM},
    {"interface", VCM_SYMBOL_INTERFACE},
    {"protocol", VCM_SYMBOL_INTERFACE},
    {"service", VCM_SYMBOL_INTERFACE},
    {"signature", VCM_SYMBOL_INTERFACE},
    {"type", VCM_SYMBOL_TYPE},
    {"typedef", VCM_SYMBOL_TYPE},
    {"subtype", VCM_SYMBOL_TYPE},
    {"alias", VCM_SYMBOL_TYPE},
    {"exception", VCM_SYMBOL_TYPE},
    {"module", VCM_SYMBOL_MODULE},
    {"submodule", VCM_SYMBOL_MODULE},
    {"package", VCM_SYMBOL_MODULE},
    {"packspec", VCM_SYMBOL_MODULE},
    {"program", VCM_SYMBOL_MODULE},
    {"entity", VCM_SYMBOL_MODULE},
    {"architecture", VCM_SYMBOL_MODULE},
    {"functor", VCM_SYMBOL_MODULE},
    {"namespace", VCM_SYMBOL_NAMESPACE},
    {"constant", VCM_SYMBOL_CONSTANT},
    {"const", VCM_SYMBOL_CONSTANT},
    {"variable", VCM_SYMBOL_VARIABLE},
    {"var", VCM_SYMBOL_VARIABLE},
    {"value", VCM_SYMBOL_VARIABLE},
    {"custom", VCM_SYMBOL_VARIABLE},
    {"data", VCM_SYMBOL_VARIABLE},
    {"field", VCM_SYMBOL_FIELD},
    {"member", VCM_SYMBOL_FIELD},
    {"component", VCM_SYMBOL_FIELD},
    {"property", VCM_SYMBOL_FIELD},
    {"enumerator", VCM_SYMBOL_ENUMERATOR},
};

struct reading {
    struct vcm_symbols *out;
    enum vcm_language language;
    struct vcm_slice text;
    size_t *lines; /* where each begins; one more than there are */
    uint32_t line_count;
    size_t capacity;
    bool no_memory;
};

bool vcm_ctags_is_there(void)
{
    const char *folders = getenv("PATH");
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    bool found = false;

    while (folders && !found) {
        size_t len = strcspn(folders, ":");
        vcm_buf_clear(&path);
        vcm_buf_append(&path, folders, len);
        vcm_buf_append_string(&path, "/" PROGRAM);
        found = len > 0 && vcm_buf_check(&path, "a program's path", NULL) == VCM_OK &&
                access(vcm_buf_text(&path), X_OK) == 0;
        folders = folders[len] == ':' ? folders + len + 1 : NULL;
    }
    vcm_buf_release(&path);
    return found;
}

static int find_lines(struct reading *reading, struct vcm_error *err)
{
    struct vcm_slice text = reading->text;
    size_t count = 1;

    for (size_t i = 0; i < text.len; i++)
        count += text.data[i] == '\n';
    reading->lines = calloc(count + 1, sizeof *reading->lines);
    if (!reading->lines)
        return vcm_error_memory(err);
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] == '\n')
            reading->lines[++reading->line_count] = i + 1;
    reading->lines[++reading->line_count] = text.len;
    return VCM_OK;
}

static struct vcm_slice keep(struct reading *reading, struct vcm_slice text)
{
    const char *copy = vcm_arena_copy(&reading->out->arena, text);

    reading->no_memory = reading->no_memory || !copy;
    return vcm_slice_of(copy ? copy : "", copy ? text.len : 0);
}

static bool find_kind(enum vcm_symbol_kind *out, const char *word)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(word, kinds[i].word) == 0) {
            *out = kinds[i].kind;
            return true;
        }
    return false;
}

static struct vcm_symbol *make_room(struct reading *reading)
{
    struct vcm_symbols *out = reading->out;

    if (out->definition_count == reading->capacity) {
        size_t capacity = reading->capacity ? 2 * reading->capacity : 64;
        struct vcm_symbol *more = vcm_arena_alloc(&out->arena, capacity * sizeof *more);
        reading->no_memory = reading->no_memory || !more;
        if (!more)
            return NULL;
        if (out->definition_count > 0)
            memcpy(more, out->definitions, out->definition_count * sizeof *more);
        out->definitions = more;
        reading->capacity = capacity;
    }
    return &out->definitions[out->definition_count++];
}

static enum vcm_symbol_visibility read_access(const char *word)
{
    if (strcmp(word, "private") == 0)
        return VCM_SYMBOL_PRIVATE;
    return strcmp(word, "protected") == 0 ? VCM_SYMBOL_PROTECTED : VCM_SYMBOL_PUBLIC;
}

/* A tag that makes no sense is left out: ctags is a program like any other. */
static void take_tag(struct reading *reading, const struct vcm_json *tag)
{
    const struct vcm_json *name = vcm_json_get(tag, "name");
    const struct vcm_json *scope = vcm_json_get(tag, "scope");
    int64_t line = vcm_json_get_int(tag, "line", 0);
    int64_t end = vcm_json_get_int(tag, "end", line);
    struct vcm_buf words = VCM_BUF_INIT(64 * VCM_KIB);
    enum vcm_symbol_kind kind;

    if (!name || name->kind != VCM_JSON_STRING || name->text.len == 0 ||
        name->text.len > VCM_LIMIT_SYMBOL_NAME_BYTES || line < 1 || line > reading->line_count ||
        !find_kind(&kind, vcm_json_get_text(tag, "kind", "")))
        return;
    struct vcm_symbol *symbol = make_room(reading);
    if (!symbol)
        return;
    const struct vcm_describe_place place = {reading->text, reading->lines[line - 1],
                                             reading->lines[line], reading->lines[line]};
    bool has_scope =
        scope && scope->kind == VCM_JSON_STRING && scope->text.len <= VCM_LIMIT_SYMBOL_NAME_BYTES;
    *symbol = (struct vcm_symbol){
        .name = keep(reading, name->text),
        .container = keep(reading, has_scope ? scope->text : vcm_slice_of("", 0)),
        .line = (uint32_t)line,
        .end_line = (uint32_t)(end < line || end > reading->line_count ? line : end),
        .kind = kind,
        .visibility = read_access(vcm_json_get_text(tag, "access", "")),
    };
    vcm_describe_signature(&words, &place);
    symbol->signature = keep(reading, vcm_buf_slice(&words));
    vcm_buf_clear(&words);
    vcm_describe_comment(&words, reading->language, &place);
    symbol->documentation = keep(reading, vcm_buf_slice(&words));
    vcm_buf_release(&words);
}

/* One JSON object a line; false when the last did not say that all is done. */
static bool read_answer(struct reading *reading, struct vcm_slice answer)
{
    bool completed = false;

    while (answer.len > 0 && !reading->no_memory) {
        const char *newline = memchr(answer.data, '\n', answer.len);
        size_t len = newline ? (size_t)(newline - answer.data) : answer.len;
        struct vcm_arena arena;
        struct vcm_json *object = NULL;
        vcm_arena_init(&arena, 1 * VCM_MIB);
        int rc = vcm_json_parse(&object, &arena, vcm_slice_of(answer.data, len), NULL);
        const char *type = rc == VCM_OK ? vcm_json_get_text(object, "_type", "") : "";
        completed = completed || strcmp(type, "completed") == 0;
        if (strcmp(type, "tag") == 0 && reading->out->definition_count < VCM_LIMIT_SYMBOLS_COUNT)
            take_tag(reading, object);
        else if (strcmp(type, "tag") == 0)
            reading->out->state = VCM_SYMBOL_TOO_MANY;
        vcm_arena_release(&arena);
        len += newline ? 1 : 0;
        answer = vcm_slice_of(answer.data + len, answer.len - len);
    }
    return completed;
}

static int by_line(const void *a, const void *b)
{
    const struct vcm_symbol *x = a, *y = b;

    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->end_line != y->end_line)
        return x->end_line > y->end_line ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    size_t len = x->name.len < y->name.len ? x->name.len : y->name.len;
    int order = memcmp(x->name.data, y->name.data, len);
    return order != 0 ? order : (x->name.len > y->name.len) - (x->name.len < y->name.len);
}

/* Hands the bytes over and waits. VCM_OK whatever comes of it, with the state that says it. */
static int ask(struct vcm_buf *answer, enum vcm_symbol_state *state, const char *language,
               struct vcm_slice text, struct vcm_error *err)
{
    static const char *const environment[] = {"LC_ALL=C.UTF-8", NULL};
    struct vcm_buf input = VCM_BUF_INIT(VCM_LIMIT_SYMBOLS_FILE_BYTES + VCM_KIB);
    struct vcm_buf force = VCM_BUF_INIT(VCM_KIB);
    struct vcm_spawn_result result = {0};

    vcm_buf_append_format(&force, "--language-force=%s", language);
    vcm_buf_append_format(
        &input, "{\"command\":\"generate-tags\",\"filename\":\"file\",\"size\":%zu}\n", text.len);
    vcm_buf_append_slice(&input, text);
    int rc = vcm_buf_check(&input, "a file for ctags", err);
    if (rc == VCM_OK) {
        const char *const argv[] = {PROGRAM,     "--options=NONE",         "--quiet",
                                    "--sort=no", vcm_buf_text(&force),     "--fields=NKneSsa",
                                    "--extras=", "--_interactive=sandbox", NULL};
        const struct vcm_spawn_options options = {
            .argv = argv,
            .environment = environment,
            .directory = "/",
            .input = vcm_buf_slice(&input),
            .timeout_ms = VCM_LIMIT_CTAGS_TIMEOUT_MS,
            .memory_max = VCM_LIMIT_CTAGS_MEMORY_BYTES,
            .cpu_seconds_max = VCM_LIMIT_CTAGS_CPU_SECONDS,
        };
        rc = vcm_spawn_run(&result, answer, NULL, &options, NULL);
        if (rc == VCM_UNSUPPORTED)
            *state = VCM_SYMBOL_TOO_MANY;
        else if (rc == VCM_OK && (result.signal == SIGXCPU || result.signal == SIGKILL))
            *state = VCM_SYMBOL_TOO_COSTLY;
        else if (rc != VCM_OK || result.exit_status != 0)
            *state = VCM_SYMBOL_NO_CTAGS;
        rc = VCM_OK;
    }
    vcm_buf_release(&force);
    vcm_buf_release(&input);
    return rc;
}

int vcm_ctags_run(struct vcm_symbols *out, enum vcm_language language, struct vcm_slice text,
                  struct vcm_error *err)
{
    struct reading reading = {.out = out, .language = language, .text = text};
    struct vcm_buf answer = VCM_BUF_INIT(VCM_LIMIT_CTAGS_OUTPUT_BYTES);

    int rc = ask(&answer, &out->state, vcm_language_ctags_name(language), text, err);
    if (rc == VCM_OK && out->state == VCM_SYMBOL_COMPLETE) {
        rc = find_lines(&reading, err);
        if (rc == VCM_OK && !read_answer(&reading, vcm_buf_slice(&answer)))
            out->state = VCM_SYMBOL_NO_CTAGS;
        if (rc == VCM_OK && reading.no_memory)
            rc = vcm_error_memory(err);
        if (rc == VCM_OK && out->definition_count > 0)
            qsort(out->definitions, out->definition_count, sizeof *out->definitions, by_line);
    }
    free(reading.lines);
    vcm_buf_release(&answer);
    return rc;
}

bool vcm_ctags_works(void)
{
    struct vcm_symbols symbols;

    vcm_symbols_init(&symbols);
    bool works = vcm_ctags_run(&symbols, VCM_LANGUAGE_PERL, vcm_slice_of_string("sub total {}\n"),
                               NULL) == VCM_OK &&
                 symbols.definition_count == 1;
    vcm_symbols_release(&symbols);
    return works;
}
