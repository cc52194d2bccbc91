import { ServiceError, SvcError, type BuildDifferencesResponse } from '../index.js';
import { printable } from '../../../../src/platform/printable.js';
import {
  deliverPackage,
  initialDelivery,
  type Delivered,
  type DeliveryRequest,
} from './delivery/deliver.command.js';
import type { ReadFolder } from '../../../../src/delivery/packages/reading/package-folder.js';
import { appIdOf } from './commands/author-commands.js';
import { differenceLines, differencesOf } from './commands/build-commands.js';
import { UsageError, type Session } from './session.js';

/** Options of every delivery (docs/commands.md). */
export interface DeliveryOptions {
  app?: string;
  force?: true;
  library: string[];
  baseUrl: string[];
  testConnections?: true;
}

/** Options of `svc deliver`. */
export interface DeliverOptions extends DeliveryOptions {
  version?: string;
  commit?: true;
  message?: string;
  build?: true;
  activate?: true;
}

interface DeliveryReport extends Delivered {
  differences?: BuildDifferencesResponse;
}

/**
 * Delivers a folder. The application is that of the folder unless --app sets one.
 * @throws UsageError
 */
export async function deliverFolder(
  session: Session,
  folder: string,
  options: DeliverOptions,
  content?: ReadFolder,
): Promise<number> {
  const request = await requestOf(session, folder, options);
  const delivered: DeliveryReport = initialDelivery(request);
  const whenBuilt = async (buildId: string): Promise<void> => {
    try {
      delivered.differences = await differencesOf(session, { appId: request.appId, buildId });
      session.printText(differenceLines(delivered.differences, request.appId));
    } catch (error) {
      session.environment.printError(unreadDifferences(error));
    }
  };
  const environment = {
    ...session.environment,
    whenBuilt,
    content,
    print: (line: string) => session.printText([line]),
    onProgress: (line: string) => session.note(line),
  };
  const status = await deliverPackage(request, environment, delivered);
  session.show(delivered, () => []);
  return status;
}

/**
 * Returns a message for differences that could not be read, which does not prevent the activation.
 * @throws errors that do not come from the service or its client
 */
function unreadDifferences(error: unknown): string {
  if (!(error instanceof SvcError)) {
    throw error;
  }
  const status = error instanceof ServiceError ? `${error.status}: ` : '';
  return printable(`The differences from the active build could not be read: ${status}${error.message}`);
}

async function requestOf(
  session: Session,
  folder: string,
  options: DeliverOptions,
): Promise<DeliveryRequest> {
  // Not a required option of commander, which would report it before a misspelt option.
  if (options.version === undefined) {
    throw new UsageError("error: required option '--version <id>' not specified");
  }
  if (options.activate === true && options.build !== true) {
    throw new UsageError('--activate needs --build');
  }
  if (options.force === true && options.activate !== true) {
    throw new UsageError('--force needs --activate');
  }
  return {
    folder,
    appId: options.app ?? (await appIdOf(session.environment, folder)) ?? '',
    versionId: options.version,
    testConnections: options.testConnections === true,
    commit: options.commit === true,
    message: options.message,
    build: options.build === true,
    activate: options.activate === true,
    force: options.force === true,
    libraries: pairs(options.library, '--library must be APP=BUILD'),
    baseUrls: pairs(options.baseUrl, '--base-url must be SYSTEM=URL'),
    ...(await session.address()),
    timeoutMs: session.timeoutMs,
  };
}

/** Parses NAME=VALUE texts. @throws UsageError when one has no equals sign */
function pairs(texts: string[], message: string): Map<string, string> {
  return new Map(
    texts.map((text) => {
      const [, name, value] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
      if (name === undefined || value === undefined) {
        throw new UsageError(message);
      }
      return [name, value];
    }),
  );
}
