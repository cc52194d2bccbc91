import type { JSX } from 'preact';
import { api } from '../../app/session.js';
import { useAnswer } from '../../live/use-answer.js';
import { Empty, Shown } from '../../parts/notes.js';
import { Section } from '../../parts/page-head.js';
import { texts } from '../../texts/texts.js';
import { Problems } from './problems.js';

const { applications } = texts;

/** What is wrong with the package of a version, as things stand now. */
export function PackageProblems(path: { appId: string; versionId: string }): JSX.Element {
  const answer = useAnswer(
    async (signal) => (await api().checkPackage({ path, signal })).data.problems,
    Object.values(path),
  );
  return (
    <Section title={applications.problems} isFlush>
      <Shown answer={answer}>
        {(problems) =>
          problems.length === 0 ? <Empty title={applications.noProblems} /> : <Problems problems={problems} />
        }
      </Shown>
    </Section>
  );
}
