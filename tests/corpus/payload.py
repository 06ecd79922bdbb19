"""Payloads, strictly: "Payload: the patch" in docs/format.md."""

import decimal
import json
import math
import re
import struct

from fields import Bytes, is_ascending, sha256, units

SIMPLE = {1: {6}, 2: {3, 4, 5}, 3: {1, 2}, 4: {8}, 5: {7}, 6: {6}, 7: {9}, 8: {6}}
COUNTER, SET, MAP, LIST, TEXT = 16, 17, 18, 19, 24
RICH = {COUNTER: {3, 4}, SET: {10}, MAP: {11}, LIST: {10}, TEXT: {6}}
CHANGES = {COUNTER: {1}, SET: {2, 3}, MAP: {4, 5}, LIST: {6, 7, 8, 9}, TEXT: {10}}
CREATE, UPDATE, DELETE = 0, 1, 2
COLLECTION, FIELD = re.compile("[A-Za-z][A-Za-z0-9_-]{0,63}"), re.compile("[A-Za-z][A-Za-z0-9_]{0,63}")
RESERVED = {
    "id", "then", "toJSON", "prototype", "and", "or", "not", "constructor", "hasOwnProperty", "isPrototypeOf",
    "propertyIsEnumerable", "toLocaleString", "toString", "valueOf",
}
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


class Date(float):
    pass


class Json(str):
    pass


def rank(value):
    """The order of a set: what was erased, booleans, numbers, strings."""
    if value is None:
        return (-1, 0, b"")
    if isinstance(value, bool):
        return (0, value, b"")
    return (2, 0, units(value)) if isinstance(value, str) else (1, value, b"")


def check_json(value, depth=0):
    """Is it what JSON can say, and nested no deeper than 64?"""
    if isinstance(value, (list, dict)):
        parts = list(value) if isinstance(value, list) else [*value, *value.values()]
        return depth < 64 and all(check_json(part, depth + 1) for part in parts)
    if isinstance(value, str):
        return not re.search("[\ud800-\udfff]", value)
    return not isinstance(value, float) or math.isfinite(value)


def number_text(number):
    """A number as ECMAScript writes it: as few digits as tell it from all others."""
    if number == 0:
        return "0"
    _, all_digits, exponent = decimal.Decimal(repr(abs(number))).as_tuple()
    whole = "".join(map(str, all_digits))
    digits = whole.rstrip("0")
    point = len(whole) + exponent
    sign = "-" if number < 0 else ""
    if len(digits) <= point <= 21:
        return sign + digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    fraction = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{point - 1:+d}"


def json_text(value):
    """The one text of a JSON value."""
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, list):
        return f"[{','.join(map(json_text, value))}]"
    if isinstance(value, dict):
        entries = sorted(value.items(), key=lambda entry: units(entry[0]))
        return f"{{{','.join(f'{json_text(key)}:{json_text(part)}' for key, part in entries)}}}"
    return json.dumps(value, ensure_ascii=False)


