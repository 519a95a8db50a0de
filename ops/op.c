#include "ops/op.h"

#include <assert.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

#include "base/banned.h"

size_t vcm_op_param_total(const struct vcm_op *op)
{
    return op->param_count + (op->list.member ? VCM_ANSWER_PARAMS : 0);
}

const struct vcm_op_param *vcm_op_param_at(const struct vcm_op *op, size_t index)
{
    assert(index < vcm_op_param_total(op));
    return index < op->param_count ? &op->params[index] : vcm_answer_param(index - op->param_count);
}

static const char *shown_prefix(const struct vcm_op_param *param)
{
    return param->positional ? "" : "--";
}

static const char *shown_name(const struct vcm_op_param *param)
{
    return param->positional ? param->placeholder : param->name;
}

/* Choices are single words; the spelling with spaces, as in JSON, is accepted too. */
static bool is_choice(const char *choice, const char *text)
{
    while (*choice && (*choice == *text || (*choice == '_' && *text == ' '))) {
        choice++;
        text++;
    }
    return *choice == *text;
}

static int check_choice(const struct vcm_op_param *param, const char *text, struct vcm_error *err)
{
    struct vcm_buf known = VCM_BUF_INIT(1024);

    for (const char *const *choice = param->choices; *choice; choice++) {
        if (is_choice(*choice, text)) {
            vcm_buf_release(&known);
            return VCM_OK;
        }
        vcm_buf_append_format(&known, "%s%s", choice == param->choices ? "" : ", ", *choice);
    }
    int rc = vcm_error_set(err, VCM_INVALID_ARGUMENT, "%s%s is one of %s, not '%s'",
                           shown_prefix(param), shown_name(param), vcm_buf_text(&known), text);
    vcm_buf_release(&known);
    return rc;
}

static int check_number(struct vcm_op_value *value, const struct vcm_op_param *param,
                        const char *text, struct vcm_error *err)
{
    if (vcm_text_parse_uint(&value->number, text) && value->number >= param->min &&
        value->number <= param->max)
        return VCM_OK;
    return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                         "%s%s takes a number from %llu to %llu, not '%s'", shown_prefix(param),
                         shown_name(param), (unsigned long long)param->min,
                         (unsigned long long)param->max, text);
}

static int add_to_list(struct vcm_op_value *value, const char *text, struct vcm_arena *arena,
                       struct vcm_error *err)
{
    int rc = vcm_array_reserve_in(arena, &value->list, &value->capacity, value->count + 1,
                                  VCM_LIMIT_LIST_ENTRIES, err);

    if (rc == VCM_OK)
        value->list[value->count++] = text;
    return rc;
}

int vcm_op_take(struct vcm_op_value *values, const struct vcm_op *op, size_t index,
                const char *text, struct vcm_arena *arena, struct vcm_error *err)
{
    const struct vcm_op_param *param = vcm_op_param_at(op, index);
    struct vcm_op_value *value = &values[index];
    int rc = VCM_OK;

    if (param->type == VCM_OP_CHOICE)
        rc = check_choice(param, text, err);
    else if (param->type == VCM_OP_NUMBER)
        rc = check_number(value, param, text, err);
    else if (param->type == VCM_OP_TEXT && text[0] == '\0')
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT, "%s%s must not be empty", shown_prefix(param),
                           shown_name(param));
    if (rc == VCM_OK && param->repeated)
        rc = add_to_list(value, text, arena, err);
    if (rc != VCM_OK)
        return rc;
    value->is_set = true;
    value->text = text;
    return VCM_OK;
}

int vcm_op_check_required(const struct vcm_op_value *values, const struct vcm_op *op,
                          struct vcm_error *err)
{
    for (size_t i = 0; i < op->param_count; i++)
        if (op->params[i].required && !values[i].is_set)
            return vcm_error_set(
                err, VCM_INVALID_ARGUMENT, "%s%s is missing; 'vcm %s --help' shows the usage",
                shown_prefix(&op->params[i]), shown_name(&op->params[i]), op->name);
    return VCM_OK;
}

#ifndef NDEBUG
/* The type of a parameter, which an operation names by its index. */
static enum vcm_op_type type_at(const struct vcm_op_call *call, size_t index)
{
    assert(call->op && index < call->op->param_count);
    return call->op->params[index].type;
}
#endif

const char *vcm_op_text(const struct vcm_op_call *call, size_t index)
{
    assert(type_at(call, index) != VCM_OP_FLAG);
    return call->values[index].text;
}

uint64_t vcm_op_number(const struct vcm_op_call *call, size_t index, uint64_t otherwise)
{
    assert(type_at(call, index) == VCM_OP_NUMBER);
    return call->values[index].is_set ? call->values[index].number : otherwise;
}

bool vcm_op_is_set(const struct vcm_op_call *call, size_t index)
{
    assert(call->op && index < call->op->param_count);
    return call->values[index].is_set;
}

bool vcm_op_flag(const struct vcm_op_call *call, size_t index)
{
    assert(type_at(call, index) == VCM_OP_FLAG);
    return call->values[index].is_set;
}

int vcm_op_run_on(struct vcm_buf *document, struct vcm_op_call *call, const struct vcm_op *op,
                  struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_jsonw w;

    vcm_jsonw_init(&w, document);
    call->op = op;
    call->vcm = vcm;
    call->out = &w;
    call->exit_status = 0;
    call->json_wanted = call->is_over = false;
    const struct vcm_cancel *own = call->cancel ? vcm_set_cancel(vcm, call->cancel) : NULL;
    int rc = vcm_answer_begin(call, err);
    if (rc == VCM_OK)
        rc = op->run(call, err);
    if (call->cancel)
        vcm_set_cancel(vcm, own);
    assert(!vcm_error_is_private(rc));
    assert((call->exit_status >= 0 && call->exit_status <= 3) ||
           call->exit_status == VCM_OP_INTERRUPTED);
    if (rc == VCM_OK)
        rc = vcm_jsonw_finish(&w, err);
    if (rc == VCM_OK)
        rc = vcm_answer_end(document, call, err);
    vcm_answer_release(call);
    assert(rc != VCM_OK || call->is_over || document->len > 0 || call->text);
    call->vcm = NULL;
    call->out = NULL;
    return rc;
}

int vcm_op_run(struct vcm_buf *document, struct vcm_op_call *call, const struct vcm_op *op,
               const struct vcm_op_settings *settings, struct vcm_error *err)
{
    struct vcm *vcm = NULL;

    call->log = settings->log;
    call->cancel = settings->cancel;
    int rc = vcm_open(
        &vcm, &(struct vcm_open_options){.home = settings->home, .log = settings->log}, err);
    if (rc == VCM_OK)
        rc = vcm_op_run_on(document, call, op, vcm, err);
    vcm_close(vcm);
    call->log = NULL;
    call->cancel = NULL;
    return rc;
}
