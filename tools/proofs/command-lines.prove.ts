import { suite } from './support/suite.js';

export const proof = suite(
  'command-lines',
  'the command lines do what their help says, from a fresh clone too',
  ['embedded'],
  'sample/tests/',
);
