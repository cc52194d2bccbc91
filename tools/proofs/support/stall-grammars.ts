import * as fc from 'fast-check';
import { flows, node, processFile } from '../../../test/support/runtime/process-files.js';
import { listOf, processWithCondition, processWithSchema, starts, type Attack } from './stall-attacks.js';

const NAMES = fc.constantFrom('a', 'b', 'items', 'n', '0');
const PATTERNS = fc.constantFrom('^(a|aa)+$', '(\\pL?){99}', '(?i)[\\pL]{50}', '.*.*.*x', '[^a]{0,200}$');

/** Schemas that are expensive for each part of a value. */
const SCHEMAS: fc.Arbitrary<unknown> = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', maxDepth: 4 },
    fc.record({ type: fc.constantFrom('string', 'number', 'object', 'array') }),
    fc.record({ pattern: PATTERNS, minLength: fc.nat(9) }),
    fc.record({ uniqueItems: fc.constant(true), items: tie('schema') }),
    fc.record({ items: tie('schema'), contains: tie('schema') }),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 8 }) }),
    fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 8 }) }),
    fc.record({
      properties: fc.dictionary(NAMES, tie('schema')),
      additionalProperties: tie('schema'),
      required: fc.array(NAMES, { maxLength: 5 }).map((names) => [...new Set(names)]),
    }),
  ),
})).schema;

const MEMBERS = fc.constantFrom(
  '[]',
  '{}',
  '1',
  '"aaaaaaaaaaaaaaaaaaaaaaaa"',
  '{"a":[1,2]}',
  '[[[[]]]]',
  'null',
  '1e300',
  '"\\u0000\\"\\\\"',
);
/** Costly JSON: very many values, very many names, very deep nesting, very long texts. */
export const VALUES: fc.Arbitrary<string> = fc.oneof(
  MEMBERS.map((member) => listOf(member)),
  fc.tuple(MEMBERS, fc.nat(400)).map(([member, count]) => listOf(member, 100 * count + 100)),
  fc.nat(5_000).map((count) => `[${repeated(count, (index) => `{"k${index}":${index}}`)}]`),
  fc.nat(25_000).map((count) => `{${repeated(count, (index) => `"k${index}":[]`)}}`),
  fc.nat(60).map((depth) => `${'['.repeat(depth)}${']'.repeat(depth)}`),
  fc.nat(250_000).map((length) => `["${'x'.repeat(length)}"]`),
  fc.nat(40_000).map((length) => `["${'\\ud83d\\ude00'.repeat(length / 3)}"]`),
);
const BODIES = VALUES.map((value) => `{"items":${value}}`);

const CONDITIONS = fc
  .tuple(
    fc.constantFrom('all', 'exists', 'exists_one'),
    fc.constantFrom('string(x)', 'x == items[0]', 'items.map(y, y)', `'aaaa'`),
    PATTERNS,
  )
  .map(
    ([macro, value, pattern]) =>
      `items.${macro}(x, string(${value}).matches('${pattern.replaceAll('\\', '\\\\')}'))`,
  );

/** Elements that are valid in processes, invalid, or valid only elsewhere. */
const TAGS = fc.constantFrom(
  'userTask',
  'exclusiveGateway',
  'parallelGateway',
  'boundaryEvent',
  'subProcess',
  'callActivity',
  'sequenceFlow',
  'extensionElements',
  'multiInstanceLoopCharacteristics',
  'definitions',
  'unknown',
);
/** Files of up to a megabyte: very many elements, very deep nesting, very many flows between few nodes. */
const FILES: fc.Arbitrary<string> = fc.oneof(
  fc
    .tuple(TAGS, fc.nat(15_000))
    .map(([tag, count]) => withElements(repeated(count, (id) => element(tag, id), ''))),
  fc
    .tuple(TAGS, fc.nat(5_000))
    .map(([tag, depth]) => withElements(`${`<bpmn:${tag}>`.repeat(depth)}${`</bpmn:${tag}>`.repeat(depth)}`)),
  fc
    .nat(5_000)
    .map((count) =>
      withElements(
        repeated(count, (id) => `<bpmn:sequenceFlow id="f${id}" sourceRef="start" targetRef="end"/>`, ''),
      ),
    ),
  fc
    .tuple(fc.nat(900), fc.nat(3))
    .map(([count, kind]) =>
      withElements(
        repeated(
          count,
          (id) =>
            `${node(['userTask', 'parallelGateway', 'exclusiveGateway', 'subProcess'][kind] ?? 'task', `n${id}`)}${flows(`start>n${id} n${id}>end`)}`,
          '',
        ),
      ),
    ),
);

function withElements(elements: string): string {
  return processFile('p', `${node('startEvent', 'start')}${node('endEvent', 'end')}${elements}`);
}

function element(tag: string, id: number): string {
  return `<bpmn:${tag} id="e${id}" name="x" sourceRef="e${id - 1}" attachedToRef="e${id + 1}"/>`;
}

function repeated(count: number, make: (index: number) => string, separator = ','): string {
  return Array.from({ length: count }, (_, index) => make(index)).join(separator);
}

/**
 * Returns an attack that publishes a process and starts it if the service accepts it. The attack publishes it again, since
 * a file is hostile mainly during delivery.
 */
const processOf = (name: string, files: fc.Arbitrary<string>, bodies = BODIES): fc.Arbitrary<Attack> =>
  fc.tuple(files, bodies).map(([bpmn, body]) => ({
    name,
    prepare: async (attacker) => {
      const start = starts(attacker, await attacker.publish('p', bpmn), body, 3);
      return () => Promise.all([start(), attacker.publish('p', bpmn)]);
    },
  }));

export const PROCESSES: fc.Arbitrary<Attack> = fc.oneof(
  processOf(
    'a schema',
    SCHEMAS.map((schema) => processWithSchema('p', { type: 'object', properties: { items: schema } })),
  ),
  processOf(
    'an expression',
    CONDITIONS.map((condition) => processWithCondition('p', condition)),
  ),
  processOf('a BPMN file', FILES, fc.constant('{}')),
);
