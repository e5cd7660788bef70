"""The calls of ntdll and kernel32 that files need, and their errors as `OSError`s with `errno` and `winerror`.

Native calls, because only they open a name relative to a directory's handle. Names and numbers as in
https://learn.microsoft.com/windows-hardware/drivers/ddi/ntifs/.
"""

from __future__ import annotations

import ctypes
import errno
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import wintypes

assert sys.platform == "win32"

DELETE = 0x00010000
READ_CONTROL = 0x00020000
WRITE_DAC = 0x00040000
WRITE_OWNER = 0x00080000
SYNCHRONIZE = 0x00100000
FILE_LIST_DIRECTORY = 0x1
FILE_TRAVERSE = 0x20
FILE_READ_ATTRIBUTES = 0x80
FILE_WRITE_ATTRIBUTES = 0x100
FILE_GENERIC_READ = 0x120089
FILE_GENERIC_WRITE = 0x120116
FILE_GENERIC_APPEND = FILE_GENERIC_WRITE & ~0x2  # without FILE_WRITE_DATA every write goes to the end

SHARE_READ_WRITE = 0x3
SHARE_ALL = 0x7  # and delete, rename

FILE_OPEN = 1
FILE_CREATE = 2
FILE_DIRECTORY_FILE = 0x1
FILE_SYNCHRONOUS_IO_NONALERT = 0x20
FILE_NON_DIRECTORY_FILE = 0x40
FILE_OPEN_FOR_BACKUP_INTENT = 0x4000
FILE_OPEN_REPARSE_POINT = 0x200000

OPEN_EXISTING = 3
OPEN_ALWAYS = 4
FILE_FLAG_OPEN_REPARSE_POINT = 0x00200000
FILE_FLAG_BACKUP_SEMANTICS = 0x02000000

ATTRIBUTE_READONLY = 0x1
ATTRIBUTE_DIRECTORY = 0x10
ATTRIBUTE_NORMAL = 0x80
ATTRIBUTE_REPARSE_POINT = 0x400

FULL_DIRECTORY_INFORMATION = 2
BASIC_INFORMATION = 4
RENAME_INFORMATION = 10
DISPOSITION_INFORMATION = 13
ALL_INFORMATION = 18
ATTRIBUTE_TAG_INFORMATION = 35
ID_INFORMATION = 59
DISPOSITION_INFORMATION_EX = 64
RENAME_INFORMATION_EX = 65

STATUS_SUCCESS = 0
STATUS_BUFFER_OVERFLOW = 0x80000005
STATUS_NO_MORE_FILES = 0x80000006
STATUS_NOT_IMPLEMENTED = 0xC0000002
STATUS_INVALID_INFO_CLASS = 0xC0000003
STATUS_INVALID_PARAMETER = 0xC000000D
STATUS_NO_SUCH_FILE = 0xC000000F
STATUS_ACCESS_DENIED = 0xC0000022
STATUS_DELETE_PENDING = 0xC0000056
STATUS_FILE_IS_A_DIRECTORY = 0xC00000BA
STATUS_NOT_SUPPORTED = 0xC00000BB
STATUS_NOT_A_DIRECTORY = 0xC0000103
# What file systems and older systems answer to an information class, or a flag of one, that they do not know.
UNKNOWN_REQUEST = frozenset(
    {STATUS_NOT_IMPLEMENTED, STATUS_INVALID_INFO_CLASS, STATUS_INVALID_PARAMETER, STATUS_NOT_SUPPORTED}
)

ERROR_SHARING_VIOLATION = 32
# What Python takes for a wrong argument: no resources, no room in the paging file.
_NUMBERS = {1450: errno.ENOMEM, 1455: errno.ENOMEM}

_INVALID_HANDLE = ctypes.c_void_p(-1).value
_OBJ_CASE_INSENSITIVE = 0x40
_DUPLICATE_SAME_ACCESS = 0x2
DUPLICATE_CLOSE_SOURCE = 0x1

ntdll = ctypes.WinDLL("ntdll")
kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)


class _UnicodeString(ctypes.Structure):
    _fields_ = (
        ("Length", wintypes.USHORT),
        ("MaximumLength", wintypes.USHORT),
        ("Buffer", ctypes.c_char_p),
    )


