import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { LEAST_VALUES, renderChart } from '../../../scripts/deploy/chart.js';

/** How one of the ways in `deploy` starts containers of the image. */
export interface Deployed {
  /** Which way it is. */
  name: string;
  /** Environment variables of the service, without those that hold secrets, addresses of others, or its port. */
  environment: Record<string, string>;
  /** What runs before the service in place of the image's command; undefined where the service migrates by itself. */
  migration: string[] | undefined;
}

const OURS = ['PORT', 'DATABASE_URL', 'SECRETS_KEYS', 'OIDC_ISSUER', 'OIDC_AUDIENCE', 'EGRESS_ALLOW'];

/**
 * The compose file and the chart. Without Helm the chart is left out.
 * @throws Error when Helm cannot be had where CI is set
 */
export async function deployedWays(): Promise<Deployed[]> {
  const compose = parse(readFileSync('deploy/compose/compose.yaml', 'utf8')) as {
    services: { service: { environment: Record<string, string> } };
  };
  const manifests = await renderChart(LEAST_VALUES).catch((error: unknown) => {
    if (process.env['CI']) {
      throw error;
    }
    return [];
  });
  const container = (kind: string) =>
    manifests.find((manifest) => manifest.kind === kind)?.spec.template?.spec.containers[0];
  const variables = container('Deployment')?.env.map(({ name, value }) => [name, value] as const) ?? [];
  const { environment } = compose.services.service;
  const ways = [
    { name: 'compose file', environment: without(environment), migration: undefined },
    { name: 'chart', environment: without(Object.fromEntries(variables)), migration: container('Job')?.args },
  ];
  return manifests.length === 0 ? ways.slice(0, 1) : ways;
}

function without(environment: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !OURS.includes(name)));
}
