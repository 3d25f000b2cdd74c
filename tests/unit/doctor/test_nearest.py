import pytest

from autopilot.doctor.nearest import MOST, nearest


@pytest.mark.parametrize(
    ("wanted", "existing", "first"),
    [
        ("Chat-70B", ("chat-70b", "chat-7b"), "chat-70b"),
        ("chat-70b", ("chat-70b-rank-0", "code-7b"), "chat-70b-rank-0"),
        ("vllm:gpu_cache_usage_perc", ("vllm:kv_cache_usage_perc", "vllm:num_requests_running"), "vllm:kv_cache_usage_perc"),
        ("gateway_ttft_secnds", ("gateway_ttft_seconds", "gateway_requests"), "gateway_ttft_seconds"),
    ],
    ids=["by-case", "with-a-suffix", "renamed", "misspelt"],
)
def test_what_was_probably_meant_comes_first(wanted: str, existing: tuple[str, ...], first: str) -> None:
    assert nearest(wanted, existing)[0] == first


def test_nothing_like_it_is_nothing() -> None:
    assert nearest("ttft", ("up", "process_open_fds")) == ()


def test_only_a_few_are_shown() -> None:
    assert len(nearest("chat", [f"chat-{number}" for number in range(100)])) == MOST


def test_the_name_itself_is_not_nearest_to_itself() -> None:
    assert nearest("chat", ["chat", "chat-1"]) == ("chat-1",)
