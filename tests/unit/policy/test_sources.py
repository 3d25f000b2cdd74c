from pathlib import Path

from autopilot.policy.load import LARGEST, Unreadable
from autopilot.policy.sources import read_sources


def test_a_directory_gives_its_yaml_files_in_order_and_nothing_hidden(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.yml", "notes.txt", ".hidden.yaml", "sub/c.yaml", "..data/d.yaml"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(name.encode())

    read = read_sources([tmp_path])

    assert [Path(file).relative_to(tmp_path).as_posix() for file in read] == ["a.yml", "b.yaml", "sub/c.yaml"]


def test_a_mounted_config_map_is_read_through_its_links(tmp_path: Path) -> None:
    (tmp_path / "..2026").mkdir()
    (tmp_path / "..2026" / "a.yaml").write_bytes(b"x")
    (tmp_path / "..data").symlink_to("..2026")
    (tmp_path / "a.yaml").symlink_to("..data/a.yaml")

    assert list(read_sources([tmp_path]).values()) == [b"x"]


def test_a_huge_file_is_not_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"#" * (5 * 1024 * 1024))
    (content,) = read_sources([file]).values()

    assert isinstance(content, bytes)
    assert len(content) == LARGEST + 1


def test_what_cannot_be_read_is_said_to_be_there(tmp_path: Path) -> None:
    (content,) = read_sources([tmp_path / "missing.yaml"]).values()

    assert isinstance(content, Unreadable)
