#include "cli/completion.h"

#include <string.h>

#include "base/limits.h"
#include "cli/args.h"

#include "base/banned.h"

enum { SHELL };

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

static const struct vcm_op_param params[] = {
    [SHELL] = {.name = "shell",
               .type = VCM_OP_CHOICE,
               .positional = true,
               .required = true,
               .placeholder = "SHELL",
               .choices = shells,
               .summary = "shell that will read the script"},
};

static const struct vcm_result_member result[] = {
    {.name = "shell", .type = VCM_RESULT_TEXT, .choices = shells, .summary = "the shell"},
    {.name = "script", .type = VCM_RESULT_TEXT, .summary = "the completion script"},
    {0},
};

static const char *const examples[] = {
    "vcm completion bash > ~/.local/share/bash-completion/completions/vcm",
    "vcm completion zsh > ~/.zfunc/_vcm",
    "vcm completion fish > ~/.config/fish/completions/vcm.fish",
    NULL,
};

/* Appends `text`, escaped for single quotes of a shell. */
static void quoted(struct vcm_buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            vcm_buf_append_string(out, "'\\''");
        else
            vcm_buf_append_byte(out, *text);
    }
}

static void bash_choices(struct vcm_buf *out, const struct vcm_op_param *param)
{
    for (const char *const *choice = param->choices; choice && *choice; choice++)
        vcm_buf_append_format(out, " %s", *choice);
}

/* Appends the second words of the family whose name a command has. */
static void bash_family(struct vcm_buf *out, const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; vcm_args_command(i); i++)
        if (strncmp(vcm_args_command(i)->name, name, len) == 0 &&
            vcm_args_command(i)->name[len] == ' ')
            vcm_buf_append_format(out, " %s", vcm_args_command(i)->name + len + 1);
}

/* Appends the words that may follow a command: its options and the choices of its arguments. */
static void bash_command(struct vcm_buf *out, const struct vcm_op *op)
{
    bool directories = false;

    vcm_buf_append_format(out, "    '%s') words=\"$globals", op->name);
    for (size_t i = 0; i < vcm_op_param_total(op); i++) {
        if (vcm_op_param_at(op, i)->positional)
            bash_choices(out, vcm_op_param_at(op, i));
        else
            vcm_buf_append_format(out, " --%s", vcm_op_param_at(op, i)->name);
        if (vcm_op_param_at(op, i)->letter)
            vcm_buf_append_format(out, " -%c", vcm_op_param_at(op, i)->letter);
        directories = directories || vcm_op_param_at(op, i)->hint == VCM_OP_HINT_DIRECTORY;
    }
    bash_family(out, op->name);
    vcm_buf_append_format(out, "\"; files=%s ;;\n", directories ? "directory" : "");
}

static void bash_option_values(struct vcm_buf *out)
{
    vcm_buf_append_string(out, "  case \"$command $before\" in\n"
                               "    *' --home') _vcm_directories; return ;;\n");
    for (size_t i = 0; vcm_args_command(i); i++) {
        const struct vcm_op *op = vcm_args_command(i);
        for (size_t j = 0; j < vcm_op_param_total(op); j++) {
            const struct vcm_op_param *param = vcm_op_param_at(op, j);
            if (param->positional || !param->choices)
                continue;
            vcm_buf_append_format(out, "    '%s --%s') COMPREPLY=($(compgen -W '", op->name,
                                  param->name);
            bash_choices(out, param);
            vcm_buf_append_string(out, "' -- \"$current\")); return ;;\n");
        }
    }
    vcm_buf_append_string(out, "  esac\n");
}

/* Finds the command that was typed. bash splits "--home=DIR" into three words. */
static const char bash_reading[] =
    "\"\n"
    "  [ \"$COMP_CWORD\" -gt 0 ] && before=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
    "  [ \"$before\" = = ] && before=\"${COMP_WORDS[COMP_CWORD-2]}\"\n"
    "  [ \"$current\" = = ] && current=\"\"\n"
    "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
    "    case \"$value$word\" in\n"
    "      --home) value=\"value of \"; continue ;;\n"
    "      \"value of =\") continue ;;\n"
    "      \"value of \"*) value=\"\"; continue ;;\n"
    "      -* | =) continue ;;\n"
    "    esac\n"
    "    if [[ $'\\n'\"$commands\"$'\\n' == *$'\\n'\"${command:+$command }$word\"[$' \\n']* ]]; "
    "then\n"
    "      command=\"${command:+$command }$word\"\n"
    "    fi\n"
    "  done\n";

