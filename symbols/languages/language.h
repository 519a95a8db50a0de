/*
 * language.h - the languages that symbols are read from, and what is particular about each.
 *
 * A language is one constant struct vcm_language_descriptor, in the file of its language or family
 * in this folder, with its query (<name>.scm) beside it; languages.def lists them. Code outside of
 * this folder never asks which language a file is in: it asks the descriptor how the language does
 * things. A field that is not set says that the language does what most do.
 * Constants other than languages begin with VCM_LANGUAGES_: a search for VCM_LANGUAGE_ finds the
 * places that name a language, and they are all in this folder and in tests.
 * Descriptors are constant: any thread may read them.
 */
#ifndef VCM_SYMBOLS_LANGUAGES_LANGUAGE_H
#define VCM_SYMBOLS_LANGUAGES_LANGUAGE_H

#include "symbols/symbol.h"

/* The numbers are stored; languages.def says how they are given. */
enum vcm_language {
    VCM_LANGUAGE_NONE = 0, /* no language that symbols are read from */
#define LANGUAGE(upper, descriptor, grammar) VCM_LANGUAGE_##upper,
#include "symbols/languages/languages.def"
#undef LANGUAGE
    VCM_LANGUAGES_COUNT,
};

struct TSLanguage;
struct vcm_language_descriptor;

/* How comments are written; NULL where the language has no such comments. */
struct vcm_language_comments {
    const char *line, *open, *close;
    const char *strip;      /* characters taken off the beginning of each line; NULL: the usual */
    const char *leads;      /* characters of which one may follow these: "|" of Haskell's "-- |" */
    const char *about_file; /* begins a comment on the file, not on what follows: "//!" */
    /* A comment behind a field, in its line, begins and ends with these. */
    const char *remark_open, *remark_close;
    bool follow;          /* a comment may follow the definition that it is about */
    bool begin_bodies;    /* a string with which a body begins is a comment */
    const char *keyword;  /* that must stand before this string, behind "do"; NULL: none */
    bool begin_with_call; /* documentation begins with an indented call, which is left out */
    bool have_elements;   /* "<summary>An item.</summary>" */
    /* Whether a line is a string that documents what follows; NULL: there are no such lines. */
    bool (*is_string)(struct vcm_slice line);
};

#define VCM_LANGUAGES_SLASH_COMMENTS .line = "//", .open = "/*", .close = "*/"

/* How the head of a definition is written, from which its signature is made. */
struct vcm_language_head {
    bool annotations;     /* may have lines and braces before the name */
    bool type_parameters; /* stand in braces: a brace does not begin the body */
    bool end_keyword;     /* a body in one line ends with "end" */
    bool hash_comments;   /* may stand in the head, which goes on while a bracket is open */
    bool dash_comment;    /* may stand between head and body: the signature ends before it */
};

/* What a dot between two words joins. */
enum vcm_language_dot {
    VCM_LANGUAGES_DOT_NAME,    /* a name to a module, a type or a value */
    VCM_LANGUAGES_DOT_OBJECT,  /* a member to a value */
    VCM_LANGUAGES_DOT_CAPITAL, /* a name to a module, if that has a capital and no blanks follow */
    VCM_LANGUAGES_DOT_NONE,    /* nothing */
};

/* How names are qualified, and what their qualifiers mean. */
struct vcm_language_qualifiers {
    enum vcm_language_dot dot;
    bool scope_mark;          /* "::" joins names, and is no type, cast, cons or label */
    bool arrow;               /* "->" joins a member to a value */
    bool arrow_types;         /* "->" may stand before the type of a function, behind a blank */
    bool colon;               /* ":" joins a method to a value */
    const char *object_marks; /* single characters that join a member to a value */
    char name_mark;           /* a character that names may have beside letters, digits and "_" */
    char variable_mark;       /* a character before what is a variable, and no module or type */
    bool capitals;            /* modules and types begin with a capital, and nothing else does */
    bool dollar_variables;    /* "$name" is a variable, "self::$name" a member */
    bool macro_mark;          /* "@" stands between the qualifier and the name of a macro */
    bool argument_scopes;     /* "f ::A" passes A of the outermost scope */
    bool implied_types;       /* ".open" leaves its type out */
    bool module_words;        /* "self::", "super::" and "crate::" name modules */
    bool receivers;           /* the head of a method names the object: "func (s *Shop) total" */
    const char *self[4];      /* words for the object or its type */
    const char *super;        /* the word for what the type inherits from */
};