class Payload(Bytes):
    used = 0
    is_erased = False

    def value(self, tags):
        tag = self.uint(1)
        self.check(tag in tags, f"a value of type {tag} that does not fit")
        if tag == 0:
            return None
        if tag <= 2:
            return tag == 2
        if tag == 3:
            return self.varint()
        if tag == 4:
            number = -1 - self.varint()
            self.check(number > -(2**53), "an integer of more than 53 bits")
            return number
        if tag == 5:
            return self.double()
        if tag == 6:
            return self.text()
        if tag == 7:
            return self.blob()
        if tag == 8:
            return self.date()
        return self.json(len(tags) > 2)

    def double(self):
        number = self.f64()
        self.check(math.isfinite(number), "a number that is not finite")
        self.check(not number.is_integer() or abs(number) >= 2**53, "an integer as a double")
        return number

    def date(self):
        number = self.f64()
        self.check(number.is_integer() and abs(number) <= 8.64e15, "a date that is none")
        self.check(struct.pack("<d", number) != struct.pack("<d", -0.0), "a negative zero")
        return Date(number)

    def json(self, is_inside):
        text = self.text()
        try:
            said = json.loads(text, parse_constant=lambda _: math.inf, parse_int=float)
        except (ValueError, RecursionError):
            self.refuse("no JSON")
        self.check(check_json(said), "no JSON of ours")
        self.check(json_text(said) == text, "JSON of another form")
        self.check(not is_inside or said is None or isinstance(said, (list, dict)), "JSON that has a type of its own")
        return Json(text)

    def part(self):
        return self.value({1, 2, 3, 4, 5, 6, 9} | self.nothing())

    def nothing(self):
        return {0} if self.is_erased else set()

    def padding(self):
        while self.is_erased and self.data[self.at:self.at + 1] == b"\3":
            self.at += 1

    def ascending(self, read, key=units):
        """What stands in order and once."""
        values = self.many(read)
        keys = [key(value[0] if isinstance(value, tuple) else value) for value in values]
        self.check(is_ascending(keys), "values that do not ascend")
        return values

    def parts(self, read, key=units):
        values = self.ascending(read, key)
        self.check(values, "a change that says nothing")
        return values

    def tags(self):
        stamps = self.many(self.stamp)
        self.check(stamps and is_ascending(stamps), "tags that do not ascend, or none")
        return stamps

    def member(self):
        return self.value({1, 2, 3, 4, 5, 6} | self.nothing())

    def pair(self):
        return (self.text(), self.part())

    def field_value(self, kind):
        if kind in SIMPLE:
            return self.value(SIMPLE[kind] | {0})
        if kind != COUNTER and self.is_erased and self.data[self.at] == 0:
            self.at += 1
            return "" if kind == TEXT else []
        if kind in (COUNTER, TEXT):
            return self.value(RICH[kind])
        self.check({self.uint(1)} == RICH[kind], "a value that does not fit")
        if kind == SET:
            return self.ascending(self.member, rank)
        return self.ascending(self.pair) if kind == MAP else self.many(self.part)

    def shape(self):
        collection, version = self.text(), self.varint()
        fields = self.many(lambda: (self.text(), self.uint(1)))
        self.check(COLLECTION.fullmatch(collection), "a collection without a name")
        self.check(all(FIELD.fullmatch(name) and name not in RESERVED for name, _ in fields), "a field without a name")
        self.check(all(kind in SIMPLE or kind in RICH for _, kind in fields), "a field of an unknown kind")
        self.check(len(set(name for name, _ in fields)) == len(fields), "a field twice")
        return (collection, version, fields)

    def change(self, kind):
        what = self.uint(1)
        self.check(what in CHANGES.get(kind, {0}), f"change {what} of a field of kind {kind}")
        return (what, self.rest_of_change(what, kind))

    def rest_of_change(self, what, kind):
        if what == 0:
            return self.field_value(kind)
        if what == 1:
            number = self.f64()
            whole = number.is_integer() and abs(number) < 2**53 and struct.pack("<d", number) != struct.pack("<d", -0.0)
            self.check(whole and number != 0, "no whole increment")
            return int(number)
        if what == 2:
            return self.parts(self.member, rank)
        if what == 3:
            return self.parts(lambda: (self.member(), self.tags()), rank)
        if what == 4:
            return self.parts(self.pair)
        if what == 5:
            return self.parts(self.text)
        if what == 6:
            return self.parts(lambda: (self.element(), self.position(), self.part()))
        if what == 7:
            return self.parts(lambda: (self.element(), self.position()))
        if what == 8:
            return self.parts(self.element)
        return self.parts(lambda: (self.element(), self.part())) if what == 9 else self.text_change()

    def element(self):
        name = self.text()
        self.check(name, "an element without a name")
        return name

    def position(self):
        text = self.text()
        digits = re.fullmatch(r"([a-zA-Z])([0-9A-Za-z]*)", text)
        self.check(digits is not None, "no position")
        length = ord(text[0]) - ord("a") + 1 if text[0].islower() else ord("Z") - ord(text[0]) + 1
        fraction = text[1 + length:]
        self.check(len(text) > length and not fraction.endswith("0"), "no position")
        self.check(text != "A" + 26 * "0", "a position that has none before it")
        return text

    def text_change(self):
        """format-text.md: units that are new, and deleted ones."""
        clients = self.many(self.varint)
        self.check(is_ascending(clients) and all(client < 2**35 for client in clients), "clients that do not ascend")
        entries, named, writers = [], set(), 0
        for _ in range(self.varint()):
            entries.append(self.client(clients))
            runs = self.text_runs(clients, entries[-1])
            gone = self.text_spans(runs)
            self.check(runs or gone, "a client without units")
            writers += len(runs) > 0
            named |= {entries[-1]} | {unit[0] for run in runs for unit in run[2] if unit}
        self.check(is_ascending(entries) and writers <= 1, "entries that do not ascend, or two writers")
        self.check(named == set(clients), "a client that is not named")
        self.check(entries, "an edit that says nothing")

    def client(self, clients):
        index = self.varint()
        self.check(index < len(clients), "no client")
        return clients[index]

    def unit(self, clients):
        return (self.client(clients), self.varint())

    def text_runs(self, clients, client):
        """Runs as (first clock, end, (left, right), is deleted)."""
        runs, at = [], 0
        for _ in range(self.varint()):
            at += self.varint()
            form = self.uint(1)
            self.check(form & 3 <= 2 and form >> 3 <= 2, "a run of no form")
            before = (client, at - 1)
            left = [None, before, None][form & 3] if form & 3 < 2 else self.unit(clients)
            right = self.unit(clients) if form & 4 else None
            self.check(form & 3 < 2 or left != before, "a left that goes without saying")
            for beside in (left, right):
                here = beside is None or (0 <= beside[1] < 2**32 and (beside[0] != client or beside[1] < at))
                self.check(here, "a unit beside what cannot be there")
            end = at + self.text_content(form >> 3)
            self.check(at < end <= 2**32, "units that cannot be")
            run = (at, end, (left, right), form >> 3 == 1)
            goes_on = runs and left == before and runs[-1][1] == at and runs[-1][2][1] == right and runs[-1][3] == run[3]
            self.check(not goes_on, "two runs that are one")
            runs.append(run)
            at = end
        return runs

    def text_content(self, how):
        """How many UTF-16 units it has."""
        if how == 0:
            return len(units(self.text())) // 2
        if how == 1:
            return self.varint()
        raw = b"".join(int.to_bytes(unit, 2, "big") for unit in self.many(lambda: self.uint(2)))
        try:
            raw.decode("utf-16-be")
        except UnicodeDecodeError:
            return len(raw) // 2
        return self.refuse("whole characters as units")

    def text_spans(self, runs):
        spans, at = [], 0
        for _ in range(self.varint()):
            start = at + self.varint()
            at = start + self.varint()
            self.check(start < at <= 2**32 and (not spans or spans[-1] < start), "units that cannot be")
            self.check(not any(run[0] < at and start < run[1] for run in runs), "deleted units among the runs")
            spans.append(at)
        return spans

    def operation(self, shapes):
        self.padding()
        head = self.varint()
        index, what = head >> 2, head & 3
        self.check(index < len(shapes) and what <= DELETE, "an operation of no kind")
        collection, _, fields = shapes[index]
        self.check(index <= self.used, "shapes in another order than their use")
        self.used = max(self.used, index + 1)
        generation, name = self.varint(), self.text()
        self.check(name and not CONTROL.search(name), "an item without an id")
        rest = None
        if what == CREATE:
            rest = [(field, kind, self.field_value(kind)) for field, kind in fields]
        elif what == UPDATE:
            changes = self.many(lambda: self.field_change(fields))
            self.check(changes, "an update that says nothing")
            self.check(is_ascending([place for place, _ in changes]), "changes that do not ascend")
            rest = [change for _, change in changes]
        return (collection, name, what, generation, rest)

    def field_change(self, fields):
        index = self.varint()
        self.check(index < len(fields), "a field that the shape has not")
        name, kind = fields[index]
        change = self.change(kind)
        return ((index, change[0]), (name, kind, change))


def read_payload(data, place):
    """The operations of a payload, and what its commit's id says of it, unless values of it are erased."""
    payload = Payload(data, place)
    if data[:1] == b"\2":
        payload.check(len(data) == 35 and data[1:3] == b"\0\0", "no stub")
        return [], data[3:]
    payload.is_erased, is_salted = data[:1] == b"\3", data[:1] == b"\4"
    if payload.is_erased or is_salted:
        payload.at += 1
    else:
        payload.form()
    shapes = payload.many(payload.shape)
    payload.check(len({repr(shape) for shape in shapes}) == len(shapes), "a shape twice")
    operations = payload.many(lambda: payload.operation(shapes))
    payload.check(payload.used == len(shapes), "a shape without use")
    payload.padding()
    payload.check(not is_salted or any(payload.take(16)), "a salt of zeros")
    payload.end()
    return operations, None if payload.is_erased else sha256(data)
