import { Transform, Type } from 'class-transformer';
import { IsOptional, IsString, Matches, ValidateIf, ValidateNested } from 'class-validator';
import { describe, expect, it } from 'vitest';
import { textCheck } from './text-rules.js';

class App {
  @Matches(/^[a-z]+$/)
  app: string;
}

class Version extends App {
  @Matches(/^v/)
  @IsString()
  version: string;
}

describe('textCheck', () => {
  it('creates an object of the class from valid fields, without unknown ones', () => {
    const made = textCheck(Version)?.({ app: 'a', version: 'v1', other: 'x' });
    expect(made).toBeInstanceOf(Version);
    expect(made).toEqual({ app: 'a', version: 'v1' });
  });

  it.each([
    ['its own', { app: 'a', version: '1' }],
    ['of a base class', { app: '1', version: 'v1' }],
    ['of a missing field', { version: 'v1' }],
    ['of a field of another type', { app: 'a', version: ['v1'] }],
  ])('returns undefined when a rule is broken: %s', (_case, sent) => {
    expect(textCheck(Version)?.(sent)).toBeUndefined();
  });

  class Nothing {
    name: string;
  }
  class Changed {
    @Transform(({ value }) => String(value).toLowerCase())
    @IsString()
    name: string;
  }
  class BelowChanged extends Changed {
    @IsString()
    other: string;
  }
  class Typed {
    @Type(() => Number)
    @IsString()
    name: string;
  }
  class Optional {
    @IsOptional()
    @IsString()
    name?: string;
  }
  class Conditional {
    @ValidateIf(() => false)
    @IsString()
    name: string;
  }
  class OfRule {
    @IsString({ validateIf: () => false })
    name: string;
  }
  class Each {
    @IsString({ each: true })
    names: string[];
  }
  class Nested {
    @ValidateNested()
    app: App;
  }

  it.each([Nothing, Changed, BelowChanged, Typed, Optional, Conditional, OfRule, Each, Nested])(
    'leaves $name to the libraries',
    (type) => {
      expect(textCheck(type)).toBeUndefined();
    },
  );
});