/* Where the words of an import are turned into a path. */
enum vcm_language_path {
    VCM_LANGUAGES_PATH_OF_NAMES, /* names with marks between them: "a.b", "a::b" */
    VCM_LANGUAGES_PATH_WRITTEN,  /* a path is written: "a/b.h" */
    VCM_LANGUAGES_PATH_EITHER,   /* a path when it has a dot and no backslash, else names */
};

/* How the name of a file follows from that of its module. */
enum vcm_language_file_case {
    VCM_LANGUAGES_CASE_KEPT,
    VCM_LANGUAGES_CASE_SNAKE,       /* BigShop is in big_shop.ex */
    VCM_LANGUAGES_CASE_LOWER_FIRST, /* Shop is in shop.ml */
};

/* Which modules a qualifier may name without an import. */
enum vcm_language_modules {
    VCM_LANGUAGES_MODULES_IMPORTED, /* none */
    VCM_LANGUAGES_MODULES_BY_PATH,  /* those that are named with more than one word */
    VCM_LANGUAGES_MODULES_ALL,
};

/* How the file is found that an import means. */
enum vcm_language_finder {
    VCM_LANGUAGES_FIND_BY_END, /* its path ends with the words of the import */
    VCM_LANGUAGES_FIND_NODE,   /* as Node and TypeScript do (find_node.h) */
    VCM_LANGUAGES_FIND_PYTHON, /* as Python does (find_python.h) */
    VCM_LANGUAGES_FIND_GO,     /* by the path of a module that go.mod names, if there is one */
};

/* Which names other files can import from a file, beside those that it defines. */
enum vcm_language_exports {
    VCM_LANGUAGES_EXPORTS_NONE,  /* none */
    VCM_LANGUAGES_EXPORTS_GIVEN, /* those that it says */
    VCM_LANGUAGES_EXPORTS_ALL,   /* all that it imports */
};

/* Where a file is that an import may mean, seen from the file that imports. */
struct vcm_language_place {
    bool beside;  /* in the same directory */
    bool itself;  /* the importing file */
    size_t depth; /* directories above it */
};

/* How imports are written, which files they mean, and which names they bring. */
struct vcm_language_imports {
    /* Appends the name that stands for the module whose import has its target at [start, end):
     * nothing when the target's own words do, "-" when no name does. True when it is a list of
     * names in the module instead, "a, b as c" or "*"; with ">" before it the file passes them on
     * to others, and has none of them itself. NULL: imports give no names. */
    bool (*read_names)(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                       struct vcm_slice text, size_t start, size_t end);
    /* Where the target has to be made from the text: appends the module of the import at
     * [start, end), and its names as above. NULL: the target is what the query captured. */
    bool (*read_use)(struct vcm_buf *target, struct vcm_buf *names, struct vcm_slice text,
                     size_t start, size_t end);
    bool lists;          /* one statement may have several imports */
    bool targets_expand; /* names in a target are uses: "$(dirname "$0")/lib.sh" */

    enum vcm_language_finder finder;
    enum vcm_language_exports exports;
    bool typed_first; /* of files that differ in their ending, those with types are meant */
    enum vcm_language_path path;
    enum vcm_language_file_case file_case;
    const char *const *roots; /* what a path may begin with that names no file; ends with NULL */
    const char *separator;    /* between the words of a module; NULL: "." */
    bool directories;         /* an import names a directory, by the end of its path or more */
    bool single_words;        /* one word of a path is enough to name a file */
    bool file_per_name;       /* a name of a package is in a file by that name */
    bool family;              /* files of all languages of the family are imported */
    bool opens_hide;          /* what a file opens may hide the module beside it */
    /* Whether the file is meant, and no module of the language or of another package that has the
     * same name. NULL: yes. */
    bool (*means_file)(struct vcm_slice target, const struct vcm_language_place *place);

    enum vcm_language_modules modules;
    bool submodules;    /* a name that is imported may be a module */
    bool keep_own_name; /* a module keeps its own name where names in it are imported */
    bool last_word;     /* a module's name is the last word of its path */
    /* Whether the name can be used without the module's. NULL: yes. */
    bool (*brings_name)(const struct vcm_symbol_import *import, struct vcm_slice name);
    /* Whether the import gives this name to what it imports; *joined when it is a module in that.
     * NULL: by the fields above. */
    bool (*gives_name)(bool *joined, const struct vcm_symbol_import *import, struct vcm_slice name);
};

