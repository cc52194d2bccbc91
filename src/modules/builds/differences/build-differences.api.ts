import { apiRoutes } from '../../../common/http/api-routes.js';
import { BUILD_DIFFERENCES_EXAMPLE, DELIVERY_DENIED, NO_BUILD } from '../model/build.examples.js';
import { BuildDifferencesResponseDto } from './build-differences.dto.js';

/** What the OpenAPI document says of the route beside it. */
export const BuildDifferencesApi = apiRoutes([DELIVERY_DENIED], {
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
