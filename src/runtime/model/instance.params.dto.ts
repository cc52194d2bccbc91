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

/** Lists of an instance that not every reader needs. */
export const INSTANCE_LISTS = ['children', 'history'] as const;
export type InstanceList = (typeof INSTANCE_LISTS)[number];
export const ALL_LISTS: ReadonlySet<InstanceList> = new Set(INSTANCE_LISTS);

const MAX_LIMIT = 200;
const MAX_SEQ = 2_147_483_647;

/** The ways in which `ONHOLD` is written. */
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
  processDefinitionName: IsQueryProcessName('Only processes of this name.', 'loan_onboarding'),
  state: shown<InstanceStatus | undefined>(
    applyDecorators(
      IsQueryName(
        'ProcessInstanceState',
        INSTANCE_STATES,
        'Only instances in this state; `ON_HOLD` and `ON HOLD` are other ways to write `ONHOLD`.',
        { example: 'STARTED' },
      ),
      Transform(toState),
    ),
  ),
  hasIncidents: IsInQuery<'true' | 'false'>(
    {
      type: Boolean,
      description: 'Only instances with open incidents (`true`), or without any (`false`).',
    },
    IsIn(['true', 'false'], { message: 'must be true or false' }),
  ),
  parentProcessInstanceUuid: IsQueryUuid('Only processes that this instance started itself.'),
  data: IsQueryList(
    {
      pattern: SEARCH_TERM_PATTERN,
      maxLength: MAX_SEARCH_TERM,
      most: MAX_SEARCH_TERMS,
      message: `must be a path of data, a colon and 1 to ${MAX_SEARCH_VALUE} characters, such as client.id:4711`,
    },
    {
      description:
        'Only instances with this value in their data: a path that their process declares as `svc:searchable`, a colon, and the value. ' +
        'Can be given several times; then all of them must hold.',
      example: ['client.id:4711'],
    },
  ),
  ...inRange('instances that started'),
  ...inPages('Instances', MAX_LIMIT),
}) {}

const LISTS = INSTANCE_LISTS.join('|');
/** Each of them once or, which is no mistake, more often. */
const NAMES_OF_LISTS = `^((${LISTS})(,(${LISTS})){0,9})?$`;

export class InstanceQueryDto extends Fields({
  include: IsInQuery<string>(
    {
      type: String,
      pattern: NAMES_OF_LISTS,
      description:
        'Which lists the answer has beside tokens, data and incidents: `children`, `history`, both with a comma, or nothing. Both without it.',
      example: 'history',
    },
    Matches(new RegExp(NAMES_OF_LISTS), {
      message: `must be empty or some of ${INSTANCE_LISTS.join(', ')}, with commas`,
    }),
  ),
}) {}

export class HistoryQueryDto extends Fields({
  before: IsQueryNumber(
    { min: 1, max: MAX_SEQ },
    'Only events before this number, newest first; that is also the order without `after`.',
  ),
  after: IsQueryNumber(
    { min: 0, max: MAX_SEQ },
    'Only events after this number, oldest first. Not together with `before`.',
  ),
  limit: IsPageLimit('Events', MAX_LIMIT),
}) {}

/** @param include undefined where a caller does not say */
export function toInstanceLists(include: string | undefined): ReadonlySet<InstanceList> {
  const named: ReadonlySet<string> | undefined =
    include === undefined ? undefined : new Set(include.split(','));
  return new Set(INSTANCE_LISTS.filter((list) => named?.has(list) ?? true));
}
