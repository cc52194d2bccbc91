import { Matches } from 'class-validator';
import { Answer, Shows, NEXT_PAGE_AFTER, Fields } from '../../platform/openapi/answer-fields.decorators.js';
import type { DomainError } from '../../platform/errors/domain.error.js';
import { toErrorBody } from '../../platform/http/all-exceptions.filter.js';
import { PROCESS_NAME } from '../../platform/validation/patterns.decorators.js';
import { IsPageLimit, IsInQuery } from '../../platform/validation/query.decorators.js';
import type { BuildDefinition } from '../../delivery/builds/model/builds.types.js';
import { laneOf } from '../definitions/runnable-definitions.service.js';
import type { StartEvent } from './start-choice.js';
import { INPUT_SCHEMA_EXAMPLE } from './start.examples.js';

const MAX_LIMIT = 200;

export class ProcessesQueryDto extends Fields({
  after: IsInQuery<string>(
    {
      type: String,
      pattern: PROCESS_NAME.pattern.source,
      description: 'The `next` of the page before: only processes behind this name.',
    },
    Matches(PROCESS_NAME.pattern, { message: 'must be the next of a page' }),
  ),
  limit: IsPageLimit('Processes', MAX_LIMIT),
}) {}

/** Why a start is rejected now. */
export class StartRefusalDto extends Answer({
  status: Shows.number('Status that a start is answered with.', 403),
  message: Shows.value(
    'Its `message`: of a missing permission, of a lane, or of a process that only messages and timers start.',
    'Insufficient permissions to act in this lane of the process',
  ),
}) {}

export class ProcessStartEventDto extends Answer({
  startCondition: Shows.textOrNull(
    'Member `startCondition` of the body that picks it; needed where there are several start events.',
    null,
  ),
  bpmnElementId: Shows.value('Id of the element in the BPMN file.', 'start'),
  name: Shows.textOrNull('Name of the start event.', 'Client signs up'),
  lane: Shows.textOrNull('Lane that it stands in; null outside of lanes.', null),
  startPermissions: Shows.textsIfAsked(
    'Permissions of which a start here needs one (`svc:start`); absent where `PROCESS_START_PERMISSION` decides.',
    ['loan-clerk'],
  ),
  mayStart: Shows.flag('Whether a start here by this caller gets as far as its body.', true),
}) {}

/** A process of a build with everything that a start needs. */
export class StartableProcessDto extends Answer({
  processDefinitionName: Shows.value(
    'Name of the process: `processDefinitionName` of the start.',
    'loan_onboarding',
  ),
  processDefinitionSvcUuid: Shows.value(
    'Process definition; the same in every build.',
    'c5cada5c-7901-5807-a7d4-06e549c30dd1',
  ),
  starts: Shows.list(
    () => ProcessStartEventDto,
    'Start events that a request can mean; none where only messages and timers start the process.',
  ),
  inputSchema: Shows.objectOrNull(
    'JSON Schema (2020-12) of the body of a start, without `startCondition`; null for any object.',
    INPUT_SCHEMA_EXAMPLE,
  ),
  searchable: Shows.textsIfAsked(
    'Paths of data by whose values its instances are found (`svc:searchable`); absent where it declares none.',
    ['client.id'],
  ),
  mayStart: Shows.flag('Whether a start by this caller gets as far as its body.', true),
  refusal: Shows.partOrNull(
    () => StartRefusalDto,
    'What a start by this caller is answered with now; null where `mayStart` is true.',
  ),
}) {}

export class ProcessPageDto extends Answer({
  processes: Shows.list(() => StartableProcessDto, 'By name.'),
  next: Shows.textOrNull(NEXT_PAGE_AFTER, null),
}) {}

/**
 * Returns a process as one caller can start it.
 * @param refusal error of a start before its body is read; null if there is none
 */
export function toStartableProcess(
  definition: BuildDefinition,
  starts: readonly StartEvent[],
  refusal: DomainError | null,
): StartableProcessDto {
  const mayStart = refusal === null;
  const body = refusal && toErrorBody(refusal);
  return {
    processDefinitionName: definition.name,
    processDefinitionSvcUuid: definition.svcUuid,
    starts: starts.map((start) => toStartEvent(definition, start, mayStart)),
    inputSchema: definition.graph.inputSchema,
    ...(definition.graph.searchable && { searchable: definition.graph.searchable }),
    mayStart,
    refusal: body && { status: body.status, message: body.message },
  };
}

function toStartEvent(
  build: BuildDefinition,
  { node, refusal }: StartEvent,
  mayStart: boolean,
): ProcessStartEventDto {
  const { startCondition, startPermissions, key, name } = node;
  const lane = laneOf({ build }, node)?.name ?? null;
  return {
    startCondition,
    bpmnElementId: key,
    name,
    lane,
    ...(startPermissions && { startPermissions }),
    mayStart: mayStart && refusal === null,
  };
}
