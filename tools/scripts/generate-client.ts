import { generateClient } from './openapi/client.js';

/** Writes the generated part of packages/client from openapi.json: `npm run client`. */
generateClient();
