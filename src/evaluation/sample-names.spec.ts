import { describe, expect, it } from 'vitest';
import { sampleNames } from './token-claims.js';

describe('sampleNames', () => {
  it.each([
    ['jane.doe', 'Jane', 'Doe'],
    ['jane.doe@example.com', 'Jane', 'Doe'],
    ['ana_maria-lopez', 'Ana', 'Maria Lopez'],
    ['émile', 'Émile', 'Evaluation'],
    ['...', '...', 'Evaluation'],
  ])('of %s are %s %s', (subject, first, last) => {
    expect(sampleNames(subject)).toEqual({
      given_name: first,
      family_name: last,
      preferred_username: subject,
    });
  });
});
