import { isJsonObject, type JsonObject } from '#engine/json';
import { CheckWork, KnownMembers } from '#engine/json-schema';
import { quoted, type PackageProblems, type Place } from '../model/package-problems.js';
import type { PackageWorkflow } from '../model/package.types.js';

/** Members of schemas and of calls that are looked at, of one package. */
const MAX_WORK = 500_000;
/** Members of one call that are told. */
const MAX_TOLD = 5;

/** A call of a workflow. */
interface WorkflowCall {
  /** Its input, a JSON template; null where all data is given or its members are not known. */
  given: JsonObject | null;
  /** How the author calls it, such as `svc:input`. */
  what: string;
  place: Place;
}

type Called = Pick<PackageWorkflow, 'name' | 'inputSchema'>;

interface KnownInput {
  members: KnownMembers;
  required: readonly string[];
}

/**
 * Holds what calls give to workflows of the package against their input schemas: names of members alone, since values are only
 * known when they run. A run fails where a required one is missing. Up to a fixed amount of work for all calls together.
 */
export class WorkflowInputs {
  private readonly work = new CheckWork(MAX_WORK);
  /** A schema is read once, however many calls there are. */
  private readonly known = new Map<JsonObject, KnownInput>();

  constructor(private readonly problems: PackageProblems) {}

  /** Warns of what one call gives too much or too little. */
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
    for (const member of unknown.slice(0, MAX_TOLD)) {
      const hint = this.problems.didYouMean(member, () => [...members.names]);
      const message = `${what} gives "${quoted(member)}", of which the inputSchema of workflow "${quoted(name)}" does not speak.${hint}`;
      this.problems.warning('INPUT_UNKNOWN', place, message);
    }
    const missing = required.filter((member) => !Object.hasOwn(given, member));
    for (const member of missing.slice(0, MAX_TOLD)) {
      const message = `Workflow "${quoted(name)}" needs "${quoted(member)}" by its inputSchema, and ${what} does not give it: the run fails.`;
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
