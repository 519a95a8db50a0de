#include "ops/table_check.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "ops/table.h"

#include "base/banned.h"

#define MEMBERS_MAX   64u /* of one table: a longer one lacks its end */
#define DOCUMENTS_MAX 8u
#define NESTING_MAX   8u

static bool is_text(const char *text)
{
    return text && text[0] != '\0';
}

/* One word or two, of lower-case letters. */
static bool is_name(const char *name)
{
    unsigned spaces = 0;

    for (size_t i = 0; name && name[i]; i++) {
        if (name[i] == ' ' && i > 0 && name[i - 1] != ' ' && name[i + 1] != '\0')
            spaces++;
        else if (name[i] < 'a' || name[i] > 'z')
            return false;
    }
    return is_text(name) && spaces <= 1;
}

static const char *type_flaw(const struct vcm_op_param *param)
{
    if ((param->type == VCM_OP_CHOICE) != (param->choices != NULL))
        return "choices belong to a parameter that is a choice";
    if (param->choices && !param->choices[0])
        return "a choice without choices";
    if (param->type == VCM_OP_NUMBER && param->min > param->max)
        return "a number whose minimum is above its maximum";
    if (param->type == VCM_OP_FLAG)
        return param->positional || param->required || param->repeated || param->placeholder ||
                       param->default_text
                   ? "a flag is an option without a value"
                   : NULL;
    return is_text(param->placeholder) ? NULL : "a parameter without a placeholder";
}

static const char *param_flaw(const struct vcm_op *op, size_t index)
{
    const struct vcm_op_param *param = vcm_op_param_at(op, index);

    if (!is_text(param->name) || !is_text(param->summary))
        return "a parameter without a name or a summary";
    if (param->letter && (param->positional || !isalnum((unsigned char)param->letter)))
        return "a letter of what is no option, or that is none";
    for (size_t i = 0; i < index; i++) {
        const struct vcm_op_param *before = vcm_op_param_at(op, i);
        if (param->letter && param->letter == before->letter)
            return "two parameters of one letter";
        if (strcmp(before->name, param->name) == 0)
            return "two parameters of one name";
        if (!param->positional || !before->positional)
            continue;
        if (before->repeated)
            return "a positional parameter after one that takes all the rest";
        if (param->required && !before->required)
            return "a required positional parameter after an optional one";
    }
    if (param->required && param->default_text)
        return "a required parameter with a default";
    return type_flaw(param);
}

static bool has_member(const struct vcm_result_member *members,
                       const struct vcm_result_member *until, const char *name)
{
    for (; members != until && members->name; members++)
        if (members->is_spliced ? has_member(members->members, NULL, name)
                                : strcmp(members->name, name) == 0)
            return true;
    return false;
}

static const char *writing_flaw(const struct vcm_result_member *m)
{
    bool is_struct = m->field == VCM_RESULT_STRUCT || m->field == VCM_RESULT_STRUCT_OR_NULL ||
                     m->field == VCM_RESULT_STRUCT_LIST;

    if (m->put && m->field != VCM_RESULT_NOWHERE)
        return "a member that is both computed and copied";
    if (is_struct && !m->members)
        return "a struct whose members are not described";
    if (m->field == VCM_RESULT_STRUCT_LIST && m->size == 0)
        return "a list of structs of no size";
    if (m->unset_is_null && !m->nullable)
        return "a member that is written as null and may not be null";
    return NULL;
}

static const char *members_flaw(const struct vcm_result_member *members, unsigned depth);

static const char *member_flaw(const struct vcm_result_member *m, unsigned depth)
{
    if (!m->is_spliced && (!is_text(m->name) || !is_text(m->summary)))
        return "a member without a name or a summary";
    if (m->is_spliced && !m->members)
        return "members of another table that are not there";
    if (!m->is_spliced && m->members && m->type != VCM_RESULT_OBJECT)
        return "members of what is not an object";
    if (!m->is_spliced && m->type == VCM_RESULT_OBJECT && !m->members && !m->is_open)
        return "an object without members";
    if (m->choices && (m->type != VCM_RESULT_TEXT || !m->choices[0]))
        return "choices of what is not a text, or none";
    const char *flaw = writing_flaw(m);
    /* A recursive object is checked once, from outside of it. */
    bool is_inside = m->defined && depth > 0;
    return flaw || !m->members || is_inside ? flaw : members_flaw(m->members, depth + 1);
}

static const char *members_flaw(const struct vcm_result_member *members, unsigned depth)
{
    const struct vcm_result_member *m = members;

    if (depth > NESTING_MAX)
        return "members nested too deeply, or in a circle without a definition";
    for (; m->name; m++) {
        if (m - members == MEMBERS_MAX)
            return "a table of members without an end";
        if (!m->is_spliced && has_member(members, m, m->name))
            return "two members of one name";
        const char *flaw = member_flaw(m, depth);
        if (flaw)
            return flaw;
    }
    return m == members ? "a table without members" : NULL;
}

