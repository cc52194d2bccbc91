import { apiRoutes } from '../../../common/http/api-routes.js';
import { BuildInfoResponseDto } from './build-info.dto.js';
import { BUILD_INFO_EXAMPLE } from '../model/build.examples.js';

/** What the OpenAPI document says of the routes beside it. */
export const BuildInfoApi = apiRoutes([], {
  getBuildInfo: {
    summary: 'Get what a front end needs to know of the active build',
    description:
      'Extension of the contract. Any valid token will do. `buildId` goes into the paths of `listProcesses` and `startProcess`.',
    answer: { type: BuildInfoResponseDto, example: BUILD_INFO_EXAMPLE, description: 'The active build.' },
    errors: [{ 404: 'The application has no active build.' }],
  },
});
