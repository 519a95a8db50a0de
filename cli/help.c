#include "cli/help.h"

#include <string.h>

#include "base/limits.h"
#include "cli/args.h"

#include "base/banned.h"

#define TEXT_COLUMNS       78u
#define LABEL_MIN          12u
#define HELP_BYTES         (1 * VCM_MIB)
#define BEGINNING_COMMANDS 5u

static const char tagline[] = "vcm - virtual memory for the context of language models";

static const struct {
    const char *status;
    const char *meaning;
} exit_statuses[] = {
    {"0", "done"},
    {"1", "failed"},
    {"2", "wrong usage or invalid input"},
    {"3", "partly done: some rows or files failed, the rest is done and reported"},
    {"130", "interrupted"},
};

static const struct {
    const char *name;
    const char *meaning;
} variables[] = {
    {"VCM_HOME", "directory of the store, unless --home is given"},
    {"XDG_DATA_HOME",
     "without VCM_HOME the store is in its subdirectory vcm (default: ~/.local/share)"},
    {"NO_COLOR", "if set and not empty, disables colours"},
};

void vcm_help_usage(struct vcm_buf *out, const struct vcm_op *op)
{
    bool has_options = false;

    vcm_buf_append_string(out, op->name);
    for (size_t i = 0; i < vcm_op_param_total(op); i++)
        has_options = has_options || !vcm_op_param_at(op, i)->positional;
    if (has_options)
        vcm_buf_append_string(out, " [OPTIONS]");
    for (size_t i = 0; i < vcm_op_param_total(op); i++) {
        const struct vcm_op_param *param = vcm_op_param_at(op, i);
        if (param->positional)
            vcm_buf_append_format(out, " %s%s%s%s", param->required ? "" : "[", param->placeholder,
                                  param->required ? "" : "]", param->repeated ? "..." : "");
    }
}

/* Appends `text` in lines of TEXT_COLUMNS, each indented by `indent`; the first line begins at the
 * cursor. */
static void wrap(struct vcm_print *out, const char *text, unsigned indent)
{
    size_t column = indent;
    bool line_start = true;

    while (*text) {
        size_t word = strcspn(text, " \n");
        if (!line_start && column + 1 + word > TEXT_COLUMNS) {
            vcm_print_format(out, VCM_PRINT_PLAIN, "\n%*s", (int)indent, "");
            column = indent;
            line_start = true;
        }
        vcm_print_format(out, VCM_PRINT_PLAIN, "%s%.*s", line_start ? "" : " ", (int)word, text);
        column += word + (line_start ? 0 : 1);
        line_start = false;
        text += word;
        if (*text == '\n') {
            vcm_print_format(out, VCM_PRINT_PLAIN, "\n%*s", (int)indent, "");
            column = indent;
            line_start = true;
        }
        if (*text)
            text++;
    }
    vcm_buf_append_byte(out->out, '\n');
}

static void labelled(struct vcm_print *out, const char *label, unsigned width, const char *text)
{
    vcm_print_format(out, VCM_PRINT_PLAIN, "  %-*s  ", (int)width, label);
    wrap(out, text, width + 4);
}

static void heading(struct vcm_print *out, const char *text)
{
    vcm_print_format(out, VCM_PRINT_BOLD, "\n%s\n", text);
}

static void global_label(struct vcm_buf *out, const struct vcm_args_global *global)
{
    if (global->letter)
        vcm_buf_append_format(out, "-%c, ", global->letter);
    vcm_buf_append_format(out, "--%s%s%s", global->name, global->placeholder ? " " : "",
                          global->placeholder ? global->placeholder : "");
}

static void param_label(struct vcm_buf *out, const struct vcm_op_param *param)
{
    if (param->positional) {
        vcm_buf_append_string(out, param->placeholder);
        return;
    }
    if (param->letter)
        vcm_buf_append_format(out, "-%c, ", param->letter);
    vcm_buf_append_format(out, "--%s%s%s", param->name, param->placeholder ? " " : "",
                          param->placeholder ? param->placeholder : "");
}

