import type { Component } from '../model/component.types.js';
import { SecretRemoval } from '../../../common/secrets/secret-removal.js';
import type { ProbeFinding } from '../model/probe.js';

/** The words of a component about itself that are kept from scan to scan. */
export interface Reported {
  name?: string;
  type?: string;
  version?: string;
  capabilities?: string[];
}

/** The shown facts of a component: its own word, else the word of its source. */
export interface Described {
  name: string;
  type: string;
  version: string;
  capabilities: string[];
}

const UNKNOWN_VERSION = 'unknown';
const NAME_MAX_LENGTH = 100;
const CAPABILITY_MAX_LENGTH = 64;
const MAX_CAPABILITIES = 100;
const LEAST_SECRET_LENGTH = 4;
const TYPE = /^[a-z0-9][a-z0-9.-]{0,31}$/;

/** The first number with dots of a text, else its first whole number that is no part of a word; `unknown` without one. */
export function versionOf(text: string | null | undefined): string {
  const found =
    /\d{1,10}(?:\.\d{1,10}){1,5}/.exec(text ?? '') ??
    /(?<![A-Za-z0-9])\d{1,10}(?![A-Za-z0-9])/.exec((text ?? '').replace(/^\s*v/i, ''));
  return found?.[0] ?? UNKNOWN_VERSION;
}

/** The kept part of a finding: bounded, without control characters, and without a credential that came back. */
export function reportedBy(component: Component, finding: ProbeFinding): Reported {
  const removal = new SecretRemoval(secretsOf(component), LEAST_SECRET_LENGTH);
  const plain = (text: string, max: number): string => (removal.isIn(text) ? '' : plainText(text, max));
  const name = component.isNamed || finding.name === undefined ? '' : plain(finding.name, NAME_MAX_LENGTH);
  const version = versionOf(plain(finding.version ?? '', NAME_MAX_LENGTH));
  const capabilities = finding.capabilities?.map((text) => plain(text, CAPABILITY_MAX_LENGTH));
  return {
    ...(name === '' ? {} : { name }),
    ...(finding.type !== undefined && TYPE.test(finding.type) ? { type: finding.type } : {}),
    ...(version === UNKNOWN_VERSION ? {} : { version }),
    ...(capabilities === undefined ? {} : { capabilities: sortedUnique(capabilities) }),
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
  return [...new Set(texts.filter((text) => text !== ''))].toSorted().slice(0, MAX_CAPABILITIES);
}

function secretsOf({ credentials }: Component): string[] {
  return [credentials?.password, credentials?.token].filter((secret) => secret !== undefined);
}

/** Without control, formatting and unpaired characters, which could forge or hide parts of a line. */
function plainText(text: string, max: number): string {
  return Array.from(text.slice(0, 2 * max).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, ''))
    .slice(0, max)
    .join('')
    .trim();
}
