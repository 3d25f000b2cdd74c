from pathlib import Path

import pytest

from autopilot.adapters.token_file import TokenFile


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    file = tmp_path / "tokens"
    file.write_text("old-token\n  new-token  \n\n")
    return file


@pytest.mark.parametrize("token", ["old-token", "new-token"])
def test_every_token_of_the_file_is_accepted(tokens: Path, token: str) -> None:
    assert TokenFile(tokens).accepts(token)


@pytest.mark.parametrize("token", ["", "old", "old-token\n", "OLD-TOKEN", "old-token new-token", "\udcff"], ids=repr)
def test_anything_else_is_not(tokens: Path, token: str) -> None:
    assert not TokenFile(tokens).accepts(token)


def test_a_rotated_file_counts_at_once(tokens: Path) -> None:
    gate = TokenFile(tokens)
    tokens.write_text("newest-token")

    assert (gate.accepts("newest-token"), gate.accepts("old-token")) == (True, False)


@pytest.mark.parametrize("content", [b"", b"\n \n"], ids=["empty", "blank"])
def test_an_empty_file_lets_nobody_in(tokens: Path, content: bytes) -> None:
    tokens.write_bytes(content)

    assert not TokenFile(tokens).accepts("")


def test_a_file_that_is_gone_lets_nobody_in(tmp_path: Path) -> None:
    assert not TokenFile(tmp_path / "none").accepts("")
