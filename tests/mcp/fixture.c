/*
 * fixture.c - the tools, resources and prompts that the conformance suite of MCP asks for, on the
 * protocol and the transport of serve/. No part of vcm.
 *
 * Prints its port and serves on loopback, without tokens, until it is told to stop.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "serve/request_state.h"
#include "serve/site.h"

#include "base/banned.h"

#define PNG                                                                                        \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+"                                \
    "M9QDwADhgGAWjR9awAAAABJRU5ErkJggg="                                                           \
    "="
#define WAV "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="

#define NO_ARGUMENTS "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}"
#define ONE_ARGUMENT(name)                                                                         \
    "{\"type\":\"object\",\"properties\":{\"" name                                                 \
    "\":{\"type\":\"string\",\"description\":\"any text\"}},\"required\":[\"" name "\"]}"

#define USER_NAME                                                                                  \
    "\"user_name\":{\"method\":\"elicitation/create\",\"params\":{\"mode\":\"form\","              \
    "\"message\":\"What is your name?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":"  \
    "{\"name\":{\"type\":\"string\"}},\"required\":[\"name\"]}}}"
#define SAMPLING(key, text)                                                                        \
    "\"" key "\":{\"method\":\"sampling/createMessage\",\"params\":{\"messages\":[{\"role\":"      \
    "\"user\",\"content\":{\"type\":\"text\",\"text\":\"" text "\"}}],\"maxTokens\":100}}"
#define CLIENT_ROOTS "\"client_roots\":{\"method\":\"roots/list\",\"params\":{}}"
#define CONFIRM(key, field)                                                                        \
    "\"" key "\":{\"method\":\"elicitation/create\",\"params\":{\"mode\":\"form\",\"message\":"    \
    "\"Go on?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"" field                 \
    "\":{\"type\":\"string\"}}}}}"

static struct vcm_request_state_key state_key;
static struct vcm_cancel stop;

static void raw(struct vcm_mcp_call *call, const char *key, const char *json)
{
    vcm_jsonw_key(&call->w, key);
    vcm_jsonw_raw(&call->w, vcm_slice_of_string(json));
}

static void say(struct vcm_mcp_call *call, const char *text)
{
    vcm_jsonw_key(&call->w, "content");
    vcm_jsonw_begin_array(&call->w);
    vcm_jsonw_begin_object(&call->w);
    vcm_jsonw_member_string(&call->w, "type", "text");
    vcm_jsonw_member_string(&call->w, "text", text);
    vcm_jsonw_end_object(&call->w);
    vcm_jsonw_end_array(&call->w);
}

static void pause_ms(long ms)
{
    const struct timespec time = {.tv_nsec = ms * 1000000};

    nanosleep(&time, NULL);
}

/* Tools that only answer. */

static void simple_text(struct vcm_mcp_call *call)
{
    say(call, "This is a simple text response for testing.");
}

static void image(struct vcm_mcp_call *call)
{
    raw(call, "content", "[{\"type\":\"image\",\"data\":\"" PNG "\",\"mimeType\":\"image/png\"}]");
}

static void audio(struct vcm_mcp_call *call)
{
    raw(call, "content", "[{\"type\":\"audio\",\"data\":\"" WAV "\",\"mimeType\":\"audio/wav\"}]");
}

static void embedded(struct vcm_mcp_call *call)
{
    raw(call, "content",
        "[{\"type\":\"resource\",\"resource\":{\"uri\":\"test://embedded-resource\","
        "\"mimeType\":\"text/plain\",\"text\":\"This is an embedded resource content.\"}}]");
}

static void mixed(struct vcm_mcp_call *call)
{
    raw(call, "content",
        "[{\"type\":\"text\",\"text\":\"Multiple content types test:\"},"
        "{\"type\":\"image\",\"data\":\"" PNG "\",\"mimeType\":\"image/png\"},"
        "{\"type\":\"resource\",\"resource\":{\"uri\":\"test://mixed-content-resource\","
        "\"mimeType\":\"application/json\",\"text\":\"{}\"}}]");
}

