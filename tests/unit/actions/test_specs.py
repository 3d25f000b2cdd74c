import pytest
from pydantic import ValidationError

from autopilot.actions import ACTIONS, NOT_SUPPORTED, Diagnose, Notify, Retune, Scale
from autopilot.actions.scale import floor_of
from autopilot.actions.spec import Spec
from autopilot.domain.verbs import Verb


@pytest.mark.parametrize("by", [1, 1000, "shortfall"])
def test_a_scale_step_adds_a_number_or_the_shortfall(by: object) -> None:
    assert Scale.model_validate({"by": by}).by == by


@pytest.mark.parametrize("by", [0, -1, 1001, True, 1.0, "1", "all", None, []])
def test_a_scale_step_never_removes_and_never_guesses(by: object) -> None:
    with pytest.raises(ValidationError):
        Scale.model_validate({"by": by})


@pytest.mark.parametrize(
    ("spec", "in_flight", "good", "floor"),
    [
        (Scale(by=2), 100.0, 10.0, 5),
        (Scale(), 95.0, 10.0, 10),
        (Scale(), 5.0, 10.0, 4),
        (Scale(), None, 10.0, 4),
        (Scale(), 95.0, None, 4),
        (Scale(), 95.0, 0.0, 4),
    ],
    ids=["by-two", "shortfall", "at-least-one-more", "load-unknown", "good-unknown", "good-nothing"],
)
def test_the_floor_of_a_scale_step(spec: Scale, in_flight: float | None, good: float | None, floor: int) -> None:
    assert floor_of(spec, ready=3, in_flight=in_flight, good=good) == floor


def test_retune_takes_ratios_as_files_spell_them() -> None:
    spec = Retune.model_validate({"max-model-len": {"quantile": "90%", "factor": 1.2, "maxRefused": "0.1%"}}, by_name=False)

    assert (spec.max_model_len.quantile, spec.max_model_len.max_refused) == (0.9, 0.001)


@pytest.mark.parametrize(
    "value",
    [
        {"quantile": 90},
        {"quantile": "100%"},
        {"factor": 0.5},
        {"factor": True},
        {"maxRefused": "20%"},
        {"max_refused": 0.1},
        {"quantile": True},
    ],
)
def test_retune_refuses_what_would_shrink_the_window_blindly(value: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Retune.model_validate({"max-model-len": value}, by_name=False)


@pytest.mark.parametrize(
    ("shape", "value"),
    [(Notify, {"receivers": []}), (Diagnose, {"collect": []}), (Diagnose, {"collect": ["secrets"]}), (Notify, {"to": "me"})],
)
def test_talking_actions_say_to_whom_and_what(shape: type[Spec], value: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        shape.model_validate(value)


def test_every_action_is_registered_under_a_verb() -> None:
    assert {shape.verb for shape in ACTIONS.values()} <= set(Verb)
    assert set(NOT_SUPPORTED) < set(ACTIONS.values())


def test_a_spec_is_frozen() -> None:
    spec = Scale()

    with pytest.raises(ValidationError):
        spec.by = 2  # type: ignore[misc]
