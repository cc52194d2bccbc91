import { NestFactory } from '@nestjs/core';
import type { INestApplicationContext, Type } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { built } from '../../../test/support/built.js';
import type { Principal } from '../../../src/platform/user/principal.js';
import type { JsonObject } from '#engine/json';
import type { UiActionResponseDto } from '../../../src/runtime/ui-actions/ui-action.dto.js';
import type { StartProcessResponseDto } from '../../../src/runtime/model/start.response.dto.js';

const RUNTIME = 'runtime';
const PRINCIPAL: Principal = {
  issuer: 'https://issuer.example.com',
  subject: 'walker',
  user: { firstName: 'Wanda', lastName: 'Walker', userName: 'walker', impersonatingUser: null },
  permissions: new Map(),
};

interface Services {
  packages: import('../../../src/delivery/builds/packages/app-packages.service.js').AppPackagesService;
  commits: import('../../../src/delivery/builds/making/version-commits.service.js').VersionCommitsService;
  builds: import('../../../src/delivery/builds/making/builds.service.js').BuildsService;
  starts: import('../../../src/runtime/starts/process-start.service.js').ProcessStartService;
  actions: import('../../../src/runtime/ui-actions/ui-action-execution.service.js').UiActionExecutionService;
}

/** The services of the built application that execute steps, without HTTP. */
export class BuiltRuntime {
  private constructor(
    private readonly context: INestApplicationContext,
    private readonly services: Services,
  ) {}

  /** @param settings environment variables of the service */
  static async open(settings: Record<string, string>): Promise<BuiltRuntime> {
    const { AppModule } = await built<typeof import('../../../src/app.module.js')>('app.module.js');
    const { Env } =
      await built<typeof import('../../../src/platform/config/env.js')>('platform/config/env.js');
    const { oidcIssuer } = await built<typeof import('../../../src/platform/auth/oidc-issuer.js')>(
      'platform/auth/oidc-issuer.js',
    );
    // Limits among the settings are read from the process environment.
    Object.assign(process.env, settings);
    await import('../../../test/support/limits/load-limits.mjs');
    const env = Env.parse('production', settings);
    const module = AppModule.with({ env, issuer: { inject: [Env], useFactory: oidcIssuer } });
    const context = await NestFactory.createApplicationContext(module, {
      logger: false,
      abortOnError: false,
    });
    const service = async <T>(file: string, name: string): Promise<T> => {
      const exported = await built<Record<string, Type<T>>>(file);
      return context.get<T>(exported[name] as Type<T>, { strict: false });
    };
    return new BuiltRuntime(context, {
      packages: await service('delivery/builds/packages/app-packages.service.js', 'AppPackagesService'),
      commits: await service('delivery/builds/making/version-commits.service.js', 'VersionCommitsService'),
      builds: await service('delivery/builds/making/builds.service.js', 'BuildsService'),
      starts: await service(`${RUNTIME}/starts/process-start.service.js`, 'ProcessStartService'),
      actions: await service(
        `${RUNTIME}/ui-actions/ui-action-execution.service.js`,
        'UiActionExecutionService',
      ),
    });
  }

  /** Turns off flushing to disk at every commit of the embedded database, for proofs that do not test crashes. */
  async withoutFlush(): Promise<void> {
    await this.context.get(DataSource, { strict: false }).query('PRAGMA synchronous = OFF');
  }

  /**
   * Creates a build of BPMN files.
   * @returns id of the build
   */
  async publish(appId: string, models: Readonly<Record<string, string>>): Promise<string> {
    const version = { appId, appVersionId: 'v1' };
    const processes = Object.entries(models).map(([name, bpmn]) => ({
      file: `processes/${name}.bpmn`,
      bpmn,
    }));
    const application = { formatVersion: 1, appId, name: appId };
    await this.services.packages.store(PRINCIPAL, version, JSON.stringify({ application, processes }));
    await this.services.commits.commit(PRINCIPAL, version, null);
    const { buildId } = await this.services.builds.create(PRINCIPAL, version);
    return buildId;
  }

  /** Starts an instance, like endpoint 7. */
  start(
    process: { appId: string; buildId: string; processName: string },
    data: JsonObject,
  ): Promise<StartProcessResponseDto> {
    return this.services.starts.start(PRINCIPAL, process, {
      body: data,
      platform: 'prove',
      idempotencyKey: undefined,
    });
  }

  /** Executes a UI action, like endpoint 8. */
  execute(
    processUuid: string,
    tokenUuid: string,
    uiActionSvcUuid: string,
    body: JsonObject,
  ): Promise<UiActionResponseDto> {
    return this.services.actions.execute(PRINCIPAL, { processUuid, tokenUuid, uiActionSvcUuid }, body);
  }

  close(): Promise<void> {
    return this.context.close();
  }
}
