import type { JSX } from 'preact';
import { ServiceError, type PackageProblem } from '../../../../client/src/index.js';
import { Badge } from '../../parts/badge.js';
import { LongTable } from '../../parts/long-table.js';
import type { Column } from '../../parts/table.js';
import { texts } from '../../texts/texts.js';

const { applications } = texts;

const COLUMNS: readonly Column<PackageProblem>[] = [
  {
    title: applications.severity,
    cell: ({ severity }) => <Badge tone={severity === 'error' ? 'bad' : 'warn'}>{severity}</Badge>,
    isTight: true,
  },
  {
    title: applications.message,
    cell: ({ message, code }) => <Message message={message} code={code} />,
    isText: true,
  },
  { title: applications.place, cell: placeOf },
];

/** Errors and warnings of a package. */
export function Problems({ problems }: { problems: readonly PackageProblem[] }): JSX.Element | null {
  return problems.length === 0 ? null : (
    <LongTable
      caption={applications.problems}
      columns={COLUMNS}
      rows={problems}
      keyOf={({ code, file, element, message }) => [code, file, element, message].join('\n')}
      textOf={({ code, file, message, elementName }) => [code, file, message, elementName].join('\n')}
      empty={null}
    />
  );
}

/** Returns the problems in an error response. */
export function problemsOf(error: unknown): readonly PackageProblem[] {
  const body = error instanceof ServiceError ? error.body : undefined;
  const hasProblems = typeof body === 'object' && body !== null && 'problems' in body;
  return hasProblems && Array.isArray(body.problems) ? (body.problems as PackageProblem[]) : [];
}

function Message({ message, code }: { message: string; code: string }): JSX.Element {
  return (
    <>
      {message} <code class="quiet">{code}</code>
    </>
  );
}

function placeOf({ file, element, elementName, line }: PackageProblem): string {
  return [file, elementName ?? element ?? '', line === undefined ? '' : applications.line(line)]
    .filter((part) => part !== '')
    .join(' · ');
}
