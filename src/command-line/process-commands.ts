import {
  followInstance,
  ServiceError,
  type InstanceProgress,
  type InstanceResponse,
  type OpenUiAction,
  type StartProcessResponse,
  type SvcClient,
} from '../../clients/typescript/src/index.js';
import { didYouMean } from '../common/nearest-name.js';
import { eventText, nodeOf, table } from './lines.js';
import { workflowMessages } from './incident-commands.js';
import { processData } from './process-data.js';
import { UsageError, type Session } from './session.js';
import { printable } from '../common/printable.js';

const NOT_FOUND = 404;

const PLATFORM = { 'svc-platform': 'svc' };

/** Options of `svc start`. */
export interface StartOptions {
  data?: string;
  build?: string;
  startCondition?: string;
  key?: string;
  follow?: boolean;
}

/** Starts a process of the active build, or of the one that is named. */
export async function startProcess(
  session: Session,
  appId: string,
  process: string,
  options: StartOptions,
): Promise<number> {
  const data = await processData(options.data, session.surroundings);
  const { startCondition, key } = options;
  const svc = await session.service();
  const buildId = options.build ?? (await svc.getBuildInfo({ path: { appId } })).data.buildId;
  const starting = svc.startProcess({
    path: { appId, buildId, processDefinitionName: process },
    headers: { ...PLATFORM, ...keyHeader(key) },
    body: { ...data, ...(startCondition === undefined ? {} : { startCondition }) },
  });
  const { data: instance } = await starting.catch(async (error: unknown) => {
    throw await withNearestProcess(svc, { appId, buildId }, process, error);
  });
  session.show(instance, () => startLines(instance));
  return options.follow === true ? follow(session, svc, instance.uuid) : 0;
}

/** The same error; where the build has no such process, with the name that was meant. */
async function withNearestProcess(
  svc: SvcClient,
  path: { appId: string; buildId: string },
  process: string,
  error: unknown,
): Promise<unknown> {
  if (error instanceof ServiceError && error.status === NOT_FOUND) {
    const found = await svc.listProcesses({ path }).catch(() => null);
    const names = found?.data.processes.map(({ processDefinitionName }) => processDefinitionName) ?? [];
    error.message += didYouMean(process, names);
  }
  return error;
}

function startLines({ uuid, state, buildId, tokens }: StartProcessResponse): string[] {
  const rows = tokens.map((token) => [token.currentNodeName, token.statusCurrentNode, token.uuid]);
  return [`${uuid} ${state} (build ${buildId})`, ...(rows.length === 0 ? [] : table(TOKEN_HEADINGS, rows))];
}

const TOKEN_HEADINGS = ['NODE', 'STATE', 'TOKEN'];

/** Executes a UI action that is open on an instance, by its name. */
export async function act(
  session: Session,
  uuid: string,
  action: string,
  options: { data?: string; at?: string; key?: string },
): Promise<number> {
  const body = await processData(options.data, session.surroundings);
  const svc = await session.service();
  const { data: instance } = await svc.getProcessInstance({ path: { uuid } });
  const open = openActions(instance);
  const meant = open.filter(
    ({ name, svcUuid, tokenUuid }) =>
      [name, svcUuid].includes(action) && (options.at === undefined || options.at === tokenUuid),
  );
  const [only] = meant;
  if (only === undefined || meant.length > 1) {
    const why = only === undefined ? 'is not open' : 'is open on several tokens: name one by --at';
    const others = open.length === 0 ? ': no action is open.' : `. Open:\n${actionLines(open).join('\n')}`;
    throw new UsageError(`The action ${action} ${why}${others}`);
  }
  const { data: result } = await svc.executeUiAction({
    path: { processUuid: uuid, tokenUuid: only.tokenUuid, uiActionSvcUuid: only.svcUuid },
    headers: {
      ...keyHeader(options.key),
      'If-Match': `"${only.visit}"`,
      ...(only.back ? { 'svc-back': 'true' as const } : {}),
    },
    body,
  });
  const { data: after } = await svc.getProcessInstance({ path: { uuid } });
  session.show(result, () => [
    `${only.name}: executed${result.backAction ? ', gone back' : ''}`,
    ...instanceLines(after),
  ]);
  return 0;
}

function keyHeader(key: string | undefined): { 'Idempotency-Key'?: string } {
  return key === undefined ? {} : { 'Idempotency-Key': key };
}

