import type { DefinitionProblem } from './process-graph.types.js';
import { idOf, type BpmnElement } from './bpmn-element.js';

/** Maximum number of problems reported per file; a file with more usually repeats one mistake. */
const MAX_PROBLEMS = 200;
const MAX_MESSAGE = 500;
const WRONG_VALUE: ReadonlySet<string> = new Set(['INVALID_VALUE', 'UNKNOWN_ATTRIBUTE']);

/** Collects the problems of one file, so that authors see all of them at once. */
export class DefinitionProblems {
  private readonly found: DefinitionProblem[] = [];
  private readonly known = new Set<string>();
  /** Codes with the ids where they were found. */
  private readonly places = new Set<string>();
  private readonly codes = new Set<string>();
  /** Elements with a rejected attribute, regardless of the id in the problem. */
  private readonly wrongValues = new Set<BpmnElement>();
  private errors = 0;
  private isCut = false;

  constructor(private readonly file: string) {}

  get hasErrors(): boolean {
    return this.errors > 0;
  }

  /** @param element the element or its id; null for the whole file */
  error(code: string, element: BpmnElement | string | null, message: string): void {
    this.errors += 1;
    if (WRONG_VALUE.has(code) && typeof element === 'object' && element !== null) {
      this.wrongValues.add(element);
    }
    this.add({ severity: 'error', code, file: this.file, element: keyOf(element), message });
  }

  /** @param element the element or its id; null for the whole file */
  warning(code: string, element: BpmnElement | string | null, message: string): void {
    this.add({ severity: 'warning', code, file: this.file, element: keyOf(element), message });
  }

  /** Records that the file was not read to its end, so it has more problems than were found. */
  cut(): void {
    this.isCut = true;
  }

  /** Whether a problem of this kind was found at the element. */
  has(code: string, element: BpmnElement | string): boolean {
    return this.places.has(`${code} ${keyOf(element) ?? ''}`);
  }

  /** Whether parts of the file could not be read. Problems that may only follow from that are not reported. */
  get isIncomplete(): boolean {
    return this.codes.has('UNPARSABLE_CONTENT') || this.codes.has('DUPLICATE_ID');
  }

  /** Whether a reference of the element was reported as wrong, so that follow-up problems are not reported. */
  hasWrongReference(element: BpmnElement | string): boolean {
    return ['UNRESOLVED_REFERENCE', 'INVALID_REFERENCE'].some((code) => this.has(code, element));
  }

  /** Whether an attribute of the element was rejected, so that its meaning is unknown. */
  hasWrongValue(element: BpmnElement): boolean {
    return this.wrongValues.has(element);
  }

  /** Whether an attribute was rejected at an element with this id, or within it. */
  hasWrongValueAt(id: string): boolean {
    return [...WRONG_VALUE].some((code) => this.has(code, id));
  }

  /** Returns errors first, otherwise in the order found. */
  list(): DefinitionProblem[] {
    const sorted = this.found.toSorted((a, b) => rank(a) - rank(b));
    const more = sorted.length - MAX_PROBLEMS;
    if (more <= 0 && !this.isCut) {
      return sorted;
    }
    const rest = this.isCut
      ? 'The file has more problems: it was not read to its end.'
      : `${more} more problems are not shown.`;
    return [
      ...sorted.slice(0, MAX_PROBLEMS),
      { severity: 'warning', code: 'MORE_PROBLEMS', file: this.file, element: null, message: rest },
    ];
  }

  private add(problem: DefinitionProblem): void {
    const message =
      problem.message.length > MAX_MESSAGE ? `${problem.message.slice(0, MAX_MESSAGE)}…` : problem.message;
    const identity = JSON.stringify([problem.code, problem.element, message]);
    if (!this.known.has(identity)) {
      this.known.add(identity);
      this.codes.add(problem.code);
      this.places.add(`${problem.code} ${problem.element ?? ''}`);
      this.found.push({ ...problem, message });
    }
  }
}

/** Returns the kind and id of an element for messages. */
export function nameOf(kind: string, id: string | null): string {
  return id === null ? `${kind} without id` : `${kind} "${id}"`;
}

function keyOf(element: BpmnElement | string | null): string | null {
  return element === null || typeof element === 'string' ? element : nearestId(element);
}

/** Returns the id of the element or its closest ancestor, because expressions and event definitions often have none. */
function nearestId(element: BpmnElement): string | null {
  for (let at: BpmnElement | undefined = element; at !== undefined; at = at.$parent) {
    const id = idOf(at);
    if (id !== null) {
      return id;
    }
  }
  return null;
}

function rank({ severity }: DefinitionProblem): number {
  return severity === 'error' ? 0 : 1;
}
