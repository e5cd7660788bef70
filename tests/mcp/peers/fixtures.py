"""hearth's own app, guard and lane with the tools, prompts and resources that the conformance suite asks for.

`python -m tests.mcp.peers.fixtures FOLDER` serves them; what is asked of them stands in the suite's own scenarios.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable
from typing import Any

from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CompleteRequestParams,
    GetPromptRequestParams,
    PaginatedRequestParams,
    ReadResourceRequestParams,
)

from hearth.cancellation import Cancellation
from hearth.containment import Root
from hearth.mcp import http, server
from hearth.mcp.app import App
from hearth.platforms.local import local_host
from hearth.runtime import Runtime
from hearth.settings import ServeSettings, Settings

MISSING_CAPABILITY = -32021
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="

Content = dict[str, Any]


def text(said: str) -> Content:
    return {"type": "text", "text": said}


def image() -> Content:
    return {"type": "image", "data": PIXEL, "mimeType": "image/png"}


def embedded(uri: str, media_type: str, said: str) -> Content:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": media_type, "text": said}}


def complete(*content: Content, is_error: bool = False) -> dict[str, Any]:
    return {"resultType": "complete", "content": list(content), "isError": is_error}


PLAIN: dict[str, list[Content]] = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [image()],
    "test_audio_content": [{"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}],
    "test_embedded_resource": [
        embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        text("Multiple content types test:"),
        image(),
        embedded("test://mixed-content-resource", "application/json", '{"test": "data", "value": 123}'),
    ],
    "test_streaming_elicitation": [text("Nothing was asked for on the stream.")],
    "test_logging_tool": [text("Nothing was logged.")],
}

# What a tool asks of its client, by the key that the answer has.


def form(message: str, **properties: str) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(properties),
    }
    return {"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": schema}}


def sampling(question: str, most: int) -> dict[str, Any]:
    messages = [{"role": "user", "content": text(question)}]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": most}}


ROOTS = {"method": "roots/list", "params": {}}
NAME = form("What is your name?", name="string")
CONFIRM = form("Please confirm", ok="boolean")
ASKED: dict[str, dict[str, Any]] = {
    "test_input_required_result_elicitation": {"user_name": NAME},
    "test_input_required_result_sampling": {"capital_question": sampling("What is the capital of France?", 100)},
    "test_input_required_result_list_roots": {"client_roots": ROOTS},
    "test_input_required_result_request_state": {"confirm": CONFIRM},
    "test_input_required_result_tampered_state": {"confirm": CONFIRM},
    "test_input_required_result_multiple_inputs": {
        "user_name": NAME,
        "greeting": sampling("Generate a greeting", 50),
        "client_roots": ROOTS,
    },
}
STATEFUL = ("request_state", "tampered_state", "multiple_inputs")
ROUNDS = (
    {"step1": form("Step 1: What is your name?", name="string")},
    {"step2": form("Step 2: What is your favorite color?", color="string")},
)
NEEDS = {"sampling/createMessage": "sampling", "elicitation/create": "elicitation"}


def asking(requests: dict[str, Any], state: str | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {"resultType": "input_required", "inputRequests": requests}
    return made | ({"requestState": state} if state else {})


def asked(name: str, params: CallToolRequestParams) -> dict[str, Any]:
    """A tool that asks once, and again for what is missing."""
    answers = given(params)
    if not ASKED[name].keys() <= answers.keys():
        return asking(ASKED[name], "state" if name.endswith(STATEFUL) else None)
    return complete(text(f"state-ok: {json.dumps(answers)}"))


def given(params: Any) -> dict[str, Any]:
    answers = params.model_dump(mode="json", by_alias=True).get("inputResponses") or {}
    return {key: answer for key, answer in answers.items() if isinstance(answer, dict) and answer}


def asked_twice(params: CallToolRequestParams) -> dict[str, Any]:
    answers, state = given(params), params.request_state
    if state == "second" and "step2" in answers:
        return complete(text("Both rounds are done."))
    if state == "first" and "step1" in answers:
        return asking(ROUNDS[1], "second")
    return asking(ROUNDS[0], "first")


def asked_for_what_is_declared(request: Any) -> dict[str, Any]:
    declared = request.meta[CAPABILITIES]
    requests = {"question": sampling("Say hello", 50), "confirm": CONFIRM}
    return asking({key: each for key, each in requests.items() if NEEDS[each["method"]] in declared})


async def with_progress(request: Any) -> dict[str, Any]:
    for done in (0, 50, 100):
        await request.session.report_progress(done, 100, f"Completed step {done} of 100")
    return complete(text("done"))


async def call(request: Any, params: CallToolRequestParams) -> dict[str, Any] | None:
    """The result of a tool of the suite; None for hearth's own tools."""
    name = params.name
    if name in PLAIN:
        return complete(*PLAIN[name])
    if name in ASKED:
        return asked(name, params)
    others: dict[str, Callable[[], Any]] = {
        "test_error_handling": lambda: complete(
            text("This tool intentionally returns an error for testing"), is_error=True
        ),
        "test_input_required_result_multi_round": lambda: asked_twice(params),
        "test_input_required_result_capabilities": lambda: asked_for_what_is_declared(request),
    }
    if name in others:
        made: dict[str, Any] = others[name]()
        return made
    if name == "test_tool_with_progress":
        return await with_progress(request)
    if name == "test_missing_capability":
        raise MCPError(MISSING_CAPABILITY, "sampling is needed", {"requiredCapabilities": {"sampling": {}}})
    return None


