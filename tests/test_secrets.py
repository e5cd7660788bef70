from __future__ import annotations

import random
import re
import string
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hearth import secrets
from hearth.errors import SecretRefused
from hearth.settings import OnPersist, SecretSettings

DATA = Path(__file__).parent / "data" / "secrets"
ALPHABETS = {
    "alnum": string.ascii_letters + string.digits,
    "hex": "0123456789abcdef",
    "upper": string.ascii_uppercase + "234567",
    "base64": string.ascii_letters + string.digits + "+/",
}


def corpus(name: str) -> list[str]:
    lines = (DATA / name).read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def expanded(line: str) -> str:
    chosen = random.Random(line)

    def characters(match: re.Match[str]) -> str:
        # A digit and letters of both cases, as any real token of that length has.
        alphabet = ALPHABETS[match[1]]
        made = "".join(chosen.choices(alphabet, k=int(match[2]) - 3))
        ends = {"hex": "4f0", "upper": "Q7Z"}.get(match[1], "q7Z")
        return made + ends

    line = re.sub(r"\{(alnum|hex|upper|base64):([0-9]+)\}", characters, line.replace("~", ""))
    return line.replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\")


@pytest.mark.parametrize("line", corpus("secrets.txt"))
def test_a_secret_is_taken_out_and_the_rest_stays(line: str) -> None:
    text = expanded(line)
    before, _, rest = text.partition("«")
    secret, _, after = rest.partition("»")
    assert secrets.redact(before + secret + after) == f"{before}[redacted]{after}"


@pytest.mark.parametrize("line", corpus("harmless.txt"))
def test_what_is_no_secret_stays(line: str) -> None:
    assert secrets.redact(expanded(line)) == expanded(line)


@pytest.mark.parametrize("line", corpus("secrets.txt"))
def test_redacting_twice_changes_nothing_more(line: str) -> None:
    once = secrets.redact(expanded(line).replace("«", "").replace("»", ""))
    assert secrets.redact(once) == once


def test_several_secrets_in_one_text_are_all_taken_out() -> None:
    lines = [expanded(line) for line in corpus("secrets.txt") if "PRI~VATE" not in line]
    text = secrets.redact("\n".join(line.replace("«", "").replace("»", "") for line in lines))
    assert text == "\n".join(re.sub("«.*»", "[redacted]", line) for line in lines)


@pytest.mark.parametrize(
    "name",
    ["password", "db_password", "dbPassword", "PGPASSWORD", "apiKey", "API-KEY", "x-api-key", "GITHUB_TOKEN",
     "accessToken", "--client-secret", "AWS_SECRET_ACCESS_KEY", "private_key", "Authorization", "credentials",
     "MYSQL_PWD", "Set-Cookie"],
)  # fmt: skip
def test_names_of_secrets_are_known(name: str) -> None:
    assert secrets.is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    ["path", "key", "max_tokens", "token_count", "TOKENIZERS_PARALLELISM", "password_file", "next_page_token", "PWD",
     "OLDPWD", "secretary", "monkey", "keyboard", "primary_key", "author", "", "AWS_ACCESS_KEY_ID", "secret_name"],
)  # fmt: skip
def test_names_of_other_things_are_left_alone(name: str) -> None:
    assert not secrets.is_secret_name(name)


