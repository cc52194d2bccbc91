import { generateClient } from './openapi/client.js';

/** Generates packages/client/src/generated from openapi.json: `npm run client`. */
generateClient();
