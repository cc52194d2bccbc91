import { Controller, Get, Head, Header, Param, Query, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiExcludeEndpoint, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ConfiguredPermission } from '../../../common/auth/configured-permission.decorator.js';
import { ConfiguredPermissionGuard } from '../../../common/auth/configured-permission.guard.js';
import { CurrentPrincipal } from '../../../common/auth/principal.decorator.js';
import type { Principal } from '../../../common/user/principal.js';
import { ApiErrors } from '../../../common/http/api-errors.decorator.js';
import { RateLimit } from '../../../common/rate-limit/rate-limit.decorator.js';
import { DiscoveryService } from './discovery.service.js';
import { ChangesPageDto, toChangesPage } from './change.dto.js';
import { CHANGES_EXAMPLE, DISCOVERY_EXAMPLE, SCAN_EXAMPLE, SCANS_EXAMPLE } from './discovery.examples.js';
import { ChangesQueryDto, ScanParams, ScansQueryDto } from './discovery.params.dto.js';
import { DiscoveryResultDto, toDiscoveryResult } from './discovery-result.dto.js';
import { ScanDetailsDto, ScansPageDto, toScanDetails, toScansPage } from './scan.dto.js';

const DENIED = { 403: 'Insufficient permissions' };

/** Forces a rescan of the platform (docs/contract.md, section 3.1) and shows the scans there were (extension). */
@ApiTags('Platform discovery')
@ApiBearerAuth('bearer')
@UseGuards(ConfiguredPermissionGuard)
@Controller('api/platform/discover')
export class DiscoveryController {
  constructor(private readonly discovery: DiscoveryService) {}

  /** The framework would bring HEAD to the rescan otherwise, which costs too much for an answer that nobody reads. */
  @Head()
  @ApiExcludeEndpoint()
  @ConfiguredPermission('DISCOVERY_PERMISSION')
  @Header('Content-Type', 'application/json; charset=utf-8')
  describe(): void {}

  @Get()
  @ConfiguredPermission('DISCOVERY_PERMISSION')
  @RateLimit('discovery')
  @ApiOperation({
    operationId: 'discoverPlatform',
    summary: 'Force a platform rescan',
    description:
      'Looks at every component of the platform now and answers when all have been checked or their time is over. The answer ' +
      'comes from a scan that began after the request; callers of the same moment share one. A component that is down is part of ' +
      'the answer, never an error. `newServicesFound` and `configurationChanges` compare with the last completed scan. Each issue ' +
      'has exactly one recommendation. Any valid token will do, unless the deployment asks for a permission (`DISCOVERY_PERMISSION`).',
  })
  @ApiOkResponse({
    type: DiscoveryResultDto,
    example: DISCOVERY_EXAMPLE,
    description: 'What the scan found.',
  })
  @ApiErrors(400, DENIED)
  async discover(@CurrentPrincipal() { user }: Principal): Promise<DiscoveryResultDto> {
    return toDiscoveryResult(await this.discovery.scan(user.userName));
  }

  @Get('scans')
  @ConfiguredPermission('DISCOVERY_PERMISSION')
  @ApiOperation({
    operationId: 'listScans',
    summary: 'List scans',
    description:
      'Extension of the contract. Completed scans, newest first, as many as the deployment keeps. Follow `next` until it is null.',
  })
  @ApiOkResponse({ type: ScansPageDto, example: SCANS_EXAMPLE, description: 'A page of scans.' })
  @ApiErrors(400, DENIED)
  async scans(@Query() query: ScansQueryDto): Promise<ScansPageDto> {
    return toScansPage(await this.discovery.scans(query));
  }

  @Get('scans/:scanId')
  @ConfiguredPermission('DISCOVERY_PERMISSION')
  @ApiOperation({
    operationId: 'getScan',
    summary: 'Get a scan with its result',
    description: 'Extension of the contract. `result` is what the callers of that scan were answered.',
  })
  @ApiOkResponse({ type: ScanDetailsDto, example: SCAN_EXAMPLE, description: 'The scan.' })
  @ApiErrors(400, DENIED, { 404: 'Scan not found.' })
  async scan(@Param() { scanId }: ScanParams): Promise<ScanDetailsDto> {
    return toScanDetails(await this.discovery.scanById(scanId));
  }

  @Get('changes')
  @ConfiguredPermission('DISCOVERY_PERMISSION')
  @ApiOperation({
    operationId: 'listComponentChanges',
    summary: 'List changes of components',
    description:
      'Extension of the contract. What a scan found different from the scan before it, newest first: components that came and ' +
      'went, whose configuration changed, and whose status did. Follow `next` until it is null.',
  })
  @ApiOkResponse({ type: ChangesPageDto, example: CHANGES_EXAMPLE, description: 'A page of changes.' })
  @ApiErrors(400, DENIED)
  async changes(@Query() query: ChangesQueryDto): Promise<ChangesPageDto> {
    return toChangesPage(await this.discovery.changes(query));
  }
}
