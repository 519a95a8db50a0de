/*
 * Three ways to find the next line, of which the first that is possible is taken:
 *
 *   1. By text: every match contains a text, which is looked for first; the expression is then run
 *      on that line alone.
 *   2. All lines together: the expression is run on the rest of the text. What it finds may cross
 *      a line's end, and is then looked for once more in the line where it begins. Only for plain
 *      expressions (regex_literal.h), which find nothing in a line that they do not find here.
 *   3. Line by line.
 *
 * A text without a byte above 127 is searched with an expression that is compiled for bytes: the
 * properties of Unicode make \w and \b several times as slow.
 */
#define PCRE2_CODE_UNIT_WIDTH 8

#include "base/regex.h"

#include <pcre2.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/regex_literal.h"
#include "base/utf8.h"

#include "base/banned.h"

#define STACK_FIRST   ((size_t)32 * VCM_KIB)
#define LITERAL_MIN   3u  /* shorter texts are found too often to pay */
#define LINES_CHECKED 16u /* between two looks at the clock */

struct vcm_regex {
    char *pattern; /* as it was given */
    struct vcm_regex_literal literal;
    pcre2_code *unicode;
    pcre2_code *bytes; /* for texts of ASCII; NULL where that would be another expression */
};

struct vcm_regex_matcher {
    const struct vcm_regex *regex;
    const struct vcm_cancel *cancel;
    uint64_t deadline_ms;
    unsigned lines; /* since the last look at the clock */
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
    struct vcm_slice text;
    const pcre2_code *code; /* for this text */
    bool together;          /* its lines can be searched together */
};

static int refuse(const char *pattern, int code, size_t offset, struct vcm_error *err)
{
    PCRE2_UCHAR message[256];

    if (pcre2_get_error_message(code, message, sizeof message) < 0)
        message[0] = '\0';
    return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                         "the pattern '%s' is no regular expression: %s at column %zu; a literal "
                         "text is searched for as one (-F)",
                         pattern, (const char *)message, offset + 1);
}

/* NULL, with the code and place of the fault, when it does not compile. */
static pcre2_code *compile(struct vcm_slice pattern, uint32_t options, int *code, size_t *offset)
{
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);

    if (!context)
        return NULL;
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    pcre2_set_parens_nest_limit(context, 200);
    pcre2_code *out =
        pcre2_compile((PCRE2_SPTR)pattern.data, pattern.len,
                      options | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, code, offset, context);
    pcre2_compile_context_free(context);
    return out;
}

/* Without a compiler for the machine the expression is interpreted. */
static pcre2_code *compile_quick(struct vcm_slice pattern, uint32_t options)
{
    int code = 0;
    size_t offset = 0;
    pcre2_code *out = compile(pattern, options, &code, &offset);

    if (out)
        pcre2_jit_compile(out, PCRE2_JIT_COMPLETE);
    return out;
}

static void append_escaped(struct vcm_buf *out, struct vcm_slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (strchr("\\^$.[]|()?*+{}#- \t", text.data[i]))
            vcm_buf_append_byte(out, '\\');
        vcm_buf_append_byte(out, text.data[i]);
    }
}

static int check_pattern(const char *text, struct vcm_error *err)
{
    struct vcm_slice pattern = vcm_slice_of_string(text);

    if (pattern.len > VCM_LIMIT_PATTERN_BYTES)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "the pattern has %zu bytes; at most %zu are searched for", pattern.len,
                             VCM_LIMIT_PATTERN_BYTES);
    if (!vcm_utf8_valid(pattern))
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "the pattern is not valid UTF-8");
    if (strchr(text, '\n'))
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "the pattern has a line break, and a match is within one line: search "
                             "for one of its lines");
    return VCM_OK;
}

/* Checks the expression by itself: brackets that do not close must not fit those around it. */
static int check_expression(const char *pattern, uint32_t options, struct vcm_error *err)
{
    size_t offset = 0;
    int code = 0;

    if (strncmp(pattern, "(*", 2) == 0)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "the pattern '%s' begins with (*, which sets options that are not "
                             "supported",
                             pattern);
    pcre2_code *alone = compile(vcm_slice_of_string(pattern), options, &code, &offset);
    if (!alone)
        return code == 0 ? vcm_error_memory(err) : refuse(pattern, code, offset, err);
    pcre2_code_free(alone);
    return VCM_OK;
}

