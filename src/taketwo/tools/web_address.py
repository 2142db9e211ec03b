"""Which addresses a page may be fetched from: http or https, a public host, and no credentials.

A host is looked up once, every address that it has must be public, and the connection goes to one
of those very addresses, so that a name cannot mean something else a moment later.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import anyio
import httpx

from taketwo.tools.tool_failure import ToolFailure

__all__ = [
    "Resolve",
    "WebAddress",
    "is_public",
    "public_addresses",
    "system_resolve",
    "web_address",
]

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Looks up the IP addresses of a host and port; raises `OSError` where there are none."""

_IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
_MOST_CHARACTERS = 2048
_PORTS = frozenset({80, 443, 8000, 8080, 8443})
_NAME = re.compile(r"[A-Za-z0-9._-]{1,253}")
_NUMBER = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)", re.IGNORECASE)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_CLOUD_SERVICES = frozenset({ipaddress.ip_address("168.63.129.16")})
"""Addresses from the public range that stand for a service inside a cloud provider's host."""


@dataclass(frozen=True, kw_only=True)
class WebAddress:
    """A checked address: its URL, the host in ASCII without brackets, and the port."""

    url: httpx.URL
    host: str
    port: int


def web_address(text: str) -> WebAddress:
    """Return an address that may be looked up.

    Raises
    ------
    ToolFailure
        With code `invalid_url` where it is none, or `refused_address` where scheme, credentials,
        port or the form of the host are not allowed.
    """
    url = _parsed(text)
    if url.scheme not in {"http", "https"}:
        raise _refused(f"the scheme {url.scheme[:20]!r} is not http or https")
    if url.userinfo:
        raise _refused("it carries a user name or password")
    port = url.port or (443 if url.scheme == "https" else 80)
    if port not in _PORTS:
        raise _refused(f"port {port} is not one of {', '.join(map(str, sorted(_PORTS)))}")
    host = url.raw_host.decode("ascii", "replace")
    literal = _literal(host)
    if literal is None and not _NAME.fullmatch(host):
        raise _refused(f"{host[:80]!r} is no name of a host")
    if literal is None and _NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2]):
        raise _refused(f"the host {host[:80]!r} is a number in an unusual form")
    if literal is not None and not is_public(literal):
        raise _refused(f"{literal} is not a public address")
    return WebAddress(url=url, host=host, port=port)


def _parsed(text: str) -> httpx.URL:
    stripped = text.strip()
    if len(stripped) > _MOST_CHARACTERS:
        raise ToolFailure(
            "invalid_url",
            f"the address has {len(stripped)} characters, at most {_MOST_CHARACTERS} are allowed",
            retryable=False,
        )
    try:
        url = httpx.URL(stripped)
    except (httpx.InvalidURL, UnicodeError, ValueError) as error:
        raise ToolFailure(
            "invalid_url", f"{stripped[:80]!r} is no web address: {error!s:.120}", retryable=True
        ) from error
    if not url.scheme or (url.scheme in {"http", "https"} and not url.raw_host):
        raise ToolFailure(
            "invalid_url",
            f"{stripped[:80]!r} is no whole web address; give one such as https://example.org/page",
            retryable=True,
        )
    return url


def _literal(host: str) -> _IpAddress | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def is_public(address: _IpAddress) -> bool:
    """Return whether an IP address is one of the public internet.

    Private, loopback, link-local, shared, reserved, multicast and documentation ranges are not,
    neither as IPv4 nor carried inside IPv6 (mapped, NAT64, 6to4, Teredo).
    """
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address in _NAT64:
            return is_public(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
        if address.sixtofour is not None or address.teredo is not None or address.is_site_local:
            return False
    return (
        address.is_global
        and not address.is_multicast
        and not address.is_reserved
        and not address.is_unspecified
        and address not in _CLOUD_SERVICES
    )


async def system_resolve(host: str, port: int) -> list[str]:
    """Return the IP addresses that the system knows for a host."""
    found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


async def public_addresses(address: WebAddress, resolve: Resolve) -> tuple[str, ...]:
    """Return the IP addresses of a host to connect to, IPv4 first.

    Raises
    ------
    ToolFailure
        With code `unknown_host`, or `refused_address` where one of them is not public.
    """
    literal = _literal(address.host)
    if literal is not None:
        return (str(literal),)
    try:
        found = await resolve(address.host, address.port)
        known = [ipaddress.ip_address(text.partition("%")[0]) for text in found]
    except (OSError, UnicodeError, ValueError) as error:
        raise ToolFailure(
            "unknown_host", f"there is no host {address.host[:80]!r}", retryable=False
        ) from error
    if not known:
        raise ToolFailure(
            "unknown_host", f"there is no host {address.host[:80]!r}", retryable=False
        )
    for one in known:
        if not is_public(one):
            raise _refused(f"{address.host[:80]!r} leads to an address that is not public")
    ordered = sorted(known, key=lambda one: one.version)
    return tuple(dict.fromkeys(str(one) for one in ordered))


def _refused(why: str) -> ToolFailure:
    return ToolFailure("refused_address", f"this address is not fetched: {why}", retryable=False)
