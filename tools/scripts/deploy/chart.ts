import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { helm } from './tools.js';

const run = promisify(execFile);
/** Folder of the chart. */
export const CHART = 'deploy/helm/svc-platform';
/** Values that enable every optional part. */
export const FULL_VALUES = ['--values', `${CHART}/ci/values.yaml`];
/** The minimal values: only those that are required. */
export const MINIMAL_VALUES = [
  'secret.existing=svc-platform',
  'settings.OIDC_AUDIENCE=svc-platform',
  'settings.OIDC_ISSUER=https://sso.example.com/realms/main',
].flatMap((value) => ['--set', value]);
/** The oldest Kubernetes release that the chart supports (`kubeVersion`), and the newest one tested. */
export const KUBERNETES = ['1.27', '1.37'] as const;

/** The part of a container in a manifest that tests check. */
export interface Container {
  image: string;
  args?: string[];
  env: { name: string; value: string }[];
  securityContext: object;
  volumeMounts?: { name: string; mountPath: string }[];
}

/** The part of a manifest that tests check. */
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
 * Renders the chart with Helm.
 * @param values options of `helm template`
 * @throws Error with Helm's message, also for values that the chart rejects
 */
export async function renderChart(values: readonly string[]): Promise<Manifest[]> {
  const [file, ...args] = await helm();
  const release = ['template', 'trial', CHART, '--kube-version', `${KUBERNETES[0]}.0`];
  const { stdout } = await run(file, [...args, ...release, ...values]);
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
}
