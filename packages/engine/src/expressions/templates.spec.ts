import { describe, expect, it } from 'vitest';
import { ExpressionError, ExpressionSyntaxError } from './expression.errors.js';
import { compileJsonTemplate, compileTemplate } from './expressions.js';

type Data = Record<string, unknown>;

const DATA: Data = {
  application: { client: { firstName: 'Ann', tags: ['x', { y: 1 }], class: 'A' } },
  age: 42,
  none: null,
  quote: 'say "hi"\n${age}',
  fields: { 'Credit Score': 700 },
};

const render = (source: Parameters<typeof compileJsonTemplate>[0], data = DATA): unknown =>
  compileJsonTemplate(source).render(data).value;

describe('compileTemplate', () => {
  it.each<[string, string]>([
    ['no reference', 'no reference'],
    ['', ''],
    ['Dear ${application.client.firstName}!', 'Dear Ann!'],
    ['${ application.client.firstName }${age}', 'Ann42'],
    ['${application.client.tags}', '["x",{"y":1}]'],
    ['${application.client.tags[1].y}', '1'],
    ['${fields["Credit Score"]}', '700'],
    ["${fields['Credit Score']}", '700'],
    ['${application.client.class}', 'A'],
    ['${input.age}', '42'],
    ['${none}', 'null'],
    ['${age > 18 ? "adult" : "child"}', 'adult'],
    ['${ {"}": "a}"}["}"] }', 'a}'],
    ['${r"\\".size()}', '1'],
    ['${"""a"}"""}', 'a"}'],
    ['${age + 1} and ${size(application.client.tags)}', '43 and 2'],
    ['$ {age} $age {age} $', '$ {age} $age {age} $'],
    ['$${age} is ${age}', '${age} is 42'],
    ['a $${', 'a ${'],
  ])('renders %j as %j', (source, text) => {
    expect(compileTemplate(source).render(DATA)).toEqual({ text, missing: [] });
  });

  it('never expands inserted text again', () => {
    expect(compileTemplate('<${quote}>').render(DATA).text).toBe('<say "hi"\n${age}>');
  });

  it('leaves a missing path empty and reports it once, as written', () => {
    expect(compileTemplate('a${x.y}b${ x.y }c${age.z}d${input.q}e${x + 1}f').render(DATA)).toEqual({
      text: 'abcdef',
      missing: ['x.y', 'age.z', 'input.q', 'x + 1'],
    });
  });

  it('fails when an expression fails for a reason other than missing data', () => {
    expect(() => compileTemplate('${age + "x"}').render(DATA)).toThrow(ExpressionError);
  });

  it.each<[string, RegExp]>([
    ['a ${age', /position 3 is never closed/],
    ['${"}', /never closed/],
    ['${{}', /never closed/],
    ['${}', /empty/],
    ['${ }', /empty/],
    ['${a b}', /not CEL/],
    ['${${a}}', /not CEL/],
    ['${a.__proto__}', /__proto__ is a name/],
    ['${constructor.name}', /constructor is a name/],
    ['${a["__proto__"]}', /__proto__ is a name/],
  ])('refuses %j', (source, message) => {
    expect(() => compileTemplate(source)).toThrow(ExpressionSyntaxError);
    expect(() => compileTemplate(source)).toThrow(message);
  });

  it('names its roots', () => {
    expect(compileTemplate('${a.b} ${input.c.d} ${a + e} ${input}').roots).toEqual(['a', 'c', 'e', 'input']);
  });

  it('caps the length of the text in bytes', () => {
    const half = { a: 'ö'.repeat(262_144) };
    expect(compileTemplate('${a}${a}').render(half).text).toHaveLength(524_288);
    expect(() => compileTemplate('${a}${a}.').render(half)).toThrow(/longer than 1048576 bytes/);
    expect(() => compileTemplate('12345', { maxBytes: 4 }).render({})).toThrow(ExpressionError);
    expect(() => compileJsonTemplate('${a}', { maxBytes: 4 }).render({ a: [1, 2, 3] })).toThrow(
      ExpressionError,
    );
  });

  it('accepts half a surrogate pair, in the source and in data', () => {
    expect(compileTemplate('\ud800${a}${b}').render({ a: '\udc00', b: ['\ud800'] }).text).toBe(
      '\ud800\udc00["\\ud800"]',
    );
  });

  it('bounds the number of references and the length of expressions', () => {
    expect(compileTemplate('${a}'.repeat(1000)).render({ a: 1 }).text).toHaveLength(1000);
    expect(() => compileTemplate('${a}'.repeat(1001))).toThrow(/1000 references/);
    expect(() => compileTemplate(`\${a + "${'x'.repeat(3600)}"}`.repeat(5))).toThrow(
      /16384 characters together/,
    );
  });
});

