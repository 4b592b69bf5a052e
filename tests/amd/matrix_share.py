# SPDX-License-Identifier: MIT
"""Issue share of a mainloop's matrix instructions, or of dot instructions on targets without them, from the machine
code.

The main loop is the one with the most matrix instructions, and then the fewest others: a kernel has one for operands
that lie well and one for others. Of the ways through it the one counts that has all of them and the most loads of 16
bytes, and then the fewest instructions: a step along GemmK that loads the next one and stores it in local memory.
Offsets that are computed once for several steps are not on it. s_cbranch_execnz is always taken: a wave has lanes.

    share = matrix cycles / (matrix cycles + cycles of the others)

A wave of 64 issues an instruction in 4 cycles, a wave of 32 in one, while none of another wave's goes to the same unit.
A dot instruction is one of them.
Cycles of matrix instructions: AMD, matrix_calculator.py of amd_matrix_instruction_calculator.
"""
import collections
import functools
import re

ISSUE = {"gfx908": 4, "gfx90a": 4, "gfx942": 4, "gfx1030": 1, "gfx1100": 1, "gfx1201": 1}
BARS = {"gfx908": 0.75, "gfx90a": 0.75, "gfx942": 0.70, "gfx1030": 0.80, "gfx1100": 0.80, "gfx1201": 0.80}
CDNA, RDNA = ("float", "half", "bfloat16", "int8"), ("half", "bfloat16", "int8")
OCP, FNUZ = ("Float8<3, false>", "Float8<2, false>"), ("Float8<3, true>", "Float8<2, true>")  # and AMD's own
TYPES = {"gfx908": CDNA, "gfx90a": CDNA, "gfx942": CDNA + FNUZ, "gfx1030": ("half", "int8"), "gfx1100": RDNA,
         "gfx1201": RDNA + OCP}
MATRIX = re.compile(r"v_(mfma|smfmac|wmma|swmmac)_|v_dot2c?_f32_f16|v_dot4c?_i32_i8")
WIDE = re.compile(r"(global|buffer)_load_(dwordx4|b128)")
SINGLE = re.compile(r"(global|buffer)_load_(dword|ushort|b32|u16)\b")
# A 16-bit load: a weight of a tail tap (tap_order.hpp), in loops without 16-byte loads.
LEFT_OVER = re.compile(r"buffer_load_(ushort|u16) .*\], s\d+ offen")
# An 8-byte load with a scalar register offset: in weight gradients, four pixels of a row.
IN_ROWS = re.compile(r"buffer_load_(dwordx2|b64) .*\], s\d+ offen")


def matrix_cycles(target, instruction):
    if instruction.startswith("v_dot"):
        return ISSUE[target]
    if instruction.startswith("v_mfma") and "_16x16x" in instruction:  # half as many products
        return 16 if target == "gfx942" else 32
    if target in ("gfx908", "gfx90a"):
        return 64
    if target == "gfx942" and instruction.startswith("v_mfma_f32_32x32x2_f32"):
        return 64
    if target == "gfx1201":
        return 8 if re.search(r"iu8|fp8|bf8", instruction) else 16
    return 32


class Block:
    def __init__(self):
        self.instructions, self.next, self.before = [], [], []

    @functools.cached_property
    def merit(self):
        """Matrix instructions, loads of 16 bytes, and minus the number of all."""
        return (sum(bool(MATRIX.match(word)) for word in self.instructions),
                sum(bool(WIDE.match(word)) for word in self.instructions), -len(self.instructions))


def functions(disassembly):
    """The blocks of each function by its symbol, in order, from what llvm-objdump --symbolize-operands prints."""
    found, symbol = {}, None
    for line in disassembly.splitlines():
        if label := re.match(r"[0-9a-f]+ <(.+)>:$", line):
            if re.fullmatch(r"L\d+", label[1]):
                found[symbol].append((label[1], []))
            else:
                symbol = label[1]
                found[symbol] = [("", [])]
        elif symbol and (word := re.match(r"\s+([sv]_\S+|ds_\S+|(?:global|buffer|flat|scratch)_\S+)(.*?)(?://|$)", line)):
            blocks = found[symbol]
            blocks[-1][1].append((word[1], word[2].strip()))
            if re.match(r"s_(c?branch|endpgm)", word[1]):
                blocks.append(("", []))
    return {symbol: linked(blocks) for symbol, blocks in found.items()}


def linked(named):
    at = {}
    blocks = [Block() for _ in named]
    for i, (name, _) in enumerate(named):
        at[name] = i
    for i, (_, instructions) in enumerate(named):
        blocks[i].instructions = [f"{word} {operands}" for word, operands in instructions]
        last, operand = instructions[-1] if instructions else ("", "")
        if last.startswith(("s_branch", "s_cbranch")):
            blocks[i].next.append(at[operand.split()[0]])
        if not last.startswith(("s_branch", "s_cbranch_execnz", "s_endpgm")) and i + 1 < len(blocks):
            blocks[i].next.append(i + 1)
    for i, block in enumerate(blocks):
        for following in block.next:
            blocks[following].before.append(i)
    return tuple(blocks)


