import { ResolvedSystemState, ResolvedToolState, type ResolvedTool } from './resolution.types.js';

/**
 * Why an agent cannot use a system, for a person; null when it can.
 * @param build the build to make for a system whose tools are not in this one
 */
export function systemReason(state: ResolvedSystemState, build: string): string | null {
  switch (state) {
    case ResolvedSystemState.Ready:
      return null;
    case ResolvedSystemState.Missing:
      return 'There is no such MCP system in the application or in its libraries.';
    case ResolvedSystemState.NeverTested:
      return 'Its connection was never tested, so its tools are not known.';
    case ResolvedSystemState.ToolsNotInBuild:
      return `It had no tools when the build was made; make ${build}.`;
  }
}

/**
 * Why an agent must not call a tool, for a person; null when it may.
 * @param build the build to make for a tool that is disabled in this one
 */
export function toolReason(
  { state, isEnabledNow }: Pick<ResolvedTool, 'state' | 'isEnabledNow'>,
  build: string,
): string | null {
  switch (state) {
    case ResolvedToolState.Ready:
      return null;
    case ResolvedToolState.Gone:
      return 'The server does not list it any more.';
    case ResolvedToolState.Changed:
      return 'Its definition changed and waits for review.';
    case ResolvedToolState.Disabled:
      return 'It is disabled.';
    case ResolvedToolState.DisabledInBuild:
      return isEnabledNow
        ? `It was disabled when the build was made; make ${build}.`
        : `It was disabled when the build was made, and is disabled now: enable it, then make ${build}.`;
  }
}