class _ObjectAttributes(ctypes.Structure):
    _fields_ = (
        ("Length", wintypes.ULONG),
        ("RootDirectory", wintypes.HANDLE),
        ("ObjectName", ctypes.POINTER(_UnicodeString)),
        ("Attributes", wintypes.ULONG),
        ("SecurityDescriptor", ctypes.c_char_p),
        ("SecurityQualityOfService", ctypes.c_void_p),
    )


class _IoStatusBlock(ctypes.Structure):
    _fields_ = (("Status", ctypes.c_void_p), ("Information", ctypes.c_size_t))


class Overlapped(ctypes.Structure):
    """Where a lock starts; all zero is the start of the file."""

    _fields_ = (
        ("Internal", ctypes.c_size_t),
        ("InternalHigh", ctypes.c_size_t),
        ("Offset", wintypes.DWORD),
        ("OffsetHigh", wintypes.DWORD),
        ("Event", wintypes.HANDLE),
    )


_STATUS_BLOCK = ctypes.POINTER(_IoStatusBlock)
_NTSTATUS = ctypes.c_uint32
_DECLARED: tuple[tuple[ctypes.WinDLL, str, object, tuple[object, ...]], ...] = (
    (
        ntdll,
        "NtCreateFile",
        _NTSTATUS,
        (
            ctypes.POINTER(wintypes.HANDLE),
            wintypes.DWORD,
            ctypes.POINTER(_ObjectAttributes),
            _STATUS_BLOCK,
            ctypes.c_void_p,
            *[wintypes.ULONG] * 4,
            ctypes.c_void_p,
            wintypes.ULONG,
        ),
    ),
    (
        ntdll,
        "NtQueryInformationFile",
        _NTSTATUS,
        (wintypes.HANDLE, _STATUS_BLOCK, ctypes.c_void_p, wintypes.ULONG, ctypes.c_int),
    ),
    (
        ntdll,
        "NtSetInformationFile",
        _NTSTATUS,
        (wintypes.HANDLE, _STATUS_BLOCK, ctypes.c_char_p, wintypes.ULONG, ctypes.c_int),
    ),
    (
        ntdll,
        "NtQueryDirectoryFile",
        _NTSTATUS,
        (
            wintypes.HANDLE,
            *[ctypes.c_void_p] * 3,
            _STATUS_BLOCK,
            ctypes.c_void_p,
            wintypes.ULONG,
            ctypes.c_int,
            wintypes.BOOLEAN,
            ctypes.c_void_p,
            wintypes.BOOLEAN,
        ),
    ),
    (ntdll, "RtlNtStatusToDosError", wintypes.ULONG, (_NTSTATUS,)),
    (
        kernel32,
        "CreateFileW",
        wintypes.HANDLE,
        (wintypes.LPCWSTR, *[wintypes.DWORD] * 2, ctypes.c_void_p, *[wintypes.DWORD] * 2, wintypes.HANDLE),
    ),
    (kernel32, "ReOpenFile", wintypes.HANDLE, (wintypes.HANDLE, *[wintypes.DWORD] * 3)),
    (kernel32, "CloseHandle", wintypes.BOOL, (wintypes.HANDLE,)),
    (kernel32, "GetCurrentProcess", wintypes.HANDLE, ()),
    (
        kernel32,
        "DuplicateHandle",
        wintypes.BOOL,
        (
            *[wintypes.HANDLE] * 3,
            ctypes.POINTER(wintypes.HANDLE),
            wintypes.DWORD,
            wintypes.BOOL,
            wintypes.DWORD,
        ),
    ),
    (
        kernel32,
        "DeviceIoControl",
        wintypes.BOOL,
        (
            wintypes.HANDLE,
            wintypes.DWORD,
            ctypes.c_void_p,
            wintypes.DWORD,
            ctypes.c_void_p,
            wintypes.DWORD,
            ctypes.POINTER(wintypes.DWORD),
            ctypes.c_void_p,
        ),
    ),
    (
        kernel32,
        "GetFinalPathNameByHandleW",
        wintypes.DWORD,
        (wintypes.HANDLE, wintypes.LPWSTR, *[wintypes.DWORD] * 2),
    ),
    (kernel32, "GetFileInformationByHandle", wintypes.BOOL, (wintypes.HANDLE, ctypes.c_void_p)),
    (
        kernel32,
        "LockFileEx",
        wintypes.BOOL,
        (wintypes.HANDLE, *[wintypes.DWORD] * 4, ctypes.POINTER(Overlapped)),
    ),
    (kernel32, "CreateSymbolicLinkW", wintypes.BOOLEAN, (wintypes.LPCWSTR, wintypes.LPCWSTR, wintypes.DWORD)),
    (kernel32, "CreateDirectoryW", wintypes.BOOL, (wintypes.LPCWSTR, ctypes.c_void_p)),
    (kernel32, "OpenProcess", wintypes.HANDLE, (wintypes.DWORD, wintypes.BOOL, wintypes.DWORD)),
    (kernel32, "GetProcessTimes", wintypes.BOOL, (wintypes.HANDLE, *[ctypes.POINTER(wintypes.FILETIME)] * 4)),
    (kernel32, "WaitForSingleObject", wintypes.DWORD, (wintypes.HANDLE, wintypes.DWORD)),
    (kernel32, "LocalFree", ctypes.c_void_p, (ctypes.c_void_p,)),
)
for _library, _name, _result, _arguments in _DECLARED:
    _call = getattr(_library, _name)
    _call.restype, _call.argtypes = _result, _arguments


