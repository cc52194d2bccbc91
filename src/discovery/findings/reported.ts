import type { Component } from '../model/component.types.js';
import { SecretRemoval } from '../../platform/secrets/secret-removal.js';
import type { ProbeFinding } from '../model/probe.js';

/** Facts that a component reports about itself, kept from scan to scan. */
export interface Reported {
  name?: string;
  type?: string;
  version?: string;
  capabilities?: string[];
}

/** Facts of a component as shown: reported by the component, else declared by its source. */
type Described = Required<Reported>;

const UNKNOWN_VERSION = 'unknown';
const LEAST_SECRET_LENGTH = 4;

/** Returns the first number with dots in a text, else the first whole number that is not part of a word; `unknown` without either. */
export function versionOf(text: string | null | undefined): string {
  const found =
    /\d{1,10}(?:\.\d{1,10}){1,5}/.exec(text ?? '') ??
    /(?<![A-Za-z0-9])\d{1,10}(?![A-Za-z0-9])/.exec((text ?? '').replace(/^\s*v/i, ''));
  return found?.[0] ?? UNKNOWN_VERSION;
}

/** Returns the facts of a finding to keep, without echoed credentials. */
export function reportedBy({ credentials, isNamed }: Component, finding: ProbeFinding): Reported {
  const secrets = [credentials?.password, credentials?.token].filter((secret) => secret !== undefined);
  const removal = new SecretRemoval(secrets, LEAST_SECRET_LENGTH);
  const plain = (text = ''): string => (removal.isIn(text) ? '' : text);
  const { type, capabilities } = finding;
  const name = isNamed ? '' : plain(finding.name);
  const version = versionOf(plain(finding.version));
  return {
    ...(name === '' ? {} : { name }),
    ...(type === undefined ? {} : { type }),
    ...(version === UNKNOWN_VERSION ? {} : { version }),
    ...(capabilities === undefined
      ? {}
      : { capabilities: sortedUnique(capabilities.map((text) => plain(text))) }),
  };
}

/** Returns the facts of a component to show. @param reported null when it never reported any */
export function describe(component: Component, reported: Reported | null): Described {
  return {
    name: reported?.name ?? component.name,
    type: reported?.type ?? component.kind,
    version: reported?.version ?? versionOf(component.version),
    capabilities: reported?.capabilities ?? sortedUnique([...component.capabilities]),
  };
}

function sortedUnique(texts: string[]): string[] {
  return [...new Set(texts.filter((text) => text !== ''))].toSorted();
}
