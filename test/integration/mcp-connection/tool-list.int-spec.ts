import { afterAll, describe, expect, it } from 'vitest';

import { CONNECTION_WARNINGS } from '../../../src/systems/mcp-connection/model/connection-test.types.js';
import { connectionService, noAuth, stopServices } from '../../support/peers/mcp-services.js';
import { IN_TIME_MS } from '../../support/patience.js';
import { sendResult, startScriptedMcp, startToolListPeer } from '../../support/peers/scripted-mcp.peer.js';
import { keptPeers } from '../../support/peers/kept-peers.js';

const keep = keptPeers();
const object = { type: 'object' };

/** Returns `allOf` nested and doubled at every level: one megabyte of schema that takes minutes to validate. */
function explosiveSchema(depth: number): Record<string, unknown> {
  return depth === 0
    ? { type: 'string' }
    : { allOf: [explosiveSchema(depth - 1), explosiveSchema(depth - 1)] };
}

const withText = (text: string) => ({ properties: { a: { type: 'string', description: text } } });

describe('Tool lists of careless and hostile servers', () => {
  const service = connectionService();
  const list = async (tools: unknown) => {
    const peer = await keep(startToolListPeer(tools));
    return service.test(noAuth(peer.url));
  };
  afterAll(stopServices);

  it('omits malformed tools and gives the reasons', async () => {
    const result = await list([
      { name: 'good', inputSchema: object },
      null,
      'text',
      { name: '', inputSchema: object },
      { inputSchema: object },
      { name: 42, inputSchema: object },
      { name: ' ends ', inputSchema: object },
      { name: 'two\nlines', inputSchema: object },
      { name: '\u202eevil\u0007', inputSchema: object },
      { name: 'x'.repeat(129), inputSchema: object },
      { name: 'good', inputSchema: { type: 'object', title: 'second' } },
      { name: 'no-schema' },
      { name: 'array-schema', inputSchema: [] },
      { name: 'string-schema', inputSchema: { type: 'string' } },
      { name: 'hints', inputSchema: object, annotations: 'destructive' },
      { name: 'also.good/1', inputSchema: {} },
    ]);
    expect(result).toMatchObject({
      outcome: 'connected',
      tools: [{ name: 'good' }, { name: 'also.good/1' }],
    });
    expect(result.outcome === 'connected' && result.rejectedTools).toEqual([
      { name: '', reason: 'not_an_object' },
      { name: '', reason: 'not_an_object' },
      { name: '', reason: 'invalid_name' },
      { name: '', reason: 'invalid_name' },
      { name: '', reason: 'invalid_name' },
      { name: 'ends', reason: 'invalid_name' },
      { name: 'two lines', reason: 'invalid_name' },
      { name: 'evil', reason: 'invalid_name' },
      { name: 'x'.repeat(128), reason: 'invalid_name' },
      { name: 'good', reason: 'duplicate_name' },
      { name: 'no-schema', reason: 'invalid_input_schema' },
      { name: 'array-schema', reason: 'invalid_input_schema' },
      { name: 'string-schema', reason: 'invalid_input_schema' },
      { name: 'hints', reason: 'invalid_annotations' },
    ]);
  });

  it('removes hidden characters from texts, and omits tools that have them elsewhere', async () => {
    const hidden = 'hello\u{e0049}\u{e0067}\u202e\u200bx';
    const result = await list([
      {
        name: 'good',
        description: hidden,
        inputSchema: withText(hidden),
        outputSchema: { title: hidden },
        annotations: { title: hidden, readOnlyHint: true },
      },
      { name: 'name', inputSchema: { properties: { 'user\u00ad': { type: 'string' } } } },
      { name: 'value', inputSchema: { ...object, enum: ['north\u061c'] } },
      { name: 'hints', inputSchema: object, annotations: { vendor: '\ufe0f' } },
    ]);
    expect(result.outcome === 'connected' && result.tools).toEqual([
      {
        name: 'good',
        title: 'hellox',
        description: 'hellox',
        inputSchema: withText('hellox'),
        outputSchema: { title: 'hellox' },
        annotations: { title: 'hellox', readOnlyHint: true },
      },
    ]);
    expect(result.outcome === 'connected' && result.rejectedTools).toEqual([
      { name: 'name', reason: 'hidden_characters' },
      { name: 'value', reason: 'hidden_characters' },
      { name: 'hints', reason: 'hidden_characters' },
    ]);
  });

  it('accepts names of every script, and warns of changes and unsupported features', async () => {
    const names = ['get weather (city)', 'größe:messen', '天気を取得', 'می‌خواهم', '👩‍💻', 'é'.repeat(128)];
    const long = {
      name: 'long',
      title: 't'.repeat(300),
      description: 'd'.repeat(16_001),
      inputSchema: object,
    };
    const result = await list([
      ...names.map((name) => ({ name, inputSchema: object })),
      long,
      { name: 'hinted', inputSchema: object, annotations: { title: 't'.repeat(300) } },
      { name: 'hidden', description: 'a\u200bb', inputSchema: withText('\u202e') },
      { name: 'task', inputSchema: object, execution: { taskSupport: 'required' } },
      { name: 'optional', inputSchema: object, execution: { taskSupport: 'optional' } },
    ]);
    expect(result).toMatchObject({
      tools: [
        ...names.map((name) => ({ name })),
        { name: 'long', title: 't'.repeat(255), description: 'd'.repeat(16_000) },
        { name: 'hinted', title: 't'.repeat(255) },
        { name: 'hidden' },
        { name: 'task' },
        { name: 'optional' },
      ],
      rejectedTools: [],
    });
    expect(result.outcome === 'connected' && result.toolWarnings).toEqual([
      ...names.map((name) => ({ name, reason: 'name_needs_alias' })),
      { name: 'long', reason: 'title_cut' },
      { name: 'long', reason: 'description_cut' },
      { name: 'hinted', reason: 'title_cut' },
      { name: 'hidden', reason: 'hidden_characters_removed' },
      { name: 'task', reason: 'task_required' },
    ]);
  });

  it.each([
    ['no schema', 'text'],
    ['a dangling reference', { properties: { a: { $ref: '#/$defs/none' } } }],
    ['hidden characters', { enum: ['north\u061c'] }],
    ['too many levels', explosiveSchema(12)],
  ])('drops an output schema with %s and keeps the tool', async (_what, outputSchema) => {
    const result = await list([{ name: 'kept', inputSchema: object, outputSchema }]);
    expect(result).toMatchObject({
      tools: [{ name: 'kept', outputSchema: null }],
      rejectedTools: [],
      toolWarnings: [{ name: 'kept', reason: 'output_schema_dropped' }],
    });
  });

  it('never evaluates a schema, so a regular expression bomb is harmless and kept unchanged', async () => {
    const inputSchema = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
    const result = await list([{ name: 'bomb', inputSchema, outputSchema: inputSchema }]);
    expect(result).toMatchObject({
      outcome: 'connected',
      tools: [{ inputSchema, outputSchema: inputSchema }],
    });
    expect(result.latencyMs).toBeLessThan(IN_TIME_MS);
  });

  it('refuses explosive, deep, large, recursive-by-reference and polluting schemas one by one', async () => {
    const deep = JSON.parse(`${'{"not":'.repeat(30)}{}${'}'.repeat(30)}`) as unknown;
    const polluting = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}') as unknown;
    const result = await list([
      { name: 'allOf', inputSchema: { type: 'object', ...explosiveSchema(12) } },
      { name: 'deep', inputSchema: deep },
      { name: 'large', inputSchema: { type: 'object', description: 'x'.repeat(60_000) } },
      { name: 'remote', inputSchema: { properties: { a: { $ref: 'http://127.0.0.1:1/schema.json' } } } },
      { name: 'missing', inputSchema: { properties: { a: { $ref: '#/$defs/none' } } } },
      { name: 'polluting', inputSchema: polluting },
      { name: 'header', inputSchema: { properties: { a: { type: 'object', 'x-mcp-header': 'A' } } } },
      { name: 'recursive', inputSchema: { allOf: [{ $ref: '#' }, { $ref: '#' }] } },
      { name: 'good', inputSchema: object },
    ]);
    expect(result).toMatchObject({
      outcome: 'connected',
      tools: [{ name: 'recursive' }, { name: 'good' }],
      rejectedTools: [
        { name: 'allOf', reason: 'schema_too_deep' },
        { name: 'deep', reason: 'schema_too_deep' },
        { name: 'large', reason: 'schema_too_large' },
        { name: 'remote', reason: 'external_reference' },
        { name: 'missing', reason: 'unresolved_reference' },
        { name: 'polluting', reason: 'forbidden_key' },
        { name: 'header', reason: 'invalid_header_declaration' },
      ],
    });
    expect(result.latencyMs).toBeLessThan(IN_TIME_MS);
  });

  it.each([[{}], [{ tools: 'none' }], [{ tools: null }]])('rejects the list %o', async (page) => {
    const peer = await keep(startScriptedMcp({ list: ({ id, response }) => sendResult(response, id, page) }));
    await expect(service.test(noAuth(peer.url))).resolves.toMatchObject({
      outcome: 'unreachable',
      cause: 'invalid_tool_list',
    });
  });

  it.each([
    ['never ends', (page: number) => `page-${page}`, 'too_many_tools', 64],
    ['has a cursor that is not a string', () => 7, 'invalid_tool_list', 1],
  ])('aborts a list that %s', async (_name, next, cause, pages) => {
    let page = 0;
    const peer = await startScriptedMcp({
      list: ({ id, response }) => {
        const tools = [{ name: `t${(page += 1)}`, inputSchema: object }];
        sendResult(response, id, { tools, nextCursor: next(page) });
      },
    });
    await keep(peer);
    await expect(service.test(noAuth(peer.url))).resolves.toMatchObject({ outcome: 'unreachable', cause });
    expect(page).toBe(pages);
  });

  it.each([
    ['an empty cursor forever', () => ({ tools: ['a', 'b'], nextCursor: '' }), 2],
    [
      'a cursor that was already used',
      (page: number) => ({ tools: [['a', 'b'][page - 1]], nextCursor: '1' }),
      2,
    ],
    ['the first page at new cursors', (page: number) => ({ tools: ['a', 'b'], nextCursor: `${page}` }), 2],
    [
      'empty pages forever',
      (page: number) => ({ tools: page > 1 ? [] : ['a', 'b'], nextCursor: `${page}` }),
      64,
    ],
  ])('keeps the tools of a server that answers %s, and warns', async (_name, answer, pages) => {
    let page = 0;
    const peer = await startScriptedMcp({
      list: ({ id, response }) => {
        const { tools, nextCursor } = answer((page += 1));
        sendResult(response, id, { tools: tools.map((name) => ({ name, inputSchema: object })), nextCursor });
      },
    });
    await keep(peer);
    await expect(service.test(noAuth(peer.url))).resolves.toMatchObject({
      outcome: 'connected',
      tools: [{ name: 'a' }, { name: 'b' }],
      rejectedTools: [],
      warnings: [CONNECTION_WARNINGS.endlessList],
    });
    expect(page).toBe(pages);
  });

  it('refuses more tools than allowed', async () => {
    const tools = Array.from({ length: 2_001 }, (_, index) => ({ name: `t${index}`, inputSchema: object }));
    await expect(list(tools)).resolves.toMatchObject({ outcome: 'unreachable', cause: 'too_many_tools' });
  });

  it('reads a thousand ordinary tools', async () => {
    const properties = { query: { type: 'string', description: 'What to look for. '.repeat(10) } };
    const tools = Array.from({ length: 1_000 }, (_, index) => ({
      name: `tool-${index}`,
      description: 'Looks for something. '.repeat(10),
      inputSchema: { type: 'object', properties, required: ['query'] },
    }));
    const result = await list(tools);
    expect(result.outcome === 'connected' && result.tools).toHaveLength(1_000);
  });
});
