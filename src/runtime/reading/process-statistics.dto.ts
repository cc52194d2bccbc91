import { Answer, Shows, Fields } from '../../platform/openapi/answer-fields.decorators.js';
import { inRange } from '../../platform/validation/query.decorators.js';

/** Instances to include in statistics. */
export class ProcessStatisticsQueryDto extends Fields({
  ...inRange('instances that started'),
}) {}

/** Statistics of one element. */
export class ElementStatisticsDto extends Answer({
  bpmnElementId: Shows.value('Id of the element in the BPMN file.', 'complete_application'),
  name: Shows.textOrNull('Name of the element.', 'Complete application'),
  entered: Shows.number('Number of instances that have entered it.', 240),
  standing: Shows.number('Number of instances that are there now.', 12),
  visits: Shows.number('Number of ended visits, to which the times refer.', 231),
  medianMs: Shows.numberOrNull('Median milliseconds from entering to leaving; null without visits.', 5_400),
  p95Ms: Shows.numberOrNull(
    '95th percentile of the milliseconds from entering to leaving; null without visits.',
    86_000,
  ),
  incidents: Shows.number('Number of incidents raised there.', 3),
  openIncidents: Shows.number('Number of open incidents there.', 1),
  incidentRate: Shows.decimalOrNull(
    'Share of the instances that reached it which had an incident there; null if none reached it.',
    0.0125,
  ),
}) {}

/** Statistics of a process by element. */
export class ProcessStatisticsDto extends Answer({
  from: Shows.moment('The instances started at this time or later.', '2026-01-24T10:20:30.123Z'),
  to: Shows.moment('The instances started before this time.', '2026-01-31T10:20:30.123Z'),
  instances: Shows.number('Number of instances included.', 240),
  complete: Shows.flag(
    'Whether all instances and incidents in the range are included; if false, only the newest.',
    true,
  ),
  elements: Shows.list(
    () => ElementStatisticsDto,
    'Every element that a token can enter, in the order of the file.',
  ),
  bpmn: Shows.value('The BPMN 2.0 file that the process comes from, unchanged.'),
}) {}
