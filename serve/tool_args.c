#include "serve/tool_args.h"

#include <stdio.h>
#include <string.h>

#include "base/defaults.h"
#include "base/limits.h"
#include "base/text.h"

#include "base/banned.h"

#define NAMES_MAX    64u
#define PROBLEMS_MAX 32u
#define SHOWN_BYTES  60
/* Beyond it, a number is not exact in many clients. */
#define INTEGER_MAX ((uint64_t)1 << 53)
/* The parameter that bounds an answer, of operations that have it; every tool has the argument. */
#define BOUND_PARAM "max-answer-tokens"
#define BOUND       "max_answer_tokens"

/* What is wrong with the arguments of a call. */
struct problems {
    const struct vcm_op *op;
    struct vcm_arena *arena;
    const char *list[PROBLEMS_MAX];
    unsigned count;
};

void vcm_tool_args_name(struct vcm_buf *out, const struct vcm_op_param *param)
{
    if (param->reach == VCM_OP_REACH_REPO) {
        vcm_buf_append_string(out, "repo_path");
        return;
    }
    for (const char *p = param->name; *p; p++)
        vcm_buf_append_byte(out, *p == '-' ? '_' : *p);
}

/* All scopes are those of other repositories, too: not for a client. */
static bool is_offered(const struct vcm_op_param *param)
{
    return param->reach != VCM_OP_REACH_HERE && strcmp(param->name, "all-scopes") != 0;
}

static bool is_bound(const struct vcm_op_param *param)
{
    return strcmp(param->name, BOUND_PARAM) == 0;
}

static uint64_t maximum(const struct vcm_op_param *param)
{
    if (is_bound(param))
        return VCM_TOOL_ARGS_TOKENS_MAX;
    return param->max < INTEGER_MAX ? param->max : INTEGER_MAX - 1;
}

static void put_type(struct vcm_jsonw *w, const struct vcm_op_param *param)
{
    if (param->type == VCM_OP_FLAG) {
        vcm_jsonw_member_string(w, "type", "boolean");
    } else if (param->type == VCM_OP_NUMBER) {
        vcm_jsonw_member_string(w, "type", "integer");
        vcm_jsonw_member_uint(w, "minimum", param->min);
        if (maximum(param) < INTEGER_MAX - 1)
            vcm_jsonw_member_uint(w, "maximum", maximum(param));
    } else {
        vcm_jsonw_member_string(w, "type", "string");
    }
    if (param->type != VCM_OP_CHOICE)
        return;
    vcm_jsonw_key(w, "enum");
    vcm_jsonw_begin_array(w);
    for (const char *const *choice = param->choices; *choice; choice++)
        vcm_jsonw_string(w, *choice);
    vcm_jsonw_end_array(w);
}

/* What every tool takes, whether its operation knows it or not. */
static const struct vcm_op_param bound_param = {
    .name = BOUND_PARAM,
    .type = VCM_OP_NUMBER,
    .placeholder = "N",
    .min = 1,
    .max = VCM_TOOL_ARGS_TOKENS_MAX,
    .default_text = VCM_DEFAULT_TEXT(VCM_TOOL_ARGS_TOKENS_DEFAULT),
    .summary = "tokens of the answer",
};

/* The default of a parameter that every listing has is that of the command line. */
static void put_property(struct vcm_jsonw *w, const struct vcm_op_param *param, bool has_default)
{
    struct vcm_buf text = VCM_BUF_INIT(4 * VCM_KIB);

    vcm_tool_args_name(&text, param);
    vcm_jsonw_key(w, vcm_buf_text(&text));
    vcm_buf_clear(&text);
    /* Most tools have it, so it is told in few words. */
    bool is_repo = param->reach == VCM_OP_REACH_REPO;
    vcm_buf_append_string(&text, is_repo ? "repository: path, or URL" : param->summary);
    if (param->default_text && has_default && !is_repo)
        vcm_buf_append_format(&text, " (default: %s)", param->default_text);
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "description", vcm_buf_text(&text));
    if (param->repeated) {
        vcm_jsonw_member_string(w, "type", "array");
        vcm_jsonw_key(w, "items");
        vcm_jsonw_begin_object(w);
    }
    put_type(w, param);
    if (param->repeated)
        vcm_jsonw_end_object(w);
    vcm_jsonw_end_object(w);
    vcm_buf_release(&text);
}

