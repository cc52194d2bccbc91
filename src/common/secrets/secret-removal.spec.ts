import { expect, it } from 'vitest';

import { jsonWithoutSecrets, withoutSecrets } from './secret-removal.js';

const SECRET = 'a "quoted" $& secret';

it('removes secrets wherever they stand, but none so short that it could be a common word', () => {
  expect(withoutSecrets(`${SECRET}, ${SECRET} and short`, [SECRET, 'short'])).toBe(
    '[removed], [removed] and short',
  );
});

it('removes secrets from texts and names of a value and keeps everything else', () => {
  const value = { list: [`Bearer ${SECRET}`, 1, null, true], [SECRET]: { inner: SECRET } };
  expect(jsonWithoutSecrets(value, [SECRET])).toEqual({
    list: ['Bearer [removed]', 1, null, true],
    '[removed]': { inner: '[removed]' },
  });
});
