from collections.abc import Mapping
from datetime import timedelta

import pytest

from autopilot.policy.daemon import DaemonConfig
from autopilot.policy.load import Unreadable
from autopilot.policy.load_daemon import DaemonLoaded, load_daemon, surroundings

FULL = """\
sources:
  default: {url: "http://prometheus:9090", scrapeInterval: 5s, auth: {bearerFile: /run/token}}
  far: {url: "https://far/prometheus", auth: {user: me, passwordFile: /run/password}, tls: {caFile: /run/ca.pem}}
policies: [policies, /etc/autopilot]
interval: 2s
state: /var/lib/autopilot/state.sqlite
audit: {sink: stdout, retain: 7d}
http: {host: 0.0.0.0, port: 9000, alertsTokenFile: /run/alerts, apiTokenFile: /run/api}
receivers: {log: {log: {}}, notes: {file: /tmp/notes.jsonl}, oncall: {webhook: {url: "http://am:9093/api/v2/alerts"}}}
storm: {share: 50%, fromFleets: 3}
local: {launch: [python, -m, vllm.entrypoints.openai.api_server], router: [vllm-router], stateDir: /tmp/s, fileSd: /tmp/sd.json, gpus: 0, startWithin: 2m}
peakBandwidth: 3350G
"""
SMALL = 'sources: {default: {url: "http://p:9090"}}\n'


def load(text: str, environ: Mapping[str, str] | None = None) -> DaemonLoaded:
    return load_daemon(text.encode(), "autopilot.yaml", environ or {})


def config_of(text: str, environ: Mapping[str, str] | None = None) -> DaemonConfig:
    loaded = load(text, environ)
    assert loaded.config is not None
    return loaded.config


def test_every_value_of_the_file_is_read() -> None:
    config = config_of(FULL)

    assert config.sources["default"].scrape_interval == timedelta(seconds=5)
    assert (config.interval, config.audit.retain) == (timedelta(seconds=2), timedelta(days=7))
    assert (config.http.host, config.http.port) == ("0.0.0.0", 9000)  # noqa: S104 - a value that is read, nothing listens
    assert config.receivers["notes"].file == "/tmp/notes.jsonl"  # noqa: S108 - nothing is written there
    assert (config.storm.share, config.storm.from_fleets) == (0.5, 3)
    assert config.local is not None
    assert (config.local.router, config.local.gpus) == (("vllm-router",), 0)
    assert config.peak_bandwidth == 3_350_000_000_000


def test_what_is_left_out_has_a_default() -> None:
    config = config_of(SMALL)

    assert (config.interval, config.policies, config.local) == (timedelta(seconds=5), ("policies",), None)
    assert (config.http.host, config.sources["default"].scrape_interval) == ("127.0.0.1", timedelta(seconds=15))


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("AUTOPILOT_INTERVAL", "3s", timedelta(seconds=3)),
        ("AUTOPILOT_HTTP__PORT", "9001", 9001),
        ("AUTOPILOT_SOURCES__DEFAULT__URL", "http://other:9090", "http://other:9090"),
        ("AUTOPILOT_SOURCES__DEFAULT__SCRAPE_INTERVAL", "1s", timedelta(seconds=1)),
        ("AUTOPILOT_SOURCES__DEFAULT__SCRAPEINTERVAL", "1s", timedelta(seconds=1)),
        ("AUTOPILOT_LOCAL__LAUNCH", "[python, serve.py]", ("python", "serve.py")),
        ("AUTOPILOT_STORM__FROM_FLEETS", "5", 5),
    ],
)
def test_every_value_comes_from_the_environment_too(name: str, text: str, value: object) -> None:
    config = config_of(FULL, {name: text})

    assert config.local is not None
    assert value in (
        config.interval,
        config.http.port,
        config.sources["default"].url,
        config.sources["default"].scrape_interval,
        config.local.launch,
        config.storm.from_fleets,
    )


