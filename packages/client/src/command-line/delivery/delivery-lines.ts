import type { PackageProblem, PreflightResponse } from '../../index.js';
import { printable } from '../../../../../src/platform/printable.js';
import type { TestedSystem } from './delivery.client.js';

interface ElementPlace {
  elementName?: string;
  line?: number;
}

/**
 * A problem of a package, a version or a build as one line: `file: element: message ("name", line 12) [CODE]`, warnings with
 * `warning: ` before. The documents list the codes.
 */
export function problemLine(problem: PackageProblem & ElementPlace): string {
  const { severity, code, file, element, message, elementName, line } = problem;
  const place = [file, element].filter((part) => part !== null && part !== '').map((part) => `${part}: `);
  const known = [
    ...(elementName === undefined || elementName === element ? [] : [`"${elementName}"`]),
    ...(line === undefined ? [] : [`line ${line}`]),
  ];
  const told = known.length === 0 ? '' : ` (${known.join(', ')})`;
  return printable(
    `${severity === 'warning' ? 'warning: ' : ''}${place.join('')}${message}${told} [${code}]`,
  );
}

/**
 * The agents of a build that cannot run, or not with all of their systems, and why: one line for each reason.
 * @param ownAppId application of the build; agents of others are those of libraries
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

/** What came of the test of a connection. */
export function connectionLine({ system, status, message }: TestedSystem): string {
  return printable(`connection ${system}: ${status} ${message}`);
}
