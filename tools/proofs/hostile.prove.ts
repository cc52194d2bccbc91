import { suite } from './support/suite.js';

export const proof = suite(
  'hostile',
  'hostile packages, tools, models and servers are stopped at the documented limits, with an error that names the limit',
  ['embedded'],
);
