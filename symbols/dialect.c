#include "symbols/dialect.h"

#include "symbols/qualifier.h"
#include "symbols/snippet.h"

#include "base/banned.h"

#define USE_DEPTH_MAX 16             /* groups in groups */
#define USE_BYTES_MAX ((size_t)4096) /* of a "use"; what is beyond is left out */

bool vcm_dialect_has(enum vcm_language language, enum vcm_dialect_habit habit)
{
    static const unsigned habits[VCM_LANGUAGE_COUNT] = {
        [VCM_LANGUAGE_BASH] = VCM_HABIT_SETS,
        [VCM_LANGUAGE_C] = VCM_HABIT_TAGS,
        [VCM_LANGUAGE_C_SHARP] = VCM_HABIT_RECORDS,
        [VCM_LANGUAGE_CPP] = VCM_HABIT_TAGS | VCM_HABIT_HIDES | VCM_HABIT_BASES,
        [VCM_LANGUAGE_ELIXIR] = VCM_HABIT_CLAUSES,
        [VCM_LANGUAGE_HASKELL] = VCM_HABIT_CLAUSES | VCM_HABIT_PARTS | VCM_HABIT_NAMELESS,
        [VCM_LANGUAGE_JAVA] = VCM_HABIT_RECORDS,
        [VCM_LANGUAGE_JAVASCRIPT] = VCM_HABIT_PROMOTES | VCM_HABIT_NAMELESS,
        [VCM_LANGUAGE_JULIA] = VCM_HABIT_CALLS_TYPES,
        [VCM_LANGUAGE_LUA] = VCM_HABIT_SETS,
        [VCM_LANGUAGE_OCAML] = VCM_HABIT_SIGNATURES,
        [VCM_LANGUAGE_PHP] = VCM_HABIT_PROMOTES,
        [VCM_LANGUAGE_PYTHON] = VCM_HABIT_ASSIGNS,
        [VCM_LANGUAGE_RUBY] = VCM_HABIT_MIXES_IN,
        [VCM_LANGUAGE_SQL] = VCM_HABIT_SCHEMAS,
        [VCM_LANGUAGE_TSX] = VCM_HABIT_PROMOTES | VCM_HABIT_NAMELESS,
        [VCM_LANGUAGE_TYPESCRIPT] = VCM_HABIT_PROMOTES | VCM_HABIT_NAMELESS,
    };

    return (habits[language] & (unsigned)habit) != 0;
}

/* Those of one declaration from `first` on begin where their head does. */
static void take_head(struct vcm_finds *blocks, size_t first, const struct vcm_find *head)
{
    const struct vcm_find block = blocks->items[first];

    for (size_t i = first;
         i < blocks->count && vcm_weave_finds_have_same_span(&block, &blocks->items[i]); i++) {
        blocks->items[i].start = head->start;
        blocks->items[i].line = head->line;
    }
}

void vcm_dialect_join_heads(struct vcm_finds *blocks)
{
    struct vcm_find head = {.role = VCM_ROLE_NONE}; /* of what was kept last */
    size_t kept = blocks->count;

    /* A head may have a head: what is in both is only touched once. */
    for (size_t i = blocks->count; i > 0; i--) {
        struct vcm_find block = blocks->items[i - 1];
        const struct vcm_find *next = head.role == VCM_ROLE_HEAD ? &head
                                      : kept < blocks->count     ? &blocks->items[kept]
                                                                 : NULL;
        if (block.role == VCM_ROLE_HEAD && next && next->start < block.end &&
            blocks->items[kept].role == VCM_ROLE_DEFINE) {
            head = block;
            continue;
        }
        if (head.role == VCM_ROLE_HEAD)
            take_head(blocks, kept, &head);
        head.role = VCM_ROLE_NONE;
        if (block.role == VCM_ROLE_HEAD)
            block.role = VCM_ROLE_REGION;
        blocks->items[--kept] = block;
    }
    if (head.role == VCM_ROLE_HEAD)
        take_head(blocks, kept, &head);
    blocks->count -= kept;
    if (kept > 0)
        memmove(blocks->items, blocks->items + kept, blocks->count * sizeof *blocks->items);
}

