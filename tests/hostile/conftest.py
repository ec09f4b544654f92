from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

if sys.platform != "linux":
    collect_ignore_glob = ["test_*.py"]  # memory is read from /proc, and children are forked
else:
    from children import Children

    @pytest.fixture(scope="session")
    def children() -> Iterator[Children]:
        with Children() as found:
            yield found
