import type { ProcessInstanceEntity } from './process-instance.entity.js';

/** An instance as stored. */
export type InstanceRow = Omit<ProcessInstanceEntity, 'parentKey'>;

/** An instance without its content. */
export type InstanceHead = Omit<InstanceRow, 'content'>;

/** Where a called process came from. */
export interface ParentLink {
  appId: string;
  id: number;
  uuid: string;
  /** The instance at the top of the calls. */
  rootId: number;
  /** Token, visit and place among the calls of that visit. */
  tokenId: number;
  visit: number;
  index: number;
  /** Number of the parent's last event when it asked for the call. */
  seq: number;
  /** Whether a token of the parent waits for the end. */
  waits: boolean;
}

type ParentColumns = Pick<
  InstanceRow,
  | 'parentAppId'
  | 'parentId'
  | 'parentUuid'
  | 'rootId'
  | 'parentTokenId'
  | 'parentVisit'
  | 'parentIndex'
  | 'parentSeq'
  | 'parentWaits'
>;

const NO_PARENT: ParentColumns = {
  parentAppId: null,
  parentId: null,
  parentUuid: null,
  rootId: null,
  parentTokenId: null,
  parentVisit: null,
  parentIndex: null,
  parentSeq: null,
  parentWaits: false,
};

/** The columns of an instance that tell where it came from. */
export function toParentColumns(parent: ParentLink | null): ParentColumns {
  return parent === null
    ? NO_PARENT
    : {
        parentAppId: parent.appId,
        parentId: parent.id,
        parentUuid: parent.uuid,
        rootId: parent.rootId,
        parentTokenId: parent.tokenId,
        parentVisit: parent.visit,
        parentIndex: parent.index,
        parentSeq: parent.seq,
        parentWaits: parent.waits,
      };
}

/** Where an instance came from; null when nobody called it. */
export function toParentLink(row: ParentColumns): ParentLink | null {
  // All of them are null, or none.
  return row.parentId === null
    ? null
    : ({
        appId: row.parentAppId,
        id: row.parentId,
        uuid: row.parentUuid,
        rootId: row.rootId ?? row.parentId,
        tokenId: row.parentTokenId,
        visit: row.parentVisit,
        index: row.parentIndex,
        seq: row.parentSeq,
        waits: row.parentWaits,
      } as ParentLink);
}

/** One child for each index of a visit of a waiting call activity; others need no key. */
export function parentKey({
  parentWaits,
  parentTokenId,
  parentVisit,
  parentIndex,
  parentSeq,
}: ParentColumns): string | null {
  return parentWaits ? `${parentTokenId}:${parentVisit}:${parentIndex}:${parentSeq}` : null;
}
