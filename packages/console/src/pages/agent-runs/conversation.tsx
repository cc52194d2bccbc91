import type { JSX } from 'preact';
import type { WorkflowCall, WorkflowNodeRun } from '../../../../client/src/index.js';
import { Badge } from '../../parts/badge.js';
import { Duration } from '../../parts/facts.js';
import { JsonTree } from '../../parts/json-tree.js';
import { Empty, Note } from '../../parts/notes.js';
import type { Tone } from '../../parts/tones.js';
import { texts } from '../../texts/texts.js';
import {
  answerOf,
  isObject,
  modelRequestOf,
  toolCallOf,
  valueOf,
  type ModelAnswer,
  type ModelRequest,
} from './messages.js';

const t = texts.agentRuns;

const TONES: Readonly<Record<WorkflowCall['state'], Tone>> = {
  CLAIMED: 'busy',
  DONE: 'good',
  FAILED: 'bad',
  UNKNOWN: 'warn',
  RELEASED: 'quiet',
};

interface ConversationProps {
  calls: readonly WorkflowCall[];
  nodes: readonly WorkflowNodeRun[];
  isWhole: boolean;
}

/** Calls of models and tools, as a conversation. */
export function Conversation({ calls, nodes, isWhole }: ConversationProps): JSX.Element {
  if (calls.length === 0) {
    return <Empty title={t.noCalls} />;
  }
  return (
    <>
      <ol class="turns">
        {calls.map((call, index) => (
          <li key={call.key} class={`turn turn-${call.kind.toLowerCase()}`}>
            {nodeOf(call) !== nodeOf(calls[index - 1]) && (
              <p class="turn-node">
                {nodes.find(({ nodeId }) => nodeId === nodeOf(call))?.name ?? nodeOf(call)}
              </p>
            )}
            {call.kind === 'MODEL' ? <ModelTurn call={call} /> : <ToolTurn call={call} />}
          </li>
        ))}
      </ol>
      {!isWhole && (
        <Note>
          <p>{t.onlyFirst(calls.length)}</p>
        </Note>
      )}
    </>
  );
}

/** Reads the node id from the key of a call, `<step>/<node id>/…`. */
function nodeOf(call: WorkflowCall | undefined): string | undefined {
  return call?.key.split('/')[1];
}

function Head({ call, title }: { call: WorkflowCall; title: string }): JSX.Element {
  const { state, outcome, durationMs, tries, usage, cut } = call;
  const isPlain = state === 'DONE' && outcome === 'OK';
  return (
    <div class="turn-head">
      <h2>{title}</h2>
      {!isPlain && (
        <Badge tone={state === 'DONE' ? 'warn' : TONES[state]}>{outcome ?? state.toLowerCase()}</Badge>
      )}
      {tries > 1 && <Badge tone="warn">{t.tries(tries)}</Badge>}
      <span class="quiet">
        <Duration ms={durationMs} />
        {usage !== null && `, ${t.tokens(usage.inputTokens ?? 0, usage.outputTokens ?? 0)}`}
        {cut.length > 0 && `, ${t.cut}`}
      </span>
    </div>
  );
}

function ModelTurn({ call }: { call: WorkflowCall }): JSX.Element {
  const request = modelRequestOf(call.request);
  const answer = answerOf(call.response);
  return (
    <>
      <Head call={call} title={t.model} />
      {request === undefined ? (
        <Raw name={t.request} value={call.request} />
      ) : (
        <RequestView request={request} />
      )}
      {answer === undefined ? (
        <Raw name={t.response} value={call.response} />
      ) : (
        <AnswerView answer={answer} />
      )}
    </>
  );
}

/** New messages to the model. Results of tools are shown with the tool calls. */
function RequestView({ request: { messages, tools } }: { request: ModelRequest }): JSX.Element {
  const newMessages = messages.filter(({ role }) => role !== 'assistant' && role !== 'tool');
  return (
    <>
      {newMessages.map(({ role, content }, index) => (
        <details key={index} open={role === 'user'}>
          <summary>{t.roles[role] ?? role}</summary>
          <p class="speech">{content}</p>
        </details>
      ))}
      {newMessages.length > 0 && tools.length > 0 && (
        <details>
          <summary>{t.offered(tools.length)}</summary>
          <ul class="chips">
            {tools.map((tool) => (
              <li key={tool}>
                <Badge>{tool}</Badge>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function AnswerView({ answer: { content, calls, finishReason } }: { answer: ModelAnswer }): JSX.Element {
  const value = valueOf(content);
  return (
    <>
      {content !== '' &&
        (isObject(value) ? (
          <JsonTree value={value} openDepth={2} />
        ) : (
          <p class="speech speech-model">{content}</p>
        ))}
      {calls.map(({ id, name }) => (
        <p key={id} class="quiet">
          {t.calls} <code>{name}</code>
        </p>
      ))}
      {finishReason !== 'stop' && finishReason !== 'tool_calls' && finishReason !== '' && (
        <p class="is-warn">{t.finish(finishReason)}</p>
      )}
    </>
  );
}

function ToolTurn({ call }: { call: WorkflowCall }): JSX.Element {
  const { name, system, input, output } = toolCallOf(call);
  return (
    <>
      <Head call={call} title={call.kind === 'REST' ? t.rest : t.tool(name, system)} />
      <Raw name={t.arguments} value={input} />
      <Raw name={t.answer} value={output} />
    </>
  );
}

function Raw({ name, value }: { name: string; value: unknown }): JSX.Element | null {
  if (value === null || value === undefined) {
    return null;
  }
  return typeof value === 'string' ? (
    <p class="speech">{value}</p>
  ) : (
    <JsonTree name={name} value={value} openDepth={2} />
  );
}
