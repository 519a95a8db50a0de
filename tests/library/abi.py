"""Compares what libvcm exports, and how its structs are laid out, with what was recorded.

usage: abi.py [--update] HEADER VERSION CC [LIBRARY]

The record is api/libvcm.abi and the version script api/libvcm.map. A change needs a new version
in CMakeLists.txt and a new record, which --update writes; it needs no library.
"""

import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RECORD = os.path.join(ROOT, "api", "libvcm.abi")
SCRIPT = os.path.join(ROOT, "api", "libvcm.map")


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)


def member_names(body):
    """The names that a struct's members have, in order."""
    for declaration in body.split(";"):
        declaration = " ".join(declaration.split())
        if not declaration:
            continue
        function = re.search(r"\(\*(\w+)\)\s*\(", declaration)
        if function:
            yield function.group(1)
            continue
        for part in declaration.split(","):
            yield re.search(r"(\w+)\s*(\[[^]]*\])?$", part.strip()).group(1)


def structs(header):
    """Name and members of every struct that the header defines, in order."""
    for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\};", header,
                                 flags=re.DOTALL | re.MULTILINE):
        yield name, list(member_names(body))


def functions(header):
    """Names of all functions that the header declares, sorted."""
    flat = re.sub(r"^(struct|enum) \w+ \{.*?^\};", "", header, flags=re.DOTALL | re.MULTILINE)
    flat = re.sub(r"^typedef .*?;", "", flat, flags=re.DOTALL | re.MULTILINE)
    return sorted(set(re.findall(r"^[\w][\w \*]*?\b\*?(vcm_\w+)\(", flat, flags=re.MULTILINE)))


def constants(header):
    """Names of all constants of enums, in order."""
    return [name for body in re.findall(r"^enum \w+ \{(.*?)^\};", header,
                                        flags=re.DOTALL | re.MULTILINE)
            for name in re.findall(r"\b(VCM_\w+)", re.sub(r"=[^,]*", "", body))]


def layout_program(path, header):
    """A C program that prints the layout of every struct and the value of every constant."""
    lines = ["#include <stddef.h>", "#include <stdio.h>", f'#include "{path}"', "int main(void)",
             "{"]
    for name, members in structs(header):
        lines.append(f'printf("struct {name} %zu\\n", sizeof(struct {name}));')
        lines += [f'printf("  {m} %zu\\n", offsetof(struct {name}, {m}));' for m in members]
    for name in constants(header):
        lines.append(f'printf("constant {name} %d\\n", (int){name});')
    return "\n".join(lines + ["return 0;", "}", ""])


def layouts(path, header, compiler):
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "layout.c"), os.path.join(folder, "layout")
        with open(source, "w", encoding="utf-8") as file:
            file.write(layout_program(path, header))
        headers = os.path.dirname(os.path.dirname(path))
        subprocess.run([compiler, "-std=c11", "-I", headers, "-o", program, source], check=True)
        return subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout


def text_of(path, seen=None):
    """A header without comments, and before it, once, every header of ours that it includes."""
    seen = set() if seen is None else seen
    if path in seen:
        return ""
    seen.add(path)
    text = without_comments(read(path))
    folder = os.path.dirname(path)
    parts = [text_of(os.path.join(folder, name), seen)
             for name in re.findall(r"^#include <vcm/(\w+\.h)>", text, flags=re.MULTILINE)]
    return "".join(parts) + text


def record_of(path, version, compiler):
    header = text_of(path)
    lines = [f"version {version}", *(f"function {name}" for name in functions(header))]
    return "\n".join(lines) + "\n" + layouts(path, header, compiler)


def script_of(record, version):
    names = re.findall(r"^function (\w+)$", record, flags=re.MULTILINE)
    listed = "".join(f"        {name};\n" for name in names)
    return f"VCM_{version} {{\n    global:\n{listed}    local:\n        *;\n}};\n"


def exported(library):
    """The names, with their versions, that a shared library exports."""
    out = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return sorted(line.split()[2] for line in out.splitlines() if line.split()[1] != "A")


def read(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()


def differences(before, now):
    old, new = before.splitlines(), now.splitlines()
    return ([f"  was: {line.strip()}" for line in old if line not in new] +
            [f"  is:  {line.strip()}" for line in new if line not in old])


def main():
    arguments = [a for a in sys.argv[1:] if a != "--update"]
    path, version, compiler, *library = arguments
    path = os.path.abspath(path)
    version = ".".join(version.split(".")[:2])
    record = record_of(path, version, compiler)
    if "--update" in sys.argv:
        for name, text in ((RECORD, record), (SCRIPT, script_of(record, version))):
            with open(name, "w", encoding="utf-8") as file:
                file.write(text)
        return 0
    findings = []
    if record != read(RECORD):
        findings.append("the interface is not what api/libvcm.abi says; raise the version in "
                        "CMakeLists.txt if the old one was released, then record it with "
                        "'cmake --build BUILD --target vcm_abi_update':")
        findings += differences(read(RECORD), record) or ["  the order differs"]
    if script_of(record, version) != read(SCRIPT):
        findings.append("api/libvcm.map does not list the functions of the header")
    expected = sorted(f"{name}@@VCM_{version}" for name in
                      re.findall(r"^function (\w+)$", record, flags=re.MULTILINE))
    for file in library:
        names = exported(file)
        findings += [f"{name} is exported, and not in the header" for name in names
                     if name not in expected]
        findings += [f"{name} is not exported" for name in expected if name not in names]
    print("\n".join(findings) or f"{len(expected)} functions as recorded")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
