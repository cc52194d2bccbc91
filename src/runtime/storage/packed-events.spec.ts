import * as fc from 'fast-check';
import { v4, v7 } from 'uuid';
import { describe, expect, it } from 'vitest';
import { packEvents, unpackEvents, type TrailEvent } from './packed-events.js';

const TOKEN = v7();
const ACTION = '3f0c0a52-6f7e-4a9b-9d0c-4b1f0a6d1a01';
/** Of a start with one user task, as the engine makes them. */
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

/** Through JSON, as the database keeps it. */
function again(given: readonly TrailEvent[]): TrailEvent[] {
  return unpackEvents(JSON.parse(JSON.stringify(packEvents(given))) as unknown[], given.at(-1)?.seq ?? 0);
}

describe('events in one row', () => {
  it('are few bytes, and stay readable for every later release', () => {
    // What rows hold already: never change it.
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
    ['a member more', { from: 'STARTED', to: 'FAILED', errorCode: 'late' }],
    ['a word that is not known', { from: 'STARTED', to: 'ASLEEP' }],
    ['a number for a word', { from: 1, to: 2 }],
    ['none', null],
    ['nothing in it', {}],
  ])('keep data as they are: %s', (_what, data) => {
    const given = events(['INSTANCE_STATE', null, null, data], ['NODE_ENTERED', 4, 2, { visit: 1 }]);
    const unpacked = again(given);
    expect(unpacked).toEqual(given);
    expect(JSON.stringify(unpacked)).toBe(JSON.stringify(given));
  });

  it.each([
    ACTION.toUpperCase(),
    'save',
    `${ACTION}x`,
    '',
    Buffer.from(ACTION).toString('base64url').slice(0, 22),
  ])('keep an id as it is: %s', (id) => {
    const given = events(['ACTION_EXECUTED', 7, 1, { actionSvcUuid: id, name: 'save', runs: 2 }]);
    expect(again(given)).toEqual(given);
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
        expect(again(trail)).toEqual(trail);
      }),
    );
  });
});
