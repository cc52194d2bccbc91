import { describe, expect, it } from 'vitest';

import { hasValidHeaderDeclarations } from './param-headers.js';
import { schemaProblem, withVisibleTexts } from './schema-check.js';

const LIMITS = { maxSchemaBytes: 2_000, maxSchemaDepth: 8, maxSchemaNodes: 60 };
const property = (name: unknown, type: unknown = 'string') => ({ type, 'x-mcp-header': name });
const check = (json: string) => schemaProblem(JSON.parse(json) as Record<string, unknown>, LIMITS);

describe('schemaProblem', () => {
  it.each([
    ['{}'],
    ['{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"string"}}}'],
    ['{"$ref":"#"}'],
    ['{"properties":{"a":{"$ref":"#here"}},"$defs":{"x":{"$anchor":"here"}}}'],
    ['{"properties":{"a":{"$ref":"urn:x"}},"$defs":{"x":{"$id":"urn:x"}}}'],
    ['{"$id":"https://x/a.json","$ref":"https://x/a.json#/$defs/b","$defs":{"b":{"$ref":"a.json"}}}'],
    [
      '{"$schema":"http://json-schema.org/draft-04/schema#","id":"https://x/a","items":{"$ref":"https://x/a#"}}',
    ],
    [
      '{"$schema":"http://json-schema.org/draft-07/schema#","items":{"$ref":"#b"},"definitions":{"b":{"$id":"#b"}}}',
    ],
    ['{"properties":{"a":{"$ref":"#/$defs/a~1b%20c"}},"$defs":{"a/b c":{}}}'],
    ['{"properties":{"$ref":{"type":"string"},"default":{"type":"string"}}}'],
    ['{"default":{"$ref":"http://x/"},"enum":[{"$ref":"http://x/"}]}'],
    ['{"properties":{"constructor":{"type":"string"},"prototype":{"type":"string"}}}'],
    ['{"pattern":"^(a+)+$"}'],
    ['{"description":"\\u202e\\u200b","title":"\\u00ad","items":{"$comment":"\\u001b"}}'],
    ['{"enum":["❤️","👩‍💻","\\r\\n","\\t"],"properties":{"می‌خواهم":{}}}'],
  ])('accepts %s', (json) => {
    expect(check(json)).toBeUndefined();
  });

  it.each([
    ['{"$ref":"http://127.0.0.1/x.json"}', 'external_reference'],
    ['{"properties":{"default":{"$ref":"other.json"}}}', 'external_reference'],
    ['{"$dynamicRef":"file:///x"}', 'external_reference'],
    ['{"$ref":"#/$defs/none"}', 'unresolved_reference'],
    ['{"$ref":"#/__proto__"}', 'unresolved_reference'],
    ['{"$ref":"#/%E0%A4%A"}', 'unresolved_reference'],
    ['{"$ref":"#nowhere"}', 'unresolved_reference'],
    ['{"$id":"https://x/a","$ref":"a#/$defs/none"}', 'unresolved_reference'],
    ['{"$id":"https://x/a","$ref":"b"}', 'external_reference'],
    ['{"id":"https://x/a","$ref":"https://x/a"}', 'external_reference'],
    ['{"properties":{"__proto__":{}}}', 'forbidden_key'],
    ['{"constructor":{"prototype":{"x":1}}}', 'forbidden_key'],
    ['{"description":"\\ud800"}', 'invalid_text'],
    ['{"properties":{"\\ud800":{}}}', 'invalid_text'],
    ['{"maximum":1e999}', 'invalid_text'],
    ['{"properties":{"user\\u200b":{}}}', 'hidden_characters'],
    [
      '{"properties":{"description":{"enum":["a\\u{e0041}b"]}}}'.replace('\\u{e0041}', '\u{e0041}'),
      'hidden_characters',
    ],
    ['{"enum":[{"title":"\\u202e"}]}', 'hidden_characters'],
    ['{"const":"\\ufe0f"}', 'hidden_characters'],
    ['{"default":"\\u061c"}', 'hidden_characters'],
    ['{"examples":["\\u00ad"]}', 'hidden_characters'],
    ['{"required":["user\\u2060"]}', 'hidden_characters'],
    ['{"pattern":"\\u200f"}', 'hidden_characters'],
    ['{"x-unknown":"\\u0000"}', 'hidden_characters'],
    ['{"description":["\\u200b"]}', 'hidden_characters'],
    ['{"properties":{"title":"\\u200b"}}', 'hidden_characters'],
    [`{"description":"${'x'.repeat(2_000)}"}`, 'schema_too_large'],
    [`${'{"not":'.repeat(8)}{}${'}'.repeat(8)}`, 'schema_too_deep'],
    [`${'{"x":['.repeat(100_000)}${']}'.repeat(100_000)}`, 'schema_too_deep'],
    [`{"anyOf":[${Array(60).fill('{}').join()}]}`, 'schema_too_complex'],
  ])('rejects %.60s', (json, reason) => {
    expect(check(json)).toBe(reason);
  });
});

const schema = (text: string, value: unknown) => ({
  type: 'object',
  title: text,
  properties: {
    description: { type: 'string', description: text, default: '\r\n', enum: ['\r\n', '❤️'] },
    list: { items: [{ anyOf: [{ $comment: text }] }], minItems: 1, nullable: null },
  },
  $defs: { title: { title: text, const: value } },
});

describe('withVisibleTexts', () => {
  it('cleans only titles, descriptions and comments, at any depth', () => {
    const hidden = 'see\u{e0049}\u{e0067}\u202e\u200bn';
    const data = { title: 'a\r\nb', list: [null, 0, false] };

    const cleaned = withVisibleTexts(schema(hidden, data));

    expect(cleaned).toEqual(schema('seen', data));
    expect(JSON.stringify(cleaned)).toBe(JSON.stringify(schema('seen', data)));
  });
});

describe('hasValidHeaderDeclarations', () => {
  it.each([
    [{ properties: { a: property('Region'), b: property('Zone', 'integer') } }],
    [{ properties: { a: { type: 'object', properties: { b: property('Region') } } } }],
    [{ properties: { 'x-mcp-header': { type: 'string' } } }],
    [{ default: property('Region') }],
  ])('accepts %j', (schema) => {
    expect(hasValidHeaderDeclarations(schema)).toBe(true);
  });

  it.each([
    [{ ...property('Region') }],
    [{ properties: { a: property('') } }],
    [{ properties: { a: property(7) } }],
    [{ properties: { a: property('two words') } }],
    [{ properties: { a: property('line\r\nbreak') } }],
    [{ properties: { a: property('Region', 'number') } }],
    [{ properties: { a: property('Region', 'object') } }],
    [{ properties: { a: property('Region'), b: property('REGION') } }],
    [{ properties: { a: { items: property('Region') } } }],
    [{ allOf: [{ properties: { a: property('Region') } }] }],
  ])('rejects %j', (schema) => {
    expect(hasValidHeaderDeclarations(schema)).toBe(false);
  });
});
