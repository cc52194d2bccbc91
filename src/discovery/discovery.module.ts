import { Module } from '@nestjs/common';
import { DatabaseTime } from '../store/tables/database-time.js';
import { RedisModule } from '../platform/redis/redis.service.js';
import { SystemsModule } from '../systems/systems.module.js';
import { McpConnectionModule } from '../systems/mcp-connection/mcp-connection.module.js';
import { DiscoveryMetrics } from './scan/discovery-metrics.js';
import { DiscoveryRights } from './findings/seen-by.js';
import { DiscoveryController } from './reading/discovery.controller.js';
import { ProbeClients } from './probes/http/probe-clients.js';
import { Probes } from './probes/kinds/probes.js';
import { ScanCoordinator } from './scan/scan-coordinator.js';
import { ScanEngine } from './scan/scan-engine.js';
import { SOURCES_PROVIDER } from './sources/sources.js';
import { ScanStore } from './storage/scan-store.js';
import { ScanTurnsRepository } from './storage/scan-turns.repository.js';

/** Discovers and checks the components of the platform. */
@Module({
  imports: [RedisModule, SystemsModule, McpConnectionModule],
  controllers: [DiscoveryController],
  providers: [
    DiscoveryRights,
    ProbeClients,
    Probes,
    SOURCES_PROVIDER,
    DatabaseTime,
    DiscoveryMetrics,
    ScanCoordinator,
    ScanEngine,
    ScanStore,
    ScanTurnsRepository,
  ],
})
export class DiscoveryModule {}