void vcm_dialect_put_container(struct vcm_buf *out, enum vcm_language language,
                               struct vcm_slice container)
{
    unsigned depth = 0;

    if (language != VCM_LANGUAGE_CPP) {
        vcm_buf_append_slice(out, container);
        return;
    }
    for (size_t i = 0; i < container.len; i++) {
        char c = container.data[i];
        bool scope = c == ':' && i + 1 < container.len && container.data[i + 1] == ':';
        depth += c == '<';
        if (depth == 0 && (scope || !strchr(": \t\r\n", c)))
            vcm_buf_append_byte(out, scope ? '.' : c);
        depth -= c == '>' && depth > 0;
    }
}

bool vcm_dialect_is_constructor(enum vcm_language language, const struct vcm_find *found,
                                struct vcm_slice name, struct vcm_slice type)
{
    const char *arguments = type.len > 0 ? memchr(type.data, '<', type.len) : NULL;

    if (language != VCM_LANGUAGE_CPP ||
        (found->detail != VCM_SYMBOL_FUNCTION && found->detail != VCM_SYMBOL_METHOD))
        return false;
    if (arguments)
        type.len = (size_t)(arguments - type.data);
    return type.len > 0 && vcm_slice_equal(vcm_qualifier_pop(&type), name);
}

bool vcm_dialect_is_keyword(enum vcm_language language, struct vcm_slice name,
                            enum vcm_symbol_use use)
{
    /* Macros of C take types too, which is no syntax: "container_of(a, struct b, c)". */
    static const char *const of_c[] = {"struct", "const", "union", "enum", "unsigned", "volatile"};
    bool has_self = language == VCM_LANGUAGE_RUST || language == VCM_LANGUAGE_SWIFT;

    for (size_t i = 0; vcm_language_is_c(language) && i < sizeof of_c / sizeof of_c[0]; i++)
        if (name.data[0] == of_c[i][0] && vcm_slice_equal(name, vcm_slice_of_string(of_c[i])))
            return true;
    if (has_self && use == VCM_SYMBOL_READ && vcm_slice_equal(name, vcm_slice_of("Self", 4)))
        return true;
    return vcm_slice_equal(name, vcm_slice_of("_", 1)) &&
           (has_self || language == VCM_LANGUAGE_GO || language == VCM_LANGUAGE_ZIG);
}

bool vcm_dialect_is_implied(enum vcm_language language, struct vcm_slice name, bool in_field)
{
    static const struct {
        const char *name;
        enum vcm_language language;
        bool in_field; /* only there */
    } implied[] = {
        {"it", VCM_LANGUAGE_KOTLIN, false},      {"_", VCM_LANGUAGE_KOTLIN, false},
        {"field", VCM_LANGUAGE_KOTLIN, true},    {"_", VCM_LANGUAGE_SCALA, false},
        {"value", VCM_LANGUAGE_C_SHARP, true},   {"_", VCM_LANGUAGE_C_SHARP, false},
        {"it", VCM_LANGUAGE_RUBY, false},        {"newValue", VCM_LANGUAGE_SWIFT, false},
        {"oldValue", VCM_LANGUAGE_SWIFT, false},
    };

    if (language == VCM_LANGUAGE_SWIFT && name.len > 1 && name.data[0] == '$' &&
        name.data[1] >= '0' && name.data[1] <= '9')
        return true;
    for (size_t i = 0; i < sizeof implied / sizeof implied[0]; i++)
        if (implied[i].language == language &&
            vcm_slice_equal(name, vcm_slice_of_string(implied[i].name)) &&
            (!implied[i].in_field || in_field))
            return true;
    return false;
}

/* "a::b" before the "::" that ends at `end`; *end moves to its beginning. */
static struct vcm_slice path_before(struct vcm_slice text, size_t *end)
{
    size_t stop = *end, start;

