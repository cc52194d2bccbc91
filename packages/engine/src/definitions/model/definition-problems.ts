import type { DefinitionProblem } from './process-graph.types.js';
import { idOf, type BpmnElement } from './bpmn-element.js';

/** Problems told about one file; a file with more is broken in one way many times. */
const MAX_PROBLEMS = 200;
const MAX_MESSAGE = 500;
const WRONG_VALUE: ReadonlySet<string> = new Set(['INVALID_VALUE', 'UNKNOWN_ATTRIBUTE']);

/** Gathers what is wrong in one file, so that an author reads everything at once. */
export class DefinitionProblems {
  private readonly found: DefinitionProblem[] = [];
  private readonly known = new Set<string>();
  /** Codes with the ids where they were found. */
  private readonly places = new Set<string>();
  private readonly codes = new Set<string>();
  /** Elements with an attribute that was refused, whatever id is told. */
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

  /** The file was not read to its end: it has more problems than were found. */
  cut(): void {
    this.isCut = true;
  }

  /** Whether a problem of this kind was found at the element. */
  has(code: string, element: BpmnElement | string): boolean {
    return this.places.has(`${code} ${keyOf(element) ?? ''}`);
  }

  /** Whether parts of the file are missing from what was read: what only follows from that is not told too. */
  get isTorn(): boolean {
    return this.codes.has('UNPARSABLE_CONTENT') || this.codes.has('DUPLICATE_ID');
  }

  /** Whether a reference of the element is told as wrong: what only follows from that is not told too. */
  hasWrongReference(element: BpmnElement | string): boolean {
    return ['UNRESOLVED_REFERENCE', 'INVALID_REFERENCE'].some((code) => this.has(code, element));
  }

  /** Whether an attribute of the element was refused: what would be read from it is not known. */
  hasWrongValue(element: BpmnElement): boolean {
    return this.wrongValues.has(element);
  }

  /** Whether that was so at an element with an id, or within it. */
  hasWrongValueAt(id: string): boolean {
    return [...WRONG_VALUE].some((code) => this.has(code, id));
  }

  /** Errors first; otherwise as they were found. */
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

/** How an element is called in a message: its kind and its id. */
export function nameOf(kind: string, id: string | null): string {
  return id === null ? `${kind} without id` : `${kind} "${id}"`;
}

function keyOf(element: BpmnElement | string | null): string | null {
  return element === null || typeof element === 'string' ? element : nearestId(element);
}

/** An expression or event definition often has no id: the element around it is where an author looks. */
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
