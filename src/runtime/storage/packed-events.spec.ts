import * as fc from 'fast-check';
import { v4, v7 } from 'uuid';
import { describe, expect, it } from 'vitest';
import { packEvents, unpackEvents, type TrailEvent } from './packed-events.js';

const TOKEN = v7();
const ACTION = '3f0c0a52-6f7e-4a9b-9d0c-4b1f0a6d1a01';
/** Engine events of a start with one user task. */
const START = events(
  ['INSTANCE_STATE', null, null, { from: 'CREATED', to: 'STARTED' }],
  ['TOKEN_CREATED', 70_001, 0, { uuid: TOKEN, parentId: null, state: 'ACTIVE' }],
  ['NODE_ENTERED', 70_001, 0, { visit: 1 }],
  ['NODE_LEFT', 70_001, 0, { status: 'EXECUTED_COMPLETE' }],
  ['ACTION_EXECUTED', 70_001, 1, { actionSvcUuid: ACTION, name: 'save', runs: 1 }],
);

function events(...given: [string, number | null, number | null, TrailEvent['data']][]): TrailEvent[] {
  return given.map(([kind, tokenId, node, data], index) => ({
    seq: index + 1,
    kind: kind as TrailEvent['kind'],
    tokenId,
    node,
    data,
  }));
}

/** Packs and unpacks events through JSON, as the database stores them. */
function roundTrip(given: readonly TrailEvent[]): TrailEvent[] {
  return unpackEvents(JSON.parse(JSON.stringify(packEvents(given))) as unknown[], given.at(-1)?.seq ?? 0);
}

describe('packed events', () => {
  it('are small and stay readable for later releases', () => {
    // Format of existing rows; never change it.
    const stored = [
      0,
      null,
      null,
      0,
      1,
      1,
      70_001,
      0,
      '',
      null,
      9,
      3,
      0,
      0,
      1,
      4,
      0,
      0,
      14,
      5,
      0,
      1,
      '',
      'save',
      1,
    ];
    const packed = packEvents(START);
    expect(packed.map((value) => (typeof value === 'string' && value.length === 22 ? '' : value))).toEqual(
      stored,
    );
    expect(JSON.stringify(packed).length).toBeLessThan(JSON.stringify(START).length / 4);
    expect(unpackEvents(packed, 5)).toEqual(START);
  });

  it.each([
    ['another order of members', { to: 'STARTED', from: 'CREATED' }],
    ['an additional member', { from: 'STARTED', to: 'FAILED', errorCode: 'late' }],
    ['an unknown word', { from: 'STARTED', to: 'ASLEEP' }],
    ['numbers instead of words', { from: 1, to: 2 }],
    ['null', null],
    ['an empty object', {}],
  ])('keep data unchanged: %s', (_what, data) => {
    const given = events(['INSTANCE_STATE', null, null, data], ['NODE_ENTERED', 4, 2, { visit: 1 }]);
    const unpacked = roundTrip(given);
    expect(unpacked).toEqual(given);
    expect(JSON.stringify(unpacked)).toBe(JSON.stringify(given));
  });

  it.each([
    ACTION.toUpperCase(),
    'save',
    `${ACTION}x`,
    '',
    Buffer.from(ACTION).toString('base64url').slice(0, 22),
  ])('keep an id unchanged: %s', (id) => {
    const given = events(['ACTION_EXECUTED', 7, 1, { actionSvcUuid: id, name: 'save', runs: 2 }]);
    expect(roundTrip(given)).toEqual(given);
  });

  it('keep any tokens, nodes and data', () => {
    const kind = fc.constantFrom(
      'TOKEN_CREATED',
      'TOKEN_STATE',
      'NODE_ENTERED',
      'CHILD_ENDED',
      'BACK',
      'RETRY',
    );
    const word = fc.constantFrom('ACTIVE', 'FINISHED', 'ARRIVED', 'unknown');
    const id = fc.option(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }));
    const data = fc.option(
      fc.oneof(
        fc.record({ uuid: fc.oneof(fc.uuid(), fc.constant(v4())), parentId: id, state: word }),
        fc.record({ from: word, to: word }),
        fc.record({ visit: fc.integer() }),
        fc.record({ index: fc.integer(), state: word }),
        fc.dictionary(fc.string(), fc.jsonValue()),
      ),
    );
    const one = fc.tuple(kind, id, fc.option(fc.nat(10_000)), data);
    fc.assert(
      fc.property(fc.array(one, { minLength: 1, maxLength: 20 }), (given) => {
        const trail = JSON.parse(JSON.stringify(events(...given))) as TrailEvent[];
        expect(roundTrip(trail)).toEqual(trail);
      }),
    );
  });
});
