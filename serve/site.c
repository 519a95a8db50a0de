#include "serve/site.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "serve/http_mcp.h"

#include "base/banned.h"

#define GRACE_MS 5000u

struct site {
    const struct vcm_site_options *options;
    struct vcm_http_server *server;
    struct vcm_http_mcp *endpoint;
};

static void show_health(struct site *site, struct vcm_http_exchange *exchange)
{
    (void)site;
    vcm_http_server_respond(exchange, 200, "application/json", "",
                            vcm_slice_of_string("{\"status\":\"ok\"}\n"));
}

static void show_metrics(struct site *site, struct vcm_http_exchange *exchange)
{
    struct vcm_buf text = VCM_BUF_INIT(4 * VCM_MIB);

    if (site->options->put_metrics)
        site->options->put_metrics(&text, site->options->context);
    vcm_buf_append_format(&text,
                          "# TYPE vcm_connections gauge\nvcm_connections %u\n"
                          "# TYPE vcm_requests_under_way gauge\nvcm_requests_under_way %u\n",
                          vcm_http_server_connections(site->server),
                          vcm_mcp_under_way(site->options->mcp));
    vcm_http_server_respond(exchange, 200, "text/plain; version=0.0.4", "", vcm_buf_slice(&text));
    vcm_buf_release(&text);
}

/* Pages that are only read. */
static const struct page {
    const char *path;
    bool is_free; /* needs no token */
    void (*show)(struct site *site, struct vcm_http_exchange *exchange);
} pages[] = {
    {"/healthz", true, show_health},
    {"/metrics", false, show_metrics},
};

static const struct page *find_page(const char *path)
{
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++)
        if (strcmp(pages[i].path, path) == 0)
            return &pages[i];
    return NULL;
}

/* The path behind the base, or NULL. */
static const char *path_of(const struct site *site, const struct vcm_http_request *request)
{
    size_t len = strlen(site->options->base_path);

    return strncmp(request->path, site->options->base_path, len) == 0 && request->path[len] == '/'
               ? request->path + len
               : NULL;
}

static void route(struct site *site, struct vcm_http_exchange *exchange, const char *path,
                  enum vcm_auth_right right)
{
    const struct page *page = find_page(path);

    if (strcmp(path, "/mcp") == 0)
        vcm_http_mcp_handle(site->endpoint, exchange, right != VCM_AUTH_ALL);
    else if (!page)
        vcm_http_mcp_refuse(exchange, 404, VCM_NOT_FOUND, "", "there is nothing at this path");
    else if (strcmp(vcm_http_server_request(exchange)->method, "GET") != 0)
        vcm_http_mcp_refuse(exchange, 405, VCM_UNSUPPORTED, "Allow: GET\r\n",
                            "this path is read with GET");
    else
        page->show(site, exchange);
}

static void handle(void *context, struct vcm_http_exchange *exchange)
{
    struct site *site = context;
    const struct vcm_http_request *request = vcm_http_server_request(exchange);
    const char *path = path_of(site, request), *why;
    const struct page *page = path ? find_page(path) : NULL;
    uid_t uid;
    bool is_local = vcm_http_server_is_local(exchange, &uid);

    if (!vcm_auth_is_ours(site->options->auth, request, is_local, &why)) {
        vcm_http_mcp_refuse(exchange, 403, VCM_AUTH_FAILED, "", why);
        return;
    }
    enum vcm_auth_right right = vcm_auth_right_of(site->options->auth, request, is_local, uid);
    if (right == VCM_AUTH_NOTHING && !(page && page->is_free))
        vcm_http_mcp_refuse(exchange, 401, VCM_AUTH_FAILED, "WWW-Authenticate: Bearer\r\n",
                            "a token is needed: Authorization: Bearer, with a token of the file "
                            "that the server named when it was started");
    else if (!path)
        vcm_http_mcp_refuse(exchange, 404, VCM_NOT_FOUND, "", "there is nothing at this path");
    else
        route(site, exchange, path, right);
}

static void gone(void *context, const void *mark)
{
    struct site *site = context;

    if (site->endpoint)
        vcm_http_mcp_gone(site->endpoint, mark);
}

static bool is_busy(void *context)
{
    struct site *site = context;

    return vcm_mcp_under_way(site->options->mcp) > 0;
}

static int listen_all(struct site *site, struct vcm_error *err)
{
    const struct vcm_site_options *options = site->options;
    unsigned inherited = 0;

    int rc = vcm_http_server_listen_inherited(site->server, &inherited, err);
    if (rc == VCM_OK && options->listen && inherited == 0)
        rc = vcm_http_server_listen(site->server, options->listen, options->allow_remote, err);
    if (rc == VCM_OK && options->unix_path)
        rc = vcm_http_server_listen_unix(site->server, options->unix_path, err);
    if (rc == VCM_OK)
        options->auth->port = vcm_http_server_port(site->server);
    return rc;
}

int vcm_site_run(const struct vcm_site_options *options, struct vcm_error *err)
{
    struct site site = {.options = options};
    const struct vcm_http_server_handler handler = {
        .handle = handle, .gone = gone, .context = &site};
    const struct timespec tick = {.tv_nsec = 5 * 1000 * 1000};

    int rc = vcm_http_mcp_open(&site.endpoint, options->mcp, VCM_LIMIT_MCP_CALLS, err);
    if (rc == VCM_OK)
        rc = vcm_http_server_open(&site.server, &handler, err);
    if (rc == VCM_OK)
        rc = listen_all(&site, err);
    if (rc == VCM_OK && options->ready)
        rc = options->ready(options->context, options->auth->port, err);
    if (rc == VCM_OK)
        rc = vcm_http_server_run(site.server, options->stop, is_busy, GRACE_MS, err);
    /* What is left is cancelled, and may still answer. */
    vcm_mcp_stop(options->mcp);
    while (vcm_mcp_under_way(options->mcp) > 0)
        nanosleep(&tick, NULL);
    vcm_http_mcp_close(site.endpoint);
    site.endpoint = NULL;
    vcm_http_server_close(site.server);
    return rc;
}
