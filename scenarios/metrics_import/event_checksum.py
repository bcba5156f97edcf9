"""Checksums of the records in TensorBoard's event files."""

from functools import cache


@cache
def _table() -> tuple[int, ...]:
    """CRC-32C of each byte: the Castagnoli polynomial, bits reversed (RFC 3720, appendix B.4)."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return tuple(table)


def crc32c(data: bytes) -> int:
    """CRC-32C of some bytes; time O(bytes)."""
    crc, table = 0xFFFFFFFF, _table()
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def masked_crc32c(data: bytes) -> int:
    """CRC-32C, masked as records have it (``tensorflow/core/lib/hash/crc32c.h``)."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
