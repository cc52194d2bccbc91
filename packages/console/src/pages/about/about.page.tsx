import type { JSX } from 'preact';
import { caller, settings } from '../../app/session.js';
import { ExternalLink } from '../../parts/button.js';
import { Facts, Id } from '../../parts/facts.js';
import { Empty } from '../../parts/notes.js';
import { PageHead, Section } from '../../parts/page-head.js';
import { Table } from '../../parts/table.js';
import { texts } from '../../texts/texts.js';

const { about } = texts;

/** This service, who is signed in, and where to read more. */
export function Page(): JSX.Element {
  return (
    <>
      <PageHead title={about.title} lead={about.lead} />
      <Service />
      <You />
      <Section title={about.links}>
        <ul class="plain-list">
          <li>
            <ExternalLink to={settings.value?.documentation ?? '/docs'}>{about.documentation}</ExternalLink>
          </li>
          <li>
            <ExternalLink to="/docs-json">{about.openapi}</ExternalLink>
          </li>
          <li>
            <ExternalLink to="/metrics">{about.metrics}</ExternalLink>
          </li>
          <li>
            <ExternalLink to="/readyz">{about.ready}</ExternalLink>
          </li>
        </ul>
      </Section>
    </>
  );
}

function Service(): JSX.Element | null {
  const known = settings.value;
  return known === null ? null : (
    <Section title={texts.shell.product}>
      <Facts
        facts={[
          [about.version, known.version],
          [about.mode, known.evaluation ? about.evaluation : about.production],
          [about.issuer, known.issuer],
          [about.client, known.clientId ?? texts.parts.none],
        ]}
      />
    </Section>
  );
}

function You(): JSX.Element | null {
  const you = caller.value;
  return you === null ? null : (
    <Section title={about.you}>
      <Facts facts={[[about.subject, <Id key="subject" value={you.subject} />]]} />
      <Table
        caption={about.permissions}
        rows={you.permissions}
        keyOf={({ permission }) => permission}
        columns={[
          { title: about.permissions, cell: ({ permission }) => permission },
          {
            title: texts.areas.applications,
            cell: ({ applications }) => applications?.join(', ') ?? about.everywhere,
          },
        ]}
        empty={<Empty title={about.noPermissions} />}
      />
    </Section>
  );
}
