import { denialOf } from '../../../platform/auth/auth.errors.js';
import { Permission } from '../../../platform/auth/permission.js';

const BUILD_ID = '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b01';
const CHECKSUM = '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae';
const TIME = '2026-01-31T10:20:30.123Z';

const BPMN = `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="sample">
  <bpmn:process id="hello" isExecutable="true">
    <bpmn:startEvent id="start" />
    <bpmn:sequenceFlow id="flow" sourceRef="start" targetRef="end" />
    <bpmn:endEvent id="end" />
  </bpmn:process>
</bpmn:definitions>
`;

/** Errors that routes of applications share. */
export const DELIVERY_DENIED = { 403: denialOf(Permission.ApplicationDelivery) };
export const NO_VERSION = { 404: 'Application version not found.' };
export const NO_BUILD = { 404: 'Build not found for this application.' };
export const VERSION_COMMITTED = {
  409: 'The application version is committed and can no longer be changed.',
};

/** Message of a 409 when concurrent changes of the package prevented the work too often. */
export const PACKAGE_MOVED = 'The application package was changed at the same time: read it again.';

/** A small package. */
export const PACKAGE_EXAMPLE = {
  application: { formatVersion: 1, appId: 'sample', name: 'Sample' },
  systems: [
    {
      resourceName: 'inventory',
      type: 'MCP',
      name: 'Inventory tools',
      baseUrl: 'https://mcp.example.com/mcp',
    },
  ],
  processes: [{ file: 'processes/hello.bpmn', bpmn: BPMN }],
};

export const STORED_PACKAGE_EXAMPLE = {
  checksum: CHECKSUM,
  changed: true,
  systems: { added: ['inventory'], changed: [], removed: [] },
  warnings: [],
};

export const PACKAGE_REFUSED_EXAMPLE = {
  error: 'Bad Request',
  message: 'The application package is not valid.',
  status: 400,
  details: 'application.json (/libraries/0): There is no such build.',
  problems: [
    {
      severity: 'error',
      code: 'LIBRARY_NOT_FOUND',
      file: 'application.json',
      element: '/libraries/0',
      message: 'There is no such build.',
    },
  ],
};

export const COMMIT_EXAMPLE = { message: 'Release 1.4' };

export const COMMITTED_VERSION_EXAMPLE = {
  appId: 'sample',
  appVersionId: 'v1',
  status: 'COMMITTED',
  committedDate: TIME,
  warnings: [
    {
      severity: 'warning',
      code: 'SYSTEM_NEVER_TESTED',
      file: '',
      element: null,
      message:
        'The connection of the system "inventory" was never tested, so a build has none of its tools. Test its connection (' +
        'PATCH /appmanager/api/runtime-internal/app/sample/app-version/v1/rt/system/integrationengine/api/systems/test-mcp-connection), then make a build.',
    },
  ],
};

const SUMMARY = {
  buildId: BUILD_ID,
  buildStatus: 'COMMITTED',
  applicationId: 'sample',
  applicationVersionId: 'v1',
  checksum: CHECKSUM,
  createdDate: TIME,
  createdBy: { firstName: 'Jane', lastName: 'Doe', userName: 'jane.doe', impersonatingUser: null },
};

export const BUILD_PAGE_EXAMPLE = { builds: [SUMMARY], next: null };

export const MANIFEST_EXAMPLE = {
  ...SUMMARY,
  resources: [
    {
      resourceType: 'PROCESS',
      name: 'hello',
      resourceId: '0b7f2c52-7f0e-5a1c-8d68-2f3a1f0f6f01',
      resourceDefinitionId: '7d5b3f1e-6a0c-5c6e-9c1e-3f8a2b4d5e02',
    },
  ],
  libraries: [{ appId: 'scoring', buildId: '01920f3e-0000-7c3a-9a54-3f2f6c1d9b10', level: 1 }],
};

export const BPMN_EXAMPLE = BPMN;

export const ACTIVATE_EXAMPLE = { buildId: BUILD_ID };
export const ACTIVE_BUILD_EXAMPLE = { buildId: BUILD_ID, activatedDate: TIME };
export const ACTIVATED_BUILD_EXAMPLE = { ...ACTIVE_BUILD_EXAMPLE, previousBuildId: null };

export const BUILD_DIFFERENCES_EXAMPLE = {
  buildId: BUILD_ID,
  activeBuildId: '01920f3e-0000-7c3a-9a54-3f2f6c1d9b10',
  differences: [
    {
      part: 'PERMISSION',
      change: 'ADDED',
      applicationId: 'sample',
      within: 'hello/Clerks',
      name: 'loan-approval',
      members: [],
      enabled: null,
    },
    {
      part: 'TOOL',
      change: 'CHANGED',
      applicationId: 'sample',
      within: 'inventory',
      name: 'adjust_stock',
      members: ['definition', 'enabled'],
      enabled: true,
    },
  ],
};
