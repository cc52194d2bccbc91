import type { Type } from '@nestjs/common';
import { ApiExtraModels, getSchemaPath } from '@nestjs/swagger';
import { Answer, Shows, shows, type Shown } from '../../platform/openapi/answer-fields.decorators.js';
import type { ComponentStatus } from './component.types.js';

const status = shows<ComponentStatus>({ enum: ['healthy', 'unhealthy'], enumName: 'ComponentStatus' })(
  'Whether the check succeeded.',
);
const moment = shows({ format: 'date-time' });
const lastHealthCheck = moment('Time of the check.', '2026-01-31T10:20:30.123Z');
const error = Shows.optionalValue(
  'Why it is unhealthy, as a sentence from a fixed list; absent for a healthy component.',
  'The connection was refused.',
);
const version = Shows.value('Numeric version; `unknown` if it reports none.', '8.0.36');

export class ServiceDto extends Answer({
  name: Shows.value('Name.', 'Document Management'),
  version,
  status,
  endpoint: Shows.value('Address.', 'https://documents.example.com'),
  capabilities: Shows.texts('Capabilities, sorted.', ['search', 'upload']),
  lastHealthCheck,
  error,
}) {}

/** Connections of a database. */
export class ConnectionsDto extends Answer({
  active: Shows.number('Active connections, without that of the check.', 5),
  idle: Shows.number('Idle connections.', 10),
  max: Shows.number('Maximum number of connections.', 100),
}) {}

/** Memory of a cache. */
export class MemoryDto extends Answer({
  used: Shows.value('Used memory in binary units, with at most one decimal.', '943.8KB'),
  available: Shows.value('Memory left of its limit, or of the machine if it has none.', '64MB'),
}) {}

/** A database, message broker, cache or search engine. */
export class InfrastructureDto extends Answer({
  type: Shows.value('Product.', 'mysql'),
  version,
  status,
  lastHealthCheck,
  connections: Shows.optionalPart(() => ConnectionsDto, 'Connections of a healthy database.'),
  brokers: Shows.optionalNumber('Running brokers.', 3),
  topics: Shows.optionalNumber('Topics, without internal ones of the broker.', 25),
  memory: Shows.optionalPart(() => MemoryDto, 'Memory of a healthy cache.'),
  error,
}) {}

/** An external system that the platform works with. */
export class IntegrationDto extends Answer({
  name: Shows.value('Name.', 'Object storage'),
  status,
  endpoint: Shows.value('Address.', 'https://s3.example.com'),
  lastHealthCheck,
  buckets: Shows.optionalNumber('Buckets of an object storage.', 5),
  error,
}) {}

/** Summary of a scan. */
export class ScanSummaryDto extends Answer({
  scanDuration: Shows.value('Duration of the scan: milliseconds below a second, else seconds.', '2.3s'),
  newServicesFound: Shows.number('Services that the last completed scan did not find.', 0),
  configurationChanges: Shows.number(
    'Components of all maps that have changed or disappeared since the last completed scan. Changes of health do not count.',
    1,
  ),
  issuesDetected: Shows.number('Number of issues that need attention.', 1),
  recommendations: Shows.texts('One recommendation per issue, sorted.', [
    'services.reporting: The connection was refused. Start it, or correct its address and port.',
  ]),
}) {}

const mapOf = <Part>(dto: Type<Part>, description: string): Shown<Record<string, Part>> =>
  shows<Record<string, Part>>({ type: 'object', additionalProperties: { $ref: getSchemaPath(dto) } })(
    description,
  );

/** The platform discovery result of the contract. */
@ApiExtraModels(ServiceDto, InfrastructureDto, IntegrationDto)
export class DiscoveryResultDto extends Answer({
  scanTimestamp: moment('Time at which the rescan was completed.', '2026-01-31T10:20:32.423Z'),
  totalServices: Shows.number('Discovered services.', 2),
  healthyServices: Shows.number('Healthy services.', 1),
  unhealthyServices: Shows.number('Unhealthy services.', 1),
  services: mapOf(ServiceDto, 'Services by key.'),
  infrastructure: mapOf(InfrastructureDto, 'Databases, brokers, caches and search engines by key.'),
  externalIntegrations: mapOf(IntegrationDto, 'External integrations by key.'),
  summary: Shows.part(() => ScanSummaryDto, 'Summary.'),
}) {}
