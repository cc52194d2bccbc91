import type { OutboundOperation } from '../../../common/outbound/outbound.operation.js';
import type { McpCredentials } from './mcp-credentials.types.js';
import type { Traffic } from './session-transport.js';
import type { CallOrder } from './tool-call.messages.js';
import type { WarmSession } from './warm-session.js';

/** One call under way. */
export interface Call {
  order: CallOrder;
  session: WarmSession;
  operation: OutboundOperation;
  credentials: McpCredentials | undefined;
  traceparent: string | undefined;
  traffic: Traffic;
  startedAt: number;
  /** Hears of each progress that the tool tells. */
  onProgress: () => void;
}