static void fail_on_purpose(struct vcm_mcp_call *call)
{
    say(call, "This tool intentionally returns an error for testing");
    vcm_jsonw_member_bool(&call->w, "isError", true);
}

static void with_progress(struct vcm_mcp_call *call)
{
    for (unsigned i = 0; i <= 2; i++) {
        vcm_mcp_notice_progress(call, i * 50, 100, "working");
        pause_ms(50);
    }
    say(call, "done");
}

static void with_logging(struct vcm_mcp_call *call)
{
    for (unsigned i = 0; i < 3; i++) {
        vcm_mcp_notice_log(call, VCM_MCP_INFO, "\"Tool is processing data\"");
        pause_ms(50);
    }
    say(call, "done");
}

/* Tools that ask the client. */

static const char *argument(const struct vcm_mcp_call *call, const char *name)
{
    return vcm_json_get_text(vcm_json_get(call->message.params, "arguments"), name, "");
}

/* Asks a legacy client and shows its answer. */
static void ask(struct vcm_mcp_call *call, const char *method, const char *params)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);
    struct vcm_jsonw w;
    const struct vcm_json *answer = vcm_mcp_peer_ask(call, method, params);

    if (!answer) {
        vcm_mcp_fail(call, VCM_RPC_INTERNAL, "the client did not answer");
        return;
    }
    vcm_jsonw_init(&w, &text);
    vcm_rpc_put_json(&w, answer);
    say(call, vcm_buf_text(&text));
    vcm_buf_release(&text);
}

static void ask_text(struct vcm_mcp_call *call, const char *method, const char *before,
                     const char *text, const char *after)
{
    struct vcm_buf params = VCM_BUF_INIT(VCM_MIB);

    vcm_buf_append_string(&params, before);
    vcm_jsonw_escape(&params, vcm_slice_of_string(text));
    vcm_buf_append_string(&params, after);
    ask(call, method, vcm_buf_text(&params));
    vcm_buf_release(&params);
}

static void sampling(struct vcm_mcp_call *call)
{
    ask_text(call, "sampling/createMessage",
             "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":",
             argument(call, "prompt"), "}}],\"maxTokens\":100}");
}

static void elicitation(struct vcm_mcp_call *call)
{
    ask_text(call, "elicitation/create", "{\"message\":", argument(call, "message"),
             ",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"username\":{\"type\":"
             "\"string\",\"description\":\"User's response\"},\"email\":{\"type\":\"string\","
             "\"description\":\"User's email address\"}},\"required\":[\"username\",\"email\"]}}");
}

static void elicit_defaults(struct vcm_mcp_call *call)
{
    ask(call, "elicitation/create",
        "{\"message\":\"Please review\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{"
        "\"name\":{\"type\":\"string\",\"default\":\"John Doe\"},"
        "\"age\":{\"type\":\"integer\",\"default\":30},"
        "\"score\":{\"type\":\"number\",\"default\":95.5},"
        "\"status\":{\"type\":\"string\",\"enum\":[\"active\",\"inactive\",\"pending\"],"
        "\"default\":\"active\"},"
        "\"verified\":{\"type\":\"boolean\",\"default\":true}},\"required\":[]}}");
}

static void elicit_enums(struct vcm_mcp_call *call)
{
    ask(call, "elicitation/create",
        "{\"message\":\"Please choose\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{"
        "\"untitledSingle\":{\"type\":\"string\",\"enum\":[\"option1\",\"option2\",\"option3\"]},"
        "\"titledSingle\":{\"type\":\"string\",\"oneOf\":[{\"const\":\"value1\",\"title\":"
        "\"First\"},"
        "{\"const\":\"value2\",\"title\":\"Second\"}]},"
        "\"legacyEnum\":{\"type\":\"string\",\"enum\":[\"opt1\",\"opt2\"],"
        "\"enumNames\":[\"One\",\"Two\"]},"
        "\"untitledMulti\":{\"type\":\"array\",\"items\":{\"type\":\"string\","
        "\"enum\":[\"option1\",\"option2\"]}},"
        "\"titledMulti\":{\"type\":\"array\",\"items\":{\"anyOf\":["
        "{\"const\":\"value1\",\"title\":\"First\"},{\"const\":\"value2\",\"title\":\"Second\"}]}}}"
        ","
        "\"required\":[]}}");
}

