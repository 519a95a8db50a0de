#include "base/regex_literal.h"

#include <ctype.h>

#include "base/limits.h"
#include "base/utf8.h"

#include "base/banned.h"

#define DEPTH_MAX 32

/* One alternation, between brackets or at the top. */
struct part {
    struct vcm_buf best; /* the longest text so far */
    struct vcm_buf run;  /* the text that ends here */
    bool is_text;        /* nothing but text so far */
};

struct reader {
    const char *at, *end;
    bool ignore_case;
    bool is_plain;
    bool has_line_break;
    bool is_lost; /* something that is not understood: no answer */
};

/* How often an atom may stand. */
enum times { ONCE, AT_LEAST_ONCE, MAYBE };

static void part_init(struct part *part)
{
    *part = (struct part){.is_text = true};
    vcm_buf_init(&part->best, VCM_LIMIT_PATTERN_BYTES);
    vcm_buf_init(&part->run, VCM_LIMIT_PATTERN_BYTES);
}

static void part_release(struct part *part)
{
    vcm_buf_release(&part->run);
    vcm_buf_release(&part->best);
}

static void end_run(struct part *part)
{
    if (part->run.len > part->best.len) {
        vcm_buf_clear(&part->best);
        vcm_buf_append_slice(&part->best, vcm_buf_slice(&part->run));
    }
    vcm_buf_clear(&part->run);
}

static bool skip(struct reader *reader, char c)
{
    bool found = reader->at < reader->end && *reader->at == c;

    reader->at += found;
    return found;
}

/* The character that begins here, of any number of bytes. */
static struct vcm_slice take_character(struct reader *reader)
{
    size_t rest = (size_t)(reader->end - reader->at);
    size_t len = rest > 0 ? vcm_utf8_sequence_length((unsigned char)*reader->at) : 0;

    len = len < rest ? len : rest;
    reader->at += len;
    return vcm_slice_of(reader->at - len, len);
}

/* "{2,5}" behind an atom; false when the brace is text. */
static bool read_braces(enum times *times, struct reader *reader)
{
    const char *at = reader->at + 1;
    size_t digits = 0;
    bool least = false;

    for (; at < reader->end && isdigit((unsigned char)*at); at++, digits++)
        least |= *at != '0';
    if (at < reader->end && *at == ',')
        for (at++; at < reader->end && isdigit((unsigned char)*at); at++)
            continue;
    if (digits == 0 || at == reader->end || *at != '}') {
        /* What else is a count depends on the version of the library. */
        reader->is_lost |= at > reader->at + 1 || (at < reader->end && isspace((unsigned char)*at));
        return false;
    }
    *times = least ? AT_LEAST_ONCE : MAYBE;
    reader->at = at + 1;
    return true;
}

static enum times read_times(struct reader *reader)
{
    enum times times = ONCE;

    if (reader->at == reader->end)
        return times;
    if (*reader->at == '{') {
        if (!read_braces(&times, reader))
            return times;
    } else if (strchr("?*+", *reader->at)) {
        times = *reader->at++ == '+' ? AT_LEAST_ONCE : MAYBE;
    } else {
        return times;
    }
    if (skip(reader, '+'))
        reader->is_plain = false; /* possessive */
    else
        skip(reader, '?');
    return times;
}

static void add_text(struct part *part, struct reader *reader, struct vcm_slice text)
{
    enum times times = read_times(reader);
    bool varies = reader->ignore_case &&
                  (text.len > 1 || isalpha((unsigned char)text.data[0]) || (text.data[0] & 0x80));

    if (times == MAYBE || varies)
        end_run(part);
    else
        vcm_buf_append_slice(&part->run, text);
    if (times == AT_LEAST_ONCE)
        end_run(part);
    part->is_text = part->is_text && times == ONCE && !varies;
}

/* An atom that stands for one of several texts. */
static void add_other(struct part *part, struct reader *reader)
{
    read_times(reader);
    end_run(part);
    part->is_text = false;
}

/* "[^]a-z[:alpha:]\]]": the bracket that closes it is the first that is neither first nor escaped
 * nor of a named class. */
static void read_class(struct part *part, struct reader *reader)
{
    skip(reader, '^');
    skip(reader, ']');
    while (reader->at < reader->end && *reader->at != ']') {
        if (*reader->at == '\\' && reader->end - reader->at > 1) {
            if (reader->at[1] == 'Q')
                reader->is_lost = true;
            reader->at += 2;
        } else if (*reader->at == '[' && reader->end - reader->at > 1 &&
                   strchr(":.=", reader->at[1])) {
            /* A named class; a bracket by itself otherwise. */
            const char *close = memchr(reader->at, ']', (size_t)(reader->end - reader->at));
            reader->at = close && close[-1] == reader->at[1] ? close + 1 : reader->at + 1;
        } else {
            reader->at++;
        }
    }
    if (!skip(reader, ']'))
        reader->is_lost = true;
    add_other(part, reader);
}

