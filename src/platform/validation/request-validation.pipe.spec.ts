import type { ArgumentMetadata } from '@nestjs/common';
import { Type } from 'class-transformer';
import { IsInt, IsOptional, IsString, Matches, ValidateNested } from 'class-validator';
import { describe, expect, it } from 'vitest';
import { ValidationFailedError } from '../errors/request.errors.js';
import { CONTRACT_MESSAGE, RequestValidationPipe } from './request-validation.pipe.js';

class Inner {
  @IsInt({ message: 'must be a whole number' })
  count: number;
}

class Outer {
  @Matches(/^\w*$/, {
    message: 'The contract says so.',
    context: { [CONTRACT_MESSAGE]: 'The contract says so.' },
  })
  @IsString({ message: 'must be a string' })
  name: string;

  @ValidateNested()
  @Type(() => Inner)
  @IsOptional()
  inner?: Inner;
}

class Path {
  @Matches(/^[a-z]+$/, { message: 'must be letters' })
  name: string;
}

class Query {
  @Type(() => Number)
  @IsInt({ message: 'must be a whole number' })
  @IsOptional()
  limit?: number;
}

const sut = new RequestValidationPipe();
const pipe = {
  transform: async (value: unknown, metadata: ArgumentMetadata): Promise<unknown> =>
    sut.transform(value, metadata),
};
const as = (
  type: ArgumentMetadata['type'],
  metatype: ArgumentMetadata['metatype'] = Outer,
): ArgumentMetadata => ({
  type,
  metatype,
});

/** Returns message and details of the error. */
async function refusal(value: unknown, metadata = as('body')): Promise<[string, string | undefined]> {
  const error: unknown = await pipe.transform(value, metadata).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ValidationFailedError);
  const { message, details } = error as ValidationFailedError;
  return [message, details];
}

