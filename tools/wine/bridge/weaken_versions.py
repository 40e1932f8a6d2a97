#!/usr/bin/env python3
"""Lets shared libraries load on a C library older than the one they were linked with.

usage: weaken_versions.py LIBRARY...

The loader refuses a library that needs a version of symbols which the C library lacks, unless the need is marked as
weak. This marks all needs of glibc's that the running one does not meet; the functions themselves come from elsewhere.
"""
import os
import struct
import sys

SHT_GNU_VERNEED = 0x6FFFFFFE
VER_FLG_WEAK = 2


def version_of(text):
    return tuple(int(part) for part in text.split("."))


def weaken(path, running):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    section_offset, = struct.unpack_from("<Q", data, 40)
    section_size, section_count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, section_offset + i * section_size)
                for i in range(section_count)]
    for section in sections:
        if section[1] != SHT_GNU_VERNEED:
            continue
        names = sections[section[6]][4]
        need = section[4]
        while True:
            _, count, _, first, following = struct.unpack_from("<HHIII", data, need)
            entry = need + first
            for _ in range(count):
                _, flags, _, name, step = struct.unpack_from("<IHHII", data, entry)
                start = names + name
                text = data[start:data.index(0, start)].decode()
                if text.startswith("GLIBC_2.") and version_of(text[6:]) > running:
                    struct.pack_into("<H", data, entry + 4, flags | VER_FLG_WEAK)
                entry += step
            if not following:
                break
            need += following
    with open(path, "wb") as file:
        file.write(data)


for library in sys.argv[1:]:
    weaken(library, version_of(os.confstr("CS_GNU_LIBC_VERSION").split()[1]))