/* Tools of the modern era. */

static void missing_capability(struct vcm_mcp_call *call)
{
    if (vcm_mcp_peer_can(call, "sampling")) {
        say(call, "sampling is there");
        return;
    }
    vcm_mcp_fail(call, VCM_RPC_NO_CAPABILITY, "this needs sampling");
    vcm_mcp_fail_data(call, "{\"requiredCapabilities\":{\"sampling\":{}}}");
}

static void streaming(struct vcm_mcp_call *call)
{
    vcm_mcp_notice_progress(call, 1, 2, NULL);
    say(call, "streamed");
}

static void logging(struct vcm_mcp_call *call)
{
    vcm_mcp_notice_log(call, VCM_MCP_INFO, "\"only for those who asked\"");
    say(call, "done");
}

static void change_tools(struct vcm_mcp_call *call)
{
    vcm_mcp_listen_changed(call->mcp, VCM_MCP_TOOLS_CHANGE);
    say(call, "changed");
}

static void change_prompts(struct vcm_mcp_call *call)
{
    vcm_mcp_listen_changed(call->mcp, VCM_MCP_PROMPTS_CHANGE);
    say(call, "changed");
}

/* The client's answer to a question of this request, if it has the right form. */
static const struct vcm_json *response(struct vcm_mcp_call *call, const char *key)
{
    const struct vcm_json *all = vcm_json_get(call->message.params, "inputResponses");
    const struct vcm_json *one = vcm_json_get(all, key);

    if (all && all->kind != VCM_JSON_OBJECT)
        vcm_mcp_fail(call, VCM_RPC_INVALID_PARAMS, "inputResponses has to be an object");
    else if (one && one->kind != VCM_JSON_OBJECT)
        vcm_mcp_fail(call, VCM_RPC_INVALID_PARAMS, "inputResponses.%s has to be an object", key);
    return call->code == 0 ? one : NULL;
}

/* The state that the client brought back; fails the call if it is not ours. */
static bool take_state(struct vcm_buf *out, struct vcm_mcp_call *call)
{
    const char *name = vcm_json_get_text(call->message.params, "name", "");
    const char *state = vcm_mcp_param(call, "requestState", false);

    if (state && !vcm_request_state_get(out, &state_key, name, state))
        vcm_mcp_fail(call, VCM_RPC_INVALID_PARAMS, "requestState was changed on its way");
    return call->code == 0;
}

/* Asks a modern client: `requests` are the members of inputRequests; `state` may be NULL. */
static void require(struct vcm_mcp_call *call, const char *requests, const char *state)
{
    const char *name = vcm_json_get_text(call->message.params, "name", "");
    struct vcm_buf text = VCM_BUF_INIT(64 * VCM_KIB);

    call->input_required = true;
    vcm_buf_append_format(&text, "{%s}", requests);
    raw(call, "inputRequests", vcm_buf_text(&text));
    if (state) {
        vcm_buf_clear(&text);
        vcm_request_state_put(&text, &state_key, name, state);
        vcm_jsonw_member_string(&call->w, "requestState", vcm_buf_text(&text));
    }
    vcm_buf_release(&text);
}

/* Asks once for `key`, with a state or without. */
static void require_one(struct vcm_mcp_call *call, const char *key, const char *requests,
                        const char *state)
{
    struct vcm_buf brought = VCM_BUF_INIT(VCM_KIB);

    if (take_state(&brought, call)) {
        const struct vcm_json *answer = response(call, key);
        bool has_state = !state || strcmp(vcm_buf_text(&brought), state) == 0;
        if (answer && has_state)
            say(call, state ? "state-ok" : "Hello");
        else if (call->code == 0)
            require(call, requests, state);
    }
    vcm_buf_release(&brought);
}

static void require_elicitation(struct vcm_mcp_call *call)
{
    require_one(call, "user_name", USER_NAME, NULL);
}

