import { BpmnModdle, type ModdleWarning } from 'bpmn-moddle';
import type { Problems } from '../model/problems.js';
import { isElement, kindOf, type BpmnElement } from '../model/bpmn-element.js';
import { SVC_EXTENSION } from './svc-extension.js';
import { placeOf } from './svc-places.js';

/** Names of data types and of extension schemas: they mean nothing to us, and seldom are in the file. */
const TYPE_NAMES: ReadonlySet<string> = new Set([
  'bpmn:structureRef',
  'bpmn:type',
  'bpmn:evaluatesToTypeRef',
  'bpmn:definition',
]);

/**
 * Reads BPMN 2.0 XML (with the OMG namespaces) into elements. The library underneath is a reader, not a validator: what it
 * only warns of are errors here, since it leaves out of the model what it does not understand.
 * @returns the `definitions`; undefined when the text is none
 */
export async function readBpmn(xml: string, problems: Problems): Promise<BpmnElement | undefined> {
  const moddle = new BpmnModdle({ svc: SVC_EXTENSION });
  refuseRepeated(moddle, problems);
  try {
    const { rootElement, warnings } = await moddle.fromXML(xml);
    warnings.forEach((warning) => report(warning, problems));
    return isElement(rootElement) ? rootElement : undefined;
  } catch (error) {
    const message = error instanceof Error ? firstLines(error.message) : 'unknown';
    problems.error('NOT_BPMN', null, `The file is not BPMN 2.0 XML: ${message}`);
    return undefined;
  }
}

/** Of a part that stands once in an element, the reader keeps the last one without a word; it says nothing of the others. */
function refuseRepeated(moddle: BpmnModdle, problems: Problems): void {
  const set = moddle.properties.set.bind(moddle.properties);
  moddle.properties.set = (target, name, value) => {
    const local = name.slice(name.indexOf(':') + 1);
    const before: unknown = Object.hasOwn(target, local) ? (target as BpmnElement)[local] : undefined;
    if (
      isElement(target) &&
      value !== undefined &&
      before !== undefined &&
      isPlaceholder(before) === isPlaceholder(value)
    ) {
      problems.error(
        'REPEATED_PART',
        target,
        `${local} stands more than once in ${kindOf(target)}; only one can count.`,
      );
    }
    set(target, name, value);
  };
}

/** A reference stands as an object without type until everything has been read; then it is replaced. */
function isPlaceholder(value: unknown): boolean {
  return typeof value === 'object' && !isElement(value);
}

function report(warning: ModdleWarning, problems: Problems): void {
  const { message, property = '', value } = warning;
  const element = isElement(warning.element) ? warning.element : null;
  if (message.startsWith('unsupported document encoding') || isDiagram(element)) {
    return;
  }
  if (message.startsWith('unresolved reference')) {
    if (!TYPE_NAMES.has(property)) {
      const name = property.replace('bpmn:', '');
      problems.error('UNRESOLVED_REFERENCE', element, `${name} names "${value}", which is not in the file.`);
    }
    return;
  }
  if (message.startsWith('unknown attribute')) {
    problems.error('UNKNOWN_ATTRIBUTE', element, `The attribute ${property} is not known here.`);
    return;
  }
  reportContent(message, element, problems);
}

function reportContent(message: string, element: BpmnElement | null, problems: Problems): void {
  const ours = /<svc:([\w.-]+)/.exec(message)?.[1];
  if (ours !== undefined && message.startsWith('unparsable content')) {
    problems.error('MISPLACED_EXTENSION', element, misplaced(ours, message));
    return;
  }
  const code = message.includes('duplicate ID') ? 'DUPLICATE_ID' : 'UNPARSABLE_CONTENT';
  problems.error(code, element, `The file cannot be read as BPMN 2.0: ${firstLines(message)}`);
}

/** The reader knows the line and not the element around it. */
function misplaced(name: string, message: string): string {
  const where = /line: \d+/.exec(message)?.[0] ?? 'somewhere';
  const place = placeOf(name);
  return place === undefined
    ? `There is no element svc:${name} (${where}).`
    : `svc:${name} stands in ${place}, not where it is (${where}).`;
}

/** A drawing means nothing to us, so what is wrong in it does not either. */
function isDiagram(element: BpmnElement | null): boolean {
  return element !== null && !/^(bpmn|svc):/.test(element.$type);
}

function firstLines(message: string): string {
  return message.slice(0, 300).replaceAll(/\s*\n\s*/g, '; ');
}
