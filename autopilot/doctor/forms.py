"""In which form each histogram is exported that a policy reads."""

from collections.abc import Iterator

from autopilot.catalog.forms import Form, form_query, forms_in
from autopilot.catalog.signals import SIGNALS
from autopilot.doctor.doors import Question, Subject
from autopilot.doctor.findings import Check, Finding, ok, warn
from autopilot.doctor.signals import wants
from autopilot.doctor.sources import selector


def ask_forms(question: Question, subject: Subject) -> Iterator[Finding]:
    """One finding for each histogram among the wanted signals, with what each form means. Raises as `rows`."""
    matchers = selector(subject.fleet.identity)[1:-1]
    metrics = {
        metric: want.signal
        for want in wants(subject)
        if (kind := SIGNALS.get(want.signal)) is not None and kind.form == "histogram"
        for metric in kind.metrics
    }
    for metric, signal in metrics.items():
        yield judge_forms(subject, signal, forms_in(question.rows(form_query(matchers, metric))))


def judge_forms(subject: Subject, signal: str, forms: frozenset[Form]) -> Finding:
    """Every form is read; two at once are a job that changes, or two jobs that differ."""
    said = f"{signal}: {' and '.join(sorted(forms))}"
    if forms == {Form.ABSENT}:
        return warn(Check.HISTOGRAM_FORM, subject.about, said, "see signal-exists; without it nothing of its form can be told")
    if len(forms) > 1:
        todo = "nothing, if the scrape jobs are being changed; else give them the same convert_classic_histograms_to_nhcb"
        return warn(Check.HISTOGRAM_FORM, subject.about, said, todo)
    return ok(Check.HISTOGRAM_FORM, subject.about, said)
