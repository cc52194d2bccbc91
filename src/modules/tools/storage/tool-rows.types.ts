import type { ToolEntity } from './tool.entity.js';

/** A tool without the relation to its system. */
export type ToolRow = Omit<ToolEntity, 'system'>;

/** What a plan needs to know of a stored tool: not its definition, only the fingerprint. */
export type StoredTool = Pick<
  ToolRow,
  | 'id'
  | 'name'
  | 'definitionHash'
  | 'enabled'
  | 'decidedBy'
  | 'decidedAt'
  | 'present'
  | 'position'
  | 'createdAt'
  | 'modifiedAt'
>;