static void put_required(struct vcm_jsonw *w, const struct vcm_op *op)
{
    struct vcm_buf name = VCM_BUF_INIT(VCM_KIB);
    bool any = false;

    for (size_t i = 0; i < vcm_op_param_total(op); i++) {
        if (!vcm_op_param_at(op, i)->required)
            continue;
        if (!any) {
            vcm_jsonw_key(w, "required");
            vcm_jsonw_begin_array(w);
        }
        any = true;
        vcm_buf_clear(&name);
        vcm_tool_args_name(&name, vcm_op_param_at(op, i));
        vcm_jsonw_string(w, vcm_buf_text(&name));
    }
    if (any)
        vcm_jsonw_end_array(w);
    vcm_buf_release(&name);
}

void vcm_tool_args_put_schema(struct vcm_jsonw *w, const struct vcm_op *op)
{
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "type", "object");
    vcm_jsonw_key(w, "properties");
    vcm_jsonw_begin_object(w);
    for (size_t i = 0; i < vcm_op_param_total(op); i++)
        if (is_offered(vcm_op_param_at(op, i)) && !is_bound(vcm_op_param_at(op, i)))
            put_property(w, vcm_op_param_at(op, i), i < op->param_count);
    put_property(w, &bound_param, true);
    vcm_jsonw_end_object(w);
    put_required(w, op);
    vcm_jsonw_member_bool(w, "additionalProperties", false);
    vcm_jsonw_end_object(w);
}

__attribute__((format(printf, 2, 3))) static void problem(struct problems *problems,
                                                          const char *format, ...)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_KIB);
    va_list args;

    if (problems->count == PROBLEMS_MAX)
        return;
    va_start(args, format);
    vcm_buf_append_format_list(&text, format, args);
    va_end(args);
    const char *copy = vcm_arena_copy(problems->arena, vcm_buf_slice(&text));
    if (copy)
        problems->list[problems->count++] = copy;
    vcm_buf_release(&text);
}

/* A value as a message shows it. */
static const char *shown(char out[SHOWN_BYTES + 8], const struct vcm_json *value)
{
    static const char *const kinds[] = {
        [VCM_JSON_NULL] = "null", [VCM_JSON_ARRAY] = "an array", [VCM_JSON_OBJECT] = "an object"};

    if (value->kind == VCM_JSON_STRING)
        snprintf(out, SHOWN_BYTES + 8, "\"%.*s\"", SHOWN_BYTES, value->text.data);
    else if (value->kind == VCM_JSON_BOOL)
        snprintf(out, SHOWN_BYTES, "%s", value->boolean ? "true" : "false");
    else if (value->kind == VCM_JSON_INT)
        snprintf(out, SHOWN_BYTES, "%lld", (long long)value->integer);
    else if (value->kind == VCM_JSON_NUMBER)
        snprintf(out, SHOWN_BYTES, "%g", value->number);
    else
        snprintf(out, SHOWN_BYTES, "%s", kinds[value->kind]);
    return out;
}

static void expect(struct problems *problems, const char *name, const struct vcm_op_param *param,
                   const struct vcm_json *value)
{
    struct vcm_buf what = VCM_BUF_INIT(VCM_KIB);
    char text[SHOWN_BYTES + 8];

    if (param->type == VCM_OP_FLAG)
        vcm_buf_append_string(&what, "true or false");
    else if (param->type == VCM_OP_NUMBER)
        vcm_buf_append_format(&what, "an integer from %llu to %llu", (unsigned long long)param->min,
                              (unsigned long long)maximum(param));
    else if (param->type == VCM_OP_TEXT)
        vcm_buf_append_string(&what, "a string that is not empty");
    else
        vcm_buf_append_string(&what, "one of");
    for (const char *const *c = param->choices; c && *c; c++)
        vcm_buf_append_format(&what, "%s %s", c == param->choices ? "" : ",", *c);
    problem(problems, "%s: expected %s, not %s", name, vcm_buf_text(&what), shown(text, value));
    vcm_buf_release(&what);
}

