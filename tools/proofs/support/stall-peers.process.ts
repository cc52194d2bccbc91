import { callsTools, says, startModelServer } from '../../../test/support/peers/model-server.js';
import { startHttpPeer, startHttpsPeer } from '../../../test/support/peers/peer.js';
import {
  sendResult,
  startScriptedMcp,
  startToolListPeer,
} from '../../../test/support/peers/scripted-mcp.peer.js';
import { bodyOf } from './stall-attacks.js';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TlsCertificate } from '../../../test/support/peers/certificates.js';

/**
 * Runs external parties with costly responses in a separate process. The first message contains their URLs: `costly` is an
 * MCP server with costly schemas, `large` one with many tools with large schemas, `tools` one whose only tool is costly to
 * call, `model` a language model, `rest` a REST system, and `tls` one whose certificate chain takes long to verify.
 */
const run = promisify(execFile);
/** A slow curve, and about the maximum number of certificates that a client accepts. */
const CURVE = 'sect571r1';
const CERTIFICATES = 96;
const TOOLS = 150;
const LARGE_TOOLS = 100;
const PROPERTIES = 100;
const PATTERN = '(?i)[\\pL\\pN\\pS\\pP]*[\\pL\\pN\\pS\\pP]*b?';
/** Largest responses within the default limits. */
const MAX_BYTES = 1_040_000;
const MAX_VALUES = 49_000;
/** Largest response that is stored for readers of a run. */
const KEPT_BYTES = 65_000;

const nested = (depth: number): object =>
  depth === 0
    ? { type: 'string', pattern: PATTERN }
    : { anyOf: [nested(depth - 1), { type: 'array', uniqueItems: true, items: nested(depth - 1) }] };
const properties = Object.fromEntries(
  Array.from({ length: PROPERTIES }, (_, index) => [`field${index}`, { type: 'string', pattern: PATTERN }]),
);
const inputSchema = {
  type: 'object',
  properties: { ...properties, items: { type: 'array', uniqueItems: true, items: nested(5) } },
};
const costly = await startToolListPeer(
  Array.from({ length: TOOLS }, (_, index) => ({
    name: `tool-${index}`,
    description: 'x'.repeat(200),
    inputSchema,
  })),
);

const large = await startToolListPeer(
  Array.from({ length: LARGE_TOOLS }, (_, index) => ({
    name: `large-${index}`,
    description: 'x'.repeat(200),
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: PROPERTIES }, (_, field) => [
          `field${field}`,
          { type: 'string', description: 'of no use' },
        ]),
      ),
    },
  })),
);

const listsOfMost = `[${'[],'.repeat(MAX_VALUES)}[]]`;
const listsBeyond = bodyOf('[]', MAX_BYTES);
const tools = await startScriptedMcp({
  list: ({ id, response }) => sendResult(response, id, { tools: [{ name: 'look', inputSchema }] }),
  call: ({ id, response, params }) => {
    const isBeyond = JSON.stringify(params.arguments).length % 2 === 0;
    const structuredContent = JSON.parse(isBeyond ? listsBeyond : `{"items":${listsOfMost}}`) as unknown;
    sendResult(response, id, {
      content: [{ type: 'text', text: '\u0007'.repeat(60_000) }],
      structuredContent,
    });
  },
});

/**
 * Returns arguments that take long to validate, then endless calls, then invalid answers, and finally invalid tool calls.
 */
const model = await startModelServer(({ messages }) => {
  const turns = messages.filter(({ role }) => role === 'assistant').length;
  switch (turns) {
    case 0:
      return callsTools(['tools__look', bodyOf('"aaaaaaaaaaaaaaaaaaaaaaaa"', MAX_BYTES / 4)]);
    case 1:
      return callsTools(
        ...Array.from({ length: 8 }, (): [string, string] => ['tools__look', bodyOf('[]', 60_000)]),
      );
    case 2:
      return callsTools(['tools__look', '{}'], ['tools__look', '{"field0":"a"}']);
    case 3:
      return says(`{"items":${listsOfMost}}`);
    case 4:
      // Takes long to search for the model's API key, which can be encoded in many ways.
      return says(`"${'%41'.repeat(MAX_BYTES / 3 - 500)}"`);
    default:
      return { choices: [{ message: { tool_calls: Array.from({ length: MAX_VALUES }, () => 0) } }] };
  }
});

const BODIES: Readonly<Record<string, string>> = {
  '/kept': bodyOf('{}', KEPT_BYTES),
  '/most': listsOfMost,
  '/beyond': listsBeyond,
  '/text': `"${'\\u0000'.repeat(MAX_BYTES / 6 - 10)}"`,
  '/numbers': `[${'1e300,'.repeat(MAX_VALUES)}1]`,
  '/names': `{${Array.from({ length: MAX_VALUES / 2 }, (_, index) => `"k${index}":{}`).join()}}`,
};
const rest = await startHttpPeer((request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(BODIES[request.url ?? ''] ?? '{}');
});

const tls = await startHttpsPeer(await longChain(), (_request, response) => response.end());

process.send?.({
  costly: costly.url,
  large: large.url,
  tools: tools.url,
  model: model.url,
  rest: rest.url,
  tls: tls.url,
});

/** Creates a certificate whose chain takes long to verify. Requires openssl. */
async function longChain(): Promise<TlsCertificate> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-chain-'));
  const file = (name: string): string => join(folder, name);
  const key = ['-newkey', 'ec', '-pkeyopt', `ec_paramgen_curve:${CURVE}`, '-nodes'];
  const request = (index: number): string[] => ['-subj', `/CN=c${index}`, '-keyout', file(`${index}.key`)];
  try {
    await writeFile(file('ext'), 'basicConstraints=CA:TRUE\n');
    await run('openssl', ['req', '-x509', ...key, ...request(0), '-days', '2', '-out', file('0.pem')]);
    for (let index = 1; index < CERTIFICATES; index += 1) {
      await run('openssl', ['req', '-new', ...key, ...request(index), '-out', file('csr')]);
      const authority = ['-CA', file(`${index - 1}.pem`), '-CAkey', file(`${index - 1}.key`)];
      const content = ['-set_serial', String(index), '-days', '2', '-extfile', file('ext')];
      await run('openssl', [
        'x509',
        '-req',
        '-in',
        file('csr'),
        ...authority,
        ...content,
        '-out',
        file(`${index}.pem`),
      ]);
    }
    const chain = await Promise.all(
      Array.from({ length: CERTIFICATES }, (_, index) => readFile(file(`${index}.pem`), 'utf8')),
    );
    return {
      key: await readFile(file(`${CERTIFICATES - 1}.key`), 'utf8'),
      cert: chain.toReversed().join(''),
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}
