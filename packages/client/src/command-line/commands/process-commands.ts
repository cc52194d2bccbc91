import {
  followInstance,
  ServiceError,
  type InstanceProgress,
  type InstanceResponse,
  type OpenUiAction,
  type StartProcessResponse,
  type SvcClient,
} from '../../index.js';
import { didYouMean } from '#engine/support';
import { withoutUndefined } from '../../../../../src/platform/without-undefined.js';
import { eventText, nodeOf, table } from '../lines.js';
import { workflowMessages } from './incident-commands.js';
import { processData } from '../process-data.js';
import { UsageError, type Session } from '../session.js';
import { printable } from '../../../../../src/platform/printable.js';

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

/** Starts a process of the active build, or of the given one. */
export async function startProcess(
  session: Session,
  appId: string,
  process: string,
  options: StartOptions,
): Promise<number> {
  const data = await processData(options.data, session.environment);
  const { startCondition, key } = options;
  const svc = await session.service();
  const buildId = options.build ?? (await svc.getBuildInfo({ path: { appId } })).data.buildId;
  const starting = svc.startProcess({
    path: { appId, buildId, processDefinitionName: process },
    headers: { ...PLATFORM, ...withoutUndefined({ 'Idempotency-Key': key }) },
    body: { ...data, ...withoutUndefined({ startCondition }) },
  });
  const { data: instance } = await starting.catch(async (error: unknown) => {
    throw await withNearestProcess(svc, { appId, buildId }, process, error);
  });
  session.show(instance, () => startLines(instance));
  return options.follow === true ? follow(session, svc, instance.uuid) : 0;
}

/** Adds a hint with a similar process name to an error about an unknown process. */
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
  return [
    `${uuid} ${state} (build ${buildId})`,
    ...(tokens.length === 0 ? [] : table(tokens, TOKEN_COLUMNS)),
  ];
}

const TOKEN_COLUMNS = { NODE: 'currentNodeName', STATE: 'statusCurrentNode', TOKEN: 'uuid' } as const;

/** Executes an open UI action of an instance, by name. */
export async function act(
  session: Session,
  uuid: string,
  action: string,
  options: { data?: string; at?: string; key?: string },
): Promise<number> {
  const body = await processData(options.data, session.environment);
  const svc = await session.service();
  const { data: instance } = await svc.getProcessInstance({ path: { uuid } });
  const open = openActions(instance);
  const meant = open.filter(
    ({ name, svcUuid, tokenUuid }) =>
      [name, svcUuid].includes(action) && (options.at === undefined || options.at === tokenUuid),
  );
  const [only] = meant;
  if (only === undefined || meant.length > 1) {
    const why = only === undefined ? 'is not open' : 'is open on several tokens; choose one with --at';
    const others = open.length === 0 ? ': no action is open.' : `. Open:\n${actionLines(open).join('\n')}`;
    throw new UsageError(`The action ${action} ${why}${others}`);
  }
  const { data: result } = await svc.executeUiAction({
    path: { processUuid: uuid, tokenUuid: only.tokenUuid, uiActionSvcUuid: only.svcUuid },
    headers: {
      ...withoutUndefined({ 'Idempotency-Key': options.key }),
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

type OpenAction = OpenUiAction & { node: string | null; tokenUuid: string; visit: number };

function openActions({ tokens }: InstanceResponse): OpenAction[] {
  return tokens.flatMap(({ uuid, visit, currentNodeName, uiActions }) =>
    uiActions.map((action) => ({ ...action, node: currentNodeName, tokenUuid: uuid, visit })),
  );
}

function actionLines(open: OpenAction[]): string[] {
  const BACK = ({ back }: OpenAction): string => (back ? 'yes' : '');
  return table(open, { ACTION: 'name', NODE: 'node', BACK, TOKEN: 'tokenUuid' });
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

/** Shows an instance, or lists instances, newest first. */
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
    ...(tokens.length === 0 ? [] : table(tokens, TOKEN_COLUMNS)),
    ...(open.length === 0 ? [] : ['', ...actionLines(open)]),
    ...(incidents.length === 0 ? [] : ['', ...incidentLines(incidents, messages)]),
  ];
}

function incidentLines(
  incidents: InstanceResponse['incidents'],
  messages: ReadonlyMap<string, string>,
): string[] {
  const columns = {
    INCIDENT: 'type',
    NODE: nodeOf,
    MESSAGE: ({ uuid, message }: (typeof incidents)[number]) => messages.get(uuid) ?? message,
  } as const;
  return table(incidents, columns, Infinity);
}

async function listInstances(session: Session, svc: SvcClient, options: ShowOptions): Promise<number> {
  const { app, process, limit } = options;
  const state = options.state as InstanceResponse['state'] | undefined;
  const found = withoutUndefined({ applicationId: app, processDefinitionName: process, state });
  const { data } = await svc.listProcessInstances({
    query: { ...found, ...(options.data.length === 0 ? {} : { data: options.data }), limit },
  });
  const lines = (): string[] =>
    table(data.instances, {
      INSTANCE: 'uuid',
      STATE: 'state',
      APPLICATION: 'applicationId',
      PROCESS: 'processDefinitionName',
      STARTED: 'startedAt',
      INCIDENTS: 'openIncidents',
    });
  session.showList(data.instances, lines, 'No matching instances.');
  return 0;
}

/** Prints the progress of an instance until it ends. Returns 1 unless it finished normally. */
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
