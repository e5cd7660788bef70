"""fastmcp's client, which wants an environment of its own: python client_fastmcp.py URL"""

from __future__ import annotations

import asyncio
import json
import sys

import fastmcp


async def main(url: str) -> None:
    async with fastmcp.Client(url) as client:
        tools = [tool.name for tool in await client.list_tools()]
        info = await client.call_tool_mcp("machine", {"operation": "host_info"})
        wrong = await client.call_tool_mcp("fs", {"operation": "stat", "nonsense": 1})
    results = [each.model_dump(mode="json", by_alias=True) for each in (info, wrong)]
    sys.stdout.write(json.dumps([tools, *results]))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
