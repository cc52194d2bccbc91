import type { DiscoveredTool } from '../model/connection-test.types.js';

const SLICE_BYTES = 65_536;
const NEW_LINE = 10;

/**
 * Turns the worker's tools (one JSON document a line) into objects, a slice at a time. A list of several megabytes must not
 * hold up the requests of this thread.
 */
export async function decodeTools(lines: Uint8Array): Promise<DiscoveredTool[]> {
  const tools: DiscoveredTool[] = [];
  const decoder = new TextDecoder();
  let inSlice = 0;
  for (let start = 0; start < lines.byteLength;) {
    const newLine = lines.indexOf(NEW_LINE, start);
    const end = newLine === -1 ? lines.byteLength : newLine;
    tools.push(JSON.parse(decoder.decode(lines.subarray(start, end))) as DiscoveredTool);
    inSlice += end - start;
    start = end + 1;
    if (inSlice >= SLICE_BYTES) {
      inSlice = 0;
      await new Promise((resume) => {
        setImmediate(resume);
      });
    }
  }
  return tools;
}
