#include "cli/args.h"

#include <assert.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "cli/completion.h"
#include "cli/guide.h"
#include "cli/mcp.h"
#include "cli/schema.h"
#include "cli/serve.h"
#include "ops/table.h"
#include "ops/table_check.h"

#include "base/banned.h"

#define NAMES_MAX 128

const struct vcm_args_global vcm_args_globals[] = {
    {0, "home", "DIR", "directory of the store (default: $VCM_HOME or ~/.local/share/vcm)"},
    {0, "json", NULL, "print the result, or the error, as JSON"},
    {'q', "quiet", NULL, "print only results and errors"},
    {'v', "verbose", NULL, "log what is being done to standard error"},
    {0, "no-color", NULL, "disable colours, as NO_COLOR in the environment does"},
    {0, "no-progress", NULL, "do not show progress on a terminal"},
    {'h', "help", NULL, "show help, for the command if one is given"},
    {0, "version", NULL, "show the version"},
    {0, NULL, NULL, NULL},
};

/* The parser's position in the arguments. */
struct words {
    int count;
    const char *const *all;
    int next;
    bool options_ended;     /* "--" was seen */
    const char *first;      /* first word of the command */
    size_t next_positional; /* index into the parameters */
};

const struct vcm_op *vcm_args_command(size_t index)
{
    static const struct vcm_op *const own[] = {&vcm_mcp_command, &vcm_serve_command,
                                               &vcm_guide_command, &vcm_schema_command,
                                               &vcm_completion_command};
    size_t i = 0;

    while (i < index && vcm_ops[i])
        i++;
    if (vcm_ops[i])
        return vcm_ops[i];
    return index - i < VCM_OP_COUNT(own) ? own[index - i] : NULL;
}

static bool *global_flag(struct vcm_args *args, const char *name)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {
        {"json", &args->json},
        {"quiet", &args->quiet},
        {"verbose", &args->verbose},
        {"no-color", &args->no_color},
        {"no-progress", &args->no_progress},
        {"help", &args->help},
        {"version", &args->version},
    };

    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (strcmp(flags[i].name, name) == 0)
            return flags[i].flag;
    return NULL;
}

#ifdef NDEBUG
void vcm_args_assert(void)
{
}
#else
static bool is_global(const struct vcm_op_param *param)
{
    size_t i = 0;

    while (vcm_args_globals[i].name && strcmp(vcm_args_globals[i].name, param->name) != 0 &&
           (param->letter == 0 || vcm_args_globals[i].letter != param->letter))
        i++;
    return vcm_args_globals[i].name;
}

void vcm_args_assert(void)
{
    struct vcm_args args = {0};
    size_t count = 0;

    for (size_t i = 0; vcm_args_globals[i].name; i++)
        assert(!vcm_args_globals[i].placeholder == !!global_flag(&args, vcm_args_globals[i].name));
    for (; vcm_args_command(count); count++) {
        const struct vcm_op *op = vcm_args_command(count);
        assert(!vcm_table_check_flaw(op));
        for (size_t i = 0; i < vcm_op_param_total(op); i++)
            assert(vcm_op_param_at(op, i)->positional || !is_global(vcm_op_param_at(op, i)));
    }
    assert(count < NAMES_MAX);
    vcm_table_check_assert();
}
#endif

/* Whether a word is an option of every command; its value, if it has one, is in the next word. */
static bool is_global_option(const char *word)
{
    for (size_t i = 0; vcm_args_globals[i].name; i++) {
        const struct vcm_args_global *global = &vcm_args_globals[i];
        bool is_long = strncmp(word, "--", 2) == 0 &&
                       strncmp(word + 2, global->name, strlen(global->name)) == 0 &&
                       strchr("=", word[2 + strlen(global->name)]);
        if (is_long || (global->letter && word[1] == global->letter && word[2] == '\0'))
            return true;
    }
    return false;
}

static bool name_is(const char *name, struct vcm_slice text)
{
    return strlen(name) == text.len && memcmp(name, text.data, text.len) == 0;
}

/* Takes an option's value: after '=', else the next argument. */
static int take_value(const char **out, struct words *words, const char *name, const char *equals,
                      struct vcm_error *err)
{
    if (equals)
        *out = equals + 1;
    else if (words->next < words->count)
        *out = words->all[words->next++];
    else
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "--%s needs a value", name);
    return VCM_OK;
}

static int refuse_value(const char *name, const char *equals, struct vcm_error *err)
{
    return equals ? vcm_error_set(err, VCM_INVALID_ARGUMENT, "--%s takes no value", name) : VCM_OK;
}

static int unknown_option(const struct vcm_args *args, const char *word, struct vcm_slice name,
                          struct vcm_error *err)
{
    const char *names[NAMES_MAX];
    size_t count = 0;

