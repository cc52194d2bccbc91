import { describe, expect, it } from 'vitest';
import { scrub, scrubJson } from './scrub.js';

const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJqYW5lIn0.c2lnbmF0dXJl';

describe('scrub', () => {
  it.each([
    ['Authorization: Bearer abc.def-123', 'Authorization: Bearer [removed]'],
    ['"authorization":"Basic dXNlcjpwYXNz"', '"authorization":"Basic [removed]"'],
    [`token ${JWT} here`, 'token [token removed] here'],
    ['https://user:hunter22@example.com/x', 'https://[removed]@example.com/x'],
    ['{"password":"hunter22","a":1}', '{"password":"[removed]","a":1}'],
    ['{\\"password\\":\\"hunter22\\"}', '{\\"password\\":\\"[removed]\\"}'],
    [
      String.raw`{\\\"client_secret\\\":\\\"hunter22\\\"}`,
      String.raw`{\\\"client_secret\\\":\\\"[removed]\\\"}`,
    ],
    ['grant_type=x&client_secret=hunter22&scope=y', 'grant_type=x&client_secret=[removed]&scope=y'],
    ['x-api-key: abc123', 'x-api-key: [removed]'],
    ['refresh_token=abc', 'refresh_token=[removed]'],
  ])('takes the secret out of %s', (text, expected) => {
    expect(scrub(text)).toBe(expected);
  });

  it.each([
    'a word about tokens and secrets',
    '{"inputTokens":12,"route":"/process/:uuid/token/:tokenUuid"}',
    'https://example.com/user@example.com',
    '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b40',
    'build.2026.11.21-nightly.package',
  ])('leaves %s alone', (text) => {
    expect(scrub(text)).toBe(text);
  });

  it.each(['a.', 'eyJ', 'eyJ.', '-eyJ', '://', 'https://', 'Bearer ', 'password', 'secret=', '\\'])(
    'reads a long text of %j in one go',
    (part) => {
      const text = part.repeat(200_000 / part.length);
      const begun = performance.now();
      scrub(text);
      // One reading takes a few milliseconds, a quadratic one minutes.
      expect(performance.now() - begun).toBeLessThan(2_000);
    },
  );
});

describe('scrubJson', () => {
  it('looks at names and at every text, whatever its depth', () => {
    expect(
      scrubJson({
        apiKey: 'hunter22',
        'Client-Secret': 'hunter22',
        token: 7,
        list: [{ text: `Bearer ${JWT}`, nested: JSON.stringify(JSON.stringify({ password: 'hunter22' })) }],
        plain: null,
      }),
    ).toEqual({
      apiKey: '[removed]',
      'Client-Secret': '[removed]',
      token: 7,
      list: [
        {
          text: 'Bearer [removed]',
          nested: JSON.stringify(JSON.stringify({ password: '[removed]' })),
        },
      ],
      plain: null,
    });
  });
});
