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

/** Maximum ratio of the time per byte to that of an ordinary file: time must not grow faster than the bounded size. */
const FACTOR = 4;
/** Microseconds below which a measurement is dominated by compilation and garbage collection. */
const NOISE = 100_000;
const TRIES = 4;
const SIZES = [30, 1_000, 4_000, 12_000];

type Work = () => unknown;

const many = (count: number, one: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => one(index)).join('');
const list = <Item>(count: number, one: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => one(index));

/** Returns the microseconds of processor time of some work. */
async function timeOf(work: Work): Promise<number> {
  const start = process.cpuUsage();
  await work();
  const { user, system: kernel } = process.cpuUsage(start);
  return user + kernel;
}

/** Returns the microseconds per byte of an ordinary file, on this machine at its current load. */
async function unitOf(work: Work, bytes: number): Promise<number> {
  const times: number[] = [];
  // Skip the first rounds, which V8 has not compiled yet.
  for (let round = 0; round < 11; round += 1) {
    times.push(await timeOf(work));
  }
  return (times.slice(4).toSorted((one, other) => one - other)[3] ?? 0) / bytes;
}

/**
 * Checks the time of some work against its number of bytes. Takes the best of several tries, since other load evicts
 * caches.
 */
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
/** Elements with which a BPMN file can be filled. */
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
/** Checks a package like a delivery: its text, structure and semantics. */
async function checkPackage(text: string): Promise<void> {
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
/** Members with which a package can be filled. */
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

describe('processing time is proportional to the size', () => {
  const unit = { bpmn: 0, package: 0 };

  beforeAll(async () => {
    const xml = bpmn(ORDINARY + many(1_000, (index) => `<bpmn:task id="t${index}"/>`));
    unit.bpmn = await unitOf(() => compileXml(xml), xml.length);
    const text = JSON.stringify(packageDocument(FILLED['workflows']?.(200)));
    unit.package = await unitOf(() => checkPackage(text), text.length);
  });

  it('of a BPMN file', async () => {
    const property = fc.asyncProperty(file, ({ name, xml }) =>
      expectCharged(name, () => compileXml(xml), xml.length, unit.bpmn),
    );
    await fc.assert(property, { numRuns: 40, seed: 7, endOnFailure: true });
  });

  it('of a package', async () => {
    const property = fc.asyncProperty(delivery, ({ name, text }) =>
      expectCharged(name, () => checkPackage(text), text.length, unit.package),
    );
    await fc.assert(property, { numRuns: 40, seed: 7, endOnFailure: true });
  });
});