def loops(blocks):
    """The strongly connected sets of blocks that have a way from themselves to themselves, and those in them that do not
    pass where they are entered."""
    def inside(these):
        for loop in strongly_connected(blocks, these):
            yield loop
            yield from inside(set(loop) - set(entries(blocks, loop)))

    yield from inside(set(range(len(blocks))))


def entries(blocks, loop):
    """Blocks that are entered from outside; a function's first block is."""
    inside = set(loop)
    return [i for i in loop if any(j not in inside for j in blocks[i].before)] or loop[:1]


def strongly_connected(blocks, these):
    """By Kosaraju's two searches."""
    def search(roots, following):
        seen, orders = set(), []
        for root in roots:
            if root in seen:
                continue
            order, stack = [], [(root, iter(following[root]))]
            seen.add(root)
            while stack:
                block, rest = stack[-1]
                for other in rest:
                    if other not in seen:
                        seen.add(other)
                        stack.append((other, iter(following[other])))
                        break
                else:
                    order.append(block)
                    stack.pop()
            orders.append(order)
        return orders

    forward = {i: [j for j in blocks[i].next if j in these] for i in sorted(these)}
    backward = collections.defaultdict(list)
    for i, following in forward.items():
        for other in following:
            backward[other].append(i)
    finished = [block for order in search(forward, forward) for block in order]
    for order in search(reversed(finished), backward):
        if len(order) > 1 or order[0] in forward[order[0]]:
            yield sorted(order)


def best_step(blocks, loop):
    """The instructions of the way through a loop that the head of this file names."""
    inside, best = set(loop), {}

    # Blocks stand in the order of their addresses; a loop goes back to its first, or, where a compiler put its end
    # first, to the block after: every entry is tried.
    for entry in entries(blocks, loop):
        order, seen = [], set()

        def visit(i):
            seen.add(i)
            for other in blocks[i].next:
                if other in inside and other not in seen and other != entry:
                    visit(other)
            order.append(i)
        visit(entry)
        place = {i: n for n, i in enumerate(order)}
        ways = {}
        for i in order:
            own = blocks[i].merit
            following = [ways[j] for j in blocks[i].next
                         if j in ways and j != entry and place[j] < place[i]]
            ends = [((0, 0, 0), ())] if entry in blocks[i].next else []
            options = [way for way in following if way] + ends
            if options:
                rest = max(options, key=lambda way: way[0])
                ways[i] = (tuple(a + b for a, b in zip(own, rest[0])), (i, rest[1]))
            else:
                ways[i] = None
        if ways.get(entry) and (not best or ways[entry][0] > best["merit"]):
            best = {"merit": ways[entry][0], "way": ways[entry][1]}
    words, way = [], best.get("way", ())
    while way:
        words += blocks[way[0]].instructions
        way = way[1]
    return words


@functools.lru_cache(maxsize=1)
def steps_of(blocks):
    """The best step of each loop of a function."""
    return [best_step(blocks, loop) for loop in loops(blocks)]


def matrix_share(target, blocks, may_have_rows):
    """How many matrix instructions a function has; their share of its main loop; where another loop loads elements one
    by one, of that; and where it `may_have_rows` and another loads four pixels of a row at once, of that. None where
    there is no such loop."""
    count = sum(bool(MATRIX.match(word)) for block in blocks for word in block.instructions)
    if not count or target not in ISSUE:
        return count, None, None, None
    steps = steps_of(blocks)

    def of_rows(step):
        return may_have_rows and any(map(IN_ROWS.match, step))

    def of_singles(step):  # gradients by the weights may load four pixels of dy together there
        wide = sum(bool(WIDE.match(word)) for word in step)
        return not of_rows(step) and (
            not wide or (may_have_rows and sum(bool(SINGLE.match(word)) for word in step) > wide))

    return (count, share_of(target, [step for step in steps if not of_rows(step)]),
            share_of(target, [step for step in steps if of_singles(step)]),
            share_of(target, [step for step in steps if of_rows(step)]))


def left_over_share(target, blocks, part):
    """Share of a loop over tail taps, and of all steps, of which tail taps are a `part`. None if there is no such
    loop."""
    steps = steps_of(blocks)

    def of_left_over(step):
        return not any(map(WIDE.match, step)) and any(map(LEFT_OVER.match, step))

    left_over = best_cycles(target, filter(of_left_over, steps))
    matrix, others = best_cycles(target, [step for step in steps if not of_left_over(step)])
    if not left_over[0]:
        return None, None
    # A loop's step may have more products than the other's.
    for_each_cycle = (1 - part) * others / matrix + part * left_over[1] / left_over[0]
    return left_over[0] / sum(left_over), 1 / (1 + for_each_cycle)


def share_of(target, steps):
    """The share of the step with the most matrix instructions, and then the fewest others."""
    cycles, others = best_cycles(target, steps)
    return cycles / (cycles + others) if cycles else None


def best_cycles(target, steps):
    """The cycles of that step's matrix instructions, and of its others."""
    def matrix_count(words):
        return sum(bool(MATRIX.match(word)) for word in words)

    steps = list(steps)
    most = max(map(matrix_count, steps), default=0)
    words = min((step for step in steps if matrix_count(step) == most), key=len, default=[])
    return (sum(matrix_cycles(target, word) for word in words if MATRIX.match(word)),
            ISSUE[target] * sum(not MATRIX.match(word) for word in words))
