import type { JSX } from 'preact';
import { api } from '../../app/session.js';
import { orNull } from '../../live/or-null.js';
import { useAnswer } from '../../live/use-answer.js';
import { Empty, Shown } from '../../parts/notes.js';
import { Section } from '../../parts/page-head.js';
import { texts } from '../../texts/texts.js';
import { Problems } from './problems.js';

const { applications } = texts;

/** Current problems of the package of a version. */
export function PackageProblems(path: { appId: string; versionId: string }): JSX.Element {
  const answer = useAnswer(async (signal) => {
    // A version that was created by registering a system has no package.
    const found = await orNull(api().checkPackage({ path, signal }));
    return found === null ? null : found.data.problems;
  }, Object.values(path));
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
