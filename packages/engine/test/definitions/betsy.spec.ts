import { describe, expect, it } from 'vitest';
import {
  betsyExpectations,
  betsyModel,
  betsyXml,
  hasBetsy,
  missingBetsy,
  type BetsyConstraint,
} from '../support/betsy.js';
import { compileXml } from './compile.js';

/**
 * Our codes for each broken rule (constraint numbers of uniba-dsg/bpmnspector). Constraints that are not listed concern only
 * elements that we do not execute, so their models must be rejected for one of those elements.
 */
const OWN_REASON: Readonly<Record<string, readonly string[]>> = {
  EXT002: ['DUPLICATE_ID'],
  EXT003: ['MISSING_ID'],
  EXT004: ['INVALID_VALUE'],
  EXT006: ['INVALID_REFERENCE'],
  EXT007: ['INVALID_REFERENCE'],
  EXT008: ['INVALID_REFERENCE'],
  EXT009: ['INVALID_REFERENCE'],
  EXT010: ['INVALID_VALUE'],
  EXT012: ['EXPRESSION_NOT_FORMAL'],
  EXT013: ['INVALID_TIMER'],
  EXT014: ['UNSUPPORTED_LANGUAGE'],
  EXT017: ['GATEWAY_DIRECTION'],
  EXT018: ['GATEWAY_DIRECTION'],
  EXT019: ['GATEWAY_DIRECTION'],
  EXT023: ['FLOW_LISTS_DISAGREE'],
  EXT024: ['NOT_IN_EXECUTABLE'],
  EXT025: ['CONDITION_WITHOUT_ALTERNATIVE'],
  EXT026: ['INVALID_DEFAULT'],
  EXT028: ['FLOW_CROSSES_PROCESS'],
  EXT031: ['INVALID_MESSAGE_FLOW'],
  EXT035: ['NOT_IN_EXECUTABLE'],
  EXT078: ['UNPARSABLE_CONTENT'],
  EXT095: ['INVALID_REFERENCE'],
  EXT096: ['INVALID_INCOMING'],
  EXT097: ['MISSING_START'],
  EXT098: ['INVALID_EVENT_DEFINITION'],
  EXT099: ['CALLED_PROCESS_HAS_NO_START'],
  EXT100: ['INVALID_START'],
  EXT101: ['FLOW_LISTS_DISAGREE'],
  EXT102: ['INVALID_MESSAGE_FLOW'],
  EXT104: ['INVALID_OUTGOING'],
  EXT105: ['MISSING_END'],
  EXT107: ['FLOW_LISTS_DISAGREE'],
  EXT108: ['INVALID_MESSAGE_FLOW'],
  EXT110: ['INVALID_BOUNDARY', 'INVALID_EVENT_DEFINITION'],
  EXT112: ['INVALID_INCOMING'],
  EXT113: ['MISSING_OUTGOING'],
  EXT115: ['MISSING_INCOMING'],
  EXT116: ['MISSING_OUTGOING'],
  EXT127: ['MISSING_MESSAGE'],
  EXT128: ['MISSING_CORRELATION'],
  EXT130: ['INVALID_EVENT_DEFINITION'],
  EXT131: ['INVALID_TIMER'],
  EXT132: ['INVALID_TIMER'],
  EXT133: ['INVALID_TIMER'],
  EXT134: ['INVALID_DURATION'],
  EXT135: ['USELESS_GATEWAY'],
  EXT136: ['INVALID_EVENT_GATEWAY'],
  EXT137: ['CONDITION_NOT_ALLOWED'],
  EXT138: ['INVALID_EVENT_GATEWAY'],
  EXT139: ['INVALID_EVENT_GATEWAY'],
  EXT140: ['INVALID_EVENT_GATEWAY'],
  EXT141: ['INVALID_EVENT_GATEWAY'],
  EXT146: ['INVALID_EVENT_DEFINITION'],
  EXT147: ['INVALID_BOUNDARY', 'INVALID_EVENT_DEFINITION'],
  EXT148: ['INVALID_EVENT_DEFINITION'],
  EXT149: ['INVALID_EVENT_DEFINITION'],
  EXT150: ['MISSING_INCOMING'],
  EXT151: ['MISSING_OUTGOING'],
  EXT152: ['FLOW_CROSSES_SCOPE'],
  REF: ['INVALID_REFERENCE', 'UNRESOLVED_REFERENCE'],
};

