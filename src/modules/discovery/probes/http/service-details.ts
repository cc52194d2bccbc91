import { isJsonObject } from '../../../../common/json.js';
import { within } from '../../../../common/deadline.js';
import {
  capabilitiesOf,
  describedBy,
  known,
  merged,
  nameOf,
  type SelfDescription,
  versionOf,
} from '../net/self-description.js';
import { ProbeError } from '../../model/failures.js';
import type { HttpAnswer } from './http-transport.js';
import type { ProbeHttp } from './probe-http.js';

/** What is known after the health endpoint has answered. */
interface HealthFound {
  own: SelfDescription;
  /** Path of the health endpoint below the base. */
  at: string;
  answer: HttpAnswer;
  infoPath: string | undefined;
}

/** Asks the neighbours of a health endpoint, in half of the time left; they take nothing from it. */
export async function moreAbout(http: ProbeHttp, found: HealthFound): Promise<SelfDescription> {
  const { infoPath } = found;
  const learned: SelfDescription[] = [];
  const ask = async (): Promise<void> => {
    if (infoPath !== undefined) {
      learned.push(await quietly(() => document(http, infoPath)));
    }
    learned.push(await quietly(() => ofItsFamily(http, found)));
  };
  await within(http.remainingMs / 2, ask(), () => undefined);
  return merged(learned);
}

async function ofItsFamily(http: ProbeHttp, { own, at, answer }: HealthFound): Promise<SelfDescription> {
  if (/(^|\/)actuator\/health(\/|$)/.test(at)) {
    return actuator(http, at.slice(0, at.indexOf('actuator/health')));
  }
  if (/(^|\/)v1\.0\/healthz(\/|$)/.test(at)) {
    return dapr(await http.json('/v1.0/metadata'));
  }
  if (own.version === undefined && /^ok$/i.test(answer.body.trim())) {
    const body = await http.json('/version');
    return known('version', versionOf(isJsonObject(body) ? body['gitVersion'] : undefined));
  }
  return {};
}

async function actuator(http: ProbeHttp, prefix: string): Promise<SelfDescription> {
  const info = await quietly(async () => describedBy(await http.json(`${prefix}actuator/info`)));
  const links = await quietly(async () => {
    const body = await http.json(`${prefix}actuator`);
    const names = isJsonObject(body) && isJsonObject(body['_links']) ? Object.keys(body['_links']) : [];
    return known('capabilities', capabilitiesOf(names.filter((name) => name !== 'self')));
  });
  return merged([info, links]);
}

function dapr(body: unknown): SelfDescription {
  if (!isJsonObject(body)) {
    return {};
  }
  const components: unknown[] = Array.isArray(body['components']) ? body['components'] : [];
  const types = components.map((component) => (isJsonObject(component) ? component['type'] : undefined));
  return {
    ...known('name', nameOf(body['id'])),
    ...known('version', versionOf(body['runtimeVersion'])),
    ...known('capabilities', capabilitiesOf(types)),
  };
}

async function document(http: ProbeHttp, path: string): Promise<SelfDescription> {
  const body = await http.json(path);
  if (!isJsonObject(body)) {
    return {};
  }
  const tags: unknown[] = Array.isArray(body['tags']) ? body['tags'] : [];
  const names = tags.map((tag) => (isJsonObject(tag) ? tag['name'] : undefined));
  return merged([describedBy(body), known('capabilities', capabilitiesOf(names))]);
}

async function quietly(ask: () => Promise<SelfDescription>): Promise<SelfDescription> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ProbeError) {
      return {};
    }
    throw error;
  }
}