static bool is_ascii(struct vcm_slice text)
{
    uint64_t all = 0, word;
    size_t i = 0;

    for (; i + sizeof word <= text.len; i += sizeof word) {
        memcpy(&word, text.data + i, sizeof word);
        all |= word;
    }
    for (; i < text.len; i++)
        all |= (unsigned char)text.data[i];
    return (all & UINT64_C(0x8080808080808080)) == 0;
}

static int compile_both(struct vcm_regex *regex, const struct vcm_regex_options *options,
                        struct vcm_error *err)
{
    struct vcm_buf full = VCM_BUF_INIT(4 * VCM_LIMIT_PATTERN_BYTES);
    struct vcm_slice pattern = vcm_slice_of_string(regex->pattern);
    uint32_t flags = options->ignore_case ? PCRE2_CASELESS : 0;
    uint32_t unicode = flags | PCRE2_UTF | PCRE2_UCP;
    int rc = options->literal ? VCM_OK : check_expression(regex->pattern, unicode, err);

    if (rc != VCM_OK)
        return rc;
    if (options->word)
        vcm_buf_append_string(&full, "(?<!\\w)(?:");
    if (options->literal)
        append_escaped(&full, pattern);
    else
        vcm_buf_append_slice(&full, pattern);
    if (options->word)
        vcm_buf_append_string(&full, ")(?!\\w)");
    rc = vcm_buf_check(&full, "the pattern", err);
    if (rc == VCM_OK && !(regex->unicode = compile_quick(vcm_buf_slice(&full), unicode)))
        rc = refuse(regex->pattern, PCRE2_ERROR_NOMEMORY, 0, err);
    /* A character above 255 does not compile for bytes; the others mean the same in ASCII. */
    if (rc == VCM_OK && is_ascii(pattern))
        regex->bytes = compile_quick(vcm_buf_slice(&full), flags);
    vcm_buf_release(&full);
    return rc;
}

/* What is known of the expression beforehand. With `word` a match has to be checked in any case. */
static int look_ahead(struct vcm_regex *regex, const struct vcm_regex_options *options,
                      struct vcm_error *err)
{
    struct vcm_regex_literal *literal = &regex->literal;
    struct vcm_slice pattern = vcm_slice_of_string(regex->pattern);

    if (options->literal) {
        vcm_buf_init(&literal->text, VCM_LIMIT_PATTERN_BYTES);
        literal->is_plain = true;
        literal->is_whole = !options->ignore_case && pattern.len > 0;
        if (!options->ignore_case)
            vcm_buf_append_slice(&literal->text, pattern);
    } else {
        vcm_regex_literal_find(literal, pattern, options->ignore_case);
    }
    literal->is_whole = literal->is_whole && !options->word;
    return literal->has_line_break
               ? vcm_error_set(err, VCM_INVALID_ARGUMENT,
                               "the pattern '%s' has a line break, and a match is within one line",
                               regex->pattern)
               : vcm_buf_check(&literal->text, "the pattern", err);
}

int vcm_regex_open(struct vcm_regex **out, const char *pattern,
                   const struct vcm_regex_options *options, struct vcm_error *err)
{
    *out = NULL;
    int rc = check_pattern(pattern, err);
    if (rc != VCM_OK)
        return rc;
    struct vcm_regex *regex = calloc(1, sizeof *regex);
    if (!regex || !(regex->pattern = strdup(pattern))) {
        free(regex);
        return vcm_error_memory(err);
    }
    rc = compile_both(regex, options, err);
    if (rc == VCM_OK)
        rc = look_ahead(regex, options, err);
    if (rc == VCM_OK)
        *out = regex;
    else
        vcm_regex_close(regex);
    return rc;
}

void vcm_regex_close(struct vcm_regex *regex)
{
    if (!regex)
        return;
    pcre2_code_free(regex->bytes);
    pcre2_code_free(regex->unicode);
    vcm_regex_literal_release(&regex->literal);
    free(regex->pattern);
    free(regex);
}

