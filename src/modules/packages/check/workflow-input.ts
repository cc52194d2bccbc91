import { isJsonObject, type JsonObject } from '../../../common/json.js';
import { CheckWork } from '../../../language/json-schema/check-work.js';
import { KnownMembers } from '../../../language/json-schema/known-members.js';
import { quoted, type Place, type PackageProblems } from '../model/package-problems.js';
import type { PackageWorkflow } from '../model/package.types.js';
import type { Hints } from './hints.js';

/** Members of a schema that are looked at for one call. */
const MAX_WORK = 10_000;
/** Members of one call that are told. */
const MAX_TOLD = 5;

/**
 * Holds what a call gives to a workflow against its input schema: names of members alone, since values are only known when it
 * runs. A run fails where a required one is missing.
 * @param given the input of the call, a JSON template; null where all data is given or its members are not known
 * @param what how the author calls it, such as `svc:input`
 */
export function checkWorkflowInput(
  given: JsonObject | null,
  { name, inputSchema }: Pick<PackageWorkflow, 'name' | 'inputSchema'>,
  what: string,
  { place, problems, hints }: { place: Place; problems: PackageProblems; hints: Hints },
): void {
  if (given === null || inputSchema === null) {
    return;
  }
  const names = Object.keys(given);
  const members = KnownMembers.ofSchema(inputSchema, new CheckWork(MAX_WORK));
  const unknown = names.filter((member) => members.look([member]).found === 'missing');
  for (const member of unknown.slice(0, MAX_TOLD)) {
    const hint = hints.didYouMean(member, [...members.names]);
    const message = `${what} gives "${quoted(member)}", of which the inputSchema of workflow "${quoted(name)}" does not speak.${hint}`;
    problems.warning('INPUT_UNKNOWN', place, message);
  }
  const missing = requiredBy(inputSchema).filter((member) => !Object.hasOwn(given, member));
  for (const member of missing.slice(0, MAX_TOLD)) {
    const message = `Workflow "${quoted(name)}" needs "${quoted(member)}" by its inputSchema, and ${what} does not give it: the run fails.`;
    problems.warning('INPUT_MISSING', place, message);
  }
}

/** The members that a JSON text gives; null where it is no object, or holds references without quotes. */
export function membersOf(body: string | null): JsonObject | null {
  try {
    const value: unknown = JSON.parse(body ?? '');
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

function requiredBy({ required }: JsonObject): string[] {
  return Array.isArray(required) ? required.filter((member) => typeof member === 'string') : [];
}