/* The text of a value for vcm_op_take(), or NULL if it has the wrong type or range. */
static const char *text_of(struct problems *problems, const struct vcm_op_param *param,
                           const struct vcm_json *value)
{
    char number[32];

    if (param->type == VCM_OP_FLAG)
        return value->kind == VCM_JSON_BOOL ? "true" : NULL;
    if (param->type == VCM_OP_NUMBER) {
        if (value->kind != VCM_JSON_INT || value->integer < 0 ||
            (uint64_t)value->integer < param->min || (uint64_t)value->integer > maximum(param))
            return NULL;
        snprintf(number, sizeof number, "%lld", (long long)value->integer);
        return vcm_arena_copy(problems->arena, vcm_slice_of_string(number));
    }
    bool is_text = value->kind == VCM_JSON_STRING && value->text.len > 0 &&
                   strlen(value->text.data) == value->text.len;
    return is_text ? value->text.data : NULL;
}

/* Confines what names something outside of the home. */
static const char *confine(struct problems *problems, const char *name,
                           const struct vcm_op_param *param, const char *text,
                           const struct vcm_roots *roots)
{
    struct vcm_error err = {0};
    const char *out = text;
    int rc = VCM_OK;

    if (param->reach == VCM_OP_REACH_FILE)
        rc = vcm_roots_resolve(&out, roots, text, problems->arena, &err);
    else if (param->reach == VCM_OP_REACH_REPO)
        rc = vcm_roots_resolve_repo(&out, roots, text, problems->arena, &err);
    else if (param->reach == VCM_OP_REACH_URL)
        rc = vcm_roots_check_url(roots, text, &err);
    if (rc == VCM_OK)
        return out;
    problem(problems, "%s: %s", name, err.message);
    return NULL;
}

static void take_one(struct vcm_op_value *values, struct problems *problems, size_t index,
                     const char *name, const struct vcm_json *value, const struct vcm_roots *roots)
{
    const struct vcm_op_param *param = vcm_op_param_at(problems->op, index);
    struct vcm_error err = {0};
    const char *text = text_of(problems, param, value);

    if (!text) {
        expect(problems, name, param, value);
        return;
    }
    if (param->type == VCM_OP_FLAG && !value->boolean)
        return;
    text = confine(problems, name, param, text, roots);
    if (!text)
        return;
    if (vcm_op_take(values, problems->op, index, text, problems->arena, &err) == VCM_OK)
        return;
    if (param->type == VCM_OP_CHOICE)
        expect(problems, name, param, value);
    else
        problem(problems, "%s: %s", name, err.message);
}

static void take(struct vcm_op_value *values, struct problems *problems, size_t index,
                 const char *name, const struct vcm_json *value, const struct vcm_roots *roots)
{
    char text[SHOWN_BYTES + 8];

    if (!vcm_op_param_at(problems->op, index)->repeated) {
        take_one(values, problems, index, name, value, roots);
        return;
    }
    if (value->kind != VCM_JSON_ARRAY)
        problem(problems, "%s: expected an array, not %s", name, shown(text, value));
    for (const struct vcm_json *v = value->first; v && value->kind == VCM_JSON_ARRAY; v = v->next)
        take_one(values, problems, index, name, v, roots);
}

static void unknown(struct problems *problems, const struct vcm_json *argument,
                    const char *const *names, size_t count)
{
    const char *nearest = vcm_text_nearest(argument->key, names, count);

    if (nearest)
        problem(problems, "%.60s: there is no such argument; did you mean %s?", argument->key.data,
                nearest);
    else
        problem(problems, "%.60s: there is no such argument", argument->key.data);
}

static bool is_given(const struct vcm_op_value *values, const struct vcm_op *op, const char *name)
{
    for (size_t i = 0; i < vcm_op_param_total(op); i++)
        if (strcmp(vcm_op_param_at(op, i)->name, name) == 0)
            return values[i].is_set;
    return false;
}

static bool has_param(const struct vcm_op *op, const char *name)
{
    for (size_t i = 0; i < vcm_op_param_total(op); i++)
        if (strcmp(vcm_op_param_at(op, i)->name, name) == 0)
            return true;
    return false;
}

/* Whether an operation that looks at a repository or at scopes is told to look at scopes. */
static bool looks_at_scopes(const struct vcm_op_value *values, const struct vcm_op *op)
{
    return has_param(op, "all-scopes") &&
           (is_given(values, op, "scope") || is_given(values, op, "all-scopes"));
}

