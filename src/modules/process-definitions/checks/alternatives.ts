import { OUR_WORK } from './implementation.checks.js';

/** Alternatives to elements that are not executed, as in docs/bpmn.md. The first that fits counts. */
const ALTERNATIVES: readonly (readonly [RegExp, string])[] = [
  [
    /^participant without process$/,
    'give it a process with isExecutable="false", or remove the collaboration',
  ],
  [/^globalUserTask$/, 'use a user task in a process of its own'],
  [/^(scriptTask|businessRuleTask|global\w*Task)$/, `use a serviceTask with ${OUR_WORK}`],
  [/^(complexGateway|startQuantity|completionQuantity)$/, 'use gateways that say what is meant'],
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
    'process data is shared, leave it out',
  ],
  [/^correlation/, 'use svc:correlation'],
  [/^(resourceRole|performer|humanPerformer|potentialOwner)$/, 'use svc:execute of lanes'],
];

/** What an author does instead, for a message. */
export function alternativeTo(refused: string): string {
  const known = ALTERNATIVES.find(([pattern]) => pattern.test(refused));
  return known?.[1] ?? 'model it in another way';
}
