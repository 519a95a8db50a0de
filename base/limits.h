/*
 * limits.h - the bounds on everything that comes from outside. Each number is defined once, here.
 */
#ifndef VCM_BASE_LIMITS_H
#define VCM_BASE_LIMITS_H

#define VCM_KIB ((size_t)1024)
#define VCM_MIB (1024 * VCM_KIB)
#define VCM_GIB (1024 * VCM_MIB)

/* Entries of a list in memory that has no limit of its own: a 32-bit index addresses all. */
#define VCM_LIMIT_LIST_ENTRIES ((size_t)1 << 30)

/* Paths and names. */
#define VCM_LIMIT_PATH_BYTES     ((size_t)4096)
#define VCM_LIMIT_NAME_BYTES     ((size_t)128) /* of a base scope or a row */
#define VCM_LIMIT_SCOPE_ID_BYTES ((size_t)266) /* base, colon, row, "@worktree" */
#define VCM_LIMIT_PREFIX_MIN     ((size_t)6)   /* shortest abbreviation of a page or scope */

/* Documents that we parse. */
#define VCM_LIMIT_JSON_BYTES   (256 * VCM_MIB)
#define VCM_LIMIT_JSON_DEPTH   64
#define VCM_LIMIT_JSON_NODES   ((size_t)32 * 1024 * 1024)
#define VCM_LIMIT_YAML_BYTES   (1 * VCM_MIB)
#define VCM_LIMIT_YAML_DEPTH   16
#define VCM_LIMIT_YAML_NODES   ((size_t)10000) /* keys not counted */
#define VCM_LIMIT_CONFIG_BYTES (64 * VCM_KIB)
#define VCM_LIMIT_PROBLEMS     1000u /* of a repo map that are reported one by one */

/* Files of a repository. */
#define VCM_LIMIT_FILE_BYTES        (32 * VCM_MIB)
#define VCM_LIMIT_BINARY_PROBE      ((size_t)8000) /* a NUL in these first bytes means binary */
#define VCM_LIMIT_TREE_DEPTH        1024
#define VCM_LIMIT_TREE_PATH_BYTES   ((size_t)1024 * 1024) /* of a path inside a tree */
#define VCM_LIMIT_TREE_PATH_MEAN    ((size_t)128)         /* bytes of all paths, by entry allowed */
#define VCM_LIMIT_DIRECTORY_ENTRIES 100000u               /* of a directory on disk */
#define VCM_LIMIT_TREE_ENTRIES      ((size_t)100 * 1000 * 1000) /* most of walk.max_entries */
#define VCM_LIMIT_GITMODULES_BYTES  (1 * VCM_MIB)
#define VCM_LIMIT_MANIFEST_BYTES    (256 * VCM_KIB) /* of .colony/manifest.json */
#define VCM_LIMIT_ATTRIBUTES_BYTES  (1 * VCM_MIB)   /* of a .gitattributes */
#define VCM_LIMIT_OBJECT_BYTES      (256 * VCM_MIB) /* of a loose object that is read whole */
#define VCM_LIMIT_BASE_CACHE_BYTES  (32 * VCM_MIB)  /* bases of deltas, of all readers together */
#define VCM_LIMIT_ALTERNATES        64 /* object directories beside a repository's own */
#define VCM_LIMIT_ALTERNATES_BYTES  (1 * VCM_MIB)
#define VCM_LIMIT_REF_FILES         1000000u /* in a git directory, packs among them */
#define VCM_LIMIT_GIT_CONFIG_BYTES  (16 * VCM_MIB)

/* The working tree. */
#define VCM_LIMIT_GIT_INDEX_BYTES  (1 * VCM_GIB)  /* of the index, which is read whole */
#define VCM_LIMIT_OVERLAY_BYTES    (16 * VCM_GIB) /* of the texts that a snapshot keeps on disk */
#define VCM_LIMIT_OVERLAY_ATTEMPTS 3u             /* at a file that changes while it is read */

