"""RSA keys and signatures in plain Python: for the demo's and the tests' certificates and tokens.

Nothing else may use it: it takes no care that the time it needs tells nothing about the key.
Python's library can check signatures' certificates but not make any, and a package that can
would be a dependency of every installation for the sake of the demo.
"""

from __future__ import annotations

import hashlib
import math
import secrets

import msgspec

from evergrid.broker import der

_EXPONENT = 65537
_ROUNDS = 8  # of Miller and Rabin; for random numbers of this size the error is below 2^-100
_SMALL = 4000  # divisors up to here are looked for at once, before the costly test
_RSA = der.sequence(der.oid("1.2.840.113549.1.1.1"), der.null())
_SHA256 = der.sequence(der.oid("2.16.840.1.101.3.4.2.1"), der.null())


class RsaKey(msgspec.Struct, frozen=True):
    """A private key: the two primes say it all."""

    p: int
    q: int

    @property
    def modulus(self) -> int:
        return self.p * self.q

    @property
    def exponent(self) -> int:
        return _EXPONENT

    @property
    def size(self) -> int:
        """Of a signature, in bytes."""
        return (self.modulus.bit_length() + 7) // 8

    def __repr__(self) -> str:
        return "RsaKey(hidden)"

    def sign(self, message: bytes) -> bytes:
        """PKCS #1 v1.5 with SHA-256, which tokens call RS256."""
        digest = der.sequence(_SHA256, der.octet_string(hashlib.sha256(message).digest()))
        padding = b"\xff" * (self.size - len(digest) - 3)
        block = int.from_bytes(b"\x00\x01" + padding + b"\x00" + digest, "big")
        return pow(block, self._private_exponent, self.modulus).to_bytes(self.size, "big")

    @property
    def _private_exponent(self) -> int:
        return pow(_EXPONENT, -1, math.lcm(self.p - 1, self.q - 1))

    def public(self) -> bytes:
        """The public half as certificates carry it (SubjectPublicKeyInfo)."""
        return der.sequence(_RSA, der.bit_string(self.public_numbers()))

    def public_numbers(self) -> bytes:
        return der.sequence(der.integer(self.modulus), der.integer(_EXPONENT))

    def pem(self) -> str:
        """PKCS #8, the one form that Java, OpenSSL and Python all read."""
        p, q, d = self.p, self.q, self._private_exponent
        numbers = (0, p * q, _EXPONENT, d, p, q, d % (p - 1), d % (q - 1), pow(q, -1, p))
        inner = der.sequence(*map(der.integer, numbers))
        return der.pem("PRIVATE KEY", der.sequence(der.integer(0), _RSA, der.octet_string(inner)))


def make_key(bits: int = 2048) -> RsaKey:
    """A new key, in about a second."""
    p = _prime(bits // 2)
    q = _prime(bits // 2)
    return RsaKey(p, q) if p != q else make_key(bits)


def _prime(bits: int) -> int:
    """With the two highest bits set, so that the product of two has all its bits."""
    while True:
        candidate = secrets.randbits(bits) | 0b11 << bits - 2 | 1
        divisible = math.gcd(candidate, _SMALL_PRODUCT) != 1
        if not divisible and (candidate - 1) % _EXPONENT and _is_prime(candidate):
            return candidate


def _is_prime(number: int) -> bool:
    twos = ((number - 1) & -(number - 1)).bit_length() - 1
    odd = (number - 1) >> twos
    return all(
        _passes(pow(secrets.randbelow(number - 3) + 2, odd, number), number, twos)
        for _ in range(_ROUNDS)
    )


def _passes(power: int, number: int, twos: int) -> bool:
    if power in (1, number - 1):
        return True
    for _ in range(twos - 1):
        power = power * power % number
        if power == number - 1:
            return True
    return False


_SMALL_PRODUCT = math.prod(
    number
    for number in range(3, _SMALL, 2)
    if all(number % divisor for divisor in range(3, math.isqrt(number) + 1, 2))
)
