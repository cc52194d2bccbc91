import { suite } from './support/suite.js';

export const proof = suite(
  'servers',
  'slow and broken servers, and databases that fail, are told as what they are, and work goes on after them',
  ['mysql'],
);
