import { isJsonObject, type JsonObject } from '#engine/json';
import { within } from '../../../platform/concurrency/deadline.js';
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
import type { HttpAnswer, ProbeHttp } from './probe-http.js';

/** Facts known after the health endpoint has responded. */
interface HealthFound {
  own: SelfDescription;
  /** Path of the health endpoint below the base. */
  at: string;
  answer: HttpAnswer;
  infoPath: string | undefined;
}

/** Queries related endpoints for more facts within half of the remaining time. Their failures are ignored. */
export async function moreAbout(http: ProbeHttp, found: HealthFound): Promise<SelfDescription> {
  const { infoPath } = found;
  const learned: SelfDescription[] = [];
  const ask = async (): Promise<void> => {
    if (infoPath !== undefined) {
      learned.push(await ignoringErrors(() => document(http, infoPath)));
    }
    learned.push(await ignoringErrors(() => fromFramework(http, found)));
  };
  await within(http.remainingMs / 2, ask(), () => undefined);
  return merged(learned);
}

async function fromFramework(http: ProbeHttp, { own, at, answer }: HealthFound): Promise<SelfDescription> {
  if (/(^|\/)actuator\/health(\/|$)/.test(at)) {
    return actuator(http, at.slice(0, at.indexOf('actuator/health')));
  }
  if (/(^|\/)v1\.0\/healthz(\/|$)/.test(at)) {
    return dapr(await http.object('/v1.0/metadata'));
  }
  if (own.version === undefined && /^ok$/i.test(answer.body.trim())) {
    return known('version', versionOf((await http.object('/version'))['gitVersion']));
  }
  return {};
}

async function actuator(http: ProbeHttp, prefix: string): Promise<SelfDescription> {
  const info = await ignoringErrors(async () => describedBy(await http.object(`${prefix}actuator/info`)));
  const links = await ignoringErrors(async () => {
    const { _links: named } = await http.object(`${prefix}actuator`);
    const names = Object.keys(isJsonObject(named) ? named : {}).filter((name) => name !== 'self');
    return known('capabilities', capabilitiesOf(names));
  });
  return merged([info, links]);
}

function dapr({ id, runtimeVersion, components }: JsonObject): SelfDescription {
  return {
    ...known('name', nameOf(id)),
    ...known('version', versionOf(runtimeVersion)),
    ...known('capabilities', capabilitiesOf(membersOf(components, 'type'))),
  };
}

async function document(http: ProbeHttp, path: string): Promise<SelfDescription> {
  const body = await http.object(path);
  return merged([describedBy(body), known('capabilities', capabilitiesOf(membersOf(body['tags'], 'name')))]);
}

/** Returns a member of each object of a list. */
function membersOf(list: unknown, name: string): unknown[] {
  const all: unknown[] = Array.isArray(list) ? list : [];
  return all.map((one) => (isJsonObject(one) ? one[name] : undefined));
}

async function ignoringErrors(ask: () => Promise<SelfDescription>): Promise<SelfDescription> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ProbeError) {
      return {};
    }
    throw error;
  }
}
