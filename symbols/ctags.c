#include "symbols/ctags.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/spawn.h"
#include "symbols/describe.h"

#include "base/banned.h"

#define PROGRAM      "ctags"
#define COMPLETED    "{\"_type\": \"completed\""
#define ENDING       ".vcm" /* followed by the language's name; no real file ends so */
#define IDLE_MAX     ((size_t)VCM_LIMIT_WORKERS)
#define OPTIONS_MAX  10
#define QUESTION_MAX (VCM_LIMIT_SYMBOLS_FILE_BYTES + VCM_KIB)

/* A process that reads one file after another, in any languages. */
struct reader {
    struct vcm_spawn_program *program;
    unsigned files;
    size_t bytes;
};

struct vcm_ctags {
    pthread_mutex_t lock;
    struct reader idle[IDLE_MAX];
    size_t idle_count;
    struct vcm_arena arena;
    const char *argv[OPTIONS_MAX + VCM_LANGUAGES_COUNT];
};

/* ctags's names for kinds, of all languages. Kinds that are not listed are no definitions that
 * users search for: labels, formats, sections. */
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
    size_t *lines; /* the offset of each line; one entry more than there are lines */
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

    if (vcm_array_reserve_in(&out->arena, &out->definitions, &reading->capacity,
                             out->definition_count + 1, VCM_LIMIT_LIST_ENTRIES, NULL) != VCM_OK) {
        reading->no_memory = true;
        return NULL;
    }
    return &out->definitions[out->definition_count++];
}

static enum vcm_symbol_visibility read_access(const char *word)
{
    if (strcmp(word, "private") == 0)
        return VCM_SYMBOL_PRIVATE;
    return strcmp(word, "protected") == 0 ? VCM_SYMBOL_PROTECTED : VCM_SYMBOL_PUBLIC;
}

/* An invalid tag is skipped: the output of ctags is not trusted. */
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
                                             reading->lines[line], reading->lines[line], 0};
    bool has_scope =
        scope && scope->kind == VCM_JSON_STRING && scope->text.len <= VCM_LIMIT_SYMBOL_NAME_BYTES;
    *symbol = (struct vcm_symbol){
        .name = keep(reading, name->text),
        .container = keep(reading, has_scope ? scope->text : vcm_slice_of("", 0)),
        .line = (uint32_t)line,
        .start_line = (uint32_t)line,
        .end_line = (uint32_t)(end < line || end > reading->line_count ? line : end),
        .kind = kind,
        .visibility = read_access(vcm_json_get_text(tag, "access", "")),
    };
    vcm_describe_signature(&words, vcm_language_get(reading->language), &place);
    symbol->signature = keep(reading, vcm_buf_slice(&words));
    vcm_buf_clear(&words);
    vcm_describe_comment(&words, vcm_language_get(reading->language), &place);
    symbol->documentation = keep(reading, vcm_buf_slice(&words));
    vcm_buf_release(&words);
}

/* One JSON object per line; false when the last one does not say that the file is complete. */
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

/* The process gets limits of its own for all files that it reads, besides those of each. */
static struct vcm_spawn_options options_of(const char *const *argv)
{
    static const char *const environment[] = {"LC_ALL=C.UTF-8", NULL};

    return (struct vcm_spawn_options){
        .argv = argv,
        .environment = environment,
        .directory = "/",
        .memory_max = VCM_LIMIT_CTAGS_MEMORY_BYTES,
        .cpu_seconds_max = VCM_LIMIT_CTAGS_CPU_SECONDS,
    };
}

/* A complete answer ends with a line that says so. The content of files is quoted inside lines. */
static bool is_complete(struct vcm_slice answer)
{
    size_t start = answer.len;

    if (answer.len == 0 || answer.data[answer.len - 1] != '\n')
        return false;
    for (start--; start > 0 && answer.data[start - 1] != '\n';)
        start--;
    return answer.len - start >= strlen(COMPLETED) &&
           memcmp(answer.data + start, COMPLETED, strlen(COMPLETED)) == 0;
}

