import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { INestApplication } from '@nestjs/common';
import { SwaggerModule } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { stringify } from 'yaml';
import { CachedFile } from './platform/http/cached-file.js';
import { buildOpenApi } from './openapi.js';

/**
 * Script of the page. It loads the OpenAPI document from a path relative to its own address. A pasted token is kept in
 * the session storage of the tab: it survives a reload, no other tab sees it, and it is gone when the tab closes.
 */
const PAGE_SCRIPT = `
const TOKEN = 'svc-platform token';
const keptToken = () => {
  try {
    return sessionStorage.getItem(TOKEN);
  } catch {
    return null;
  }
};
const keepToken = (token) => {
  try {
    token ? sessionStorage.setItem(TOKEN, token) : sessionStorage.removeItem(TOKEN);
  } catch {
    // Without session storage, a reload forgets the token.
  }
};
const KeepToken = () => ({
  statePlugins: {
    auth: {
      wrapActions: {
        authorize: (authorize) => (given) => {
          keepToken(given.bearer?.value);
          return authorize(given);
        },
        logout: (logout) => (names) => {
          keepToken(null);
          return logout(names);
        },
      },
    },
  },
});
const documentUrl = new URL('../docs-json', document.currentScript.src.replace('/docs/docs/', '/docs/')).href;
window.onload = () => {
  const ui = window.ui = SwaggerUIBundle({
    url: documentUrl,
    dom_id: '#swagger-ui',
    deepLinking: true,
    presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
    plugins: [SwaggerUIBundle.plugins.DownloadUrl, KeepToken],
    onComplete: () => keptToken() && ui.preauthorizeApiKey('bearer', keptToken()),
    layout: 'StandaloneLayout',
    displayRequestDuration: true,
    tryItOutEnabled: true,
    showExtensions: true,
    defaultModelExpandDepth: 5,
    defaultModelsExpandDepth: 0,
  });
};
`;

const PAGE_FILES = [
  ['swagger-ui.css', 'text/css'],
  ['swagger-ui-bundle.js', 'text/javascript'],
  ['swagger-ui-standalone-preset.js', 'text/javascript'],
] as const;
/** Resolves Swagger UI from `@nestjs/swagger`, which depends on it. */
const requireOfSwagger = createRequire(import.meta.resolve('@nestjs/swagger'));

/**
 * Serves Swagger UI at /docs and the OpenAPI document at /docs-json and /docs-yaml. These paths need no token, so each
 * file is created only once.
 */
export function setUpApiDocs(app: INestApplication): void {
  const json = (): string => JSON.stringify(buildOpenApi(app));
  const files: [paths: string[], file: CachedFile][] = [
    [['/docs-json'], new CachedFile('application/json; charset=utf-8', json)],
    [['/docs-yaml'], new CachedFile('text/yaml; charset=utf-8', () => stringify(JSON.parse(json())))],
    [
      ['/docs/swagger-ui-init.js', '/docs/docs/swagger-ui-init.js'],
      new CachedFile('text/javascript; charset=utf-8', () => PAGE_SCRIPT),
    ],
    ...PAGE_FILES.map(([name, type]): [string[], CachedFile] => [
      [`/docs/${name}`, `/docs/docs/${name}`],
      new CachedFile(`${type}; charset=utf-8`, () => pageFile(name)),
    ]),
  ];
  const http = app.getHttpAdapter();
  for (const [paths, file] of files) {
    for (const path of paths) {
      http.get(path, (request: Request, response: Response) => file.send(request, response));
    }
  }
  // Serves only the page and its icons: the routes above answer requests for scripts, styles and the document first.
  SwaggerModule.setup('docs', app, () => buildOpenApi(app), {
    raw: false,
    customSiteTitle: 'svc-platform API',
  });
}

function pageFile(name: string): string {
  return readFileSync(requireOfSwagger.resolve(`swagger-ui-dist/${name}`), 'utf8');
}
