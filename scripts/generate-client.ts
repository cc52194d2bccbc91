import { generateClient } from './openapi/client.js';

/** Writes the generated part of clients/typescript from openapi.json: `npm run client`. */
generateClient();