/* Not for languages whose parser in ctags 5.9 carries state over from a file that breaks off to the
 * next one: the names of protocols, the current token, the depth of comments. */
static bool may_share(enum vcm_language language)
{
    return !vcm_language_get(language)->ctags_carries_over;
}

static int borrow_reader(struct reader *out, struct vcm_ctags *ctags)
{
    struct vcm_spawn_options options = options_of(ctags->argv);

    *out = (struct reader){0};
    pthread_mutex_lock(&ctags->lock);
    if (ctags->idle_count > 0)
        *out = ctags->idle[--ctags->idle_count];
    pthread_mutex_unlock(&ctags->lock);
    options.timeout_ms = VCM_LIMIT_CTAGS_SHARED_MS;
    return out->program ? VCM_OK : vcm_spawn_open(&out->program, &options, NULL);
}

static void give_reader_back(struct vcm_ctags *ctags, struct reader *reader)
{
    bool is_spent = reader->files >= VCM_LIMIT_CTAGS_SHARED_FILES ||
                    reader->bytes >= VCM_LIMIT_CTAGS_SHARED_BYTES;

    pthread_mutex_lock(&ctags->lock);
    bool kept = !is_spent && ctags->idle_count < IDLE_MAX;
    if (kept)
        ctags->idle[ctags->idle_count++] = *reader;
    pthread_mutex_unlock(&ctags->lock);
    if (!kept)
        vcm_spawn_close(reader->program);
}

/* False when the file has to be tried in a process of its own: this process may have reached its
 * limits, or was killed with the thread that started it, and then the file is not the cause. */
static bool ask_shared(struct vcm_buf *answer, struct vcm_ctags *ctags, struct vcm_slice question)
{
    struct reader reader;

    if (borrow_reader(&reader, ctags) != VCM_OK)
        return false;
    int rc = vcm_spawn_ask(answer, reader.program, question, is_complete, NULL);
    reader.files++;
    reader.bytes += question.len;
    if (rc == VCM_OK)
        give_reader_back(ctags, &reader);
    else
        vcm_spawn_close(reader.program);
    return rc == VCM_OK;
}

static enum vcm_symbol_state ask_alone(struct vcm_buf *answer, const char *language,
                                       struct vcm_slice question)
{
    struct vcm_buf force = VCM_BUF_INIT(VCM_KIB);
    struct vcm_spawn_result result = {0};

    vcm_buf_append_format(&force, "--language-force=%s", language);
    const char *const argv[] = {PROGRAM,     "--options=NONE",         "--quiet",
                                "--sort=no", vcm_buf_text(&force),     "--fields=NKneSsa",
                                "--extras=", "--_interactive=sandbox", NULL};
    struct vcm_spawn_options options = options_of(argv);
    options.input = question;
    options.timeout_ms = VCM_LIMIT_CTAGS_TIMEOUT_MS;
    int rc = vcm_spawn_run(&result, answer, NULL, &options, NULL);
    vcm_buf_release(&force);
    if (rc == VCM_UNSUPPORTED)
        return VCM_SYMBOL_TOO_MANY;
    if (rc == VCM_OK && (result.signal == SIGXCPU || result.signal == SIGKILL))
        return VCM_SYMBOL_TOO_COSTLY;
    return rc == VCM_OK && result.exit_status == 0 ? VCM_SYMBOL_COMPLETE : VCM_SYMBOL_NO_CTAGS;
}

/* Sends the bytes and waits. VCM_OK also when ctags fails: then the state says so. */
static int ask(struct vcm_buf *answer, enum vcm_symbol_state *state, struct vcm_ctags *ctags,
               enum vcm_language language, struct vcm_slice text, struct vcm_error *err)
{
    const char *name = vcm_language_ctags_name(language);
    struct vcm_buf question = VCM_BUF_INIT(QUESTION_MAX);

