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

/** Data that the jobs of one step may carry, in multiples of the limit of process data. */
const JOBS_DATA = 16;
const MEMBERS_TOLD = 50;
const NAME_TOLD = 100;

/** Merges into process data (docs/contract.md, section 4.2). */
export function mergeData(run: StepRun, patch: JsonObject): void {
  if (Object.keys(patch).length > 0) {
    run.instance.data = deepMerge(run.instance.data, patch, payFor(run));
    run.dataChanged = true;
  }
}

/** Corrects process data by a JSON merge patch (RFC 7396). The history has the names of the members, and no values. */
export function patchData(run: StepRun, patch: JsonObject): void {
  run.instance.data = mergePatch(run.instance.data, patch, payFor(run));
  run.dataChanged = true;
  run.event('DATA_CHANGED', null, { members: patchedMembers(patch) });
}

/** Names of the members that a patch changes, as histories tell them: not all of very many, and not all of long ones. */
export function patchedMembers(patch: JsonObject): string[] {
  return Object.keys(patch)
    .slice(0, MEMBERS_TOLD)
    .map((name) => name.slice(0, NAME_TOLD));
}

export function setData(run: StepRun, path: string, value: unknown): void {
  run.instance.data = setPath(run.instance.data, path, value, payFor(run));
  run.dataChanged = true;
}

/** Gives a value of process data back its earlier value; undefined removes it. */
export function restoreData(run: StepRun, path: string, value: unknown): void {
  if (value === undefined) {
    run.instance.data = removePath(run.instance.data, path, payFor(run));
  } else {
    setData(run, path, value);
  }
}

/**
 * The values of a JSON template (docs/agents.md: a missing path is empty and reported).
 * @throws EngineIncident when a reference fails
 */
export function rendered(run: StepRun, template: JsonObject, token: TokenState): JsonObject {
  const { value } = attempt(run, token, () => run.definition.template(template));
  return isJsonObject(value) ? value : {};
}

/** A text with its references replaced, and those of them that lead to nothing. */
export interface RenderedText {
  readonly text: string;
  readonly missing: readonly string[];
}

/**
 * A text with its references replaced.
 * @throws EngineIncident when a reference fails
 */
export function renderedText(run: StepRun, template: string, token: TokenState): RenderedText {
  return attempt(run, token, () => run.definition.text(template));
}

/**
 * What an expression or template reads and no more: data may have very many members. Beside process data there are
 * `processInstanceId` and `parentProcessInstanceId`: UUIDs as in workflows, null without a parent. Data cannot replace them.
 */
export function dataFor(run: StepRun, { roots }: { readonly roots: readonly string[] }): JsonObject {
  const { uuid, parentUuid, data } = run.instance;
  // Last, so that data cannot pretend to be another instance.
  const own = { processInstanceId: uuid, parentProcessInstanceId: parentUuid };
  if (roots.includes(DATA_ALIAS) && !Object.hasOwn(data, DATA_ALIAS)) {
    payFor(run)(Object.keys(data).length);
    return { ...data, ...own };
  }
  const read = [...roots, DATA_ALIAS].filter((name) => Object.hasOwn(data, name));
  return { ...Object.fromEntries(read.map((name) => [name, data[name]])), ...own };
}

/** Objects are copied with all their members, each of which takes a step of work. */
function payFor(run: StepRun): ChargeCopies {
  return (members) => run.work.charge(members);
}

function warnOfMissing(run: StepRun, token: TokenState, missing: readonly string[]): void {
  const { key } = run.nodeOf(token);
  missing.forEach((path) =>
    run.warn(`Node "${key}" refers to data that is not there: ${path.slice(0, 200)}`),
  );
}

interface Compiled<Rendered> {
  readonly roots: readonly string[];
  render(data: JsonObject, work: WorkBudget): Rendered;
}

function attempt<Rendered extends Pick<RenderedText, 'missing'>>(
  run: StepRun,
  token: TokenState,
  compile: () => Compiled<Rendered>,
): Rendered {
  try {
    const compiled = compile();
    const rendered = compiled.render(dataFor(run, compiled), run.work);
    warnOfMissing(run, token, rendered.missing);
    return rendered;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw run.incident('CONDITION_EVALUATION', message, token, error);
  }
}

/** Values of process data by path; what is not there is left out, and reported. */
export function valuesAt(
  run: StepRun,
  paths: Readonly<Record<string, string>>,
  token: TokenState,
): { path: string; value: JsonValue }[] {
  return Object.entries(paths).flatMap(([from, path]) => {
    const value = getPath(run.instance.data, from);
    if (value === undefined) {
      warnOfMissing(run, token, [from]);
      return [];
    }
    return [{ path, value: value as JsonValue }];
  });
}

/**
 * Checks the limits of process data, together with the answers of children and the elements that children start with.
 * @throws EngineRefusal DATA_TOO_LARGE when the caller sent too much
 * @throws EngineIncident when a step of the background did
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
 * Checks the data that all background jobs of a step carry together. Each has a copy of its own, so the limit is a multiple of
 * the limit of process data.
 * @throws EngineIncident beyond it
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

/** The error of a step when data must not be merged or costs too much, or when a path cannot be followed. */
export function faultOfData(run: StepRun, cause: Error): EngineIncident {
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
