import { suite } from './support/suite.js';

export const proof = suite(
  'stopping',
  'a service that starts, stops or is killed loses nothing and leaves nothing open',
  ['mysql'],
);