static void param_text(struct vcm_buf *out, const struct vcm_op_param *param)
{
    vcm_buf_append_string(out, param->summary);
    for (const char *const *choice = param->choices; choice && *choice; choice++)
        vcm_buf_append_format(out, "%s%s", choice == param->choices ? ": " : ", ", *choice);
    if (param->default_text)
        vcm_buf_append_format(out, " (default: %s)", param->default_text);
}

static void print_globals(struct vcm_print *out)
{
    struct vcm_buf label = VCM_BUF_INIT(256);
    unsigned width = LABEL_MIN;

    for (int measuring = 1; measuring >= 0; measuring--) {
        for (size_t i = 0; vcm_args_globals[i].name; i++) {
            vcm_buf_clear(&label);
            global_label(&label, &vcm_args_globals[i]);
            if (measuring)
                width = label.len > width ? (unsigned)label.len : width;
            else
                labelled(out, vcm_buf_text(&label), width, vcm_args_globals[i].summary);
        }
    }
    vcm_buf_release(&label);
}

/* Prints the commands whose name begins with `prefix`. */
static void print_commands(struct vcm_print *out, const char *prefix)
{
    unsigned width = LABEL_MIN;

    for (size_t i = 0; vcm_args_command(i); i++)
        if (strlen(vcm_args_command(i)->name) > width)
            width = (unsigned)strlen(vcm_args_command(i)->name);
    for (size_t i = 0; vcm_args_command(i); i++) {
        const struct vcm_op *op = vcm_args_command(i);
        if (strncmp(op->name, prefix, strlen(prefix)) == 0)
            labelled(out, op->name, width, op->summary);
    }
}

void vcm_help_overview(struct vcm_print *out)
{
    vcm_print_format(out, VCM_PRINT_BOLD, "%s\n", tagline);
    vcm_print_text(out, VCM_PRINT_PLAIN, "\nUsage: vcm [OPTIONS] COMMAND [ARGUMENTS]\n");
    heading(out, "Commands");
    print_commands(out, "");
    heading(out, "Options, before or after the command");
    print_globals(out);
    heading(out, "Getting started");
    vcm_print_text(out, VCM_PRINT_PLAIN,
                   "  vcm map .             map the repository that contains this directory\n"
                   "  vcm pages             list its pages and their files\n"
                   "  vcm page PAGE         print a page\n"
                   "\nSee 'vcm help COMMAND' for a command, 'man vcm' for everything.\n");
}

void vcm_help_beginning(struct vcm_print *out)
{
    static const struct {
        const char *name, *line, *meaning;
    } steps[] = {
        {"map", "vcm map", "turn the repository around you into pages"},
        {"repo map", "vcm repo map", "see what is important in it"},
        {"grep", "vcm grep PATTERN", "search its text"},
        {"read", "vcm read PATH:1-40", "read lines, or a definition by its name"},
        {"pages", "vcm pages", "list its pages and their files"},
        {"page", "vcm page PAGE", "print a page"},
        {"symbols", "vcm symbols --name NAME", "find definitions"},
    };
    unsigned shown = 0;

    vcm_print_format(out, VCM_PRINT_BOLD, "%s\n", tagline);
    heading(out, "To begin with");
    for (size_t i = 0; i < VCM_OP_COUNT(steps) && shown < BEGINNING_COMMANDS; i++) {
        const char *second = strchr(steps[i].name, ' ');
        char first[16] = "";
        memcpy(first, steps[i].name, strcspn(steps[i].name, " "));
        if (!vcm_args_find(first, second ? second + 1 : NULL))
            continue;
        labelled(out, steps[i].line, 24, steps[i].meaning);
        shown++;
    }
    vcm_print_text(out, VCM_PRINT_PLAIN,
                   "\n'vcm --help' lists all commands, 'vcm help COMMAND' explains one.\n");
}

