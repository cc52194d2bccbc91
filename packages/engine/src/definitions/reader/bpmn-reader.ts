import { BpmnModdle, type ModdleWarning } from 'bpmn-moddle';
import { didYouMean } from '../../support/nearest-name.js';
import type { DefinitionProblems } from '../model/definition-problems.js';
import { idOf, isA, isElement, kindOf, type BpmnElement } from '../model/bpmn-element.js';
import { SVC_EXTENSION } from './svc-extension.js';
import { placeOf, SVC_ELEMENTS } from './svc-places.js';
import { limitedFaults, TooManyFaultsError } from './fault-limit.js';
import { bpmnNamespaceHint } from './namespaces.js';
import { tagFault } from './tag-fault.js';

/** References to data types and extension schemas, which are ignored and often not in the file. */
const TYPE_NAMES: ReadonlySet<string> = new Set([
  'bpmn:structureRef',
  'bpmn:type',
  'bpmn:evaluatesToTypeRef',
  'bpmn:definition',
]);

/** Lists that often keep ids of deleted flows. */
const FLOW_LISTS: ReadonlySet<string> = new Set(['incoming', 'outgoing']);

/** Wraps bpmn-moddle for one file after the other, because preparing its meta-model takes long. */
class ElementReader {
  // The library modifies the descriptor.
  private readonly moddle = new BpmnModdle({ svc: structuredClone(SVC_EXTENSION) });
  private problems: DefinitionProblems | undefined;

  constructor() {
    const { properties } = this.moddle;
    const set = properties.set.bind(properties);
    properties.set = (target, name, value) => {
      this.refuseRepeated(target, name, value);
      set(target, name, value);
    };
  }

  read(xml: string, problems: DefinitionProblems): ReturnType<BpmnModdle['fromXML']> {
    this.problems = problems;
    // Reading is synchronous; only the result is a promise.
    const result = this.moddle.fromXML(xml, limitedFaults(xml));
    this.problems = undefined;
    return result;
  }

  /** Reports a repeated single-value part, because the library silently keeps only the last one. */
  private refuseRepeated(target: object, name: string, value: unknown): void {
    const local = name.slice(name.indexOf(':') + 1);
    const before: unknown = Object.hasOwn(target, local) ? (target as BpmnElement)[local] : undefined;
    if (
      isElement(target) &&
      value !== undefined &&
      before !== undefined &&
      isPlaceholder(before) === isPlaceholder(value)
    ) {
      this.problems?.error('REPEATED_PART', target, `${local} may appear only once in ${kindOf(target)}.`);
    }
  }
}

const reader = new ElementReader();

/** Maximum number of ids compared for a hint, and of hints: a hostile file could require millions. */
const MAX_NAMES = 1_000;
const MAX_HINTS = 50;

/**
 * Reads BPMN 2.0 XML (with the OMG namespaces) into elements. The library is a reader, not a validator. It skips
 * parts that it does not understand, so its warnings are errors here.
 * @returns the `definitions` element, or undefined if the text is not BPMN
 */
export async function readBpmn(xml: string, problems: DefinitionProblems): Promise<BpmnElement | undefined> {
  try {
    const { rootElement, elementsById, warnings } = await reader.read(xml, problems);
    const named = Object.values(elementsById).filter(isElement).slice(0, MAX_NAMES);
    const reported = withoutFollowing(warnings, xml);
    reported.forEach((warning, index) => report(warning, problems, index < MAX_HINTS ? named : []));
    return isElement(rootElement) ? rootElement : undefined;
  } catch (error) {
    if (error instanceof TooManyFaultsError) {
      withoutFollowing(error.warnings, xml).forEach((warning) => report(warning, problems));
      problems.cut();
      return undefined;
    }
    const message = error instanceof Error ? firstLines(error.message) : 'unknown';
    problems.error('NOT_BPMN', null, `The file is not BPMN 2.0 XML: ${message}${causeOf(message, xml)}`);
    return undefined;
  }
}

/** Keeps the first fault of each place that cannot be parsed, and drops unresolved references that may follow from one. */
function withoutFollowing(warnings: readonly ModdleWarning[], xml: string): readonly ModdleWarning[] {
  const faults = new Map(warnings.toReversed().map((warning) => [placeOfFault(warning), warning]));
  faults.delete(undefined);
  const ids = faults.size === 0 ? undefined : new Set(Array.from(xml.matchAll(ID), ([, a, b]) => a ?? b));
  return warnings.filter((warning) => {
    const place = placeOfFault(warning);
    const isReference = warning.message.startsWith('unresolved reference');
    return place === undefined
      ? !(isReference && ids !== undefined && followsFrom(ids, warning))
      : faults.get(place) === warning;
  });
}

