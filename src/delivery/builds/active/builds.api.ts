import { exampleOf } from '../../../platform/openapi/answer-fields.decorators.js';
import { apiRoutes } from '../../../platform/http/api-routes.js';
import { OPTIONAL_IF_MATCH } from '../../../platform/http/conditional-requests.js';
import {
  ActivateBuildRequestDto,
  ActivatedBuildResponseDto,
  ActiveBuildResponseDto,
  BuildInfoResponseDto,
  BuildSettingsDto,
  WithdrawBuildRequestDto,
  WithdrawnBuildResponseDto,
} from './active-build.dto.js';
import { BuildDifferencesResponseDto } from '../differences/build-differences.dto.js';
import {
  ACTIVATED_BUILD_EXAMPLE,
  ACTIVATE_EXAMPLE,
  ACTIVE_BUILD_EXAMPLE,
  BPMN_EXAMPLE,
  BUILD_DIFFERENCES_EXAMPLE,
  BUILD_PAGE_EXAMPLE,
  DELIVERY_DENIED,
  MANIFEST_EXAMPLE,
  NO_BUILD,
} from '../model/build.examples.js';
import { BuildManifestResponseDto, BuildPageDto } from '../making/build.response.dto.js';

const BUILD_INFO_EXAMPLE = exampleOf(BuildInfoResponseDto, {
  buildId: ACTIVATE_EXAMPLE.buildId,
  buildSettings: exampleOf(BuildSettingsDto, { themeId: null, currencyDisplayFormat: { format: 'isoCode' } }),
});

/** The response header `ETag` (RFC 9110, section 8.8.3). */
const ETAG_HEADER = {
  ETag: {
    description: 'Another one after each activation that changed something: the `If-Match` of the next one.',
    required: true,
    schema: { type: 'string', pattern: '^"[0-9a-f-]{36}\\.[0-9]{1,16}"$' },
  },
} as const;

export const BuildsApi = apiRoutes([DELIVERY_DENIED], {
  listBuilds: {
    summary: 'List the builds of an application',
    description:
      'Extension of the contract. Newest first. Follow `next` until it is null. An unknown application has none.',
    answer: { type: BuildPageDto, example: BUILD_PAGE_EXAMPLE, description: 'A page of builds.' },
  },
  getBuild: {
    summary: 'Get the manifest of a build',
    description: 'Extension of the contract. What the build holds, with the ids of every resource.',
    answer: { type: BuildManifestResponseDto, example: MANIFEST_EXAMPLE, description: 'The manifest.' },
    errors: [NO_BUILD],
  },
  getBuildBpmn: {
    summary: 'Get a process of a build as BPMN',
    description:
      'Extension of the contract. The BPMN 2.0 file that the process comes from, unchanged; a modeller opens it again.',
    answer: {
      content: { 'application/xml': { schema: { type: 'string' }, example: BPMN_EXAMPLE } },
      description: 'The file as it was delivered.',
    },
    errors: [NO_BUILD],
  },
  activateBuild: {
    summary: 'Choose the active build of an application',
    description:
      'Extension of the contract. Effective at once for what starts from now on; running process instances keep their build. ' +
      'Activating an earlier build rolls back. The active build again changes nothing.',
    headers: [OPTIONAL_IF_MATCH],
    body: {
      type: ActivateBuildRequestDto,
      examples: { activate: { summary: 'A build', value: ACTIVATE_EXAMPLE } },
    },
    answer: {
      type: ActivatedBuildResponseDto,
      headers: ETAG_HEADER,
      example: ACTIVATED_BUILD_EXAMPLE,
      description: 'The build is active.',
    },
    errors: [
      NO_BUILD,
      { 409: 'The build was withdrawn: it is neither started nor activated any more.' },
      412,
      428,
    ],
  },
  withdrawBuild: {
    summary: 'Withdraw a build',
    description:
      'Extension of the contract. Nothing of the build is started any more, it cannot be activated, and no package may name it as a library. That ' +
      'cannot be taken back. Where it is the active build, the application has none then. `HOLD` and `TERMINATE` need the permission ' +
      '`process-administration` too, and are done in the background. A build that is withdrawn can be withdrawn again, to treat instances that still run.',
    body: {
      type: WithdrawBuildRequestDto,
      examples: {
        continue: { summary: 'Running instances go on', value: { running: 'CONTINUE' } },
        terminate: { summary: 'They are terminated', value: { running: 'TERMINATE' } },
      },
    },
    answer: {
      type: WithdrawnBuildResponseDto,
      example: {
        buildId: ACTIVATE_EXAMPLE.buildId,
        buildStatus: 'WITHDRAWN',
        running: 'CONTINUE',
        wasActive: false,
      },
      description: 'The build is withdrawn.',
    },
    errors: [NO_BUILD],
  },
  getActiveBuild: {
    summary: 'Get the active build of an application',
    description: 'Extension of the contract.',
    answer: {
      type: ActiveBuildResponseDto,
      headers: ETAG_HEADER,
      example: ACTIVE_BUILD_EXAMPLE,
      description: 'The active build.',
    },
    others: [
      {
        status: 304,
        headers: ETAG_HEADER,
        description: 'The active build is still the one that `If-None-Match` names.',
      },
    ],
    errors: [{ 404: 'The application has no active build.' }],
  },
  compareBuild: {
    summary: 'Compare a build with the active one, or with another',
    description:
      'Extension of the contract. What activating the build would change: processes, permissions that their lanes ask for, workflows, ' +
      'agents, systems, tools, libraries and settings for front ends, those of libraries too. `baseBuildId` compares with another build.',
    answer: {
      type: BuildDifferencesResponseDto,
      example: BUILD_DIFFERENCES_EXAMPLE,
      description: 'The differences.',
    },
    errors: [NO_BUILD],
  },
});

/** The same of the route that any valid token may call. */
export const BuildInfoApi = apiRoutes([], {
  getBuildInfo: {
    summary: 'Get what a front end needs to know of the active build',
    description:
      'Extension of the contract. Any valid token will do. `buildId` goes into the paths of `listProcesses` and `startProcess`.',
    answer: { type: BuildInfoResponseDto, example: BUILD_INFO_EXAMPLE, description: 'The active build.' },
    errors: [{ 404: 'The application has no active build.' }],
  },
});
