import { Answer, Shows } from '../../../platform/openapi/answer-fields.decorators.js';
import { DifferenceChange, DifferencePart } from './build-differences.types.js';

/** A part that one of two builds lacks, or has otherwise. */
export class BuildDifferenceDto extends Answer({
  part: Shows.enum('DifferencePart', DifferencePart, 'What it is.', DifferencePart.Tool),
  change: Shows.enum(
    'DifferenceChange',
    DifferenceChange,
    'Whether only the build has it, only the one it is compared with, or both and differently.',
    DifferenceChange.Changed,
  ),
  applicationId: Shows.value(
    'Application that brings it: that of the build, or that of a library.',
    'sample',
  ),
  within: Shows.textOrNull(
    'The workflow of an agent, the system of a tool, process and lane of a permission; null for others.',
    'inventory',
  ),
  name: Shows.value('Its name: the permission itself, the application of a library.', 'adjust_stock'),
  members: Shows.texts(
    'Of what is changed: names of the members that are other. Those of a process or a workflow are ids of its elements or nodes.',
  ),
  enabled: Shows.booleanOrNull(
    'Whether a tool is enabled in the build; null for others, and for what is removed.',
  ),
}) {}

/** What a build has otherwise than the active one, or the one that was named. */
export class BuildDifferencesResponseDto extends Answer({
  buildId: Shows.uuid('The build that was compared.'),
  activeBuildId: Shows.uuidOrNull('The active build; null where none is, and then everything is added.'),
  baseBuildId: Shows.uuidIfAsked(
    'The build of `baseBuildId`, which it was compared with; left out without that.',
  ),
  differences: Shows.list(
    () => BuildDifferenceDto,
    'By kind, application, place and name; none where both hold the same.',
  ),
}) {}
