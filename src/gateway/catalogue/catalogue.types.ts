import type { BuildTool } from '../../delivery/builds/contents/build-systems.service.js';
import type { ToolKey } from '../../systems/tools/model/tool.types.js';

/** A tool of a build with its definition as it was reviewed, and the name that clients of the endpoint see. */
export interface CatalogueTool {
  readonly name: string;
  readonly key: ToolKey;
  readonly tool: BuildTool;
}
