import type { ComponentMap } from '../../../../../src/discovery/model/component.types.js';
import { output, programOf } from '../../../../../test/support/databases/local-server.js';

/** Attributes of a component in the response of a rescan, for any map. */
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

/** A real server, with an independent source for the expected attributes in a rescan. */
export interface RealComponent {
  /** Key in the response; ends with a dash if the service appends a suffix. */
  key: string;
  map: ComponentMap;
  /** Declaration as in a configuration file, without the key; undefined if the service learns of it in another way. */
  declared?: { kind: string; endpoint: string; [member: string]: unknown };
  /** Returns the attributes reported by an independent client, to compare with the response. */
  truth(shown: ShownComponent): Promise<Partial<ShownComponent>>;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops it permanently. */
  end(): Promise<void>;
}

/**
 * Runs curl and returns the response body.
 * @throws Error when the request failed
 */
export async function curl(...args: string[]): Promise<string> {
  return output([
    ...(await programOf('/usr/bin/curl', 'curl')),
    '--silent',
    '--show-error',
    '--fail',
    ...args,
  ]);
}

/** Runs curl and parses the response as JSON. */
export async function curlJson<Body>(...args: string[]): Promise<Body> {
  return JSON.parse(await curl(...args)) as Body;
}