static void require_sampling(struct vcm_mcp_call *call)
{
    require_one(call, "capital_question",
                SAMPLING("capital_question", "What is the capital of France?"), NULL);
}

static void require_roots(struct vcm_mcp_call *call)
{
    require_one(call, "client_roots", CLIENT_ROOTS, NULL);
}

static void require_state(struct vcm_mcp_call *call)
{
    require_one(call, "confirm", CONFIRM("confirm", "ok"), "confirming");
}

static void require_several(struct vcm_mcp_call *call)
{
    require_one(call, "client_roots",
                USER_NAME "," SAMPLING("greeting", "Say hello") "," CLIENT_ROOTS, "several");
}

static void require_rounds(struct vcm_mcp_call *call)
{
    struct vcm_buf brought = VCM_BUF_INIT(VCM_KIB);

    if (take_state(&brought, call)) {
        if (strcmp(vcm_buf_text(&brought), "two") == 0 && response(call, "step2"))
            say(call, "done");
        else if (strcmp(vcm_buf_text(&brought), "one") == 0 && response(call, "step1"))
            require(call, CONFIRM("step2", "color"), "two");
        else if (call->code == 0)
            require(call, CONFIRM("step1", "name"), "one");
    }
    vcm_buf_release(&brought);
}

static void require_what_the_client_can(struct vcm_mcp_call *call)
{
    if (response(call, "greeting") || response(call, "user_name"))
        say(call, "done");
    else if (call->code == 0 && vcm_mcp_peer_can(call, "sampling"))
        require(call, SAMPLING("greeting", "Say hello"), NULL);
    else if (call->code == 0)
        require(call, USER_NAME, NULL);
}

static const struct tool {
    const char *name, *schema;
    void (*run)(struct vcm_mcp_call *call);
} tools[] = {
    {"test_simple_text", NO_ARGUMENTS, simple_text},
    {"test_image_content", NO_ARGUMENTS, image},
    {"test_audio_content", NO_ARGUMENTS, audio},
    {"test_embedded_resource", NO_ARGUMENTS, embedded},
    {"test_multiple_content_types", NO_ARGUMENTS, mixed},
    {"test_error_handling", NO_ARGUMENTS, fail_on_purpose},
    {"test_tool_with_progress", NO_ARGUMENTS, with_progress},
    {"test_tool_with_logging", NO_ARGUMENTS, with_logging},
    {"test_sampling", ONE_ARGUMENT("prompt"), sampling},
    {"test_elicitation", ONE_ARGUMENT("message"), elicitation},
    {"test_elicitation_sep1034_defaults", NO_ARGUMENTS, elicit_defaults},
    {"test_elicitation_sep1330_enums", NO_ARGUMENTS, elicit_enums},
    {"test_missing_capability", NO_ARGUMENTS, missing_capability},
    {"test_streaming_elicitation", NO_ARGUMENTS, streaming},
    {"test_logging_tool", NO_ARGUMENTS, logging},
    {"test_trigger_tool_change", NO_ARGUMENTS, change_tools},
    {"test_trigger_prompt_change", NO_ARGUMENTS, change_prompts},
    {"test_input_required_result_elicitation", NO_ARGUMENTS, require_elicitation},
    {"test_input_required_result_sampling", NO_ARGUMENTS, require_sampling},
    {"test_input_required_result_list_roots", NO_ARGUMENTS, require_roots},
    {"test_input_required_result_request_state", NO_ARGUMENTS, require_state},
    {"test_input_required_result_tampered_state", NO_ARGUMENTS, require_state},
    {"test_input_required_result_multiple_inputs", NO_ARGUMENTS, require_several},
    {"test_input_required_result_multi_round", NO_ARGUMENTS, require_rounds},
    {"test_input_required_result_capabilities", NO_ARGUMENTS, require_what_the_client_can},
    {"test_x_mcp_header",
     "{\"type\":\"object\",\"properties\":{\"region\":{\"type\":\"string\",\"description\":"
     "\"where\","
     "\"x-mcp-header\":\"Region\"}},\"required\":[\"region\"]}",
     simple_text},
    {"json_schema_2020_12_tool",
     "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\","
     "\"$defs\":{\"address\":{\"$anchor\":\"addressDef\",\"type\":\"object\",\"properties\":{"
     "\"street\":{\"type\":\"string\"},\"city\":{\"type\":\"string\"}}}},"
     "\"properties\":{\"name\":{\"type\":\"string\"},\"address\":{\"$ref\":\"#/$defs/address\"},"
     "\"contactMethod\":{\"type\":\"string\",\"enum\":[\"phone\",\"email\"]},"
     "\"phone\":{\"type\":\"string\"},\"email\":{\"type\":\"string\"}},"
     "\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},{\"required\":[\"email\"]}]}],"
     "\"if\":{\"properties\":{\"contactMethod\":{\"const\":\"phone\"}},"
     "\"required\":[\"contactMethod\"]},\"then\":{\"required\":[\"phone\"]},"
     "\"else\":{\"required\":[\"email\"]},\"additionalProperties\":false}",
     simple_text},
};
#define TOOL_COUNT (sizeof tools / sizeof tools[0])

