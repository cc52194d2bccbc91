import { shows } from '../../../common/answer-fields.decorators.js';

/** A member that is any JSON value, null included. */
export const ShowsAnyJson = shows({
  oneOf: [
    { type: 'object', additionalProperties: true },
    { type: 'array', items: {} },
    { type: 'string' },
    { type: 'number' },
    { type: 'boolean' },
    { type: 'null' },
  ],
});
