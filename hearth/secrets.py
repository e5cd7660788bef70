"""Recognises secrets, by the name of a field and by the look of a value; refuses them or takes them out.

What would be stored goes through `guard`; previews, diffs, events and logs through `redact`. The patterns are
compiled one by one when a text holds their fixed part, so that an ordinary path costs microseconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from hearth import secret_forms as forms

if TYPE_CHECKING:
    from hearth.settings import SecretSettings

MARK = "[redacted]"


class Found(NamedTuple):
    """A secret in a text: what it is, and the part that must not be shown (a known prefix stays)."""

    kind: str
    start: int
    end: int


def find(text: str) -> list[Found]:
    """The secrets in a text, in order, none within another. Linear in the text."""
    found = sorted(_all(text), key=lambda each: (each.start, -each.end))
    kept: list[Found] = []
    for each in found:
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
    return kept


def redact(text: str) -> str:
    """The text with `[redacted]` in place of each secret; what tells the kind (`ghp_`, a URL's user) stays."""
    found = find(text)
    if not found:
        return text
    parts, position = [], 0
    for each in found:
        parts += [text[position : each.start], MARK]
        position = each.end
    return "".join(parts) + text[position:]


def redact_value(name: str, value: str) -> str:
    """A named value: all of it when the name says that it is a secret, else what looks like one in it."""
    return MARK if value and is_secret_name(name) else redact(value)


def _all(text: str) -> Iterator[Found]:
    for kind, fixed, pattern in forms.TOKENS:
        if fixed in text:
            for match in _compiled(pattern).finditer(text):
                yield Found(kind, *match.span(1))
    if "PRIVATE KEY" in text:
        yield from _private_keys(text)
    lower = text.lower()
    if "bearer" in lower or "token" in lower:
        yield from (Found("token", *match.span(1)) for match in _compiled(forms.SCHEME).finditer(text))
    if "authorization" in lower:
        yield from (Found("authorization", *match.span(1)) for match in _compiled(forms.HEADER).finditer(text))
    if any(word in lower for word in forms.KEYWORDS):
        yield from _assignments(text)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _private_keys(text: str) -> Iterator[Found]:
    position = 0
    while begin := _compiled(forms.PEM_START).search(text, position):
        start = begin.end()
        end = _compiled(forms.PEM_END).search(text, start, start + forms.MAX_PEM)
        body = _compiled(forms.PEM_BODY).match(text, start)
        position = end.start() if end else body.end() if body else start
        yield Found("private_key", start, position)


def _assignments(text: str) -> Iterator[Found]:
    """`NAME=value`, `"name": "value"`, `--name value`, where the name is a secret's and the value no code."""
    for match in _compiled(forms.ASSIGNMENT).finditer(text):
        name = _whole_name(text, match.start(), match.start("gap"))
        group = next(group for group in ("double", "single", "bare") if match[group] is not None)
        if is_secret_name(name) and _is_literal(name, match[group], match["gap"], quoted=group != "bare"):
            yield Found("named", *match.span(group))


def _whole_name(text: str, start: int, end: int) -> str:
    first = start
    while first > 0 and start - first < 64 and (text[first - 1].isalnum() or text[first - 1] in "_-"):
        first -= 1
    return text[first:end]


def _is_literal(name: str, value: str, gap: str, *, quoted: bool) -> bool:
    """Whether what stands behind a secret's name is a value, rather than code, a template or prose."""
    if (
        len(value) < 4
        or value.startswith(forms.TEMPLATES)
        or value.lower().strip(".!?:") in forms.WORDS_THAT_ARE_NO_SECRET
    ):
        return False
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    if ":" not in gap and "=" not in gap:  # `--password hunter2`, or prose
        return name.startswith("--") and (mixed or quoted)
    if quoted:
        return True
    if gap == "=":  # NAME=value, --name=value, or a keyword argument
        return mixed or not value.replace(".", "").replace("_", "").isalpha() or name.isupper() or name.startswith("--")
    return mixed and len(value) >= 6


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Whether a field, option or environment variable of that name holds a secret: `db_password`, `apiKey`,
    `GITHUB_TOKEN`, `--client-secret`; not `max_tokens`, `token_count`, `next_page_token`, `PWD`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name[:200])
    words = [word for word in re.split(r"[^A-Za-z0-9]+", spaced.lower()) if word]
    if not words or words[-1] in forms.FACTS:
        return False
    if words[-1] == "token" and forms.PAGING.intersection(words):
        return False
    if any(word.endswith(forms.NAMES) for word in words) or words[-1] == "authorization":
        return True
    if words[-1] == "pwd" and len(words) > 1 and words[0] not in ("old", "current"):
        return True
    return any(first in forms.KEY_OF and second in ("key", "keys") for first, second in pairwise(words))


def redact_command(args: Sequence[str]) -> list[str]:
    """A command's words, secrets taken out: `--password x`, `--token=x`, NAME=value, URL passwords, and `-p x`
    where the program is known to mean a password by it."""
    program = re.split(r"[/\\]", args[0])[-1].lower().removesuffix(".exe") if args else ""
    options = forms.PASSWORD_OPTIONS.get(program, ())
    if program in forms.LOGIN_ONLY and "login" not in args:
        options = ()
    return list(_redacted_words(args, options, forms.JOINED_OPTIONS.get(program)))


def _redacted_words(args: Sequence[str], options: tuple[str, ...], joined: str | None) -> Iterator[str]:
    secret_follows = False
    for word in args:
        if secret_follows and not word.startswith("--"):
            yield _redacted_login(word)
            secret_follows = False
            continue
        name, equals, value = word.partition("=")
        secret_follows = not equals and (word in options or (word.startswith("--") and is_secret_name(word)))
        if equals and value and (is_secret_name(name) or name in options):
            yield f"{name}={MARK}"
        elif joined and word.startswith(joined) and len(word) > len(joined) and not word.startswith("--"):
            yield joined + MARK
        else:
            yield redact(word)


def _redacted_login(word: str) -> str:
    """The value of a password option; of `user:password` the user stays."""
    user, colon, _ = word.partition(":")
    return f"{user}:{MARK}" if colon and user else MARK


def guard(settings: SecretSettings, name: str, value: Any) -> Any:
    """What may be stored of a named value (text, or lists and mappings of it).

    Raises `SecretRefused`, which names the place and never the secret, unless `secrets.on_persist` is `redact`.
    """
    if isinstance(value, dict):
        return {key: guard(settings, f"{name}.{key}", item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(guard(settings, f"{name}.{index}", item) for index, item in enumerate(value))
    if not isinstance(value, str) or not value:
        return value
    return _guard_text(settings, name, value)


def _guard_text(settings: SecretSettings, name: str, value: str) -> str:
    named = is_secret_name(_last_name(name)) and not value.startswith(forms.TEMPLATES)
    found = find(value)
    if not named and not found:
        return value
    if settings.on_persist == "redact":
        return MARK if named else redact(value)
    from hearth.errors import SecretRefused

    kind = "named" if named else found[0].kind
    raise SecretRefused(
        f"{name} would be stored, and it {'is named like' if named else 'holds'} a secret ({kind})",
        field=name,
        kind=kind,
    )


def _last_name(dotted: str) -> str:
    """The name that an item stands under: of `env.TOKEN` and of `tokens.0` the last that is no number."""
    return next((part for part in reversed(dotted.split(".")) if not part.isdigit()), dotted)
