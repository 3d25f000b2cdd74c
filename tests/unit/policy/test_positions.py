import pytest

from autopilot.policy.positions import Place, Read, read_documents
from autopilot.policy.problems import Path


def read(text: str) -> list[Read]:
    return list(read_documents(text, "a.yaml"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1", {"a": 1}),
        ("a: -1.5e3", {"a": -1500.0}),
        ("a: true", {"a": True}),
        ("a: ~", {"a": None}),
        ("a:", {"a": None}),
        ("a: 'no'", {"a": "no"}),
        ("on: [page]", {"on": ["page"]}),
        ("a: 010", {"a": "010"}),
        ("a: 0x10", {"a": "0x10"}),
        ("a: 12:30:00", {"a": "12:30:00"}),
        ("a: 2026-12-18", {"a": "2026-12-18"}),
        ("a: .inf", {"a": ".inf"}),
        ("1: x", {"1": "x"}),
        ("a: !!str 5", {"a": "5"}),
        ("a: &x [1, 2]\nb: *x", {"a": [1, 2], "b": [1, 2]}),
        ("a: |\n  b\n  c\n", {"a": "b\nc\n"}),
    ],
)
def test_words_mean_what_yaml_1_2_says(text: str, value: object) -> None:
    (document,) = read(text)

    assert (document.value, document.problems) == (value, ())


@pytest.mark.parametrize("word", ["yes", "No", "ON", "off", "y", "N"])
def test_a_word_that_some_read_as_a_boolean_is_no_value_unless_quoted(word: str) -> None:
    (document,) = read(f"a: {word}\nb: '{word}'\n")

    assert [(problem.line, problem.column, problem.path) for problem in document.problems] == [(1, 4, "a")]


def test_every_key_and_item_has_its_place() -> None:
    (document,) = read("a:\n  - b: 1\n    c: {d: 2}\n")

    expected: dict[Path, Place] = {
        ("a",): Place(1, 1),
        ("a", 0): Place(2, 5),
        ("a", 0, "b"): Place(2, 5),
        ("a", 0, "c"): Place(3, 5),
        ("a", 0, "c", "d"): Place(3, 9),
    }
    assert document.places == expected


def test_a_problem_with_what_is_not_there_is_at_what_it_should_be_in() -> None:
    (document,) = read("a:\n  b: {c: 1}\n")

    assert document.problem(("a", "b", "missing", 3), "x").line == 2


def test_documents_keep_their_lines_in_the_file() -> None:
    found = read("# first\na: 1\n---\n# second\nb: 2\n--- {c: 3}\n...\n")

    assert [(one.value, one.start) for one in found] == [({"a": 1}, Place(2, 1)), ({"b": 2}, Place(5, 1)), ({"c": 3}, Place(6, 5))]


def test_a_document_that_cannot_be_parsed_does_not_hide_the_next() -> None:
    found = read("a: [1\n---\nb: 2\n")

    assert [(one.value, one.broken) for one in found] == [(None, True), ({"b": 2}, False)]


@pytest.mark.parametrize("text", ["", "# only words\n", "---\n", "---\n---\n...\n"])
def test_nothing_is_no_document(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a: 1\n\tb: 2\n", 2, 1),
        ("a:\n\tb: 2\n", 2, 1),
        ("a: {b: 1", 1, 9),
        ("a: 'half", 1, 9),
        ("a: b: c\n", 1, 5),
        ("a: @b\n", 1, 4),
        ("a: x\x00\n", 1, 5),
        ("a: 1\nb: \x07\n", 2, 4),
        ("%YAML 1.1\n---\na: no\n", 2, 1),
        ("a: *nobody\n", 1, 4),
        ("a: 1\na: 2\n", 2, 1),
        ("? [a]\n: b\n", 1, 3),
        ("a: !!python/object:os.system x\n", 1, 4),
        ("a: &a [*a]\n", 1, 8),
        ("<<: {a: 1}\n", 1, 1),
    ],
)
def test_what_must_not_be_in_a_file_is_a_problem_with_its_place(text: str, line: int, column: int) -> None:
    problem = read(text)[0].problems[0]

    assert (problem.line, problem.column) == (line, column)


def bomb() -> str:
    levels = [f"l{level}: &l{level} [{', '.join([f'*l{level - 1}'] * 10)}]" for level in range(1, 12)]
    return "l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n" + "\n".join(levels)


@pytest.mark.parametrize(
    "text",
    [bomb(), "[" * 1000, "{a: " * 1000, "- " * 1000, "a: [" + "1, " * 60_000 + "1]"],
    ids=["anchors-bomb", "deep-list", "deep-mapping", "deep-block", "too-many"],
)
def test_a_bomb_is_a_problem_and_not_an_explosion(text: str) -> None:
    (document,) = read(text)

    assert (document.value, document.broken, len(document.problems)) == (None, True, 1)


def test_the_first_of_two_equal_keys_counts_until_one_is_removed() -> None:
    (document,) = read("a: 1\na: 2\n")

    assert document.value == {"a": 1}
