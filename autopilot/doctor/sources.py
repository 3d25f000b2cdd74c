"""Whether a source answers, as what, how late, and by which clock."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autopilot.catalog.selectors import quoted
from autopilot.doctor.doors import Question, Server, Subject
from autopilot.doctor.findings import Check, Finding, fail, ok, warn
from autopilot.domain.samples import Build
from autopilot.ports import QueryFailed

SKEW_NOTICED = 2.0  # seconds; NTP keeps machines within a tenth, a Date of whole seconds and a slow network do the rest
TARGETS_AND_ENGINES = '__name__=~"up|vllm:.+"'
ENGINES = '{__name__=~"vllm:.+"}'


def ask_source(question: Question) -> Iterator[Finding]:
    """Everything about the source itself. Ends early when it does not answer."""
    server, allowance = question.server, question.server.allowance_seconds
    try:
        build = server.facts.build(deadline_seconds=allowance)
        question.rows("vector(1)")
    except QueryFailed as error:
        todo = "start it, or correct `url`, `auth` and `tls` of this source in the daemon's file"
        yield fail(Check.SOURCE_ANSWERS, server.name, str(error), todo)
        return
    yield judge_build(server.name, build)
    yield _skew(question)
    try:
        answered = question.rows("time()").samples[0].value
    except (QueryFailed, IndexError) as error:
        yield warn(Check.SOURCE_DELAY, server.name, f"could not be asked: {error}", "ask again")
        return
    yield judge_delay(server, question.at - answered)


def judge_build(name: str, build: Build) -> Finding:
    """Which server it is."""
    known = f"{build.product} {build.version}".strip()
    if not known:
        todo = "check that the address leads to the server's own API: the doctor's questions are for Prometheus and VictoriaMetrics"
        return warn(Check.SOURCE_ANSWERS, name, "answers, and does not say what it is", todo)
    return ok(Check.SOURCE_ANSWERS, name, f"answers: {known}")


def _skew(question: Question) -> Finding:
    server, clock = question.server, question.clock
    try:
        before = clock.wall().timestamp()
        theirs = server.facts.now(deadline_seconds=server.allowance_seconds)
        after = clock.wall().timestamp()
    except QueryFailed as error:
        return warn(Check.CLOCK_SKEW, server.name, f"could not be asked: {error}", "ask again")
    return judge_skew(server, theirs - (before + after) / 2, slack=(after - before) / 2)


def judge_skew(server: Server, ahead: float, *, slack: float) -> Finding:
    """`ahead` is how far the source's clock is ahead of ours in seconds, known to within `slack`."""
    skew = abs(ahead) - slack
    said = f"its clock is {abs(ahead):.1f} s {'ahead of' if ahead > 0 else 'behind'} this machine's"
    todo = "let both machines follow the same time server (chrony, systemd-timesyncd)"
    if skew >= server.scrape_interval.total_seconds():
        why = "samples of now look stale or lie in the future" if ahead < 0 else "questions are asked for a time that is past"
        return fail(Check.CLOCK_SKEW, server.name, f"{said}, more than one scrape: {why}", todo)
    if skew >= SKEW_NOTICED:
        return warn(Check.CLOCK_SKEW, server.name, said, todo)
    return ok(Check.CLOCK_SKEW, server.name, f"clocks agree within {max(abs(ahead), 0.1):.1f} s")


def judge_delay(server: Server, behind: float) -> Finding:
    """`behind` is how many seconds old the moment is that a question about now is answered for."""
    if behind < 1.0:
        return ok(Check.SOURCE_DELAY, server.name, "a question about now is answered for now")
    said = f"a question about now is answered for {behind:.0f} s ago (VictoriaMetrics: -search.latencyOffset)"
    todo = "start it with -search.latencyOffset=1s, or reckon with so much longer until an alert fires"
    return warn(Check.SOURCE_DELAY, server.name, said, todo)


@dataclass(frozen=True, slots=True)
class Spread:
    """One label that names clusters, and its values on the engines' series of a source."""

    label: str
    values: tuple[str, ...]


def ask_clusters(question: Question, subjects: Sequence[Subject]) -> Iterator[Finding]:
    """Whether a source with several clusters is read with the cluster in every identity."""
    names = [name for name in question.names(ENGINES) if "cluster" in name.casefold()]
    spreads = [Spread(name, question.values(name, ENGINES)) for name in names]
    yield from judge_clusters(question.server.name, subjects, spreads)


def judge_clusters(source: str, subjects: Sequence[Subject], spreads: Sequence[Spread]) -> Iterator[Finding]:
    """Refuse an identity without the label by which a source tells clusters apart, whatever it matches today."""
    several = [spread for spread in spreads if len(spread.values) > 1]
    if not several:
        yield ok(Check.CLUSTERS_TOLD_APART, source, "engines of one cluster are in it")
    for spread in several:
        without = [subject for subject in subjects if spread.label not in dict(subject.fleet.identity)]
        shown = ", ".join(spread.values[:4])
        for subject in without:
            said = f'source "{source}" holds {len(spread.values)} clusters ({spread.label}: {shown}), and the identity names none'
            todo = f"add {spread.label}: <its cluster> to metrics.identity"
            yield fail(Check.CLUSTERS_TOLD_APART, subject.about, said, todo)
        if not without:
            yield ok(Check.CLUSTERS_TOLD_APART, source, f"{len(spread.values)} clusters, told apart by {spread.label} in every identity")


def selector(pairs: "Sequence[tuple[str, str]]", metric: str = "", *more: str) -> str:
    """A series selector of exact label pairs."""
    inside = ", ".join([*(f"{name}={quoted(value)}" for name, value in pairs), *more])
    return f"{metric}{{{inside}}}"