    for (size_t i = 0; vcm_args_globals[i].name && count < NAMES_MAX; i++)
        names[count++] = vcm_args_globals[i].name;
    for (size_t i = 0; args->op && i < vcm_op_param_total(args->op) && count < NAMES_MAX; i++)
        if (!vcm_op_param_at(args->op, i)->positional)
            names[count++] = vcm_op_param_at(args->op, i)->name;
    const char *nearest = vcm_text_nearest(name, names, count);
    if (nearest)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "unknown option '%s'; did you mean '--%s'?",
                             word, nearest);
    return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                         "unknown option '%s'; 'vcm %s%s--help' shows the options", word,
                         args->op ? args->op->name : "", args->op ? " " : "");
}

static int take_long(struct vcm_args *args, struct words *words, const char *word,
                     struct vcm_error *err)
{
    const char *equals = strchr(word, '='), *value = NULL;
    struct vcm_slice name =
        vcm_slice_of(word + 2, equals ? (size_t)(equals - word) - 2 : strlen(word + 2));

    for (size_t i = 0; vcm_args_globals[i].name; i++) {
        const struct vcm_args_global *global = &vcm_args_globals[i];
        if (!name_is(global->name, name))
            continue;
        if (global->placeholder)
            return take_value(&args->home, words, global->name, equals, err);
        *global_flag(args, global->name) = true;
        return refuse_value(global->name, equals, err);
    }
    for (size_t i = 0; args->op && i < vcm_op_param_total(args->op); i++) {
        const struct vcm_op_param *param = vcm_op_param_at(args->op, i);
        if (param->positional || !name_is(param->name, name))
            continue;
        int rc = param->type == VCM_OP_FLAG ? refuse_value(param->name, equals, err)
                                            : take_value(&value, words, param->name, equals, err);
        if (rc == VCM_OK)
            rc = vcm_op_take(args->values, args->op, i, value ? value : "", &args->arena, err);
        return rc;
    }
    return unknown_option(args, word, name, err);
}

/* A letter of the operation. A value is the rest of the word, or the next one. */
static int take_own_letter(struct vcm_args *args, struct words *words, const char *word,
                           const char **letter, struct vcm_error *err)
{
    const char *value = "";
    size_t i = 0, count = args->op ? vcm_op_param_total(args->op) : 0;

    while (i < count && vcm_op_param_at(args->op, i)->letter != **letter)
        i++;
    if (i == count)
        return unknown_option(args, word, vcm_slice_of_string(word + 1), err);
    const struct vcm_op_param *param = vcm_op_param_at(args->op, i);
    int rc = VCM_OK;
    if (param->type != VCM_OP_FLAG) {
        rc = take_value(&value, words, param->name, (*letter)[1] != '\0' ? *letter : NULL, err);
        *letter += strlen(*letter) - 1;
    }
    return rc == VCM_OK ? vcm_op_take(args->values, args->op, i, value, &args->arena, err) : rc;
}

static int take_letters(struct vcm_args *args, struct words *words, const char *word,
                        struct vcm_error *err)
{
    int rc = VCM_OK;

    for (const char *letter = word + 1; rc == VCM_OK && *letter; letter++) {
        size_t i = 0;
        while (vcm_args_globals[i].name && vcm_args_globals[i].letter != *letter)
            i++;
        if (vcm_args_globals[i].name)
            *global_flag(args, vcm_args_globals[i].name) = true;
        else
            rc = take_own_letter(args, words, word, &letter, err);
    }
    return rc;
}

bool vcm_args_is_family(const char *word)
{
    size_t len = strlen(word);

    for (size_t i = 0; vcm_args_command(i); i++)
        if (strncmp(vcm_args_command(i)->name, word, len) == 0 &&
            vcm_args_command(i)->name[len] == ' ')
            return true;
    return false;
}

const struct vcm_op *vcm_args_find(const char *first, const char *second)
{
    size_t len = strlen(first);

    for (size_t i = 0; vcm_args_command(i); i++) {
        const char *name = vcm_args_command(i)->name;
        if (!second && strcmp(name, first) == 0)
            return vcm_args_command(i);
        if (second && strncmp(name, first, len) == 0 && name[len] == ' ' &&
            strcmp(name + len + 1, second) == 0)
            return vcm_args_command(i);
    }
    return NULL;
}

int vcm_args_refuse(const char *first, const char *second, struct vcm_error *err)
{
    const char *names[NAMES_MAX];
    struct vcm_buf typed = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    size_t count = 0;

    for (; vcm_args_command(count) && count < NAMES_MAX; count++)
        names[count] = vcm_args_command(count)->name;
    vcm_buf_append_format(&typed, "%s%s%s", first, second ? " " : "", second ? second : "");
    const char *nearest = vcm_text_nearest(vcm_buf_slice(&typed), names, count);
    int rc = nearest ? vcm_error_set(err, VCM_INVALID_ARGUMENT,
                                     "unknown command '%s'; did you mean '%s'?",
                                     vcm_buf_text(&typed), nearest)
                     : vcm_error_set(err, VCM_INVALID_ARGUMENT,
                                     "unknown command '%s'; 'vcm --help' lists the commands",
                                     vcm_buf_text(&typed));
    vcm_buf_release(&typed);
    return rc;
}

