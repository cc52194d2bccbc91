import type { JSX } from 'preact';
import type { ScanDetails } from '../../../../client/src/index.js';
import { api } from '../../app/session.js';
import { useAnswer } from '../../live/use-answer.js';
import { Badge } from '../../parts/badge.js';
import { Link } from '../../parts/button.js';
import { Moment } from '../../parts/facts.js';
import { Empty, Shown } from '../../parts/notes.js';
import { Section } from '../../parts/page-head.js';
import { toneOf } from '../../parts/tones.js';
import { texts } from '../../texts/texts.js';

const { home } = texts;
const REFRESH_MS = 15_000;

/** Health of the platform as of the newest scan. */
export function Health(): JSX.Element {
  const newest = useAnswer(newestScan, [], { refreshMs: REFRESH_MS });
  return (
    <Section title={home.health} actions={<Link to="/platform">{home.healthAll}</Link>}>
      <Shown answer={newest}>
        {(scan) => (scan === null ? <Empty title={home.neverScanned} /> : <Found scan={scan} />)}
      </Shown>
    </Section>
  );
}

async function newestScan(signal: AbortSignal): Promise<ScanDetails | null> {
  const { data } = await api().listScans({ query: { limit: 1 }, signal });
  const [newest] = data.scans;
  if (newest === undefined) {
    return null;
  }
  return (await api().getScan({ path: { scanId: newest.id }, signal })).data;
}

function Found({ scan }: { scan: ScanDetails }): JSX.Element {
  const { services, infrastructure, externalIntegrations } = scan.result;
  const components = [services, infrastructure, externalIntegrations].flatMap((part) => Object.entries(part));
  return (
    <>
      <ul class="chips">
        {components.map(([key, component]) => (
          <li key={key}>
            <Badge tone={toneOf(component.status)}>
              {'name' in component ? component.name : key}: {component.status}
            </Badge>
          </li>
        ))}
      </ul>
      <p class="quiet">
        {components.length} {home.components(components.length)}, {home.scanned}{' '}
        <Moment at={scan.finishedAt} />
      </p>
    </>
  );
}
