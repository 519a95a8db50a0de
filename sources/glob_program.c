#include "sources/glob_program.h"

#include "base/limits.h"

#include "base/banned.h"

#define SET_BYTES 32

enum op {
    CHAR,        /* and the byte */
    ANY,         /* one byte, no slash */
    SET,         /* and SET_BYTES of bits; none of them the slash */
    STAR,        /* any bytes without a slash */
    DEEP,        /* any bytes */
    DIRECTORIES, /* nothing, or any bytes and a slash */
};

struct cursor {
    const unsigned char *at;
    const unsigned char *end;
};

static bool is_between(unsigned c, unsigned first, unsigned last)
{
    return c >= first && c <= last;
}

static bool is_alpha(unsigned c)
{
    return is_between(c | 0x20, 'a', 'z');
}

static bool is_digit(unsigned c)
{
    return is_between(c, '0', '9');
}

static bool is_alnum(unsigned c)
{
    return is_alpha(c) || is_digit(c);
}

static bool is_blank(unsigned c)
{
    return c == ' ' || c == '\t';
}

static bool is_cntrl(unsigned c)
{
    return c < 0x20 || c == 0x7f;
}

static bool is_graph(unsigned c)
{
    return is_between(c, 0x21, 0x7e);
}

static bool is_lower(unsigned c)
{
    return is_between(c, 'a', 'z');
}

static bool is_print(unsigned c)
{
    return is_between(c, 0x20, 0x7e);
}

static bool is_punct(unsigned c)
{
    return is_graph(c) && !is_alnum(c);
}

static bool is_space(unsigned c)
{
    return is_blank(c) || c == '\n' || c == '\r';
}

static bool is_upper(unsigned c)
{
    return is_between(c, 'A', 'Z');
}

static bool is_xdigit(unsigned c)
{
    return is_digit(c) || is_between(c | 0x20, 'a', 'f');
}

/* As git's own table of characters has them, not the locale: ASCII alone, and neither vertical tab
 * nor form feed is a space. */
static const struct {
    const char *name;
    bool (*has)(unsigned c);
} classes[] = {
    {"alnum", is_alnum}, {"alpha", is_alpha}, {"blank", is_blank}, {"cntrl", is_cntrl},
    {"digit", is_digit}, {"graph", is_graph}, {"lower", is_lower}, {"print", is_print},
    {"punct", is_punct}, {"space", is_space}, {"upper", is_upper}, {"xdigit", is_xdigit},
};

static void set_add(uint8_t set[SET_BYTES], unsigned c)
{
    set[c / 8] = (uint8_t)(set[c / 8] | 1u << c % 8);
}

static bool set_has(const uint8_t set[SET_BYTES], unsigned c)
{
    return set[c / 8] >> c % 8 & 1;
}

static bool set_add_class(uint8_t set[SET_BYTES], struct vcm_slice name)
{
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        if (!vcm_slice_equal(name, vcm_slice_of_string(classes[i].name)))
            continue;
        for (unsigned c = 0; c < 256; c++)
            if (classes[i].has(c))
                set_add(set, c);
        return true;
    }
    return false;
}

/* At "[:" inside a bracket: 1 when a class was taken, 0 when the '[' is a plain character, -1 when
 * the pattern is malformed. */
static int take_class(uint8_t set[SET_BYTES], struct cursor *in)
{
    const unsigned char *name = in->at + 2;
    const unsigned char *close =
        name < in->end ? memchr(name, ']', (size_t)(in->end - name)) : NULL;

    if (!close)
        return -1;
    if (close == name || close[-1] != ':')
        return 0;
    if (!set_add_class(set, vcm_slice_of(name, (size_t)(close - name) - 1)))
        return -1;
    in->at = close + 1;
    return 1;
}

/* A character, perhaps behind a backslash; false at the end. */
static bool take_char(unsigned *c, struct cursor *in)
{
    if (in->at < in->end && *in->at == '\\')
        in->at++;
    if (in->at == in->end)
        return false;
    *c = *in->at++;
    return true;
}

/* One element of a bracket; *last is the character that may start a range, 0 for none. */
static bool take_element(uint8_t set[SET_BYTES], unsigned *last, struct cursor *in)
{
    unsigned c = 0;

    if (*in->at == '-' && *last != 0 && in->at + 1 < in->end && in->at[1] != ']') {
        in->at++;
        if (!take_char(&c, in))
            return false;
        for (unsigned i = *last; i <= c; i++)
            set_add(set, i);
        *last = 0;
        return true;
    }
    if (*in->at == '[' && in->at + 1 < in->end && in->at[1] == ':') {
        int taken = take_class(set, in);
        *last = 0;
        if (taken != 0)
            return taken > 0;
    }
    if (!take_char(&c, in))
        return false;
    set_add(set, c);
    *last = c;
    return true;
}

/* Parses from behind the '['. A ']' that comes first is a character. */
static bool take_bracket(uint8_t set[SET_BYTES], struct cursor *in)
{
    unsigned last = 0;

    memset(set, 0, SET_BYTES);
    bool negated = in->at < in->end && (*in->at == '!' || *in->at == '^');
    if (negated)
        in->at++;
    do {
        if (in->at == in->end || !take_element(set, &last, in))
            return false;
    } while (in->at == in->end || *in->at != ']');
    in->at++;
    for (unsigned i = 0; negated && i < SET_BYTES; i++)
        set[i] = (uint8_t)~set[i];
    set['/' / 8] = (uint8_t)(set['/' / 8] & ~(1u << '/' % 8));
    return true;
}

