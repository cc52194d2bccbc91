import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { COMPOSE_FILE, composeServices } from '../../tools/scripts/deploy/compose.js';
import { httpLimits } from '../../src/platform/http.limits.js';
import { limitedEnv } from '../support/limits/limits.js';

const DOCKERFILE = 'deploy/Dockerfile';
const read = (path: string): string => readFileSync(path, 'utf8');
const services = composeServices();
const values = parse(read('deploy/helm/svc-platform/values.yaml')) as {
  terminationGracePeriodSeconds: number;
  resources: { limits: { memory: string } };
};
const chart = parse(read('deploy/helm/svc-platform/Chart.yaml')) as Record<string, string>;
const ciValues = parse(read('deploy/helm/svc-platform/ci/values.yaml')) as {
  settings: Record<string, string>;
};
const manifest = JSON.parse(read('package.json')) as { version: string };
const settings = new Map(
  [...read('.env.example').matchAll(/^([A-Z][A-Z0-9_]*)=(.*)$/gm)].map(([, name, value]) => [name, value]),
);
const service = services['service'];

describe('deployment files', () => {
  it('contain only existing settings, and no secrets in manifests', () => {
    const named = [...Object.keys(service?.environment ?? {}), ...Object.keys(ciValues.settings)];
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !settings.has(name))).toEqual([]);
    const schema = JSON.parse(read('deploy/helm/svc-platform/values.schema.json')) as {
      properties: {
        settings: { propertyNames: { not: { enum: string[] } }; properties: Record<string, object> };
      };
    };
    const { propertyNames, properties } = schema.properties.settings;
    const refused = propertyNames.not.enum;
    expect(refused.filter((name) => !settings.has(name))).toEqual([]);
    // Secrets must not appear in a manifest, which many people can read.
    const secret = [...settings.keys()].filter((name) =>
      /(_KEYS?|_SECRET|_TOKEN|_PASSWORD|_OTLP_HEADERS|^DATABASE_(READ_)?URL|^REDIS_URL)$/.test(name ?? ''),
    );
    expect(secret.filter((name) => !refused.includes(name ?? ''))).toEqual([]);
    // Settings that may contain credentials are rejected depending on their value.
    const possiblySecret = [...read('.env.example').matchAll(/credentials are a secret.*\n([A-Z_]+)=/g)];
    expect(possiblySecret.length).toBeGreaterThan(0);
    expect(Object.keys(properties)).toEqual(possiblySecret.map(([, name]) => name));
  });

  it('start the service of the compose file in production mode', () => {
    const env = limitedEnv('production', { NODE_ENV: 'production', ...service?.environment });
    expect(env.get('OIDC_ISSUER')).toBe(service?.environment['OIDC_ISSUER']);
    expect(service?.environment['EGRESS_ALLOW']).toBe('');
  });

  it('use the same address of Keycloak for browsers and the service', () => {
    const realm = JSON.parse(read('deploy/compose/realm.json')) as {
      realm: string;
      clients: { publicClient: boolean; webOrigins?: string[]; redirectUris?: string[] }[];
    };
    const { environment = {}, ports = [] } = services['keycloak'] ?? {};
    const hostname = environment['KC_HOSTNAME'] ?? '';
    expect(service?.environment['OIDC_ISSUER']).toBe(`${hostname}/realms/${realm.realm}`);
    // The service shares Keycloak's network, so localhost is Keycloak for it. These ports publish both to the host.
    expect(service?.network_mode).toBe('service:keycloak');
    const published = ports.map((port) => port.split(':').at(-1));
    const required = [new URL(hostname).port, settings.get('PORT'), service?.environment['METRICS_PORT']];
    expect(new Set(published)).toEqual(new Set(required));
    const [frontEnd] = realm.clients.filter(({ publicClient }) => publicClient);
    expect(frontEnd?.webOrigins).toEqual([service?.environment['CORS_ORIGINS']]);
    expect(frontEnd?.redirectUris).toEqual([`${service?.environment['CORS_ORIGINS']}/*`]);
  });

  it('configure the address of Redis if the service has a setting for it', () => {
    expect(services['redis']).toBeDefined();
    const isKnown = settings.has('REDIS_URL');
    expect('REDIS_URL' in (service?.environment ?? {})).toBe(isKnown);
  });

  it('have the version of this checkout', () => {
    expect(service?.image).toBe(`svc-platform:${manifest.version}`);
    expect([chart['version'], chart['appVersion']]).toEqual([manifest.version, manifest.version]);
  });

  it('give the service enough time to stop', () => {
    const longest = (Number(settings.get('SHUTDOWN_DELAY_MS')) + httpLimits.shutdownTimeoutMs) / 1_000;
    const unit = /^TimeoutStopSec=(\d+)$/m.exec(read('deploy/systemd/svc-platform.service'))?.[1];
    for (const seconds of [
      values.terminationGracePeriodSeconds,
      service?.stop_grace_period?.replace('s', ''),
      unit,
    ]) {
      expect(Number(seconds)).toBeGreaterThan(longest);
    }
  });

  it('build the image from the Dockerfile, which installs after all workspaces are copied', () => {
    const { context = '', dockerfile = '' } = service?.build ?? {};
    const documented = /^docker build --file (\S+) .* \.$/m.exec(read('docs/operations.md'))?.[1];
    expect([join(dirname(COMPOSE_FILE), context, dockerfile), documented]).toEqual([DOCKERFILE, DOCKERFILE]);
    expect(existsSync(DOCKERFILE)).toBe(true);
    // npm installs the development tools of a workspace only if its folder exists.
    expect(read(DOCKERFILE)).toMatch(/^COPY \. \.\nRUN npm ci /m);
  });

  it('start the default command of the image on a read-only root file system', () => {
    expect(service?.read_only).toBe(true);
    expect(service).not.toHaveProperty('command');
    expect(service).not.toHaveProperty('user');
    const job = read('deploy/helm/svc-platform/templates/migration-job.yaml');
    expect(job).toContain('args: [dist/src/migration.cli.js, run]');
    const dockerfile = read(DOCKERFILE);
    expect(dockerfile).toContain('CMD ["dist/src/main.js"]\n');
    expect(dockerfile).toContain(`FROM node:${read('tools/.nvmrc').trim()}-`);
  });

  it('list each variable of the compose file in its .env.example', () => {
    const text = read('deploy/compose/compose.yaml') + read('deploy/compose/realm.json');
    const used = [...text.matchAll(/(?<!\$)\$\{([A-Z_]+)/g)].map((found) => found[1]);
    const listed = [...read('deploy/compose/.env.example').matchAll(/^([A-Z_]+)=$/gm)].map(
      (found) => found[1],
    );
    expect(new Set(listed)).toEqual(new Set(used));
  });
});
