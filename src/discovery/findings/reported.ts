import type { Component } from '../model/component.types.js';
import { SecretRemoval } from '../../platform/secrets/secret-removal.js';
import type { ProbeFinding } from '../model/probe.js';

/** The words of a component about itself that are kept from scan to scan. */
export interface Reported {
  name?: string;
  type?: string;
  version?: string;
  capabilities?: string[];
}

/** The shown facts of a component: its own word, else the word of its source. */
type Described = Required<Reported>;

const UNKNOWN_VERSION = 'unknown';
const LEAST_SECRET_LENGTH = 4;

/** The first number with dots of a text, else its first whole number that is no part of a word; `unknown` without one. */
export function versionOf(text: string | null | undefined): string {
  const found =
    /\d{1,10}(?:\.\d{1,10}){1,5}/.exec(text ?? '') ??
    /(?<![A-Za-z0-9])\d{1,10}(?![A-Za-z0-9])/.exec((text ?? '').replace(/^\s*v/i, ''));
  return found?.[0] ?? UNKNOWN_VERSION;
}

/** The kept part of a finding, without a credential that came back. */
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

/** @param reported null when nothing is known of the component itself */
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
