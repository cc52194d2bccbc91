import { BpmnModdle, type ModdleWarning } from 'bpmn-moddle';
import { didYouMean } from '../../support/nearest-name.js';
import type { DefinitionProblems } from '../model/definition-problems.js';
import { idOf, isA, isElement, kindOf, type BpmnElement } from '../model/bpmn-element.js';
import { SVC_EXTENSION } from './svc-extension.js';
import { placeOf, SVC_ELEMENTS } from './svc-places.js';
import { limitedFaults, TooManyFaultsError } from './fault-limit.js';
import { bpmnNamespaceHint } from './namespaces.js';
import { tagFault } from './tag-fault.js';

/** Names of data types and of extension schemas: they mean nothing to us, and seldom are in the file. */
const TYPE_NAMES: ReadonlySet<string> = new Set([
  'bpmn:structureRef',
  'bpmn:type',
  'bpmn:evaluatesToTypeRef',
  'bpmn:definition',
]);

/** Lists that edits leave behind. */
const FLOW_LISTS: ReadonlySet<string> = new Set(['incoming', 'outgoing']);

/** The library underneath, for one file after the other: what it knows of BPMN takes long to prepare. */
class ElementReader {
  // The library writes into what it is given.
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
    // The file has been read when this comes back: what it promises is the result.
    const result = this.moddle.fromXML(xml, limitedFaults(xml));
    this.problems = undefined;
    return result;
  }

  /** Of a part that stands once in an element, the library keeps the last one without a word; it says nothing of the others. */
  private refuseRepeated(target: object, name: string, value: unknown): void {
    const local = name.slice(name.indexOf(':') + 1);
    const before: unknown = Object.hasOwn(target, local) ? (target as BpmnElement)[local] : undefined;
    if (
      isElement(target) &&
      value !== undefined &&
      before !== undefined &&
      isPlaceholder(before) === isPlaceholder(value)
    ) {
      this.problems?.error(
        'REPEATED_PART',
        target,
        `${local} stands more than once in ${kindOf(target)}; only one can count.`,
      );
    }
  }
}

const reader = new ElementReader();

/** Ids that a wrong one is compared with, and how many are: a hostile file could ask a million times. */
const MAX_NAMES = 1_000;
const MAX_HINTS = 50;

/**
 * Reads BPMN 2.0 XML (with the OMG namespaces) into elements. The library underneath is a reader, not a validator. It leaves
 * out parts that it does not understand, so its warnings are errors here.
 * @returns the `definitions`; undefined when the text is none
 */
export async function readBpmn(xml: string, problems: DefinitionProblems): Promise<BpmnElement | undefined> {
  try {
    const { rootElement, elementsById, warnings } = await reader.read(xml, problems);
    const named = Object.values(elementsById).filter(isElement).slice(0, MAX_NAMES);
    const told = withoutFollowing(warnings, xml);
    told.forEach((warning, index) => report(warning, problems, index < MAX_HINTS ? named : []));
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

/** Of one place that cannot be parsed the first fault is told. What names an element that stands there follows from it. */
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

/** Whether a reference may be told only because a part of the file is missing: of that, or of a flow that it lists. */
function followsFrom(ids: ReadonlySet<string | undefined>, { value, property = '' }: ModdleWarning): boolean {
  return ids.has(value) || FLOW_LISTS.has(property.replace('bpmn:', ''));
}

const ID = /\sid\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/g;

function placeOfFault({ message }: ModdleWarning): string | undefined {
  return /^unparsable content .{0,300}? detected\s+line: \d+\s+column: \d+/s.exec(message)?.[0];
}

/** A reference stands as an object without type until everything has been read; then it is replaced. */
function isPlaceholder(value: unknown): boolean {
  return typeof value === 'object' && !isElement(value);
}

/** @param named elements of the file that have an id, for hints */
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
      const leftBehind = FLOW_LISTS.has(name) ? ' Where no flow is meant, take it out of the list.' : '';
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
    `The file cannot be read as BPMN 2.0: ${firstLines(message)}${slipIn(message)}`,
  );
}

/** The reader knows the line and not the element around it. */
function misplaced(name: string, message: string): string {
  const where = /line: \d+/.exec(message)?.[0] ?? 'somewhere';
  const place = placeOf(name);
  return place === undefined
    ? `There is no element svc:${name} (${where}).${didYouMean(name, SVC_ELEMENTS)}`
    : `svc:${name} stands in ${place}, not where it is (${where}).`;
}

/** A drawing means nothing to us, so what is wrong in it does not either. */
function isDiagram(element: BpmnElement | null): boolean {
  return element !== null && !/^(bpmn|svc):/.test(element.$type);
}

/** Ids of those elements that a reference may name. */
function idsFor(property: string, element: BpmnElement | null, named: readonly BpmnElement[]): string[] {
  const type = element?.$descriptor?.properties?.find(({ ns }) => ns?.name === property)?.type;
  return named.filter((one) => type === undefined || isA(one, type)).flatMap((one) => idOf(one) ?? []);
}

/** Attributes that an element can have, as they are written there: those of its own namespace without a prefix. */
function attributesOf(element: BpmnElement | null): string[] {
  const own = element?.$type.replace(/:.*/s, ':') ?? '';
  const properties = element?.$descriptor?.properties ?? [];
  return properties
    .filter(({ isAttr }) => isAttr === true)
    .map(({ name, ns }) => ns?.name ?? name)
    .map((name) => (name.startsWith(own) ? name.slice(own.length) : name));
}

/** What an author most likely did, where the words of the parser do not say it. */
function slipIn(message: string): string {
  return /(?:illegal first char|invalid) nodeName/.test(message)
    ? '. A "<" in a text or a condition is written &lt;'
    : '';
}

/** Why the file could not be read at all. The parser tells where it saw that tags do not fit, which may be far behind the element. */
function causeOf(message: string, xml: string): string {
  if (/closing tag mismatch|close tag|unclosed tag|unexpected end of file/.test(message)) {
    return slipIn(message) || `. ${tagFault(xml)}`;
  }
  return message.startsWith('failed to parse document') ? bpmnNamespaceHint(xml) : slipIn(message);
}

function firstLines(message: string): string {
  return message.slice(0, 300).replaceAll(/\s*\n\s*/g, '; ');
}