/* Repositories elsewhere. */
#define VCM_LIMIT_URL_BYTES    ((size_t)4096)
#define VCM_LIMIT_FETCH_DEPTH  100000u        /* commits that are fetched for a name like v1~N */
#define VCM_LIMIT_REMOTE_REFS  (4 * VCM_MIB)  /* of the list of a remote's refs */
#define VCM_LIMIT_GIT_OUTPUT   (1 * VCM_MIB)  /* of what git writes to its standard error */
#define VCM_LIMIT_SECRET_BYTES ((size_t)4096) /* of a credential */
#define VCM_LIMIT_GIT_MEMORY   (2 * VCM_GIB)  /* of each git process, mapped packs not counted */
#define VCM_LIMIT_GIT_FETCH    (8 * VCM_GIB)  /* of a pack that is fetched */
#define VCM_LIMIT_PACKS        100000u        /* in one object directory */

/* Patterns and ignore files. */
#define VCM_LIMIT_GLOB_BYTES ((size_t)4096) /* of one pattern */
#define VCM_LIMIT_GLOBS      100000u        /* in one list */
/* Steps of all patterns in one walk: so many, and so many more for each path. A step compares a
 * pattern's beginning, or a byte of it. */
#define VCM_LIMIT_GLOB_STEPS        ((uint64_t)1000 * 1000 * 1000)
#define VCM_LIMIT_GLOB_STEPS_EACH   ((uint64_t)4096)
#define VCM_LIMIT_GLOB_STEPS_ONE    ((uint64_t)16 * 1000 * 1000) /* of one pattern and one path */
#define VCM_LIMIT_IGNORE_FILE_BYTES (1 * VCM_MIB)
#define VCM_LIMIT_IGNORE_BYTES      (16 * VCM_MIB) /* of the ignore files that hold at one place */

/* Searching texts. */
#define VCM_LIMIT_PATTERN_BYTES  ((size_t)4096) /* of a regular expression */
#define VCM_LIMIT_REGEX_STEPS    5000000u       /* of one expression in one line */
#define VCM_LIMIT_REGEX_DEPTH    100000u        /* of steps that may have to be taken back */
#define VCM_LIMIT_REGEX_HEAP_KIB 20480u
#define VCM_LIMIT_REGEX_STACK    (1 * VCM_MIB) /* of compiled expressions, for each thread */
#define VCM_LIMIT_GREP_MS        60000u        /* of one search */
#define VCM_LIMIT_GREP_LINE      ((size_t)512) /* bytes of a line that are shown */
#define VCM_LIMIT_GREP_CONTEXT   1000u         /* lines before and after a match */

/* Pages. */
#define VCM_LIMIT_FLUSH_THRESHOLD_MAX 100000
#define VCM_LIMIT_TOKEN_BUDGET_MIN    64
#define VCM_LIMIT_TOKEN_BUDGET_MAX    1000000
/* A token may have up to 256 bytes: these bound what a page takes in memory, whatever its budget.
 * Budgets up to 16,384 tokens never reach them. Mapping holds a few dozen pages at a time. */
#define VCM_LIMIT_PAGE_BYTES         (4 * VCM_MIB) /* of a text, escaped, and of records in one page */
#define VCM_LIMIT_RECORD_BYTES       (12 * VCM_MIB) /* with its path, which alone may have 6 MiB */
#define VCM_LIMIT_ANSWER_TOKENS_MAX  1000000000     /* that a caller asks for */
#define VCM_LIMIT_ANSWER_ROWS        10000000       /* of a listing, that a caller asks for */
#define VCM_LIMIT_CONTEXT_LINE_BYTES ((size_t)512)  /* of the line shown above a later part */
#define VCM_LIMIT_FRAME_BYTES        (256 * VCM_MIB)

/* Documents: literature and the knowledge base. */
#define VCM_LIMIT_INGEST_ENTRIES      100000u /* of the directories that one call goes through */
#define VCM_LIMIT_INGEST_DEPTH        64u
#define VCM_LIMIT_DOCUMENT_BYTES      (256 * VCM_MIB)
#define VCM_LIMIT_DOCUMENT_TEXT_BYTES (256 * VCM_MIB)
#define VCM_LIMIT_DOCUMENT_HEADINGS   ((size_t)100000) /* that make sections */
#define VCM_LIMIT_DOCUMENT_PAGES      ((size_t)50000)
#define VCM_LIMIT_DOCUMENT_CHUNKS     ((size_t)1000000)
#define VCM_LIMIT_CHUNKED_BYTES       ((size_t)2 * VCM_GIB) /* of one document's chunks, overlaps too */
#define VCM_LIMIT_HEADING_BYTES       ((size_t)256)         /* of a title; what is longer is cut */
#define VCM_LIMIT_HEADING_LEVELS      16
#define VCM_LIMIT_HITS                1000u /* of a search */

