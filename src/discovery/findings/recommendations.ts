import { discoveryLimits } from '../discovery.limits.js';
import { PROBE_FAILURES, type ProbeFailure, SOURCE_FAILURES } from '../model/failures.js';
import type { ProbeWarning } from '../model/probe.js';
import { type ComponentRef, refId } from '../model/component.types.js';
import type { ScanIssue } from '../model/scan.types.js';

/** Maximum number of components named in a recommendation. */
const MAX_NAMED = 5;
const TEXT_MAX_LENGTH = 200;

const ADVICE: Record<ProbeFailure, string> = {
  dns: 'Correct the host name, or the name server that should know it.',
  refused: 'Start it, or correct its address and port.',
  network: 'Check the network path to it, and its log.',
  tls: 'Renew or correct its certificate, or trust the authority that signed it.',
  timeout: 'Find out why it does not answer, or give it more time.',
  auth: 'Correct the credentials of the component.',
  forbidden: 'Grant the account what docs/discovery-grants.md lists for this kind of component.',
  protocol: 'Correct its kind, address or path.',
  http_error: 'Check its log, or correct the path.',
  too_large: `Configure a path whose response has at most ${discoveryLimits.answerBytes} bytes.`,
  redirect: 'Configure the address that it redirects to.',
  blocked: 'Allow its address with EGRESS_ALLOW, if this service should call it.',
  down: 'Check its health report and its log.',
  driver: 'Install the driver.',
  configuration: 'Complete its configuration.',
  deadline: 'Find out which components answer late: all share the time of a scan.',
  internal: 'Check the log of this service.',
};

/** Describes an issue and its remedy in one line, without any text of a component. */
export function recommendationOf(issue: ScanIssue): string {
  switch (issue.code) {
    case 'source_failed':
      return `Source ${issue.source}: ${SOURCE_FAILURES[issue.failure]}${issue.detail === null ? '' : ` (${safe(issue.detail)})`} Fix it; until then the components that it last listed are checked.`;
    case 'rejected':
      return `Source ${issue.source}: ${safe(issue.key)} was skipped: ${safe(issue.reason).replace(/\.$/, '')}. Correct its entry.`;
    case 'duplicate':
      return `Source ${issue.source}: ${refId(issue.component)} was skipped: the key is taken. Give one of them another key.`;
    case 'too_many':
      return `${issue.left} components were skipped: a scan checks at most ${issue.max}.`;
    case 'unhealthy':
      return `${refId(issue.component)}: ${PROBE_FAILURES[issue.failure]} ${adviceOf(issue.failure, issue.detail)}`;
    case 'warning':
      return `${refId(issue.component)}: ${warningText(issue.warning, issue.timeoutMs)}`;
    case 'same_endpoint':
      return `${named(issue.components)}: One endpoint has several keys. Keep one of them.`;
    case 'version_skew':
      return `${named(issue.components)}: Services of one name have different versions. Use the same version.`;
  }
}

function adviceOf(failure: ProbeFailure, detail: string | null): string {
  return failure === 'driver' && detail !== null && /^[a-z0-9@/._-]{1,100}$/.test(detail)
    ? `Run: npm install ${detail}`
    : ADVICE[failure];
}

function warningText(warning: ProbeWarning, timeoutMs: number): string {
  switch (warning.code) {
    case 'connections_nearly_used':
      return `${warning.used} of ${warning.max} connections are used. Raise the limit, or find out what keeps them open.`;
    case 'memory_nearly_used':
      return `${warning.percent} percent of the memory is used. Raise the limit, or evict old entries.`;
    case 'broker_down':
      return `${warning.running} of ${warning.expected} brokers run. Start the others.`;
    case 'under_replicated':
      return `${warning.partitions} partitions are under-replicated. Check the brokers that hold their replicas.`;
    case 'certificate_expires':
      return `The certificate expires in ${warning.days} days. Renew it.`;
    case 'clock_differs':
      return `Its clock differs by ${warning.seconds} seconds. Synchronise the clocks.`;
    case 'slow':
      return `It takes more than half of its ${timeoutMs} milliseconds. Find out why, or give it more time.`;
    case 'privilege_missing':
      return `The account lacks ${safe(warning.privilege)}, so its numbers are incomplete. Grant it.`;
    default:
      return PLAIN_WARNINGS[warning.code];
  }
}

const PLAIN_WARNINGS = {
  degraded: 'It reports that it is degraded. Check its health report.',
  memory_unlimited: 'Its memory has no limit and nothing is evicted. Set maxmemory and an eviction policy.',
  alarm: 'It raised an alarm. Check its log.',
  plain_http: 'It is reached without encryption. Use https.',
} as const;

function named(components: readonly ComponentRef[]): string {
  const more = components.length - MAX_NAMED;
  const names = components.slice(0, MAX_NAMED).map(refId);
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Replaces characters with which a text of a directory could pretend to be more than a name. */
function safe(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, TEXT_MAX_LENGTH);
}
