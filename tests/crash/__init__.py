import pytest

pytest.register_assert_rewrite("tests.crash.judge", "tests.crash.stand")
