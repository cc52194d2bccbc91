import { isJsonObject, type JsonObject } from '#engine/json';
import { CheckWork, KnownMembers } from '#engine/json-schema';
import { shortened, type PackageProblems, type Place } from '../model/package-problems.js';
import type { PackageWorkflow } from '../model/package.types.js';

/** Maximum number of members of schemas and calls that are examined per package. */
const MAX_WORK = 500_000;
/** Maximum number of members that are reported per call. */
const MAX_REPORTED = 5;

/** A call of a workflow. */
interface WorkflowCall {
  /** Its input as a JSON template; null if it passes all data or its members are unknown. */
  given: JsonObject | null;
  /** Name of the input for the author, such as `svc:input`. */
  what: string;
  place: Place;
}

type Called = Pick<PackageWorkflow, 'name' | 'inputSchema'>;

interface KnownInput {
  members: KnownMembers;
  required: readonly string[];
}

/**
 * Compares the input of workflow calls with the input schemas of the workflows. Only member names are compared, since values are not known
 * before a run. A run fails if a required member is missing. The work for all calls of a package is limited.
 */
export class WorkflowInputs {
  private readonly work = new CheckWork(MAX_WORK);
  /** Members by schema, to read each schema once. */
  private readonly known = new Map<JsonObject, KnownInput>();

  constructor(private readonly problems: PackageProblems) {}

  /** Warns about unknown and missing members in the input of a call. */
  check({ given, what, place }: WorkflowCall, { name, inputSchema }: Called): void {
    if (given === null || inputSchema === null) {
      return;
    }
    const { members, required } = this.knownOf(inputSchema);
    const names = Object.keys(given);
    if (!this.work.spend(names.length + required.length)) {
      return;
    }
    const unknown = names.filter((member) => members.look([member]).found === 'missing');
    for (const member of unknown.slice(0, MAX_REPORTED)) {
      const hint = this.problems.didYouMean(member, () => [...members.names]);
      const message = `${what} sets "${shortened(member)}", which the inputSchema of workflow "${shortened(name)}" does not define.${hint}`;
      this.problems.warning('INPUT_UNKNOWN', place, message);
    }
    const missing = required.filter((member) => !Object.hasOwn(given, member));
    for (const member of missing.slice(0, MAX_REPORTED)) {
      const message = `The inputSchema of workflow "${shortened(name)}" requires "${shortened(member)}", but ${what} does not set it, so the run fails.`;
      this.problems.warning('INPUT_MISSING', place, message);
    }
  }

  private knownOf(schema: JsonObject): KnownInput {
    const known = this.known.get(schema) ?? {
      members: KnownMembers.ofSchema(schema, this.work),
      required: requiredBy(schema),
    };
    this.known.set(schema, known);
    return known;
  }
}

/** Returns the members of a JSON text; null if it is not an object, or contains references without quotes. */
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