/* Two or more stars cross slashes when they are between slashes or at the ends. */
static enum op take_stars(struct cursor *in, const unsigned char *start)
{
    const unsigned char *first = in->at;

    while (in->at < in->end && *in->at == '*')
        in->at++;
    if (in->at - first < 2 || (first > start && first[-1] != '/'))
        return STAR;
    if (in->at == in->end)
        return DEEP;
    if (*in->at == '/') {
        in->at++;
        return DIRECTORIES;
    }
    return in->end - in->at >= 2 && in->at[0] == '\\' && in->at[1] == '/' ? DEEP : STAR;
}

static bool take_op(struct vcm_buf *code, struct cursor *in, const unsigned char *start)
{
    uint8_t set[SET_BYTES];
    unsigned c = 0;

    switch (*in->at) {
    case '*':
        vcm_buf_append_byte(code, (char)take_stars(in, start));
        return true;
    case '?':
        in->at++;
        vcm_buf_append_byte(code, ANY);
        return true;
    case '[':
        in->at++;
        if (!take_bracket(set, in))
            return false;
        vcm_buf_append_byte(code, SET);
        vcm_buf_append(code, set, sizeof set);
        return true;
    default:
        if (!take_char(&c, in))
            return false;
        vcm_buf_append_byte(code, CHAR);
        vcm_buf_append_byte(code, (char)c);
        return true;
    }
}

int vcm_glob_program_compile(struct vcm_glob_program *program, bool *well_formed,
                             struct vcm_arena *arena, struct vcm_slice pattern,
                             struct vcm_error *err)
{
    const unsigned char *start = (const unsigned char *)pattern.data;
    struct cursor in = {start, start + pattern.len};
    struct vcm_buf code = VCM_BUF_INIT((SET_BYTES + 1) * (pattern.len + 1));

    memset(program, 0, sizeof *program);
    *well_formed = true;
    while (*well_formed && in.at < in.end)
        *well_formed = take_op(&code, &in, start);
    int rc = vcm_buf_check(&code, "a pattern", err);
    if (rc == VCM_OK && *well_formed) {
        program->len = code.len;
        program->code = (const uint8_t *)vcm_arena_copy(arena, vcm_buf_slice(&code));
        if (!program->code)
            rc = vcm_error_set(err, VCM_UNSUPPORTED, "the patterns need more than %zu bytes",
                               arena->max);
    }
    vcm_buf_release(&code);
    return rc;
}

/* The backtracking point for when the current attempt fails. */
struct retry {
    const uint8_t *op; /* behind the star; NULL: none */
    const char *text;  /* where its last attempt began */
    bool by_directory;
};

struct machine {
    const uint8_t *op, *op_end;
    const char *text, *text_end;
    struct retry star; /* the last STAR of this part of the path */
    struct retry deep; /* the last DEEP or DIRECTORIES */
};

/* Executes the current op; false when it does not match the text. */
static bool step(struct machine *m)
{
    unsigned char c = m->text < m->text_end ? (unsigned char)*m->text : 0;
    bool at_end = m->text == m->text_end;

    switch ((enum op) * m->op) {
    case STAR:
        m->star = (struct retry){++m->op, m->text, false};
        return true;
    case DEEP:
    case DIRECTORIES:
        m->deep = (struct retry){m->op + 1, m->text, *m->op == DIRECTORIES};
        m->star.op = NULL;
        if (++m->op == m->op_end && !m->deep.by_directory)
            m->text = m->text_end;
        return true;
    case CHAR:
        if (at_end || c != m->op[1])
            return false;
        if (c == '/')
            m->star.op = NULL;
        m->op += 2;
        break;
    case ANY:
        if (at_end || c == '/')
            return false;
        m->op++;
        break;
    case SET:
        if (at_end || !set_has(m->op + 1, c))
            return false;
        m->op += 1 + SET_BYTES;
        break;
    }
    m->text++;
    return true;
}

/* Lets the last star match one byte more. Earlier stars need not be retried: the last one can reach
 * every position that they could lead to. A STAR is dropped at the end of its part of the path,
 * because the position of the next slash does not depend on it. */
static bool go_back(struct machine *m)
{
    struct retry *star = &m->star;
    struct retry *deep = &m->deep;

    if (star->op && star->text < m->text_end && *star->text != '/') {
        m->op = star->op;
        m->text = ++star->text;
        return true;
    }
    if (!deep->op || deep->text == m->text_end)
        return false;
    if (deep->by_directory) {
        deep->text = memchr(deep->text, '/', (size_t)(m->text_end - deep->text));
        if (!deep->text)
            return false;
    }
    m->op = deep->op;
    m->text = ++deep->text;
    star->op = NULL;
    return true;
}

bool vcm_glob_program_run(const struct vcm_glob_program *program, struct vcm_slice text,
                          uint64_t *steps, uint64_t steps_max)
{
    struct machine m = {
        .op = program->code,
        .op_end = program->code + program->len,
        .text = text.data,
        .text_end = text.data + text.len,
    };

    for (; *steps <= steps_max; (*steps)++) {
        if (m.op == m.op_end && m.text == m.text_end)
            return true;
        if (m.op < m.op_end && step(&m))
            continue;
        if (!go_back(&m))
            return false;
    }
    return false;
}