static const struct vcm_result_member *member_called(const struct vcm_result_member *members,
                                                     const char *name)
{
    for (const struct vcm_result_member *m = members; m && m->name; m++)
        if (!m->is_spliced && strcmp(m->name, name) == 0)
            return m;
    return NULL;
}

static const char *list_flaw(const struct vcm_op *op)
{
    if (!op->list.member)
        return op->list.key[0] ? "a key of rows without a list" : NULL;
    const struct vcm_result_member *list = member_called(op->result, op->list.member);
    if (!list || !list->is_list || list->type != VCM_RESULT_OBJECT)
        return "a listing whose rows are no list of objects of its result";
    if (!op->list.key[0])
        return "a listing without a key";
    for (size_t i = 0; i < VCM_ANSWER_KEYS_MAX && op->list.key[i]; i++)
        if (!has_member(list->members, NULL, op->list.key[i]))
            return "a key that is no member of a row";
    for (const char *const *name = vcm_answer_members; *name; name++)
        if (!has_member(op->result, NULL, *name))
            return "a listing without the members of every listing";
    return NULL;
}

static const char *documents_flaw(const struct vcm_op_document *documents)
{
    for (unsigned i = 0; documents && documents[i].members; i++) {
        if (i == DOCUMENTS_MAX)
            return "a list of documents without an end";
        if (!is_text(documents[i].when))
            return "a document that does not say when it comes";
        const char *flaw = members_flaw(documents[i].members, 0);
        if (flaw)
            return flaw;
    }
    return NULL;
}

/* The sentence is what a model chooses a tool by. */
static bool has_sentence(const char *text)
{
    return is_text(text) && text[strlen(text) - 1] == '.' &&
           strlen(text) <= VCM_OP_TOOL_SUMMARY_BYTES;
}

static const char *tool_flaw(const struct vcm_op *op)
{
    const struct vcm_op_tool *tool = &op->tool;

    if (tool->sets == 0)
        return tool->title || tool->summary || tool->effects ? "a tool that is in no set of tools"
                                                             : NULL;
    if (op->is_stream)
        return "a tool that writes a stream";
    if (strlen(op->name) > VCM_OP_TOOL_NAME_BYTES)
        return "a tool with a name that is too long";
    if (!is_text(tool->title) || !has_sentence(tool->summary))
        return "a tool without a title or a summary of at most 1 KiB in sentences";
    if (!(tool->effects & VCM_OP_WRITES) && tool->effects & (VCM_OP_DESTROYS | VCM_OP_IDEMPOTENT))
        return "a tool that destroys, or is idempotent, and does not write";
    for (size_t i = 0; i < op->param_count; i++)
        if (op->params[i].hint == VCM_OP_HINT_DIRECTORY && op->params[i].reach == VCM_OP_REACH_HOME)
            return "a tool with a directory that does not say what it reaches";
    for (size_t i = 0; i < op->param_count; i++)
        if (op->params[i].required && op->params[i].reach == VCM_OP_REACH_HERE)
            return "a tool that needs a parameter which is not offered";
    return NULL;
}

static const char *examples_flaw(const struct vcm_op *op)
{
    if (!op->examples || !op->examples[0])
        return "no example";
    for (const char *const *example = op->examples; *example; example++)
        if (!strstr(*example, "vcm ") || !strstr(*example, op->name))
            return "an example of another command";
    return NULL;
}

const char *vcm_table_check_flaw(const struct vcm_op *op)
{
    const char *flaw = NULL;

    if (!is_name(op->name))
        return "a name that is not one or two words of lower-case letters";
    if (!is_text(op->summary) || !is_text(op->description))
        return "no summary or no description";
    if (!op->run || !op->print)
        return "no run or no print";
    if (!op->params != (op->param_count == 0))
        return "parameters and their count do not agree";
    for (size_t i = 0; !flaw && i < vcm_op_param_total(op); i++)
        flaw = param_flaw(op, i);
    if (!flaw)
        flaw = op->result ? members_flaw(op->result, 0) : "no result";
    if (!flaw)
        flaw = list_flaw(op);
    if (!flaw)
        flaw = documents_flaw(op->also);
    if (!flaw)
        flaw = tool_flaw(op);
    return flaw ? flaw : examples_flaw(op);
}

static size_t family_len(const char *name)
{
    return strcspn(name, " ");
}

static bool is_same_family(const char *a, const char *b)
{
    return family_len(a) == family_len(b) && strncmp(a, b, family_len(a)) == 0;
}

const char *vcm_table_check_list_flaw(const struct vcm_op *const *ops)
{
    for (size_t i = 0; ops[i]; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(ops[i]->name, ops[j]->name) == 0)
                return "two operations of one name";
            if (!is_same_family(ops[i]->name, ops[j]->name))
                continue;
            if (!is_same_family(ops[i]->name, ops[i - 1]->name))
                return "a family whose operations are not neighbours";
        }
    }
    return NULL;
}

void vcm_table_check_assert(void)
{
    assert(!vcm_table_check_list_flaw(vcm_ops));
    for (size_t i = 0; vcm_ops[i]; i++)
        assert(!vcm_table_check_flaw(vcm_ops[i]));
}