/** Whether a reference may be unresolved only because its target, or a listed flow, could not be read. */
function followsFrom(ids: ReadonlySet<string | undefined>, { value, property = '' }: ModdleWarning): boolean {
  return ids.has(value) || FLOW_LISTS.has(property.replace('bpmn:', ''));
}

const ID = /\sid\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/g;

function placeOfFault({ message }: ModdleWarning): string | undefined {
  return /^unparsable content .{0,300}? detected\s+line: \d+\s+column: \d+/s.exec(message)?.[0];
}

/** Whether a value is a reference not yet resolved: an object without a type until the whole file has been read. */
function isPlaceholder(value: unknown): boolean {
  return typeof value === 'object' && !isElement(value);
}

/** @param named elements with an id, for hints */
function report(
  warning: ModdleWarning,
  problems: DefinitionProblems,
  named: readonly BpmnElement[] = [],
): void {
  const { message, property = '', value } = warning;
  const element = isElement(warning.element) ? warning.element : null;
  if (message.startsWith('unsupported document encoding') || isDiagram(element)) {
    return;
  }
  if (message.startsWith('unresolved reference')) {
    if (!TYPE_NAMES.has(property)) {
      const name = property.replace('bpmn:', '');
      const hint = didYouMean(String(value), idsFor(property, element, named));
      const leftBehind = FLOW_LISTS.has(name)
        ? ' If there should be no flow, remove the entry from the list.'
        : '';
      const message = `${name} names "${value}", which is not in the file.${hint}${leftBehind}`;
      problems.error('UNRESOLVED_REFERENCE', element, message);
    }
    return;
  }
  if (message.startsWith('unknown attribute')) {
    const hint = didYouMean(property, attributesOf(element));
    problems.error('UNKNOWN_ATTRIBUTE', element, `The attribute ${property} is not known here.${hint}`);
    return;
  }
  reportContent(message, element, problems);
}

function reportContent(message: string, element: BpmnElement | null, problems: DefinitionProblems): void {
  const ours = /<svc:([\w.-]+)/.exec(message)?.[1];
  if (ours !== undefined && message.startsWith('unparsable content')) {
    problems.error('MISPLACED_EXTENSION', element, misplaced(ours, message));
    return;
  }
  const code = message.includes('duplicate ID') ? 'DUPLICATE_ID' : 'UNPARSABLE_CONTENT';
  problems.error(
    code,
    element,
    `The file cannot be read as BPMN 2.0: ${firstLines(message)}${typoHint(message)}`,
  );
}

/** Describes a misplaced svc element by its line, since the reader does not know the enclosing element. */
function misplaced(name: string, message: string): string {
  const where = /line: \d+/.exec(message)?.[0] ?? 'somewhere';
  const place = placeOf(name);
  return place === undefined
    ? `There is no element svc:${name} (${where}).${didYouMean(name, SVC_ELEMENTS)}`
    : `svc:${name} belongs in ${place}, not here (${where}).`;
}

/** Whether an element belongs to a diagram, whose problems do not matter. */
function isDiagram(element: BpmnElement | null): boolean {
  return element !== null && !/^(bpmn|svc):/.test(element.$type);
}

/** Returns the ids of elements that a reference may name. */
function idsFor(property: string, element: BpmnElement | null, named: readonly BpmnElement[]): string[] {
  const type = element?.$descriptor?.properties?.find(({ ns }) => ns?.name === property)?.type;
  return named.filter((one) => type === undefined || isA(one, type)).flatMap((one) => idOf(one) ?? []);
}

/** Returns the attributes that an element can have, as written: those of its own namespace without a prefix. */
function attributesOf(element: BpmnElement | null): string[] {
  const own = element?.$type.replace(/:.*/s, ':') ?? '';
  const properties = element?.$descriptor?.properties ?? [];
  return properties
    .filter(({ isAttr }) => isAttr === true)
    .map(({ name, ns }) => ns?.name ?? name)
    .map((name) => (name.startsWith(own) ? name.slice(own.length) : name));
}

/** Returns a hint for parser messages that do not name the likely mistake. */
function typoHint(message: string): string {
  return /(?:illegal first char|invalid) nodeName/.test(message)
    ? '. A "<" in a text or a condition is written &lt;'
    : '';
}

/** Explains why the file could not be read. For mismatched tags, the parser reports a place that may be far after the element. */
function causeOf(message: string, xml: string): string {
  if (/closing tag mismatch|close tag|unclosed tag|unexpected end of file/.test(message)) {
    return typoHint(message) || `. ${tagFault(xml)}`;
  }
  return message.startsWith('failed to parse document') ? bpmnNamespaceHint(xml) : typoHint(message);
}

function firstLines(message: string): string {
  return message.slice(0, 300).replaceAll(/\s*\n\s*/g, '; ');
}
