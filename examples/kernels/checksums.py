"""Checksums of bytes: CRC-32 as in Ethernet and zip (ISO 3309; Warren, Hacker's Delight, chapter 14), and Adler-32
(RFC 1950)."""

import numpy as np


def crc32_bitwise(data):
    """Division of polynomials over two elements, bit by bit, the lowest first; the divisor is 0xEDB88320."""
    divisor = np.uint32(0xEDB88320)
    crc = np.uint32(0xFFFFFFFF)
    for i in range(data.size):
        crc = crc ^ np.uint32(data[i])
        for _ in range(8):
            if crc & np.uint32(1):
                crc = (crc >> np.uint32(1)) ^ divisor
            else:
                crc = crc >> np.uint32(1)
    return crc ^ np.uint32(0xFFFFFFFF)


def crc32_table(data):
    """The same a byte at a time: what eight steps do to a byte is in a table. Integers of Python."""
    table = np.zeros(256, dtype=np.int64)
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ (0xEDB88320 if value & 1 else 0)
        table[byte] = value
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ int(table[(crc ^ int(byte)) & 0xFF])
    return crc ^ 0xFFFFFFFF


def crc32_rows(blocks):
    """CRC-32 of each row of bytes, all rows at once, one column after the other, with a table of eight bits."""
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        odd = (table & 1).astype(bool)
        table = np.where(odd, (table >> 1) ^ np.uint32(0xEDB88320), table >> 1)
    crc = np.full(blocks.shape[0], 0xFFFFFFFF, dtype=np.uint32)
    for column in range(blocks.shape[1]):
        position = (crc ^ blocks[:, column]) & 0xFF
        crc = (crc >> 8) ^ table[position]
    return ~crc


def adler32(data):
    """The sum of bytes and the sum of these sums, modulo 65521, by pieces: a sum of positions times bytes each."""
    low, high = 1, 0
    piece = 256
    for start in range(0, data.size, piece):
        part = data[start : start + piece].astype(np.int64)
        length = part.size
        weights = np.arange(length, 0, -1)
        high = (high + length * low + np.sum(weights * part)) % 65521
        low = (low + np.sum(part)) % 65521
    return high * 65536 + low


def adler32_loops(data):
    """The same byte by byte; the remainders are taken every 5552 bytes, before 32 bits are full (RFC 1950, page 9)."""
    low = 1
    high = 0
    since = 0
    for i in range(len(data)):
        low += int(data[i])
        high += low
        since += 1
        if since == 5552:
            low %= 65521
            high %= 65521
            since = 0
    return (high % 65521) << 16 | (low % 65521)


def _bytes(rng, n):
    return (rng.integers(0, 256, size=n, dtype=np.uint8),)


def _rows(rng, n):
    return (rng.integers(0, 256, size=(n, 64), dtype=np.uint8),)


INPUTS = {
    crc32_bitwise: (_bytes, (20, 13, 2000, 50_000)),
    crc32_table: (_bytes, (20, 13, 5000, 200_000)),
    crc32_rows: (_rows, (8, 5, 1000, 20_000)),
    adler32: (_bytes, (1000, 600, 20_000, 500_000)),
    adler32_loops: (_bytes, (20, 13, 10_000, 500_000)),
}