static void list_tools(struct vcm_mcp_call *call)
{
    vcm_jsonw_key(&call->w, "tools");
    vcm_jsonw_begin_array(&call->w);
    for (size_t i = 0; i < TOOL_COUNT; i++) {
        vcm_jsonw_begin_object(&call->w);
        vcm_jsonw_member_string(&call->w, "name", tools[i].name);
        vcm_jsonw_member_string(&call->w, "description", "A tool of the conformance suite.");
        raw(call, "inputSchema", tools[i].schema);
        vcm_jsonw_end_object(&call->w);
    }
    vcm_jsonw_end_array(&call->w);
}

static void call_tool(struct vcm_mcp_call *call)
{
    const char *name = vcm_mcp_param(call, "name", true);

    for (size_t i = 0; name && i < TOOL_COUNT; i++)
        if (strcmp(tools[i].name, name) == 0) {
            tools[i].run(call);
            return;
        }
    vcm_mcp_fail(call, VCM_RPC_INVALID_PARAMS, "there is no such tool");
}

static bool repeated(const struct vcm_mcp_call *call, size_t index, const char **name,
                     const char **header)
{
    *name = "region";
    *header = "mcp-param-region";
    return index == 0 &&
           strcmp(vcm_json_get_text(call->message.params, "name", ""), "test_x_mcp_header") == 0;
}

/* Resources. */

static const struct resource {
    const char *uri, *name, *type, *text, *blob;
} resources[] = {
    {"test://static-text", "static-text", "text/plain", "This is the content of the static text.",
     NULL},
    {"test://static-binary", "static-binary", "image/png", NULL, PNG},
    {"test://watched-resource", "watched-resource", "text/plain", "Watched", NULL},
    {"test://example-resource", "example-resource", "text/plain", "Example", NULL},
};
#define RESOURCE_COUNT (sizeof resources / sizeof resources[0])

static void list_resources(struct vcm_mcp_call *call)
{
    vcm_jsonw_key(&call->w, "resources");
    vcm_jsonw_begin_array(&call->w);
    for (size_t i = 0; i < RESOURCE_COUNT; i++) {
        vcm_jsonw_begin_object(&call->w);
        vcm_jsonw_member_string(&call->w, "uri", resources[i].uri);
        vcm_jsonw_member_string(&call->w, "name", resources[i].name);
        vcm_jsonw_member_string(&call->w, "description", "A resource of the conformance suite.");
        vcm_jsonw_member_string(&call->w, "mimeType", resources[i].type);
        vcm_jsonw_end_object(&call->w);
    }
    vcm_jsonw_end_array(&call->w);
}

static void list_templates(struct vcm_mcp_call *call)
{
    raw(call, "resourceTemplates",
        "[{\"uriTemplate\":\"test://template/{id}/data\",\"name\":\"template\","
        "\"description\":\"A template.\",\"mimeType\":\"application/json\"}]");
}

