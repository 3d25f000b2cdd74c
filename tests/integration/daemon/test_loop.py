"""A whole story up and down, with nothing wrong: what the bad days are compared with."""

from autopilot.domain.remediations import Verdict
from tests.integration.daemon.conftest import MakeSite
from tests.integration.daemon.sites import PATIENCE
from tests.support.exporters import BUSY, CALM, QUIET
from tests.support.waiting import eventually


def test_a_breach_is_answered_by_a_replica_that_goes_again_when_the_load_falls(make_site: MakeSite) -> None:
    site = make_site()
    site.start()
    site.play(BUSY)
    assert site.grows(to=3)
    assert eventually(lambda: site.daemon.fleet("chat")["serving"] == 3, within=PATIENCE)
    site.play(CALM)
    assert site.rests(at=3)

    site.play(QUIET)

    assert site.rests(at=1)
    assert [one.verdict for one in site.records()[-1].after.finished] == [Verdict.HELPED]
    assert site.counts() == [(0, 1), (1, 3), (3, 1)]
    assert site.record().version == 4
    assert site.serves()
