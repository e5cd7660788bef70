"""The protocol: the SDK's low-level server with hearth's own tools, arguments and answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    ResourceTemplate,
)

from hearth import __version__
from hearth.mcp import calls, deliveries, resources
from hearth.mcp.calls import Context
from hearth.mcp.deliveries import Delivery
from hearth.mcp.envelope import SCHEME

if TYPE_CHECKING:
    from hearth.mcp.app import App

INSTRUCTIONS = """\
Hearth works this computer. Each tool is one family of operations: name one in `operation` and give only the fields \
that it takes; leave the others out (null counts as left out). Maps are lists of "NAME=value".

Every answer has `state`: completed, partial (a bound cut it: go on from next_offset or next_cursor; or some items \
failed: see errors), failed (it ran, and what it ran failed), conflict (a file is not what you expected: read it \
again), blocked (refused or impossible: error.hint says what to do), pending, cancelled, superseded. Wrong arguments \
are answered with error.details.problems, one for each field: mend them and call again.

Long work: `pending` means that it goes on. Its result comes in `arrivals` of a later answer; go on with other work \
rather than asking again and again. Set `detach` to true to have it so at once, `wait_ms` to wait longer, `ack` to \
the last arrival's seq that you have. Without a conversation of the host's own, a pending answer names one in \
`conversation`: give it back in later calls. What must outlive this server is a job: `task` submit.

Answers are bounded to about 24 KiB. Longer output lies in an artifact: read it in parts with the tool `artifact`, or \
search it there. Changes of files answer with `receipt`: fs undo takes them back. Pass expected_sha256 from your read \
when you write, so that nobody's change is lost. Programs are started without a shell: command and args apart.
"""

HINTS: dict[CacheableMethod, CacheHint] = {
    "server/discover": CacheHint(ttl_ms=300_000, scope="public"),
    "tools/list": CacheHint(ttl_ms=300_000, scope="public"),
    "resources/list": CacheHint(ttl_ms=300_000, scope="public"),
    "resources/templates/list": CacheHint(ttl_ms=300_000, scope="public"),
    "resources/read": CacheHint(ttl_ms=3_600_000, scope="private"),  # an artifact never changes
}

TEMPLATES = ListResourceTemplatesResult(
    resource_templates=[
        ResourceTemplate(
            uri_template=SCHEME + "{id}",
            name="artifact",
            description="What a program printed, or an answer that was too long. For parts use the tool artifact.",
        )
    ]
)

Request = ServerRequestContext[Any]


def build(app: App, **more: Any) -> Server[Any]:
    """The server of an app; `more` adds handlers of the SDK's."""

    async def list_tools(_: Request, __: PaginatedRequestParams | None) -> Any:
        return listed

    async def call_tool(request: Request, params: CallToolRequestParams) -> Any:
        tool = app.tools.find(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"there is no tool {params.name[:100]!r}")
        reply = await calls.answer(app, tool, params.arguments, context_of(app, request))
        return reply.result()

    async def list_resources(_: Request, __: PaginatedRequestParams | None) -> ListResourcesResult:
        return ListResourcesResult(resources=[])  # an artifact is known to whom its id was told

    async def list_templates(_: Request, __: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
        return TEMPLATES

    async def read_resource(request: Request, params: ReadResourceRequestParams) -> ReadResourceResult:
        return await resources.read(app, str(params.uri), calls.whose(app, context_of(app, request), None).key)

    listed = {"resultType": "complete", "tools": app.tools.listed}
    handlers: dict[str, Any] = {
        "on_list_tools": list_tools,
        "on_call_tool": call_tool,
        "on_list_resources": list_resources,
        "on_list_resource_templates": list_templates,
        "on_read_resource": read_resource,
        # Without it each call would look through tools/list for headers that no tool of hearth's has.
        "get_tool_input_schema": lambda _: None,
        "cache_hints": HINTS,
    }
    server: Server[Any] = Server("hearth", version=__version__, instructions=INSTRUCTIONS, **(handlers | more))
    server.middleware.clear()  # OpenTelemetry, which nobody here listens to
    return server


def context_of(app: App, request: Request) -> Context:
    meta: dict[str, Any] = dict(request.meta or {})
    headers: Mapping[str, str] = {}
    if request.request is not None:
        headers, delivery = request.request.headers, request.request.scope.get(deliveries.KEY)
    else:
        delivery = app.deliveries[request.request_id] = Delivery()
    if meta.get("progressToken") is None and meta.get("progress_token") is None:
        return Context(meta, headers, delivery=delivery)

    async def report(number: float, text: str) -> None:
        await request.session.report_progress(number, None, text)

    return Context(meta, headers, report, delivery)
