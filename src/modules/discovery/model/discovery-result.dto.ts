import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import { Shows } from '../../../common/answer-fields.decorators.js';
import type { ComponentStatus } from './component.types.js';

const STATUS = {
  enum: ['healthy', 'unhealthy'],
  enumName: 'ComponentStatus',
  description: 'Whether the check went well.',
} as const;
const CHECKED = {
  format: 'date-time',
  description: 'When the component was checked.',
  example: '2026-01-31T10:20:30.123Z',
} as const;
const ERROR = {
  description: 'Why it is unhealthy, one sentence of a fixed list; absent for a healthy component.',
  example: 'The connection was refused.',
} as const;
const VERSION = { description: 'Numeric version; `unknown` when it tells none.', example: '8.0.36' } as const;

/** A service. */
export class ServiceDto {
  @Shows.value('Name.', 'Document Management')
  name: string;

  @ApiProperty(VERSION)
  version: string;

  @ApiProperty(STATUS)
  status: ComponentStatus;

  @Shows.value('Its address.', 'https://documents.example.com')
  endpoint: string;

  @Shows.texts('What it can do, sorted.', ['search', 'upload'])
  capabilities: string[];

  @ApiProperty(CHECKED)
  lastHealthCheck: string;

  @ApiPropertyOptional(ERROR)
  error?: string;
}

/** Connections of a database. */
export class ConnectionsDto {
  @Shows.number('Connections at work, without that of the check.', 5)
  active: number;

  @Shows.number('Connections that wait for work.', 10)
  idle: number;

  @Shows.number('Most connections the server takes.', 100)
  max: number;
}

/** Memory of a cache. */
export class MemoryDto {
  @Shows.value('Binary units, one decimal.', '943.8KB')
  used: string;

  @Shows.value('What is left of its limit, or of the machine without one.', '64MB')
  available: string;
}

/** A database, message broker, cache or search engine. */
export class InfrastructureDto {
  @Shows.value('Product.', 'mysql')
  type: string;

  @ApiProperty(VERSION)
  version: string;

  @ApiProperty(STATUS)
  status: ComponentStatus;

  @ApiProperty(CHECKED)
  lastHealthCheck: string;

  @ApiPropertyOptional({ type: () => ConnectionsDto, description: 'Of a healthy database.' })
  connections?: ConnectionsDto;

  @ApiPropertyOptional({ type: 'integer', description: 'Brokers that run.', example: 3 })
  brokers?: number;

  @ApiPropertyOptional({
    type: 'integer',
    description: 'Topics without those of the broker itself.',
    example: 25,
  })
  topics?: number;

  @ApiPropertyOptional({ type: () => MemoryDto, description: 'Of a healthy cache.' })
  memory?: MemoryDto;

  @ApiPropertyOptional(ERROR)
  error?: string;
}

/** Something outside of the platform that it works with. */
export class IntegrationDto {
  @Shows.value('Name.', 'Object storage')
  name: string;

  @ApiProperty(STATUS)
  status: ComponentStatus;

  @Shows.value('Its address.', 'https://s3.example.com')
  endpoint: string;

  @ApiProperty(CHECKED)
  lastHealthCheck: string;

  @ApiPropertyOptional({ type: 'integer', description: 'Buckets of an object storage.', example: 5 })
  buckets?: number;

  @ApiPropertyOptional(ERROR)
  error?: string;
}

/** What came of the scan as a whole. */
export class ScanSummaryDto {
  @Shows.value('Milliseconds below a second, else seconds.', '2.3s')
  scanDuration: string;

  @Shows.number('Services that the last completed scan did not find.', 0)
  newServicesFound: number;

  @Shows.number(
    'Components of all maps that are not as the last completed scan found them, or gone. Being up or down is no such change.',
    1,
  )
  configurationChanges: number;

  @Shows.number('What somebody should look at.', 1)
  issuesDetected: number;

  @Shows.texts('One for each issue, sorted.', [
    'services.reporting: The connection was refused. Start it, or correct its address and port.',
  ])
  recommendations: string[];
}

const mapOf = (dto: new () => object, description: string) => ({
  type: 'object' as const,
  additionalProperties: { $ref: getSchemaPath(dto) },
  description,
});

/** The platform discovery result of the contract. */
@ApiExtraModels(ServiceDto, InfrastructureDto, IntegrationDto)
export class DiscoveryResultDto {
  @Shows.moment('When the rescan was completed.', '2026-01-31T10:20:32.423Z')
  scanTimestamp: string;

  @Shows.number('Services discovered.', 2)
  totalServices: number;

  @Shows.number('Of these, healthy.', 1)
  healthyServices: number;

  @Shows.number('Of these, unhealthy.', 1)
  unhealthyServices: number;

  @ApiProperty(mapOf(ServiceDto, 'Services by key.'))
  services: Record<string, ServiceDto>;

  @ApiProperty(mapOf(InfrastructureDto, 'Databases, brokers, caches and search engines by key.'))
  infrastructure: Record<string, InfrastructureDto>;

  @ApiProperty(mapOf(IntegrationDto, 'External integrations by key.'))
  externalIntegrations: Record<string, IntegrationDto>;

  @Shows.part(() => ScanSummaryDto, 'What came of it.')
  summary: ScanSummaryDto;
}
