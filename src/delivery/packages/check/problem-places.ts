import { xmlPlaces } from '../reading/xml-places.js';
import type { ApplicationPackage, PackageProblem } from '../model/package.types.js';

/**
 * Adds to problems the name of the BPMN element or node, and the line in the BPMN file.
 * @param parts the files with the problems
 */
export function withPlaces(
  problems: readonly PackageProblem[],
  parts: Pick<ApplicationPackage, 'processes'> & Partial<Pick<ApplicationPackage, 'workflows'>>,
): PackageProblem[] {
  const ids = new Map<string, Set<string>>();
  for (const { file, element } of problems) {
    if (element !== null) {
      ids.set(file, (ids.get(file) ?? new Set()).add(element));
    }
  }
  const places = new Map<string, ReadonlyMap<string, Place>>();
  for (const { file, bpmn } of parts.processes) {
    const wanted = ids.get(file);
    if (wanted !== undefined) {
      places.set(file, xmlPlaces(bpmn, wanted));
    }
  }
  for (const { file, nodes } of parts.workflows ?? []) {
    if (ids.has(file)) {
      places.set(file, new Map(nodes.map(({ id, name }) => [id, { name }])));
    }
  }
  return problems.map((problem) => placed(problem, places.get(problem.file)?.get(problem.element ?? '')));
}

interface Place {
  name: string | undefined;
  line?: number;
}

function placed(problem: PackageProblem, place: Place | undefined): PackageProblem {
  return {
    ...problem,
    ...(place?.name === undefined ? {} : { elementName: place.name }),
    ...(place?.line === undefined ? {} : { line: place.line }),
  };
}