def test_without_a_file_the_environment_is_enough() -> None:
    assert config_of("", {"AUTOPILOT_SOURCES__MAIN__URL": "http://p:9090"}).sources["main"].url == "http://p:9090"


def test_what_kubernetes_puts_into_every_pod_is_not_for_us() -> None:
    environ = {
        "AUTOPILOT_SERVICE_HOST": "10.0.0.1",
        "AUTOPILOT_SERVICE_PORT": "9797",
        "AUTOPILOT_SERVICE_PORT_HTTP": "9797",
        "AUTOPILOT_PORT": "tcp://10.0.0.1:9797",
        "AUTOPILOT_PORT_9797_TCP_ADDR": "10.0.0.1",
        "PATH": "/bin",
    }
    loaded = load(SMALL, environ)

    assert (loaded.config is not None, loaded.warnings) == (True, ())


def test_a_variable_that_names_nothing_is_a_warning() -> None:
    loaded = load(SMALL, {"AUTOPILOT_INTERVALL": "3s"})

    assert ([one.file for one in loaded.warnings], loaded.problems) == (["$AUTOPILOT_INTERVALL"], ())


@pytest.mark.parametrize(
    ("environ", "path"),
    [
        ({"AUTOPILOT_HTTP__PORT": "many"}, "http.port"),
        ({"AUTOPILOT_HTTP__PROT": "1"}, "http.prot"),
        ({"AUTOPILOT_INTERVAL": "5"}, "interval"),
        ({"AUTOPILOT_STATE": "yes"}, "state"),
    ],
)
def test_a_bad_value_of_the_environment_is_said_to_be_there(environ: dict[str, str], path: str) -> None:
    loaded = load(SMALL, environ)

    assert loaded.config is None
    assert [one.file for one in loaded.problems] == [f"${name}" for name in environ]
    assert path.endswith(loaded.problems[0].path)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("", "sources"),
        ("sources: {}", "sources"),
        ("sources: {default: {url: prometheus:9090}}", "sources.default.url"),
        ("sources: {default: {url: 'http://user:secret@p'}}", "sources.default.url"),
        (SMALL + "intervall: 5s", "intervall"),
        (SMALL + "interval: 5", "interval"),
        (SMALL + "http: {port: 70000}", "http.port"),
        (SMALL + "receivers: {a: {}}", "receivers.a"),
        (SMALL + "receivers: {a: {file: x, log: {}}}", "receivers.a"),
        (SMALL + "local: {launch: [], router: [x]}", "local.launch"),
        (SMALL + "local: {launch: [x]}", "local.router"),
        (SMALL + "peakBandwidth: 3TB", "peakBandwidth"),
        ("sources: {default: {url: 'http://p', auth: {user: me}}}", "sources.default.auth"),
        ("sources: {default: {url: 'http://p', headers: {Authorization: secret}}}", "sources.default.headers.Authorization"),
        ("sources: {default: {url: 'http://p', headers: {X-Scope-OrgID: ''}}}", "sources.default.headers.X-Scope-OrgID"),
        ("[1, 2]", ""),
        ("a: [", ""),
        (SMALL + "---\n" + SMALL, ""),
    ],
)
def test_a_mistake_in_the_daemons_file_is_found_where_it_is(text: str, path: str) -> None:
    loaded = load(text)

    assert (loaded.config, [one.path for one in loaded.problems]) == (None, [path])


def test_a_file_that_cannot_be_read_is_a_problem() -> None:
    loaded = load_daemon(Unreadable("permission denied"), "autopilot.yaml", {})

    assert (loaded.config, len(loaded.problems)) == (None, 1)


def test_the_file_tells_the_checks_its_names() -> None:
    around = surroundings(config_of(FULL))

    assert around.scrape_intervals == {"default": timedelta(seconds=5), "far": timedelta(seconds=15)}
    assert (around.receivers, around.local) == (frozenset({"log", "notes", "oncall"}), True)
