import { applyDecorators } from '@nestjs/common';
import { Fields, FieldsWith, shown } from '../../platform/openapi/answer-fields.decorators.js';
import { Transform } from 'class-transformer';
import { IsIn, Matches } from 'class-validator';
import { IsPathId } from '../../platform/validation/patterns.decorators.js';
import {
  IsPageLimit,
  IsQueryId,
  IsQueryList,
  IsQueryProcessName,
  IsQueryNumber,
  IsQueryUuid,
  IsQueryName,
  IsInQuery,
  inPages,
  inRange,
} from '../../platform/validation/query.decorators.js';
import { type InstanceStatus, INSTANCE_STATES } from '#engine/tokens';
import { MAX_SEARCH_TERM, MAX_SEARCH_TERMS, MAX_SEARCH_VALUE, SEARCH_TERM_PATTERN } from './search-terms.js';

/** Optional lists of an instance response. */
export const INSTANCE_LISTS = ['children', 'history'] as const;
export type InstanceList = (typeof INSTANCE_LISTS)[number];
export const ALL_LISTS: ReadonlySet<InstanceList> = new Set(INSTANCE_LISTS);

const MAX_LIMIT = 200;
const MAX_SEQ = 2_147_483_647;

/** Maps the alternative spellings of `ONHOLD`. */
const toState = ({ value }: { value: unknown }): unknown =>
  value === 'ON_HOLD' || value === 'ON HOLD' ? 'ONHOLD' : value;

export class InstanceParams extends Fields({
  uuid: IsPathId('`uuid` of the process instance.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10'),
}) {}

export class InstanceTokenParams extends FieldsWith(InstanceParams, {
  tokenUuid: IsPathId('`uuid` of the token.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20'),
}) {}

export class InstancesQueryDto extends Fields({
  applicationId: IsQueryId('Only processes of this application.'),
  processDefinitionName: IsQueryProcessName('Only processes with this name.', 'loan_onboarding'),
  state: shown<InstanceStatus | undefined>(
    applyDecorators(
      IsQueryName(
        'ProcessInstanceState',
        INSTANCE_STATES,
        'Only instances in this state; `ON_HOLD` and `ON HOLD` are accepted for `ONHOLD`.',
        { example: 'STARTED' },
      ),
      Transform(toState),
    ),
  ),
  hasIncidents: IsInQuery<'true' | 'false'>(
    {
      type: Boolean,
      description: 'Only instances with (`true`) or without (`false`) open incidents.',
    },
    IsIn(['true', 'false'], { message: 'must be true or false' }),
  ),
  parentProcessInstanceUuid: IsQueryUuid('Only instances that this instance called directly.'),
  data: IsQueryList(
    {
      pattern: SEARCH_TERM_PATTERN,
      maxLength: MAX_SEARCH_TERM,
      maxItems: MAX_SEARCH_TERMS,
      message: `must be a data path, a colon and a value of 1 to ${MAX_SEARCH_VALUE} characters, such as client.id:4711`,
    },
    {
      description:
        'Only instances with this value in their data: a path that the process declares as `svc:searchable`, a colon and the value. ' +
        'If repeated, all values must match.',
      example: ['client.id:4711'],
    },
  ),
  ...inRange('instances that started'),
  ...inPages('Instances', MAX_LIMIT),
}) {}

const LISTS = INSTANCE_LISTS.join('|');
/** Comma-separated lists; duplicates are allowed. */
const NAMES_OF_LISTS = `^((${LISTS})(,(${LISTS})){0,9})?$`;

export class InstanceQueryDto extends Fields({
  include: IsInQuery<string>(
    {
      type: String,
      pattern: NAMES_OF_LISTS,
      description:
        'Optional lists of the response, separated by a comma: `children`, `history`. An empty value leaves out both; by default both are included.',
      example: 'history',
    },
    Matches(new RegExp(NAMES_OF_LISTS), {
      message: `must be empty or a comma-separated list of: ${INSTANCE_LISTS.join(', ')}`,
    }),
  ),
}) {}

export class HistoryQueryDto extends Fields({
  before: IsQueryNumber(
    { min: 1, max: MAX_SEQ },
    'Only events before this number, newest first. This is also the order without `before` and `after`.',
  ),
  after: IsQueryNumber(
    { min: 0, max: MAX_SEQ },
    'Only events after this number, oldest first. Cannot be combined with `before`.',
  ),
  limit: IsPageLimit('Events', MAX_LIMIT),
}) {}

/** Parses the `include` parameter. @param include undefined for all lists */
export function toInstanceLists(include: string | undefined): ReadonlySet<InstanceList> {
  const requested: ReadonlySet<string> | undefined =
    include === undefined ? undefined : new Set(include.split(','));
  return new Set(INSTANCE_LISTS.filter((list) => requested?.has(list) ?? true));
}
