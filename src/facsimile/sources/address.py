"""Addresses: where records are, as one value that every command, key, tag and guard shares.

    data.csv  data.csv.gz  data.parquet  data.arrow     a file
    data.sav  data.zsav  data.dta                       a file of SPSS or Stata
    data.duckdb#TABLE  data.sqlite#TABLE                a table of a database file
    postgres://USER@HOST:PORT/DATABASE#SCHEMA.TABLE     a server's table; default port 5432, schema public
    spark://local/PATH  spark://HOST:PORT/PATH          a file or a folder that Spark reads
    spark://local#TABLE  spark://HOST:PORT#TABLE        a table that Spark knows

An address says itself which table it means, whatever the environment holds, and `identity` is the same for
every spelling of it: a guard that knows one spelling knows them all. Nothing is opened here.
"""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import unquote

from facsimile.errors import FacsimileError, refusal

POSTGRES_PORT, SPARK_PORT = 5432, 7077
LONGEST_NAME = 63
"""Bytes of a database's name; PostgreSQL cuts longer ones, and two spellings would be one database."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_SERVER = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9_-][A-Za-z0-9._-]*))(?::([0-9]{1,5}))?")
_NUMERIC = re.compile(r"[0-9.]+|0[xX].*")


@dataclass(frozen=True)
class Address:
    """Where the records are; the login is no part of what it is."""

    scheme: Literal["file", "postgres", "spark"]
    path: Path | None = None
    table: str | None = None
    host: str = ""
    port: int = 0
    database: str = ""
    user: str | None = field(default=None, repr=False, compare=False)
    password: str | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, given: str | Path | Address) -> Address:
        """Read an address; one letter before the colon is a drive, not a scheme.

        >>> Address.of("postgresql://me@Host/registry#births").identity
        'postgres://host:5432/registry#public.births'
        >>> Address.of("C:/data/births.sqlite#births").table
        'births'
        """
        if isinstance(given, Address):
            return given
        text = str(given)
        scheme = _SCHEME.match(text) if isinstance(given, str) else None
        if "\0" in text or not text:
            raise _malformed("it is empty or holds a NUL character")
        if scheme is None:
            return _file(text)
        match scheme[1].lower():
            case "postgres" | "postgresql":
                return _postgres(text[scheme.end() :])
            case "spark":
                return _spark(text[scheme.end() :])
        raise _malformed("it begins with a scheme that facsimile does not know")

    @property
    def place(self) -> Path | None:
        """The path behind all links, of a file or a folder that may not be there; None for a server's table."""
        return None if self.path is None else Path(os.path.realpath(self.path))

    @property
    def file(self) -> Path | None:
        """The file itself, behind all links, whatever table of it is named; None where there is no file."""
        place = self.place
        return place if place is not None and place.is_file() else None

    @property
    def beside(self) -> Path | None:
        """Where the key of a file lies: beside the file itself, whatever table or link was named."""
        file = self.file
        return None if file is None else file.with_name(file.name + ".key")

    @property
    def identity(self) -> str:
        """The same for every spelling, without the login: a path, or server, database, schema and table."""
        if self.path is not None:
            return str(self.place)
        port, database = f":{self.port}" if self.port else "", f"/{self.database}" if self.database else ""
        return f"{self.scheme}://{_plain_host(self.host)}{port}{database}#{self.table}"

    @property
    def name(self) -> str:
        """What may be told about it anywhere: a name without folder, host or login."""
        if self.path is not None:
            return (self.place or self.path).name
        return f"{self.database}#{self.table}" if self.database else str(self.table)


def _malformed(problem: str) -> FacsimileError:
    return refusal("E114", problem=problem)


def _file(text: str) -> Address:
    """`FILE#TABLE`; a file whose name holds a number sign is a file."""
    path, mark, table = text.rpartition("#")
    if not mark or not path or Path(text).is_file():
        return Address("file", Path(text))
    return Address("file", Path(path), table or None)


def _postgres(rest: str) -> Address:
    where, _, table = rest.partition("#")
    authority, _, database = where.partition("/")
    login, _, server = authority.rpartition("@")
    user, _, password = login.partition(":")
    host, port = _server(server)
    database = unquote(database)
    schema, dot, name = table.partition(".")
    if not database or re.search(r"[/=?\x00-\x1f]", database) or len(database.encode()) > LONGEST_NAME:
        raise _malformed("it names one database after the host, and nothing else")
    if not schema or (dot and not name):
        raise _malformed("it names one table after a number sign")
    full = table if dot else f"public.{table}"
    secret = unquote(password) or None
    return Address("postgres", None, full, host, port or POSTGRES_PORT, database, unquote(user) or None, secret)


def _spark(rest: str) -> Address:
    master = re.split("[/#]", rest)[0]
    tail = rest[len(master) :]
    host, port = _server(master)
    if host == "local" and port is not None:
        raise _malformed("`local` has no port")
    port = 0 if host == "local" else port or SPARK_PORT
    if tail.startswith("#") and len(tail) > 1:
        return Address("spark", None, tail[1:], host, port)
    if not tail.strip("/#"):
        raise _malformed("it names no path and no table")
    drive = re.fullmatch(r"/+([A-Za-z]:.*)", tail)
    path = Path(drive[1] if drive else "/" + tail.strip("/"))
    if "#" in tail and not path.exists():
        raise _malformed("it names a path or a table of Spark, not both")
    return Address("spark", path, None, host, port)


def _server(text: str) -> tuple[str, int | None]:
    """One host and, where it is said, its port; numbers are an address in full, so that it has one spelling."""
    found = _SERVER.fullmatch(text)
    if found is None or (found[3] is not None and not 0 < int(found[3]) < 1 << 16):
        raise _malformed("it names one host, perhaps with a port")
    host = (found[1] or found[2]).lower().rstrip(".")
    if found[1] or _NUMERIC.fullmatch(host):
        try:
            number = ipaddress.ip_address(host)
            host = str(getattr(number, "ipv4_mapped", None) or number)
        except ValueError:
            raise _malformed("its host is no whole address") from None
    return host, int(found[3]) if found[3] else None


def _plain_host(host: str) -> str:
    """This machine has one name here; it also answers to the unspecified address."""
    try:
        number = ipaddress.ip_address(host)
        return "localhost" if number.is_loopback or number.is_unspecified else host
    except ValueError:
        return host
