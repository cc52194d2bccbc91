import type { ComponentMap } from '../../../../../src/discovery/model/component.types.js';
import { output, programOf } from '../../../../../test/support/databases/local-server.js';

/** What the answer of a rescan may say of a component, whatever its map. */
export interface ShownComponent {
  status: string;
  name?: string;
  type?: string;
  version?: string;
  error?: string;
  connections?: { active: number; idle: number; max: number };
  memory?: { used: string; available: string };
  brokers?: number;
  topics?: number;
  buckets?: number;
}

/** A server that really runs, with somebody else's word for what a rescan has to say of it. */
export interface RealComponent {
  /** In the answer; ends with a dash where the service adds something of its own. */
  key: string;
  map: ComponentMap;
  /** As a configuration file names it, without the key; undefined where the service hears of it otherwise. */
  declared?: { kind: string; endpoint: string; [member: string]: unknown };
  /** What an independent client says; compared with what the answer shows. */
  truth(shown: ShownComponent): Promise<Partial<ShownComponent>>;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Ends it for ever. */
  end(): Promise<void>;
}

/** Runs curl and returns the body of the answer. @throws Error when it is no success */
export async function curl(...args: string[]): Promise<string> {
  return output([
    ...(await programOf('/usr/bin/curl', 'curl')),
    '--silent',
    '--show-error',
    '--fail',
    ...args,
  ]);
}

/** Runs curl and reads the answer as JSON. */
export async function curlJson<Body>(...args: string[]): Promise<Body> {
  return JSON.parse(await curl(...args)) as Body;
}
