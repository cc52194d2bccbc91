import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { helm } from './tools.js';

const run = promisify(execFile);
/** Folder of the chart. */
export const CHART = 'deploy/helm/svc-platform';
/** Values that switch on every part. */
export const FULL_VALUES = ['--values', `${CHART}/ci/values.yaml`];
/** The least that must be said. */
export const LEAST_VALUES = [
  'secret.existing=svc-platform',
  'settings.OIDC_AUDIENCE=svc-platform',
  'settings.OIDC_ISSUER=https://sso.example.com/realms/main',
].flatMap((value) => ['--set', value]);
/** The oldest release of Kubernetes that the chart is for (`kubeVersion`), and the newest one that is tried. */
export const KUBERNETES = ['1.27', '1.37'] as const;

/** A container as a manifest describes it, as far as tests look at it. */
export interface Container {
  image: string;
  args?: string[];
  env: { name: string; value: string }[];
  securityContext: object;
  volumeMounts?: { name: string; mountPath: string }[];
}

/** One manifest of the chart, as far as tests look at it. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Record<string, string> };
  spec: Record<string, unknown> & {
    template?: {
      metadata: { labels: Record<string, string> };
      spec: {
        containers: [Container];
        securityContext: object;
        automountServiceAccountToken: boolean;
        volumes?: { name: string }[];
      };
    };
  };
}

/**
 * What Helm makes of the chart.
 * @param values options of `helm template`
 * @throws Error with what Helm says, for values that the chart refuses too
 */
export async function renderChart(values: readonly string[]): Promise<Manifest[]> {
  const [file, ...args] = await helm();
  const release = ['template', 'trial', CHART, '--kube-version', `${KUBERNETES[0]}.0`];
  const { stdout } = await run(file, [...args, ...release, ...values]);
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
}
