import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { countValues, type JsonObject } from '#engine/json';
import { PackagesService } from '../../../../src/delivery/packages/packages.service.js';
import { bpmn, compileXml, flows, nodes } from '../../../../packages/engine/test/definitions/compile.js';
import {
  node,
  packageDocument,
  settings,
  system,
  workflow,
} from '../../../../test/unit/packages/package-fixture.js';

/** So many times the time of a byte of an ordinary file one byte of any file may take: nothing grows faster than what is bounded. */
const FACTOR = 4;
/** Below it, V8 compiling JavaScript and collecting garbage is what is measured. In microseconds. */
const NOISE = 100_000;
const TRIES = 4;
const SIZES = [30, 1_000, 4_000, 12_000];

type Work = () => unknown;

const many = (count: number, one: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => one(index)).join('');
const list = <Item>(count: number, one: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => one(index));

/** Microseconds of processor time. */
async function timeOf(work: Work): Promise<number> {
  const start = process.cpuUsage();
  await work();
  const { user, system: kernel } = process.cpuUsage(start);
  return user + kernel;
}

/** Microseconds of one byte where all goes well, on this machine as busy as it is. */
async function unitOf(work: Work, bytes: number): Promise<number> {
  const times: number[] = [];
  // The first ones are slow: V8 has not compiled them yet.
  for (let round = 0; round < 11; round += 1) {
    times.push(await timeOf(work));
  }
  return (times.slice(4).toSorted((one, other) => one - other)[3] ?? 0) / bytes;
}

/** Holds the time of some work against that of its bytes; the best of several, since other work takes the caches away. */
async function expectCharged(name: string, work: Work, bytes: number, unit: number): Promise<void> {
  let time = 0;
  for (let round = 0; round < TRIES; round += 1) {
    time = await timeOf(work);
    if (time <= Math.max(NOISE, bytes * unit * FACTOR)) {
      return;
    }
  }
  expect.fail(`${name.slice(0, 200)} took ${time} us for ${bytes} bytes of ${unit.toFixed(4)} us`);
}

const ORDINARY = nodes('startEvent:s task:a endEvent:z') + flows('s>a a>z');
/** What a BPMN file can be full of. */
const PARTS: Record<string, (index: number) => string> = {
  tasks: (index) => `<bpmn:task id="t${index}"/>`,
  unknown: (index) => `<bpmn:unknown id="u${index}"/>`,
  foreign: (index) => `<x:y xmlns:x="urn:${index}"/>`,
  annotations: (index) => `<bpmn:textAnnotation id="x${index}" textFormat="a > b"/>`,
  flowsToNothing: (index) => `<bpmn:sequenceFlow id="f${index}" sourceRef="q${index}" targetRef="z"/>`,
  flowsOfOne: (index) => `<bpmn:sequenceFlow id="f${index}" sourceRef="a" targetRef="z"/>`,
  sameIds: () => '<bpmn:task id="same"/>',
  texts: () => 'text > text\n',
  attributes: (index) => `<bpmn:task id="t${index}" a="1" b="2" c="3"/>`,
  comments: () => '<!-- a -->',
  lineBreaks: () => '\r\n\n',
};
const file = fc
  .array(fc.tuple(fc.constantFrom(...Object.keys(PARTS)), fc.constantFrom(...SIZES)), {
    minLength: 1,
    maxLength: 2,
  })
  .map((parts) => ({
    name: parts.map((part) => part.join(' x ')).join(', '),
    xml: bpmn(ORDINARY + parts.map(([kind, count]) => many(count, PARTS[kind] ?? String)).join('')),
  }));

const env = settings();
const packages = new PackagesService(env);
/** As a delivery does: its text, its shape, and what it means. */
async function checked(text: string): Promise<void> {
  countValues(Buffer.from(text), 1_000_000);
  const { package: pkg, readable } = packages.parse(JSON.parse(text));
  await packages.checkParts(readable, 'loans');
  if (pkg !== null) {
    await packages.check(pkg, { appId: 'loans', libraries: [] });
  }
}
const schema = (count: number): JsonObject => ({
  type: 'object',
  properties: Object.fromEntries(list(count, (index) => [`p${index}`, { type: 'string' }])),
});
/** What a package can be full of. */
const FILLED: Record<string, (count: number) => Record<string, unknown>> = {
  systems: (count) => ({ systems: list(count, (at) => system({ resourceName: `s${at}`, name: `s${at}` })) }),
  equalSystems: (count) => ({ systems: list(count, () => system()) }),
  wrongSystems: (count) => ({ systems: list(count, () => ({})) }),
  emptyLists: (count) => ({ systems: list(count, () => []) }),
  unknownMembers: (count) => Object.fromEntries(list(count, (at) => [`m${at}`, at])),
  workflows: (count) => ({ workflows: list(count, (at) => workflow(undefined, { name: `w${at}` })) }),
  chains: (count) => ({
    workflows: [
      workflow([
        node('start', 'START', ['n0']),
        ...list(count, (at) => node(`n${at}`, 'DATA_OPERATION', [at + 1 < count ? `n${at + 1}` : 'end'])),
      ]),
    ],
  }),
  sequences: (count) => ({
    workflows: [
      workflow([
        node(
          'start',
          'START',
          list(count, () => 'end'),
        ),
      ]),
    ],
  }),
  schemas: (count) => ({ workflows: [workflow(undefined, { inputSchema: schema(count) })] }),
};
const delivery = fc
  .tuple(fc.constantFrom(...Object.keys(FILLED)), fc.constantFrom(...SIZES))
  .map(([kind, count]) => ({
    name: `${kind} x ${count}`,
    text: JSON.stringify(packageDocument(FILLED[kind]?.(count))),
  }));

describe('a file takes no more time than its bytes', () => {
  const unit = { bpmn: 0, package: 0 };

  beforeAll(async () => {
    const xml = bpmn(ORDINARY + many(1_000, (index) => `<bpmn:task id="t${index}"/>`));
    unit.bpmn = await unitOf(() => compileXml(xml), xml.length);
    const text = JSON.stringify(packageDocument(FILLED['workflows']?.(200)));
    unit.package = await unitOf(() => checked(text), text.length);
  });

  it('of BPMN', async () => {
    const property = fc.asyncProperty(file, ({ name, xml }) =>
      expectCharged(name, () => compileXml(xml), xml.length, unit.bpmn),
    );
    await fc.assert(property, { numRuns: 40, seed: 7, endOnFailure: true });
  });

  it('of a package', async () => {
    const property = fc.asyncProperty(delivery, ({ name, text }) =>
      expectCharged(name, () => checked(text), text.length, unit.package),
    );
    await fc.assert(property, { numRuns: 40, seed: 7, endOnFailure: true });
  });
});