/** Refused kinds of the expectations, by their names in our problems. */
const REFUSED_KINDS: Readonly<Record<string, readonly string[]>> = {
  tokenQuantity: ['startQuantity', 'completionQuantity'],
};

/** Features with kinds that are rejected only in their position, or with parts that the expectations do not list. */
const REFUSED_FEATURES: Readonly<Record<string, string>> = {
  'activities/ReceiveTask_Instantiate.bpmn': 'instantiate',
  'data/DataObject_ReadWrite_String.bpmn': 'dataOutputAssociation',
  'events/Timer_BoundaryEvent_SubProcess_TimeCycle.bpmn': 'timeCycle',
  'events/Timer_IntermediateTimeCycleEvent.bpmn': 'timeCycle',
};

const SUPPORTED = new Set(
  (
    'startEvent endEvent intermediateCatchEvent intermediateThrowEvent boundaryEvent scriptTask sendTask receiveTask ' +
    'subProcess callActivity lane conditionExpression default exclusiveGateway parallelGateway ' +
    'inclusiveGateway eventBasedGateway eventDefinitionRef messageEventDefinition timerEventDefinition errorEventDefinition terminateEventDefinition'
  ).split(' '),
);

type Verdict = 'own reason' | 'unsupported kind' | 'other reason' | 'accepted';

async function verdictOf({ file, constraint }: BetsyConstraint): Promise<Verdict> {
  const { definitions, problems } = await compileXml(betsyXml(file));
  const codes = problems.filter(({ severity }) => severity === 'error').map(({ code }) => code);
  if (definitions.length > 0 || codes.length === 0) {
    return 'accepted';
  }
  if (codes.some((code) => OWN_REASON[constraint]?.includes(code))) {
    return 'own reason';
  }
  return codes.includes('UNSUPPORTED_ELEMENT') ? 'unsupported kind' : 'other reason';
}

describe('third-party models: constraints of BPMN', () => {
  it.skipIf(!hasBetsy())(
    hasBetsy()
      ? 'rejects each of the 301 models for its own reason or for a kind that is not executed'
      : missingBetsy('301 models that break a rule of BPMN were not checked to be rejected'),
    async () => {
      const { constraints } = betsyExpectations();
      const byVerdict: Record<Verdict, string[]> = {
        'own reason': [],
        'unsupported kind': [],
        'other reason': [],
        accepted: [],
      };
      for (const constraint of constraints) {
        byVerdict[await verdictOf(constraint)].push(constraint.file);
      }
      const counts = Object.entries(byVerdict).map(([verdict, files]) => `${verdict} ${files.length}`);
      console.log(`${constraints.length} models: ${counts.join(', ')}`);
      expect(constraints).toHaveLength(301);
      expect(byVerdict.accepted).toEqual([]);
      expect(byVerdict['other reason']).toEqual([]);
    },
    60_000,
  );
});

describe('third-party models: features', () => {
  const features = hasBetsy() ? betsyExpectations().features : [];

  it.skipIf(hasBetsy())(missingBetsy('124 feature processes were not compiled'), () => undefined);

  it.each(features)('$file', async ({ file, process, uses }) => {
    const { xml, scripts } = betsyModel(file);
    const { definitions, problems } = await compileXml(xml);
    const unsupported = uses.filter((kind) => !SUPPORTED.has(kind));
    const expected = [
      ...unsupported.flatMap((kind) => REFUSED_KINDS[kind] ?? [kind]),
      ...(REFUSED_FEATURES[file] === undefined ? [] : [REFUSED_FEATURES[file]]),
    ];
    if (expected.length === 0) {
      expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
      expect(definitions.map(({ key }) => key)).toContain(process);
      const keys = new Set(definitions.flatMap(({ nodes }) => nodes.map(({ key }) => key)));
      expect([...scripts.keys()].filter((key) => !keys.has(key))).toEqual([]);
    } else {
      const refused = problems
        .filter(({ code }) => code === 'UNSUPPORTED_ELEMENT')
        .map(({ message }) => message);
      expect(definitions).toEqual([]);
      expect(refused.some((message) => expected.some((kind) => message.includes(kind)))).toBe(true);
    }
  });

  it.skipIf(!hasBetsy())('refuses every unmodified script task', async () => {
    for (const { file } of features.slice(0, 40)) {
      const { definitions, problems } = await compileXml(betsyXml(file));
      expect(definitions, file).toEqual([]);
      expect(
        problems.some(({ message }) => message.includes('scriptTask "')),
        file,
      ).toBe(true);
    }
  });
});