def windows_error(code: int, path: str, number: int = 0) -> OSError:
    """The `OSError` of a Windows error code, with `errno` `number` where the usual translation is too coarse."""
    number = number or _NUMBERS.get(code) or OSError(0, "", None, code).errno or errno.EINVAL
    error = OSError(number, ctypes.FormatError(code).strip(), path)
    error.winerror = code
    return error


def last_error(path: str) -> OSError:
    return windows_error(ctypes.get_last_error(), path)


def is_emulated() -> bool:
    """Whether this is Wine, where some programs that only look around end the process."""
    return hasattr(ntdll, "wine_get_version")


def status_error(status: int, path: str) -> OSError:
    """The `OSError` of an NTSTATUS."""
    if status == STATUS_DELETE_PENDING:
        # Removed, but open elsewhere: the name is neither there nor free until that ends, as with a shared file.
        return windows_error(ERROR_SHARING_VIOLATION, path)
    numbers = {STATUS_FILE_IS_A_DIRECTORY: errno.EISDIR, STATUS_NOT_A_DIRECTORY: errno.ENOTDIR}
    return windows_error(ntdll.RtlNtStatusToDosError(status), path, numbers.get(status, 0))


def open_relative(
    parent: int,
    name: str,
    access: int,
    *,
    share: int = SHARE_ALL,
    disposition: int = FILE_OPEN,
    options: int = 0,
    attributes: int = 0,
    security: bytes | None = None,
) -> tuple[int, int]:
    """Open or make `name` in the directory `parent`, never following it: (status, handle)."""
    spelled = name.encode("utf-16-le", "surrogatepass")
    text = _UnicodeString(len(spelled), len(spelled), spelled)
    target = _ObjectAttributes(
        ctypes.sizeof(_ObjectAttributes), parent, ctypes.pointer(text), _OBJ_CASE_INSENSITIVE, security, None
    )
    handle = wintypes.HANDLE()
    options |= FILE_OPEN_REPARSE_POINT | FILE_SYNCHRONOUS_IO_NONALERT | FILE_OPEN_FOR_BACKUP_INTENT
    status = ntdll.NtCreateFile(
        ctypes.byref(handle),
        access | SYNCHRONIZE,
        ctypes.byref(target),
        ctypes.byref(_IoStatusBlock()),
        None,
        attributes,
        share,
        disposition,
        options,
        None,
        0,
    )
    return status, handle.value or 0


def open_path(path: str, access: int, *, share: int, disposition: int = OPEN_EXISTING) -> int:
    """A handle by extended path, links followed; of directories, too."""
    handle = kernel32.CreateFileW(path, access, share, None, disposition, FILE_FLAG_BACKUP_SEMANTICS, None)
    if handle == _INVALID_HANDLE:
        raise last_error(path)
    return int(handle)


