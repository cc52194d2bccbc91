import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import type { ComponentStatus, DiscoveryResult } from '../model/scan.types.js';

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
  @ApiProperty({ description: 'Name.', example: 'Document Management' })
  name: string;

  @ApiProperty(VERSION)
  version: string;

  @ApiProperty(STATUS)
  status: ComponentStatus;

  @ApiProperty({ description: 'Its address.', example: 'https://documents.example.com' })
  endpoint: string;

  @ApiProperty({ type: [String], description: 'What it can do, sorted.', example: ['search', 'upload'] })
  capabilities: string[];

  @ApiProperty(CHECKED)
  lastHealthCheck: string;

  @ApiPropertyOptional(ERROR)
  error?: string;
}

/** Connections of a database. */
export class ConnectionsDto {
  @ApiProperty({
    type: 'integer',
    description: 'Connections at work, without that of the check.',
    example: 5,
  })
  active: number;

  @ApiProperty({ type: 'integer', description: 'Connections that wait for work.', example: 10 })
  idle: number;

  @ApiProperty({ type: 'integer', description: 'Most connections the server takes.', example: 100 })
  max: number;
}

/** Memory of a cache. */
export class MemoryDto {
  @ApiProperty({ description: 'Binary units, one decimal.', example: '943.8KB' })
  used: string;

  @ApiProperty({ description: 'What is left of its limit, or of the machine without one.', example: '64MB' })
  available: string;
}

/** A database, message broker, cache or search engine. */
export class InfrastructureDto {
  @ApiProperty({ description: 'Product.', example: 'mysql' })
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
  @ApiProperty({ description: 'Name.', example: 'Object storage' })
  name: string;

  @ApiProperty(STATUS)
  status: ComponentStatus;

  @ApiProperty({ description: 'Its address.', example: 'https://s3.example.com' })
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
  @ApiProperty({ description: 'Milliseconds below a second, else seconds.', example: '2.3s' })
  scanDuration: string;

  @ApiProperty({
    type: 'integer',
    description: 'Services that the last completed scan did not find.',
    example: 0,
  })
  newServicesFound: number;

  @ApiProperty({
    type: 'integer',
    description:
      'Components of all maps that are not as the last completed scan found them, or gone. Being up or down is no such change.',
    example: 1,
  })
  configurationChanges: number;

  @ApiProperty({ type: 'integer', description: 'What somebody should look at.', example: 1 })
  issuesDetected: number;

  @ApiProperty({
    type: [String],
    description: 'One for each issue, sorted.',
    example: ['services.reporting: The connection was refused. Start it, or correct its address and port.'],
  })
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
  @ApiProperty({
    format: 'date-time',
    description: 'When the rescan was completed.',
    example: '2026-01-31T10:20:32.423Z',
  })
  scanTimestamp: string;

  @ApiProperty({ type: 'integer', description: 'Services discovered.', example: 2 })
  totalServices: number;

  @ApiProperty({ type: 'integer', description: 'Of these, healthy.', example: 1 })
  healthyServices: number;

  @ApiProperty({ type: 'integer', description: 'Of these, unhealthy.', example: 1 })
  unhealthyServices: number;

  @ApiProperty(mapOf(ServiceDto, 'Services by key.'))
  services: Record<string, ServiceDto>;

  @ApiProperty(mapOf(InfrastructureDto, 'Databases, brokers, caches and search engines by key.'))
  infrastructure: Record<string, InfrastructureDto>;

  @ApiProperty(mapOf(IntegrationDto, 'External integrations by key.'))
  externalIntegrations: Record<string, IntegrationDto>;

  @ApiProperty({ type: () => ScanSummaryDto, description: 'What came of it.' })
  summary: ScanSummaryDto;
}

/** The answer is put together field by field where the scan is compared, and stored as it is. */
export function toDiscoveryResult(result: DiscoveryResult): DiscoveryResultDto {
  const { scanTimestamp, totalServices, healthyServices, unhealthyServices } = result;
  const { services, infrastructure, externalIntegrations, summary } = result;
  return {
    scanTimestamp,
    totalServices,
    healthyServices,
    unhealthyServices,
    services,
    infrastructure,
    externalIntegrations,
    summary,
  };
}