static void write_bash(struct vcm_buf *out)
{
    vcm_buf_append_string(out,
                          "# bash completion for vcm, made by 'vcm completion bash'\n"
                          "_vcm_directories() {\n"
                          "  local found\n"
                          "  mapfile -t found < <(compgen -d -- \"$current\")\n"
                          "  COMPREPLY+=(\"${found[@]}\")\n"
                          "  compopt -o filenames 2> /dev/null\n"
                          "}\n"
                          "_vcm() {\n"
                          "  local current=\"${COMP_WORDS[COMP_CWORD]}\" before=\"\" command=\"\"\n"
                          "  local word words value=\"\" files=\"\" globals=\"");
    for (size_t i = 0; vcm_args_globals[i].name; i++)
        vcm_buf_append_format(out, "%s--%s", i > 0 ? " " : "", vcm_args_globals[i].name);
    vcm_buf_append_string(out, "\" commands=\"");
    for (size_t i = 0; vcm_args_command(i); i++)
        vcm_buf_append_format(out, "%s%s", i > 0 ? "\n" : "", vcm_args_command(i)->name);
    vcm_buf_append_string(out, bash_reading);
    vcm_buf_append_string(out, "  COMPREPLY=()\n");
    bash_option_values(out);
    vcm_buf_append_string(out, "  case \"$command\" in\n");
    for (size_t i = 0; vcm_args_command(i); i++)
        bash_command(out, vcm_args_command(i));
    vcm_buf_append_string(
        out, "    '') words=\"$globals $(cut -d ' ' -f 1 <<< \"$commands\" | sort -u)\" ;;\n"
             "    *) words=\"$globals $(sed -n \"s/^$command //p\" <<< \"$commands\")\" ;;\n"
             "  esac\n"
             "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
             "  if [ \"$files\" = directory ]; then _vcm_directories; fi\n"
             "}\n"
             "complete -F _vcm vcm\n");
}

/* Escapes brackets and colons, which are syntax in _arguments specifications. */
static void zsh_text(struct vcm_buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '[' || *text == ']' || *text == ':' || *text == '\\')
            vcm_buf_append_byte(out, '\\');
        if (*text == '\'')
            vcm_buf_append_string(out, "'\\'");
        vcm_buf_append_byte(out, *text);
    }
}

static void zsh_action(struct vcm_buf *out, const struct vcm_op_param *param)
{
    vcm_buf_append_format(out, ":%s:", param->placeholder);
    if (param->choices) {
        vcm_buf_append_byte(out, '(');
        bash_choices(out, param);
        vcm_buf_append_byte(out, ')');
    } else if (param->hint == VCM_OP_HINT_DIRECTORY) {
        vcm_buf_append_string(out, "_files -/");
    } else if (param->hint == VCM_OP_HINT_FILE) {
        vcm_buf_append_string(out, "_files");
    }
}

/* A specification of its own for the letter of an option. */
static void zsh_letter(struct vcm_buf *out, const struct vcm_op_param *param)
{
    vcm_buf_append_format(out, "%s-%c[", param->repeated ? "*" : "", param->letter);
    zsh_text(out, param->summary);
    vcm_buf_append_byte(out, ']');
    if (param->placeholder)
        zsh_action(out, param);
    vcm_buf_append_string(out, "' '");
}

/* Whether an earlier command is of the same family. */
static bool is_family_again(size_t index)
{
    const char *name = vcm_args_command(index)->name;
    size_t len = strcspn(name, " ");

    for (size_t i = 0; i < index; i++)
        if (strncmp(vcm_args_command(i)->name, name, len + 1) == 0)
            return true;
    return false;
}

/* Whether there is a command of one word that is called like the family of this one. */
static bool has_own_command(const char *name)
{
    char first[64] = "";
    size_t len = strcspn(name, " ");

    memcpy(first, name, len < sizeof first ? len : sizeof first - 1);
    return vcm_args_find(first, NULL);
}

/* Appends the second words of a family and their summaries, as a list. */
static void zsh_second_words(struct vcm_buf *out, const char *name)
{
    size_t len = strcspn(name, " ");

    vcm_buf_append_string(out, "next=(");
    for (size_t i = 0; vcm_args_command(i); i++) {
        const struct vcm_op *op = vcm_args_command(i);
        if (strncmp(op->name, name, len) != 0 || op->name[len] != ' ')
            continue;
        vcm_buf_append_format(out, " '%s:", op->name + len + 1);
        quoted(out, op->summary);
        vcm_buf_append_byte(out, '\'');
    }
    vcm_buf_append_byte(out, ')');
}

