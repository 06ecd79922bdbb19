"""Bytes read as docs/format.md writes them, and what is said of those that are not."""

import hashlib
import struct


class Refused(Exception):
    def __init__(self, place, why):
        super().__init__(why)
        self.place = place


class Bytes:
    """A reader of bytes that says where it stands."""

    def __init__(self, data, place):
        self.data, self.place, self.at = data, place, 0

    def refuse(self, why):
        raise Refused(self.place + self.at, why)

    def check(self, holds, why):
        if not holds:
            self.refuse(why)

    def take(self, count):
        self.check(self.at + count <= len(self.data), "ends too early")
        self.at += count
        return self.data[self.at - count:self.at]

    def uint(self, count):
        return int.from_bytes(self.take(count), "little")

    def f64(self):
        return struct.unpack("<d", self.take(8))[0]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.uint(1)
            value |= (byte & 127) << shift
            self.check(value < 2**53, "a varint of more than 53 bits")
            if byte < 128:
                self.check(byte > 0 or shift == 0, "a varint with needless bytes")
                return value
            shift += 7

    def blob(self):
        return self.take(self.varint())

    def text(self):
        head = self.varint()
        data = self.take(head >> 1)
        self.check(data.isascii() == (head & 1 == 0), "a text with a wrong ASCII mark")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            self.refuse("a text that is no UTF-8")

    def many(self, read):
        return [read() for _ in range(self.varint())]

    def stamp(self):
        """A clock and a chain: what orders writes."""
        return (self.uint(6), self.uint(2), self.take(40))

    def form(self):
        self.check(self.uint(1) == 1, "a body of another format")

    def end(self):
        self.check(self.at == len(self.data), "bytes behind the end")


def units(text):
    """What texts are ordered by: UTF-16 units."""
    return text.encode("utf-16-be")


def is_ascending(keys):
    return all(a < b for a, b in zip(keys, keys[1:]))


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()
