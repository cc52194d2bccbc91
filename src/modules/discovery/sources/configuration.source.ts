import { Injectable, type OnModuleInit } from '@nestjs/common';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { Log } from '../../../common/logging/log.js';
import { Env } from '../../../config/env.js';
import type { ComponentSource, SourceListing } from './component-source.js';
import { declare } from './configuration/declared-component.js';
import { mistakesOf } from './configuration/mistakes.js';
import { FileTooLargeError, readBounded, resolveReferences } from './configuration/references.js';
import { Listing } from './listing.js';
import { SourceError } from '../model/source.error.js';
import { discoveryLimits } from '../discovery.limits.js';

const PATH = ['platform', 'components'] as const;
const MAX_LOGGED = 20;

/** The file around its components, which are checked one by one: a mistake in one leaves the others in use. */
const envelopeSchema = z.strictObject({
  $schema: z.unknown().optional(),
  platform: z.strictObject({ components: z.array(z.unknown()) }),
});

/** Components that the file of DISCOVERY_CONFIG_FILE lists. It is read anew for each scan. */
@Injectable()
export class ConfigurationSource implements ComponentSource, OnModuleInit {
  readonly name = 'configuration';

  constructor(
    private readonly env: Env,
    private readonly log: Log,
  ) {}

  get isEnabled(): boolean {
    return this.env.get('DISCOVERY_CONFIG_FILE') !== undefined;
  }

  /** Mistakes appear in the log when the service starts, where whoever deploys it looks. They do not stop it. */
  onModuleInit(): void {
    if (this.isEnabled) {
      void this.logMistakes();
    }
  }

  async logMistakes(): Promise<void> {
    try {
      const { rejected } = await this.list(AbortSignal.timeout(discoveryLimits.sourceTimeoutMs));
      for (const { key, reason } of rejected.slice(0, MAX_LOGGED)) {
        this.log.warn('a component of DISCOVERY_CONFIG_FILE cannot be used', { key, reason });
      }
    } catch (error) {
      const fields =
        error instanceof SourceError ? { reason: error.message, detail: error.detail } : { reason: 'fault' };
      this.log.warn('DISCOVERY_CONFIG_FILE cannot be used', fields);
    }
  }

  async list(signal: AbortSignal): Promise<SourceListing> {
    const text = await this.read(signal);
    const listing = new Listing(this.name, discoveryLimits.components);
    const maxBytes = discoveryLimits.configBytes;
    const reader = {
      variable: (name: string) => this.env.variable(name),
      file: (path: string) => readBounded(path, maxBytes, signal),
    };
    for (const [index, entry] of entriesOf(text).entries()) {
      const path = [...PATH, index];
      const { value, mistakes } = await resolveReferences(entry, reader, path);
      const declared = declare(value, { source: this.name, path });
      const key = 'component' in declared ? declared.component.key : declared.key;
      // What cannot be resolved breaks rules besides, which would only distract.
      listing.addDeclared(mistakes.length > 0 ? { key, mistakes } : declared);
    }
    return listing.done();
  }

  private async read(signal: AbortSignal): Promise<string> {
    try {
      const path = this.env.get('DISCOVERY_CONFIG_FILE') ?? '';
      return await readBounded(path, discoveryLimits.configBytes, signal);
    } catch (error) {
      throw new SourceError(this.name, error instanceof FileTooLargeError ? 'too_large' : 'unreadable');
    }
  }
}

/** @throws SourceError when the text is no document, or not one of the format */
function entriesOf(text: string): unknown[] {
  const { data, error } = envelopeSchema.safeParse(documentOf(text));
  if (error !== undefined) {
    throw new SourceError('configuration', 'configuration', mistakesOf(error, []).join('; '));
  }
  return data.platform.components;
}

/** JSON is a subset of YAML 1.2, but for details such as tabs. */
function documentOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return yamlOf(text);
  }
}

function yamlOf(text: string): unknown {
  try {
    const document = parseDocument(text, { logLevel: 'silent', uniqueKeys: true });
    const [mistake] = document.errors;
    return mistake === undefined ? document.toJS() : refuse(mistake.linePos?.[0]);
  } catch (error) {
    // Also aliases that multiply or lead nowhere, and endless nesting. The library's messages quote the text.
    throw error instanceof SourceError ? error : syntaxError(null);
  }
}

function refuse(start: { line: number; col: number } | undefined): never {
  throw syntaxError(start === undefined ? null : `line ${start.line}, column ${start.col}`);
}

function syntaxError(place: string | null): SourceError {
  return new SourceError('configuration', 'syntax', place);
}
