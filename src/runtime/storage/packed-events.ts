import type { JsonObject } from '#engine/json';
import type { EngineEvent } from '#engine/tokens';
import type { ProcessEventKind } from '../model/process-runtime.types.js';

/** Engine or incident event with its number in the audit trail. */
export type TrailEvent = Omit<EngineEvent, 'kind'> & { kind: ProcessEventKind };

/** Maximum number of events per row. Range reads look this far beyond the end of the range. */
export const MAX_EVENTS = 64;

/** Words stored by index. Only append; never change or reorder entries. */
const WORDS: readonly unknown[] = [
  'CREATED',
  'STARTED',
  'FINISHED',
  'FAILED',
  'EXPIRED',
  'TERMINATED',
  'DISMISSED',
  'ABORTED',
  'ONHOLD',
  'ACTIVE',
  'INACTIVE',
  'ON_HOLD',
  'ARRIVED',
  'EXECUTING',
  'EXECUTED_COMPLETE',
  'EXECUTED_PARTIAL',
  'WAITING_MESSAGE_EVENT',
  'WAITING_TIMER_EVENT',
  'WAITING_MESSAGE',
  'MESSAGE_RECEIVED',
  'MESSAGE_RESPONSE_TIMED_OUT',
];

const PLACES = new Map(WORDS.map((word, place) => [word, place]));
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const PARTS_OF_A_UUID = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;

/** Packs one member; `pack` returns undefined for a value it cannot represent. */
interface MemberForm {
  pack(value: unknown): unknown;
  unpack(packed: unknown): unknown;
}

const plain: MemberForm = { pack: (value) => value, unpack: (packed) => packed };
const word: MemberForm = {
  pack: (value) => PLACES.get(value),
  unpack: (place) => WORDS[place as number],
};
const uuid: MemberForm = {
  pack: (value) =>
    typeof value === 'string' && UUID.test(value)
      ? Buffer.from(value.replaceAll('-', ''), 'hex').toString('base64url')
      : undefined,
  unpack: (packed) =>
    Buffer.from(packed as string, 'base64url')
      .toString('hex')
      .replace(PARTS_OF_A_UUID, '$1-$2-$3-$4-$5'),
};

interface Shape {
  readonly kind: ProcessEventKind;
  readonly members: readonly (readonly [name: string, form: MemberForm])[];
}

const shape = (kind: ProcessEventKind, members: Readonly<Record<string, MemberForm>>): Shape => ({
  kind,
  members: Object.entries(members),
});

/** Shapes stored by index. Only append; never change or reorder entries. */
const SHAPES: readonly Shape[] = [
  shape('INSTANCE_STATE', { from: word, to: word }),
  shape('TOKEN_CREATED', { uuid, parentId: plain, state: word }),
  shape('TOKEN_STATE', { from: word, to: word }),
  shape('NODE_ENTERED', { visit: plain }),
  shape('NODE_LEFT', { status: word }),
  shape('ACTION_EXECUTED', { actionSvcUuid: uuid, name: plain, runs: plain }),
  shape('CHILD_STARTED', { process: plain, index: plain }),
  shape('CHILD_ENDED', { index: plain, state: word }),
];
const SHAPE_OF = new Map(SHAPES.map(({ kind }, place) => [kind, place]));

/**
 * Packs consecutive events into one flat list: index of the shape, difference of the token id from the previous one, node,
 * and members of the data. An event without a shape is stored as kind, token, node and data.
 */
export function packEvents(events: readonly TrailEvent[]): unknown[] {
  const packed: unknown[] = [];
  let last = 0;
  for (const { kind, tokenId, node, data } of events) {
    const place = SHAPE_OF.get(kind);
    const members = place === undefined ? undefined : membersOf(SHAPES[place], data);
    const token = tokenId === null ? null : tokenId - last;
    if (members === undefined) {
      packed.push(kind, token, node, data);
    } else {
      packed.push(place, token, node, ...members);
    }
    last = tokenId ?? last;
  }
  return packed;
}

/** Unpacks the events of a row. @param seq number of the last event */
export function unpackEvents(packed: readonly unknown[], seq: number): TrailEvent[] {
  const events: Omit<TrailEvent, 'seq'>[] = [];
  let last = 0;
  for (let at = 0; at < packed.length;) {
    const [kind, token, node] = packed.slice(at, at + 3) as [number | string, number | null, number | null];
    const known = typeof kind === 'number' ? SHAPES[kind] : undefined;
    const count = known?.members.length ?? 1;
    const members = packed.slice(at + 3, at + 3 + count);
    const tokenId = token === null ? null : last + token;
    events.push({
      kind: known?.kind ?? (kind as ProcessEventKind),
      tokenId,
      node,
      data:
        known === undefined
          ? (members[0] as JsonObject | null)
          : Object.fromEntries(known.members.map(([name, form], at) => [name, form.unpack(members[at])])),
    });
    last = tokenId ?? last;
    at += 3 + count;
  }
  const first = seq - events.length + 1;
  return events.map((event, index) => ({ seq: first + index, ...event }));
}

/** Packs data by a shape; returns undefined if the data has another shape. */
function membersOf(known: Shape | undefined, data: JsonObject | null): unknown[] | undefined {
  const names = data === null ? [] : Object.keys(data);
  if (known === undefined || data === null || names.length !== known.members.length) {
    return undefined;
  }
  const members: unknown[] = [];
  for (const [index, [name, form]] of known.members.entries()) {
    const member = names[index] === name ? form.pack(data[name]) : undefined;
    if (member === undefined) {
      return undefined;
    }
    members.push(member);
  }
  return members;
}
