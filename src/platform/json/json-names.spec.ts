import { expect, it } from 'vitest';
import { misreadsJsonNames } from './json-names.js';

const NODE_22 = 22;
/** First fixed minor release of each major release. */
const FIXED: Readonly<Record<number, number>> = { 24: 22, 26: 12 };

it('knows the releases of Node that misread escaped names', () => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  expect(misreadsJsonNames()).toBe(major > NODE_22 && minor < (FIXED[major] ?? 0));
});
