"""Ed25519 signatures (RFC 8032), verified after ZIP-215, for reading and not for speed.

    ed25519.py -   judges key, message and signature, three hexadecimal words a line
"""

import hashlib
import sys

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)
NEUTRAL = (0, 1, 1, 0)


def add(a, b):
    """The sum of two points in extended coordinates."""
    m, n = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    t, z = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    e, f, g, h = n - m, z - t, z + t, n + m
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def times(number, point):
    result = NEUTRAL
    while number > 0:
        if number & 1:
            result = add(result, point)
        point = add(point, point)
        number >>= 1
    return result


def is_neutral(point):
    return point[0] % P == 0 and (point[1] - point[2]) % P == 0


def point_of(data):
    """The point of 32 bytes; ZIP-215 takes any y, and -0 for x. None: there is none."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, (y & (2**255 - 1)) % P
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P != 0:
        x = x * ROOT_OF_MINUS_ONE % P
    if (x * x - square) % P != 0:
        return None
    if x & 1 != sign:
        x = (P - x) % P
    return (x, y, 1, x * y % P)


BASE = point_of(int.to_bytes(4 * pow(5, -1, P) % P, 32, "little"))


def is_signed(signature, message, key):
    a, r = point_of(key), point_of(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= ORDER:
        return False
    digest = hashlib.sha512(signature[:32] + key + message).digest()
    k = int.from_bytes(digest, "little") % ORDER
    minus = lambda point: (P - point[0], point[1], point[2], P - point[3])
    rest = add(times(s, BASE), add(minus(r), times(k, minus(a))))
    return is_neutral(times(8, rest))


if __name__ == "__main__":
    for line in sys.stdin:
        key, message, signature = map(bytes.fromhex, line.rstrip("\n").split(" "))
        print("valid" if is_signed(signature, message, key) else "wrong")
