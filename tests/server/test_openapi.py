"""The description of the API: complete, and true of what the server does, by schemathesis."""

import re

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from askone.server.app import ROUTES
from askone.server.openapi import describe

DOCUMENT = describe(ROUTES)
EXAMPLES = 6


def test_every_route_of_the_api_is_described():
    described = {(method.upper(), path) for path, row in DOCUMENT["paths"].items() for method in row}
    wanted = [row for row in ROUTES if row.path.startswith(("/api/", "/health/", "/metrics"))]
    assert described == {(row.method, row.path) for row in wanted}


def test_names_are_different_and_references_lead_somewhere():
    names = [operation["operationId"] for row in DOCUMENT["paths"].values() for operation in row.values()]
    assert len(set(names)) == len(names)
    for name in re.findall(r"#/components/schemas/([A-Za-z]+)", str(DOCUMENT)):
        assert name in DOCUMENT["components"]["schemas"]
    assert DOCUMENT["components"]["schemas"]["AnswerBody"]["additionalProperties"] is False


def test_the_description_is_served_to_those_who_are_signed_in(site):
    assert site.token("annotator").get("/api/v1/openapi.json").json()["info"]["title"] == "askone"
    assert site.client().get("/api/v1/openapi.json").status_code == 401


OPERATIONS = [
    (path, method)
    for path, row in DOCUMENT["paths"].items()
    for method in row
    if (path, method) not in {("/api/v1/me", "delete"), ("/api/v1/logout", "post")}
]


CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)


@pytest.mark.parametrize(("path", "method"), OPERATIONS, ids=lambda part: part)
def test_no_request_breaks_the_server(site, path, method):
    """Requests made up from the description: nothing fails within, and every answer is as described."""
    client = site.token("admin")

    @given(SCHEMA[path][method.upper()].as_strategy(), st.booleans())
    @settings(max_examples=EXAMPLES, phases=[Phase.generate], suppress_health_check=list(HealthCheck), database=None)
    def check(case, real):
        if real and "c" in (case.path_parameters or {}) and method != "delete":
            case.path_parameters["c"] = "drinks"
        sent = case.as_transport_kwargs(base_url="http://localhost")
        body = {"content": sent["data"]} if isinstance(sent.get("data"), bytes) else {"json": sent.get("json")}
        if method in ("get", "delete"):
            body = {}
        headers = {name: value for name, value in sent["headers"].items() if name.lower() == "content-type"}
        response = client.request(method.upper(), sent["url"], params=sent.get("params"), headers=headers, **body)
        case.validate_response(response, checks=CHECKS)

    check()