type OpenAction = OpenUiAction & { node: string | null; tokenUuid: string; visit: number };

function openActions({ tokens }: InstanceResponse): OpenAction[] {
  return tokens.flatMap(({ uuid, visit, currentNodeName, uiActions }) =>
    uiActions.map((action) => ({ ...action, node: currentNodeName, tokenUuid: uuid, visit })),
  );
}

function actionLines(open: OpenAction[]): string[] {
  const rows = open.map(({ name, node, back, tokenUuid }) => [name, node, back ? 'yes' : '', tokenUuid]);
  return table(['ACTION', 'NODE', 'BACK', 'TOKEN'], rows);
}

/** Options of `svc show`. */
export interface ShowOptions {
  app?: string;
  process?: string;
  state?: string;
  data: string[];
  limit: number;
  follow?: boolean;
}

/** Shows one instance; without one, lists instances, newest first. */
export async function show(
  session: Session,
  uuid: string | undefined,
  options: ShowOptions,
): Promise<number> {
  const svc = await session.service();
  if (uuid === undefined) {
    return listInstances(session, svc, options);
  }
  if (options.follow === true) {
    return follow(session, svc, uuid);
  }
  const { data: instance } = await svc.getProcessInstance({ path: { uuid } });
  const messages = await workflowMessages(svc, instance);
  session.show(instance, () => [
    ...instanceLines(instance, messages),
    '',
    ...JSON.stringify(instance.data, null, 2).split('\n').map(printable),
  ]);
  return 0;
}

function instanceLines(
  instance: InstanceResponse,
  messages: ReadonlyMap<string, string> = new Map(),
): string[] {
  const { uuid, state, applicationId, processDefinitionName, tokens, incidents } = instance;
  const open = openActions(instance);
  return [
    `${uuid} ${state} ${printable(`${applicationId} ${processDefinitionName}`)}`,
    ...(tokens.length === 0
      ? []
      : table(
          TOKEN_HEADINGS,
          tokens.map((token) => [token.currentNodeName, token.statusCurrentNode, token.uuid]),
        )),
    ...(open.length === 0 ? [] : ['', ...actionLines(open)]),
    ...(incidents.length === 0
      ? []
      : [
          '',
          ...table(
            ['INCIDENT', 'NODE', 'MESSAGE'],
            incidents.map((incident) => [
              incident.type,
              incident.nodeName ?? incident.bpmnElementId,
              messages.get(incident.uuid) ?? incident.message,
            ]),
            Infinity,
          ),
        ]),
  ];
}

async function listInstances(session: Session, svc: SvcClient, options: ShowOptions): Promise<number> {
  const { app, process, limit } = options;
  const { data } = await svc.listProcessInstances({
    query: {
      ...(app === undefined ? {} : { applicationId: app }),
      ...(process === undefined ? {} : { processDefinitionName: process }),
      ...(options.state === undefined ? {} : { state: options.state as InstanceResponse['state'] }),
      ...(options.data.length === 0 ? {} : { data: options.data }),
      limit,
    },
  });
  const lines = (): string[] =>
    table(
      ['INSTANCE', 'STATE', 'APPLICATION', 'PROCESS', 'STARTED', 'INCIDENTS'],
      data.instances.map((instance) => [
        instance.uuid,
        instance.state,
        instance.applicationId,
        instance.processDefinitionName,
        instance.startedAt,
        instance.openIncidents,
      ]),
    );
  session.showList(data.instances, lines, 'There is no such instance.');
  return 0;
}

/** Prints what an instance does until it ends. @returns 1 when it ended otherwise than finished */
async function follow(session: Session, svc: SvcClient, uuid: string): Promise<number> {
  let last: InstanceProgress | undefined;
  for await (const progress of followInstance(svc, uuid)) {
    last = progress;
    session.show(progress, () => progressLines(progress));
  }
  return last?.event === 'end' && last.data.state === 'FINISHED' ? 0 : 1;
}

function progressLines(progress: InstanceProgress): string[] {
  switch (progress.event) {
    case 'instance':
      return instanceLines(progress.data);
    case 'history': {
      const { data: event } = progress;
      const parts = [event.timestamp, eventText(event), nodeOf(event), event.actor];
      return [printable(parts.filter((part) => part !== null).join(' '))];
    }
    case 'end':
      return [`${progress.data.uuid} ${progress.data.state}`];
  }
}
