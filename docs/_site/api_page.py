"""The description of the HTTP API as a page: every route, what it takes and what it returns."""

from typing import Any

from askone.server.app import ROUTES
from askone.server.openapi import describe

GROUPS = {
    "annotators": "Answering",
    "pictures": "Pictures of rows",
    "accounts": "Signing in, tokens and accounts",
    "uploads": "Tables and new campaigns",
    "managers": "Campaigns",
    "reviews": "Answers looked through",
    "exports": "What can be taken away",
    "health": "For machines",
}
_ABOUT = (
    "The description for programs is [openapi.json](openapi.json).  "
    "In paths `{c}` is the short name of a campaign.  An error is an [ErrorResponse](#object-errorresponse):\n"
)


def described() -> dict[str, Any]:
    """Return the description, as a server gives it to those who are signed in."""
    return describe(ROUTES)


def routes() -> str:
    """Return all routes, in groups, and the objects that they take and return."""
    document = described()
    found: dict[str, list[str]] = {tag: [] for tag in GROUPS}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            found[operation["tags"][0]].append(_operation(method, path, operation))
    parts = [f"## {GROUPS[tag]}\n\n" + "\n".join(operations) for tag, operations in found.items()]
    objects = [_object(name, schema) for name, schema in sorted(document["components"]["schemas"].items())]
    return "\n".join([_ABOUT, *_errors(document), *parts, "## Objects\n", *objects])


def _errors(document: dict[str, Any]) -> list[str]:
    responses = next(iter(document["paths"].values())).popitem()[1]["responses"]
    rows = [f"| {status} | {one['description']} |" for status, one in responses.items() if int(status) >= 400]
    return ["| status | says |", "|---|---|", *rows, ""]


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    parts = [f"### {method.upper()} `{path}` {{#{operation['operationId']} data-toc-label='{_short(method, path)}'}}\n"]
    who = operation["description"] + ("" if operation["security"] else "  Nobody has to be signed in.")
    parts.append(f"{_text(operation['summary'])}  *{who}*\n")
    named = [one for one in operation["parameters"] if one["in"] != "path"]  # those are in the heading
    if named:
        rows = [
            f"| `{one['name']}` | {one['in']} | {_kind(one['schema'])} | {_limits(one['schema'])} |" for one in named
        ]
        parts.append("\n".join(["| parameter | in | type | |", "|---|---|---|---|", *rows, ""]))
    lines = []
    if "requestBody" in operation:
        lines.append(f"Takes {_content(operation['requestBody'])}.")
    status, response = next(iter(operation["responses"].items()))
    lines.append(f"Returns {status}{' with ' + _content(response) if 'content' in response else ''}.")
    return "\n".join([*parts, "  ".join(lines), ""])


def _short(method: str, path: str) -> str:
    return f"{method.upper()} {path.removeprefix('/api/v1').replace('/campaigns/{c}', '…') or path}"


def _content(holder: dict[str, Any]) -> str:
    kind, held = next(iter(holder["content"].items()))
    return "the bytes of a file" if kind == "application/octet-stream" else _kind(held["schema"])


def _object(name: str, schema: dict[str, Any]) -> str:
    parts = [f"### {name} {{#object-{name.lower()}}}\n", _text(schema.get("description", "")), ""]
    needed = schema.get("required", ())
    rows = [
        f"| `{field}` | {_kind(one)} | {'required' if field in needed else _default(one)} | {_limits(one)} |"
        for field, one in schema.get("properties", {}).items()
    ]
    if rows:
        parts += ["| field | type | | |", "|---|---|---|---|", *rows, ""]
    return "\n".join(parts)


def _kind(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#object-{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_kind(one) for one in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return str(schema.get("type", "anything"))


def _default(schema: dict[str, Any]) -> str:
    return f"default `{schema['default']!r}`" if "default" in schema else ""


def _limits(schema: dict[str, Any]) -> str:
    schemas = [schema, *schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else [])]
    words = {
        "enum": lambda value: " · ".join(f"`{one}`" for one in value),
        "minimum": lambda value: f"at least {value}",
        "exclusiveMinimum": lambda value: f"above {value}",
        "maximum": lambda value: f"at most {value}",
        "maxLength": lambda value: f"at most {value} characters",
        "maxItems": lambda value: f"at most {value} of them",
    }
    return ", ".join(say(one[name]) for one in schemas for name, say in words.items() if name in one)


def _text(words: str) -> str:
    return words.replace("``", "`").replace("|", "\\|").replace("<", "&lt;")