def reopen(handle: int, access: int, *, share: int = SHARE_ALL, flags: int = 0) -> int:
    """Another handle of what `handle` has open, whatever its name is by now."""
    other = kernel32.ReOpenFile(handle, access, share, flags | FILE_FLAG_BACKUP_SEMANTICS)
    if other == _INVALID_HANDLE:
        raise last_error("")
    return int(other)


def duplicate(handle: int, target: int | None = None, *, source: int | None = None, options: int = 0) -> int:
    """Another handle of the same, for and from this process or others. Raises `OSError`."""
    process = kernel32.GetCurrentProcess()
    made = wintypes.HANDLE()
    options |= _DUPLICATE_SAME_ACCESS
    done = kernel32.DuplicateHandle(source or process, handle, target or process, ctypes.byref(made), 0, False, options)
    if not done:
        raise last_error("")
    return made.value or 0


def process_start(process: int) -> str:
    """When a process was made, by a handle of it; Windows counts in 100 ns, so no two of one number are alike."""
    times = [wintypes.FILETIME() for _ in range(4)]
    if not kernel32.GetProcessTimes(process, *map(ctypes.byref, times)):
        raise last_error("")
    return str(times[0].dwHighDateTime << 32 | times[0].dwLowDateTime)


def close(handle: int) -> None:
    kernel32.CloseHandle(handle)


@contextmanager
def closing(handle: int) -> Iterator[int]:
    try:
        yield handle
    finally:
        close(handle)


def query(handle: int, kind: int, size: int) -> tuple[int, bytes]:
    """(status, information) of one class, at most `size` bytes."""
    buffer = ctypes.create_string_buffer(size)
    status = ntdll.NtQueryInformationFile(handle, ctypes.byref(_IoStatusBlock()), buffer, size, kind)
    return status, buffer.raw


def change(handle: int, kind: int, information: bytes) -> int:
    """Set one class of information; the status."""
    done = ntdll.NtSetInformationFile(handle, ctypes.byref(_IoStatusBlock()), information, len(information), kind)
    return int(done)


def list_names(handle: int) -> Iterator[tuple[str, int, int]]:
    """(name, attributes, reparse tag) of everything in a directory but `.` and `..`. Raises `OSError`."""
    buffer = ctypes.create_string_buffer(1 << 16)
    while True:
        status = ntdll.NtQueryDirectoryFile(
            handle,
            None,
            None,
            None,
            ctypes.byref(_IoStatusBlock()),
            buffer,
            len(buffer),
            FULL_DIRECTORY_INFORMATION,
            False,
            None,
            False,
        )
        if status in (STATUS_NO_MORE_FILES, STATUS_NO_SUCH_FILE):
            return
        if status != STATUS_SUCCESS:
            raise status_error(status, "")
        yield from _names_in(buffer.raw)


def _names_in(listing: bytes) -> Iterator[tuple[str, int, int]]:
    # FILE_FULL_DIR_INFORMATION; the field for the size of extended attributes holds a reparse point's tag.
    at = 0
    while True:
        step, attributes, length, tag = struct.unpack_from("<I52xIII", listing, at)
        name = listing[at + 68 : at + 68 + length].decode("utf-16-le", "surrogatepass")
        if name not in (".", ".."):
            yield name, attributes, tag
        if not step:
            return
        at += step


def final_path(handle: int) -> str:
    """The path of what is open, links, mappings and short names resolved, with its `\\\\?\\`."""
    for by_volume in (0, 1):  # VOLUME_NAME_DOS; a volume without a letter is only known by VOLUME_NAME_GUID
        size = kernel32.GetFinalPathNameByHandleW(handle, None, 0, by_volume)
        buffer = ctypes.create_unicode_buffer(size + 1)
        if size and kernel32.GetFinalPathNameByHandleW(handle, buffer, size + 1, by_volume):
            return buffer.value
    raise last_error("")


def control(handle: int, code: int, size: int, given: bytes = b"") -> bytes:
    """The answer, of at most `size` bytes, to a control code. Raises `OSError`."""
    buffer = ctypes.create_string_buffer(size)
    length = wintypes.DWORD()
    if not kernel32.DeviceIoControl(handle, code, given, len(given), buffer, size, ctypes.byref(length), None):
        raise last_error("")
    return buffer.raw[: length.value]