/* The next word that is no global option; NULL if there is none. */
static const char *peek(const struct words *words)
{
    for (int i = words->next; i < words->count; i++) {
        const char *word = words->all[i];
        if (strcmp(word, "--home") == 0)
            i++;
        else if (word[0] != '-' || strcmp(word, "-") == 0)
            return word;
        else if (!is_global_option(word))
            return NULL;
    }
    return NULL;
}

static int begin_command(struct vcm_args *args, const struct vcm_op *op, struct vcm_error *err)
{
    size_t count = vcm_op_param_total(op) + 1;

    args->op = op;
    args->family = NULL;
    args->values = vcm_arena_alloc(&args->arena, count * sizeof *args->values);
    return args->values ? VCM_OK : vcm_error_memory(err);
}

/* A family may have a command of its own name, which runs when the next word is none of its
 * commands. */
static int take_command(struct vcm_args *args, struct words *words, const char *word,
                        struct vcm_error *err)
{
    const struct vcm_op *op = words->first ? vcm_args_find(words->first, word) : NULL;

    if (!words->first) {
        const char *next = peek(words);
        op = vcm_args_find(word, NULL);
        if (vcm_args_is_family(word) && (!op || (next && vcm_args_find(word, next)))) {
            words->first = args->family = word;
            return VCM_OK;
        }
    }
    if (!op)
        return words->first ? vcm_args_refuse(words->first, word, err)
                            : vcm_args_refuse(word, NULL, err);
    return begin_command(args, op, err);
}

static int take_positional(struct vcm_args *args, struct words *words, const char *word,
                           struct vcm_error *err)
{
    const struct vcm_op *op = args->op;
    size_t i = words->next_positional;

    while (i < vcm_op_param_total(op) && !vcm_op_param_at(op, i)->positional)
        i++;
    if (i == vcm_op_param_total(op))
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "unexpected argument '%s'; 'vcm %s --help' shows the usage", word,
                             op->name);
    assert(i >= words->next_positional && args->values);
    words->next_positional = vcm_op_param_at(op, i)->repeated ? i : i + 1;
    return vcm_op_take(args->values, op, i, word, &args->arena, err);
}

static int take_word(struct vcm_args *args, struct words *words, const char *word,
                     struct vcm_error *err)
{
    if (!words->options_ended && strcmp(word, "--") == 0) {
        words->options_ended = true;
        return VCM_OK;
    }
    if (!words->options_ended && strncmp(word, "--", 2) == 0)
        return take_long(args, words, word, err);
    if (!words->options_ended && word[0] == '-' && word[1] != '\0')
        return take_letters(args, words, word, err);
    if (!args->op)
        return take_command(args, words, word, err);
    return take_positional(args, words, word, err);
}

/* Appends a word so that a shell takes it as it is. */
static void append_word(struct vcm_buf *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:=@%+,";

    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        vcm_buf_append_string(out, word);
        return;
    }
    vcm_buf_append_byte(out, '\'');
    for (; *word != '\0'; word++)
        vcm_buf_append_format(out, *word == '\'' ? "'\\''" : "%c", *word);
    vcm_buf_append_byte(out, '\'');
}

/* Writes the command line down again, without a cursor. */
static void retype(struct vcm_args *args, int argc, const char *const *argv)
{
    struct vcm_buf *out = &args->typed;

    vcm_buf_append_string(out, "vcm");
    for (int i = 1; i < argc; i++) {
        if (out == &args->typed && strcmp(argv[i], "--") == 0)
            out = &args->typed_end;
        if (out == &args->typed && strcmp(argv[i], "--cursor") == 0)
            i++;
        else if (out != &args->typed || strncmp(argv[i], "--cursor=", 9) != 0) {
            vcm_buf_append_byte(out, ' ');
            append_word(out, argv[i]);
        }
    }
}

int vcm_args_parse(struct vcm_args *args, int argc, const char *const *argv, struct vcm_error *err)
{
    struct words words = {.count = argc, .all = argv, .next = 1};
    int rc = VCM_OK;

    memset(args, 0, sizeof *args);
    vcm_arena_init(&args->arena, 16 * VCM_MIB);
    vcm_buf_init(&args->typed, VCM_LIMIT_JSON_BYTES);
    vcm_buf_init(&args->typed_end, VCM_LIMIT_JSON_BYTES);
    while (rc == VCM_OK && words.next < words.count)
        rc = take_word(args, &words, argv[words.next++], err);
    /* --json after the mistake must still apply to its report. */
    for (int i = words.next; rc != VCM_OK && i < argc; i++) {
        args->json = args->json || strcmp(argv[i], "--json") == 0;
        args->no_color = args->no_color || strcmp(argv[i], "--no-color") == 0;
    }
    if (rc == VCM_OK && args->op && !args->help)
        rc = vcm_op_check_required(args->values, args->op, err);
    if (rc == VCM_OK && args->op)
        retype(args, argc, argv);
    return rc;
}

void vcm_args_release(struct vcm_args *args)
{
    vcm_buf_release(&args->typed);
    vcm_buf_release(&args->typed_end);
    vcm_arena_release(&args->arena);
}
