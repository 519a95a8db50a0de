#include "serve/http_parse.h"

#include <http_parser.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

#define HEAD_END     "\r\n\r\n"
#define HEAD_END_LEN ((size_t)4)

struct vcm_http_parse {
    http_parser parser;
    size_t body_max;
    struct vcm_buf head; /* until it is complete */
    bool head_done;
    struct vcm_http_request request;
    struct vcm_buf target, name, value; /* what is being read */
    bool has_value;
    bool wants_continue, is_complete;
    int status; /* 0 while nothing is wrong */
    const char *why;
};

static int refuse(struct vcm_http_parse *parse, int status, const char *why)
{
    if (parse->status == 0) {
        parse->status = status;
        parse->why = why;
    }
    return -1;
}

static struct vcm_http_parse *of(http_parser *parser)
{
    return parser->data;
}

const char *vcm_http_parse_header(const struct vcm_http_request *request, const char *name)
{
    for (unsigned i = 0; i < request->header_count; i++)
        if (strcmp(request->names[i], name) == 0)
            return request->values[i];
    return NULL;
}

static bool is_token(const char *text)
{
    static const char others[] = "!#$%&'*+-.^_`|~";

    for (const char *p = text; *p; p++)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || strchr(others, *p)))
            return false;
    return *text != '\0';
}