    /* ctags names anonymous things after the file: the name is always the same. */
    vcm_buf_append_format(&question,
                          "{\"command\":\"generate-tags\",\"filename\":\"file" ENDING
                          "%s\",\"size\":%zu}\n",
                          name, text.len);
    vcm_buf_append_slice(&question, text);
    int rc = vcm_buf_check(&question, "a file for ctags", err);
    if (rc == VCM_OK &&
        (!may_share(language) || !ask_shared(answer, ctags, vcm_buf_slice(&question)))) {
        vcm_buf_release(answer);
        *state = ask_alone(answer, name, vcm_buf_slice(&question));
    }
    vcm_buf_release(&question);
    return rc;
}

/* The options that map each language to the ending of the file's name. */
static int make_argv(struct vcm_ctags *ctags, struct vcm_error *err)
{
    static const char *const first[] = {PROGRAM, "--options=NONE", "--quiet", "--sort=no"};
    static const char *const last[] = {"--fields=NKneSsa", "--extras=", "--_interactive=sandbox"};
    struct vcm_buf option = VCM_BUF_INIT(VCM_KIB);
    size_t count = 0;
    int rc = VCM_OK;

    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        ctags->argv[count++] = first[i];
    for (unsigned i = 0; rc == VCM_OK && i < VCM_LANGUAGES_COUNT; i++) {
        const char *name = vcm_language_ctags_name((enum vcm_language)i);
        if (!name || !may_share((enum vcm_language)i))
            continue;
        vcm_buf_clear(&option);
        vcm_buf_append_format(&option, "--map-%s=+" ENDING "%s", name, name);
        rc = vcm_buf_check(&option, "an option of ctags", err);
        if (rc == VCM_OK &&
            !(ctags->argv[count++] = vcm_arena_copy(&ctags->arena, vcm_buf_slice(&option))))
            rc = vcm_error_memory(err);
    }
    for (size_t i = 0; i < sizeof last / sizeof last[0]; i++)
        ctags->argv[count++] = last[i];
    vcm_buf_release(&option);
    return rc;
}

int vcm_ctags_open(struct vcm_ctags **out, struct vcm_error *err)
{
    struct vcm_ctags *ctags = calloc(1, sizeof *ctags);

    *out = NULL;
    if (!ctags)
        return vcm_error_memory(err);
    pthread_mutex_init(&ctags->lock, NULL);
    vcm_arena_init(&ctags->arena, 64 * VCM_KIB);
    int rc = make_argv(ctags, err);
    if (rc == VCM_OK)
        *out = ctags;
    else
        vcm_ctags_close(ctags);
    return rc;
}

void vcm_ctags_close(struct vcm_ctags *ctags)
{
    if (!ctags)
        return;
    while (ctags->idle_count > 0)
        vcm_spawn_close(ctags->idle[--ctags->idle_count].program);
    vcm_arena_release(&ctags->arena);
    pthread_mutex_destroy(&ctags->lock);
    free(ctags);
}

int vcm_ctags_run(struct vcm_symbols *out, struct vcm_ctags *ctags, enum vcm_language language,
                  struct vcm_slice text, struct vcm_error *err)
{
    struct reading reading = {.out = out, .language = language, .text = text};
    struct vcm_buf answer = VCM_BUF_INIT(VCM_LIMIT_CTAGS_OUTPUT_BYTES);

    int rc = ask(&answer, &out->state, ctags, language, text, err);
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
    struct vcm_ctags *ctags = NULL;
    struct vcm_symbols symbols;

    vcm_symbols_init(&symbols);
    bool works =
        vcm_ctags_open(&ctags, NULL) == VCM_OK &&
        vcm_ctags_run(&symbols, ctags, vcm_language_of_path(vcm_slice_of_string("total.pl")),
                      vcm_slice_of_string("sub total {}\n"), NULL) == VCM_OK &&
        symbols.definition_count == 1;
    vcm_symbols_release(&symbols);
    vcm_ctags_close(ctags);
    return works;
}
