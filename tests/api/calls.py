"""Writes a call of every exported function with each of its arguments wrong in turn.

usage: calls.py ROOT OUT

What is exported is in api/libvcm.map, how it is declared in the public headers. A pointer is NULL,
and in a struct that is passed, each string is NULL and then no UTF-8, each list NULL, or a list of
such, each function NULL. A second table has the calls that take a handle, with all arguments right.
What a right argument looks like is in tests/api/test_arguments.c, by the name of the struct or of
the parameter: what is new and has no example there does not compile.
"""

import glob
import os
import re
import sys

# Pointers that may be NULL, by the name of the parameter or of function and parameter.
OPTIONAL = {"context", "err", "format", "vcm_open.options", "vcm_locks.page", "vcm_lfs_pull.scope",
            "vcm_lock_extend.owner", "vcm_lock.visit", "vcm_unlock.visit", "vcm_evict.visit",
            "vcm_pin.visit", "vcm_unpin.visit", "vcm_unmap.visit", "vcm_tokens_count.encoding"}
# Members that may not be NULL, beside lists that are counted.
NEEDED = {"vcm_source_definition.name", "vcm_source_definition.open", "vcm_source_definition.walk",
          "vcm_source_definition.read", "vcm_source_definition.close",
          "vcm_map_options.repository", "vcm_materialize_options.origin_url",
          "vcm_mmap_options.scope_id", "vcm_mmap_options.origin_url", "vcm_watch_options.event",
          "vcm_map_query.repository", "vcm_directory_query.root", "vcm_directory_visitor.enter",
          "vcm_directory_visitor.leave", "vcm_init_options.directory", "vcm_coverage_query.scope",
          "vcm_find_query.path", "vcm_grep_query.pattern", "vcm_grep_visitor.match",
          "vcm_record_query.record", "vcm_page_query.page",
          "vcm_promote_options.repository", "vcm_kb_search_options.query",
          "vcm_top_options.visit", "vcm_trace_record_options.visit", "vcm_repo_fetch_options.url",
          "vcm_reference_query.name", "vcm_diff_query.range"}
# Strings that are paths in a file system, or may be: bytes, for the system to judge. And a page's
# bytes, or a text's, which are counted and no string.
PATHS = {"vcm_page.frame", "vcm_pages_query.repo", "vcm_find_query.repo", "vcm_tokens_count.text", "vcm_open_options.home", "vcm_map_options.repository",
         "vcm_materialize_options.origin_url", "vcm_mmap_options.origin_url",
         "vcm_map_query.repository", "vcm_map_query.origin_url", "vcm_directory_query.root",
         "vcm_init_options.directory", "vcm_lfs_status.repository", "vcm_tokens_query.paths",
         "vcm_kb_ingest_options.files", "vcm_kb_ingest_options.repository",
         "vcm_promote_options.repository", "vcm_kb_clear_options.repository",
         "vcm_trace_replay_file.path", "vcm_repo_fetch_options.url",
         "vcm_repo_fetch_options.subpath", "vcm_repo_fetch_options.dest",
         "vcm_repo_map_options.path", "vcm_symbol_query.path", "vcm_reference_query.path",
         "vcm_place_query.repo", "vcm_diff_query.repo", "vcm_read_query.what", "vcm_outline_query.what"}
# How what a function hands out is given back.
RELEASE = {"struct vcm": "vcm_close", "struct vcm_map_result": "vcm_map_result_free",
           "struct vcm_map_report": "vcm_map_report_free",
           "struct vcm_init_result": "vcm_init_result_free",
           "struct vcm_promote_result": "vcm_promote_result_free",
           "struct vcm_read_result": "vcm_read_free",
           "struct vcm_outline_result": "vcm_outline_free",
           "struct vcm_page": "vcm_page_release", "struct vcm_page_view": "vcm_page_view_release",
           "char": "free"}


def read(path):
    with open(path, encoding="utf-8") as file:
        return re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.DOTALL)


def flat(text):
    return " ".join(text.split())


