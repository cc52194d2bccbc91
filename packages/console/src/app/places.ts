/** Where the heat map of a process of a build is. Areas link to it that do not know each other. */
export function placeOfHeatMap(appId: string, buildId: string, process: string): string {
  return `/instances/heat/${[appId, buildId, process].map(encodeURIComponent).join('/')}`;
}