static void put_contents(struct vcm_mcp_call *call, const char *uri, const struct resource *found)
{
    vcm_jsonw_key(&call->w, "contents");
    vcm_jsonw_begin_array(&call->w);
    vcm_jsonw_begin_object(&call->w);
    vcm_jsonw_member_string(&call->w, "uri", uri);
    vcm_jsonw_member_string(&call->w, "mimeType", found->type);
    vcm_jsonw_member_string(&call->w, found->text ? "text" : "blob",
                            found->text ? found->text : found->blob);
    vcm_jsonw_end_object(&call->w);
    vcm_jsonw_end_array(&call->w);
}

static void read_resource(struct vcm_mcp_call *call)
{
    static const char prefix[] = "test://template/";
    const char *uri = vcm_mcp_param(call, "uri", true);
    struct vcm_buf text = VCM_BUF_INIT(VCM_KIB);

    if (!uri)
        return;
    for (size_t i = 0; i < RESOURCE_COUNT; i++)
        if (strcmp(resources[i].uri, uri) == 0) {
            put_contents(call, uri, &resources[i]);
            return;
        }
    if (strncmp(uri, prefix, sizeof prefix - 1) == 0) {
        vcm_buf_append_format(&text, "{\"id\":\"%.*s\"}",
                              (int)strcspn(uri + sizeof prefix - 1, "/"), uri + sizeof prefix - 1);
        put_contents(call, uri,
                     &(struct resource){.type = "application/json", .text = vcm_buf_text(&text)});
    } else {
        vcm_jsonw_escape(&text, vcm_slice_of_string(uri));
        vcm_mcp_fail(call, call->is_modern ? VCM_RPC_INVALID_PARAMS : VCM_RPC_NO_RESOURCE,
                     "there is no such resource");
        vcm_mcp_fail_data(call, "{\"uri\":%s}", vcm_buf_text(&text));
    }
    vcm_buf_release(&text);
}

/* Prompts. */

static void list_prompts(struct vcm_mcp_call *call)
{
    raw(call, "prompts",
        "[{\"name\":\"test_simple_prompt\",\"description\":\"A simple prompt.\"},"
        "{\"name\":\"test_prompt_with_arguments\",\"description\":\"With arguments.\","
        "\"arguments\":[{\"name\":\"arg1\",\"description\":\"first\",\"required\":true},"
        "{\"name\":\"arg2\",\"description\":\"second\",\"required\":true}]},"
        "{\"name\":\"test_prompt_with_embedded_resource\",\"description\":\"With a resource.\","
        "\"arguments\":[{\"name\":\"resourceUri\",\"description\":\"uri\",\"required\":true}]},"
        "{\"name\":\"test_prompt_with_image\",\"description\":\"With an image.\"},"
        "{\"name\":\"test_input_required_result_prompt\",\"description\":\"Asks first.\"}]");
}