class Header:
    """What the public headers declare."""

    def __init__(self, root):
        text = "".join(read(path) for path in [
            os.path.join(root, "base", "public.h"),
            *sorted(glob.glob(os.path.join(root, "api", "public", "*.h")))])
        self.structs = {name: self.members(body) for name, body in re.findall(
            r"^struct (\w+) \{\n(.*?)^\};", text, flags=re.DOTALL | re.MULTILINE)}
        self.callbacks = {name: (flat(kind), flat(parameters)) for kind, name, parameters in
                          re.findall(r"^typedef (\w+) \(\*(\w+)\)\((.*?)\);", text,
                                     flags=re.DOTALL | re.MULTILINE)}
        text = re.sub(r"^(struct|enum) \w+ \{.*?^\};", "", text, flags=re.DOTALL | re.MULTILINE)
        text = re.sub(r"^typedef .*?;", "", text, flags=re.DOTALL | re.MULTILINE)
        self.functions = {name: (flat(kind), self.parameters(parameters))
                          for kind, name, parameters in re.findall(
                              r"^([\w][\w \*]*?[ \*])(vcm_\w+)\(([^;{]*?)\)\s*(?:__attribute__.*?)?;",
                              text, flags=re.DOTALL | re.MULTILINE)}

    @staticmethod
    def members(body):
        """Type and name of each member; functions have the type "function"."""
        found = []
        for declaration in map(flat, body.split(";")):
            function = re.search(r"\(\*(\w+)\)\(", declaration)
            if function:
                found.append(("function", function.group(1)))
            elif declaration:
                first, *others = declaration.split(",")
                kind, name = re.match(r"(.*?[\s\*])(\w+)(?:\[[^]]*\])?$", first).groups()
                found.append((flat(kind).replace(" *", "*"), name))
                found += [(flat(kind).replace(" *", "*"), other.strip(" *")) for other in others]
        return found

    @staticmethod
    def parameters(text):
        found = []
        for part in map(flat, text.split(",")):
            if part in ("void", "..."):
                continue
            kind, name = re.match(r"(.*?[\s\*])(\w+)$", part).groups()
            found.append((flat(kind).replace(" *", "*"), name))
        return found


