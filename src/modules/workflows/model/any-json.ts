import type { ApiPropertyOptions } from '@nestjs/swagger';

/** Any JSON value, null included. */
export const ANY_JSON = {
  oneOf: [
    { type: 'object', additionalProperties: true },
    { type: 'array', items: {} },
    { type: 'string' },
    { type: 'number' },
    { type: 'boolean' },
    { type: 'null' },
  ],
} as unknown as ApiPropertyOptions;
