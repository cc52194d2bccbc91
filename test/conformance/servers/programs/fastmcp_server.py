"""A server of FastMCP (Python): tools with structured output, log and progress, a request to the client, and an image."""

import sys
from datetime import datetime
from enum import Enum
from typing import Annotated

from fastmcp import Context, FastMCP
from pydantic import BaseModel, Field

mcp = FastMCP("fastmcp")


class Unit(Enum):
    CELSIUS = "celsius"
    KELVIN = "kelvin"


class Weather(BaseModel):
    """Weather at a place."""

    place: str
    degrees: float
    unit: Unit = Unit.CELSIUS


@mcp.tool(annotations={"readOnlyHint": True, "title": "Weather report"})
def weather(place: Annotated[str, Field(min_length=1)], at: datetime | None = None, unit: Unit = Unit.CELSIUS) -> Weather:
    """Tells the weather at a place."""
    return Weather(place=place, degrees=21.5, unit=unit)


@mcp.tool
async def count(to: int, context: Context) -> list[int]:
    """Counts, with a log line and progress for each number."""
    for number in range(to):
        await context.info(f"number {number}")
        await context.report_progress(number + 1, to)
    return list(range(to))


@mcp.tool
async def folders(context: Context) -> str:
    """Asks the client for its roots in the middle of the call."""
    try:
        roots = await context.session.list_roots()
        return f"{len(roots.roots)} roots"
    except Exception as error:
        return f"no roots: {type(error).__name__}"


@mcp.tool
def refuse() -> str:
    """Always fails."""
    raise ValueError("there is nothing to be had")


if __name__ == "__main__":
    mcp.run(transport=sys.argv[2], host="127.0.0.1", port=int(sys.argv[1]))
