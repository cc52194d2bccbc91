import { Controller, Get, Head, Header, Param, Query } from '@nestjs/common';
import { ApiExcludeEndpoint, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal, RequirePermission } from '../../platform/auth/access.decorators.js';
import type { Principal } from '../../platform/user/principal.js';
import { RateLimit } from '../../platform/rate-limit/principal-rate-limit.guard.js';
import { ScanCoordinator } from '../scan/scan-coordinator.js';
import { DiscoveryRights, seenBy } from '../findings/seen-by.js';
import { ScanStore } from '../storage/scan-store.js';
import {
  ChangesPageDto,
  ScanDetailsDto,
  ScansPageDto,
  toChangesPage,
  toDiscoveryResult,
  toScanDetails,
  toScansPage,
} from './history.dto.js';
import { ChangesQueryDto, ScanParams, ScansQueryDto } from './discovery.params.dto.js';
import { DiscoveryResultDto } from '../model/discovery-result.dto.js';
import { DiscoveryApi } from './discovery.api.js';

/** Forces a rescan of the platform (docs/contract.md, section 3.1) and shows past scans (extension). */
@ApiTags('Platform discovery')
@RequirePermission('DISCOVERY_PERMISSION')
@Controller('api/platform/discover')
export class DiscoveryController {
  constructor(
    private readonly coordinator: ScanCoordinator,
    private readonly store: ScanStore,
    private readonly rights: DiscoveryRights,
  ) {}

  /** Handles HEAD, which the framework would otherwise route to an expensive rescan. */
  @Head()
  @ApiExcludeEndpoint()
  @Header('Content-Type', 'application/json; charset=utf-8')
  describe(): void {}

  @Get()
  @RateLimit('discovery')
  @DiscoveryApi.discoverPlatform
  async discover(@CurrentPrincipal() principal: Principal): Promise<DiscoveryResultDto> {
    const result = await this.coordinator.scan(principal.user.userName);
    return toDiscoveryResult(seenBy(this.rights.of(principal), result));
  }

  @Get('scans')
  @DiscoveryApi.listScans
  async scans(@Query() query: ScansQueryDto): Promise<ScansPageDto> {
    return toScansPage(await this.store.scans(query));
  }

  @Get('scans/:scanId')
  @DiscoveryApi.getScan
  async scan(
    @CurrentPrincipal() principal: Principal,
    @Param() { scanId }: ScanParams,
  ): Promise<ScanDetailsDto> {
    const scan = await this.store.byId(scanId);
    return toScanDetails({ ...scan, result: seenBy(this.rights.of(principal), scan.result) });
  }

  @Get('changes')
  @DiscoveryApi.listComponentChanges
  async changes(
    @CurrentPrincipal() principal: Principal,
    @Query() query: ChangesQueryDto,
  ): Promise<ChangesPageDto> {
    return toChangesPage(await this.store.changes(query, this.rights.of(principal)));
  }
}
