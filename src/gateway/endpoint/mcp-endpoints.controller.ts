import { Body, Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { AuditAction } from '../../audit/model/audit.types.js';
import { Audited } from '../../audit/recording/audited.decorator.js';
import { AppParams } from '../../apps/app.params.dto.js';
import { CurrentPrincipal, Public, RequirePermission } from '../../platform/auth/access.decorators.js';
import { Permission } from '../../platform/auth/permission.js';
import { METADATA_PATH, publicUrl, scopesOf } from '../../platform/auth/protected-resource.js';
import { TrustedIssuer } from '../../platform/auth/trusted-issuer.js';
import { Env } from '../../platform/config/env.js';
import { CheckPathBeforeBody } from '../../platform/http/checked-path.js';
import type { Principal } from '../../platform/user/principal.js';
import { ToolCatalogueService } from '../catalogue/tool-catalogue.service.js';
import { McpEndpointsApi } from './mcp-endpoints.api.js';
import { ResourceMetadataDto } from './resource-metadata.dto.js';
import { McpEndpointsService } from './mcp-endpoints.service.js';

/** MCP endpoints of applications (extension of the contract, section 2.9). */
@ApiTags('MCP endpoints')
@RequirePermission(Permission.ToolUse)
@Controller('mcp/app')
export class McpEndpointsController {
  constructor(private readonly endpoints: McpEndpointsService) {}

  @Post(':appId')
  @CheckPathBeforeBody(ToolCatalogueService, AppParams, (catalogue, { appId }) =>
    catalogue.requireEndpoint(appId),
  )
  @Audited(AuditAction.EndpointUse)
  @McpEndpointsApi.callMcpEndpoint
  async serveTools(
    @CurrentPrincipal() principal: Principal,
    @Param() { appId }: AppParams,
    @Body() body: Record<string, unknown>,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.endpoints.serve(request, response, { appId, mode: 'tools', principal, body });
  }

  @Post(':appId/search')
  @CheckPathBeforeBody(ToolCatalogueService, AppParams, (catalogue, { appId }) =>
    catalogue.requireEndpoint(appId),
  )
  @Audited(AuditAction.EndpointUse)
  @McpEndpointsApi.searchMcpEndpoint
  async serveSearch(
    @CurrentPrincipal() principal: Principal,
    @Param() { appId }: AppParams,
    @Body() body: Record<string, unknown>,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.endpoints.serve(request, response, { appId, mode: 'search', principal, body });
  }
}

/** Metadata of the endpoints for OAuth clients (RFC 9728). The same for every application, so it tells nobody which there are. */
@ApiTags('MCP endpoints')
@Controller(`${METADATA_PATH.slice(1)}/mcp/app/:appId`)
export class ResourceMetadataController {
  constructor(
    private readonly env: Env,
    private readonly issuer: TrustedIssuer,
  ) {}

  @Get()
  @Public()
  @McpEndpointsApi.getMcpEndpointMetadata
  ofTools(@Param() { appId }: AppParams, @Req() request: Request): ResourceMetadataDto {
    return this.metadataOf(request, `/mcp/app/${appId}`);
  }

  @Get('search')
  @Public()
  @McpEndpointsApi.getSearchEndpointMetadata
  ofSearch(@Param() { appId }: AppParams, @Req() request: Request): ResourceMetadataDto {
    return this.metadataOf(request, `/mcp/app/${appId}/search`);
  }

  private metadataOf(request: Request, path: string): ResourceMetadataDto {
    return {
      resource: publicUrl(this.env, request, path),
      authorization_servers: [this.issuer.rules.issuer],
      bearer_methods_supported: ['header'],
      scopes_supported: scopesOf(this.env, Permission.ToolUse),
    };
  }
}
