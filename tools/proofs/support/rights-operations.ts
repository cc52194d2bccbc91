import type { Random } from '../../../packages/engine/test/support/random.js';

/** What there is of one application, by the names of parameters of paths. */
export type Things = Readonly<Record<string, string>>;

/** How an operation finds out which application it is about. */
export type Place =
  /** By its path. */
  | 'path'
  /** By what the id in its path names. */
  | 'thing'
  /** It lists what is of several applications. */
  | 'list';

/** One operation of the interface, and what the model asks of its callers. */
export interface Operation {
  /** All of them are needed; none for any valid token. */
  permissions: readonly PermissionName[];
  place: Place;
  /** Of a list: who has its permission for no application is refused (403), and is not shown an empty one. */
  isGuarded?: true;
  /** Of a list: it tells nothing of an application, or there is nothing in it here. */
  tellsNoApps?: true;
  /** Sent so that the call changes nothing that other calls need. */
  body?: unknown;
  /** Parameters of the path other than those of the application. */
  params?: Things;
}

const MANAGEMENT: Operation = { permissions: ['integration-management'], place: 'path' };
const DELIVERY: Operation = { permissions: ['application-delivery'], place: 'path' };
const READ: Operation = { permissions: ['process-read'], place: 'thing' };
const ADMINISTRATION: Operation = { permissions: ['process-administration'], place: 'thing' };
const ANYBODY: Operation = { permissions: [], place: 'path' };
const SCANS: Operation = { permissions: [], place: 'list' };
const READ_LIST: Operation = { permissions: ['process-read'], place: 'list', isGuarded: true };
const WRONG_BODY = { wrong: true };
const NO_SUCH_NODE = { nodeId: 'none' };

/** Every operation that asks for a token, by its id in openapi.json. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  listAuditEvents: MANAGEMENT,
  listApplicationAuditEvents: MANAGEMENT,
  createSystem: { ...MANAGEMENT, body: WRONG_BODY },
  getSystem: MANAGEMENT,
  listSystems: MANAGEMENT,
  updateSystem: { ...MANAGEMENT, body: WRONG_BODY },
  deleteSystem: MANAGEMENT,
  replaceClientSecret: { ...MANAGEMENT, body: WRONG_BODY },
  replaceClientCertificate: { ...MANAGEMENT, body: WRONG_BODY },
  testMcpConnection: { ...MANAGEMENT, body: WRONG_BODY },
  testStoredConnection: MANAGEMENT,
  listToolReviews: MANAGEMENT,
  switchTool: { ...MANAGEMENT, body: WRONG_BODY, params: { systemId: 'none', toolId: 'none' } },
  callTool: {
    permissions: ['tool-call'],
    place: 'path',
    params: { systemId: 'none', toolId: 'none' },
    body: {},
  },
  listApplications: { permissions: ['application-delivery'], place: 'list', isGuarded: true },
  listVersions: DELIVERY,
  storePackage: { ...DELIVERY, body: WRONG_BODY },
  getPackage: DELIVERY,
  checkPackage: DELIVERY,
  commitVersion: DELIVERY,
  createBuild: { ...DELIVERY, params: { versionId: 'draft' } },
  listBuilds: DELIVERY,
  getBuild: DELIVERY,
  getBuildBpmn: DELIVERY,
  compareBuild: DELIVERY,
  activateBuild: { ...DELIVERY, body: WRONG_BODY },
  getActiveBuild: DELIVERY,
  withdrawBuild: { ...DELIVERY, body: WRONG_BODY },
  listWorkflows: DELIVERY,
  getWorkflow: DELIVERY,
  createWorkflowNode: { ...DELIVERY, body: WRONG_BODY },
  getWorkflowNode: { ...DELIVERY, params: NO_SUCH_NODE },
  updateWorkflowNode: { ...DELIVERY, body: WRONG_BODY, params: NO_SUCH_NODE },
  deleteWorkflowNode: { ...DELIVERY, params: NO_SUCH_NODE },
  preflightVersion: DELIVERY,
  preflightBuild: DELIVERY,
  getBuildInfo: ANYBODY,
  getCaller: { ...SCANS, tellsNoApps: true },
  discoverPlatform: SCANS,
  listScans: { ...SCANS, tellsNoApps: true },
  getScan: SCANS,
  listComponentChanges: SCANS,
  listProcesses: ANYBODY,
  getProcessStatistics: {
    permissions: ['process-read'],
    place: 'path',
    params: { processDefinitionName: 'none' },
  },
  startProcess: {
    permissions: ['starter'],
    place: 'path',
    params: { processDefinitionName: 'none' },
    body: {},
  },
  listTasks: { permissions: ['actor'], place: 'list', isGuarded: true, tellsNoApps: true },
  executeUiAction: { permissions: ['actor', 'clerk'], place: 'thing', body: {} },
  listProcessInstances: { permissions: ['process-read'], place: 'list' },
  getProcessInstance: READ,
  getProcessInstanceHistory: READ,
  getProcessInstanceBpmn: READ,
  getProcessInstanceDiagram: READ,
  followProcessInstance: READ,
  holdProcessInstance: ADMINISTRATION,
  releaseProcessInstance: ADMINISTRATION,
  terminateProcessInstance: ADMINISTRATION,
  retryToken: ADMINISTRATION,
  retryProcessInstance: ADMINISTRATION,
  startTestRun: { permissions: ['workflow-test'], place: 'path', params: { workflowName: 'none' }, body: {} },
  listProcessIncidents: READ_LIST,
  countRunningProcesses: { ...READ_LIST, tellsNoApps: true },
  countProcessIncidents: READ_LIST,
  listWorkflowRuns: READ_LIST,
  getWorkflowUsage: { ...READ_LIST, tellsNoApps: true },
  getWorkflowRun: READ,
  listWorkflowRunCalls: READ,
};

const CORRECTION: Operation = {
  permissions: ['process-administration', 'process-data', 'process-read'],
  place: 'thing',
  body: { data: {} },
};

/** Operations whose body decides what they ask of their callers, once more. */
export const VARIANTS: Readonly<Record<string, Operation>> = {
  retryToken: CORRECTION,
  retryProcessInstance: CORRECTION,
};

