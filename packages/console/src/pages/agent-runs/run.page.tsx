import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { WorkflowCall, WorkflowRunDetails, WorkflowRunError } from '../../../../client/src/index.js';
import { setQuery } from '../../app/router.js';
import { api } from '../../app/session.js';
import { useAnswer } from '../../live/use-answer.js';
import { State } from '../../parts/badge.js';
import { Link } from '../../parts/button.js';
import { Duration, Facts, Figure, Id, Moment, type Fact } from '../../parts/facts.js';
import { JsonTree } from '../../parts/json-tree.js';
import { Note, Shown } from '../../parts/notes.js';
import { PageHead, Section } from '../../parts/page-head.js';
import { Tabs } from '../../parts/tabs.js';
import type { PageProps } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';
import { Conversation } from './conversation.js';
import { Nodes } from './nodes.js';
import { sumUsage } from './usage.js';
import { useCalls } from './use-calls.js';

const t = texts.agentRuns;
const REFRESH_MS = 5_000;

/** One run: its conversation, its nodes, and where it stopped. */
export function Page({ params, query }: PageProps): JSX.Element {
  const id = params['id'] ?? '';
  // Runs have no progress stream, so a running one is polled.
  const [isRunning, setIsRunning] = useState(false);
  const run = useAnswer(
    async (signal) => {
      const { data } = await api().getWorkflowRun({ path: { workflowRunId: id }, signal });
      setIsRunning(data.state === 'STARTED');
      return data;
    },
    [id],
    isRunning ? { refreshMs: REFRESH_MS } : {},
  );
  const calls = useCalls(id, isRunning);
  return (
    <>
      <PageHead
        title={run.data?.workflow ?? t.run}
        crumbs={[{ title: t.title, to: '/agent-runs' }]}
        state={run.data !== undefined && <State of={run.data.state} />}
        actions={run.data !== undefined && <Origins run={run.data} />}
      />
      <Shown answer={run}>
        {(details) => (
          <>
            {details.error !== null && <Stopped error={details.error} />}
            <Figures run={details} calls={calls.data?.calls ?? []} />
            <Tabs
              label={t.views}
              value={query.get('tab') ?? 'conversation'}
              onChange={(tab) => setQuery({ tab: tab === 'conversation' ? undefined : tab })}
              tabs={[
                { id: 'conversation', title: t.tabs.conversation, count: calls.data?.calls.length },
                { id: 'nodes', title: t.tabs.nodes, count: details.nodes.length },
                { id: 'facts', title: t.tabs.facts },
              ]}
            >
              {(query.get('tab') ?? 'conversation') === 'conversation' && (
                <Shown answer={calls}>
                  {({ calls: made, isWhole }) => (
                    <Conversation calls={made} nodes={details.nodes} isWhole={isWhole} />
                  )}
                </Shown>
              )}
              {query.get('tab') === 'nodes' && <Nodes nodes={details.nodes} />}
              {query.get('tab') === 'facts' && <RunFacts run={details} />}
            </Tabs>
          </>
        )}
      </Shown>
    </>
  );
}

function Origins({ run }: { run: WorkflowRunDetails }): JSX.Element {
  return (
    <>
      {run.parentRunId !== null && <Link to={`/agent-runs/${run.parentRunId}`}>{t.parent}</Link>}
      <Link to={`/agent-runs?parentRunId=${run.id}`}>{t.children}</Link>
      {run.processInstanceUuid !== null && (
        <Link to={`/instances/${run.processInstanceUuid}`}>{t.toInstance}</Link>
      )}
    </>
  );
}

function Stopped({ error }: { error: WorkflowRunError }): JSX.Element {
  const { node, message, details, code } = error;
  return (
    <Note tone="warn" title={node === null ? t.stopped : t.stoppedAt(node)}>
      <p>{message}</p>
      {details !== null && !message.includes(details) && <p class="note-details">{details}</p>}
      <p>
        <code>{code}</code>
      </p>
    </Note>
  );
}

function Figures({ run, calls }: { run: WorkflowRunDetails; calls: readonly WorkflowCall[] }): JSX.Element {
  const { inputTokens, outputTokens, cost, hasCost } = sumUsage(calls);
  const count = (kind: WorkflowCall['kind']): number => calls.filter((call) => call.kind === kind).length;
  const { startedAt, finishedAt } = run;
  return (
    <div class="figures">
      <Figure
        label={t.duration}
        value={<Duration ms={finishedAt === null ? null : Date.parse(finishedAt) - Date.parse(startedAt)} />}
      />
      <Figure label={t.answers} value={count('MODEL')} />
      <Figure label={t.toolCalls} value={count('TOOL') + count('REST')} />
      <Figure label={t.tokensIn} value={inputTokens.toLocaleString('en')} />
      <Figure label={t.tokensOut} value={outputTokens.toLocaleString('en')} />
      {hasCost && <Figure label={t.cost} value={cost.toLocaleString('en', { maximumFractionDigits: 4 })} />}
    </div>
  );
}

function RunFacts({ run }: { run: WorkflowRunDetails }): JSX.Element {
  const facts: readonly Fact[] = [
    [t.id, <Id key="id" value={run.id} />],
    [t.build, <Id key="build" value={run.buildId} />],
    [t.application, run.appId ?? '–'],
    [t.origin, run.origin === 'TEST' ? t.test : t.process],
    [t.started, <Moment key="started" at={run.startedAt} />],
    [t.finished, <Moment key="finished" at={run.finishedAt} />],
    [t.thrown, run.errorCode ?? '–'],
  ];
  return (
    <>
      <Section title={t.tabs.facts}>
        <Facts facts={facts} />
      </Section>
      <Section title={t.output}>
        <JsonTree value={run.output} openDepth={3} />
      </Section>
    </>
  );
}
