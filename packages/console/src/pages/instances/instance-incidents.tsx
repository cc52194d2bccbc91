import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { InstanceIncident, InstanceResponse } from '../../../../client/src/index.js';
import { may } from '../../app/permissions.js';
import { Badge } from '../../parts/badge.js';
import { Button, Link } from '../../parts/button.js';
import { Moment } from '../../parts/facts.js';
import { Section } from '../../parts/page-head.js';
import { texts } from '../../texts/texts.js';
import { RetryDialog } from './retry-dialog.js';

const t = texts.instances;

/** Open incidents of an instance. */
export function InstanceIncidents({
  instance,
  onRetried,
}: {
  instance: InstanceResponse;
  onRetried: () => void;
}): JSX.Element {
  const [retried, setRetried] = useState<string | undefined>();
  const mayRetry = may('process-administration', instance.applicationId);
  return (
    <Section title={t.openIncidents}>
      <ul class="incident-list">
        {instance.incidents.map((incident) => (
          <li key={incident.uuid} class="note note-bad">
            <p class="note-title">
              {incident.nodeName ?? incident.bpmnElementId ?? t.wholeInstance}{' '}
              <Badge tone="bad">{incident.type.toLowerCase().replaceAll('_', ' ')}</Badge>{' '}
              <span class="quiet">
                <Moment at={incident.timestamp} />
              </span>
            </p>
            <p>{incident.message}</p>
            <p class="incident-links">
              <IncidentLinks incident={incident} />
              {mayRetry && incident.tokenUuid !== null && (
                <Button onClick={() => setRetried(incident.tokenUuid ?? undefined)}>{t.retryHere}</Button>
              )}
            </p>
          </li>
        ))}
      </ul>
      {retried !== undefined && (
        <RetryDialog
          instance={instance}
          tokenUuid={retried}
          onClose={() => setRetried(undefined)}
          onDone={onRetried}
        />
      )}
    </Section>
  );
}

function IncidentLinks({ incident }: { incident: InstanceIncident }): JSX.Element {
  const { workflowRunId, childProcessInstanceUuid: child, requestId } = incident;
  return (
    <>
      {workflowRunId !== null && <Link to={`/agent-runs/${workflowRunId}`}>{t.openRun}</Link>}
      {child !== null && <Link to={`/instances/${child}`}>{t.openCalled}</Link>}
      {requestId !== null && <span class="quiet">{t.request(requestId)}</span>}
    </>
  );
}
