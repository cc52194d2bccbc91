import { displayNameFault } from '../../../platform/validation/patterns.decorators.js';
import { nameKey } from '../../../platform/validation/resource-name.js';
import type { ProcessGraph } from '#engine/definitions';
import { shortened, type PackageProblems, type Place } from '../model/package-problems.js';
import type { ApplicationPackage } from '../model/package.types.js';
import { APPLICATION_FILE } from '../reading/package-reader.js';

const LINE_BREAKS = /[\t\n\r]/g;

/** Something with a name. */
export interface Named {
  name: string;
  file: string;
  element: string | null;
}

/**
 * Rejects names that occur more than once, ignoring case.
 * @param kind plural noun for the named things, as in "Two systems are called …"
 */
export function requireUniqueNames(
  kind: string,
  code: string,
  entries: readonly Named[],
  problems: PackageProblems,
): void {
  const first = new Map<string, Named>();
  for (const { name, file, element } of entries) {
    const known = first.get(nameKey(name));
    if (known === undefined) {
      first.set(nameKey(name), { name, file, element });
    } else {
      const where = known.file === file ? 'in this file' : `in ${known.file}`;
      const message = `Two ${kind} are called "${shortened(known.name)}", the other one ${where}; names are compared without case.`;
      problems.error(code, { file, element }, message);
    }
  }
}

/** Rejects invalid display names of the application, its systems and nodes of workflows (docs/contract.md, section 6). */
export function checkDisplayNames(
  { application, systems, workflows }: Omit<ApplicationPackage, 'processes'>,
  problems: PackageProblems,
): void {
  requireDisplayName(application.name, { file: APPLICATION_FILE, element: '/name' }, problems);
  systems.forEach(({ name, file }) => requireDisplayName(name, { file, element: '/name' }, problems));
  for (const { nodes, file } of workflows) {
    nodes.forEach(({ name, id }) => requireDisplayName(name, { file, element: id }, problems));
  }
}

/** Rejects invalid display names of BPMN elements, where line breaks are allowed because editors wrap labels with them. */
export function checkNamesOfProcess(
  { nodes, lanes }: Pick<ProcessGraph, 'nodes' | 'lanes'>,
  file: string,
  problems: PackageProblems,
): void {
  const named = [
    ...nodes.flatMap(({ key, name, uiActions }) =>
      [{ name }, ...uiActions].map((one) => ({ name: one.name, key })),
    ),
    ...lanes,
  ];
  named.forEach(({ name, key }) =>
    requireDisplayName((name ?? '').replace(LINE_BREAKS, ' '), { file, element: key }, problems),
  );
}

function requireDisplayName(name: string, place: Place, problems: PackageProblems): void {
  const fault = displayNameFault(name);
  if (fault !== undefined) {
    problems.error('DISPLAY_NAME_INVALID', place, `The name ${fault}.`);
  }
}
