import { suite } from './support/suite.js';

export const proof = suite(
  'command-lines',
  'the command lines behave as documented in their help, also in a fresh clone',
  ['embedded'],
  'sample/tests/',
);
