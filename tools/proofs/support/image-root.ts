import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { nodeProgram } from '../../scripts/node-program.js';
import { unpackedProgram } from '../../../test/support/databases/debian-package.js';
import { LEAST_VALUES, renderChart } from '../../scripts/deploy/chart.js';
import { composeServices } from '../../scripts/deploy/compose.js';

const run = promisify(execFile);

/** What an engine does first: a mount table of its own, a root that nobody can write to, an empty `/tmp`, devices and processes. */
const MOUNTS =
  'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && mount -t tmpfs tmpfs "$0/tmp" && ' +
  'mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" && exec unshare --root="$0" "$@"';

/** Of the image's configuration, what a container is started with. */
export interface RunConfig {
  User: string;
  WorkingDir: string;
  Env: string[];
  Entrypoint: string[];
  Cmd: string[];
  Healthcheck: { Test: string[] };
}

/** The root file system of an image, and what its configuration says. */
export class ImageRoot {
  private constructor(
    /** Folder that stands for `/`. */
    readonly folder: string,
    readonly config: RunConfig,
  ) {}

  /**
   * Builds the last stage of the Dockerfile with buildah, from files that `tools/scripts/stage-image` lays down on this machine. The stage
   * before it needs a registry of images.
   * @param folder new folder
   * @throws Error when buildah cannot be had, or needs rights that this machine does not give
   */
  static async build(folder: string): Promise<ImageRoot> {
    await mkdir(folder);
    await run('tools/scripts/stage-image', [join(folder, 'image'), await nodeProgram()], {
      env: withoutNpm(),
    });
    const { command } = await unpackedProgram('bookworm', 'buildah', '/usr/bin/buildah');
    // It starts itself again by /proc/self/exe, which would be the loader that the command names.
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
   * A command that runs a program as a container of this image: read-only root, the user of the image, nothing of the host's files.
   * @param args in place of the image's `Cmd`
   */
  command(args: readonly string[] = this.config.Cmd): string[] {
    return this.within([...this.config.Entrypoint, ...args]);
  }

  /** The health check of the image as a command. */
  get healthCommand(): string[] {
    return this.within(this.config.Healthcheck.Test.slice(1));
  }

  /** Environment variables that the image sets, but PATH: the host's one finds what contains the program. */
  get environment(): Record<string, string> {
    const pairs = this.config.Env.map((pair) => pair.split(/=(.*)/s).slice(0, 2));
    return Object.fromEntries(pairs.filter(([name]) => name !== 'PATH'));
  }

  private within(program: readonly string[]): string[] {
    const { WorkingDir, User } = this.config;
    const [user, group] = User.split(':');
    const isRoot = process.getuid?.() === 0;
    // Who is not root has one user to show, who is already without rights.
    const own = isRoot ? [] : ['--user', '--map-root-user'];
    const as = isRoot ? [`--setgid=${group}`, `--setuid=${user}`] : [];
    const start = ['unshare', ...own, '--mount', 'sh', '-c', MOUNTS, this.folder];
    return [...start, `--wd=${WorkingDir}`, ...as, ...program];
  }
}

/** Variables of `npm run` would let npm install into this folder. */
function withoutNpm(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
}

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
