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
    description:
      'Differs after each activation that changes something. Send it as `If-Match` with the next activation.',
    required: true,
    schema: { type: 'string', pattern: '^"[0-9a-f-]{36}\\.[0-9]{1,16}"$' },
  },
} as const;

export const BuildsApi = apiRoutes([DELIVERY_DENIED], {
  listBuilds: {
    summary: 'List the builds of an application',
    description:
      'Extension of the contract. Newest first. Follow `next` until it is null. The list is empty for an unknown application.',
    answer: { type: BuildPageDto, example: BUILD_PAGE_EXAMPLE, description: 'A page of builds.' },
  },
  getBuild: {
    summary: 'Get the manifest of a build',
    description: 'Extension of the contract. Contents of the build, with the ids of all resources.',
    answer: { type: BuildManifestResponseDto, example: MANIFEST_EXAMPLE, description: 'The manifest.' },
    errors: [NO_BUILD],
  },
  getBuildBpmn: {
    summary: 'Get a process of a build as BPMN',
    description:
      'Extension of the contract. The BPMN 2.0 file of the process as it was delivered, ready to open in a modeler.',
    answer: {
      content: { 'application/xml': { schema: { type: 'string' }, example: BPMN_EXAMPLE } },
      description: 'The BPMN file.',
    },
    errors: [NO_BUILD],
  },
  activateBuild: {
    summary: 'Choose the active build of an application',
    description:
      'Extension of the contract. Takes effect immediately for new process instances; running instances keep their build. ' +
      'Activate an earlier build to roll back. Activating the active build again changes nothing.',
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
      { 409: 'The build was withdrawn: it can no longer be started or activated.' },
      412,
      428,
    ],
  },
  withdrawBuild: {
    summary: 'Withdraw a build',
    description:
      'Extension of the contract. The build can no longer be started, activated or named as a library by a package. This ' +
      'cannot be undone. If it is the active build, the application has none afterwards. `HOLD` and `TERMINATE` also require ' +
      '`process-administration`, and are applied in the background. Withdraw a build again to treat instances that still run.',
    body: {
      type: WithdrawBuildRequestDto,
      examples: {
        continue: { summary: 'Let running instances continue', value: { running: 'CONTINUE' } },
        terminate: { summary: 'Terminate running instances', value: { running: 'TERMINATE' } },
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
        description: 'The active build is still the one in `If-None-Match`.',
      },
    ],
    errors: [{ 404: 'The application has no active build.' }],
  },
  compareBuild: {
    summary: 'Compare a build with the active build or another one',
    description:
      'Extension of the contract. What activating the build would change: processes, permissions that their lanes require, workflows, ' +
      'agents, systems, tools, libraries and front-end settings, including those of libraries. Set `baseBuildId` to compare with another build.',
    answer: {
      type: BuildDifferencesResponseDto,
      example: BUILD_DIFFERENCES_EXAMPLE,
      description: 'The differences.',
    },
    errors: [NO_BUILD],
  },
});

/** Documentation of the route that any valid token may call. */
export const BuildInfoApi = apiRoutes([], {
  getBuildInfo: {
    summary: 'Get the active build for front ends',
    description:
      'Extension of the contract. Requires any valid token. Use `buildId` in the paths of `listProcesses` and `startProcess`.',
    answer: { type: BuildInfoResponseDto, example: BUILD_INFO_EXAMPLE, description: 'The active build.' },
    errors: [{ 404: 'The application has no active build.' }],
  },
});
