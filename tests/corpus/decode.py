#!/usr/bin/env python3
"""Reads and judges repository logs, after docs/format.md and nothing else.

    decode.py FOLDER…  what the logs of repositories say
    decode.py -        what it says of payloads, each a line of hexadecimal digits

Prints one line of JSON for each folder: what its log says, or
`{"refused": why, "place": where}`. It shares no line with the product, so what
both say of one folder is what the pages say.
"""

import json
import os
import re
import sys
import zlib

sys.dont_write_bytecode = True

from ed25519 import is_signed
from fields import Bytes, Refused, is_ascending, sha256
from payload import read_payload
from state import State

SYNCED, UNSEALED = 0x80, 0x40


def read_segment(data, index, base):
    """The records of a segment as (kind, address of the body, body), and the address of its end."""
    head = Bytes(data[:64], base)
    head.check(len(data) >= 64, "a segment without a whole header")
    head.check(head.take(8) == b"SHEAFLOG", "no segment of a log")
    head.check(head.uint(2) == 2, "a log of another format")
    head.check(head.uint(2) == 0, "no zeros")
    head.check(head.uint(4) == index, "a segment with another index")
    head.check(head.uint(6) == base, "a segment that does not begin where the one before ended")
    head.check(head.uint(2) == 0, "no zeros")
    salt = head.take(8)
    head.check(not any(head.take(28)), "no zeros")
    head.check(head.uint(4) == zlib.crc32(data[:60]), "a header with a wrong checksum")
    records, at, end = [], 64, len(data.rstrip(b"\0"))
    while at < end:
        record = Bytes(data[at:], base + at)
        length, checksum, kind = record.uint(4), record.uint(4), record.uint(1)
        record.check(record.at + length <= len(record.data), "neither a record nor the end")
        body = record.take(length)
        place = int.to_bytes(base + at, 6, "little")
        covered = salt + place + record.data[:4] + bytes([kind]) + body
        if zlib.crc32(covered) != checksum or kind & UNSEALED:
            raise Refused(base + at, "neither a record nor the end")
        records.append((kind & ~SYNCED, base + at + 9, body))
        at += 9 + length
    return records, base + at


def read_records(folder):
    names = sorted(name for name in os.listdir(folder) if re.fullmatch(r"log-\d{8}", name))
    records, base = [], 0
    for index, name in enumerate(names):
        if int(name[4:]) != index:
            raise Refused(base, f"there is no segment {index}")
        with open(os.path.join(folder, name), "rb") as file:
            more, base = read_segment(file.read(), index, base)
        records += more
    if not records:
        raise Refused(0, "there is no log")
    return records


MODES = {1: "default", 2: "trusted", 3: "fast"}