describe('RequestValidationPipe', () => {
  it('converts a body to an instance of its class', async () => {
    const body = await pipe.transform({ name: 'a', inner: { count: 1 } }, as('body'));
    expect(body).toBeInstanceOf(Outer);
    expect((body as Outer).inner).toBeInstanceOf(Inner);
  });

  it('names every field that breaks a rule by its path', async () => {
    expect(await refusal({ inner: { count: 'x' } })).toEqual([
      'Request validation failed.',
      'name: must be a string; inner.count: must be a whole number',
    ]);
  });

  it('uses the text of the contract where there is one', async () => {
    expect(await refusal({ name: 'a b' })).toEqual(['The contract says so.', 'name: The contract says so.']);
  });

  it('names unknown fields of a body, at every depth', async () => {
    expect(await refusal({ name: 'a', more: 1, inner: { count: 1, other: 2 } })).toEqual([
      'Request validation failed.',
      'more: is not a known field; inner.other: is not a known field',
    ]);
  });

  it.each(['constructor', 'toString', 'hasOwnProperty', 'prototype', 'valueOf'])(
    'rejects the field %s, which every object inherits',
    async (field) => {
      expect(await refusal({ name: 'a', [field]: 1 })).toEqual([
        'Request validation failed.',
        `${field}: is not a known field`,
      ]);
      expect((await refusal({ name: 'a', inner: { count: 1, [field]: {} } }))[1]).toBe(
        `inner.${field}: is not a known field`,
      );
    },
  );

  describe('of a body without a class', () => {
    /** Types that the compiler emits for `Record<string, unknown>`, `unknown`, `string[]`. */
    const shapes: ArgumentMetadata[] = [Object, undefined, Array].map((metatype) => ({
      type: 'body',
      metatype: metatype as ArgumentMetadata['metatype'],
    }));

    it.each(shapes)('passes every shape unchanged ($metatype)', async (metadata) => {
      const body = { toString: 'a', valueOf: 1, hasOwnProperty: null, list: [{ isPrototypeOf: [] }], '': {} };
      expect(await pipe.transform(body, metadata)).toBe(body);
    });

    it.each(shapes)('rejects keys that reach prototypes, at every depth ($metatype)', async (metadata) => {
      for (const key of ['__proto__', 'constructor', 'prototype']) {
        const bad: unknown = JSON.parse(`{"${key}":{"isAdmin":true}}`);
        expect((await refusal(bad, metadata))[1]).toBe(`${key}: is a name that no field may have`);
        expect((await refusal({ list: [{ a: bad }] }, metadata))[1]).toBe(
          `list.0.a.${key}: is a name that no field may have`,
        );
      }
    });

    it.each(shapes)('rejects numbers that would become infinite ($metatype)', async (metadata) => {
      for (const text of ['1e999', '-1e999']) {
        const bad: unknown = JSON.parse(`{"list":[{"a":${text}}]}`);
        expect((await refusal(bad, metadata))[1]).toMatch(
          /^list\.0\.a: is a number too large to store exactly: integers go up to 2\^53 - 1/,
        );
      }
      expect(await pipe.transform({ a: Number.MAX_VALUE, b: -0 }, metadata)).toEqual({
        a: Number.MAX_VALUE,
        b: -0,
      });
    });

    it('takes about as long as parsing the body, whatever it contains', async () => {
      const members = Array.from({ length: 50_000 });
      const texts = ['[]', '{}', '1', '{"a":1}'].map((member) => `{"a":[${members.fill(member).join()}]}`);
      for (const text of texts) {
        const read = leastMs(() => JSON.parse(text));
        const body: unknown = JSON.parse(text);
        expect(leastMs(() => void pipe.transform(body, as('body', Object)))).toBeLessThan(8 * read);
      }
    });

    it('rejects excessive nesting', async () => {
      const levels = Array.from({ length: 100 }, (_none, level) => level);
      const deep = levels.reduce<unknown>((inner) => ({ a: inner }), 1);
      expect((await refusal(deep, as('body', Object)))[1]).toMatch(/: is nested more than 64 deep$/);
    });
  });

  it('rejects __proto__ in a body with a class, at every depth', async () => {
    const bad: unknown = JSON.parse('{"name":"a","__proto__":{"isAdmin":true}}');
    expect((await refusal(bad))[1]).toBe('__proto__: is not a known field');
    expect((await refusal({ name: 'a', inner: bad }))[1]).toBe('inner.__proto__: is not a known field');
  });

  it.each([
    ['null', null],
    ['nothing', undefined],
    ['a text', 'x'],
    ['a list', []],
    ['a number', 7],
  ])('rejects %s as a body', async (_case, value) => {
    await expect(pipe.transform(value, as('body'))).rejects.toBeInstanceOf(ValidationFailedError);
  });

  it('requires an object for a nested class', async () => {
    expect((await refusal({ name: 'a', inner: 'x' }))[1]).toBe('inner: must be an object');
  });

  it('drops unknown query parameters and converts the known ones', async () => {
    const query = await pipe.transform({ limit: '5', page: '2' }, as('query', Query));
    expect(query).toEqual({ limit: 5 });
    expect(query).toBeInstanceOf(Query);
    expect(await refusal({ limit: 'many' }, as('query', Query))).toEqual([
      'Request validation failed.',
      'limit: must be a whole number',
    ]);
  });

  it('does not touch parameters of custom decorators', async () => {
    const principal = { constructor: 1 };
    expect(await pipe.transform(principal, as('custom'))).toBe(principal);
  });

  it.each([65, 1_000, 2_000, 50_000])(
    'rejects a body nested %i deep without an internal error',
    async (depth) => {
      let value: unknown = 1;
      for (let level = 0; level < depth; level += 1) {
        value = level % 2 === 0 ? [value] : { a: value };
      }
      expect((await refusal({ name: 'a', b: value }))[1]).toMatch(/^b\..*: is nested more than 64 deep$/);
    },
  );

  it('keeps the error short, however many fields there are', async () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_none, index) => [`f${index}`, 1]));
    const [, details = ''] = await refusal({ name: 'a', ...many, ['x'.repeat(10_000)]: 1 });
    expect(details).toMatch(/; and 981 more$/);
    expect(details.length).toBeLessThan(5_000);
  });
});

/** Returns the milliseconds of the fastest of seven runs, since other work on the machine slows some down. */
function leastMs(work: () => unknown): number {
  const rounds = Array.from({ length: 7 }, () => {
    const begun = performance.now();
    work();
    return performance.now() - begun;
  });
  return Math.min(...rounds);
}

it('creates a new object for every path and every query without parameters', async () => {
  for (const [type, metatype, value] of [
    ['param', Path, { name: 'b' }],
    ['query', Query, {}],
  ] as const) {
    const made = [
      await pipe.transform(value, as(type, metatype)),
      await pipe.transform(value, as(type, metatype)),
    ];
    expect(made[0]).toBeInstanceOf(metatype);
    expect(made[1]).toEqual(made[0]);
    expect(made[1]).not.toBe(made[0]);
  }
});

it('validates every query without parameters against rules that it can break', async () => {
  class Needed {
    @IsString({ message: 'is required' })
    name: string;
  }
  for (let time = 0; time < 2; time += 1) {
    expect((await refusal({}, as('query', Needed)))[1]).toBe('name: is required');
  }
});

it('distinguishes classes of the same name', async () => {
  // Two modules may have such classes.
  const Stricter = (() => {
    class Path {
      @Matches(/^a+$/, { message: 'must be the letter a' })
      name: string;
    }
    return Path;
  })();
  await pipe.transform({ name: 'b' }, as('param', Path));
  await expect(pipe.transform({ name: 'b' }, as('param', Stricter))).rejects.toThrow(ValidationFailedError);
  await expect(pipe.transform({ name: '1' }, as('param', Path))).rejects.toThrow(ValidationFailedError);
});
