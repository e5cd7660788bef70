"""What a file name says about its content."""

from __future__ import annotations

# The types that one meets daily. Python's mimetypes costs milliseconds to start and answers differently from one
# machine to the next, so it is asked about the rest only.
_COMMON = {
    "7z": "application/x-7z-compressed",
    "bat": "text/x-bat",
    "bmp": "image/bmp",
    "c": "text/x-c",
    "cfg": "text/plain",
    "cpp": "text/x-c++",
    "cs": "text/x-csharp",
    "css": "text/css",
    "csv": "text/csv",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "exe": "application/vnd.microsoft.portable-executable",
    "gif": "image/gif",
    "go": "text/x-go",
    "gz": "application/gzip",
    "h": "text/x-c",
    "htm": "text/html",
    "html": "text/html",
    "ini": "text/plain",
    "java": "text/x-java",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "js": "text/javascript",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "log": "text/plain",
    "md": "text/markdown",
    "mjs": "text/javascript",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "ndjson": "application/x-ndjson",
    "pdf": "application/pdf",
    "png": "image/png",
    "ps1": "text/x-powershell",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "py": "text/x-python",
    "rs": "text/x-rust",
    "rst": "text/x-rst",
    "sh": "application/x-sh",
    "sql": "application/sql",
    "sqlite3": "application/vnd.sqlite3",
    "svg": "image/svg+xml",
    "tar": "application/x-tar",
    "toml": "application/toml",
    "ts": "text/x-typescript",
    "tsx": "text/x-typescript",
    "txt": "text/plain",
    "wasm": "application/wasm",
    "wav": "audio/wav",
    "webp": "image/webp",
    "whl": "application/zip",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xml": "application/xml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "zip": "application/zip",
}


def guess(name: str) -> str | None:
    """The media type that a name's ending stands for."""
    _, dot, ending = name.rpartition(".")
    if not dot:
        return None
    known = _COMMON.get(ending.lower())
    if known is not None:
        return known
    from mimetypes import guess_type

    return guess_type(name, strict=False)[0]
