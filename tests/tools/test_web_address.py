"""Which addresses may be fetched from: everything that is not the public web is refused."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

import pytest

from taketwo.tools.tool_failure import ToolFailure
from taketwo.tools.web_address import is_public, public_addresses, web_address


def resolver(*addresses: str) -> object:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return addresses

    return resolve


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("", "invalid_url", "no whole web address"),
        ("example.org/page", "invalid_url", "no whole web address"),
        ("//example.org/page", "invalid_url", "no whole web address"),
        ("http:///page", "invalid_url", "no whole web address"),
        ("http://exa\x00mple.org/", "invalid_url", "no web address"),
        ("http://example.org:abc/", "invalid_url", "no web address"),
        ("http://①②⑦.0.0.1/", "invalid_url", "no web address"),
        ("http://010.0.0.1/", "invalid_url", "no web address"),
        ("https://example.org/" + "a" * 3000, "invalid_url", "at most 2048"),
        ("file:///etc/passwd", "refused_address", "scheme 'file'"),
        ("ftp://example.org/a", "refused_address", "scheme 'ftp'"),
        ("gopher://example.org/", "refused_address", "scheme 'gopher'"),
        ("data:text/html,hi", "refused_address", "scheme 'data'"),
        ("javascript:alert(1)", "refused_address", "scheme 'javascript'"),
        ("http://user:secret@example.org/", "refused_address", "user name or password"),
        ("http://example.org@10.0.0.1/", "refused_address", "user name or password"),
        ("http://example.org\\@10.0.0.1/", "refused_address", "user name or password"),
        ("http://example.org:22/", "refused_address", "port 22"),
        ("http://example.org:99999/", "refused_address", "port 99999"),
        ("http://exa mple.org/", "refused_address", "no name of a host"),
        ("http://%31%32%37.0.0.1/", "refused_address", "no name of a host"),
        ("http://127.0.0.1%00.example.org/", "refused_address", "no name of a host"),
        ("http://[fe80::1%25eth0]/", "refused_address", "not a public address"),
        ("http://127.0.0.1/", "refused_address", "127.0.0.1 is not a public address"),
        ("http://127。0。0。1/", "refused_address", "127.0.0.1 is not a public address"),
        ("http://[::1]/", "refused_address", "::1 is not a public address"),
        ("http://[::ffff:10.0.0.1]/", "refused_address", "not a public address"),
        ("http://169.254.169.254/latest/meta-data", "refused_address", "not a public address"),
        ("http://2130706433/", "refused_address", "a number in an unusual form"),
        ("http://0x7f000001/", "refused_address", "a number in an unusual form"),
        ("http://0x7f.1/", "refused_address", "a number in an unusual form"),
        ("http://017700000001/", "refused_address", "a number in an unusual form"),
        ("http://127.1/", "refused_address", "a number in an unusual form"),
        ("http://127.0.0.0x1/", "refused_address", "a number in an unusual form"),
        ("http://127.1./", "refused_address", "a number in an unusual form"),
    ],
)
def test_what_is_no_public_web_address_is_refused(text: str, code: str, message: str) -> None:
    with pytest.raises(ToolFailure, match=message.replace(".", r"\.")) as raised:
        web_address(text)

    assert raised.value.code == code


def test_an_address_is_kept_as_it_is_and_its_host_is_ascii() -> None:
    address = web_address("  https://exämple.org:8443/a?b=ü#part ")

    assert (address.host, address.port) == ("xn--exmple-cua.org", 8443)
    assert address.url.path == "/a"


@pytest.mark.parametrize(
    "address",
    [
        *("0.0.0.0", "10.1.2.3", "100.64.0.1", "100.100.100.200", "127.9.9.9", "169.254.169.254"),  # noqa: S104 refused, not bound to
        *("172.16.0.1", "192.0.0.1", "192.0.2.1", "192.168.1.1", "198.18.0.1", "203.0.113.9"),
        *("224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "168.63.129.16"),
        *("::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:192.168.1.1", "64:ff9b::7f00:1"),
        *("64:ff9b:1::1", "2001:db8::1", "2002:7f00:1::", "fc00::1", "fd12::1", "fe80::1"),
        *("fec0::1", "ff02::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2"),
    ],
)
def test_an_address_of_a_network_of_its_own_is_not_public(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_an_address_of_the_public_internet_is_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "found",
    [
        ["10.0.0.1"],
        ["93.184.216.34", "127.0.0.1"],
        ["::1"],
        ["fe80::1%eth0"],
        ["64:ff9b::7f00:1"],
    ],
)
async def test_a_name_that_leads_inside_is_refused_without_saying_where(found: list[str]) -> None:
    with pytest.raises(ToolFailure, match="leads to an address that is not public") as raised:
        await public_addresses(web_address("http://inside.test/"), resolver(*found))  # type: ignore[arg-type]

    assert raised.value.code == "refused_address"
    assert found[0] not in raised.value.message


async def test_addresses_to_connect_to_are_ipv4_first_and_each_once() -> None:
    found = await public_addresses(
        web_address("http://page.test/"),
        resolver("2606:4700::1111", "93.184.216.34", "93.184.216.34"),  # type: ignore[arg-type]
    )

    assert found == ("93.184.216.34", "2606:4700::1111")


async def test_a_host_that_nobody_knows_is_said_to_be_unknown() -> None:
    async def unknown(host: str, port: int) -> Sequence[str]:
        raise OSError("Name or service not known")

    for resolve in (unknown, resolver(), resolver("not an address")):
        with pytest.raises(ToolFailure, match=r"there is no host 'page\.test'") as raised:
            await public_addresses(web_address("http://page.test/"), resolve)  # type: ignore[arg-type]
        assert raised.value.code == "unknown_host"
