"""What a machine must have for all tests: a browser and a PostgreSQL server."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def needs(reason: str) -> NoReturn:
    """Skip where something cannot be installed; fail where everything is said to be there."""
    if os.environ.get("FACSIMILE_COMPLETE"):
        pytest.fail(f"FACSIMILE_COMPLETE is set, and {reason}", pytrace=False)
    pytest.skip(reason)
