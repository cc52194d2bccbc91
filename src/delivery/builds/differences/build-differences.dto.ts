import { Answer, Shows } from '../../../platform/openapi/answer-fields.decorators.js';
import { DifferenceChange, DifferencePart } from './build-differences.types.js';

/** A part that only one of two builds has, or that differs between them. */
export class BuildDifferenceDto extends Answer({
  part: Shows.enum('DifferencePart', DifferencePart, 'Kind of part.', DifferencePart.Tool),
  change: Shows.enum(
    'DifferenceChange',
    DifferenceChange,
    'Whether only this build has it, only the build it is compared with has it, or both have it and differ.',
    DifferenceChange.Changed,
  ),
  applicationId: Shows.value('Application that it belongs to: that of the build or of a library.', 'sample'),
  within: Shows.textOrNull(
    'Workflow of an agent, system of a tool, or process and lane of a permission; null for other parts.',
    'inventory',
  ),
  name: Shows.value(
    'Name of the part. For a permission the permission, for a library its application.',
    'adjust_stock',
  ),
  members: Shows.texts(
    'For a changed part, names of the members that differ: element ids of a process, node ids of a workflow.',
  ),
  enabled: Shows.booleanOrNull(
    'Whether a tool is enabled in the build; null for other parts and for removed tools.',
  ),
}) {}

/** The differences between a build and the active build, or the build in `baseBuildId`. */
export class BuildDifferencesResponseDto extends Answer({
  buildId: Shows.uuid('The build that was compared.'),
  activeBuildId: Shows.uuidOrNull('The active build; null if there is none, and then every part is added.'),
  baseBuildId: Shows.optionalUuid('The build in `baseBuildId` that it was compared with; absent otherwise.'),
  differences: Shows.list(
    () => BuildDifferenceDto,
    'Sorted by kind, application, place and name; empty if both builds are equal.',
  ),
}) {}
