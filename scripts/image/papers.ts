import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { BasePart } from './base.js';
import type { ReachedPackage } from './reached-modules.js';

/** Where an image comes from. */
export interface Source {
  /** Commit of the checkout; undefined outside of one. */
  commit: string | undefined;
  /** Whether files were changed since that commit. */
  isChanged: boolean;
  /** Seconds since 1970 of the commit, or `SOURCE_DATE_EPOCH`. */
  time: number;
}

/** Reads the state of the checkout. */
export function readSource(): Source {
  const commit = git('rev-parse', 'HEAD');
  const time = process.env['SOURCE_DATE_EPOCH'] ?? git('log', '-1', '--format=%ct') ?? '0';
  return { commit, isChanged: git('status', '--porcelain') !== '', time: Number(time) };
}

/** What papers tell about: the image, and what went in. */
export interface Contents {
  name: string;
  version: string;
  /** `sha256:…` of the image's manifest. */
  digest: string;
  source: Source;
  base: readonly BasePart[];
  packages: readonly ReachedPackage[];
}

/** The list of all parts of the image (SBOM), in CycloneDX 1.6. */
export function bill(contents: Contents): object {
  const { name, version, digest, source, base, packages } = contents;
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: new Date(source.time * 1_000).toISOString(),
      component: {
        type: 'container',
        name,
        version,
        hashes: [hash('SHA-256', digest.replace('sha256:', ''))],
      },
    },
    components: [
      ...base.map((part) => ({
        type: 'library',
        'bom-ref': part.purl,
        name: part.name,
        version: part.version,
        purl: part.purl,
        hashes: [
          'sha256' in part.digest ? hash('SHA-256', part.digest.sha256) : hash('SHA-512', part.digest.sha512),
        ],
      })),
      ...packages.map((each) => ({
        type: 'library',
        'bom-ref': each.folder,
        name: each.name,
        version: each.version,
        purl: `pkg:npm/${each.name.replace('@', '%40')}@${each.version}`,
        licenses: [{ expression: each.license }],
        hashes: [
          hash('SHA-512', Buffer.from(each.integrity.replace('sha512-', ''), 'base64').toString('hex')),
        ],
      })),
    ],
  };
}

/**
 * What the image was made of and by what, as an in-toto statement with a predicate of SLSA provenance 1.0. Nobody has signed it:
 * who publishes the image does, with a key of his own.
 */
export function provenance({ name, digest, source, base }: Contents): object {
  const lock = createHash('sha256').update(readFileSync('package-lock.json')).digest('hex');
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name, digest: { sha256: digest.replace('sha256:', '') } }],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:svc-platform:image',
        externalParameters: { commit: source.commit ?? null, changedSinceCommit: source.isChanged },
        resolvedDependencies: [
          ...(source.commit === undefined ? [] : [{ name: 'source', digest: { gitCommit: source.commit } }]),
          { name: 'package-lock.json', digest: { sha256: lock } },
          ...base.map(({ purl, digest: found }) => ({ uri: purl, digest: found })),
        ],
      },
      runDetails: { builder: { id: 'urn:svc-platform:scripts:image', version: { node: process.version } } },
    },
  };
}

function hash(alg: string, content: string): object {
  return { alg, content };
}

function git(...args: string[]): string | undefined {
  try {
    return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}
