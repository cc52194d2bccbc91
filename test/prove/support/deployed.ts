import { LEAST_VALUES, renderChart } from '../../../scripts/deploy/chart.js';
import { composeServices } from '../../../scripts/deploy/compose.js';

/** How one of the ways in `deploy` starts containers of the image. */
export interface Deployed {
  /** Which way it is. */
  name: string;
  /** All environment variables of the service, with secrets and addresses as an operator might fill them in. */
  environment: Record<string, string>;
  /** What runs before the service in place of the image's command; undefined where the service migrates by itself. */
  migration: string[] | undefined;
}

/** The least that the Secret of the chart holds. */
const SECRET = {
  DATABASE_URL: 'mysql://svc:filled-in@db.invalid:3306/svc',
  SECRETS_KEYS: `2026-01:${Buffer.alloc(32).toString('base64')}`,
};

/**
 * The compose file and the chart. Without Helm the chart is left out.
 * @throws Error when Helm cannot be had where CI is set
 */
export async function deployedWays(): Promise<Deployed[]> {
  const manifests = await renderChart(LEAST_VALUES).catch((error: unknown) => {
    if (process.env['CI']) {
      throw error;
    }
    return [];
  });
  const container = (kind: string) =>
    manifests.find((manifest) => manifest.kind === kind)?.spec.template?.spec.containers[0];
  const variables = container('Deployment')?.env.map(({ name, value }) => [name, value] as const) ?? [];
  const ways = [
    {
      name: 'compose file',
      environment: composeServices()['service']?.environment ?? {},
      migration: undefined,
    },
    {
      name: 'chart',
      environment: { ...Object.fromEntries(variables), ...SECRET },
      migration: container('Job')?.args,
    },
  ];
  return manifests.length === 0 ? ways.slice(0, 1) : ways;
}
