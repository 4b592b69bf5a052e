#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""shared_functions.py OBJECT OBJECT...: names the functions and tables that two units of one program would share although
their code differs. A linker keeps the first of them, so that one unit would run code that was compiled with the flags of
the other. Exits with 1 if there is one."""
import itertools
import os
import re
import struct
import subprocess
import sys

SHF_GROUP, SHT_RELA, SHT_SYMTAB, STB_WEAK, STB_GNU_UNIQUE = 0x200, 4, 2, 2, 10


def text(data, offset):
    return data[offset:data.index(b'\0', offset)].decode()


def weak_symbols(path):
    """Name -> contents of each symbol that a linker may take from another unit: bytes, and what they refer to."""
    data = open(path, 'rb').read()
    assert data[:5] == b'\x7fELF\x02', f'{path} is no 64-bit ELF object'
    offset, = struct.unpack_from('<Q', data, 40)
    size, count, names = struct.unpack_from('<HHH', data, 58)
    keys = 'name type flags addr offset size link info align entry'.split()
    sections = [dict(zip(keys, struct.unpack_from('<IIQQQQIIQQ', data, offset + i * size))) for i in range(count)]
    table = next(s for s in sections if s['type'] == SHT_SYMTAB)
    strings = sections[table['link']]['offset']
    symbols = []
    for i in range(table['size'] // 24):
        name, info, _, section, value, length = struct.unpack_from('<IBBHQQ', data, table['offset'] + i * 24)
        symbols.append((text(data, strings + name), info >> 4, info & 15, section, value, length))
    relocations = {}
    for s in sections:
        if s['type'] != SHT_RELA:
            continue
        for i in range(s['size'] // 24):
            at, info, addend = struct.unpack_from('<QQq', data, s['offset'] + i * 24)
            name, _, kind, section, _, _ = symbols[info >> 32]
            target = name if kind != 3 else text(data, sections[names]['offset'] + sections[section]['name'])
            relocations.setdefault(s['info'], []).append((at, info & 0xffffffff, target, addend))
    result = {}
    for name, bind, kind, section, value, length in symbols:
        if bind in (STB_WEAK, STB_GNU_UNIQUE) and 0 < section < count and sections[section]['flags'] & SHF_GROUP:
            s = sections[section]
            begin = s['offset'] + value
            contents = data[begin:begin + length] if s['type'] != 8 else bytes(length)
            refers = [(at - value, *rest) for at, *rest in relocations.get(section, []) if value <= at < value + length]
            result[name] = (contents, sorted(refers))
    return result


def local(target):
    """True for a section with a function's constants, whose name is numbered."""
    return target.startswith(('.rodata', '.LC', '.gcc_except_table'))


def alike(a, b):
    """True if the code is equal; constants are compared through the code that loads them."""
    if a[0] != b[0] or len(a[1]) != len(b[1]):
        return False
    return all(x[:2] == y[:2] and (x[2:] == y[2:] or local(x[2]) and local(y[2])) for x, y in zip(a[1], b[1]))


# The implicit destructor of the test's own struct; and std::unique_ptr's functions at clang -O0, which end the program in
# another way where there are no exceptions, and are otherwise the same.
implicit = re.compile(r'_ZN3abi8OperandsD|_ZNSt(15__uniq_ptr_impl|5tuple)I.*N7fusekit7runtime6AnyRun')

# One for the program: it names what() and the destructor of one unit, which copy no memory.
allowed = {'_ZTVN7fusekit5ErrorE', '_ZTVN7fusekit7runtime6AnyRunINS_4host6DeviceEEE'}


def demangled(names):
    return subprocess.run(['c++filt'], input='\n'.join(names), capture_output=True, text=True).stdout.splitlines()


def main():
    units = {path: weak_symbols(path) for path in sys.argv[1:]}
    found = 0
    for (path, symbols), (other, others) in itertools.combinations(units.items(), 2):
        differ = sorted(name for name in (symbols.keys() & others.keys()) - allowed if not implicit.match(name) and not alike(symbols[name], others[name]))
        found += len(differ)
        if differ:
            print(f'{os.path.basename(path)} and {os.path.basename(other)} share {len(differ)} whose code differs:')
            for name in demangled(differ)[:40]:
                print('   ', name)
    print(f'{len(units)} units, {sum(map(len, units.values()))} weak symbols, {found} shared whose code differs')
    return found != 0


sys.exit(main())