struct vcm_slice vcm_regex_literal(const struct vcm_regex *regex)
{
    return vcm_buf_slice(&regex->literal.text);
}

int vcm_regex_matcher_open(struct vcm_regex_matcher **out, const struct vcm_regex *regex,
                           uint64_t deadline_ms, const struct vcm_cancel *cancel,
                           struct vcm_error *err)
{
    *out = NULL;
    struct vcm_regex_matcher *matcher = calloc(1, sizeof *matcher);
    if (!matcher)
        return vcm_error_memory(err);
    *matcher = (struct vcm_regex_matcher){
        .regex = regex,
        .cancel = cancel,
        .deadline_ms = deadline_ms,
        .data = pcre2_match_data_create(1, NULL),
        .context = pcre2_match_context_create(NULL),
        .stack = pcre2_jit_stack_create(STACK_FIRST, VCM_LIMIT_REGEX_STACK, NULL),
    };
    if (!matcher->data || !matcher->context) {
        vcm_regex_matcher_close(matcher);
        return vcm_error_memory(err);
    }
    pcre2_set_match_limit(matcher->context, VCM_LIMIT_REGEX_STEPS);
    pcre2_set_depth_limit(matcher->context, VCM_LIMIT_REGEX_DEPTH);
    pcre2_set_heap_limit(matcher->context, VCM_LIMIT_REGEX_HEAP_KIB);
    if (matcher->stack)
        pcre2_jit_stack_assign(matcher->context, NULL, matcher->stack);
    *out = matcher;
    return VCM_OK;
}

void vcm_regex_matcher_close(struct vcm_regex_matcher *matcher)
{
    if (!matcher)
        return;
    pcre2_jit_stack_free(matcher->stack);
    pcre2_match_context_free(matcher->context);
    pcre2_match_data_free(matcher->data);
    free(matcher);
}

void vcm_regex_matcher_begin(struct vcm_regex_matcher *matcher, struct vcm_slice text)
{
    const struct vcm_regex *regex = matcher->regex;

    matcher->text = text;
    matcher->code = regex->bytes && is_ascii(text) ? regex->bytes : regex->unicode;
    matcher->together = regex->literal.is_plain && !memchr(text.data, '\r', text.len);
}

static int too_long(const struct vcm_regex_matcher *matcher, const char *why, struct vcm_error *err)
{
    return vcm_error_set(err, VCM_TIMEOUT,
                         "the pattern '%s' %s; make it more specific, or search for a text of it",
                         matcher->regex->pattern, why);
}

static int check_time(struct vcm_regex_matcher *matcher, struct vcm_error *err)
{
    if (++matcher->lines < LINES_CHECKED)
        return VCM_OK;
    matcher->lines = 0;
    if (matcher->deadline_ms > 0 && vcm_clock_ms() > matcher->deadline_ms)
        return too_long(matcher, "takes too long", err);
    return vcm_cancel_check(matcher->cancel, err);
}

/* Runs the expression on [start, end). NOT_FOUND; VCM_NO_ROOM when it takes too many steps. */
static int run(struct vcm_regex_line *out, struct vcm_regex_matcher *matcher, size_t start,
               size_t end, struct vcm_error *err)
{
    int rc = check_time(matcher, err);
    if (rc != VCM_OK)
        return rc;
    int found = pcre2_match(matcher->code, (PCRE2_SPTR)matcher->text.data + start, end - start, 0,
                            PCRE2_NO_UTF_CHECK, matcher->data, matcher->context);
    const size_t *ends = pcre2_get_ovector_pointer(matcher->data);
    switch (found) {
    case PCRE2_ERROR_NOMATCH:
        return VCM_NOT_FOUND;
    case PCRE2_ERROR_MATCHLIMIT:
    case PCRE2_ERROR_DEPTHLIMIT:
    case PCRE2_ERROR_HEAPLIMIT:
    case PCRE2_ERROR_JIT_STACKLIMIT:
        return VCM_NO_ROOM;
    case PCRE2_ERROR_NOMEMORY:
        return vcm_error_memory(err);
    default:
        if (found < 0)
            return vcm_error_set(err, VCM_INTERNAL, "PCRE2 fails with code %d on the pattern '%s'",
                                 found, matcher->regex->pattern);
    }
    /* "\K" in a look-around may set the start behind the end. */
    out->match_start = start + (ends[0] < ends[1] ? ends[0] : ends[1]);
    out->match_end = start + (ends[0] < ends[1] ? ends[1] : ends[0]);
    return VCM_OK;
}

