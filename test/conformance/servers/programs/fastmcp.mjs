/** A server of FastMCP (TypeScript). */
import { FastMCP } from 'fastmcp';
import { z } from 'zod';

const server = new FastMCP({ name: 'fastmcp-ts', version: '1.0.0' });
server.addTool({
  name: 'add',
  description: 'Adds two numbers',
  parameters: z.object({ a: z.number(), b: z.number().default(1) }),
  annotations: { readOnlyHint: true, title: 'Addition' },
  execute: async ({ a, b }, { log, reportProgress }) => {
    log.info('adding');
    await reportProgress({ progress: 1, total: 1 });
    return String(a + b);
  },
});
server.addTool({
  name: 'stream',
  description: 'Streams parts before the answer',
  parameters: z.object({ text: z.string() }),
  execute: async ({ text }, { streamContent }) => {
    await streamContent({ type: 'text', text: 'part' });
    return text;
  },
});
await server.start({
  transportType: 'httpStream',
  httpStream: { port: Number(process.argv[2]), host: '127.0.0.1' },
});
