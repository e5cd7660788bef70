from __future__ import annotations

import re

import pytest

from hearth import errors
from hearth.cli.exit_status import MEANINGS
from hearth.errors import HearthError

# Importing the modules that could hide an error class of their own.
CLASSES = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, HearthError)]
STATUSES = {status for status, _ in MEANINGS} - {0, 130, 143}


def test_every_code_means_one_error() -> None:
    codes = [each.code for each in CLASSES]
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("kind", CLASSES, ids=[each.__name__ for each in CLASSES])
def test_an_error_is_documented_and_has_a_status_of_the_contract(kind: type[HearthError]) -> None:
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", kind.code)
    assert kind.exit_status in STATUSES
    assert "__doc__" in vars(kind), "says when it comes"
    assert kind.__doc__
    assert kind.__doc__.rstrip().endswith(".")


def test_every_errno_and_windows_error_leads_to_a_known_class() -> None:
    assert {*errors.BY_ERRNO.values(), *errors.BY_WINERROR.values()} <= set(CLASSES)
