import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { setQuery } from '../../app/router.js';
import { useAction } from '../../live/use-action.js';
import { usePages } from '../../live/use-pages.js';
import { AuditEvents } from '../../parts/audit-events.js';
import { Button } from '../../parts/button.js';
import { ErrorNote } from '../../parts/error-note.js';
import { Select, TextField } from '../../parts/fields.js';
import { notify } from '../../parts/messages.js';
import { Empty, Note } from '../../parts/notes.js';
import { PageHead, Section } from '../../parts/page-head.js';
import { VersionChoice } from '../../parts/version-choice.js';
import type { PageProps } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';
import { download, EXPORT_LIMIT, fileOf, readEvents, type ExportFormat } from './audit-export.js';
import { ACTIONS, eventsOf, filtersOf, OUTCOMES, type AuditFilters } from './audit-query.js';

const { audit } = texts;

/** Audit events of an application. */
export function Page({ query }: PageProps): JSX.Element {
  const filters = filtersOf(query);
  return (
    <>
      <PageHead title={audit.title} lead={audit.lead} />
      <VersionChoice appId={filters.appId} versionId={filters.versionId} />
      {filters.appId === '' ? (
        <Empty title={audit.chooseApplication} />
      ) : (
        <>
          <Filters filters={filters} />
          <Events filters={filters} />
        </>
      )}
    </>
  );
}

function Filters({ filters }: { filters: AuditFilters }): JSX.Element {
  return (
    <div class="filters">
      <Select
        label={audit.action}
        value={filters.action}
        empty={audit.anyAction}
        choices={ACTIONS.map((action) => ({ value: action, title: action }))}
        onChange={(action) => setQuery({ action })}
      />
      <Select
        label={audit.outcome}
        value={filters.outcome}
        empty={audit.anyOutcome}
        choices={OUTCOMES.map((outcome) => ({ value: outcome, title: outcome }))}
        onChange={(outcome) => setQuery({ outcome })}
      />
      <TextField
        label={audit.actor}
        placeholder={audit.actorHint}
        value={filters.actor}
        onChange={(actor) => setQuery({ actor })}
      />
      <TextField
        label={audit.from}
        type="datetime-local"
        value={filters.from}
        onChange={(from) => setQuery({ from })}
      />
      <TextField
        label={audit.to}
        type="datetime-local"
        value={filters.to}
        onChange={(to) => setQuery({ to })}
      />
    </div>
  );
}

function Events({ filters }: { filters: AuditFilters }): JSX.Element {
  const pages = usePages(async (before, signal) => {
    const { events, next } = await eventsOf(filters, { before, signal });
    return { items: events, next };
  }, Object.values(filters));
  return (
    <>
      <Export filters={filters} />
      <Section title={audit.events} isFlush>
        <AuditEvents pages={pages} />
      </Section>
    </>
  );
}

function Export({ filters }: { filters: AuditFilters }): JSX.Element {
  const [count, setCount] = useState(0);
  const [isCut, setIsCut] = useState(false);
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const run = useAction(async (format: ExportFormat) => {
    stop.current = new AbortController();
    const { signal } = stop.current;
    setCount(0);
    setIsCut(false);
    try {
      const read = await readEvents(filters, setCount, signal);
      download(fileOf(read.events, format), `audit-${filters.appId}.${format}`);
      setIsCut(read.isCut);
      notify(audit.exported(read.events.length));
    } catch (error) {
      if (!signal.aborted) {
        throw error;
      }
    }
  });
  return (
    <Section title={audit.exportTitle}>
      <div class="form-foot">
        <Button isBusy={run.isBusy} onClick={() => run.run('csv')}>
          {audit.exportCsv}
        </Button>
        <Button isBusy={run.isBusy} onClick={() => run.run('json')}>
          {audit.exportJson}
        </Button>
        {run.isBusy && <Button onClick={() => stop.current.abort()}>{audit.stop}</Button>}
        <span class="quiet" role="status">
          {run.isBusy ? audit.reading(count) : audit.exportLead(EXPORT_LIMIT)}
        </span>
      </div>
      {isCut && (
        <Note tone="warn">
          <p>{audit.cut(EXPORT_LIMIT)}</p>
        </Note>
      )}
      <ErrorNote error={run.error} />
    </Section>
  );
}
