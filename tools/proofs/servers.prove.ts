import { suite } from './support/suite.js';

export const proof = suite(
  'servers',
  'slow and broken servers and failing databases are reported accurately, and work continues afterwards',
  ['mysql'],
);