/* The commands of two words of a family. */
static void print_family(struct vcm_print *out, const char *family)
{
    struct vcm_buf prefix = VCM_BUF_INIT(256);

    vcm_buf_append_format(&prefix, "%s ", family);
    heading(out, "Commands");
    print_commands(out, vcm_buf_text(&prefix));
    vcm_buf_release(&prefix);
}

void vcm_help_family(struct vcm_print *out, const char *family)
{
    vcm_print_format(out, VCM_PRINT_PLAIN, "Usage: vcm %s COMMAND [ARGUMENTS]\n", family);
    print_family(out, family);
}

static void print_params(struct vcm_print *out, const struct vcm_op *op, bool positional)
{
    struct vcm_buf label = VCM_BUF_INIT(256), text = VCM_BUF_INIT(4096);
    unsigned width = LABEL_MIN;
    bool any = false;

    for (int measuring = 1; measuring >= 0; measuring--) {
        for (size_t i = 0; i < vcm_op_param_total(op); i++) {
            if (vcm_op_param_at(op, i)->positional != positional)
                continue;
            if (!measuring && !any)
                heading(out, positional ? "Arguments" : "Options");
            vcm_buf_clear(&label);
            vcm_buf_clear(&text);
            param_label(&label, vcm_op_param_at(op, i));
            param_text(&text, vcm_op_param_at(op, i));
            if (measuring)
                width = label.len > width ? (unsigned)label.len : width;
            else
                labelled(out, vcm_buf_text(&label), width, vcm_buf_text(&text));
            any = any || !measuring;
        }
    }
    vcm_buf_release(&label);
    vcm_buf_release(&text);
}

typedef void (*key_fn)(void *context, const struct vcm_result_member *key);

static void each_key(const struct vcm_result_member *members, key_fn visit, void *context)
{
    for (const struct vcm_result_member *m = members; m && m->name; m++) {
        if (m->is_spliced)
            each_key(m->members, visit, context);
        else
            visit(context, m);
    }
}

static void append_name(void *context, const struct vcm_result_member *key)
{
    struct vcm_buf *names = context;

    vcm_buf_append_format(names, "%s%s", names->len > 0 ? ", " : "", key->name);
}

#define CHOICES_SHOWN 6u

/* Describes a key, with its possible values if they are few. */
static void key_text(struct vcm_buf *out, const struct vcm_result_member *key)
{
    size_t count = 0;

    while (key->choices && key->choices[count])
        count++;
    vcm_buf_clear(out);
    vcm_buf_append_string(out, key->summary);
    for (size_t i = 0; i < count && count <= CHOICES_SHOWN; i++)
        vcm_buf_append_format(out, "%s%s", i == 0 ? ": " : ", ", key->choices[i]);
}

/* Lists the names of an object's members, one level deep; 'vcm schema' has all levels. */
static void inner_names(struct vcm_buf *out, const struct vcm_result_member *key)
{
    vcm_buf_clear(out);
    each_key(key->members, append_name, out);
}

struct key_list {
    struct vcm_print *out;
    unsigned width;
};

static void measure_key(void *context, const struct vcm_result_member *key)
{
    struct key_list *list = context;

    list->width = strlen(key->name) > list->width ? (unsigned)strlen(key->name) : list->width;
}

static void print_key(void *context, const struct vcm_result_member *key)
{
    const struct key_list *list = context;
    struct vcm_buf names = VCM_BUF_INIT(4096);

    if (key->optional)
        return;
    key_text(&names, key);
    labelled(list->out, key->name, list->width, vcm_buf_text(&names));
    inner_names(&names, key);
    if (names.len > 0) {
        vcm_print_format(list->out, VCM_PRINT_PLAIN, "%*s", (int)list->width + 6, "");
        wrap(list->out, vcm_buf_text(&names), list->width + 6);
    }
    vcm_buf_release(&names);
}

