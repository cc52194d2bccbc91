import type { PackageProblem, PreflightResponse } from '../../index.js';
import { printable } from '../../../../../src/platform/printable.js';
import type { TestedSystem } from './delivery.client.js';

interface ElementPlace {
  elementName?: string;
  line?: number;
}

/**
 * Formats a problem of a package, version or build as one line: `file: element: message ("name", line 12) [CODE]`, with the prefix
 * `warning: ` for warnings. The codes are documented.
 */
export function problemLine(problem: PackageProblem & ElementPlace): string {
  const { severity, code, file, element, message, elementName, line } = problem;
  const place = [file, element].filter((part) => part !== null && part !== '').map((part) => `${part}: `);
  const known = [
    ...(elementName === undefined || elementName === element ? [] : [`"${elementName}"`]),
    ...(line === undefined ? [] : [`line ${line}`]),
  ];
  const details = known.length === 0 ? '' : ` (${known.join(', ')})`;
  return printable(
    `${severity === 'warning' ? 'warning: ' : ''}${place.join('')}${message}${details} [${code}]`,
  );
}

/**
 * Formats the agents of a build that cannot run, or not with all of their systems: one line per reason.
 * @param ownAppId application of the build; other agents belong to libraries
 */
export function agentLines({ nodes }: PreflightResponse, ownAppId: string): string[] {
  return nodes.flatMap(({ appId, workflow, nodeName, reason, systems }) => {
    const agent = `agent ${appId === ownAppId ? '' : `of ${appId} `}${workflow}: ${nodeName}: `;
    return [
      ...(reason === null ? [] : [printable(`${agent}${reason}`)]),
      ...systems.flatMap((system) =>
        system.reason === null
          ? []
          : [printable(`${agent}system ${system.appId} ${system.resourceName}: ${system.reason}`)],
      ),
    ];
  });
}

/** Formats the result of a connection test. */
export function connectionLine({ system, status, message }: TestedSystem): string {
  return printable(`connection ${system}: ${status} ${message}`);
}
