#!/usr/bin/env python3
"""Makes a wheel of the package with libvcm and vcm-extract inside, with Python's standard library
alone: make_wheel.py LIBRARY EXTRACT FOLDER. Prints the path of the wheel.

The library is in vcm/lib and the helper in vcm/libexec/vcm, where the library looks for it.
"""

import base64
import hashlib
import os
import re
import sys
import sysconfig
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXECUTABLE = 0o755
PLAIN = 0o644
TIME = (2024, 1, 1, 0, 0, 0)  # the same files make the same wheel
METADATA = """Metadata-Version: 2.1
Name: vcm
Version: {version}
Summary: {summary}
License: Apache-2.0
Requires-Python: >=3.9
"""
WHEEL = """Wheel-Version: 1.0
Generator: vcm
Root-Is-Purelib: false
Tag: {tag}
"""


def setting(name):
    """A text of pyproject.toml, which Python before 3.11 has no reader for."""
    with open(os.path.join(HERE, "pyproject.toml"), encoding="utf-8") as file:
        return re.search(rf'^{name} = "(.*)"$', file.read(), re.M).group(1)


def contents(library, extract):
    """Every file of the package: its name, bytes and mode."""
    folder = os.path.join(HERE, "vcm")
    files = [(f"vcm/{name}", os.path.join(folder, name), PLAIN)
             for name in sorted(os.listdir(folder)) if name.endswith((".py", "py.typed"))]
    files += [("vcm/lib/libvcm.so.0", library, EXECUTABLE),
              ("vcm/libexec/vcm/vcm-extract", extract, EXECUTABLE)]
    for name, path, mode in files:
        with open(path, "rb") as file:
            yield name, file.read(), mode


def make(library, extract, folder):
    """Writes the wheel into the folder."""
    version = setting("version")
    platform = re.sub(r"[^A-Za-z0-9]", "_", sysconfig.get_platform())
    tag = f"py3-none-{platform}"
    info = f"vcm-{version}.dist-info"
    files = [*contents(library, extract),
             (f"{info}/METADATA",
              METADATA.format(version=version, summary=setting("description")).encode(), PLAIN),
             (f"{info}/WHEEL", WHEEL.format(tag=tag).encode(), PLAIN)]
    record = []
    path = os.path.join(folder, f"vcm-{version}-{tag}.whl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        def put(name, data, mode):
            entry = zipfile.ZipInfo(name, TIME)
            entry.external_attr = (0o100000 | mode) << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)
        for name, data, mode in files:
            put(name, data, mode)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}\n")
        put(f"{info}/RECORD", ("".join(record) + f"{info}/RECORD,,\n").encode(), PLAIN)
    return path


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: make_wheel.py LIBRARY EXTRACT FOLDER")
    print(make(*sys.argv[1:]))