def is_object(text):
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def varint(number):
    return bytes([number]) if number < 128 else bytes([number % 128 | 128]) + varint(number // 128)


def ranges(numbers):
    firsts = [number for number in numbers if number - 1 not in numbers]
    ends = [number + 1 for number in numbers if number + 1 not in numbers]
    gaps = [first - end for first, end in zip(firsts, [0, *ends])]
    said = [varint(gap) + varint(end - first) for gap, first, end in zip(gaps, firsts, ends)]
    return varint(len(said)) + b"".join(said)


def end_of(chain):
    """How long a chain is, its last id, and which of its commits are void."""
    length, last = len(chain.commits), chain.commits[-1]["id"]
    void = [number for number, commit in enumerate(chain.commits) if commit["void"]]
    voids = ranges(void) if void else b""
    return int.to_bytes(length + (2**47 if void else 0), 6, "little") + last + voids


class Chain:
    """Clocks, ids and operations of one chain's commits, by number."""

    def __init__(self, start):
        self.start, self.commits, self.firsts, self.stubs = start, [], set(), {}

    def id_before(self, number):
        return self.commits[number - 1]["id"] if number > 0 else self.start


class Log:
    def __init__(self, records):
        self.records, self.chains, self.certificates, self.cuts = {}, {}, {}, {}
        self.signatures, self.owed, self.order, self.erased = 0, [], [], {}
        self.epoch, self.accepted, self.flush = None, None, []
        kind, place, body = records[0]
        self.genesis(Bytes(body, place), kind)
        readers = {2: self.certificate, 3: self.batch, 4: self.batch, 5: self.revocation, 6: self.void}
        readers |= {7: self.redaction, 8: self.retirement, 52: self.erasure}
        for kind, place, body in records:
            if kind in (7, 52):
                readers[kind](Bytes(body, place), kind, True)
        readers |= {48: self.cut, 49: self.resolution, 50: self.refusal, 51: self.mark}
        for kind, place, body in records:
            self.records[kind] = self.records.get(kind, 0) + 1
            if place == records[0][1]:
                continue
            reader = readers.get(kind, self.statement if 32 <= kind < 48 else None)
            if reader is not None:
                reader(Bytes(body, place), kind)
            elif kind < 48:
                raise Refused(place, f"records of kind {kind} must be understood")
        for name, _, commit in self.order if self.mode == "default" else []:
            self.check_dates(name[:32], commit)
        for place, _, _ in self.owed:
            raise Refused(place, "what follows it is not there")

    def genesis(self, body, kind):
        body.check(kind == 1, "a log does not begin with its genesis")
        body.form()
        mode = body.uint(1)
        body.check(mode in MODES, "a mode that is none")
        self.mode, self.root, self.name = MODES[mode], body.take(32), body.text()
        body.end()
        self.id = sha256(b"sheaf genesis 1\n", body.data)

    # Signed by who may issue

    def signed(self, body, context):
        """Ends a body with issuer and signature; the issuer."""
        issuer = body.take(32)
        covered = body.data[:body.at]
        self.verify(body, body.take(64), context + covered, issuer)
        body.end()
        return issuer

    def verify(self, body, signature, message, key):
        body.check(is_signed(signature, message, key), "a signature that is not right")
        self.signatures += 1

    def may_issue(self, issuer, first, last):
        return issuer == self.root or any(
            one["issues"] and one["from"] <= first and last <= one["to"]
            for one in self.certificates.get(issuer, []))

    def certificate(self, body, _kind):
        body.form()
        right = body.uint(1)
        body.check(right <= 2, "a right that is none")
        key, first, last = body.take(32), body.uint(6), body.uint(6)
        one = {"issues": right == 1, "redacts": right == 2, "from": first, "to": last, "user": body.text(), "claims": body.text()}
        issuer = self.signed(body, b"sheaf certificate 1\n")
        may = issuer == self.root or right < 2 and self.may_issue(issuer, first, last)
        body.check(may, "an issuer who may not")
        body.check(first <= last and is_object(one["claims"]), "a certificate of no time, or claims that are no object")
        known = self.certificates.setdefault(key, [])
        same = ("issues", "redacts", "user", "claims")
        body.check(all(one[name] == known[0][name] for name in same if known), "a key of two users")
        known.append(one)

    def revocation(self, body, _kind):
        body.form()
        body.check(body.take(32) == self.id, "of another repository")
        key = body.take(32)
        cuts = body.many(lambda: (body.take(8), body.varint()))
        body.check(is_ascending([incarnation for incarnation, _ in cuts]), "cuts that do not ascend")
        wall, _reason = body.uint(6), body.text()
        issuer = self.signed(body, b"sheaf revocation 1\n")
        body.check(issuer != key and self.may_issue(issuer, wall, wall), "an issuer who may not")
        largest = self.cuts.setdefault(key, {})
        for incarnation, commits in cuts:
            largest[incarnation] = max(commits, largest.get(incarnation, 0))

    def void(self, body, _kind):
        body.form()
        body.check(body.take(32) == self.id, "of another repository")
        chain = body.take(40)
        ranges = body.many(lambda: (body.varint(), body.varint()))
        body.check(all(count > 0 for _, count in ranges), "a range of nothing")
        issuer = self.signed(body, b"sheaf void 1\n")
        body.check(issuer == chain[:32] and issuer in self.certificates, "another key than the chain's")

    def redaction(self, body, _kind, is_ahead=False):
        """What is erased is told behind the commits that it is erased of."""
        body.form()
        repository, wall, _reason = body.take(32), body.uint(6), body.text()
        items = body.many(lambda: (body.text(), body.text()))
        chains = body.many(self.erased_chain(body))
        if is_ahead:
            return self.note_erased(chains)
        body.check(repository == self.id, "of another repository")
        body.check(items and chains, "a redaction of nothing")
        issuer = self.signed(body, b"sheaf redaction 1\n")
        may = issuer == self.root or any(
            one["redacts"] and one["from"] <= wall <= one["to"] for one in self.certificates.get(issuer, []))
        body.check(may, "an issuer who may not")

    def retirement(self, body, _kind):
        body.form()
        body.check(body.take(32) == self.id, "of another repository")
        ends = body.many(lambda: (body.take(8), body.varint()))
        body.check(ends and is_ascending([incarnation for incarnation, _ in ends]), "chains that do not ascend, or none")
        body.check(all(commits > 0 for _, commits in ends), "the end of a chain that has not begun")
        issuer = self.signed(body, b"sheaf retirement 1\n")
        body.check(issuer in self.certificates, "of a key that nobody certified")

    def erasure(self, body, _kind, is_ahead=False):
        body.form()
        body.check(body.uint(1) <= 1, "neither done nor not")
        chains = body.many(self.erased_chain(body))
        body.end()
        if is_ahead:
            self.note_erased(chains)

    def erased_chain(self, body):
        return lambda: (body.take(40), body.many(lambda: (body.varint(), body.take(32), body.take(32))))

    def note_erased(self, chains):
        for chain, commits in chains:
            for number, was, left in commits:
                self.erased.setdefault((chain, number), []).append((was, left))

    def statement(self, body, kind):
        body.form()
        body.check(body.take(32) == self.id, "of another repository")
        wall, _content = body.uint(6), body.blob()
        issuer = self.signed(body, b"sheaf statement %d\n" % kind)
        body.check(self.may_issue(issuer, wall, wall), "an issuer who may not")

    # Commits

    def chain(self, name):
        if name not in self.chains:
            self.chains[name] = Chain(sha256(b"sheaf chain 1\n", self.id, name))
        return self.chains[name]

    def batch(self, body, kind):
        body.check((kind == 3) == (self.mode == "default"), f"a batch of kind {kind} in {self.mode} mode")
        body.form()
        name, first = body.take(40), body.varint()
        chain = self.chain(name)
        body.check(first <= len(chain.commits), "a gap in a chain")
        count = body.varint()
        body.check(count > 0, "an empty batch")
        chain.firsts.add(first)
        before = chain.id_before(first)
        for number in range(first, first + count):
            before = self.commit(body, name, number, before)
        stubs = [number for number in range(first, first + count) if chain.stubs[number]]
        self.flush.append(name + int.to_bytes(first + count, 6, "little") + ranges(stubs))
        if kind == 3:
            self.verify(body, body.take(64), b"sheaf seal 1\n" + self.id + name + before, name[:32])
        body.end()

    def commit(self, body, name, number, before):
        chain, start = self.chain(name), body.at
        clock = (body.uint(6), body.uint(2))
        parents = [(body.take(40), body.varint()) for _ in range(body.uint(1))]
        header = body.data[start:body.at]
        payload, place = body.blob(), body.place + body.at
        operations, hashed = read_payload(payload, place - len(payload))
        if hashed is None:
            known = self.erased.get((name, number))
            body.check(known is not None, "values are missing that nobody erased")
            is_left = len(known) > 1 or known[0][1] == sha256(payload)
            body.check(is_left, "another payload than what was to be left")
            hashed = known[0][0]
        commit = {"id": sha256(before, header, hashed), "clock": clock, "parents": parents, "operations": operations}
        commit["place"], commit["void"] = body.place + start, payload[:1] == b"\2"
        chain.stubs[number] = commit["void"]
        if number < len(chain.commits):
            body.check(commit["id"] == chain.commits[number]["id"], "two commits of one number")
            return commit["id"]
        self.admit(body, name, number, commit)
        chain.commits.append(commit)
        self.order.append((name, number, commit))
        self.owed = [one for one in self.owed if one[1] != name or one[2] > number + 1]
        return commit["id"]

    def admit(self, body, name, number, commit):
        chain, parents = self.chain(name), commit["parents"]
        key, incarnation = name[:32], name[32:]
        body.check(key not in self.cuts or number < self.cuts[key].get(incarnation, 0), "a commit behind a cut")
        body.check(len(parents) <= 16 and is_ascending([one for one, _ in parents]), "parents that do not ascend")
        clocks = [chain.commits[-1]["clock"]] if number > 0 else []
        for parent, place in parents:
            known = self.chain(parent).commits
            body.check(parent != name, "a parent of its own chain")
            body.check(place < len(known), "a parent that is not known")
            clocks.append(known[place]["clock"])
        body.check(all(clock < commit["clock"] for clock in clocks), "a clock that goes back")

    def check_dates(self, key, commit):
        """A certificate may come late, but only to the folder of the key itself."""
        known, wall = self.certificates.get(key, []), commit["clock"][0]
        if commit["operations"] and known and not any(one["from"] <= wall <= one["to"] for one in known):
            raise Refused(commit["place"], "a commit that no certificate covers")

    # Local notes

    def refusal(self, body, _kind):
        body.form()
        chain = self.chain(body.take(40))
        refused = body.many(lambda: (body.varint(), body.uint(6), body.uint(2), body.varint(),
                                     body.text(), body.text(), body.text(), body.uint(1)))
        body.end()
        body.check(refused, "a refusal of nothing")
        for number, wall, counter, *_ in refused:
            body.check(number < len(chain.commits), "a refusal of what is not there")
            commit = chain.commits[number]
            body.check(commit["clock"] == (wall, counter), "another clock of a refused commit")
            commit["operations"], commit["void"] = [], True

    def cut(self, body, _kind):
        body.form()
        cuts = body.many(lambda: (body.take(40), body.varint()))
        body.end()
        body.check(cuts, "a cut of nothing")
        for name, start in cuts:
            chain = self.chain(name)
            body.check(start < len(chain.commits), "a cut behind its chain")
            body.check(start in chain.firsts, "a cut within a batch")
            del chain.commits[start:]
            self.order = [one for one in self.order if one[0] != name or one[1] < start]

    def resolution(self, body, _kind):
        body.form()
        body.take(40), body.varint()
        retried = body.uint(1)
        body.check(retried <= 1, "neither discarded nor retried")
        if retried:
            chain, number = body.take(40), body.varint()
            body.uint(6), body.uint(2)
            if number < 2**53 - 1:
                self.owed.append((body.place, chain, number + 1))
        body.end()

    def mark(self, body, _kind):
        body.form()
        epoch, accepted, order = body.take(16), body.take(6), body.take(32)
        body.end()
        if epoch == self.epoch:
            self.accepted = sha256(self.accepted, accepted, *self.flush)
        else:
            self.epoch, self.accepted = epoch, sha256(b"sheaf order 1\n", self.id, epoch)
        self.flush = []
        body.check(order == self.accepted, "batches that came in another order")

    # What it comes to

    def known_chains(self):
        return sorted((name, chain) for name, chain in self.chains.items() if chain.commits)

    def digest(self):
        return sha256(b"sheaf commits 1\n", self.id, *(name + end_of(chain) for name, chain in self.known_chains()))

    def heads(self):
        named = {parent for _, _, commit in self.order for parent in commit["parents"]}
        tips = [(name, len(chain.commits) - 1) for name, chain in self.known_chains()]
        return [tip for tip in tips if tip not in named]

    def user(self, name):
        known = self.certificates.get(name[:32])
        return known[0]["user"] if known else None

    def items(self):
        state = State()
        for name, _, commit in self.order:
            for operation in commit["operations"]:
                state.fold(operation, (*commit["clock"], name))
        return state.shown()

    def told(self):
        chains = {name.hex(): {"length": len(chain.commits), "last": chain.commits[-1]["id"].hex(), "user": self.user(name)}
                  for name, chain in self.known_chains()}
        return {
            "genesis": self.id.hex(), "name": self.name, "mode": self.mode, "root": self.root.hex(),
            "chains": chains, "heads": [f"{name.hex()}:{number}" for name, number in self.heads()],
            "digest": self.digest().hex(), "order": self.accepted and self.accepted.hex(), "items": self.items(), "signatures": self.signatures,
            "records": {str(kind): count for kind, count in sorted(self.records.items())},
        }


def judge(folder):
    try:
        return Log(read_records(folder)).told()
    except Refused as refused:
        return {"refused": str(refused), "place": refused.place}


def judge_payload(data):
    try:
        read_payload(data, 0)
        return "sound"
    except Refused as refused:
        return f"{refused} at {refused.place}"


if __name__ == "__main__":
    if sys.argv[1:] == ["-"]:
        for line in sys.stdin:
            print(judge_payload(bytes.fromhex(line)))
        sys.exit()
    for path in sys.argv[1:]:
        print(json.dumps(judge(path), ensure_ascii=False))
