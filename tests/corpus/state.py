"""State: what operations fold into, and what readers see of it."""

import json

from fields import units
from payload import COUNTER, CREATE, DELETE, LIST, MAP, RICH, SET, TEXT, Date, Json, rank


class State:
    """Of each item the greatest generation that an operation names."""

    def __init__(self):
        self.cells = {}

    def fold(self, operation, stamp):
        collection, item, what, generation, rest = operation
        cell = self.cells.get((collection, item))
        if cell is None or cell.generation < generation:
            cell = self.cells[collection, item] = Cell(generation)
        if cell.generation > generation:
            return
        if what == DELETE:
            cell.is_ended = True
            return
        for name, kind, change in rest:
            cell.fold(name, kind, (0, change) if what == CREATE else change, stamp)

    def shown(self):
        items = {}
        for (collection, item), cell in sorted(self.cells.items()):
            if not cell.is_ended:
                items.setdefault(collection, {})[item] = cell.shown()
        return items


class Cell:
    def __init__(self, generation):
        self.generation, self.is_ended, self.fields = generation, False, {}

    def fold(self, name, kind, change, stamp):
        kind = kind if kind in RICH else 0
        states = self.fields.setdefault(name, {})
        states.setdefault(kind, FIELDS[kind]()).fold(change, stamp)

    def shown(self):
        """The greatest merge class of a name holds it."""
        shown = {name: states[max(states)].shown() for name, states in sorted(self.fields.items())}
        return {name: value for name, value in shown.items() if value is not ABSENT}


def said(value):
    """A value as JSON says it."""
    if isinstance(value, Date):
        return {"date": int(value) if value.is_integer() else float(value)}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    return json.loads(value) if isinstance(value, Json) else value


ABSENT = object()


class Register:
    def __init__(self):
        self.stamp, self.value = (), None

    def fold(self, change, stamp):
        if stamp >= self.stamp:
            self.stamp, self.value = stamp, change[1]

    def shown(self):
        return ABSENT if self.value is None else said(self.value)


class Counter:
    def __init__(self):
        self.sum = 0

    def fold(self, change, _stamp):
        self.sum += change[1]

    def shown(self):
        return self.sum


class Set:
    def __init__(self):
        self.alive, self.gone = {}, set()

    def fold(self, change, stamp):
        what, values = change
        if what in (0, 2):
            for value in values:
                self.alive.setdefault(rank(value), (value, set()))[1].add(stamp)
        else:
            self.gone |= {(rank(value), tag) for value, tags in values for tag in tags}

    def shown(self):
        return [value for key, (value, tags) in sorted(self.alive.items())
                if value is not None and any((key, tag) not in self.gone for tag in tags)]


def write(places, name, value, stamp):
    """The greater stamp wins, and of one commit what it says last."""
    if name not in places or stamp >= places[name][0]:
        places[name] = (stamp, value)


class Map:
    def __init__(self):
        self.entries = {}

    def fold(self, change, stamp):
        what, entries = change
        for key, value in entries if what != 5 else [(key, None) for key in entries]:
            write(self.entries, key, value, stamp)

    def shown(self):
        return {key: said(value) for key, (_, value) in sorted(self.entries.items()) if value is not None}


class List:
    def __init__(self):
        self.positions, self.values, self.inserted, self.gone = {}, {}, set(), set()

    def fold(self, change, stamp):
        what, parts = change
        if what == 0:
            wall, counter, chain = stamp
            commit = f"{wall}.{counter}.{chain[:8].hex()}{chain[32:].hex()}"
            parts = [(f"{commit}.{index}", first_position(index), value) for index, value in enumerate(parts)]
        if what == 8:
            self.gone |= set(parts)
            return
        for name, *rest in parts:
            if what != 9:
                write(self.positions, name, rest[0], stamp)
            if what != 7:
                write(self.values, name, rest[-1], stamp)
            if what in (0, 6):
                self.inserted.add(name)

    def shown(self):
        names = sorted(self.inserted - self.gone, key=lambda name: (units(self.positions[name][1]), units(name)))
        return [said(self.values[name][1]) for name in names if self.values[name][1] is not None]


class Text:
    """A text that only creates wrote; joins are another page's (format-text.md)."""

    def __init__(self):
        self.texts, self.is_edited = set(), False

    def fold(self, change, _stamp):
        self.is_edited |= change[0] == 10
        self.texts |= {change[1]} - {None}

    def shown(self):
        return self.texts.copy().pop() if len(self.texts) == 1 and not self.is_edited else ABSENT


FIELDS = {0: Register, COUNTER: Counter, SET: Set, MAP: Map, LIST: List, TEXT: Text}
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def first_position(index):
    """a0, a1, … az, b00, …"""
    length = 1
    while index >= 62**length:
        index, length = index - 62**length, length + 1
    digits = ""
    for _ in range(length):
        digits, index = DIGITS[index % 62] + digits, index // 62
    return chr(ord("a") + length - 1) + digits
