import type { JSX } from 'preact';
import { ServiceError, type PackageProblem } from '../../../../clients/typescript/src/index.js';
import { api } from '../../app/session.js';
import { useAnswer } from '../../live/use-answer.js';
import { Empty, Shown } from '../../parts/notes.js';
import { Section } from '../../parts/page-head.js';
import { texts } from '../../texts/texts.js';
import { Problems } from './problems.js';

const { applications } = texts;
const NOT_FOUND = 404;

/** What is wrong with the package of a version, as things stand now. */
export function PackageProblems(path: { appId: string; versionId: string }): JSX.Element {
  const answer = useAnswer(
    async (signal) => problemsNow(path, signal),
    Object.values(path),
  );
  return (
    <Section title={applications.problems} isFlush>
      <Shown answer={answer}>
        {(problems) =>
          problems !== null && problems.length > 0 ? (
            <Problems problems={problems} />
          ) : (
            <Empty title={problems === null ? applications.noPackage : applications.noProblems} />
          )
        }
      </Shown>
    </Section>
  );
}

/** Null where the version has no package: systems can make a version, too. */
async function problemsNow(
  path: { appId: string; versionId: string },
  signal: AbortSignal,
): Promise<readonly PackageProblem[] | null> {
  try {
    return (await api().checkPackage({ path, signal })).data.problems;
  } catch (error) {
    if (error instanceof ServiceError && error.status === NOT_FOUND) {
      return null;
    }
    throw error;
  }
}