/* Symbols of a file, and the map of a repository. */
#define VCM_LIMIT_SYMBOLS_FILE_BYTES ((size_t)2 * VCM_MIB)   /* larger files are not parsed */
#define VCM_LIMIT_SYMBOLS_BYTES      ((size_t)256 * VCM_MIB) /* of one file's symbols */
#define VCM_LIMIT_SYMBOLS_COUNT      ((size_t)200000) /* definitions, and references, of a file */
#define VCM_LIMIT_SYMBOLS_STEPS      100000u          /* hundreds of steps of the parser */
/* How much the parser of a file reads, with repeated lookahead, and how much memory it requests. */
#define VCM_LIMIT_SYMBOLS_READ_BYTES  ((uint64_t)16 * VCM_MIB)
#define VCM_LIMIT_SYMBOLS_READ_TIMES  256u /* times the file's size, in addition */
#define VCM_LIMIT_SYMBOLS_ASKED_BYTES ((uint64_t)64 * VCM_MIB)
#define VCM_LIMIT_SYMBOLS_ASKED_TIMES 512u
/* Steps of the parser and the query cursor as grammars/core.c counts them: a step takes a few
 * nanoseconds. */
#define VCM_LIMIT_SYMBOLS_WORK        ((uint64_t)200 * 1000 * 1000)
#define VCM_LIMIT_SYMBOLS_WORK_TIMES  512u   /* times the file's size, in addition */
#define VCM_LIMIT_CTAGS_TIMEOUT_MS    60000u /* for one file; the processor's time is what counts */
#define VCM_LIMIT_CTAGS_CPU_SECONDS   10u
#define VCM_LIMIT_CTAGS_MEMORY_BYTES  ((size_t)512 * VCM_MIB)
#define VCM_LIMIT_CTAGS_OUTPUT_BYTES  ((size_t)64 * VCM_MIB)
#define VCM_LIMIT_CTAGS_SHARED_MS     5000u /* for a file in a process that reads several */
#define VCM_LIMIT_CTAGS_SHARED_FILES  512u  /* of such a process, which then ends */
#define VCM_LIMIT_CTAGS_SHARED_BYTES  ((size_t)16 * VCM_MIB)
#define VCM_LIMIT_SYMBOLS_PARSE_BYTES ((size_t)512 * VCM_MIB) /* of memory for one file's tree */
#define VCM_LIMIT_SYMBOLS_MEMOS       64u /* lists of files and graphs that are kept */
#define VCM_LIMIT_SYMBOLS_MEMO_BYTES  ((size_t)256 * VCM_MIB)
#define VCM_LIMIT_SIGNATURE_BYTES     ((size_t)240)
#define VCM_LIMIT_SYMBOL_NAME_BYTES   ((size_t)512)
#define VCM_LIMIT_SYMBOL_DEPTH        64 /* containers in each other that are named */

/* The program that reads PDFs. */
#define VCM_LIMIT_EXTRACT_TEXT_BYTES   (64 * VCM_MIB)
#define VCM_LIMIT_EXTRACT_OUTPUT_BYTES (96 * VCM_MIB)
#define VCM_LIMIT_EXTRACT_MEMORY_BYTES (1 * VCM_GIB) /* beside the document itself */
#define VCM_LIMIT_EXTRACT_CPU_SECONDS  20u           /* and 8 for each MiB of the document, */
#define VCM_LIMIT_EXTRACT_CPU_MAX      300u          /* but not more than this */