describe('compileJsonTemplate', () => {
  it('inserts JSON for a reference without quotes', () => {
    expect(render('{"age": ${age}, "tags": [${application.client.tags}, ${none}]}')).toEqual({
      age: 42,
      tags: [['x', { y: 1 }], null],
    });
    expect(render('${application.client}')).toEqual((DATA.application as Data).client);
    expect(render('{"a": ${ {"}": age} }}')).toEqual({ a: { '}': 42 } });
  });

  it('keeps the type when a string is a single reference, and inserts text into a longer string', () => {
    expect(render('{"a": "${age}", "b": "is ${age}", "c": "${application.client.firstName}"}')).toEqual({
      a: 42,
      b: 'is 42',
      c: 'Ann',
    });
    expect(render(`{"a": "\${fields['Credit Score']}"}`)).toEqual({ a: 700 });
  });

  it('keeps inserted text inside its value', () => {
    const evil = { x: '", "admin": true, "y": "${age}\\' };
    expect(render('{"a": "<${x}>", "b": ${x}}', evil)).toEqual({ a: `<${evil.x}>`, b: evil.x });
  });

  it('inserts null for a missing value and nothing for missing text, and reports both', () => {
    expect(compileJsonTemplate('{"a": ${x}, "b": "${y.z}", "c": "[${x}]"}').render(DATA)).toEqual({
      value: { a: null, b: null, c: '[]' },
      missing: ['x', 'y.z'],
    });
  });

  it('also accepts a JSON value and never replaces member names', () => {
    expect(render({ '${age}': ['${age}', 'x', 5, null, true, { deep: 'a ${age}' }] })).toEqual({
      '${age}': [42, 'x', 5, null, true, { deep: 'a 42' }],
    });
    expect(render(5)).toBe(5);
    expect(render('"$${age}"')).toBe('${age}');
    expect(render('"a\\"${age}\\\\"')).toBe('a"42\\');
  });

  it('names its roots', () => {
    expect(compileJsonTemplate('{"a": ${x.y}, "b": ["${z}", "${x}"]}').roots).toEqual(['x', 'z']);
  });

  it.each([
    '',
    'hello',
    '{"a": }',
    '{"a": ${age}',
    '{"a": 1${age}}',
    '{"a": "${age}',
    '{"a": ${age',
    '{"a": "${fields["x"]}"}',
    '{"__proto__": 1}',
    '{"a": [{"constructor": "${age}"}]}',
    '{"a": ${a b}}',
    `${'['.repeat(65)}${']'.repeat(65)}`,
  ])('refuses %j', (source) => {
    expect(() => compileJsonTemplate(source)).toThrow(ExpressionSyntaxError);
  });

  it('caps the total size of inserted values', () => {
    const template = compileJsonTemplate({ a: '${a}', b: ['${a}'] }, { maxBytes: 100 });
    expect(template.render({ a: 'x'.repeat(40) }).value).toBeDefined();
    expect(() => template.render({ a: 'x'.repeat(60) })).toThrow(ExpressionError);
  });

  it('does not change when its source or a rendered value is changed later', () => {
    const source = { a: { b: '${age}' } };
    const template = compileJsonTemplate(source);
    source.a.b = 'changed';
    (template.render(DATA).value as { a: Data }).a.b = 'changed';
    expect(template.render(DATA).value).toEqual({ a: { b: 42 } });
  });
});
