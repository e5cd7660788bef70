"""Who may do what with a file on Windows: the private directory, and owner and DACL carried to another file."""

from __future__ import annotations

import ctypes
import struct
import sys
from ctypes import wintypes

from hearth.errors import CannotKeepOwner
from hearth.platforms import windows_nt as nt

assert sys.platform == "win32"

_OWNER = 0x1
_GROUP = 0x2
_DACL = 0x4
_PROTECTED_DACL = 0x80000000
_UNPROTECTED_DACL = 0x20000000
# Control bits of a security descriptor: https://learn.microsoft.com/windows/win32/secauthz/security-descriptor-control
_AUTO_INHERIT_REQUESTED = 0x0100
_AUTO_INHERITED = 0x0400
_IS_PROTECTED = 0x1000
_TOKEN_QUERY = 0x8
_TOKEN_USER = 1
_REVISION = 1
_ERROR_INSUFFICIENT_BUFFER = 122

_advapi32 = ctypes.WinDLL("advapi32", use_last_error=True)
_DECLARED: tuple[tuple[str, tuple[object, ...]], ...] = (
    (
        "GetKernelObjectSecurity",
        (wintypes.HANDLE, wintypes.DWORD, ctypes.c_void_p, wintypes.DWORD, ctypes.POINTER(wintypes.DWORD)),
    ),
    ("SetKernelObjectSecurity", (wintypes.HANDLE, wintypes.DWORD, ctypes.c_char_p)),
    ("OpenProcessToken", (wintypes.HANDLE, wintypes.DWORD, ctypes.POINTER(wintypes.HANDLE))),
    (
        "GetTokenInformation",
        (wintypes.HANDLE, ctypes.c_int, ctypes.c_void_p, wintypes.DWORD, ctypes.POINTER(wintypes.DWORD)),
    ),
    ("ConvertSidToStringSidW", (ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    (
        "ConvertStringSecurityDescriptorToSecurityDescriptorW",
        (wintypes.LPCWSTR, wintypes.DWORD, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(wintypes.DWORD)),
    ),
)
for _name, _arguments in _DECLARED:
    _call = getattr(_advapi32, _name)
    _call.restype, _call.argtypes = wintypes.BOOL, _arguments


class SecurityAttributes(ctypes.Structure):
    """How what is made is secured, and whether programs that are started get its handle."""

    _fields_ = (("Length", wintypes.DWORD), ("Descriptor", ctypes.c_char_p), ("Inherit", wintypes.BOOL))


def private_descriptor() -> bytes:
    """Full access for this user, SYSTEM and Administrators, for what lies below too, and nothing from above."""
    return _descriptor("D:P" + "".join(f"(A;OICI;FA;;;{who})" for who in (_user_sid(), "SY", "BA")))


def shared_descriptor() -> bytes:
    """Full access to an object of the kernel for this user, SYSTEM and Administrators, whether elevated or not."""
    # Without the label, what was made elevated could not be changed by the same user's ordinary processes.
    return _descriptor("D:P" + "".join(f"(A;;GA;;;{who})" for who in (_user_sid(), "SY", "BA")) + "S:(ML;;NW;;;ME)")


def _descriptor(text: str) -> bytes:
    """A self-relative security descriptor in the language that https://learn.microsoft.com/windows/win32/secauthz
    calls SDDL."""
    made, size = ctypes.c_void_p(), wintypes.DWORD()
    if not _advapi32.ConvertStringSecurityDescriptorToSecurityDescriptorW(
        text, _REVISION, ctypes.byref(made), ctypes.byref(size)
    ):
        raise nt.last_error("")
    try:
        return ctypes.string_at(made, size.value)
    finally:
        nt.kernel32.LocalFree(made)


def _user_sid() -> str:
    token = wintypes.HANDLE()
    if not _advapi32.OpenProcessToken(nt.kernel32.GetCurrentProcess(), _TOKEN_QUERY, ctypes.byref(token)):
        raise nt.last_error("")
    with nt.closing(token.value or 0) as handle:
        user, size = ctypes.create_string_buffer(256), wintypes.DWORD()
        if not _advapi32.GetTokenInformation(handle, _TOKEN_USER, user, len(user), ctypes.byref(size)):
            raise nt.last_error("")
    text = ctypes.c_void_p()
    if not _advapi32.ConvertSidToStringSidW(ctypes.c_void_p.from_buffer(user), ctypes.byref(text)):
        raise nt.last_error("")
    try:
        return ctypes.wstring_at(text.value or 0)
    finally:
        nt.kernel32.LocalFree(text)


def make_private_directory(path: str) -> None:
    """Make one directory by extended path. Raises `FileExistsError` when the name is taken."""
    attributes = SecurityAttributes(ctypes.sizeof(SecurityAttributes), private_descriptor(), False)
    if not nt.kernel32.CreateDirectoryW(path, ctypes.byref(attributes)):
        raise nt.last_error(path)


def copy_security(source: int, target: int) -> None:
    """Give an open file the owner, group and DACL of another; both handles need READ_CONTROL.
    Raises `CannotKeepOwner`."""
    wanted = security_of(source, _OWNER | _GROUP | _DACL)
    if wanted == security_of(target, _OWNER | _GROUP | _DACL):
        return
    if security_of(source, _OWNER | _GROUP) != security_of(target, _OWNER | _GROUP):
        _set_owner(target, wanted)
    set_access_list(target, wanted)


def security_of(handle: int, which: int = _DACL) -> bytes:
    """The self-relative security descriptor of what is open with READ_CONTROL."""
    size = wintypes.DWORD()
    _advapi32.GetKernelObjectSecurity(handle, which, None, 0, ctypes.byref(size))
    if ctypes.get_last_error() != _ERROR_INSUFFICIENT_BUFFER:
        raise nt.last_error("")
    buffer = ctypes.create_string_buffer(size.value)
    if not _advapi32.GetKernelObjectSecurity(handle, which, buffer, size, ctypes.byref(size)):
        raise nt.last_error("")
    return buffer.raw


def _set_owner(target: int, descriptor: bytes) -> None:
    try:
        with nt.closing(nt.reopen(target, nt.WRITE_OWNER)) as handle:
            if not _advapi32.SetKernelObjectSecurity(handle, _OWNER | _GROUP, descriptor):
                raise nt.last_error("")
    except OSError as error:
        raise CannotKeepOwner("only an administrator may give the file back to its owner") from error


def set_access_list(target: int, descriptor: bytes) -> None:
    """Give what is open the DACL of a self-relative security descriptor."""
    control = struct.unpack_from("<H", descriptor, 2)[0]
    which = _DACL | (_PROTECTED_DACL if control & _IS_PROTECTED else _UNPROTECTED_DACL)
    if control & _AUTO_INHERITED:
        # Without the request the system would drop the mark, and later changes above would not reach the file.
        descriptor = descriptor[:2] + struct.pack("<H", control | _AUTO_INHERIT_REQUESTED) + descriptor[4:]
    with nt.closing(nt.reopen(target, nt.WRITE_DAC)) as handle:
        if not _advapi32.SetKernelObjectSecurity(handle, which, descriptor):
            raise nt.last_error("")