/* How far a name reaches without an import. */
enum vcm_language_reach {
    VCM_LANGUAGES_REACH_REPOSITORY,
    VCM_LANGUAGES_REACH_DIRECTORY,
    VCM_LANGUAGES_REACH_FILE,
};

/* What a call says when the name is that of a type. */
enum vcm_language_call {
    VCM_LANGUAGES_CALL_CONVERTS, /* the type is meant; whether an object is made is not known */
    VCM_LANGUAGES_CALL_MAKES,    /* an object of the type is made */
    VCM_LANGUAGES_CALL_OF_CLASS, /* as CONVERTS of a class; another type is not meant */
    VCM_LANGUAGES_CALL_NEVER,    /* functions have names of their own: a type is not meant */
};

/* From where a definition is seen, and what a name means (reach.h, resolve.c, graph_build.c). */
struct vcm_language_names {
    enum vcm_language_reach reach;
    enum vcm_language_call call;
    bool members_qualified; /* a member is only reached through its object */
    bool closed;            /* what is in a function or module is seen from inside of it alone */
    bool private_to_file;   /* what is private is seen in its file alone */
    bool spread_types;      /* a type's members may be in other files than the type */
    bool open_types;        /* a type may be written in several files */
    bool partial_paths;     /* a qualifier may have more words than the container is known by */
    bool global_modules; /* a module is known everywhere by its whole name; functions are in it */
    bool outer_constructors; /* a function beside a type, by its name, makes objects of it */
    bool headers;            /* a definition without linkage in a source is seen by no other file */
    bool only_members;       /* every qualified name is a member of some object */
    bool types_apart;        /* what stands in the place of a type is nothing else */
    bool overloads;          /* one name may be written several times in its container */
    bool merges;             /* these may be of different kinds */
};

/* A local name that is there without a declaration. */
struct vcm_language_implied {
    const char *name;
    bool in_field; /* only in what reads and writes a field */
};

/* What the definitions of a file mean where the tree does not tell (weave.c and its parts). */
struct vcm_language_definitions {
    bool tags;                   /* types have tags, and macros are in no container */
    bool classes_hide;           /* what a class holds is private until a word says otherwise */
    bool base_initialisers;      /* a constructor initialises bases as it does members */
    bool self_fields;            /* a method defines fields by assigning to them */
    bool clauses;                /* a function is written as several, one behind the other */
    bool record_heads;           /* fields in a type's head are public */
    bool promoted_parameters;    /* a constructor's parameter may be a field of the type */
    bool mixins;                 /* modules have methods, and blocks no names of their own */
    bool schemas;                /* what stands before a function is no type */
    bool signatures;             /* what the signature of a module has is public */
    bool exported_parts;         /* parts of types are exported one by one */
    bool nameless_methods;       /* methods at the top are those of an object without a name */
    bool first_assignment;       /* the first assignment of a variable or field defines it */
    bool first_setting;          /* the first assignment of a variable at the top defines it */
    bool maker_functions;        /* functions by the name of a type are its constructors */
    bool template_containers;    /* containers are written "a::B<T>" */
    bool named_constructors;     /* a function by the name of its type is a constructor */
    bool class_values_stay;      /* values of a class are not seen from its methods */
    bool trait_words;            /* members of traits have words for their visibility */
    bool private_enum_makers;    /* constructors of an enum are private */
    bool function_scopes;        /* what is in a function is private */
    bool self_type;              /* "Self" is no name that is read */
    bool blank;                  /* "_" is no name */
    bool self_object;            /* "self" alone is the object, and no name that is read */
    bool document_tags;          /* "<div>" is a tag of the document */
    bool numbered_arguments;     /* "$0" is a local name */
    const char *const *keywords; /* that look like names; ends with NULL */
    const struct vcm_language_implied *implied; /* ends with a name of NULL */
};

/* A word before the name of a definition that says who sees it. */
struct vcm_language_visibility_word {
    const char *text;
    enum vcm_symbol_visibility visibility;
};

#define VCM_LANGUAGES_WORDS_MAX 8

/* Who sees a definition: by the first word that stands before its name, else `hides`, else where it
 * is. */
struct vcm_language_visibility {
    struct vcm_language_visibility_word words[VCM_LANGUAGES_WORDS_MAX]; /* ends without a text */
    /* Whether it is private by its name or head. NULL: no. */
    bool (*hides)(const struct vcm_symbol *symbol, bool in_type);
    enum vcm_symbol_visibility at_top, in_type;
    bool members_follow; /* a word in a line of its own is about members of objects alone */
};

