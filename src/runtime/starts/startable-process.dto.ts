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
      description: 'Value of `next` from the previous page: only processes with a later name.',
    },
    Matches(PROCESS_NAME.pattern, { message: 'must be the value of next from a page' }),
  ),
  limit: IsPageLimit('Processes', MAX_LIMIT),
}) {}

/** Why a start is rejected now. */
export class StartRefusalDto extends Answer({
  status: Shows.number('HTTP status of the response to a start.', 403),
  message: Shows.value(
    'Its `message`: a permission is missing, for the process or its lane, or only messages and timers start the process.',
    'Insufficient permissions to act in this lane of the process',
  ),
}) {}

export class ProcessStartEventDto extends Answer({
  startCondition: Shows.textOrNull(
    'Value of `startCondition` in the body that selects it; required if there are several start events.',
    null,
  ),
  bpmnElementId: Shows.value('Id of the element in the BPMN file.', 'start'),
  name: Shows.textOrNull('Name of the start event.', 'Client signs up'),
  lane: Shows.textOrNull('Lane of the start event; null outside of lanes.', null),
  startPermissions: Shows.optionalTexts(
    'Permissions, one of which a start here requires (`svc:start`); absent if `PROCESS_START_PERMISSION` decides.',
    ['loan-clerk'],
  ),
  mayStart: Shows.flag('Whether this caller may start here; the body is not checked.', true),
}) {}

/** A process of a build and how to start it. */
export class StartableProcessDto extends Answer({
  processDefinitionName: Shows.value(
    'Name of the process, for the path of `startProcess`.',
    'loan_onboarding',
  ),
  processDefinitionSvcUuid: Shows.value(
    'Id of the process definition; the same in every build.',
    'c5cada5c-7901-5807-a7d4-06e549c30dd1',
  ),
  starts: Shows.list(
    () => ProcessStartEventDto,
    'Start events that a request can use; empty if only messages and timers start the process.',
  ),
  inputSchema: Shows.objectOrNull(
    'JSON Schema (2020-12) of the body of a start, without `startCondition`; null for any object.',
    INPUT_SCHEMA_EXAMPLE,
  ),
  searchable: Shows.optionalTexts(
    'Data paths by whose values instances can be found (`svc:searchable`); absent if the process declares none.',
    ['client.id'],
  ),
  mayStart: Shows.flag('Whether this caller may start the process; the body is not checked.', true),
  refusal: Shows.partOrNull(
    () => StartRefusalDto,
    'Error that a start by this caller would get now; null if `mayStart` is true.',
  ),
}) {}

export class ProcessPageDto extends Answer({
  processes: Shows.list(() => StartableProcessDto, 'Sorted by name.'),
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
