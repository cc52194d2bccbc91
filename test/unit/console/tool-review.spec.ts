import { describe, expect, it } from 'vitest';
import type { ApplicationAuditEvent, ToolResponse } from '../../../clients/typescript/src/index.js';
import { definitionBefore, toReview } from '../../../console/src/pages/systems/tool-review.js';

const tool = (name: string): ToolResponse => ({
  id: `id-${name}`,
  svcUuid: null,
  name,
  description: 'now',
  inputSchema: { type: 'object', properties: { b: { type: 'string' } } },
  outputSchema: {},
  enabled: false,
});
const event = (
  action: ApplicationAuditEvent['action'],
  rest: Partial<ApplicationAuditEvent> = {},
): ApplicationAuditEvent => ({
  id: '1',
  timestamp: '2026-01-31T10:20:30.123Z',
  action,
  outcome: 'ok',
  actor: { firstName: '', lastName: '', userName: 'jane', impersonatingUser: null },
  subject: 'jane',
  issuer: 'i',
  systemResourceId: 's',
  toolId: null,
  requestId: 'r',
  details: null,
  applicationVersionId: 'v1',
  ...rest,
});
const sync = (details: Record<string, unknown>) => event('tools.sync', { details });

describe('toReview', () => {
  it('has what is new, changed and back, and is not decided since', () => {
    const tools = ['a', 'b', 'c', 'd', 'e'].map(tool);
    const found = toReview(tools, [
      event('tool.switch', { toolId: 'id-a' }),
      sync({ added: ['a', 'b'], returned: ['c'], changed: [{ name: 'd', changes: [] }] }),
      event('tool.switch', { toolId: 'id-d' }),
    ]);
    expect(found.map(({ tool: { name }, found: what }) => [name, what])).toEqual([
      ['d', 'changed'],
      ['b', 'added'],
      ['c', 'returned'],
    ]);
  });

  it('does not take a refused switch for a decision, and says whose decision was taken over', () => {
    const takenOver = [{ name: 'a', enabled: true, decidedBy: { userName: 'joe' }, decidedAt: null }];
    const found = toReview(
      [tool('a')],
      [event('tool.switch', { toolId: 'id-a', outcome: 'denied' }), sync({ added: ['a'], takenOver })],
    );
    expect(found).toEqual([expect.objectContaining({ takenOverFrom: 'joe' })]);
  });
});

describe('definitionBefore', () => {
  it('undoes what the log tells', () => {
    expect(
      definitionBefore(tool('a'), [
        { path: '/description', before: '"then"', after: '"now"' },
        { path: '/inputSchema/properties/a~1x', before: '{"type":"number"}', after: null },
        { path: '/inputSchema/properties/b', before: null, after: '{"type":"string"}' },
        { path: '/annotations', before: 'null', after: '{}' },
      ]),
    ).toEqual({
      description: 'then',
      inputSchema: { type: 'object', properties: { 'a/x': { type: 'number' } } },
      outputSchema: {},
    });
  });

  it.each([
    ['was cut', [{ path: '/description', before: '"then…', after: '"now"' }]],
    ['leads nowhere', [{ path: '/inputSchema/none/a', before: '1', after: '2' }]],
    ['is not known', []],
  ])('knows nothing where what was before %s', (_why, changes) => {
    expect(definitionBefore(tool('a'), changes)).toBeUndefined();
  });
});