static void zsh_family(struct vcm_buf *out, const char *name)
{
    vcm_buf_append_format(out, "    '%.*s') ", (int)strcspn(name, " "), name);
    zsh_second_words(out, name);
    vcm_buf_append_string(out, " ;;\n");
}

static void zsh_command(struct vcm_buf *out, const struct vcm_op *op)
{
    vcm_buf_append_format(out, "    '%s') ", op->name);
    if (vcm_args_is_family(op->name)) {
        zsh_second_words(out, op->name);
        vcm_buf_append_string(out, "; (( CURRENT == 2 )) && "
                                   "_describe -t commands command next; ");
    }
    vcm_buf_append_string(out, "_arguments $globals");
    for (size_t i = 0; i < vcm_op_param_total(op); i++) {
        const struct vcm_op_param *param = vcm_op_param_at(op, i);
        vcm_buf_append_string(out, " '");
        if (param->positional) {
            vcm_buf_append_string(out, param->repeated ? "*" : param->required ? "" : ":");
        } else {
            if (param->letter)
                zsh_letter(out, param);
            vcm_buf_append_format(out, "%s--%s[", param->repeated ? "*" : "", param->name);
            zsh_text(out, param->summary);
            vcm_buf_append_byte(out, ']');
        }
        if (param->placeholder)
            zsh_action(out, param);
        vcm_buf_append_byte(out, '\'');
    }
    vcm_buf_append_string(out, "; return ;;\n");
}

static void zsh_first_words(struct vcm_buf *out)
{
    vcm_buf_append_string(out, "    '') next=(");
    for (size_t i = 0; vcm_args_command(i); i++) {
        const struct vcm_op *op = vcm_args_command(i);
        size_t len = strcspn(op->name, " ");
        if (is_family_again(i) || (op->name[len] != '\0' && has_own_command(op->name)))
            continue;
        vcm_buf_append_format(out, " '%.*s:", (int)len, op->name);
        quoted(out, op->name[len] == '\0' ? op->summary : "a family of commands");
        vcm_buf_append_byte(out, '\'');
    }
    vcm_buf_append_string(out, ") ;;\n");
}

/* Finds the command among the words; _arguments then gets the words that follow. */
static const char zsh_reading[] = ")\n"
                                  "  for (( i = 2; i < CURRENT; i++ )); do\n"
                                  "    word=$words[i]\n"
                                  "    [[ $word == --home ]] && (( i++ )) && continue\n"
                                  "    [[ $word == -* ]] && continue\n"
                                  "    (( ${names[(Ie)${command:+$command }$word]} )) || break\n"
                                  "    command=${command:+$command }$word\n"
                                  "    at=i\n"
                                  "  done\n"
                                  "  words=(\"${(@)words[at,-1]}\")\n"
                                  "  (( CURRENT -= at - 1 ))\n"
                                  "  case $command in\n";

static void write_zsh(struct vcm_buf *out)
{
    vcm_buf_append_string(out, "#compdef vcm\n"
                               "# zsh completion for vcm, made by 'vcm completion zsh'\n"
                               "_vcm() {\n"
                               "  local -a names globals next\n"
                               "  local command word\n"
                               "  local -i i at=1\n"
                               "  globals=(");
    for (size_t i = 0; vcm_args_globals[i].name; i++) {
        const struct vcm_args_global *global = &vcm_args_globals[i];
        vcm_buf_append_format(out, "\n    '--%s[", global->name);
        zsh_text(out, global->summary);
        vcm_buf_append_format(out, "]%s'", global->placeholder ? ":directory:_files -/" : "");
    }
    vcm_buf_append_string(out, ")\n  names=(");
    for (size_t i = 0; vcm_args_command(i); i++) {
        const char *name = vcm_args_command(i)->name;
        size_t len = strcspn(name, " ");
        if (name[len] != '\0' && !is_family_again(i) && !has_own_command(name))
            vcm_buf_append_format(out, " '%.*s'", (int)len, name);
        vcm_buf_append_format(out, " '%s'", name);
    }
    vcm_buf_append_string(out, zsh_reading);
    zsh_first_words(out);
    for (size_t i = 0; vcm_args_command(i); i++) {
        const char *name = vcm_args_command(i)->name;
        if (strchr(name, ' ') && !is_family_again(i) && !has_own_command(name))
            zsh_family(out, name);
        zsh_command(out, vcm_args_command(i));
    }
    vcm_buf_append_string(out, "  esac\n"
                               "  if [[ $PREFIX == -* ]]; then\n"
                               "    _arguments $globals\n"
                               "  else\n"
                               "    _describe -t commands command next\n"
                               "  fi\n"
                               "}\n"
                               "_vcm \"$@\"\n");
}

