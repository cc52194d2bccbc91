import { describe, expect, it } from 'vitest';
import { ExpressionError, ExpressionSyntaxError } from './expression.errors.js';
import { compileExpression } from './expressions.js';

type Data = Record<string, unknown>;

const evaluate = (source: string, data: Data = {}): unknown => compileExpression(source).evaluate(data);

function failure(source: string, data: Data = {}): ExpressionError {
  try {
    evaluate(source, data);
  } catch (error) {
    if (error instanceof ExpressionError) {
      return error;
    }
    throw error;
  }
  throw new Error(`${source} did not fail`);
}

describe('compileExpression', () => {
  describe('reads process data', () => {
    it.each<[string, Data, unknown]>([
      ['amount > 1000', { amount: 1001 }, true],
      ['amount > 1000', { amount: 1000 }, false],
      ['input.a.b == "x"', { a: { b: 'x' } }, true],
      ['input["a"].b == "x"', { a: { b: 'x' } }, true],
      [
        'r.data.records[0].fields["Credit Score"] < 300',
        { r: { data: { records: [{ fields: { 'Credit Score': 299 } }] } } },
        true,
      ],
      ['test.contains("a")', { test: 'bar' }, true],
      ['x == null', { x: null }, true],
      ['items[i]', { items: [5, 6], i: 1 }, 6],
      ['items[0][1].y', { items: [[1, { y: [null] }]] }, [null]],
      ['items.exists(x, x.price > 10)', { items: [{ price: 1 }, { price: 11 }] }, true],
      ['o.map(k, k + "!")', { o: { a: 1, b: 2 } }, ['a!', 'b!']],
      ['size(o) + size(l)', { o: { a: 1 }, l: [1, 2] }, 3],
      ['a == b', { a: { x: [1, { y: 'z' }] }, b: { x: [1, { y: 'z' }] } }, true],
      ['{"sum": a + b, "l": [a, b]}', { a: 1, b: 2.5 }, { sum: 3.5, l: [1, 2.5] }],
      ['input', { a: { b: 1 } }, { a: { b: 1 } }],
    ])('%s on %j is %j', (source, data, value) => {
      expect(evaluate(source, data)).toEqual(value);
    });

    it('prefers a member named input to the alias', () => {
      expect(evaluate('input.a', { a: 1, input: { a: 2 } })).toBe(2);
      expect(evaluate('has(input.b)', { b: 1, input: { a: 2 } })).toBe(false);
      expect(failure('input.b', { b: 1, input: { a: 2 } }).reason).toBe('missing');
    });

    it('reads only the data of this evaluation', () => {
      const expression = compileExpression('a.b');
      expect(expression.evaluate({ a: { b: 1 } })).toBe(1);
      expect(() => expression.evaluate({})).toThrow(ExpressionError);
      expect(expression.evaluate({ a: { b: 2 } })).toBe(2);
    });

    it('returns a copy and never changes data', () => {
      const data = { a: { list: [1] } };
      const value = compileExpression('a').evaluate(data) as { list: number[] };
      value.list.push(2);
      expect(data).toEqual({ a: { list: [1] } });
    });
  });

  describe('numbers', () => {
    it.each<[string, Data, unknown]>([
      ['n + 1', { n: 1 }, 2],
      ['1 + n', { n: 0.5 }, 1.5],
      ['n - 1', { n: 1 }, 0],
      ['10 - n', { n: 1 }, 9],
      ['n * 3', { n: 2 }, 6],
      ['3 * n', { n: 2 }, 6],
      ['n / 2', { n: 5 }, 2.5],
      ['5 / n', { n: 2 }, 2.5],
      ['5 / 2', {}, 2],
      ['n % 2 == 0', { n: 4 }, true],
      ['7 % n', { n: 4 }, 3],
      ['n % m', { n: -7, m: 4 }, -3],
      ['n in [1, 2]', { n: 2 }, true],
      ['int(n) / 2', { n: 5 }, 2],
      ['string(n)', { n: 5 }, '5'],
      ['9007199254740991', {}, 9007199254740991],
      ['9007199254740993', {}, '9007199254740993'],
      ['-9223372036854775808', {}, '-9223372036854775808'],
    ])('%s on %j is %j', (source, data, value) => {
      expect(evaluate(source, data)).toBe(value);
    });

    it.each([
      'n % 0',
      'n % 0.5',
      '1 / 0',
      'n / 0',
      '0.0 / 0.0',
      'n / 0 > 5',
      '5 / z > 5',
      'n / z > 5',
      'n / 0.0 > 5',
      '9223372036854775807 + 1',
    ])('%s fails', (source) => {
      expect(failure(source, { n: 3, z: 0 }).reason).toBe('failed');
    });
  });

  describe('has', () => {
    it.each<[string, Data, boolean]>([
      ['has(o.x)', { o: { x: 1 } }, true],
      ['has(o.x)', { o: { x: null } }, true],
      ['has(o.x)', { o: {} }, false],
      ['has(o.x)', {}, false],
      ['has(input.o)', { o: 1 }, true],
      ['has(input.o)', {}, false],
      ['has(input.o.x)', {}, false],
      ['has(input.o.x)', { o: { x: 1 } }, true],
      ['has(o.toString)', { o: {} }, false],
      ['has(o.x)', { o: 'text' }, false],
      ['"x" in o', { o: { x: null } }, true],
      ['"toString" in o', { o: {} }, false],
      ['l.exists(o, has(o.x))', { l: [{}, { x: 1 }] }, true],
      ['has(o.x) && o.x > 1', { o: {} }, false],
    ])('%s on %j is %j', (source, data, value) => {
      expect(evaluate(source, data)).toBe(value);
    });

    it('fails below a missing member, as CEL does', () => {
      expect(failure('has(o.x.y)', { o: {} }).reason).toBe('missing');
    });
  });

  describe('errors', () => {
    it.each<[string, Data, RegExp]>([
      ['amount > 1', {}, /unknown variable: amount/],
      ['o.x == 1', { o: {} }, /field not found: x/],
      ['o.x.y == 1', { o: { x: null } }, /field not found: y/],
      ['l[2]', { l: [1] }, /index 2 out of bounds$/],
    ])('%s on %j reports what is missing', (source, data, message) => {
      const error = failure(source, data);
      expect(error.message).toMatch(message);
      expect(error).toMatchObject({ reason: 'missing', code: 'EXPRESSION_FAILED', source });
    });

    it.each<[string, Data]>([
      ['a + 1', { a: 'text' }],
      ['a > 1', { a: null }],
      ['a && true', { a: 'true' }],
      ['!a', { a: 1 }],
      ['a.matches("(")', { a: 'x' }],
      ['a.all(x, true)', { a: 5 }],
      ['timestamp(a)', { a: 'yesterday' }],
    ])('%s on %j fails', (source, data) => {
      expect(failure(source, data).reason).toBe('failed');
    });

    it('reads a type name as data, unless the expression calls type()', () => {
      expect(evaluate('type == "PREMIUM"', { type: 'PREMIUM' })).toBe(true);
      expect(failure('type == "PREMIUM"').reason).toBe('missing');
      expect(failure('list.size() > 0').reason).toBe('missing');
      expect(evaluate('type(a) == string', { a: 'x' })).toBe(true);
    });
  });

  describe('test', () => {
    it('returns the value of a condition', () => {
      expect(compileExpression('a > 1').test({ a: 2 })).toBe(true);
      expect(compileExpression('a > 1').test({ a: 1 })).toBe(false);
    });

    it.each<[string, Data]>([
      ['a', { a: 1 }],
      ['a', { a: 'true' }],
      ['a', { a: null }],
      ['a', { a: [] }],
      ['a', {}],
      ['a.b', { a: {} }],
    ])('%s on %j is an error and never false', (source, data) => {
      expect(() => compileExpression(source).test(data)).toThrow(ExpressionError);
    });
  });

  describe('roots', () => {
    it.each<[string, string[]]>([
      ['amount > 1 && client.age > 2 && amount < 5', ['amount', 'client']],
      ['input.amount > 1', ['amount']],
      ['input["amount"] > 1', ['amount']],
      ['size(input)', ['input']],
      ['has(client.name)', ['client']],
      ['has(input.client.name)', ['client']],
      ['items.exists(x, x.id == wanted)', ['items', 'wanted']],
      ['x.exists(x, x > 1)', ['x']],
      ['[1].map(input, input + 1)', []],
      ['type(a) == int', ['a']],
      ['"text"', []],
      ['{"a": b}[c]', ['b', 'c']],
    ])('of %s are %j', (source, roots) => {
      expect(compileExpression(source).roots.toSorted()).toEqual(roots);
    });
  });

  describe('rejects', () => {
    it.each<[string, RegExp]>([
      ['', /not CEL/],
      ['a &&', /line 1, column 3/],
      ['a ==\n b b', /not CEL: line \d, column \d/],
      ['a = 1', /not CEL/],
      ['`a`', /not CEL/],
      ['foo(1)', /no function foo/],
      ['a.map(b.c, 1)', /no function map/],
      ['System{}', /no message type System/],
      ['google.protobuf.Timestamp{seconds: 1}', /no message type/],
      ['__proto__', /position 1: __proto__ is a name/],
      ['a.constructor', /constructor is a name/],
      ['a["prototype"]', /prototype is a name/],
      ['has(a.__proto__)', /__proto__ is a name/],
      ['{"__proto__": 1}', /__proto__ is a name/],
      ['l.map(__proto__, 1)', /__proto__ is a name/],
      ['input.__proto__', /__proto__ is a name/],
      ['"\\ud800"', /surrogate/],
    ])('%j', (source, message) => {
      expect(() => compileExpression(source)).toThrow(ExpressionSyntaxError);
      expect(() => compileExpression(source)).toThrow(message);
    });

    it('sources of more than 4,096 characters', () => {
      const text = 'x'.repeat(4091);
      expect(compileExpression(`a+"${text}" `).roots).toEqual(['a']);
      expect(() => compileExpression(`a+"${text}x" `)).toThrow(/4096 characters, this one has 4097/);
    });

    it.each<[string, string, RegExp]>([
      [
        'symbols',
        'a+'.repeat(500).concat('a'),
        /at most 1000 names, operators and brackets, this one has 1001/,
      ],
      ['nested brackets', `${'('.repeat(33)}a${')'.repeat(33)}`, /at most 32 nested brackets/],
      ['spaces in a row', `a${' '.repeat(101)}`, /at most 100 spaces in a row/],
    ])('too many %s', (_name, source, message) => {
      expect(() => compileExpression(source)).toThrow(ExpressionSyntaxError);
      expect(() => compileExpression(source)).toThrow(message);
    });

    it.each([
      `"${'({['.repeat(1000)}" == a`,
      `'''${'"([{ '.repeat(500)}''' == a`,
      `a // ${'({[ '.repeat(900)}\n`,
      `${'(a) + '.repeat(199)}a`,
    ])('nothing because of strings and comments: %#', (source) => {
      expect(compileExpression(source).roots).toEqual(['a']);
    });

    it('macros nested more than twice, but not consecutive ones', () => {
      expect(evaluate('l.map(x, l.map(y, x + y))', { l: [1] })).toEqual([[2]]);
      expect(evaluate('l.map(x, x).filter(x, true).map(x, x)', { l: [1] })).toEqual([1]);
      expect(() => compileExpression('l.all(x, l.all(y, l.all(z, true)))')).toThrow(/at most 2 levels/);
      expect(() => compileExpression('l.all(x, l.all(y, l.map(z, z) == l))')).toThrow(/at most 2 levels/);
    });
  });

  describe('returns plain JSON', () => {
    it.each<[string, unknown]>([
      ['1u', 1],
      ['b"abc"', 'YWJj'],
      ['timestamp("2020-01-01T00:00:00Z")', '2020-01-01T00:00:00Z'],
      ['duration("90s")', '90s'],
      ['{1: "a", true: "b"}', { 1: 'a', true: 'b' }],
      ['type(1)', 'int'],
      ['null', null],
    ])('for %s', (source, value) => {
      expect(evaluate(source)).toEqual(value);
    });
  });
});
