#include "cli/serve.h"

#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/path.h"
#include "cli/serve_options.h"
#include "serve/site.h"

#include "base/banned.h"

#define LISTEN_DEFAULT "127.0.0.1:7411"
#define TOKEN_FILE     "serve.tokens"

enum {
    LISTEN = VCM_SERVE_OPTIONS_COUNT,
    UNIX,
    TOKENS,
    ALLOWED_HOST,
    ALLOW_REMOTE,
    BASE_PATH,
};

static const struct vcm_op_param params[] = {
    VCM_SERVE_OPTIONS,
    [LISTEN] = {.name = "listen",
                .type = VCM_OP_TEXT,
                .placeholder = "ADDRESS",
                .default_text = LISTEN_DEFAULT ", or none with --unix",
                .summary = "address and port; port 0 picks a free one"},
    [UNIX] = {.name = "unix",
              .type = VCM_OP_TEXT,
              .placeholder = "PATH",
              .hint = VCM_OP_HINT_FILE,
              .summary = "listen at this socket in the file system, for your user alone"},
    [TOKENS] = {.name = "token-file",
                .type = VCM_OP_TEXT,
                .placeholder = "FILE",
                .hint = VCM_OP_HINT_FILE,
                .default_text = TOKEN_FILE " in the home",
                .summary = "file of the tokens; it is made when it is missing"},
    [ALLOWED_HOST] = {.name = "allowed-host",
                      .type = VCM_OP_TEXT,
                      .repeated = true,
                      .placeholder = "HOST",
                      .summary = "name by which a proxy calls this server (may be repeated)"},
    [ALLOW_REMOTE] = {.name = "allow-remote",
                      .type = VCM_OP_FLAG,
                      .summary = "listen at an address that other machines can reach"},
    [BASE_PATH] = {.name = "base-path",
                   .type = VCM_OP_TEXT,
                   .placeholder = "PATH",
                   .summary = "what stands in front of every path behind a proxy, such as /vcm"},
};

static const struct vcm_result_member result[] = {
    {.name = "event", .type = VCM_RESULT_TEXT, .summary = "listening: the server is ready"},
    {.name = "url",
     .type = VCM_RESULT_TEXT,
     .nullable = true,
     .summary = "where it is; null if it listens at a socket of the file system alone"},
    {.name = "token_file", .type = VCM_RESULT_TEXT, .summary = "file that has the tokens"},
    {.name = "pid", .type = VCM_RESULT_INTEGER, .summary = "its process id"},
    {0},
};

static const char *const examples[] = {
    "vcm serve --root ~/src",
    "vcm serve --root ~/src --unix /run/user/1000/vcm.sock",
    NULL,
};

/* What is announced when everything listens. */
struct announcement {
    struct vcm_op_call *call;
    struct vcm_service *service;
    const char *token_file;
    const char *base_path;
};

static int announce(void *context, unsigned port, struct vcm_error *err)
{
    const struct announcement *a = context;
    struct vcm_buf text = VCM_BUF_INIT(64 * VCM_KIB), url = VCM_BUF_INIT(VCM_KIB);
    struct vcm_jsonw w;

    vcm_buf_append_format(&url, "http://127.0.0.1:%u%s", port, a->base_path);
    vcm_jsonw_init(&w, &text);
    vcm_jsonw_begin_object(&w);
    vcm_jsonw_member_string(&w, "event", "listening");
    vcm_jsonw_member_string(&w, "url", port > 0 ? vcm_buf_text(&url) : NULL);
    vcm_jsonw_member_string(&w, "token_file", a->token_file);
    vcm_jsonw_member_uint(&w, "pid", (uint64_t)getpid());
    vcm_jsonw_end_object(&w);
    int rc = vcm_jsonw_finish(&w, err);
    if (rc == VCM_OK)
        rc = a->call->emit(a->call->emit_context, vcm_buf_slice(&text), err);
    vcm_buf_release(&url);
    vcm_buf_release(&text);
    return rc;
}

static void put_metrics(struct vcm_buf *out, void *context)
{
    const struct announcement *a = context;

    vcm_service_put_metrics(out, a->service);
}

static int check_base_path(const char *path, struct vcm_error *err)
{
    size_t len = strlen(path);

    if (len == 0 || (path[0] == '/' && path[len - 1] != '/' && !strpbrk(path, "?#\r\n ")))
        return VCM_OK;
    return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                         "--base-path begins with a slash and does not end with one, not '%s'",
                         path);
}

static int serve(struct vcm_op_call *call, struct vcm_service *service, const char *token_file,
                 struct vcm_error *err)
{
    const struct vcm_op_value *hosts = &call->values[ALLOWED_HOST];
    struct vcm_auth auth = {.hosts = hosts->list, .host_count = hosts->count};
    const char *listen = vcm_op_text(call, LISTEN), *base = vcm_op_text(call, BASE_PATH);
    struct announcement a = {call, service, token_file, base ? base : ""};
    const struct vcm_site_options options = {
        .mcp = vcm_service_mcp(service),
        .auth = &auth,
        .listen = listen                      ? listen
                  : vcm_op_is_set(call, UNIX) ? NULL
                                              : LISTEN_DEFAULT,
        .unix_path = vcm_op_text(call, UNIX),
        .base_path = a.base_path,
        .allow_remote = vcm_op_flag(call, ALLOW_REMOTE),
        .stop = call->cancel,
        .put_metrics = put_metrics,
        .ready = announce,
        .context = &a,
    };

    int rc = check_base_path(a.base_path, err);
    if (rc == VCM_OK)
        rc = vcm_auth_load(&auth, token_file, err);
    return rc == VCM_OK ? vcm_site_run(&options, err) : rc;
}

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    struct vcm_service_options options = {
        .home = vcm_home(call->vcm), .log = call->log, .waiting_max = VCM_LIMIT_MCP_CALLS};
    struct vcm_buf tokens = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct vcm_service *service = NULL;
    struct vcm_roots *roots = NULL;

    if (vcm_op_text(call, TOKENS))
        vcm_buf_append_string(&tokens, vcm_op_text(call, TOKENS));
    else
        vcm_path_join(&tokens, options.home, TOKEN_FILE);
    int rc = vcm_serve_options_take(&options.tools, &roots, call, false, err);
    if (rc == VCM_OK)
        rc = vcm_service_open(&service, &options, err);
    if (rc == VCM_OK)
        rc = serve(call, service, vcm_buf_text(&tokens), err);
    vcm_service_close(service);
    vcm_roots_close(roots);
    vcm_buf_release(&tokens);
    call->is_over = true;
    return rc;
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    (void)out;
    (void)document;
    (void)call;
}

static void print_event(struct vcm_print *out, const struct vcm_json *event)
{
    vcm_print_format(out, VCM_PRINT_PLAIN, "listening at %s; tokens are in %s\n",
                     vcm_json_get_text(event, "url", "the socket"),
                     vcm_json_get_text(event, "token_file", ""));
}

const struct vcm_op vcm_serve_command = {
    .name = "serve",
    .summary = "serve the operations by HTTP",
    .description =
        "Serves MCP over Streamable HTTP at /mcp, /healthz, and /metrics in Prometheus' text "
        "format. By TCP every request but /healthz needs a token as 'Authorization: Bearer': the "
        "file of tokens has one for reading and one for everything. A socket of the file system "
        "admits your user without one. There is no TLS: a proxy does that. Sockets that a service "
        "manager has opened (LISTEN_FDS) are taken in place of --listen. SIGTERM and SIGINT let "
        "what is under way end, for five seconds.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .is_stream = true,
    .run = run,
    .print = print,
    .print_event = print_event,
};
