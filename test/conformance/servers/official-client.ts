import {
  type CallToolResult,
  Client,
  SSEClientTransport,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';

/** A tool as a server lists it, as far as the service shows it. */
export interface ListedTool {
  svcUuid: null;
  name: string;
  description: string;
  inputSchema: unknown;
  outputSchema: unknown;
}

/** What came of a call. Of one that has failed the words are left out: they are the service's own. */
export type CallAnswer =
  | { outcome: 'OK' | 'TOOL_ERROR'; text: string; structured: unknown }
  | { outcome: 'FAILED' | 'REFUSED' | 'DISABLED' };

/** A server as an official client sees it. */
export interface ServersView {
  tools: ListedTool[];
  answers: CallAnswer[];
}

type Calls = readonly (readonly [tool: string, args: Record<string, unknown>])[];

/** Lists the tools of a server and makes the calls with the official client, which has no capabilities, as the service has none. */
export async function seenByOfficialClient(url: string, isSse: boolean, calls: Calls): Promise<ServersView> {
  const client = await connected(new URL(url), isSse);
  try {
    const { tools } = await client.listTools();
    const answers: CallAnswer[] = [];
    for (const [name, args] of calls) {
      answers.push(
        await client.callTool({ name, arguments: args }).then(
          (result) => answerOf(result),
          () => ({ outcome: 'FAILED' as const }),
        ),
      );
    }
    return {
      tools: tools.map(({ name, description = '', inputSchema, outputSchema = {} }) => ({
        svcUuid: null,
        name,
        description,
        inputSchema,
        outputSchema,
      })),
      answers,
    };
  } finally {
    await client.close();
  }
}

async function connected(url: URL, isSse: boolean): Promise<Client> {
  const connect = async (mode: 'auto' | 'legacy'): Promise<Client> => {
    const client = new Client({ name: 'official', version: '1.0.0' }, { versionNegotiation: { mode } });
    await client.connect(isSse ? new SSEClientTransport(url) : new StreamableHTTPClientTransport(url));
    return client;
  };
  return isSse ? connect('legacy') : connect('auto').catch(() => connect('legacy'));
}

function answerOf({ content, structuredContent = null, isError }: CallToolResult): CallAnswer {
  const text = content
    .map((block) => {
      if (block.type === 'text') {
        return block.text;
      }
      return 'data' in block
        ? `[${block.type} ${block.mimeType}, ${Buffer.from(block.data, 'base64').length} bytes]`
        : `[${block.type}]`;
    })
    .join('\n');
  return { outcome: isError === true ? 'TOOL_ERROR' : 'OK', text, structured: structuredContent };
}
