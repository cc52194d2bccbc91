import type { Random } from '../../../packages/engine/test/support/random.js';
import {
  BUILT_IN_PERMISSIONS,
  type BuiltInPermission,
} from '../../../src/platform/config/permission-rules.js';

/** Resources of one application, by the names of path parameters. */
export type ResourceIds = Readonly<Record<string, string>>;

/** How an operation determines its application. */
export type AppSource =
  /** From its path. */
  | 'path'
  /** From the resource whose id is in its path. */
  | 'thing'
  /** It lists resources of several applications. */
  | 'list';

/** One operation of the API, and the permissions that the model requires. */
export interface Operation {
  /** Required permissions, all of them; empty if any valid token suffices. */
  permissions: readonly PermissionName[];
  place: AppSource;
  /** For lists: callers without its permission for any application get 403 instead of an empty list. */
  isGuarded?: true;
  /** For lists: it contains no information about applications, or is empty here. */
  hidesApps?: true;
  /** Request body, chosen so that the call does not affect other calls. */
  body?: unknown;
  /** Path parameters in addition to those of the application. */
  params?: ResourceIds;
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

/** All operations that require a token, by their id in openapi.json. */
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
  callMcpEndpoint: { permissions: ['tool-use'], place: 'path', body: {} },
  searchMcpEndpoint: { permissions: ['tool-use'], place: 'path', body: {} },
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
  getCaller: { ...SCANS, hidesApps: true },
  discoverPlatform: SCANS,
  listScans: { ...SCANS, hidesApps: true },
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
  listTasks: { permissions: ['actor'], place: 'list', isGuarded: true, hidesApps: true },
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
  countRunningProcesses: { ...READ_LIST, hidesApps: true },
  countProcessIncidents: READ_LIST,
  listWorkflowRuns: READ_LIST,
  getWorkflowUsage: { ...READ_LIST, hidesApps: true },
  getWorkflowRun: READ,
  listWorkflowRunCalls: READ,
};

const CORRECTION: Operation = {
  permissions: ['process-administration', 'process-data', 'process-read'],
  place: 'thing',
  body: { data: {} },
};

/** Additional variants of operations whose body determines the required permissions. */
export const VARIANTS: Readonly<Record<string, Operation>> = {
  retryToken: CORRECTION,
  retryProcessInstance: CORRECTION,
};

/** An operation of the OpenAPI document. */
export interface Route {
  id: string;
  method: string;
  /** Path with parameters in braces. */
  template: string;
}

interface OpenApi {
  paths: Record<string, Record<string, { operationId?: string; security?: unknown[] }>>;
}

/** Returns all operations of the document that require a token. */
export function guardedRoutes({ paths }: OpenApi): Route[] {
  return Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId, security = [] }]) =>
      operationId !== undefined && security.length > 0
        ? [{ id: operationId, method: method.toUpperCase(), template }]
        : [],
    ),
  );
}

/** Returns the path of a call. */
export function pathOf({ template }: Route, resourceIds: ResourceIds): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(resourceIds[name] ?? 'none'),
  );
}

/** Permissions in the rules of the proof. */
export const PERMISSIONS: readonly PermissionName[] = [...BUILT_IN_PERMISSIONS, 'starter', 'actor', 'clerk'];
export type PermissionName = BuiltInPermission | 'starter' | 'actor' | 'clerk';

/** Applications of the proof. Some ids share a prefix or differ only in case. */
export const APPS = ['red', 'red-two', 'Red', 'blue'] as const;

/** Subject that sets up the proof, with each permission for all applications. */
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

/** A caller, and the permissions that the model grants. */
export interface Caller {
  name: string;
  claims: Record<string, unknown>;
  /** Applications for which the caller has a permission. */
  granted: ReadonlyMap<PermissionName, ReadonlySet<string>>;
}

type Grant = [where: string, value: string, apps: readonly string[]];

/** Independent model of the meaning of each rule form, against which the service is checked. */
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
  // A permission for all applications is rare, since it proves little.
  return Array.from({ length: count }, () => random.pick(random.chance(0.2) ? forms : forms.slice(1))());
}

/** Returns a caller with random claims. */
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

/** Returns the applications for which a caller has all of these permissions. */
export function appsFor(caller: Caller, permissions: readonly PermissionName[]): Set<string> {
  return new Set(
    APPS.filter((app) => permissions.every((permission) => caller.granted.get(permission)?.has(app))),
  );
}
