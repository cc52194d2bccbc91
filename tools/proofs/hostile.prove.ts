import { suite } from './support/suite.js';

export const proof = suite(
  'hostile',
  'hostile packages, tools, models and servers end at our bounds, with an error that says which',
  ['embedded'],
);
