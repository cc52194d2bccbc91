import type { InstanceIncident, InstanceRetry } from '../../clients/typescript/src/index.js';
import type { Session } from './session.js';
import { table } from './table.js';

/** How many instances are looked at. */
export interface IncidentsOptions {
  app?: string;
  process?: string;
  limit: number;
}

type Found = InstanceIncident & { instance: string; process: string };

/** Lists the open incidents of the newest instances. */
export async function incidents(
  session: Session,
  { app, process, limit }: IncidentsOptions,
): Promise<number> {
  const svc = await session.service();
  const { data } = await svc.listProcessInstances({
    query: {
      ...(app === undefined ? {} : { applicationId: app }),
      ...(process === undefined ? {} : { processDefinitionName: process }),
      limit,
    },
  });
  const found: Found[] = [];
  for (const { uuid } of data.instances.filter(({ openIncidents }) => openIncidents > 0)) {
    const { data: instance } = await svc.getProcessInstance({ path: { uuid } });
    const { processDefinitionName } = instance;
    found.push(
      ...instance.incidents.map((incident) => ({
        instance: uuid,
        process: processDefinitionName,
        ...incident,
      })),
    );
  }
  session.show(found, () =>
    table(
      ['INSTANCE', 'PROCESS', 'NODE', 'INCIDENT', 'TIME', 'MESSAGE'],
      found.map((one) => [one.instance, one.process, one.nodeName, one.type, one.timestamp, one.message]),
    ),
  );
  return 0;
}

/**
 * Goes on where an instance stopped: at one token, or at all that have stopped, and as a whole where it is that.
 * @returns 1 when some of it cannot go on
 */
export async function retry(session: Session, uuid: string, { at }: { at?: string }): Promise<number> {
  const svc = await session.service();
  const { data: instance } = await svc.getProcessInstance({ path: { uuid } });
  const stopped = at === undefined ? instance.incidents.map(({ tokenUuid }) => tokenUuid) : [at];
  const answers: InstanceRetry[] = [];
  for (const tokenUuid of new Set(stopped)) {
    const answer =
      tokenUuid === null
        ? await svc.retryProcessInstance({ path: { uuid } })
        : await svc.retryToken({ path: { uuid, tokenUuid } });
    answers.push(answer.data);
  }
  const left = answers.flatMap(({ notRetried }) => notRetried ?? []);
  const retried = answers.flatMap(({ retriedIncidents }) => retriedIncidents);
  const { state } = answers.at(-1) ?? instance;
  session.show({ uuid, state, retriedIncidents: retried, notRetried: left }, () => [
    `${uuid} ${state}, retried: ${retried.length}, not retried: ${left.length}`,
  ]);
  return left.length === 0 ? 0 : 1;
}