/* A repository that is not named is that of the default root. */
static void fill_in(struct vcm_op_value *values, struct problems *problems, const char *name,
                    size_t index, const struct vcm_roots *roots)
{
    const struct vcm_op_param *param = vcm_op_param_at(problems->op, index);
    const char *root = vcm_roots_default(roots);
    struct vcm_error err = {0};
    const char *text = NULL;

    if (values[index].is_set)
        return;
    if (param->required) {
        problem(problems, "%s: it is missing", name);
    } else if (param->reach == VCM_OP_REACH_REPO && param->default_text &&
               !looks_at_scopes(values, problems->op)) {
        if (root && vcm_roots_resolve_repo(&text, roots, root, problems->arena, &err) == VCM_OK)
            vcm_op_take(values, problems->op, index, text, problems->arena, &err);
        else
            problem(problems, "%s: it is missing, and the server was not started in a repository",
                    name);
    }
}

static int report(const struct problems *problems, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(64 * VCM_KIB);

    if (problems->count == 0)
        return VCM_OK;
    for (unsigned i = 0; i < problems->count; i++)
        vcm_buf_append_format(&text, "%s%s", i > 0 ? "; " : "", problems->list[i]);
    int rc = vcm_error_set(err, VCM_INVALID_ARGUMENT, "%s", vcm_buf_text(&text));
    vcm_error_detail_list(err, "problems", problems->list, problems->count);
    vcm_buf_release(&text);
    return rc;
}

/* The names of the offered parameters, at their index; NULL for others. */
static size_t name_all(const char **names, const struct vcm_op *op, struct vcm_arena *arena)
{
    struct vcm_buf name = VCM_BUF_INIT(VCM_KIB);
    size_t i = 0;

    for (; i < vcm_op_param_total(op) && i < NAMES_MAX; i++) {
        vcm_buf_clear(&name);
        vcm_tool_args_name(&name, vcm_op_param_at(op, i));
        names[i] =
            is_offered(vcm_op_param_at(op, i)) ? vcm_arena_copy(arena, vcm_buf_slice(&name)) : "";
        if (!names[i])
            names[i] = "";
    }
    vcm_buf_release(&name);
    return i;
}

/* The bound of the answer, which the operation is told too if it knows it. */
static uint64_t take_bound(struct vcm_op_value *values, struct problems *problems,
                           const struct vcm_json *value)
{
    uint64_t tokens = VCM_TOOL_ARGS_TOKENS_DEFAULT;
    struct vcm_error err = {0};
    char number[32];

    if (value && text_of(problems, &bound_param, value))
        tokens = (uint64_t)value->integer;
    else if (value)
        expect(problems, BOUND, &bound_param, value);
    snprintf(number, sizeof number, "%llu", (unsigned long long)tokens);
    const char *text = vcm_arena_copy(problems->arena, vcm_slice_of_string(number));
    for (size_t i = 0; text && i < vcm_op_param_total(problems->op); i++)
        if (is_bound(vcm_op_param_at(problems->op, i)))
            vcm_op_take(values, problems->op, i, text, problems->arena, &err);
    return tokens;
}

int vcm_tool_args_take(struct vcm_op_value **out, uint64_t *tokens_max, const struct vcm_op *op,
                       const struct vcm_json *arguments, const struct vcm_roots *roots,
                       struct vcm_arena *arena, struct vcm_error *err)
{
    struct problems problems = {.op = op, .arena = arena};
    const char *names[NAMES_MAX];
    size_t count = name_all(names, op, arena);
    struct vcm_op_value *values =
        vcm_arena_alloc(arena, (vcm_op_param_total(op) + 1) * sizeof(struct vcm_op_value));

    *out = values;
    if (!values)
        return vcm_error_memory(err);
    if (arguments && arguments->kind != VCM_JSON_OBJECT)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "arguments has to be an object");
    for (const struct vcm_json *a = arguments ? arguments->first : NULL; a; a = a->next) {
        size_t i = 0;
        if (strcmp(a->key.data, BOUND) == 0)
            continue;
        while (i < count && (names[i][0] == '\0' || strcmp(names[i], a->key.data) != 0))
            i++;
        if (i < count)
            take(values, &problems, i, names[i], a, roots);
        else
            unknown(&problems, a, names, count);
    }
    *tokens_max = take_bound(values, &problems, vcm_json_get(arguments, BOUND));
    for (size_t i = 0; i < count; i++)
        if (names[i][0] != '\0' && !vcm_json_get(arguments, names[i]))
            fill_in(values, &problems, names[i], i, roots);
    return report(&problems, err);
}
