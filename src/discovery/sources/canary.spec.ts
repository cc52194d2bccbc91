import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { Log } from '../../platform/observability/logging/log.js';
import { Env } from '../../platform/config/env.js';
import type { SystemsService } from '../../systems/registration/systems.service.js';
import { COMPONENT_KINDS, type ComponentKind } from '../model/component.types.js';
import type { ComponentSource } from './listing.js';
import { KIND_SCHEMES } from './configuration/endpoint.js';
import { ConfigurationSource } from './configuration.source.js';
import { EnvironmentSource } from './environment.source.js';
import { RegisteredSource } from './registered.source.js';

const CANARY = 'CANARY-5e7d';
const folder = mkdtempSync(join(tmpdir(), 'svc-canary-'));
afterAll(() => rmSync(folder, { recursive: true }));

const kinds = Object.keys(COMPONENT_KINDS).filter((kind) => kind !== 'self') as ComponentKind[];
/** Options whose values are secrets, of the kinds that have them. */
const OPTIONS: Partial<Record<ComponentKind, Record<string, unknown>>> = {
  http: { headers: { 'x-api-key': CANARY }, query: { key: CANARY } },
  elasticsearch: { headers: { authorization: `Basic ${CANARY}` } },
  'token-endpoint': { query: { key: CANARY } },
  mcp: { headers: { 'x-api-key': CANARY }, query: { key: CANARY } },
};
/** Mistakes next to secrets, where the invalid value may be the secret itself. */
const MISTAKES = [
  { endpoint: `${CANARY}://svc:${CANARY}@host` },
  { endpoint: `https://svc:${CANARY}/x@host` },
  { endpoint: `https://svc:${CANARY}#x@host` },
  { endpoint: `https://host/?key=${CANARY}` },
  { endpoint: `https://host/#${CANARY}` },
  { endpoint: `https://svc:${CANARY}@host:99999` },
  { key: `key ${CANARY}` },
  { kind: CANARY },
  { [`token: ${CANARY}`]: true },
  { password: [CANARY] },
  { options: CANARY },
  { options: { headers: { [`x: ${CANARY}`]: CANARY } } },
  { options: { healthPath: CANARY } },
  { timeoutMs: CANARY },
  { password: `\${env:${CANARY}}` },
  { password: `\${file:/${CANARY}}` },
  { password: `\${${CANARY}` },
];

/** Returns everything from a source that is shown, stored or logged. */
async function visible(source: ComponentSource): Promise<string> {
  try {
    const { components, rejected } = await source.list(new AbortController().signal);
    const shown = components.map(({ credentials: _credentials, options: _options, ...rest }) => rest);
    return inspect({ shown, rejected }, { depth: null, showHidden: true });
  } catch (error) {
    return inspect(error, { depth: null, showHidden: true });
  }
}

function fileSource(text: string): ConfigurationSource {
  const file = join(folder, 'platform');
  writeFileSync(file, text);
  const env = Env.parse('maintenance', { DISCOVERY_CONFIG_FILE: file, LOG_LEVEL: 'silent' });
  return new ConfigurationSource(env, new Log(env));
}

describe('a secret in every place of a source', () => {
  it.each(kinds)('of kind %s stays in credentials and options', async (kind) => {
    const [scheme] = KIND_SCHEMES[kind];
    const component = {
      key: 'component',
      kind,
      endpoint: `${scheme}://svc:${CANARY}@host.example.com:1234/path`,
      options: OPTIONS[kind] ?? {},
    };
    const named = { ...component, endpoint: `${scheme}://host.example.com`, password: CANARY, token: CANARY };
    for (const entry of [component, named]) {
      const source = fileSource(JSON.stringify({ platform: { components: [entry] } }));
      const { components } = await source.list(new AbortController().signal);
      expect(inspect(components, { depth: null })).toContain(CANARY);
      expect(await visible(source)).not.toContain(CANARY);
    }
    const variable = { [`PLATFORM_INFRA_X`]: `${kind}+${scheme}://svc:${CANARY}@host` };
    const environment = new EnvironmentSource(Env.parse('maintenance', variable));
    expect((await environment.list()).components[0]?.credentials).toMatchObject({ password: CANARY });
    expect(await visible(environment)).not.toContain(CANARY);
  });

  it.each(MISTAKES)('does not appear in messages about the mistake %j', async (member) => {
    const component = { key: 'component', kind: 'http', endpoint: 'https://host', ...member };
    const text = JSON.stringify({ platform: { components: [component] } });
    for (const document of [text, text.slice(0, -1), text.replace('"platform"', `"x ${CANARY}"`)]) {
      const output = await visible(fileSource(document));
      expect(output).toMatch(/reason:|SourceError|Error:/);
      expect(output).not.toContain(CANARY);
    }
  });

  it('is not shown for components that callers have registered', async () => {
    const row = { id: '1', resourceDefinitionId: '2', appId: 'app', resourceName: 'name' };
    const address = `https://svc:${CANARY}@host.example.com/path?key=${CANARY}#${CANARY}`;
    const connection = {
      baseUrl: address,
      identityProviderUrl: address,
      authorizationType: 'SERVICE_ACCOUNT',
    };
    const systems = { mcpServers: async () => [{ ...row, ...connection }] } as unknown as SystemsService;
    const settings = {
      DATABASE_URL: `mysql://svc:${CANARY}@db/svc`,
      OIDC_ISSUER: `https://svc:${CANARY}@sso`,
    };
    const output = await visible(new RegisteredSource(Env.parse('maintenance', settings), systems));
    expect(output).toContain('host.example.com/path');
    expect(output).not.toContain(CANARY);
  });
});