/* The line around `at`; `from` is a line's beginning before it. */
static void set_line(struct vcm_regex_line *out, struct vcm_slice text, size_t from, size_t at)
{
    const char *before = at > from ? memrchr(text.data + from, '\n', at - from) : NULL;
    const char *behind = memchr(text.data + at, '\n', text.len - at);

    out->start = before ? (size_t)(before - text.data) + 1 : from;
    out->end = behind ? (size_t)(behind - text.data) : text.len;
    if (out->end > out->start && text.data[out->end - 1] == '\r')
        out->end--;
}

static size_t behind_line(struct vcm_slice text, const struct vcm_regex_line *line)
{
    const char *behind = memchr(text.data + line->end, '\n', text.len - line->end);

    return behind ? (size_t)(behind - text.data) + 1 : text.len;
}

static int run_line(struct vcm_regex_line *line, struct vcm_regex_matcher *matcher,
                    struct vcm_error *err)
{
    int rc = run(line, matcher, line->start, line->end, err);

    return rc == VCM_NO_ROOM ? too_long(matcher, "needs too many steps for a line", err) : rc;
}

static int next_by_text(struct vcm_regex_line *out, struct vcm_regex_matcher *matcher, size_t from,
                        struct vcm_error *err)
{
    const struct vcm_regex_literal *literal = &matcher->regex->literal;
    struct vcm_slice text = matcher->text;

    while (from < text.len) {
        const char *found =
            memmem(text.data + from, text.len - from, literal->text.data, literal->text.len);
        if (!found)
            break;
        size_t at = (size_t)(found - text.data);
        set_line(out, text, from, at);
        out->match_start = at;
        out->match_end = at + literal->text.len;
        /* A carriage return at the end is no part of the line. */
        bool is_found = literal->is_whole && out->match_end <= out->end;
        int rc = is_found ? VCM_OK : run_line(out, matcher, err);
        if (rc != VCM_NOT_FOUND)
            return rc;
        from = behind_line(text, out);
    }
    return VCM_NOT_FOUND;
}

static int next_by_line(struct vcm_regex_line *out, struct vcm_regex_matcher *matcher, size_t from,
                        struct vcm_error *err)
{
    while (from < matcher->text.len) {
        set_line(out, matcher->text, from, from);
        int rc = run_line(out, matcher, err);
        if (rc != VCM_NOT_FOUND)
            return rc;
        from = behind_line(matcher->text, out);
    }
    return VCM_NOT_FOUND;
}

static int next_together(struct vcm_regex_line *out, struct vcm_regex_matcher *matcher, size_t from,
                         struct vcm_error *err)
{
    while (from < matcher->text.len) {
        int rc = run(out, matcher, from, matcher->text.len, err);
        if (rc == VCM_NO_ROOM) {
            matcher->together = false; /* it may be the length of the text alone */
            return next_by_line(out, matcher, from, err);
        }
        if (rc != VCM_OK)
            return rc;
        if (out->match_start == matcher->text.len &&
            matcher->text.data[matcher->text.len - 1] == '\n')
            return VCM_NOT_FOUND; /* behind the last line */
        set_line(out, matcher->text, from, out->match_start);
        if (out->match_end <= out->end)
            return VCM_OK;
        rc = run_line(out, matcher, err);
        if (rc != VCM_NOT_FOUND)
            return rc;
        from = behind_line(matcher->text, out);
    }
    return VCM_NOT_FOUND;
}

int vcm_regex_matcher_next(struct vcm_regex_line *out, struct vcm_regex_matcher *matcher,
                           size_t from, struct vcm_error *err)
{
    if (from >= matcher->text.len)
        return VCM_NOT_FOUND;
    if (matcher->regex->literal.text.len >= LITERAL_MIN || matcher->regex->literal.is_whole)
        return next_by_text(out, matcher, from, err);
    return matcher->together ? next_together(out, matcher, from, err)
                             : next_by_line(out, matcher, from, err);
}