def test_a_value_under_a_secret_name_is_taken_out_whole() -> None:
    assert secrets.redact_value("password", "a b c") == "[redacted]"
    assert secrets.redact_value("path", "notes.md") == "notes.md"


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["run", "--password", "x y"], ["run", "--password", "[redacted]"]),
        (["run", "--token=abc"], ["run", "--token=[redacted]"]),
        (["env", "DB_PASSWORD=abc", "A=1"], ["env", "DB_PASSWORD=[redacted]", "A=1"]),
        (["git", "clone", "https://u:pw@host/r"], ["git", "clone", "https://u:[redacted]@host/r"]),
        (["/usr/bin/sshpass", "-p", "pw", "ssh"], ["/usr/bin/sshpass", "-p", "[redacted]", "ssh"]),
        (["mysql", "-psecret", "-uroot"], ["mysql", "-p[redacted]", "-uroot"]),
        (["mysql", "-p", "db"], ["mysql", "-p", "db"]),
        (["psql", "-p", "5432"], ["psql", "-p", "5432"]),
        (["mkdir", "-p", "a/b"], ["mkdir", "-p", "a/b"]),
        (["docker", "run", "-p", "80:80"], ["docker", "run", "-p", "80:80"]),
        (["docker", "login", "-p", "pw"], ["docker", "login", "-p", "[redacted]"]),
        (["C:\\tools\\curl.EXE", "-u", "me:pw", "http://x"], ["C:\\tools\\curl.EXE", "-u", "me:[redacted]", "http://x"]),
        (["run", "--password", "--verbose"], ["run", "--password", "--verbose"]),
        ([], []),
    ],
)  # fmt: skip
def test_a_command_shows_no_password(words: list[str], shown: list[str]) -> None:
    assert secrets.redact_command(words) == shown


def test_guard_refuses_and_never_repeats_the_secret() -> None:
    with pytest.raises(SecretRefused) as refused:
        secrets.guard(SecretSettings(), "job.env", {"A": "1", "DB_PASSWORD": "hunter2"})
    assert "job.env.DB_PASSWORD" in refused.value.message
    assert "hunter2" not in str(refused.value.document())


def test_guard_redacts_when_the_setting_says_so() -> None:
    redacting = SecretSettings(on_persist=OnPersist.REDACT)
    given = {"args": ["--password=hunter2", "x"], "env": {"API_KEY": "abc"}, "n": 3}
    kept = {"args": ["--password=[redacted]", "x"], "env": {"API_KEY": "[redacted]"}, "n": 3}
    assert secrets.guard(redacting, "job", given) == kept


def test_guard_lets_a_reference_to_a_secret_pass() -> None:
    assert secrets.guard(SecretSettings(), "job.env", {"DB_PASSWORD": "${VAULT_DB}"}) == {"DB_PASSWORD": "${VAULT_DB}"}


@pytest.mark.parametrize(
    "piece",
    ["eyJ", "eyJaaaaaaaaaa.", "eyJ-", "sk-", "xoxb-", "://a:", "://", "key=", 'key="', "token ", "password",
     "Authorization: ", "-----BEGIN PRIVATE KEY-----\n", "-----BEGIN PRIVATE KEY-----\nMIIEabcdefghijklmnop\n",
     "bearer aaaaaaaa ", "a", "1"],
)  # fmt: skip
def test_finding_is_linear_whatever_the_text(piece: str) -> None:
    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        started = time.process_time()
        secrets.find(text)
        return time.process_time() - started

    assert seconds(160_000) < max(0.5, 4 * 8 * seconds(20_000))


def test_letters_that_grow_in_lower_case_shift_nothing() -> None:
    assert secrets.redact("\u0130\u0130 password: hunter2 \u0130") == "\u0130\u0130 password: [redacted] \u0130"


PIECES = [
    "password", "token", "=", ":", " ", "\n", '"', "'", "--", "gh" + "p_", "a1" * 20, "://", "@", "user", "eyJ", ".",
    "Bearer ", "Authorization: ", "-----BEGIN PRIV" + "ATE KEY-----", "sk-", "api_key", "hunter2", "{", "$",
    "-", "_", "AKIA", "ABCD2345" * 2, "KEY", "\u0130",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
@settings(deadline=None, max_examples=300, database=None)
def test_whatever_the_text_what_is_found_is_ordered_and_taken_out(text: str) -> None:
    found = secrets.find(text)
    assert all(one.start < one.end <= other.start for one, other in pairwise(found))
    assert secrets.redact(text).count("[redacted]") == text.count("[redacted]") + len(found)
