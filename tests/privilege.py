"""Tests that need file modes to be kept to, also where they run as root."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator

import pytest

VERSION_3 = 0x20080522
DAC_OVERRIDE, DAC_READ_SEARCH = 1 << 1, 1 << 2


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Sets(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


@contextlib.contextmanager
def bound_by_modes() -> Iterator[None]:
    """File modes bind this thread, whoever it runs as: capabilities(7), capset(2)."""
    if os.name == "nt":
        pytest.skip("Windows has no modes")
    if os.geteuid() != 0:
        yield
        return
    if sys.platform != "linux":
        pytest.skip("root ignores modes here")
    library, header, sets = ctypes.CDLL(None, use_errno=True), _Header(VERSION_3, 0), (_Sets * 2)()
    assert library.capget(ctypes.byref(header), sets) == 0
    effective = sets[0].effective
    sets[0].effective = effective & ~(DAC_OVERRIDE | DAC_READ_SEARCH)
    assert library.capset(ctypes.byref(header), sets) == 0
    try:
        yield
    finally:
        sets[0].effective = effective
        assert library.capset(ctypes.byref(header), sets) == 0
