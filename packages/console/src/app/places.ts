/** Path of the heat map of a process. It is here because several areas link to it, and areas do not import each other. */
export function heatMapPath(appId: string, buildId: string, process: string): string {
  return `/instances/heat/${[appId, buildId, process].map(encodeURIComponent).join('/')}`;
}
