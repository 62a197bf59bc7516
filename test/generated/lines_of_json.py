"""Teaches schemathesis to send lines of JSON, one for each item of what it generates. It is loaded by SCHEMATHESIS_HOOKS."""

import json

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines_of_json(_context, value):
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", errors="surrogatepass")
    items = value if isinstance(value, list) else [value]
    return "\n".join(json.dumps(item) for item in items).encode("utf-8")


@schemathesis.hook
def before_load_schema(_context, raw_schema):
    """Lines are named beside the content of a body, for makers of clients, which know none."""
    for operations in raw_schema["paths"].values():
        for operation in operations.values():
            body = operation.get("requestBody", {})
            body.get("content", {}).update(body.pop("x-streamed-content", {}))
