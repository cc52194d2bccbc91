import type { JSX } from 'preact';
import { api } from '../../app/session.js';
import { usePages } from '../../live/use-pages.js';
import { AuditEvents } from '../../parts/audit-events.js';
import { Section } from '../../parts/page-head.js';
import { texts } from '../../texts/texts.js';
import type { KnownSystem } from './system.types.js';

/** Audit events of a system. */
export function History({ known: { path } }: { known: KnownSystem }): JSX.Element {
  const { appId, versionId, systemResourceId } = path;
  const pages = usePages(async (before, signal) => {
    const { data } = await api().listApplicationAuditEvents({
      path: { appId },
      query: {
        systemResourceId,
        applicationVersionId: versionId,
        ...(before === undefined ? {} : { before }),
      },
      signal,
    });
    return { items: data.events, next: data.next };
  }, Object.values(path));
  return (
    <Section title={texts.systems.history} isFlush>
      <AuditEvents pages={pages} />
    </Section>
  );
}
