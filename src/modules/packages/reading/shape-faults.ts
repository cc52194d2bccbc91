import { z } from 'zod';
import { isJsonObject } from '../../../common/json.js';
import { nearestName } from '../../../common/nearest-name.js';

type Issue = z.core.$ZodIssue;
type RawIssue = z.core.$ZodRawIssue;

/** Unknown members of one value whose nearest names are looked for: a hostile one could have a million. */
const MAX_LOOKED_FOR = 20;

/** A member that an object must not have. */
export interface UnknownMember {
  /** Of the object. */
  path: PropertyKey[];
  name: string;
  /** The member that somebody most likely meant; undefined where none is near. */
  meant: string | undefined;
}

/** What is wrong with the shape of a value. */
export interface ShapeFaults {
  unknown: UnknownMember[];
  /** The others, without those that only follow from a misspelt member. */
  issues: Issue[];
}

/**
 * A value as its schema describes it, with defaults for what is left out; or what is wrong with it. A misspelt member is told once,
 * not also as one that is missing.
 */
export function shaped<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): { data: z.output<Schema> } | { faults: ShapeFaults } {
  const slips = new Slips();
  const { success, data, error } = schema.safeParse(value, { error: (issue) => slips.note(issue) });
  return success ? { data } : { faults: slips.faultsIn(error.issues) };
}

/** The end of a sentence about an unknown member: what was meant, where that is known. */
export function meantBy({ meant }: UnknownMember): string {
  return meant === undefined ? '' : ` Did you mean ${JSON.stringify(meant)}?`;
}

/** Whether a member that an object does not have stands in it under a name that is nearly its own. */
export function isMisspelt(name: string, object: object, known: readonly string[]): boolean {
  const unknown = Object.keys(object).filter((other) => !known.includes(other));
  return unknown.slice(0, MAX_LOOKED_FOR).some((other) => nearestName(other, known) === name);
}

/** Finds misspelt members with what zod knows while it reads, and does not tell afterwards. */
class Slips {
  /** Names of the members of objects, and of those that they lack, by their paths. */
  private readonly known = new Map<string, { names: readonly string[]; lacking: ReadonlySet<string> }>();
  /** Members under a wrong name whose type would have decided what else there may be, by the paths of the issues. */
  private readonly deciding = new Map<string, UnknownMember>();

  note({ code, inst, input, path = [], discriminator }: RawIssue): undefined {
    if (code === 'unrecognized_keys' && inst instanceof z.ZodObject) {
      const names = Object.keys(inst.shape);
      const lacking = names.filter((name) => isJsonObject(input) && !Object.hasOwn(input, name));
      this.known.set(keyOf(path), { names, lacking: new Set(lacking) });
    } else if (code === 'invalid_union' && typeof discriminator === 'string' && isJsonObject(input)) {
      const names = Object.hasOwn(input, discriminator) ? [] : Object.keys(input).slice(0, MAX_LOOKED_FOR);
      const name = names.find((near) => nearestName(near, [discriminator]) !== undefined);
      if (name !== undefined) {
        this.deciding.set(keyOf(path), { path: path.slice(0, -1), name, meant: discriminator });
      }
    }
  }

  faultsIn(issues: readonly Issue[]): ShapeFaults {
    const unknown = issues.flatMap((issue) => this.unknownIn(issue));
    const absent = new Set(unknown.filter((member) => this.lacks(member)).map(meantPath));
    const isTold = (issue: Issue): boolean =>
      issue.code === 'unrecognized_keys' ||
      this.deciding.has(keyOf(issue.path)) ||
      absent.has(keyOf(issue.path));
    return { unknown, issues: issues.filter((issue) => !isTold(issue)) };
  }

  /** Whether the member that was meant is not there besides. */
  private lacks({ path, meant }: UnknownMember): boolean {
    return meant !== undefined && this.known.get(keyOf(path))?.lacking.has(meant) === true;
  }

  private unknownIn(issue: Issue): UnknownMember[] {
    const { path } = issue;
    const deciding = this.deciding.get(keyOf(path));
    if (issue.code !== 'unrecognized_keys') {
      return deciding === undefined ? [] : [deciding];
    }
    const known = this.known.get(keyOf(path))?.names ?? [];
    return issue.keys.map((name, index) => ({
      path,
      name,
      meant: index < MAX_LOOKED_FOR ? nearestName(name, known) : undefined,
    }));
  }
}

/** Whether an issue says that a required member is not there. */
export function isMissing(issue: Issue): boolean {
  return issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
}

function meantPath({ path, meant = '' }: UnknownMember): string {
  return keyOf([...path, meant]);
}

function keyOf(path: readonly PropertyKey[]): string {
  return JSON.stringify(path);
}