class Call:
    """A function with right arguments; cases are made by putting a wrong one in."""

    def __init__(self, header, name):
        self.header, self.name = header, name
        self.kind, self.parameters = header.functions[name]

    def declare(self, kind, name):
        """The declaration of a right argument, the expression to pass, and what gives it back."""
        example = re.fullmatch(r"const struct (vcm_\w+)\*", kind)
        out = re.fullmatch(r"((?:struct |enum )?\w+)\*(\*?)", kind)
        if kind in ("struct vcm*", "const struct vcm*"):
            return "", ("fix->stopped" if self.name == "vcm_watch" else "fix->vcm"), ""
        if kind == "struct vcm_error*":
            return "", name, ""
        if kind == "void*":
            return "", "NULL", ""
        if kind == "const char*":
            return "", f"example_{self.name}_{name}", ""
        if example:
            return (f"    struct {example.group(1)} {name} = example_{example.group(1)};\n",
                    f"&{name}", "")
        if kind in self.header.callbacks:
            return "", f"stub_{kind}", ""
        if out:
            back = RELEASE[out.group(1)] if out.group(2) else ""
            star, zero = ("*", "NULL") if out.group(2) else ("", "")
            zero = zero or ("{0}" if out.group(1).startswith("struct") else "0")
            return (f"    {out.group(1)} {star}{name} = {zero};\n", f"&{name}",
                    f"    {back}({name});\n" if back else "")
        return "", ("VCM_INTERNAL" if kind == "enum vcm_code" else "0"), ""

    def case(self, expected, label, *, null=None, change=""):
        """A function that makes the call, with one argument NULL or one member changed."""
        text, passed, back = "", [], ""
        for kind, name in self.parameters:
            declaration, expression, release = self.declare(kind, name)
            if name == null:
                declaration, expression, release = "", "NULL", ""
            text, back = text + declaration, back + release
            passed.append(expression)
        call = f"{self.name}({', '.join(passed)})"
        made = f"    int rc = {call};\n" if self.kind == "int" else f"    (void){call};\n"
        if self.kind == "void":
            made = f"    {call};\n"
        result = "rc" if self.kind == "int" else "NO_CODE"
        body = f"{text}{change}    (void)fix;\n    (void)err;\n{made}{back}    return {result};\n"
        return (expected if self.kind == "int" else "ANYTHING", f"{self.name}: {label}", body)

    def takes_handle(self):
        return self.kind == "int" and any(kind == "struct vcm*" for kind, _ in self.parameters)

    def cases(self):
        if any(re.fullmatch(r"struct vcm_\w+\*", kind) and self.kind == "void"
               for kind, _ in self.parameters):
            return [self.case("ANYTHING", f"{self.parameters[0][1]} is NULL",
                              null=self.parameters[0][1])]
        found = []
        for kind, name in self.parameters:
            if "*" not in kind and kind not in self.header.callbacks:
                continue
            may = name in OPTIONAL or f"{self.name}.{name}" in OPTIONAL
            found.append(self.case("ANYTHING" if may else "REFUSED", f"{name} is NULL", null=name))
            if kind == "const char*" and name != "format":
                found.append(self.bad_parameter(name))
            struct = re.fullmatch(r"const struct (vcm_\w+)\*", kind)
            if struct and struct.group(1) != "vcm":
                found += self.member_cases(struct.group(1), name + ".")
        return found

    def bad_parameter(self, name):
        expected = "ANYTHING" if f"{self.name}.{name}" in PATHS else "REFUSED"
        expected, label, body = self.case(expected, f"{name} is no UTF-8")
        return expected, label, body.replace(f"example_{self.name}_{name}", "NO_UTF8")

    def member_cases(self, struct, place):
        members = self.header.structs[struct]
        for index, (kind, name) in enumerate(members):
            full, at = f"{struct}.{name}", place + name
            expected = "REFUSED" if full in NEEDED else "ANYTHING"
            text = "ANYTHING" if full in PATHS else "REFUSED"
            counted = next((place + member for _, member in members[index + 1:index + 2]
                            if member.endswith("count")), None)
            if kind in ("const char*", "function"):
                yield self.case(expected, f"{at} is NULL", change=f"    {at} = NULL;\n")
            if kind == "const char*":
                yield self.case(text, f"{at} is no UTF-8", change=f"    {at} = NO_UTF8;\n")
            elif kind == "const char*const*":
                change = f"    {at} = %s;\n    {counted} = 1;\n"
                # A list without a pointer is none, whatever its count: all rows.
                none = "ANYTHING" if full == "vcm_materialize_options.enabled_sources" else "REFUSED"
                yield self.case(none, f"{at} is NULL", change=change % "NULL")
                yield self.case("REFUSED", f"{at} holds NULL", change=change % "list_of_null")
                yield self.case(text, f"{at} holds no UTF-8", change=change % "list_of_no_utf8")
            elif kind.startswith("const struct") and counted:
                yield self.case("REFUSED", f"{at} is NULL",
                                change=f"    {at} = NULL;\n    {counted} = 1;\n")
            elif kind.startswith("const struct"):
                yield self.case("ANYTHING", f"{at} is NULL", change=f"    {at} = NULL;\n")
            elif kind.startswith("struct ") and "*" not in kind:
                yield from self.member_cases(kind.split()[1], at + ".")


def stub(name, kind, parameters):
    names = [re.search(r"(\w+)$", part).group(1) for part in parameters.split(",")]
    unused = "".join(f"    (void){name};\n" for name in names)
    end = "    return VCM_OK;\n" if kind == "int" else ""
    return f"static {kind} stub_{name}({parameters})\n{{\n{unused}{end}}}\n\n"


def write_table(file, table, cases):
    rows = []
    for i, (expected, label, body) in enumerate(cases):
        file.write(f"static int {table}_{i}(struct fixture *fix, struct vcm_error *err)\n"
                   f"{{\n{body}}}\n\n")
        rows.append(f'    {{{expected}, "{label}", {table}_{i}}},\n')
    file.write(f"static const struct call {table}_calls[] = {{\n{''.join(rows)}}};\n\n")


def write(root, path):
    header = Header(root)
    exported = re.findall(r"^        (vcm_\w+);$", read(os.path.join(root, "api", "libvcm.map")),
                          flags=re.MULTILINE)
    missing = set(exported) ^ set(header.functions)
    if missing or not exported:
        sys.exit(f"calls.py: exported or declared, and not both: {' '.join(sorted(missing))}")
    used = {kind for _, parameters in header.functions.values() for kind, _ in parameters}
    stubs = [stub(name, *header.callbacks[name]) for name in sorted(header.callbacks)
             if name in used]
    calls = [Call(header, name) for name in exported]
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(stubs))
        write_table(file, "wrong", [case for call in calls for case in call.cases()])
        write_table(file, "right", [call.case("ANYTHING", "all is right") for call in calls
                                    if call.takes_handle()])


if __name__ == "__main__":
    write(*sys.argv[1:])
