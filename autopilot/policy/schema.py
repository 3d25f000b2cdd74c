"""The kinds of documents, and their JSON Schema."""

from typing import Any, TypeAlias

from autopilot.policy.daemon import DaemonConfig
from autopilot.policy.schema_fleet import FleetDocument
from autopilot.policy.schema_gpupool import GpuPoolDocument
from autopilot.policy.schema_policy import PolicyDocument
from autopilot.policy.shapes import SchemaOfFiles, Shape

AnyDocument: TypeAlias = FleetDocument | PolicyDocument | GpuPoolDocument
KINDS: dict[str, type[AnyDocument]] = {"Fleet": FleetDocument, "Policy": PolicyDocument, "GpuPool": GpuPoolDocument}
SCHEMAS: dict[str, type[Shape]] = {
    "fleet": FleetDocument,
    "policy": PolicyDocument,
    "gpupool": GpuPoolDocument,
    "autopilot": DaemonConfig,
}


def json_schema(name: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) of one kind, by its lower-case name. Raises KeyError."""
    schema = SCHEMAS[name].model_json_schema(by_alias=True, schema_generator=SchemaOfFiles)
    return {"$schema": SchemaOfFiles.schema_dialect, **schema}
