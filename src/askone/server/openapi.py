"""The description of the API, made from the route table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from askone.server._responses import ErrorResponse
from askone.server._routing import PARTS, Route
from askone.version import __version__

_REF = "#/components/schemas/{model}"
_WORDS = {
    400: "The request cannot be read",
    401: "Nobody is signed in, or the credentials are wrong",
    403: "Not allowed",
    404: "There is no such thing, or not for you",
    409: "Does not fit what is there",
    413: "Too large",
    422: "An argument is wrong",
    429: "Too often; Retry-After says how long to wait",
    503: "The store is away; Retry-After says how long to wait",
}


def describe(routes: Sequence[Route]) -> dict[str, Any]:
    """Return an OpenAPI 3.1 document of all routes under /api/ and of health."""
    schemas: dict[str, Any] = {}
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        if route.path.startswith(("/api/", "/health/", "/metrics")):
            paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "askone", "version": __version__, "description": "Campaigns of yes/no questions."},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": "askone_session"},
            },
        },
    }


def _operation(route: Route, schemas: dict[str, Any]) -> dict[str, Any]:
    words = (route.handler.__doc__ or "").strip()
    operation: dict[str, Any] = {
        "operationId": f"{route.method.lower()}_{re.sub(r'[^a-z0-9]+', '_', route.path.lower()).strip('_')}",
        "tags": [route.handler.__module__.rpartition(".")[2]],
        "summary": words.splitlines()[0] if words else "",
        "description": f"For {route.access.name}.",
        "parameters": [*_parts(route.path), *_query(route.query, schemas)],
        "responses": _responses(route, schemas),
        "security": [] if route.access.public else [{"session": []}, {"token": []}],
    }
    if route.body is not None:
        content = {"application/json": {"schema": _schema(route.body, schemas, "validation")}}
        operation["requestBody"] = {"required": True, "content": content}
    elif route.raw:
        content = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
        operation["requestBody"] = {"required": True, "content": content}
        if route.path.endswith("/uploads"):
            named = {"name": "X-File-Name", "in": "header", "required": False, "schema": {"type": "string"}}
            operation["parameters"].append(named)
    return operation


def _parts(path: str) -> Iterable[dict[str, Any]]:
    for name in re.findall(r"{(\w+)}", path):
        yield {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string", "pattern": f"^{PARTS[name]}$"},
        }


def _query(model: type[BaseModel] | None, schemas: dict[str, Any]) -> Iterable[dict[str, Any]]:
    if model is None:
        return
    schema = model.model_json_schema(ref_template=_REF)
    schemas.update(schema.pop("$defs", {}))
    for name, part in schema.get("properties", {}).items():
        kinds = [one for one in part.get("anyOf", ()) if one.get("type") != "null"]
        yield {"name": name, "in": "query", "required": False, "schema": kinds[0] if kinds else part}


def _responses(route: Route, schemas: dict[str, Any]) -> dict[str, Any]:
    fine: dict[str, Any] = {"description": "Done"}
    if route.returns is not None:
        fine["content"] = {"application/json": {"schema": _schema(route.returns, schemas, "serialization")}}
    error = {"content": {"application/json": {"schema": _schema(ErrorResponse, schemas, "serialization")}}}
    errors = {str(status): {"description": words, **error} for status, words in _WORDS.items()}
    return {str(route.status): fine} | errors


def _schema(model: Any, schemas: dict[str, Any], mode: JsonSchemaMode) -> dict[str, Any]:
    schema = TypeAdapter(model).json_schema(ref_template=_REF, mode=mode)
    schemas.update(schema.pop("$defs", {}))
    if isinstance(model, type) and issubclass(model, BaseModel):
        schemas[model.__name__] = schema
        return {"$ref": _REF.format(model=model.__name__)}
    return schema
