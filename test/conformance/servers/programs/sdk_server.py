"""A server of the official Python SDK, of its first or second major release."""

import sys

from pydantic import BaseModel

try:
    from mcp.server.mcpserver import Context, MCPServer

    mcp = MCPServer("python-sdk")
    where = {"host": "127.0.0.1", "port": int(sys.argv[1])}
except ImportError:
    from mcp.server.fastmcp import Context, FastMCP

    mcp = FastMCP("python-sdk", host="127.0.0.1", port=int(sys.argv[1]), stateless_http=True)
    where = {}


class Sum(BaseModel):
    total: int
    parts: list[int]


@mcp.tool()
def add(a: int, b: int) -> Sum:
    """Adds two numbers."""
    return Sum(total=a + b, parts=[a, b])


@mcp.tool()
async def log(text: str, context: Context) -> str:
    """Reports progress, then echoes."""
    await context.report_progress(1, 2)
    return text


if __name__ == "__main__":
    mcp.run(transport=sys.argv[2], **where)