static void put_message(struct vcm_mcp_call *call, const char *text)
{
    struct vcm_buf json = VCM_BUF_INIT(64 * VCM_KIB);

    vcm_buf_append_string(&json, "[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":");
    vcm_jsonw_escape(&json, vcm_slice_of_string(text));
    vcm_buf_append_string(&json, "}}]");
    raw(call, "messages", vcm_buf_text(&json));
    vcm_buf_release(&json);
}

static void put_embedded(struct vcm_mcp_call *call, const char *uri)
{
    struct vcm_buf json = VCM_BUF_INIT(64 * VCM_KIB);

    vcm_buf_append_string(&json, "[{\"role\":\"user\",\"content\":{\"type\":\"resource\","
                                 "\"resource\":{\"mimeType\":\"text/plain\",\"text\":\"Embedded\","
                                 "\"uri\":");
    vcm_jsonw_escape(&json, vcm_slice_of_string(uri));
    vcm_buf_append_string(&json, "}}},{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":"
                                 "\"Please process it.\"}}]");
    raw(call, "messages", vcm_buf_text(&json));
    vcm_buf_release(&json);
}

static void get_prompt(struct vcm_mcp_call *call)
{
    const char *name = vcm_mcp_param(call, "name", true);
    struct vcm_buf text = VCM_BUF_INIT(64 * VCM_KIB);

    if (!name)
        return;
    if (strcmp(name, "test_simple_prompt") == 0) {
        put_message(call, "This is a simple prompt for testing.");
    } else if (strcmp(name, "test_prompt_with_arguments") == 0) {
        vcm_buf_append_format(&text, "Prompt with arguments: arg1='%s', arg2='%s'",
                              argument(call, "arg1"), argument(call, "arg2"));
        put_message(call, vcm_buf_text(&text));
    } else if (strcmp(name, "test_prompt_with_embedded_resource") == 0) {
        put_embedded(call, argument(call, "resourceUri"));
    } else if (strcmp(name, "test_prompt_with_image") == 0) {
        raw(call, "messages",
            "[{\"role\":\"user\",\"content\":{\"type\":\"image\",\"data\":\"" PNG
            "\",\"mimeType\":\"image/png\"}},{\"role\":\"user\",\"content\":{\"type\":\"text\","
            "\"text\":\"Please analyze it.\"}}]");
    } else if (strcmp(name, "test_input_required_result_prompt") == 0) {
        if (response(call, "user_context"))
            put_message(call, "With context");
        else if (call->code == 0)
            require(call, CONFIRM("user_context", "context"), NULL);
    } else {
        vcm_mcp_fail(call, VCM_RPC_INVALID_PARAMS, "there is no such prompt");
    }
    vcm_buf_release(&text);
}

static void complete(struct vcm_mcp_call *call)
{
    raw(call, "completion", "{\"values\":[\"test\",\"testing\"],\"total\":2,\"hasMore\":false}");
}

static const struct vcm_mcp_method methods[] = {
    {"tools/list", VCM_MCP_QUICK | VCM_MCP_KEPT, list_tools},
    {"tools/call", 0, call_tool},
    {"resources/list", VCM_MCP_KEPT, list_resources},
    {"resources/templates/list", VCM_MCP_KEPT, list_templates},
    {"resources/read", VCM_MCP_KEPT, read_resource},
    {"prompts/list", VCM_MCP_KEPT, list_prompts},
    {"prompts/get", 0, get_prompt},
    {"completion/complete", 0, complete},
    {NULL, 0, NULL},
};

static const struct vcm_mcp_features features = {
    .name = "vcm-conformance",
    .version = "1",
    .capabilities = VCM_MCP_TOOLS | VCM_MCP_TOOLS_CHANGE | VCM_MCP_RESOURCES |
                    VCM_MCP_RESOURCES_SUBSCRIBE | VCM_MCP_PROMPTS | VCM_MCP_PROMPTS_CHANGE |
                    VCM_MCP_COMPLETIONS | VCM_MCP_LOGGING,
    .methods = methods,
    .repeated = repeated,
};

static int show_port(void *context, unsigned port, struct vcm_error *err)
{
    (void)context;
    (void)err;
    printf("%u\n", port);
    fflush(stdout);
    return VCM_OK;
}

static void on_signal(int number)
{
    (void)number;
    vcm_cancel_request(&stop);
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    struct vcm_auth auth = {.is_open = true};
    struct vcm_error err = {0};
    struct vcm_crew *crew = NULL;
    struct vcm_mcp *mcp = NULL;

    sigaction(SIGTERM, &action, NULL);
    int rc = vcm_request_state_make_key(&state_key, &err);
    if (rc == VCM_OK)
        rc = vcm_crew_open(&crew, &(struct vcm_crew_options){.waiting_max = 64}, &err);
    if (rc == VCM_OK)
        rc = vcm_mcp_open(&mcp, &features, crew, &err);
    if (rc == VCM_OK)
        rc = vcm_site_run(&(struct vcm_site_options){.mcp = mcp,
                                                     .auth = &auth,
                                                     .listen = "127.0.0.1:0",
                                                     .base_path = "",
                                                     .stop = &stop,
                                                     .ready = show_port},
                          &err);
    if (rc != VCM_OK)
        fprintf(stderr, "%s\n", err.message);
    vcm_crew_close(crew);
    vcm_mcp_close(mcp);
    return rc == VCM_OK ? 0 : 1;
}
