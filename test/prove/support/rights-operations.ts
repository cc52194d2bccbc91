import type { PermissionName } from './rights-model.js';

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
