import { describe, expect, it } from 'vitest';

import { paramHeaders } from './param-headers.js';

describe('paramHeaders', () => {
  const schema = {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      limit: { type: 'integer', 'x-mcp-header': 'Limit' },
      dry: { type: 'boolean', 'x-mcp-header': 'Dry' },
      nested: { type: 'object', properties: { deep: { type: 'string', 'x-mcp-header': 'Deep' } } },
      plain: { type: 'string' },
    },
  };

  it('mirrors only declared arguments, at any depth', () => {
    const args = { region: 'eu', limit: 5, dry: false, nested: { deep: 'x' }, plain: 'secret' };
    expect(paramHeaders(schema, args)).toEqual({
      'Mcp-Param-Region': 'eu',
      'Mcp-Param-Limit': '5',
      'Mcp-Param-Dry': 'false',
      'Mcp-Param-Deep': 'x',
    });
  });

  it('omits arguments that are absent, null or of another type', () => {
    const args = { region: null, limit: 2 ** 60, dry: ['x'], nested: 'text' };
    expect(paramHeaders(schema, args)).toEqual({});
    expect(paramHeaders(schema, {})).toEqual({});
  });

  it.each([
    ['Zürich', '=?base64?WsO8cmljaA==?='],
    ['a\r\nevil: 1', '=?base64?YQ0KZXZpbDogMQ==?='],
    [' padded ', '=?base64?IHBhZGRlZCA=?='],
    ['', '=?base64??='],
    ['=?base64?YQ==?=', '=?base64?PT9iYXNlNjQ/WVE9PT89?='],
  ])('encodes %j', (region, header) => {
    expect(paramHeaders(schema, { region })).toEqual({ 'Mcp-Param-Region': header });
  });
});
