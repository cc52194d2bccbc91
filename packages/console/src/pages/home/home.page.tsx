import type { JSX } from 'preact';
import { may, mayUse } from '../../app/permissions.js';
import { Note } from '../../parts/notes.js';
import { PageHead } from '../../parts/page-head.js';
import { texts } from '../../texts/texts.js';
import { Health } from './health.js';
import { Incidents } from './incidents.js';
import { Running } from './running.js';
import { RunsToday } from './runs-today.js';
import { Waiting } from './waiting.js';

const { home } = texts;

/** Overview of tasks, runs, health, incidents and instances. */
export function Page(): JSX.Element {
  const mayRead = may('process-read');
  return (
    <>
      <PageHead title={home.title} lead={home.lead} />
      <div class="columns">
        {mayUse('uiAction') && <Waiting />}
        {mayRead && <RunsToday />}
      </div>
      {mayUse('discovery') && <Health />}
      {mayRead ? (
        <div class="columns">
          <Incidents />
          <Running />
        </div>
      ) : (
        <Note>
          <p>{home.notReadable}</p>
        </Note>
      )}
    </>
  );
}