    while (stop > 0 && (vcm_snippet_is_blank(text.data[stop - 1]) || text.data[stop - 1] == ':'))
        stop--;
    for (start = stop; start > 0 && !vcm_snippet_is_blank(text.data[start - 1]) &&
                       !strchr("{,;", text.data[start - 1]);)
        start--;
    *end = start;
    struct vcm_slice path = vcm_slice_of(text.data + start, stop - start);
    return vcm_slice_equal(path, vcm_slice_of("use", 3)) ? vcm_slice_of("", 0) : path;
}

/* The beginning of the group that `at` is in, which is a place in a "use"; 0 when it is in none,
 * and when it is not found. */
static size_t group_around(bool *found, struct vcm_slice text, size_t at)
{
    size_t depth = 0, stop = at > USE_BYTES_MAX ? at - USE_BYTES_MAX : 0;

    for (; at > stop && text.data[at - 1] != ';'; at--) {
        if (text.data[at - 1] == '{' && depth-- == 0)
            return at - 1;
        depth += text.data[at - 1] == '}';
        if (at >= 4 && depth == 0 && memcmp(text.data + at - 4, "use ", 4) == 0)
            break;
    }
    *found = at > stop || stop == 0;
    return 0;
}

/* The modules that a group is in, outermost first, and its own; nothing when there are too many. */
static void put_path(struct vcm_buf *out, struct vcm_slice text, size_t group)
{
    struct vcm_slice parts[USE_DEPTH_MAX];
    size_t count = 0;
    bool found = true;

    for (size_t at = group; at > 0; at = group_around(&found, text, at)) {
        if (count == USE_DEPTH_MAX)
            return;
        parts[count++] = path_before(text, &at);
    }
    if (!found)
        return;
    for (; count > 0; count--) {
        if (out->len > 0 && parts[count - 1].len > 0)
            vcm_buf_append_string(out, "::");
        vcm_buf_append_slice(out, parts[count - 1]);
    }
}

/* One line, since a name may go on in the next: "a as b". */
static void put_words(struct vcm_buf *out, struct vcm_slice words)
{
    for (size_t i = 0; i < words.len; i++)
        if (!vcm_snippet_is_blank(words.data[i]))
            vcm_buf_append_byte(out, words.data[i]);
        else if (!vcm_snippet_is_blank(words.data[i - 1]))
            vcm_buf_append_byte(out, ' ');
}

/* The names of a group, without those of groups in it. */
static void put_group(struct vcm_buf *out, struct vcm_slice inside)
{
    size_t depth = 0, first = 0, end = inside.len < USE_BYTES_MAX ? inside.len : USE_BYTES_MAX;
    bool plain = true;

    /* Where it is cut off there is no whole name. */
    for (size_t i = 0; i < end || i == inside.len; i++) {
        char c = i < inside.len ? inside.data[i] : ',';
        plain = plain && c != '{';
        depth += c == '{';
        depth -= c == '}' && depth > 0;
        if (c != ',' || depth > 0)
            continue;
        struct vcm_slice name = vcm_snippet_trim(vcm_slice_of(inside.data + first, i - first));
        plain = plain && name.len > 0 && !memmem(name.data, name.len, "//", 2);
        if (plain && out->len > 0)
            vcm_buf_append_string(out, ", ");
        if (plain)
            put_words(out, name);
        plain = true;
        first = i + 1;
    }
}

bool vcm_dialect_read_use(struct vcm_buf *target, struct vcm_buf *names, struct vcm_slice text,
                          size_t start, size_t end)
{
    struct vcm_slice whole = vcm_slice_of(text.data + start, end - start);
    const char *open = memchr(whole.data, '{', whole.len);

    if (open && whole.data[whole.len - 1] == '}') {
        put_path(target, text, (size_t)(open - text.data));
        put_group(names, vcm_slice_of(open + 1, whole.len - (size_t)(open + 1 - whole.data) - 1));
        return true;
    }
    const char *as = memmem(whole.data, whole.len, " as ", 4);
    size_t len = as ? (size_t)(as - whole.data) : whole.len;
    put_words(target, vcm_snippet_trim(vcm_slice_of(whole.data, len)));
    if (as)
        put_words(names, vcm_snippet_trim(vcm_slice_of(as + 4, whole.len - len - 4)));
    return false;
}