/** An operation of the OpenAPI document. */
export interface Route {
  id: string;
  method: string;
  /** With parameters in braces. */
  template: string;
}

interface OpenApi {
  paths: Record<string, Record<string, { operationId?: string; security?: unknown[] }>>;
}

/** All operations of the document that ask for a token. */
export function guardedRoutes({ paths }: OpenApi): Route[] {
  return Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId, security = [] }]) =>
      operationId !== undefined && security.length > 0
        ? [{ id: operationId, method: method.toUpperCase(), template }]
        : [],
    ),
  );
}

/** The path of a call. */
export function pathOf({ template }: Route, things: Things): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(things[name] ?? 'none'));
}

/** Permissions that the rules of the proof know. */
export const PERMISSIONS = [
  'integration-management',
  'application-delivery',
  'process-read',
  'process-administration',
  'process-data',
  'workflow-test',
  'tool-call',
  'starter',
  'actor',
  'clerk',
] as const;
export type PermissionName = (typeof PERMISSIONS)[number];

/** Applications of the proof; the ids of some begin alike, or differ by case only. */
export const APPS = ['red', 'red-two', 'Red', 'blue'] as const;

/** Who prepares everything: each permission for all applications. */
export const ADMINISTRATOR = 'administrator';

/** PERMISSION_RULES: every permission in every form. */
export const RULES = Object.fromEntries(
  PERMISSIONS.map((name) => [
    name,
    [
      { claim: 'sub', has: ADMINISTRATOR },
      { claim: 'all', has: name },
      { claim: ['roles', 'at'], hasAt: name },
      { claim: ['roles', 'red'], has: name, apps: ['red*'] },
      { claim: ['roles', 'listed'], has: name, appsIn: 'apps' },
      { appsIn: ['lists', name] },
    ],
  ]),
);

/** Somebody who calls, and what the model says of him. */
export interface Caller {
  name: string;
  claims: Record<string, unknown>;
  /** Applications for which the caller has a permission. */
  granted: ReadonlyMap<PermissionName, ReadonlySet<string>>;
}

type Grant = [where: string, value: string, apps: readonly string[]];

/** What each form of a rule means, said once more: the proof holds the service against it. */
function grantsOf(random: Random, name: PermissionName, listed: readonly string[]): Grant[] {
  const app = random.pick(APPS);
  const forms: readonly (() => Grant)[] = [
    () => ['all', name, APPS],
    () => ['at', `${name}@${app}`, [app]],
    () => ['at', `${name}@*`, []],
    () => ['at', name, []],
    () => ['red', name, ['red', 'red-two']],
    () => ['listed', name, listed],
    () => ['lists', app, [app]],
    () => ['lists', 'r*', []],
  ];
  const count = random.pick([0, 0, 1, 1, 2]);
  // A permission for everything is rare: it proves little.
  return Array.from({ length: count }, () => random.pick(random.chance(0.2) ? forms : forms.slice(1))());
}

/** A caller with claims by chance. */
export function callerOf(random: Random, name: string): Caller {
  const listed = random.shuffled(APPS).slice(0, random.between(0, 2));
  const grants = PERMISSIONS.map((permission) => ({
    permission,
    grants: grantsOf(random, permission, listed),
  }));
  const valuesOf = (where: string): string[] =>
    grants.flatMap(({ grants: own }) => own.filter(([place]) => place === where).map(([, value]) => value));
  const lists = grants.map(({ permission, grants: own }) => [
    permission,
    own.filter(([place]) => place === 'lists').map(([, value]) => value),
  ]);
  return {
    name,
    claims: {
      sub: name,
      scope: 'openid',
      all: valuesOf('all'),
      roles: { at: valuesOf('at'), red: valuesOf('red'), listed: valuesOf('listed') },
      lists: Object.fromEntries(lists),
      apps: random.chance(0.5) ? listed : listed.join(' '),
    },
    granted: new Map(
      grants.map(({ permission, grants: own }) => [permission, new Set(own.flatMap(([, , apps]) => apps))]),
    ),
  };
}

/** Applications for which a caller has all of these permissions. */
export function appsFor(caller: Caller, permissions: readonly PermissionName[]): Set<string> {
  return new Set(
    APPS.filter((app) => permissions.every((permission) => caller.granted.get(permission)?.has(app))),
  );
}
