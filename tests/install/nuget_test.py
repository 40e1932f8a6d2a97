#!/usr/bin/env python3
"""Unpacks the NuGet packages of a folder and checks what NuGet and Visual C++ look for in them.

nuget_test.py FOLDER MAIN SYMBOLS   unpacks Dimple into MAIN and Dimple.Symbols into SYMBOLS
"""
import pathlib
import re
import sys
import xml.etree.ElementTree as xml
import zipfile

NUSPEC = "{http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd}"
MSBUILD = "{http://schemas.microsoft.com/developer/msbuild/2003}"


def fail(text):
    sys.exit(f"nuget_test: {text}")


def unpacked(folder, name, target):
    found = [path for path in folder.glob("*.nupkg") if re.fullmatch(rf"{name}\.\d[\d.]*\.nupkg", path.name)]
    if len(found) != 1:
        fail(f"there are {len(found)} packages {name}, expected one.")
    with zipfile.ZipFile(found[0]) as package:
        if package.testzip():
            fail(f"{found[0].name} is damaged.")
        package.extractall(target)
    metadata = xml.parse(target / f"{name}.nuspec").getroot().find(f"{NUSPEC}metadata")
    for key in ("id", "version", "authors", "description", "license"):
        if not (metadata.findtext(f"{NUSPEC}{key}") or "").strip():
            fail(f"the .nuspec of {name} has no {key}.")
    stated = f"{metadata.findtext(f'{NUSPEC}id')}.{metadata.findtext(f'{NUSPEC}version')}.nupkg"
    if stated != found[0].name:
        fail(f"{found[0].name} says that it is {stated}.")
    types = xml.parse(target / "[Content_Types].xml").getroot()
    known = {each.get("Extension") for each in types} | {each.get("PartName") for each in types}
    for path in target.rglob("*"):
        part = "/" + path.relative_to(target).as_posix()
        if path.is_file() and part != "/[Content_Types].xml" and not {path.suffix.lstrip(".") or path.name.lstrip("."), part} & known:
            fail(f"[Content_Types].xml of {name} does not know {part}.")
    return target


def check_targets(package):
    targets = package / "build" / "native" / "Dimple.targets"
    project = xml.parse(targets).getroot()
    for library in ("dimple", "DirectML"):
        values = {"MSBuildThisFileDirectory": f"{targets.parent}/", "DimpleLibrary": library}
        values["DimpleRoot"] = project.findtext(f"{MSBUILD}PropertyGroup/{MSBUILD}DimpleRoot")

        def expanded(text):
            while "$(" in text:
                text = re.sub(r"\$\((\w+)\)", lambda match: values[match.group(1)], text)
            return [pathlib.Path(part) for part in text.replace("\\", "/").split(";") if "%(" not in part]

        def all_of(name):
            return [path for each in project.iter(f"{MSBUILD}{name}") for path in expanded(each.text)]

        for folder in all_of("AdditionalIncludeDirectories") + all_of("AdditionalLibraryDirectories"):
            if not folder.is_dir():
                fail(f"Dimple.targets names the folder {folder}, which is not in the package.")
        for name in all_of("AdditionalDependencies"):
            if not any((folder / name).is_file() for folder in all_of("AdditionalLibraryDirectories")):
                fail(f"Dimple.targets links {name}, which is not in the package.")
        for copy in project.iter(f"{MSBUILD}Copy"):
            for path in expanded(copy.get("SourceFiles")):
                if path.read_bytes()[:2] != b"MZ":
                    fail(f"{path} is no DLL.")


def main(folder, main_folder, symbols_folder):
    package = unpacked(folder, "Dimple", main_folder)
    check_targets(package)
    for name in ("LICENSE", "THIRD_PARTY.md", "include/dimple.h", "include/dimple_version.h",
                 "include/dimple/directx/DirectML.h"):
        if not (package / name).is_file():
            fail(f"the package has no {name}.")
    symbols = unpacked(folder, "Dimple.Symbols", symbols_folder)
    for library in ("dimple", "DirectML"):
        dll = (package / "bin" / "x64" / f"{library}.dll").read_bytes()
        pdb = symbols / "bin" / "x64" / f"{library}.pdb"
        debug = symbols / "bin" / "x64" / f"{library}.dll.debug"
        if not pdb.is_file() and not (debug.is_file() and f"{library}.dll.debug".encode() in dll):
            fail(f"{library}.dll does not name its symbols, or there are none.")
    print("nuget_test: the packages have what they must.")


main(*map(pathlib.Path, sys.argv[1:]))
