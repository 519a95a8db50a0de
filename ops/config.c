#include <string.h>

#include "base/text.h"
#include "ops/shared.h"

#include "base/banned.h"

enum { KEY, VALUE };

static const struct vcm_op_param get_params[] = {
    [KEY] = {.name = "key",
             .type = VCM_OP_TEXT,
             .positional = true,
             .required = true,
             .placeholder = "KEY",
             .summary = "name of the setting, such as cache.capacity"},
};

static const struct vcm_op_param set_params[] = {
    [KEY] = {.name = "key",
             .type = VCM_OP_TEXT,
             .positional = true,
             .required = true,
             .placeholder = "KEY",
             .summary = "name of the setting, such as cache.capacity"},
    [VALUE] = {.name = "value",
               .type = VCM_OP_TEXT,
               .positional = true,
               .required = true,
               .placeholder = "VALUE",
               .summary = "new value; sizes may end in KiB, MiB or GiB"},
};

static void put_value(struct vcm_jsonw *w, const struct vcm_config_entry *entry, const char *value)
{
    uint64_t number;

    if (value && entry->is_number && vcm_text_parse_uint(&number, value))
        vcm_jsonw_uint(w, number);
    else if (value && entry->is_bool)
        vcm_jsonw_bool(w, strcmp(value, "true") == 0);
    else
        vcm_jsonw_string(w, value);
}

static void put_current(struct vcm_jsonw *w, const void *from)
{
    const struct vcm_config_entry *entry = from;

    put_value(w, entry, entry->value);
}

static void put_default(struct vcm_jsonw *w, const void *from)
{
    const struct vcm_config_entry *entry = from;

    put_value(w, entry, entry->default_value);
}

static const struct vcm_result_member entry_result[] = {
    {.name = "key",
     VCM_RESULT_FIELD(struct vcm_config_entry, key),
     .summary = "name of the setting"},
    {.name = "value",
     .type = VCM_RESULT_SCALAR,
     .put = put_current,
     .summary = "value in effect; sizes are in bytes"},
    {.name = "default",
     .type = VCM_RESULT_SCALAR,
     .nullable = true,
     .put = put_default,
     .summary = "default value, or null"},
    {.name = "is_set",
     VCM_RESULT_FIELD(struct vcm_config_entry, is_set),
     .summary = "whether config.yaml sets it"},
    {0},
};

static const struct vcm_result_member list_result[] = {
    {.name = "config",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = entry_result,
     .summary = "all settings, by key"},
    {0},
};

static const char *const list_examples[] = {"vcm config list", NULL};
static const char *const get_examples[] = {"vcm config get cache.capacity", NULL};
static const char *const set_examples[] = {"vcm config set cache.capacity 4GiB",
                                           "vcm config set credentials.github.com GITHUB_TOKEN",
                                           NULL};

static int put_entry(void *context, const struct vcm_config_entry *entry, struct vcm_error *err)
{
    struct vcm_jsonw *w = context;

    (void)err;
    vcm_result_put(w, entry_result, entry);
    return VCM_OK;
}

static int run_list(struct vcm_op_call *call, struct vcm_error *err)
{
    struct vcm_jsonw *w = call->out;

    vcm_jsonw_begin_object(w);
    vcm_jsonw_key(w, "config");
    vcm_jsonw_begin_array(w);
    int rc = vcm_config_list(call->vcm, put_entry, w, err);
    vcm_jsonw_end_array(w);
    vcm_jsonw_end_object(w);
    return rc;
}

static int run_get(struct vcm_op_call *call, struct vcm_error *err)
{
    return vcm_config_get(call->vcm, vcm_op_text(call, KEY), put_entry, call->out, err);
}

static int run_set(struct vcm_op_call *call, struct vcm_error *err)
{
    int rc = vcm_config_set(call->vcm, vcm_op_text(call, KEY), vcm_op_text(call, VALUE), err);
    return rc == VCM_OK ? run_get(call, err) : rc;
}

/* Appends a setting's value as the user would type it. */
static void append_value(struct vcm_buf *out, const struct vcm_json *value)
{
    switch (value->kind) {
    case VCM_JSON_INT:
        vcm_buf_append_format(out, "%lld", (long long)value->integer);
        break;
    case VCM_JSON_BOOL:
        vcm_buf_append_string(out, value->boolean ? "true" : "false");
        break;
    case VCM_JSON_STRING:
        vcm_buf_append_slice(out, value->text);
        break;
    default:
        break;
    }
}

static void print_list(struct vcm_print *out, const struct vcm_json *document,
                       const struct vcm_op_call *call)
{
    static const char *const headings[] = {"KEY", "VALUE", "SET"};
    static const bool right[] = {false, false, false};
    struct vcm_buf text = VCM_BUF_INIT(8192);
    struct vcm_print_table table;

    (void)call;
    vcm_print_table_begin(&table, out, headings, right, VCM_OP_COUNT(headings));
    for (const struct vcm_json *e = vcm_json_get(document, "config")->first; e; e = e->next) {
        vcm_buf_clear(&text);
        append_value(&text, vcm_json_get(e, "value"));
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, vcm_json_get_text(e, "key", ""));
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, vcm_buf_text(&text));
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN,
                             vcm_json_get_bool(e, "is_set", false) ? "in config.yaml" : "default");
    }
    vcm_print_table_end(&table);
    vcm_buf_release(&text);
}

static void print_value(struct vcm_print *out, const struct vcm_json *document,
                        const struct vcm_op_call *call)
{
    (void)call;
    append_value(out->out, vcm_json_get(document, "value"));
    vcm_buf_append_byte(out->out, '\n');
}

static void print_set(struct vcm_print *out, const struct vcm_json *document,
                      const struct vcm_op_call *call)
{
    if (call->quiet)
        return;
    vcm_print_format(out, VCM_PRINT_PLAIN, "%s = ", vcm_json_get_text(document, "key", ""));
    print_value(out, document, call);
}

const struct vcm_op vcm_op_config_list = {
    .name = "config list",
    .summary = "list the settings of this home",
    .description = "Settings are stored in config.yaml in the home, one per line.",
    .examples = list_examples,
    .result = list_result,
    .run = run_list,
    .print = print_list,
    .tool =
        {
            .sets = VCM_OP_SET_STORE,
            .title = "List settings",
            .summary = "Lists all settings of the store.",
        },
};

const struct vcm_op vcm_op_config_get = {
    .name = "config get",
    .summary = "show one setting",
    .description = "Prints the value in effect: the one in config.yaml, or the default.",
    .examples = get_examples,
    .params = get_params,
    .param_count = VCM_OP_COUNT(get_params),
    .result = entry_result,
    .run = run_get,
    .print = print_value,
    .tool =
        {
            .sets = VCM_OP_SET_STORE,
            .title = "Read a setting",
            .summary = "Reads one setting of the store.",
        },
};

const struct vcm_op vcm_op_config_set = {
    .name = "config set",
    .summary = "change one setting",
    .description = "Checks the value and changes that line of config.yaml; comments and order are "
                   "kept. The new value also applies to programs that are already running. A "
                   "smaller capacity evicts pages before the command returns. The tokenizer can be "
                   "changed only while no scope is mapped. The value of a credential is the name "
                   "of an environment variable or of a file, never the secret itself.",
    .examples = set_examples,
    .params = set_params,
    .param_count = VCM_OP_COUNT(set_params),
    .result = entry_result,
    .run = run_set,
    .print = print_set,
};