NAMES = [
    *PLAIN, *ASKED, "test_error_handling", "test_input_required_result_multi_round", "test_tool_with_progress",
    "test_input_required_result_capabilities", "test_missing_capability",
]  # fmt: skip

# Prompts, resources and completion.

PROMPTS: list[dict[str, Any]] = [
    {"name": "test_simple_prompt"},
    {
        "name": "test_prompt_with_arguments",
        "arguments": [{"name": name, "required": True} for name in ("arg1", "arg2")],
    },
    {"name": "test_prompt_with_embedded_resource", "arguments": [{"name": "resourceUri", "required": True}]},
    {"name": "test_prompt_with_image"},
    {"name": "test_input_required_result_prompt"},
]
CONTEXT = {"user_context": form("What context should the prompt use?", context="string")}


async def list_prompts(_: Any, __: PaginatedRequestParams | None) -> Any:
    return {"resultType": "complete", "prompts": [{**each, "description": "Of the suite."} for each in PROMPTS]}


async def get_prompt(_: Any, params: GetPromptRequestParams) -> Any:
    words = params.arguments or {}
    if params.name == "test_input_required_result_prompt" and not given(params):
        return asking(CONTEXT)
    said = {
        "test_simple_prompt": [text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments": [
            text(f"Prompt with arguments: arg1='{words.get('arg1')}', arg2='{words.get('arg2')}'")
        ],
        "test_prompt_with_embedded_resource": [
            embedded(words.get("resourceUri", ""), "text/plain", "Embedded resource content for testing."),
            text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image": [image(), text("Please analyze the image above.")],
        "test_input_required_result_prompt": [text("With the context that was given.")],
    }[params.name]
    messages = [{"role": "user", "content": each} for each in said]
    return {"resultType": "complete", "messages": messages}


async def read_resource(_: Any, params: ReadResourceRequestParams) -> Any:
    uri = str(params.uri)
    content: dict[str, Any] = {"uri": uri, "mimeType": "text/plain"}
    if uri == "test://static-text":
        content["text"] = "This is the content of the static text resource."
    elif uri == "test://static-binary":
        content |= {"mimeType": "image/png", "blob": PIXEL}
    elif uri.startswith("test://template/") and uri.endswith("/data"):
        id_ = uri.split("/")[3]
        content |= {"mimeType": "application/json", "text": json.dumps({"id": id_, "templateTest": True, "data": id_})}
    else:
        raise MCPError(INVALID_PARAMS, "resource not found", {"uri": uri})
    return {"resultType": "complete", "contents": [content]}


async def list_resources(_: Any, __: PaginatedRequestParams | None) -> Any:
    resources = [{"uri": f"test://{name}", "name": name} for name in ("static-text", "static-binary")]
    return {"resultType": "complete", "resources": resources}


async def complete_argument(_: Any, __: CompleteRequestParams) -> Any:
    return {"resultType": "complete", "completion": {"values": ["paris", "park"], "total": 2, "hasMore": False}}


def build(app: App) -> Any:
    """hearth's server with what the suite asks for beside its own tools."""
    made = server.build(
        app,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_read_resource=read_resource,
        on_list_resources=list_resources,
        on_completion=complete_argument,
        cache_hints=server.HINTS | {"prompts/list": server.HINTS["tools/list"]},
    )
    own = made.get_request_handler("tools/call")
    assert own is not None

    async def call_tool(request: Any, params: CallToolRequestParams) -> Any:
        result = await call(request, params)
        return await own.handler(request, params) if result is None else result

    made.add_request_handler("tools/call", CallToolRequestParams, call_tool)
    empty = {"type": "object", "properties": {}}
    app.tools.listed.extend({"name": name, "description": "Of the suite.", "inputSchema": empty} for name in NAMES)
    made.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience="hearth"))
    return made


def main(folder: str) -> None:
    settings = Settings(serve=ServeSettings(port=0, shutdown_grace_s=0))
    runtime = Runtime(
        host=local_host(), settings=settings, data_dir=f"{folder}/data", roots=(Root(folder),), base=folder
    )
    app = App(runtime)
    with contextlib.closing(runtime), contextlib.closing(http.listen(app, "127.0.0.1", 0)) as listening:
        ready = json.dumps({"event": "ready", "url": listening.url})
        http.serve(app, build(app), listening, Cancellation(), lambda: print(ready, flush=True))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1])
