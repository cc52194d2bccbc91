import { Answer, Shows, Fields } from '../../platform/openapi/answer-fields.decorators.js';
import { inRange } from '../../platform/validation/query.decorators.js';

/** Which instances to look at. */
export class ProcessStatisticsQueryDto extends Fields({
  ...inRange('instances that started'),
}) {}

/** What instances did at one element. */
export class ElementStatisticsDto extends Answer({
  bpmnElementId: Shows.value('Id of the element in the BPMN file.', 'complete_application'),
  name: Shows.textOrNull('Its name.', 'Complete application'),
  entered: Shows.number('How many instances have entered it.', 240),
  standing: Shows.number('How many of them stand there now.', 12),
  visits: Shows.number('How many visits have ended: the times are theirs.', 231),
  medianMs: Shows.numberOrNull(
    'Median of the milliseconds from entering to leaving; null without a visit.',
    5_400,
  ),
  p95Ms: Shows.numberOrNull('What 95 of 100 visits have not exceeded; null without a visit.', 86_000),
  incidents: Shows.number('How many incidents were raised there.', 3),
  openIncidents: Shows.number('How many of them are open.', 1),
  incidentRate: Shows.decimalOrNull(
    'Share of the instances that have come to it which had an incident there; null where none has.',
    0.0125,
  ),
}) {}

/** What instances of a definition did, element by element. */
export class ProcessStatisticsDto extends Answer({
  from: Shows.moment('The instances started at this time or later.', '2026-01-24T10:20:30.123Z'),
  to: Shows.moment('The instances started before this time.', '2026-01-31T10:20:30.123Z'),
  instances: Shows.number('How many instances were looked at.', 240),
  complete: Shows.flag(
    'Whether these are all of the range, with all of their incidents; otherwise the newest.',
    true,
  ),
  elements: Shows.list(
    () => ElementStatisticsDto,
    'Every element that a token can enter, in the order of the file.',
  ),
  bpmn: Shows.value('The BPMN 2.0 file that the process comes from, unchanged.'),
}) {}
