import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Conformance models of uniba-dsg/betsy (LGPL-3.0), kept outside the project. */
const BETSY_FOLDER = resolve(import.meta.dirname, '../../../../../shared/bpmn/betsy');

/** A process that must run, with its expected traces. */
export interface BetsyFeature {
  /** Path below the folder. */
  file: string;
  /** Id of the process to start. */
  process: string;
  /** Kinds of elements in the file. */
  uses: string[];
  cases: BetsyCase[];
  note?: string;
}

export interface BetsyCase {
  /** Value of the variable `test`; null leaves it out. */
  input: string | null;
  integerVariable: number;
  /** Process of the same file that is started first and waits. */
  alsoStart?: string;
  waitMs?: number;
  /** Compared as a multiset. */
  trace: string[];
  note?: string;
}

/** A model that breaks a rule of BPMN and must be rejected. */
export interface BetsyConstraint {
  file: string;
  constraint: string;
  uses: string[];
}

export interface BetsyExpectations {
  features: BetsyFeature[];
  constraints: BetsyConstraint[];
}

/** A feature file for our compiler, and the texts that its tasks write. */
export interface BetsyModel {
  xml: string;
  /** Text of the script by id of the task. */
  scripts: ReadonlyMap<string, string>;
}

/** Whether the models are installed. */
export function hasBetsy(): boolean {
  return existsSync(join(BETSY_FOLDER, 'expected.json'));
}

/**
 * Returns the title of a skipped test: the missing folder, and what was not checked.
 * @param unchecked clause such as '5 models were not compiled'
 */
export function missingBetsy(unchecked: string): string {
  return `skipped: ${BETSY_FOLDER} is missing, so ${unchecked}`;
}

export function betsyExpectations(): BetsyExpectations {
  return JSON.parse(readFileSync(join(BETSY_FOLDER, 'expected.json'), 'utf8')) as BetsyExpectations;
}

/** Returns a model unchanged. */
export function betsyXml(file: string): string {
  return readFileSync(join(BETSY_FOLDER, file), 'utf8');
}

/**
 * Returns a model with its script tasks replaced by plain tasks, since the product runs no scripts. Tests record
 * the script's text when the task runs.
 */
export function betsyModel(file: string): BetsyModel {
  return withoutScripts(betsyXml(file));
}

/** Replaces the script tasks of any BPMN text, as `betsyModel` does. */
export function withoutScripts(xml: string): BetsyModel {
  const scripts = new Map<string, string>();
  const rewritten = xml.replaceAll(
    /<((?:\w+:)?)scriptTask\b([^>]*)>([\s\S]*?)<\/\1scriptTask>/g,
    (_, prefix: string, attributes: string, content: string) => {
      const script = /<(?:\w+:)?script>([\s\S]*?)<\/(?:\w+:)?script>/;
      const id = /\bid="([^"]*)"/.exec(attributes)?.[1] ?? '';
      scripts.set(id, textOf(script.exec(content)?.[1] ?? ''));
      const kept = attributes.replace(/\sscriptFormat="[^"]*"/, '');
      return `<${prefix}task${kept}>${content.replace(script, '')}</${prefix}task>`;
    },
  );
  return { xml: rewritten, scripts };
}

function textOf(content: string): string {
  return (/^\s*<!\[CDATA\[([\s\S]*?)\]\]>\s*$/.exec(content)?.[1] ?? content).trim();
}
