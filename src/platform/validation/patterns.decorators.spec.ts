import { validateSync } from 'class-validator';
import { describe, expect, it } from 'vitest';
import { IsCredential, IsFlag, IsHttpUrl, IsPathId, IsText } from './patterns.decorators.js';

class Fields {
  @IsPathId('Id.')
  id: unknown = 'id';

  @IsText(1, 5, { required: false })
  text: unknown = 'text';

  @IsText(0, 5, { required: false })
  optionalText: unknown = '';

  @IsCredential(8, { required: false })
  credential: unknown = 'secret';

  @IsHttpUrl({ required: false })
  url: unknown = 'https://mcp.example.com';

  @IsFlag('Flag.')
  flag: unknown = true;
}

/** Returns the rules that a value breaks in this field. */
function broken(field: keyof Fields, value: unknown): string[] {
  const fields = Object.assign(new Fields(), { [field]: value });
  const errors = validateSync(fields);
  expect(errors.filter(({ property }) => property !== field)).toEqual([]);
  return errors.flatMap(({ constraints = {} }) => Object.values(constraints));
}

const NOT_TEXT = [undefined, null, 7, true, {}, [], ['text'], new Date(0)];

describe('IsPathId', () => {
  it.each(['a', '0', '-', 'A.b_c-9', '...', '__proto__', 'x'.repeat(64)])('accepts %s', (value) => {
    expect(broken('id', value)).toEqual([]);
  });

  it.each(['', 'x'.repeat(65), 'a b', 'a/b', 'a\n', 'ä', 'ａ', '😀', 'a%', 'a\u0000', ...NOT_TEXT])(
    'rejects %j',
    (value) => {
      expect(broken('id', value)).toEqual(['must be 1 to 64 letters, digits, ".", "_" or "-"']);
    },
  );
});

describe('IsPathId of a dot segment', () => {
  it.each(['.', '..'])('explains what is wrong with %s', (value) => {
    expect(broken('id', value)).toEqual(['must not be "." or "..", which are relative segments of a path']);
  });
});

describe('IsText', () => {
  it.each(['a', 'a b', 'ä\n\tb', '在庫', '😀'.repeat(5), 'ab\u200b', '12345', '❤\ufe0f'.repeat(2)])(
    'accepts %j',
    (value) => {
      expect(broken('text', value)).toEqual([]);
    },
  );

  it.each(['', '123456', '😀'.repeat(6), '❤\ufe0f'.repeat(3)])(
    'counts characters, not units of storage: rejects %j',
    (value) => {
      expect(broken('text', value)).toContain('must have 1 to 5 characters');
    },
  );

  it.each(['\ud83d', '\ude00', 'a\ude00\ud83d'])('rejects half of a surrogate pair: %j', (value) => {
    expect(broken('text', value)).toEqual(['must not contain half of a surrogate pair']);
  });

  it.each(['\u0000', '\u0008', 'a\u000b', '\u001b[m', 'a\u007f'])(
    'rejects control characters: %j',
    (value) => {
      expect(broken('text', value)).toContain('must not contain control characters');
    },
  );

  it.each([' ', '\n\t ', '\u00a0', '\u3000'])('rejects the blank text %j for a mandatory text', (value) => {
    expect(broken('text', value)).toEqual(['must not be blank']);
    expect(broken('optionalText', value)).toEqual([]);
  });

  it.each(NOT_TEXT)('rejects %j', (value) => {
    expect(broken('text', value)).toContain('must be a string');
  });
});

describe('IsCredential', () => {
  it.each(['s', ' ', '~!"', '12345678'])('accepts %j', (value) => {
    expect(broken('credential', value)).toEqual([]);
  });

  it.each(['ü', 'a\tb', 'a\r\nb', '\u007f', '😀'])('rejects %j', (value) => {
    expect(broken('credential', value)).toEqual(['must be printable ASCII']);
  });

  it.each(['', '123456789'])('rejects the length of %j', (value) => {
    expect(broken('credential', value)).toEqual(['must have 1 to 8 characters']);
  });

  it.each(NOT_TEXT)('rejects %j', (value) => {
    expect(broken('credential', value)).toContain('must be a string');
  });
});

describe('IsHttpUrl', () => {
  const host = 'https://h/';

  it.each([
    'http://a',
    'HTTPS://A.example:8443/x?y=%20',
    'http://127.0.0.1:3001/mcp',
    'http://[::1]:3000/',
    'https://xn--bcher-kva.example/',
    'https://mcp.example.com/a@b:c',
    host.padEnd(2_048, 'a'),
  ])('accepts %s', (value) => {
    expect(broken('url', value)).toEqual([]);
  });

  it.each([
    '',
    'mcp.example.com',
    '//mcp.example.com',
    'https:',
    'https://',
    'https:///mcp.example.com',
    'https:/mcp.example.com',
    'https:\\\\mcp.example.com',
    'ftp://mcp.example.com',
    'javascript:alert(1)//http://x',
    'https://user@mcp.example.com',
    'https://:word@mcp.example.com',
    'https://mcp.example.com#',
    'https://mcp.example.com/#part',
    ' https://mcp.example.com',
    'https://mcp.example.com ',
    'https://mcp.exa\tmple.com',
    'https://mcp.example.com/\n',
    'https://bücher.example',
    'https://mcp.example.com/ü',
    'https://mcp.example.com:65536',
    'https://[::1',
    'https://1.2.3.4.5',
    'https://mcp example.com',
    host.padEnd(2_049, 'a'),
    ...NOT_TEXT,
    new URL('https://mcp.example.com'),
  ])('rejects %j', (value) => {
    expect(broken('url', value)).toEqual([
      'must be an http or https URL of at most 2048 characters, without credentials and fragment',
    ]);
  });
});

describe('IsFlag', () => {
  it.each([true, false])('accepts %j', (value) => {
    expect(broken('flag', value)).toEqual([]);
  });

  it.each([undefined, null, 'true', 'false', '', 0, 1, [], [true], {}])('rejects %j', (value) => {
    expect(broken('flag', value)).toEqual(['must be true or false']);
  });
});