/* The keys that a document has only when one of the parameters of a listing is given. */
static void append_optional_name(void *context, const struct vcm_result_member *key)
{
    if (key->optional)
        append_name(context, key);
}

static void print_optional_keys(struct vcm_print *out, const struct vcm_op *op)
{
    struct vcm_buf names = VCM_BUF_INIT(4096);

    each_key(op->result, append_optional_name, &names);
    if (names.len > 0) {
        vcm_print_text(
            out, VCM_PRINT_PLAIN,
            "\n  also with --limit, --max-answer-tokens, --no-limit or --cursor:\n      ");
        wrap(out, vcm_buf_text(&names), 6);
    }
    vcm_buf_release(&names);
}

static void print_keys(struct vcm_print *out, const struct vcm_op *op)
{
    struct key_list list = {.out = out, .width = LABEL_MIN};

    heading(out, "Keys of the JSON document");
    if (op->is_stream)
        vcm_print_text(out, VCM_PRINT_PLAIN, "  (one object per line)\n");
    each_key(op->result, measure_key, &list);
    each_key(op->result, print_key, &list);
    print_optional_keys(out, op);
    for (const struct vcm_op_document *d = op->also; d && d->members; d++) {
        struct vcm_buf names = VCM_BUF_INIT(4096);
        each_key(d->members, append_name, &names);
        vcm_print_format(out, VCM_PRINT_PLAIN, "\n  %s:\n      ", d->when);
        wrap(out, vcm_buf_text(&names), 6);
        vcm_buf_release(&names);
    }
    vcm_print_format(out, VCM_PRINT_PLAIN, "\n  See 'vcm schema %s' for their types.\n", op->name);
}

void vcm_help_command(struct vcm_print *out, const struct vcm_op *op)
{
    struct vcm_buf usage = VCM_BUF_INIT(4096);

    vcm_help_usage(&usage, op);
    vcm_print_format(out, VCM_PRINT_BOLD, "vcm %s - %s\n", op->name, op->summary);
    vcm_print_format(out, VCM_PRINT_PLAIN, "\nUsage: vcm %s\n\n", vcm_buf_text(&usage));
    wrap(out, op->description, 0);
    print_params(out, op, true);
    print_params(out, op, false);
    heading(out, "Options of every command");
    print_globals(out);
    print_keys(out, op);
    heading(out, "Examples");
    for (const char *const *example = op->examples; *example; example++)
        vcm_print_format(out, VCM_PRINT_PLAIN, "  %s\n", *example);
    vcm_buf_release(&usage);
    if (vcm_args_is_family(op->name))
        print_family(out, op->name);
}

/* Escapes what roff interprets: '\\', '-', and '.' or '\'' at the beginning of a line. */
static void roff(struct vcm_buf *out, const char *text)
{
    bool line_start = true;

    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\''))
            vcm_buf_append_string(out, "\\&");
        if (*text == '\\')
            vcm_buf_append_string(out, "\\e");
        else if (*text == '-')
            vcm_buf_append_string(out, "\\-");
        else if (*text == '\'')
            vcm_buf_append_string(out, "\\(aq");
        else if (*text == '\n')
            vcm_buf_append_string(out, "\n.br\n");
        else
            vcm_buf_append_byte(out, *text);
        line_start = *text == '\n';
    }
}

static void roff_item(struct vcm_buf *out, const char *label, const char *text)
{
    vcm_buf_append_string(out, ".TP\n.B ");
    roff(out, label);
    vcm_buf_append_byte(out, '\n');
    roff(out, text);
    vcm_buf_append_byte(out, '\n');
}

static void manual_key(void *context, const struct vcm_result_member *key)
{
    struct vcm_buf *out = context, names = VCM_BUF_INIT(4096);

    key_text(&names, key);
    roff_item(out, key->name, vcm_buf_text(&names));
    inner_names(&names, key);
    if (names.len > 0) {
        vcm_buf_append_string(out, ".br\n");
        roff(out, vcm_buf_text(&names));
        vcm_buf_append_byte(out, '\n');
    }
    vcm_buf_release(&names);
}

