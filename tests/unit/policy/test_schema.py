import json
from pathlib import Path

import pytest

from autopilot.actions import ACTIONS
from autopilot.catalog.signals import SIGNALS
from autopilot.cli.schema import as_text
from autopilot.domain.verbs import Verb
from autopilot.policy.schema import SCHEMAS, json_schema
from autopilot.policy.schema_policy import Do, ModesShape
from autopilot.policy.units import parse_threshold

KEPT = Path(__file__).parents[3] / "deploy" / "schema"


@pytest.mark.parametrize("name", list(SCHEMAS))
def test_the_kept_schema_is_not_stale(name: str) -> None:
    """Renew with: autopilot schema --write deploy/schema."""
    assert (KEPT / f"{name}.json").read_text(encoding="utf-8") == as_text(json_schema(name))


def test_defaults_are_spelt_as_files_spell_them() -> None:
    own = json.dumps(json_schema("autopilot"))

    assert '"default": "15s"' in own
    assert "PT" not in own


def test_every_action_can_be_written_under_do() -> None:
    assert list(Do.model_fields) == list(ACTIONS)


def test_every_verb_has_a_mode() -> None:
    written = {info.alias for info in ModesShape.model_fields.values()}

    assert written == {"default", *Verb}


@pytest.mark.parametrize("kind", list(SIGNALS.values()), ids=list(SIGNALS))
def test_every_signal_of_the_catalogue_has_a_unit_that_thresholds_know(kind: object) -> None:
    unit = SIGNALS[str(getattr(kind, "name", ""))].unit
    written = {"seconds": "1s", "ratio": "100%"}.get(unit, 1)

    assert parse_threshold(written, unit) == 1.0
