"""Made-up people, with names from many places."""

from __future__ import annotations

import random
import re
import unicodedata

import msgspec

GIVEN = (
    *("Aaliyah", "Adaeze", "Aiko", "Amara", "Anaïs", "Andrei", "Anjali", "Ayşe", "Bao", "Björn"),
    *("Carlos", "Chiara", "Daniel", "Dmitri", "Elif", "Emeka", "Esther", "Fatima", "Freya"),
    *("Giorgos", "Grace", "Hana", "Hassan", "Ines", "Ivan", "Jamal", "João", "Kamala", "Keanu"),
    *("Kwame", "Leilani", "Liam", "Lucía", "Łukasz", "Mateo", "Mei", "Miriam", "Naveen", "Ngozi"),
    *("Noor", "Olga", "Omar", "Priya", "Quentin", "Rosa", "Sanjay", "Seán", "Sofia", "Tariq"),
    *("Thandiwe", "Tomás", "Uri", "Valentina", "Wei", "Xiomara", "Yusuf", "Zofia", "Zoë"),
)
FAMILY = (
    *("Abebe", "Ahmed", "Al-Amin", "Andersen", "Banerjee", "Bello", "Castillo", "Chen", "Costa"),
    *("Dlamini", "Dubois", "Eriksson", "Fernández", "Fischer", "García", "Goldberg", "Haddad"),
    *("Hansen", "Hernández", "Horvat", "Ito", "Iyer", "Jansen", "Kaplan", "Kim", "Kovač"),
    *("Kowalska", "Lindqvist", "Lopes", "Mbeki", "Moreau", "Müller", "Nakamura", "Nguyen"),
    *("Novák", "Nwosu", "O'Connor", "Okafor", "Osei", "Papadakis", "Patel", "Pereira", "Popescu"),
    *("Ramírez", "Rossi", "Sato", "Schmidt", "Silva", "Singh", "Smith", "Tanaka", "Traoré"),
    *("Weiss", "Yılmaz", "Zhang"),
)
DOMAINS = ("example.com", "example.org")

# Letters that Unicode does not decompose into a plain letter and a mark.
_PLAIN = str.maketrans({"Ł": "L", "ł": "l", "ı": "i", "ø": "o", "Ø": "O"})


class Person(msgspec.Struct, frozen=True, rename="camel"):
    """One person; the fields are encoded with the names of the users topic."""

    user_id: str
    name: str
    email: str
    age: int


def person(rng: random.Random, number: int) -> Person:
    """The person with this number; ids and addresses are unique."""
    given, family = rng.choice(GIVEN), rng.choice(FAMILY)
    return Person(
        user_id=user_id(number),
        name=f"{given} {family}",
        email=f"{_slug(given)}.{_slug(family)}{number}@{rng.choice(DOMAINS)}",
        age=min(97, max(18, round(rng.gauss(43, 16)))),
    )


def user_id(number: int) -> str:
    return f"U{10_000 + number}"


def moved(rng: random.Random, someone: Person) -> Person:
    """The same person with another age, address or family name."""
    change = rng.random()
    if change < 0.4:
        return msgspec.structs.replace(someone, age=min(97, someone.age + 1))
    if change < 0.8:
        local, _, domain = someone.email.partition("@")
        other = DOMAINS[1 - DOMAINS.index(domain)]
        return msgspec.structs.replace(someone, email=f"{local}@{other}")
    given = someone.name.split(" ")[0]
    return msgspec.structs.replace(someone, name=f"{given} {rng.choice(FAMILY)}")


def _slug(name: str) -> str:
    decomposed = unicodedata.normalize("NFKD", name.translate(_PLAIN))
    return re.sub(r"[^a-z]", "", decomposed.lower())
