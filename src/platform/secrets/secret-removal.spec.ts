import { describe, expect, it } from 'vitest';

import { SecretRemoval } from './secret-removal.js';
import { runYielding } from '#engine/support';

const SECRET = 'a "quoted" $& secret/+ü';
const percent = encodeURIComponent(SECRET);
const form = new URLSearchParams({ v: SECRET }).toString().slice(2);
const base64 = (text: string) => Buffer.from(text).toString('base64');
const base64url = (text: string) => Buffer.from(text).toString('base64url');
const hex = Buffer.from(SECRET).toString('hex');
const unicode = [...SECRET].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
const removal = new SecretRemoval([SECRET, 'short']);

describe('SecretRemoval', () => {
  it('removes secrets, except those that are so short that they could be common words', () => {
    expect(removal.text(`${SECRET}, ${SECRET} and short`)).toBe('[removed], [removed] and short');
  });

  it('removes secrets from texts, numbers and names of members, and keeps everything else', () => {
    const value = { list: [`Bearer ${SECRET}`, 1, null, true], [SECRET]: { inner: SECRET } };
    expect(removal.json(value)).toEqual({
      list: ['Bearer [removed]', 1, null, true],
      '[removed]': { inner: '[removed]' },
    });
    expect(new SecretRemoval(['1234567890']).json([1234567890, 12345])).toEqual(['[removed]', 12345]);
  });

  it.each([
    ['percent-encoded', percent],
    ['percent-encoded in small letters', percent.replaceAll(/%../g, (escape) => escape.toLowerCase())],
    ['percent-encoded byte by byte', hex.replaceAll(/../g, '%$&')],
    ['percent-encoded twice', encodeURIComponent(percent)],
    ['form-encoded', form],
    ['escaped for JSON', JSON.stringify(SECRET).slice(1, -1)],
    ['escaped for JSON twice', JSON.stringify(JSON.stringify(SECRET).slice(1, -1)).slice(1, -1)],
    ['escaped for JSON with slashes', JSON.stringify(SECRET).slice(1, -1).replaceAll('/', '\\/')],
    ['as Unicode escapes', unicode],
    ['escaped for XML', SECRET.replaceAll('&', '&amp;').replaceAll('"', '&#34;')],
    ['in hexadecimal', hex],
    ['in capital hexadecimal', hex.toUpperCase()],
    ['in base64 without padding', base64(SECRET).replace(/=+$/, '')],
    ['in base64url', base64url(SECRET)],
    ['form-encoded in base64', base64(form).replace(/=+$/, '')],
  ])('removes secrets %s', (_form, written) => {
    expect(removal.text(`ä <${written}> 100% %41 \\n`)).toBe('ä <[removed]> 100% %41 \\n');
    expect(removal.isIn(written)).toBe(true);
  });

  it.each([0, 1, 2, 3, 4, 5])('removes secrets from base64 of a longer text, after %i bytes', (before) => {
    for (const encode of [base64, base64url]) {
      for (const after of ['', '!', '!!', '!!!']) {
        const text = removal.text(encode(`${'x'.repeat(before)}${SECRET}${after}`));
        expect(text).toContain('[removed]');
        expect(Buffer.from(text.replace('[removed]', ''), 'base64').length).toBeLessThan(
          before + after.length + 4,
        );
      }
    }
  });

  it('removes secrets from base64 with line ends', () => {
    const text = base64(`${'x'.repeat(46)}${'long secret '.repeat(20)}`).replaceAll(/.{76}/g, '$&\r\n');
    expect(new SecretRemoval(['long secret '.repeat(20)]).text(text).length).toBeLessThan(90);
  });

  it('keeps text that only looks escaped', () => {
    const text = '50% off, C:\\new\\u12, &copy; &amp; %zz \ud83d 😀 a+b-c_d\r\n';
    const kept = Buffer.from(text).toString();
    expect(removal.text(`${text}${percent}${text}`)).toBe(`${kept}[removed]${kept}`);
    expect(removal.text(text)).toBe(text);
  });

  it('finds long secrets, including those with repeated beginnings', () => {
    const token = `${'ab'.repeat(60)}c`;
    const long = new SecretRemoval([token]);
    expect(long.text(`abab${token}${token}ab`)).toBe('abab[removed][removed]ab');
    expect(long.text('ab'.repeat(200))).toBe('ab'.repeat(200));
  });

  it('processes any large answer quickly', () => {
    const token = 'a'.repeat(16_384);
    const large = new SecretRemoval([token, `b${token}`]);
    for (const piece of ['a', '%61', '\\u0061', `${'a'.repeat(16_383)}b`, '{"a":[1,2]}\n']) {
      // CPU time, because the machine may be busy.
      const start = process.cpuUsage();
      large.text(piece.repeat(Math.ceil(1_048_576 / piece.length)));
      const { user, system } = process.cpuUsage(start);
      expect((user + system) / 1_000).toBeLessThan(2_000);
    }
  });

  it.each([
    ['a long name', { ['%41'.repeat(350_000)]: 1 }],
    ['many numbers', Array.from({ length: 2_000 }, (_, index) => 1.234567890123e200 + index * 1e190)],
    ['many names', Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`a name ${index}`, 1]))],
  ])('yields between slices of work: %s', async (_, value) => {
    const many = new SecretRemoval(Array.from({ length: 50 }, (_secret, index) => `1.23${1_000 + index}`));
    let isDone = false;
    const removed = runYielding(many.jsonSteps(value)).finally(() => {
      isDone = true;
    });
    await new Promise(setImmediate);
    expect(isDone).toBe(false);
    expect(await removed).toEqual(value);
  });

  it('returns the same result in steps, and yields the event loop between them', async () => {
    const text = `${'\\\\'.repeat(500_000)}${percent}`;
    expect(await runYielding(removal.textSteps(text))).toBe(removal.text(text));
    const value = { [SECRET]: [text, 1, null, { deep: [SECRET, true] }], list: ['kept', percent] };
    let longestMs = 0;
    let last = performance.now();
    const watch = setInterval(() => {
      longestMs = Math.max(longestMs, performance.now() - last);
      last = performance.now();
    });
    const begun = performance.now();
    const removed = await runYielding(removal.jsonSteps(value));
    const tookMs = performance.now() - begun;
    clearInterval(watch);
    longestMs = Math.max(longestMs, performance.now() - last);
    expect(removed).toEqual(removal.json(value));
    expect(JSON.stringify(removed)).not.toContain(percent);
    expect(longestMs).toBeLessThan(Math.max(100, tookMs / 2));
  });
});
