import { describe, expect, it } from 'vitest';
import { array, assert, constantFrom, dictionary, letrec, oneof, property, string } from 'fast-check';
import { runWithoutYielding, type YieldingWork } from '#engine/support';
import { scrub, scrubbedJson } from './scrub.js';

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
  ])('removes the secret from %s', (text, expected) => {
    expect(scrub(text)).toBe(expected);
  });

  it.each([
    'a word about tokens and secrets',
    '{"inputTokens":12,"route":"/process/:uuid/token/:tokenUuid"}',
    'https://example.com/user@example.com',
    '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b40',
    'build.2026.11.21-nightly.package',
  ])('does not change %s', (text) => {
    expect(scrub(text)).toBe(text);
  });

  it.each(['a.', 'eyJ', 'eyJ.', '-eyJ', '://', 'https://', 'Bearer ', 'password', 'secret=', '\\'])(
    'takes linear time for a long text of %j',
    (part) => {
      const text = part.repeat(200_000 / part.length);
      const begun = performance.now();
      scrub(text);
      // Linear time takes a few milliseconds, quadratic time takes minutes.
      expect(performance.now() - begun).toBeLessThan(2_000);
    },
  );
});

const scrubbed = (value: unknown): unknown =>
  JSON.parse(runWithoutYielding(scrubbedJson(JSON.stringify(value)))) as unknown;

/** Counts the slices of work. */
function piecesOf(steps: YieldingWork<unknown>): number {
  let pieces = 1;
  while (steps.next().done !== true) {
    pieces += 1;
  }
  return pieces;
}

/** The same as `scrubbedJson`, implemented on values rather than text. */
function expected(value: unknown): unknown {
  if (typeof value === 'string') {
    return scrub(value);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map(expected);
  }
  const members = Object.entries(value).map(([name, member]: [string, unknown]) => [
    name,
    typeof member === 'string' && ['token', 'API-key'].includes(name) ? '[removed]' : expected(member),
  ]);
  return Object.fromEntries(members) as unknown;
}

describe('scrubbedJson', () => {
  it('checks names and texts at any depth', () => {
    expect(
      scrubbed({
        apiKey: 'hunter22',
        'Client-Secret': 'h',
        token: 7,
        secret: ['plain'],
        password: '',
        list: [{ text: `Bearer ${JWT}`, nested: JSON.stringify(JSON.stringify({ password: 'hunter22' })) }],
        plain: null,
      }),
    ).toEqual({
      apiKey: '[removed]',
      'Client-Secret': '[removed]',
      token: 7,
      secret: ['plain'],
      password: '[removed]',
      list: [
        {
          text: 'Bearer [removed]',
          nested: JSON.stringify(JSON.stringify({ password: '[removed]' })),
        },
      ],
      plain: null,
    });
  });

  it('keeps everything else', () => {
    const text = oneof(
      string(),
      constantFrom('token', 'API-key', 'token=abc', '://a@', 'Bearer x', '\\', '"', '\\"', '":"', JWT),
    );
    const { value } = letrec((tie) => ({
      value: oneof(
        { maxDepth: 4 },
        text,
        constantFrom(null, true, 7, -1.5),
        array(tie('value')),
        dictionary(text, tie('value')),
      ),
    }));
    assert(
      property(value, (sent) => {
        // Compares text, because several releases of Node 24 and 26 parse escaped names incorrectly (nodejs/node#63785).
        expect(runWithoutYielding(scrubbedJson(JSON.stringify(sent)))).toBe(JSON.stringify(expected(sent)));
      }),
    );
  });

  it.each([
    ['texts', ['a']],
    ['names', [{ a: 1 }]],
    ['secrets', [{ token: 'a' }]],
  ])('yields between slices when there are many %s', (_, part) => {
    const json = JSON.stringify(Array.from({ length: 50_000 }, () => part));
    expect(piecesOf(scrubbedJson(json))).toBeGreaterThan(json.length / 20_000);
  });
});