static bool has_controls(const struct vcm_buf *value)
{
    for (size_t i = 0; i < value->len; i++) {
        unsigned char c = (unsigned char)value->data[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return true;
    }
    return false;
}

static void to_lower(struct vcm_buf *text)
{
    for (size_t i = 0; i < text->len; i++)
        if (text->data[i] >= 'A' && text->data[i] <= 'Z')
            text->data[i] = (char)(text->data[i] - 'A' + 'a');
}

/* Blanks around a value do not belong to it. */
static struct vcm_slice trimmed(const struct vcm_buf *value)
{
    struct vcm_slice text = vcm_buf_slice(value);

    while (text.len > 0 && (text.data[0] == ' ' || text.data[0] == '\t')) {
        text.data++;
        text.len--;
    }
    while (text.len > 0 && (text.data[text.len - 1] == ' ' || text.data[text.len - 1] == '\t'))
        text.len--;
    return text;
}

/* Headers of which a second one changes what a request means, or who sent it. */
static bool may_repeat(const char *name)
{
    static const char *const once[] = {"host",
                                       "content-length",
                                       "transfer-encoding",
                                       "origin",
                                       "authorization",
                                       "content-type",
                                       "mcp-protocol-version",
                                       "mcp-session-id",
                                       "mcp-name",
                                       "mcp-method",
                                       "sec-fetch-site",
                                       "expect",
                                       NULL};

    for (size_t i = 0; once[i]; i++)
        if (strcmp(once[i], name) == 0)
            return false;
    return true;
}

static int keep_header(struct vcm_http_parse *parse)
{
    struct vcm_http_request *request = &parse->request;
    unsigned at = request->header_count;

    if (parse->name.len == 0)
        return 0;
    if (at == VCM_HTTP_PARSE_HEADERS_MAX)
        return refuse(parse, 431, "there are too many headers");
    to_lower(&parse->name);
    if (!is_token(vcm_buf_text(&parse->name)))
        return refuse(parse, 400, "the name of a header is not valid");
    if (has_controls(&parse->value))
        return refuse(parse, 400, "the value of a header is not valid");
    if (!may_repeat(vcm_buf_text(&parse->name)) &&
        vcm_http_parse_header(request, vcm_buf_text(&parse->name)))
        return refuse(parse, 400, "a header that may stand once is repeated");
    request->names[at] = vcm_arena_copy(&request->arena, vcm_buf_slice(&parse->name));
    request->values[at] = vcm_arena_copy(&request->arena, trimmed(&parse->value));
    if (!request->names[at] || !request->values[at])
        return refuse(parse, 503, "out of memory");
    request->header_count++;
    vcm_buf_clear(&parse->name);
    vcm_buf_clear(&parse->value);
    parse->has_value = false;
    return 0;
}

static int on_url(http_parser *parser, const char *at, size_t len)
{
    vcm_buf_append(&of(parser)->target, at, len);
    return 0;
}

static int on_field(http_parser *parser, const char *at, size_t len)
{
    struct vcm_http_parse *parse = of(parser);

    if (parse->head_done) /* trailers: nobody reads them */
        return 0;
    if (parse->has_value && keep_header(parse) != 0)
        return -1;
    vcm_buf_append(&parse->name, at, len);
    return 0;
}

static int on_value(http_parser *parser, const char *at, size_t len)
{
    struct vcm_http_parse *parse = of(parser);

    if (parse->head_done)
        return 0;
    parse->has_value = true;
    vcm_buf_append(&parse->value, at, len);
    return 0;
}

/* The form "/path?query" alone; no proxy is asked here. */
static int settle_target(struct vcm_http_parse *parse)
{
    struct vcm_http_request *request = &parse->request;
    char *target = vcm_arena_copy(&request->arena, vcm_buf_slice(&parse->target));

    if (!target)
        return refuse(parse, 503, "out of memory");
    if (target[0] != '/' || strchr(target, '#') || strlen(target) != parse->target.len)
        return refuse(parse, 400, "the target of the request is no path");
    char *mark = strchr(target, '?');
    request->path = target;
    request->query = mark ? mark + 1 : "";
    if (mark)
        *mark = '\0';
    return 0;
}

static int check_framing(struct vcm_http_parse *parse, const http_parser *parser)
{
    const struct vcm_http_request *request = &parse->request;
    const char *coding = vcm_http_parse_header(request, "transfer-encoding");
    const char *expect = vcm_http_parse_header(request, "expect");

    if (parser->http_major != 1 || parser->http_minor > 1)
        return refuse(parse, 505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
    if (!vcm_http_parse_header(request, "host"))
        return refuse(parse, 400, "there is no Host");
    if (parser->upgrade || parser->method == HTTP_CONNECT)
        return refuse(parse, 400, "the protocol cannot be changed");
    if (coding && (vcm_http_parse_header(request, "content-length") || parser->http_minor == 0))
        return refuse(parse, 400, "Transfer-Encoding cannot stand here");
    if (coding && strcmp(coding, "chunked") != 0)
        return refuse(parse, 501, "no Transfer-Encoding but 'chunked' is known");
    if (!coding && parser->content_length != UINT64_MAX && parser->content_length > parse->body_max)
        return refuse(parse, 413, "the body is too large");
    if (expect && strcmp(expect, "100-continue") != 0)
        return refuse(parse, 417, "this expectation cannot be met");
    parse->wants_continue =
        expect && (coding || (parser->content_length != UINT64_MAX && parser->content_length > 0));
    return 0;
}

static int on_headers_complete(http_parser *parser)
{
    struct vcm_http_parse *parse = of(parser);

    if (keep_header(parse) != 0 || settle_target(parse) != 0 || check_framing(parse, parser) != 0)
        return -1;
    parse->head_done = true;
    parse->request.method = http_method_str((enum http_method)parser->method);
    parse->request.keep_alive = http_should_keep_alive(parser) != 0;
    return 0;
}

static int on_body(http_parser *parser, const char *at, size_t len)
{
    struct vcm_http_parse *parse = of(parser);

    vcm_buf_append(&parse->request.content, at, len);
    if (parse->request.content.fault == VCM_BUF_FINE)
        return 0;
    return parse->request.content.fault == VCM_BUF_TOO_LARGE
               ? refuse(parse, 413, "the body is too large")
               : refuse(parse, 503, "out of memory");
}

static int on_complete(http_parser *parser)
{
    of(parser)->is_complete = true;
    http_parser_pause(parser, 1);
    return 0;
}

static const http_parser_settings settings = {
    .on_url = on_url,
    .on_header_field = on_field,
    .on_header_value = on_value,
    .on_headers_complete = on_headers_complete,
    .on_body = on_body,
    .on_message_complete = on_complete,
};

static void begin(struct vcm_http_parse *parse)
{
    http_parser_init(&parse->parser, HTTP_REQUEST);
    parse->parser.data = parse;
    memset(&parse->request, 0, sizeof parse->request);
    vcm_arena_init(&parse->request.arena, 4 * VCM_LIMIT_HTTP_HEAD_BYTES + 256 * VCM_KIB);
    vcm_buf_init(&parse->request.content, parse->body_max);
    vcm_buf_clear(&parse->head);
    vcm_buf_clear(&parse->target);
    vcm_buf_clear(&parse->name);
    vcm_buf_clear(&parse->value);
    parse->head_done = parse->has_value = parse->wants_continue = parse->is_complete = false;
}

struct vcm_http_parse *vcm_http_parse_open(size_t body_max)
{
    struct vcm_http_parse *parse = calloc(1, sizeof *parse);

    if (!parse)
        return NULL;
    parse->body_max = body_max;
    vcm_buf_init(&parse->head, VCM_LIMIT_HTTP_HEAD_BYTES + HEAD_END_LEN);
    vcm_buf_init(&parse->target, VCM_LIMIT_HTTP_HEAD_BYTES);
    vcm_buf_init(&parse->name, VCM_LIMIT_HTTP_HEAD_BYTES);
    vcm_buf_init(&parse->value, VCM_LIMIT_HTTP_HEAD_BYTES);
    begin(parse);
    return parse;
}

void vcm_http_parse_release(struct vcm_http_request *request)
{
    vcm_arena_release(&request->arena);
    vcm_buf_release(&request->content);
}

void vcm_http_parse_close(struct vcm_http_parse *parse)
{
    if (!parse)
        return;
    vcm_http_parse_release(&parse->request);
    vcm_buf_release(&parse->head);
    vcm_buf_release(&parse->target);
    vcm_buf_release(&parse->name);
    vcm_buf_release(&parse->value);
    free(parse);
}

bool vcm_http_parse_is_begun(const struct vcm_http_parse *parse)
{
    return parse->head.len > 0;
}

int vcm_http_parse_status(const struct vcm_http_parse *parse, const char **why)
{
    *why = parse->why;
    return parse->status;
}

/* Lines end with CR LF and are not continued; http_parser is more generous. */
static void check_lines(struct vcm_http_parse *parse, size_t from)
{
    const char *head = parse->head.data;

    for (size_t i = from; i < parse->head.len; i++) {
        char next = i + 1 < parse->head.len ? head[i + 1] : '\0';
        if (head[i] == '\n' && (i == 0 || head[i - 1] != '\r'))
            refuse(parse, 400, "a line does not end with CR LF");
        if (head[i] == '\n' && (next == ' ' || next == '\t'))
            refuse(parse, 400, "a header is continued on another line");
    }
}

static void run(struct vcm_http_parse *parse, struct vcm_slice bytes, size_t *used)
{
    *used = http_parser_execute(&parse->parser, &settings, bytes.data, bytes.len);
    enum http_errno code = HTTP_PARSER_ERRNO(&parse->parser);
    if (code != HPE_OK && code != HPE_PAUSED)
        refuse(parse, code == HPE_HEADER_OVERFLOW ? 431 : 400, "the request is malformed");
}

/* Collects the head; it is parsed in one go when it is complete. */
static size_t take_head(struct vcm_http_parse *parse, struct vcm_slice bytes)
{
    size_t used = 0, ignored;

    if (used < bytes.len && parse->head.len == 0 && bytes.data[used] == '\r' &&
        used + 1 < bytes.len && bytes.data[used + 1] == '\n')
        used += 2; /* one empty line in front of a request */
    size_t from = parse->head.len > 3 ? parse->head.len - 3 : 0;
    size_t room = VCM_LIMIT_HTTP_HEAD_BYTES + HEAD_END_LEN - parse->head.len;
    size_t len = bytes.len - used < room ? bytes.len - used : room;
    vcm_buf_append(&parse->head, bytes.data + used, len);
    char *end = parse->head.len > from ? memmem(parse->head.data + from, parse->head.len - from,
                                                HEAD_END, HEAD_END_LEN)
                                       : NULL;
    if (!end) {
        if (parse->head.len >= VCM_LIMIT_HTTP_HEAD_BYTES)
            refuse(parse, 431, "the head of the request is too large");
        else
            check_lines(parse, from); /* nothing that follows could mend it */
        return used + len;
    }
    size_t total = (size_t)(end - parse->head.data) + HEAD_END_LEN;
    used += len - (parse->head.len - total);
    vcm_buf_truncate(&parse->head, total);
    check_lines(parse, 0);
    if (parse->status == 0)
        run(parse, vcm_buf_slice(&parse->head), &ignored);
    if (parse->status == 0 && !parse->head_done)
        refuse(parse, 400, "the request is malformed");
    return used;
}

enum vcm_http_parse_state vcm_http_parse_feed(struct vcm_http_parse *parse, struct vcm_slice bytes,
                                              size_t *used)
{
    size_t more = 0;

    *used = 0;
    if (parse->status == 0 && !parse->head_done && bytes.len > 0)
        *used = take_head(parse, bytes);
    if (parse->status == 0 && parse->head_done && !parse->is_complete && *used < bytes.len)
        run(parse, vcm_slice_of(bytes.data + *used, bytes.len - *used), &more);
    *used += more;
    if (parse->status != 0)
        return VCM_HTTP_PARSE_REFUSED;
    if (parse->is_complete)
        return VCM_HTTP_PARSE_DONE;
    if (parse->wants_continue && parse->request.content.len == 0) {
        parse->wants_continue = false;
        return VCM_HTTP_PARSE_CONTINUE;
    }
    return VCM_HTTP_PARSE_MORE;
}

void vcm_http_parse_take(struct vcm_http_request *out, struct vcm_http_parse *parse)
{
    *out = parse->request;
    out->body = vcm_buf_slice(&out->content);
    begin(parse);
}
