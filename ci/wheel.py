#!/usr/bin/env python3
"""Makes a wheel of the Python package, the C library and the binary: wheel.py PREFIX VERSION FOLDER.

A wheel is a zip file with a list of its files; this needs nothing but Python itself.
"""

import base64
import hashlib
import platform
import sys
import zipfile
from pathlib import Path

EXECUTABLE = 0o100755
PLAIN = 0o100644

METADATA = """Metadata-Version: 2.1
Name: rankcheck
Version: {version}
Summary: Is a GPU collective kernel right, in every byte of every rank's heap?
License: MIT OR Apache-2.0
Requires-Python: >=3.9
Provides-Extra: numpy
Requires-Dist: numpy; extra == 'numpy'
"""
WHEEL = "Wheel-Version: 1.0\nGenerator: rankcheck\nRoot-Is-Purelib: false\nTag: {tag}\n"
ENTRIES = "[console_scripts]\nrankcheck = rankcheck.command:main\n\n[pytest11]\nrankcheck.plugin = rankcheck.plugin\n"


def contents(prefix, version, tag):
    """Name, bytes and mode of every file."""
    package = Path(__file__).parent.parent / "python" / "rankcheck"
    for path in sorted(package.glob("*.py")):
        yield f"rankcheck/{path.name}", path.read_bytes(), PLAIN
    yield "rankcheck/bin/rankcheck", (prefix / "bin/rankcheck").read_bytes(), EXECUTABLE
    yield "rankcheck/lib/librankcheck.so", (prefix / "lib/librankcheck.so.0").read_bytes(), EXECUTABLE
    header = prefix / "include/rankcheck_host.h"
    yield f"rankcheck/include/{header.name}", header.read_bytes(), PLAIN
    info = f"rankcheck-{version}.dist-info"
    yield f"{info}/METADATA", METADATA.format(version=version).encode(), PLAIN
    yield f"{info}/WHEEL", WHEEL.format(tag=tag).encode(), PLAIN
    yield f"{info}/entry_points.txt", ENTRIES.encode(), PLAIN


def main(prefix, version, folder):
    # Any Python 3: the library is reached through ctypes. The C library is the one built against.
    libc = platform.libc_ver()[1].replace(".", "_")
    tag = f"py3-none-manylinux_{libc}_{platform.machine()}"
    wheel = Path(folder) / f"rankcheck-{version}-{tag}.whl"
    record = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:

        def add(name, data, mode):
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)

        for name, data, mode in contents(Path(prefix), version, tag):
            add(name, data, mode)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}")
        name = f"rankcheck-{version}.dist-info/RECORD"
        add(name, ("\n".join(record + [f"{name},,"]) + "\n").encode(), PLAIN)
    print(wheel)


if __name__ == "__main__":
    main(*sys.argv[1:])
