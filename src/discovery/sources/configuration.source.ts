import { parsedJson } from '#engine/json';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import type { Log } from '../../platform/observability/logging/log.js';
import type { Env } from '../../platform/config/env.js';
import { type ComponentSource, Listing, type SourceListing } from './listing.js';
import { declare } from './configuration/declared-component.js';
import { mistakesOf, readBounded, resolveReferences } from './configuration/references.js';
import { SourceError } from '../model/failures.js';
import { discoveryLimits } from '../discovery.limits.js';

const PATH = ['platform', 'components'] as const;
const MAX_LOGGED = 20;

/** The file without its components, which are checked one by one, so that a mistake in one does not affect the others. */
const envelopeSchema = z.strictObject({
  $schema: z.unknown().optional(),
  platform: z.strictObject({ components: z.array(z.unknown()) }),
});

/** Reads the components of the file DISCOVERY_CONFIG_FILE, again for each scan. */
export class ConfigurationSource implements ComponentSource {
  readonly name = 'configuration';

  constructor(
    private readonly env: Env,
    private readonly log: Log,
  ) {}

  /** Logs mistakes at startup, where operators look. They do not stop the service. */
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
    const text = await readBounded(this.env.get('DISCOVERY_CONFIG_FILE') ?? '', signal);
    const listing = new Listing(this.name);
    const variable = (name: string) => this.env.variable(name);
    const file = (path: string) => readBounded(path, signal);
    for (const [index, entry] of entriesOf(text).entries()) {
      const path = [...PATH, index];
      const mistakes: string[] = [];
      const value = await resolveReferences(entry, { variable, file, mistakes }, path);
      const declared = declare(value, { source: this.name, path });
      const key = 'component' in declared ? declared.component.key : declared.key;
      // An unresolved reference also breaks other rules, whose messages would only distract.
      listing.addDeclared(mistakes.length > 0 ? { key, mistakes } : declared);
    }
    return listing.done();
  }
}

/** @throws SourceError when the text is not a document of this format */
function entriesOf(text: string): unknown[] {
  const { data, error } = envelopeSchema.safeParse(parsedJson(text) ?? yamlOf(text));
  if (error !== undefined) {
    throw new SourceError('configuration', mistakesOf(error, []).join('; '));
  }
  return data.platform.components;
}

/** Parses YAML. JSON is a subset of YAML 1.2 except for details such as tabs. */
function yamlOf(text: string): unknown {
  try {
    const document = parseDocument(text, { logLevel: 'silent', uniqueKeys: true });
    const [mistake] = document.errors;
    if (mistake === undefined) {
      return document.toJS();
    }
    const start = mistake.linePos?.[0];
    throw syntaxError(start === undefined ? null : `line ${start.line}, column ${start.col}`);
  } catch (error) {
    // Includes unresolved or exploding aliases and deep nesting. The messages of the library quote the text, so drop them.
    throw error instanceof SourceError ? error : syntaxError(null);
  }
}

function syntaxError(place: string | null): SourceError {
  return new SourceError('syntax', place);
}
