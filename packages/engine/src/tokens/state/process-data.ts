import { isJsonObject, jsonSize, type JsonObject, type JsonValue, hasMoreValues } from '../../json/json.js';
import {
  deepMerge,
  getPath,
  mergePatch,
  removePath,
  setPath,
  type ChargeCopies,
} from '../../paths/data-paths.js';
import type { WorkBudget } from '../../expressions/expression-limits.js';
import { DATA_ALIAS } from '../../expressions/cel-source.js';
import { EngineIncident, EngineRefusal } from './engine.errors.js';
import type { TokenState } from './engine.types.js';
import type { StepRun } from './step-run.js';

/** Maximum size of the data in the jobs of one step, in multiples of the process data limit. */
const JOBS_DATA = 16;
const MAX_MEMBERS = 50;
const MAX_NAME_LENGTH = 100;

/** Merges into process data (docs/contract.md, section 4.2). */
export function mergeData(run: StepRun, patch: JsonObject): void {
  if (Object.keys(patch).length > 0) {
    run.instance.data = deepMerge(run.instance.data, patch, chargeTo(run));
    run.dataChanged = true;
  }
}

/** Applies a JSON merge patch (RFC 7396) to process data. The history records member names but no values. */
export function patchData(run: StepRun, patch: JsonObject): void {
  run.instance.data = mergePatch(run.instance.data, patch, chargeTo(run));
  run.dataChanged = true;
  run.event('DATA_CHANGED', null, { members: patchedMembers(patch) });
}

/** Returns the names of the members that a patch changes, for histories: limited in number and length. */
export function patchedMembers(patch: JsonObject): string[] {
  return Object.keys(patch)
    .slice(0, MAX_MEMBERS)
    .map((name) => name.slice(0, MAX_NAME_LENGTH));
}

export function setData(run: StepRun, path: string, value: unknown): void {
  run.instance.data = setPath(run.instance.data, path, value, chargeTo(run));
  run.dataChanged = true;
}

/** Restores an earlier value of process data; undefined removes it. */
export function restoreData(run: StepRun, path: string, value: unknown): void {
  if (value === undefined) {
    run.instance.data = removePath(run.instance.data, path, chargeTo(run));
  } else {
    setData(run, path, value);
  }
}

/**
 * Renders a JSON template (docs/agents.md: a missing path is empty and reported).
 * @throws EngineIncident when a reference fails
 */
export function rendered(run: StepRun, template: JsonObject, token: TokenState): JsonObject {
  const { value } = renderOrFail(run, token, () => run.definition.template(template));
  return isJsonObject(value) ? value : {};
}

/** A rendered text and the references whose data is missing. */
export interface RenderedText {
  readonly text: string;
  readonly missing: readonly string[];
}

/** Renders a text template. @throws EngineIncident when a reference fails */
export function renderedText(run: StepRun, template: string, token: TokenState): RenderedText {
  return renderOrFail(run, token, () => run.definition.text(template));
}

/**
 * Returns only the data that an expression or template reads, since data may have very many members. Adds `processInstanceId` and
 * `parentProcessInstanceId`: UUIDs as in workflows, null without a parent. Data cannot override them.
 */
export function dataFor(run: StepRun, { roots }: { readonly roots: readonly string[] }): JsonObject {
  const { uuid, parentUuid, data } = run.instance;
  // Last, so that data cannot pretend to be another instance.
  const own = { processInstanceId: uuid, parentProcessInstanceId: parentUuid };
  if (roots.includes(DATA_ALIAS) && !Object.hasOwn(data, DATA_ALIAS)) {
    chargeTo(run)(Object.keys(data).length);
    return { ...data, ...own };
  }
  const read = [...roots, DATA_ALIAS].filter((name) => Object.hasOwn(data, name));
  return { ...Object.fromEntries(read.map((name) => [name, data[name]])), ...own };
}

/** Charges a step of work for each copied member. */
function chargeTo(run: StepRun): ChargeCopies {
  return (members) => run.work.charge(members);
}

function warnMissing(run: StepRun, token: TokenState, missing: readonly string[]): void {
  const { key } = run.nodeOf(token);
  missing.forEach((path) => run.warn(`Node "${key}" refers to missing data: ${path.slice(0, 200)}`));
}

interface Compiled<Rendered> {
  readonly roots: readonly string[];
  render(data: JsonObject, work: WorkBudget): Rendered;
}

function renderOrFail<Rendered extends Pick<RenderedText, 'missing'>>(
  run: StepRun,
  token: TokenState,
  compile: () => Compiled<Rendered>,
): Rendered {
  try {
    const compiled = compile();
    const rendered = compiled.render(dataFor(run, compiled), run.work);
    warnMissing(run, token, rendered.missing);
    return rendered;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw run.incident('CONDITION_EVALUATION', message, token, error);
  }
}

/** Returns values of process data by path. Missing ones are left out and reported. */
export function valuesAt(
  run: StepRun,
  paths: Readonly<Record<string, string>>,
  token: TokenState,
): { path: string; value: JsonValue }[] {
  return Object.entries(paths).flatMap(([from, path]) => {
    const value = getPath(run.instance.data, from);
    if (value === undefined) {
      warnMissing(run, token, [from]);
      return [];
    }
    return [{ path, value: value as JsonValue }];
  });
}

/**
 * Checks the size of process data, including the results and elements of called processes.
 * @throws EngineRefusal DATA_TOO_LARGE when the caller sent too much
 * @throws EngineIncident when a background step exceeded the limit
 */
export function checkDataSize(run: StepRun): void {
  if (!run.dataChanged) {
    return;
  }
  const { dataBytes, dataValues } = run.context.limits;
  const calls = [...run.instance.tokens.values()].flatMap(({ call }) => (call === null ? [] : [call]));
  const parts = [run.instance.data, ...calls.flatMap(({ items, results }) => [items, results])];
  if (parts.reduce<number>((sum, part) => sum + jsonSize(part), 0) > dataBytes) {
    throw tooLarge(run, `${dataBytes} bytes`);
  }
  if (hasMoreValues(parts, dataValues)) {
    throw tooLarge(run, `${dataValues} values`);
  }
}

function tooLarge(run: StepRun, limit: string): Error {
  const { command } = run;
  return command.kind === 'START' || command.kind === 'UI_ACTION' || 'patch' in command
    ? new EngineRefusal('DATA_TOO_LARGE', `the limit is ${limit}`)
    : atCommand(run, 'ENGINE', `The process data would have more than ${limit}.`);
}

/**
 * Checks the total data of all background jobs of a step. Each has its own copy, so the limit is a multiple of the process data limit.
 * @throws EngineIncident when the limit is exceeded
 */
export function checkJobsSize(run: StepRun): void {
  const most = JOBS_DATA * run.context.limits.dataBytes;
  let size = 0;
  for (const job of run.jobs) {
    size += jsonSize(job);
    if (size > most) {
      const message = `The background work of one step would carry more than ${most} bytes of data.`;
      throw atCommand(run, 'ENGINE', message);
    }
  }
}

/** Creates the incident for invalid or too costly data, or an invalid path. */
export function dataIncident(run: StepRun, cause: Error): EngineIncident {
  return atCommand(run, 'NODE', cause.message, cause);
}

function atCommand(
  { command }: StepRun,
  type: EngineIncident['type'],
  message: string,
  cause?: unknown,
): EngineIncident {
  const place = 'tokenId' in command ? { tokenId: command.tokenId } : {};
  return new EngineIncident('NODE', type, message, place, { cause });
}
