import { NODE_KINDS } from '../draft/draft.js';
import { childOf, childrenOf, kindOf, type BpmnElement } from '../model/bpmn-element.js';
import { SUPPORTED_WORK } from './implementation.checks.js';

/** Supported elements, whose parts are checked too. */
const EXECUTED: ReadonlySet<string> = new Set([
  ...Object.keys(NODE_KINDS),
  'definitions',
  'process',
  'laneSet',
  'lane',
  'collaboration',
  'participant',
  'messageFlow',
  'messageEventDefinition',
  'timerEventDefinition',
  'errorEventDefinition',
  'terminateEventDefinition',
  'multiInstanceLoopCharacteristics',
  'sequenceFlow',
  'expression',
  'formalExpression',
  'message',
  'error',
  'extensionElements',
  'extension',
]);

/**
 * Elements that only document: drawings, data without associations (BPMN 2.0.2, 10.4), and interfaces, because messages are matched by
 * name.
 */
const IGNORED: ReadonlySet<string> = new Set([
  'documentation',
  'textAnnotation',
  'association',
  'group',
  'category',
  'bPMNDiagram',
  'relationship',
  'categoryValue',
  'dataObject',
  'dataObjectReference',
  'dataStore',
  'dataStoreReference',
  'itemDefinition',
  'property',
  'participantMultiplicity',
  'auditing',
  'monitoring',
  'interface',
  'operation',
  'endPoint',
]);

/** XML tags that differ from the type in the meta-model. */
const TAGS: Readonly<Record<string, string>> = { inputOutputSpecification: 'ioSpecification' };

/** Unsupported parts that control how often a loop runs. */
const LOOP_PARTS = ['loopCardinality', 'completionCondition', 'complexBehaviorDefinition'];

/** Treatment of an element: executed, ignored, or refused under a name. */
export type Treatment = 'executed' | 'ignored' | { refused: string };

/**
 * Decides whether an element is executed, ignored or refused. Silently ignoring a drawn element would surprise more than refusing it.
 */
export function treatmentOf(element: BpmnElement): Treatment {
  const kind = kindOf(element);
  if (!element.$type.startsWith('bpmn:')) {
    return 'ignored';
  }
  if (IGNORED.has(kind) || isDocumentation(element)) {
    return 'ignored';
  }
  const refused = EXECUTED.has(kind) ? refusedUse(element, kind) : (TAGS[kind] ?? kind);
  return refused === undefined ? 'executed' : { refused };
}

/** Whether a process is only drawn: BPMN 2.0.2, 10.2.1, `isExecutable`. */
export function isDocumentation(element: BpmnElement): boolean {
  return element.$type === 'bpmn:Process' && element.isExecutable === false;
}

/** Unsupported uses of supported elements, by their BPMN names. */
const REFUSED_USES: Readonly<Record<string, (element: BpmnElement) => string | undefined>> = {
  subProcess: ({ triggeredByEvent }) => (triggeredByEvent === true ? 'eventSubProcess' : undefined),
  participant: (element) =>
    childOf(element, 'processRef') === undefined ? 'participant without process' : undefined,
  extension: ({ mustUnderstand }) => (mustUnderstand === true ? 'extension' : undefined),
  multiInstanceLoopCharacteristics: refusedLoop,
  timerEventDefinition: refusedTimer,
};

function refusedUse(element: BpmnElement, kind: string): string | undefined {
  return REFUSED_USES[kind]?.(element) ?? refusedFlag(element);
}

function refusedFlag(element: BpmnElement): string | undefined {
  const quantity = ['startQuantity', 'completionQuantity'].find((name) => (element[name] ?? 1) !== 1);
  return (
    quantity ??
    ['isForCompensation', 'parallelMultiple', 'instantiate'].find((name) => element[name] === true)
  );
}

function refusedLoop(loop: BpmnElement): string | undefined {
  const activity = loop.$parent === undefined ? '' : kindOf(loop.$parent);
  if (activity !== 'callActivity') {
    return `multiInstanceLoopCharacteristics of ${activity}`;
  }
  return LOOP_PARTS.find((part) => childOf(loop, part) !== undefined || childrenOf(loop, part).length > 0);
}

/** Refuses cycles except on start events (docs/bpmn.md). */
function refusedTimer(timer: BpmnElement): string | undefined {
  const event = timer.$parent === undefined ? '' : kindOf(timer.$parent);
  const repeats = childOf(timer, 'timeCycle') !== undefined;
  return repeats && event !== 'startEvent' ? `timeCycle of ${event}` : undefined;
}

/** Alternatives to unsupported elements, as in docs/bpmn.md. The first match counts. */
const ALTERNATIVES: readonly (readonly [RegExp, string])[] = [
  [
    /^participant without process$/,
    'give it a process with isExecutable="false", or remove the collaboration',
  ],
  [/^globalUserTask$/, 'use a user task in a process of its own'],
  [/^(scriptTask|businessRuleTask|global\w*Task)$/, `use a serviceTask with ${SUPPORTED_WORK}`],
  [/^(complexGateway|startQuantity|completionQuantity)$/, 'use other gateways'],
  [
    /^(standardLoopCharacteristics|multiInstanceLoopCharacteristics|loopCardinality|completionCondition|complexBehaviorDefinition)/,
    'use a loop of sequence flows, or a call activity over svc:collection',
  ],
  [/^(transaction|isForCompensation|compensateEventDefinition|cancelEventDefinition)$/, 'use error events'],
  [
    /^(signal|signalEventDefinition|escalation|escalationEventDefinition|conditionalEventDefinition|linkEventDefinition|parallelMultiple)$/,
    'use messages or gateways',
  ],
  [/^eventSubProcess$/, 'use boundary events'],
  [/^adHocSubProcess$/, 'use parallel branches'],
  [/^timeCycle of /, 'use a loop around a timer'],
  [/^instantiate$/, 'use a message start event'],
  [
    /^(ioSpecification|dataInputAssociation|dataOutputAssociation|dataState)$/,
    'remove it, process data is shared',
  ],
  [/^correlation/, 'use svc:correlation'],
  [/^(resourceRole|performer|humanPerformer|potentialOwner)$/, 'use svc:execute of lanes'],
];

/** Returns an alternative to an unsupported element, for a message. */
export function alternativeTo(refused: string): string {
  const known = ALTERNATIVES.find(([pattern]) => pattern.test(refused));
  return known?.[1] ?? 'model it in another way';
}
