import { apiRoutes } from '../../../common/http/api-routes.js';
import { DELIVERY_DENIED, NO_BUILD, NO_VERSION } from '../../builds/model/build.examples.js';
import { PreflightResponseDto } from './preflight.dto.js';
import { BUILD_PREFLIGHT_EXAMPLE, PREFLIGHT_EXAMPLE } from './preflight.examples.js';

const TOO_LARGE = {
  409: 'The agents and their tools are too many for one answer: divide the application, or give agents servers of fewer tools.',
};

/** What the OpenAPI document says of the routes beside it. */
export const PreflightApi = apiRoutes([DELIVERY_DENIED], {
  preflightVersion: {
    summary: 'Check what the agents of a version may use',
    description:
      'Extension of the contract. For every Custom Agent node of the version and of its libraries its systems and their tools as they ' +
      'would be in a build made now: which are ready, and why the others are not. Nobody is called.',
    answer: { type: PreflightResponseDto, example: PREFLIGHT_EXAMPLE, description: 'The agent nodes.' },
    errors: [NO_VERSION, TOO_LARGE],
  },
  preflightBuild: {
    summary: 'Check what the agents of a build may use',
    description:
      'Extension of the contract. For every Custom Agent node of the build and of its libraries its systems and their tools: ' +
      'definitions of the build, flags of this moment. Nobody is called.',
    answer: { type: PreflightResponseDto, example: BUILD_PREFLIGHT_EXAMPLE, description: 'The agent nodes.' },
    errors: [NO_BUILD, TOO_LARGE],
  },
});