static void skip_braces(struct reader *reader)
{
    if (!skip(reader, '{'))
        return;
    while (reader->at < reader->end && !skip(reader, '}'))
        reader->at++;
}

static void read_escape(struct part *part, struct reader *reader)
{
    char c = reader->at < reader->end ? *reader->at++ : '\0';

    if (c == '\0' || strchr("QEKCGgkcoN0123456789", c)) {
        reader->is_lost = true;
    } else if (strchr("bBAzZ", c)) {
        part->is_text = false;
        reader->is_plain &= c == 'b' || c == 'B';
    } else if (c == 'n') {
        reader->has_line_break = true;
    } else if (c == 't') {
        add_text(part, reader, vcm_slice_of("\t", 1));
    } else if (c == 'x') {
        if (reader->at < reader->end && *reader->at == '{')
            skip_braces(reader);
        else
            for (int i = 0;
                 i < 2 && reader->at < reader->end && isxdigit((unsigned char)*reader->at); i++)
                reader->at++;
        add_other(part, reader);
    } else if (strchr("pP", c)) {
        if (reader->at < reader->end && *reader->at == '{')
            skip_braces(reader);
        else
            take_character(reader);
        add_other(part, reader);
    } else if (isalnum((unsigned char)c)) {
        reader->is_plain &= c != 'R' && c != 'X'; /* they do not give back what they took */
        add_other(part, reader);
    } else {
        reader->at--;
        add_text(part, reader, take_character(reader));
    }
}

static void read_part(struct part *out, struct reader *reader, unsigned depth);

static void read_group(struct part *part, struct reader *reader, unsigned depth)
{
    struct part inner;

    if (depth == DEPTH_MAX || (reader->at < reader->end && *reader->at == '*')) {
        reader->is_lost = true;
        return;
    }
    if (skip(reader, '?')) {
        bool named = skip(reader, 'P');
        if (skip(reader, '<') && reader->at < reader->end && !strchr("=!", *reader->at)) {
            while (reader->at < reader->end && !skip(reader, '>'))
                reader->at++;
        } else if (named || !skip(reader, ':')) {
            reader->is_lost = true;
            return;
        }
    }
    part_init(&inner);
    read_part(&inner, reader, depth + 1);
    if (!skip(reader, ')'))
        reader->is_lost = true;
    enum times times = read_times(reader);
    if (times == ONCE && inner.is_text) {
        vcm_buf_append_slice(&part->run, vcm_buf_slice(&inner.run));
    } else {
        end_run(part);
        end_run(&inner);
        if (times != MAYBE && inner.best.len > part->best.len) {
            vcm_buf_clear(&part->best);
            vcm_buf_append_slice(&part->best, vcm_buf_slice(&inner.best));
        }
        part->is_text = false;
    }
    part_release(&inner);
}

static void read_atom(struct part *part, struct reader *reader, unsigned depth)
{
    unsigned char c = (unsigned char)*reader->at;

    if (c == '(') {
        reader->at++;
        read_group(part, reader, depth);
    } else if (c == '[') {
        reader->at++;
        read_class(part, reader);
    } else if (c == '\\') {
        reader->at++;
        read_escape(part, reader);
    } else if (c == '.') {
        reader->at++;
        add_other(part, reader);
    } else if (c == '^' || c == '$') {
        reader->at++;
        read_times(reader);
        part->is_text = false;
    } else {
        reader->has_line_break |= c == '\n';
        add_text(part, reader, take_character(reader));
    }
}

/* Reads alternatives up to the bracket that closes them, or to the end. Several have no text in
 * common that is looked for. */
static void read_part(struct part *out, struct reader *reader, unsigned depth)
{
    bool several = false;

    while (!reader->is_lost && reader->at < reader->end && *reader->at != ')') {
        if (skip(reader, '|'))
            several = true;
        else
            read_atom(out, reader, depth);
    }
    if (several) {
        vcm_buf_clear(&out->run);
        vcm_buf_clear(&out->best);
        out->is_text = false;
    }
}

void vcm_regex_literal_find(struct vcm_regex_literal *out, struct vcm_slice pattern,
                            bool ignore_case)
{
    struct reader reader = {.at = pattern.data,
                            .end = pattern.data + pattern.len,
                            .ignore_case = ignore_case,
                            .is_plain = true};
    struct part part;

    *out = (struct vcm_regex_literal){.is_whole = false};
    vcm_buf_init(&out->text, VCM_LIMIT_PATTERN_BYTES);
    part_init(&part);
    read_part(&part, &reader, 0);
    end_run(&part);
    out->has_line_break = reader.has_line_break;
    if (!reader.is_lost && reader.at == reader.end) {
        vcm_buf_append_slice(&out->text, vcm_buf_slice(&part.best));
        out->is_whole = part.is_text && part.best.len > 0;
        out->is_plain = reader.is_plain;
    }
    part_release(&part);
}

void vcm_regex_literal_release(struct vcm_regex_literal *literal)
{
    vcm_buf_release(&literal->text);
}
