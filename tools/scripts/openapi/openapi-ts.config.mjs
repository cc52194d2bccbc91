import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

/**
 * Configuration that generates packages/client from openapi.json. tools/scripts/openapi/client.ts runs it and sets the
 * folder.
 */
export default {
  input: at('../../../openapi.json'),
  output: {
    path: process.env.CLIENT_FOLDER,
    importFileExtension: '.js',
    tsConfigPath: at('../../../packages/client/tsconfig.json'),
  },
  plugins: [
    { name: '@hey-api/client-fetch', throwOnError: true },
    { name: '@hey-api/typescript', enums: false },
    { name: '@hey-api/sdk', operations: { strategy: 'single', containerName: 'SvcClient' } },
  ],
};