/* The store. */
#define VCM_LIMIT_STORE_BYTES     ((size_t)16 * 1024 * VCM_GIB)
#define VCM_LIMIT_READERS         1024
#define VCM_LIMIT_READER_WAIT_MS  3000u /* for a slot that another process does not use any more */
#define VCM_LIMIT_TABLES          32
#define VCM_LIMIT_LOCK_TIMEOUT_MS 10000u
#define VCM_LIMIT_BATCH_BYTES     (8 * VCM_MIB) /* written in one transaction */
#define VCM_LIMIT_BATCH_PAGES     4096u         /* or so many */
#define VCM_LIMIT_MAPPED_BYTES                                                                     \
    (48 * VCM_MIB) /* from files, the program among them, while mapping */
#define VCM_LIMIT_ROSTER_BYTES    (16 * VCM_MIB) /* of the list of scopes beside the store */
#define VCM_LIMIT_LISTING_ROWS    100000
#define VCM_LIMIT_LOCKS           100000u
#define VCM_LIMIT_LOCK_TTL_MS     (UINT64_C(87840) * 3600 * 1000) /* ten years, in hours */
#define VCM_LIMIT_VIEWS           1024u
#define VCM_LIMIT_RESIDENCY_BYTES (8 * VCM_GIB) /* of the shared file beside the store */

/* Compression. */
#define VCM_LIMIT_DICTIONARY_BYTES     (112 * VCM_KIB)
#define VCM_LIMIT_DICTIONARY_BYTES_MIN (4 * VCM_KIB) /* less than this does not pay */
#define VCM_LIMIT_DICTIONARY_SAMPLES   (4 * VCM_MIB) /* read to train one */

/* Watching a repository. */
#define VCM_LIMIT_WATCHES         8192u /* directories of refs that are watched */
#define VCM_LIMIT_WATCH_QUIET_MS  150u  /* a change is reported when none followed for this long, */
#define VCM_LIMIT_WATCH_BURST_MS  2000u /* or when the first is this long ago */
#define VCM_LIMIT_WATCH_RETURN_MS 1000u /* how often a repository that is missing is looked for */
#define VCM_LIMIT_WATCH_TICK_MS   250u  /* how often a waiting watch checks whether to stop */
/* Traces of page accesses. */
#define VCM_LIMIT_TRACE_BYTES    (1 * VCM_GIB)
#define VCM_LIMIT_TRACE_ACCESSES (16u * 1024 * 1024)
#define VCM_LIMIT_TRACE_PAGES    (4u * 1024 * 1024)

/* Serving. */
#define VCM_LIMIT_RPC_BYTES         (10 * VCM_MIB)  /* of a message on standard input */
#define VCM_LIMIT_RPC_ID_BYTES      ((size_t)256)   /* of an id or a progress token */
#define VCM_LIMIT_RPC_TREE_BYTES    (128 * VCM_MIB) /* of a parsed message */
#define VCM_LIMIT_MCP_ANSWER_BYTES  (64 * VCM_MIB)  /* of an answer */
#define VCM_LIMIT_MCP_CALLS         64u             /* under way at a time, over HTTP */
#define VCM_LIMIT_MCP_WAITING       1024u           /* of one client on standard input */
#define VCM_LIMIT_MCP_LISTENERS     1024u           /* subscriptions, of all clients */
#define VCM_LIMIT_MCP_SESSIONS      1024u           /* by initialize, over HTTP */
#define VCM_LIMIT_MCP_ASK_MS        60000u          /* for a client to answer a request of ours */
#define VCM_LIMIT_MCP_ROOTS         64u
#define VCM_LIMIT_HTTP_HEAD_BYTES   (32 * VCM_KIB)
#define VCM_LIMIT_HTTP_BODY_BYTES   (8 * VCM_MIB)
#define VCM_LIMIT_HTTP_CONNECTIONS  256u
#define VCM_LIMIT_HTTP_ARRIVAL_MS   30000u        /* for a request to arrive */
#define VCM_LIMIT_HTTP_IDLE_MS      60000u        /* between two requests, or without a reader */
#define VCM_LIMIT_HTTP_STREAM_BYTES (1 * VCM_MIB) /* of events that a client does not read */

/* Work. */
#define VCM_LIMIT_WORKERS          64u
#define VCM_LIMIT_SPAWN_TIMEOUT_MS 60000u

#endif