static void manual_keys(struct vcm_buf *out, const struct vcm_op *op)
{
    vcm_buf_append_format(out, ".PP\nKeys of the JSON document%s",
                          op->is_stream ? "s, one a line" : "");
    for (const struct vcm_op_document *d = op->also; d && d->members; d++) {
        vcm_buf_append_string(out, d == op->also ? "; another one " : ", and another one ");
        roff(out, d->when);
    }
    vcm_buf_append_string(out, ":\n");
    each_key(op->result, manual_key, out);
}

static void manual_command(struct vcm_buf *out, const struct vcm_op *op)
{
    struct vcm_buf label = VCM_BUF_INIT(4096), text = VCM_BUF_INIT(4096);

    vcm_help_usage(&label, op);
    vcm_buf_append_string(out, ".SS vcm ");
    roff(out, vcm_buf_text(&label));
    vcm_buf_append_byte(out, '\n');
    roff(out, op->summary);
    vcm_buf_append_string(out, ".\n.PP\n");
    roff(out, op->description);
    vcm_buf_append_byte(out, '\n');
    for (size_t i = 0; i < vcm_op_param_total(op); i++) {
        vcm_buf_clear(&label);
        vcm_buf_clear(&text);
        param_label(&label, vcm_op_param_at(op, i));
        param_text(&text, vcm_op_param_at(op, i));
        roff_item(out, vcm_buf_text(&label), vcm_buf_text(&text));
    }
    manual_keys(out, op);
    vcm_buf_append_string(out, ".PP\nExamples:\n.PP\n.nf\n");
    for (const char *const *example = op->examples; *example; example++) {
        vcm_buf_append_string(out, "    ");
        roff(out, *example);
        vcm_buf_append_byte(out, '\n');
    }
    vcm_buf_append_string(out, ".fi\n");
    vcm_buf_release(&label);
    vcm_buf_release(&text);
}

void vcm_help_manual(struct vcm_buf *out)
{
    struct vcm_buf label = VCM_BUF_INIT(256);

    vcm_buf_append_string(out, ".TH VCM 1 \"\" \"vcm " VCM_VERSION "\" \"User Commands\"\n"
                               ".SH NAME\n");
    roff(out, tagline);
    vcm_buf_append_string(out, "\n.SH SYNOPSIS\n.B vcm\n[OPTIONS] COMMAND [ARGUMENTS]\n"
                               ".SH DESCRIPTION\n");
    roff(out, "vcm turns the files of a repository into pages of exact size for language models, "
              "keeps them in a store that several processes can read in place, and says for every "
              "file where it went. Results go to standard output; progress, log lines and errors "
              "go to standard error.");
    vcm_buf_append_string(out, "\n.SH OPTIONS\nThey stand before or after the command.\n");
    for (size_t i = 0; vcm_args_globals[i].name; i++) {
        vcm_buf_clear(&label);
        global_label(&label, &vcm_args_globals[i]);
        roff_item(out, vcm_buf_text(&label), vcm_args_globals[i].summary);
    }
    vcm_buf_append_string(out, ".SH COMMANDS\n");
    for (size_t i = 0; vcm_args_command(i); i++)
        manual_command(out, vcm_args_command(i));
    vcm_buf_append_string(out, ".SH EXIT STATUS\n");
    for (size_t i = 0; i < sizeof exit_statuses / sizeof exit_statuses[0]; i++)
        roff_item(out, exit_statuses[i].status, exit_statuses[i].meaning);
    vcm_buf_append_string(out, ".SH ENVIRONMENT\n");
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        roff_item(out, variables[i].name, variables[i].meaning);
    vcm_buf_append_string(out, ".SH FILES\nThe home is made on first use with mode 0700. It holds "
                               "the page store and\n.IR config.yaml .\n");
    vcm_buf_release(&label);
}
