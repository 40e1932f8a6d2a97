#!/usr/bin/env python3
"""Makes the Python wheel dimple_onnxruntime of a build: the execution provider for ONNX Runtime, the library that it
loads, and a module that registers it (clients/onnxruntime/python).

    tools/wheel.py BUILD_FOLDER [OUTPUT_FOLDER]

The output folder is BUILD_FOLDER/package unless named. The last line is the wheel's path. The same build makes the same
bytes. The wheel takes any Python 3; it asks for the C library of the machine that built it, or a newer one.
"""

import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODULE = "dimple_onnxruntime"
PROVIDER = "libdimple_onnxruntime.so"
NOTICES = ("LICENSE", "THIRD_PARTY.md")
# Archives have no earlier date.
DATE = (1980, 1, 1, 0, 0, 0)

METADATA = """\
Metadata-Version: 2.1
Name: dimple-onnxruntime
Version: {version}
Summary: An execution provider for ONNX Runtime: models on Vulkan devices
License: MIT
Requires-Python: >=3.8
{notices}Description-Content-Type: text/markdown

    import dimple_onnxruntime
    devices = dimple_onnxruntime.register()

registers the provider with ONNX Runtime 1.24 or newer, which is installed apart, and returns its devices.
"""

WHEEL = """\
Wheel-Version: 1.0
Generator: dimple
Root-Is-Purelib: false
Tag: {tag}
"""


def fail(sentence):
    sys.exit(f"wheel: {sentence}")


def install(build, prefix):
    """Installed libraries find each other in their own folder; built ones in the build's."""
    done = subprocess.run(["cmake", "--install", build, "--prefix", prefix, "--strip"], capture_output=True, text=True)
    if done.returncode:
        fail(f"{build} cannot be installed: {done.stderr.strip()}")


def only(paths, what):
    paths = sorted(paths)
    if len(paths) != 1:
        fail(f"the installed tree has {len(paths)} of {what}, expected 1.")
    return paths[0]


def contents(tree, version, tag):
    """The wheel's files by their paths in it."""
    provider = only(tree.rglob(PROVIDER), PROVIDER)
    # The link's name is what the provider asks for; a wheel has no links.
    library = only((path for path in provider.parent.glob("libdimple.so.*") if path.is_symlink()), "libdimple.so.*")
    files = {f"{MODULE}/{path.name}": path.read_bytes() for path in (provider, library)}
    for path in sorted((ROOT / "clients/onnxruntime/python" / MODULE).glob("*.py")):
        files[f"{MODULE}/{path.name}"] = path.read_bytes().replace(b"@VERSION@", version.encode())
    info = f"{MODULE}-{version}.dist-info"
    for name in NOTICES:
        files[f"{info}/{name}"] = (ROOT / name).read_bytes()
    notices = "".join(f"License-File: {name}\n" for name in NOTICES)
    files[f"{info}/METADATA"] = METADATA.format(version=version, notices=notices).encode()
    files[f"{info}/WHEEL"] = WHEEL.format(tag=tag).encode()
    record = f"{info}/RECORD"
    lines = []
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(data)}\n")
    files[record] = ("".join(lines) + f"{record},,\n").encode()
    return files


def write(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if ".so" in name else 0o644) << 16
            archive.writestr(entry, data)


def main():
    arguments = sys.argv[1:]
    if len(arguments) not in (1, 2) or arguments[0].startswith("-"):
        print(__doc__)
        sys.exit(0 if arguments in (["-h"], ["--help"]) else 2)
    build = pathlib.Path(arguments[0])
    output = pathlib.Path(arguments[1]) if len(arguments) == 2 else build / "package"
    # What a platform's tag may consist of.
    tag = "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        install(build, tree)
        pc = only(tree.rglob("dimple.pc"), "dimple.pc").read_text()
        version = re.search(r"^Version: (.+)$", pc, re.MULTILINE).group(1)
        files = contents(tree, version, tag)
    output.mkdir(parents=True, exist_ok=True)
    wheel = output / f"{MODULE}-{version}-{tag}.whl"
    write(wheel, files)
    print(wheel)


if __name__ == "__main__":
    main()