/* Appends the condition under which the rest of a command is offered. */
static void fish_condition(struct vcm_buf *out, const char *name)
{
    const char *space = strchr(name, ' ');

    if (space)
        vcm_buf_append_format(
            out, "__fish_seen_subcommand_from %.*s; and __fish_seen_subcommand_from %s",
            (int)(space - name), name, space + 1);
    else
        vcm_buf_append_format(out, "__fish_seen_subcommand_from %s", name);
}

static void fish_name(struct vcm_buf *out, const struct vcm_op *op)
{
    const char *space = strchr(op->name, ' ');

    if (!space)
        vcm_buf_append_format(out, "complete -c vcm -f -n __fish_use_subcommand -a %s -d '",
                              op->name);
    else
        vcm_buf_append_format(out,
                              "complete -c vcm -f -n __fish_use_subcommand -a %.*s\n"
                              "complete -c vcm -f -n '__fish_seen_subcommand_from %.*s' -a %s -d '",
                              (int)(space - op->name), op->name, (int)(space - op->name), op->name,
                              space + 1);
    quoted(out, op->summary);
    vcm_buf_append_string(out, "'\n");
}

static void fish_param(struct vcm_buf *out, const struct vcm_op *op,
                       const struct vcm_op_param *param)
{
    bool directory = param->hint == VCM_OP_HINT_DIRECTORY;

    vcm_buf_append_format(out, "complete -c vcm -n '");
    fish_condition(out, op->name);
    vcm_buf_append_string(out, "'");
    if (!param->positional)
        vcm_buf_append_format(out, " -l %s%s", param->name,
                              param->type == VCM_OP_FLAG ? "" : " -r");
    if (param->letter)
        vcm_buf_append_format(out, " -s %c", param->letter);
    if (param->choices) {
        vcm_buf_append_string(out, " -f -a '");
        bash_choices(out, param);
        vcm_buf_append_byte(out, '\'');
    } else if (directory) {
        vcm_buf_append_string(out, " -f -a '(__fish_complete_directories)'");
    }
    vcm_buf_append_string(out, " -d '");
    quoted(out, param->summary);
    vcm_buf_append_string(out, "'\n");
}

static void write_fish(struct vcm_buf *out)
{
    vcm_buf_append_string(out, "# fish completion for vcm, made by 'vcm completion fish'\n");
    for (size_t i = 0; vcm_args_globals[i].name; i++) {
        const struct vcm_args_global *global = &vcm_args_globals[i];
        vcm_buf_append_format(out, "complete -c vcm -l %s", global->name);
        if (global->letter)
            vcm_buf_append_format(out, " -s %c", global->letter);
        vcm_buf_append_format(
            out, "%s -d '", global->placeholder ? " -r -f -a '(__fish_complete_directories)'" : "");
        quoted(out, global->summary);
        vcm_buf_append_string(out, "'\n");
    }
    for (size_t i = 0; vcm_args_command(i); i++) {
        const struct vcm_op *op = vcm_args_command(i);
        fish_name(out, op);
        for (size_t j = 0; j < vcm_op_param_total(op); j++)
            fish_param(out, op, vcm_op_param_at(op, j));
    }
}

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    const char *shell = vcm_op_text(call, SHELL);
    struct vcm_buf script = VCM_BUF_INIT(1 * VCM_MIB);

    if (strcmp(shell, "bash") == 0)
        write_bash(&script);
    else if (strcmp(shell, "zsh") == 0)
        write_zsh(&script);
    else
        write_fish(&script);
    vcm_jsonw_begin_object(call->out);
    vcm_jsonw_member_string(call->out, "shell", shell);
    vcm_jsonw_member_string(call->out, "script", vcm_buf_text(&script));
    vcm_jsonw_end_object(call->out);
    int rc = vcm_buf_check(&script, "the script", err);
    vcm_buf_release(&script);
    return rc;
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    (void)call;
    vcm_buf_append_string(out->out, vcm_json_get_text(document, "script", ""));
}

const struct vcm_op vcm_completion_command = {
    .name = "completion",
    .summary = "print a shell completion script",
    .description =
        "Prints a script that completes the commands and options of vcm in the given shell.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run,
    .print = print,
};
