"""Why nothing was done, or not more: one closed list for logs, metrics, records and people."""

from enum import StrEnum


class Reason(StrEnum):
    """Doing nothing has a reason."""

    # All is well, or being waited for.
    AS_WANTED = "as_wanted"
    STARTING_UP = "starting_up"  # the first looks after a start: clocks have not run yet
    OPERATION_RUNNING = "operation_running"
    AWAITING_LANDING = "awaiting_landing"
    VERIFYING = "verifying"
    COOLING_DOWN = "cooling_down"
    PENDING_COVERS = "pending_covers"
    # The data does not allow it.
    BLIND = "blind"
    UNOBSERVED = "unobserved"
    NOT_STABLE = "not_stable"
    GOOD_UNKNOWN = "good_unknown"
    SYMPTOM = "symptom"
    REMEDIATION_OPEN = "remediation_open"
    BUDGET_BURNING = "budget_burning"
    # People do not allow it.
    NO_POLICY = "no_policy"
    NO_DOCUMENT = "no_document"
    MODE_DISABLED = "mode_disabled"
    MODE_OBSERVE = "mode_observe"
    MODE_ADVISE = "mode_advise"
    AWAITING_APPROVAL = "awaiting_approval"
    PAUSED = "paused"
    FROZEN = "frozen"
    STORM = "storm"
    OVER_BUDGET = "over_budget"
    OWNED_ELSEWHERE = "owned_elsewhere"
    # The world does not allow it.
    AT_BOUND = "at_bound"
    NO_GPUS = "no_gpus"
    NO_CAPACITY = "no_capacity"
    NO_DRAIN = "no_drain"
    EVERY = "every"
    NOT_SUPPORTED = "not_supported"
    RESTING = "resting"
    STATE_UNSAVED = "state_unsaved"
    CONFLICT = "conflict"
    DENIED = "denied"
    BACKEND_ERROR = "backend_error"
