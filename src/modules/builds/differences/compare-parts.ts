import type { Steps } from '../../../common/turns.js';
import {
  DifferenceChange,
  DifferencePart,
  type BuildDifference,
  type ComparedPart,
} from './build-differences.types.js';

const ORDER = Object.values(DifferencePart);

/**
 * What is other in a build than in the one before.
 * @returns by kind, in the order of `DifferencePart`, then by application, place and name
 */
export function* differencesOf(
  before: readonly ComparedPart[],
  now: readonly ComparedPart[],
): Steps<BuildDifference[]> {
  const left = new Map<string, ComparedPart>();
  for (const part of before) {
    left.set(identityOf(part), part);
    yield;
  }
  const found: BuildDifference[] = [];
  for (const part of now) {
    const identity = identityOf(part);
    const other = left.get(identity);
    left.delete(identity);
    const members = other === undefined ? [] : changedMembers(other, part);
    if (other === undefined) {
      found.push(differenceOf(part, DifferenceChange.Added));
    } else if (members.length > 0) {
      found.push({ ...differenceOf(part, DifferenceChange.Changed), members });
    }
    yield;
  }
  for (const part of left.values()) {
    found.push({ ...differenceOf(part, DifferenceChange.Removed), enabled: null });
  }
  return found.toSorted(byPlace);
}

function identityOf({ part, appId, key }: ComparedPart): string {
  return `${part} ${appId} ${key}`;
}

function differenceOf(
  { part, appId, within, name, enabled }: ComparedPart,
  change: DifferenceChange,
): BuildDifference {
  return { part, change, appId, within, name, members: [], enabled };
}

function changedMembers(before: ComparedPart, now: ComparedPart): string[] {
  const names = new Set([...now.members.keys(), ...before.members.keys()]);
  return [...names].filter((name) => before.members.get(name) !== now.members.get(name));
}

function byPlace(one: BuildDifference, other: BuildDifference): number {
  return (
    ORDER.indexOf(one.part) - ORDER.indexOf(other.part) ||
    compared(one.appId, other.appId) ||
    compared(one.within ?? '', other.within ?? '') ||
    compared(one.name, other.name)
  );
}

function compared(one: string, other: string): number {
  if (one === other) {
    return 0;
  }
  return one < other ? -1 : 1;
}
