import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { nodeProgram } from '../../scripts/node-program.js';
import { unpackedProgram } from '../../../test/support/databases/debian-package.js';
import { MINIMAL_VALUES, renderChart } from '../../scripts/deploy/chart.js';
import { composeServices } from '../../scripts/deploy/compose.js';

const run = promisify(execFile);

/**
 * Prepares the file system like a container engine: separate mounts, a read-only root, an empty `/tmp`, devices and
 * processes.
 */
const MOUNTS =
  'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && mount -t tmpfs tmpfs "$0/tmp" && ' +
  'mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" && exec unshare --root="$0" "$@"';

/** The part of the image configuration with which a container is started. */
export interface RunConfig {
  User: string;
  WorkingDir: string;
  Env: string[];
  Entrypoint: string[];
  Cmd: string[];
  Healthcheck: { Test: string[] };
}

/** The root file system and the configuration of an image. */
export class ImageRoot {
  private constructor(
    /** Folder that becomes `/`. */
    readonly folder: string,
    readonly config: RunConfig,
  ) {}

  /**
   * Builds the last stage of the Dockerfile with buildah, from files that `tools/scripts/stage-image` creates on this
   * machine. The first stage would require an image registry.
   * @param folder new folder
   * @throws Error when buildah is not available or lacks privileges
   */
  static async build(folder: string): Promise<ImageRoot> {
    await mkdir(folder);
    await run('tools/scripts/stage-image', [join(folder, 'image'), await nodeProgram()], {
      env: withoutNpm(),
    });
    const { command } = await unpackedProgram('bookworm', 'buildah', '/usr/bin/buildah');
    // Buildah re-executes itself through /proc/self/exe, which would be the loader in the command.
    const [, , libraries, program = ''] = command;
    const env = { ...process.env, LD_LIBRARY_PATH: libraries };
    const [policy, dockerfile] = [join(folder, 'policy.json'), join(folder, 'Dockerfile')];
    await writeFile(policy, '{"default":[{"type":"insecureAcceptAnything"}]}');
    const text = await readFile('deploy/Dockerfile', 'utf8');
    await writeFile(dockerfile, text.slice(text.lastIndexOf('FROM ')));
    const buildah = async (name: string, ...args: string[]): Promise<string> => {
      const storage = ['--storage-driver=vfs', `--root=${folder}/storage`, `--runroot=${folder}/run`];
      return (await run(program, [...storage, name, ...args], { env, maxBuffer: 1e8 })).stdout.trim();
    };
    const trust = `--signature-policy=${policy}`;
    const source = `--build-context=build=${folder}`;
    await buildah('build', trust, source, '--format=docker', `--file=${dockerfile}`, '--tag=svc', folder);
    const { Docker } = JSON.parse(await buildah('inspect', '--type=image', 'svc')) as {
      Docker: { config: RunConfig };
    };
    const container = await buildah('from', trust, '--pull-never', 'svc');
    return new ImageRoot(await buildah('mount', container), Docker.config);
  }

  /**
   * Returns a command that runs a program like a container of this image: read-only root, the image's user, no host files.
   * @param args replaces the image's `Cmd`
   */
  command(args: readonly string[] = this.config.Cmd): string[] {
    return this.within([...this.config.Entrypoint, ...args]);
  }

  /** Returns the image's health check as a command. */
  get healthCommand(): string[] {
    return this.within(this.config.Healthcheck.Test.slice(1));
  }

  /** Environment variables of the image except PATH, since the host's PATH must find the sandbox programs. */
  get environment(): Record<string, string> {
    const pairs = this.config.Env.map((pair) => pair.split(/=(.*)/s).slice(0, 2));
    return Object.fromEntries(pairs.filter(([name]) => name !== 'PATH'));
  }

  private within(program: readonly string[]): string[] {
    const { WorkingDir, User } = this.config;
    const [user, group] = User.split(':');
    const isRoot = process.getuid?.() === 0;
    // An unprivileged user can map only one user, which is unprivileged already.
    const own = isRoot ? [] : ['--user', '--map-root-user'];
    const as = isRoot ? [`--setgid=${group}`, `--setuid=${user}`] : [];
    const start = ['unshare', ...own, '--mount', 'sh', '-c', MOUNTS, this.folder];
    return [...start, `--wd=${WorkingDir}`, ...as, ...program];
  }
}

/** Returns the environment without variables of `npm run`, which would make npm install into the current folder. */
function withoutNpm(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
}

/** How a deployment in `deploy` starts containers of the image. */
export interface Deployment {
  /** Name of the deployment. */
  name: string;
  /** Environment variables of the service, with secrets and addresses as filled in by an operator. */
  environment: Record<string, string>;
  /** Command that migrates before the service starts; undefined if the service migrates itself. */
  migration: string[] | undefined;
}

/** Minimal content of the chart's Secret. */
const SECRET = {
  DATABASE_URL: 'mysql://svc:filled-in@db.invalid:3306/svc',
  SECRETS_KEYS: `2026-01:${Buffer.alloc(32).toString('base64')}`,
};

/**
 * Returns the compose file and the chart. The chart is omitted if Helm is missing.
 * @throws Error when Helm is missing and CI is set
 */
export async function deployments(): Promise<Deployment[]> {
  const manifests = await renderChart(MINIMAL_VALUES).catch((error: unknown) => {
    if (process.env['CI']) {
      throw error;
    }
    return [];
  });
  const container = (kind: string) =>
    manifests.find((manifest) => manifest.kind === kind)?.spec.template?.spec.containers[0];
  const variables = container('Deployment')?.env.map(({ name, value }) => [name, value] as const) ?? [];
  const all = [
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
  return manifests.length === 0 ? all.slice(0, 1) : all;
}
