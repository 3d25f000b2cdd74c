"""Documents to change one thing in."""

from autopilot.policy.load import load_documents
from autopilot.policy.loaded import Loaded
from autopilot.policy.surroundings import Surroundings

FLEET = """\
apiVersion: autopilot.dev/v1alpha1
kind: Fleet
metadata: {name: chat, namespace: llm, labels: {class: chat}}
spec:
  backend: kubernetes
  metrics: {identity: {fleet: chat}}
  traffic: {service: chat}
  pools:
    - name: h100
      workload: {ref: {kind: Deployment, name: chat}}
      replicas: {min: 1, max: 8}
"""
LOCAL = """\
apiVersion: autopilot.dev/v1alpha1
kind: Fleet
metadata: {name: chat, namespace: llm, labels: {class: chat}}
spec:
  backend: local
  metrics: {identity: {fleet: chat}}
  pools:
    - name: engines
      workload: {render: {model: {source: /models/chat}, engine: {args: {max-model-len: 4096}}}}
      replicas: {min: 1, max: 4}
"""
POLICY = """\
apiVersion: autopilot.dev/v1alpha1
kind: Policy
metadata: {name: chat, namespace: llm}
spec:
  fleets: {names: [chat]}
  windows:
    office: {cron: "30 7 * * 1-5", lasts: 12h, timeZone: Europe/Berlin}
  scaling:
    bounds: [{min: 2, max: 8}, {during: office, min: 4}]
    in: {stableFor: 10m, every: 1m, drainWithin: 2m}
  alerts:
    - name: slow
      severity: page
      when: {signal: ttft, quantile: 99%, above: 500ms, over: 1m}
      for: 1m
  remedies:
    - alert: slow
      steps:
        - {do: {scale: {by: shortfall}}, repeat: 3, verify: {within: 2m}}
"""
SEPARATOR = "---\n"


def changed(text: str, old: str, new: str) -> str:
    """The text with one thing changed; the thing must be there."""
    assert old in text
    return text.replace(old, new, 1)


def load(*texts: str, around: Surroundings | None = None) -> Loaded:
    """Load texts as files a.yaml, b.yaml and so on."""
    return load_documents({f"{chr(97 + index)}.yaml": text.encode() for index, text in enumerate(texts)}, around)


def paths(loaded: Loaded) -> list[str]:
    """Where the problems are."""
    return [problem.path for problem in loaded.problems]
