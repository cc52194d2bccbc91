import type { Type } from '@nestjs/common';
import { ApiExtraModels, getSchemaPath } from '@nestjs/swagger';
import { Answer, Shows, shows, type Shown } from '../../platform/openapi/answer-fields.decorators.js';
import type { ComponentStatus } from './component.types.js';

const status = shows<ComponentStatus>({ enum: ['healthy', 'unhealthy'], enumName: 'ComponentStatus' })(
  'Whether the check went well.',
);
/** As it is stored. */
const moment = shows({ format: 'date-time' });
const lastHealthCheck = moment('When the component was checked.', '2026-01-31T10:20:30.123Z');
const error = Shows.valueIfAsked(
  'Why it is unhealthy, one sentence of a fixed list; absent for a healthy component.',
  'The connection was refused.',
);
const version = Shows.value('Numeric version; `unknown` when it tells none.', '8.0.36');

export class ServiceDto extends Answer({
  name: Shows.value('Name.', 'Document Management'),
  version,
  status,
  endpoint: Shows.value('Its address.', 'https://documents.example.com'),
  capabilities: Shows.texts('What it can do, sorted.', ['search', 'upload']),
  lastHealthCheck,
  error,
}) {}

/** Connections of a database. */
export class ConnectionsDto extends Answer({
  active: Shows.number('Connections at work, without that of the check.', 5),
  idle: Shows.number('Connections that wait for work.', 10),
  max: Shows.number('Most connections the server takes.', 100),
}) {}

/** Memory of a cache. */
export class MemoryDto extends Answer({
  used: Shows.value('Binary units, one decimal.', '943.8KB'),
  available: Shows.value('What is left of its limit, or of the machine without one.', '64MB'),
}) {}

/** A database, message broker, cache or search engine. */
export class InfrastructureDto extends Answer({
  type: Shows.value('Product.', 'mysql'),
  version,
  status,
  lastHealthCheck,
  connections: Shows.partIfAsked(() => ConnectionsDto, 'Of a healthy database.'),
  brokers: Shows.countIfAsked('Brokers that run.', 3),
  topics: Shows.countIfAsked('Topics without those of the broker itself.', 25),
  memory: Shows.partIfAsked(() => MemoryDto, 'Of a healthy cache.'),
  error,
}) {}

/** Something outside of the platform that it works with. */
export class IntegrationDto extends Answer({
  name: Shows.value('Name.', 'Object storage'),
  status,
  endpoint: Shows.value('Its address.', 'https://s3.example.com'),
  lastHealthCheck,
  buckets: Shows.countIfAsked('Buckets of an object storage.', 5),
  error,
}) {}

/** What came of the scan as a whole. */
export class ScanSummaryDto extends Answer({
  scanDuration: Shows.value('Milliseconds below a second, else seconds.', '2.3s'),
  newServicesFound: Shows.number('Services that the last completed scan did not find.', 0),
  configurationChanges: Shows.number(
    'Components of all maps that are not as the last completed scan found them, or gone. Being up or down is no such change.',
    1,
  ),
  issuesDetected: Shows.number('What somebody should look at.', 1),
  recommendations: Shows.texts('One for each issue, sorted.', [
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
  scanTimestamp: moment('When the rescan was completed.', '2026-01-31T10:20:32.423Z'),
  totalServices: Shows.number('Services discovered.', 2),
  healthyServices: Shows.number('Of these, healthy.', 1),
  unhealthyServices: Shows.number('Of these, unhealthy.', 1),
  services: mapOf(ServiceDto, 'Services by key.'),
  infrastructure: mapOf(InfrastructureDto, 'Databases, brokers, caches and search engines by key.'),
  externalIntegrations: mapOf(IntegrationDto, 'External integrations by key.'),
  summary: Shows.part(() => ScanSummaryDto, 'What came of it.'),
}) {}
