import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ScanDetails } from '../../../../client/src/index.js';
import { setQuery } from '../../app/router.js';
import { api } from '../../app/session.js';
import { useAction, type Action } from '../../live/use-action.js';
import { useAnswer } from '../../live/use-answer.js';
import { Badge } from '../../parts/badge.js';
import { Button, Link } from '../../parts/button.js';
import { ErrorNote } from '../../parts/error-note.js';
import { Facts, Figure, Moment } from '../../parts/facts.js';
import { notify } from '../../parts/messages.js';
import { Empty, Note, Shown } from '../../parts/notes.js';
import { PageHead, Section } from '../../parts/page-head.js';
import { toneOf } from '../../parts/tones.js';
import type { PageProps } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';
import { cardsOf, type Card } from './components.js';

const t = texts.platform;
const REFRESH_MS = 15_000;
const SECOND_MS = 1_000;
const MAPS = ['services', 'infrastructure', 'externalIntegrations'] as const;

/** Results of the newest scan, or of the one in the query. */
export function Page({ query }: PageProps): JSX.Element {
  const chosen = query.get('scan') ?? '';
  const scan = useAnswer(
    (signal) => loadScan(chosen, signal),
    [chosen],
    chosen === '' ? { refreshMs: REFRESH_MS } : {},
  );
  const rescan = useAction(async () => {
    const { data } = await api().discoverPlatform();
    notify(t.rescanned(data.totalServices, data.unhealthyServices));
    setQuery({ scan: undefined });
    scan.reload();
  });
  return (
    <>
      <PageHead
        title={t.title}
        lead={t.lead}
        actions={
          <>
            <Link to="/platform/changes">{t.changes}</Link>
            <Link to="/platform/scans">{t.scans}</Link>
            <Button kind="primary" isBusy={rescan.isBusy} onClick={() => rescan.run()}>
              {t.rescan}
            </Button>
          </>
        }
      />
      <Rescan action={rescan} />
      {chosen !== '' && (
        <Note title={t.older}>
          <p>
            <Link to="/platform">{t.toNewest}</Link>
          </p>
        </Note>
      )}
      <Shown answer={scan}>
        {(found) => (found === null ? <Empty title={t.neverScanned} /> : <Board scan={found} />)}
      </Shown>
    </>
  );
}

async function loadScan(chosen: string, signal: AbortSignal): Promise<ScanDetails | null> {
  let scanId = Number(chosen);
  if (chosen === '') {
    const { data } = await api().listScans({ query: { limit: 1 }, signal });
    const [newest] = data.scans;
    if (newest === undefined) {
      return null;
    }
    scanId = newest.id;
  }
  return (await api().getScan({ path: { scanId }, signal })).data;
}

/** Progress of a scan. Shows the elapsed time, because the service does not report progress. */
function Rescan({ action: { isBusy, error } }: { action: Action<[]> }): JSX.Element {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    if (!isBusy) {
      return undefined;
    }
    const begun = Date.now();
    setSeconds(0);
    const timer = setInterval(() => setSeconds(Math.round((Date.now() - begun) / SECOND_MS)), SECOND_MS);
    return () => clearInterval(timer);
  }, [isBusy]);
  return (
    <>
      {isBusy && (
        <div>
          <progress aria-label={t.scanning} />
          <p class="quiet" role="status">
            {t.scanning} <span aria-hidden="true">{t.seconds(seconds)}</span>
          </p>
        </div>
      )}
      <ErrorNote error={error} />
    </>
  );
}

function Board({ scan }: { scan: ScanDetails }): JSX.Element {
  const cards = cardsOf(scan.result);
  const { summary } = scan.result;
  const all = MAPS.flatMap((map) => cards[map]);
  const down = all.filter(({ status }) => status === 'unhealthy').length;
  return (
    <>
      <div class="figures">
        <Figure label={t.components} value={all.length} />
        <Figure label={t.unhealthy} value={down} tone={down > 0 ? 'bad' : 'good'} />
        <Figure
          label={t.changedSince}
          value={summary.configurationChanges}
          tone={summary.configurationChanges > 0 ? 'warn' : 'quiet'}
          to="/platform/changes"
        />
        <Figure label={t.duration} value={summary.scanDuration} />
        <Figure label={t.scanned} value={<Moment at={scan.finishedAt} />} note={t.by(scan.requestedBy)} />
      </div>
      {summary.recommendations.length > 0 && (
        <Section title={t.recommendations}>
          <ul class="bullets">
            {summary.recommendations.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </Section>
      )}
      {MAPS.map((map) => (
        <Section key={map} title={t.maps[map]}>
          {cards[map].length === 0 ? (
            <p class="quiet">{texts.parts.none}</p>
          ) : (
            <ul class="cards">
              {cards[map].map((card) => (
                <Component key={card.key} card={card} />
              ))}
            </ul>
          )}
        </Section>
      ))}
    </>
  );
}

function Component({ card }: { card: Card }): JSX.Element {
  const { key, name, status, error, facts, checkedAt } = card;
  return (
    <li class={`card card-${toneOf(status)}`}>
      <div class="turn-head">
        <h3>{name}</h3>
        <Badge tone={toneOf(status)}>{status}</Badge>
      </div>
      <code class="quiet">{key}</code>
      {error !== undefined && <p class="is-bad">{error}</p>}
      <Facts facts={[...facts, [t.checked, <Moment key="checked" at={checkedAt} />]]} />
      <p>
        <Link to={`/platform/changes?key=${encodeURIComponent(key)}`}>{t.history}</Link>
      </p>
    </li>
  );
}
