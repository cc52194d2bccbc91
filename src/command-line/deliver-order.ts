import { deliverOrder, notDelivered, pairOf, type Order } from '../delivery/deliver.command.js';
import { appIdOf } from './author-commands.js';
import { UsageError, type ServiceAddress, type Session } from './session.js';

/** Options of `svc deliver`; docs/commands.md says what they mean. */
export interface DeliverOptions {
  app?: string;
  version: string;
  commit?: true;
  message?: string;
  build?: true;
  activate?: true;
  force?: true;
  library: string[];
  baseUrl: string[];
}

/**
 * Delivers a folder as `npm run deliver` does. The application is that of the folder where --app does not name one.
 * @throws UsageError
 */
export async function deliverFolder(
  session: Session,
  folder: string,
  options: DeliverOptions,
): Promise<number> {
  const { surroundings } = session;
  const appId = options.app ?? (await appIdOf(surroundings, folder)) ?? '';
  const order: Order = {
    folder,
    appId,
    versionId: options.version,
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
  const delivered = notDelivered(order);
  const print = session.isJson ? (): void => undefined : surroundings.print;
  const evaluation = (): Promise<ServiceAddress> => session.address();
  const status = await deliverOrder(order, { ...surroundings, print, evaluation }, delivered);
  session.show(delivered, () => []);
  return status;
}

function pairs(texts: string[], otherwise: string): Map<string, string> {
  try {
    return new Map(texts.map((text) => pairOf(text, otherwise)));
  } catch {
    throw new UsageError(otherwise);
  }
}