/* Where the body of a definition is in its tree, when no capture tells. */
enum vcm_language_body {
    VCM_LANGUAGES_BODY_FIELD,       /* the child in the field "body" */
    VCM_LANGUAGES_BODY_LAST,        /* one of the last children, by its kind */
    VCM_LANGUAGES_BODY_BEHIND_HEAD, /* of functions the second child */
};

/* What the grammar of a language leaves to us (tree_block.c, extractor.c, patterns.c). */
struct vcm_language_tree {
    enum vcm_language_body body;
    bool trailing_comments; /* a node takes in the comments up to the next: it ends before them */
    bool words_before;      /* keywords stand before the node of a binding: "let rec" */
    bool tuple_heads;       /* what is in brackets behind a type is no body */
    bool colon_names;       /* a colon at its beginning is part of a name */
    bool key_names;         /* a colon and blanks at its end are not */
    bool quoted_names;      /* quotes around a name are not */
    bool blank_types;       /* "_" is a type that is to be found out */
    bool dot_cases;         /* a name behind a dot in a pattern is a constant */
    const char *const *nested; /* kinds whose children are nested, unseen; ends with NULL */
};

#define VCM_LANGUAGES_STRINGS_MAX 2

/* What can be told of definitions from lines alone (enclosing.c, head.c). */
struct vcm_language_lines {
    const char *strings[VCM_LANGUAGES_STRINGS_MAX]; /* marks around strings of several lines */
    bool bare_functions; /* the head of a function has no keyword: "int f(int x)" */
    bool labels; /* labels, and directives behind "#", stand further left than what they are in */
};

#define VCM_LANGUAGES_ENDINGS_MAX 12
#define VCM_LANGUAGES_QUERIES_MAX 3

struct vcm_language_descriptor {
    const char *name;
    const char *endings[VCM_LANGUAGES_ENDINGS_MAX]; /* of file names, behind the last dot */
    const char *file_names[3];                      /* whole ones */
    enum vcm_language family; /* one of those that use each other's names; NONE: itself alone */
    const char *ctags_name;   /* by which ctags knows a language that it reads; else NULL */
    bool ctags_carries_over;  /* its parser in ctags needs a process for each file (ctags.c) */
    const struct TSLanguage *(*grammar)(void);      /* NULL of one that ctags reads */
    const char *queries[VCM_LANGUAGES_QUERIES_MAX]; /* read one behind the other */
    struct vcm_language_comments comments;
    struct vcm_language_head head;
    struct vcm_language_qualifiers qualifiers;
    struct vcm_language_imports imports;
    struct vcm_language_names names;
    struct vcm_language_definitions definitions;
    struct vcm_language_visibility visibility;
    struct vcm_language_tree tree;
    struct vcm_language_lines lines;
};

/* Those of the list, for the table of language.c alone. */
#define LANGUAGE(upper, descriptor, grammar) extern const struct vcm_language_descriptor descriptor;
#include "symbols/languages/languages.def"
#undef LANGUAGE

/* The descriptor of a number; one without a name of NONE and of numbers that are no language. */
const struct vcm_language_descriptor *vcm_language_get(enum vcm_language language);

/* "c", "c_sharp"; "" of what is no language. */
const char *vcm_language_name(enum vcm_language language);

/* Whether symbols are read from its files. */
bool vcm_language_is_known(enum vcm_language language);

/* How much is read from files of a language. */
enum vcm_language_level {
    VCM_LANGUAGES_ABSENT,
    VCM_LANGUAGES_DEFINITIONS,
    VCM_LANGUAGES_FULL, /* definitions, containers, references, imports, checked by a sample */
};

/* As far as it is built in; what ctags reads is absent where there is no ctags (ctags.h). */
enum vcm_language_level vcm_language_level(enum vcm_language language);

/* What reads it: "tree-sitter", "ctags". */
const char *vcm_language_source(enum vcm_language language);

/* The name by which ctags knows a language that is left to it; NULL for others. */
const char *vcm_language_ctags_name(enum vcm_language language);

/* Whether files of the one may use names of the other without more ado. */
bool vcm_language_are_kin(enum vcm_language a, enum vcm_language b);

/* By the last part of the path, with its case, as compilers and editors do. */
enum vcm_language vcm_language_of_path(struct vcm_slice path);

#endif
