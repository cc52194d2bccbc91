import type { ChatRequest } from './chat-request.js';
import type { ModelScript } from './model-script.js';
import { Talk } from './scripted-answer.js';

const NO_RULE = 'The script has no answer to this: none of its rules holds.';
const TEXT_MAX_LENGTH = 200;
const MAX_NAMED = 20;

/** What nothing in a script is for, so that whoever writes it sees which rule is missing, and why those that are there do not hold. */
export function missingRule({ rules }: ModelScript, request: ChatRequest): string {
  const talk = new Talk(request);
  const told = [
    ...textOf(request, ['system', 'developer'], 'The task'),
    ...textOf(request, ['user'], 'The last user message'),
    `Tools offered: ${namesOf(talk.offered)}.`,
    `Tools called so far: ${namesOf([...new Set(talk.called)])}.`,
    ...rules.slice(0, MAX_NAMED).map((rule, index) => `rules.${index}: ${talk.whyNot(rule) ?? 'holds'}.`),
    ...(rules.length > MAX_NAMED ? [`${rules.length - MAX_NAMED} more rules.`] : []),
  ];
  return [NO_RULE, ...told].join(' ');
}

/** Its end: an agent's task stands behind the rules that all agents have. */
function textOf({ messages }: ChatRequest, roles: readonly string[], what: string): string[] {
  const last = messages.findLast(({ role }) => roles.includes(role))?.content;
  if (typeof last !== 'string') {
    return [];
  }
  const cut = last.length > TEXT_MAX_LENGTH ? `…${last.slice(-TEXT_MAX_LENGTH)}` : last;
  return [`${what}: ${JSON.stringify(cut)}.`];
}

function namesOf(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ', …' : '';
  return names.length === 0 ? 'none' : `${names.slice(0, MAX_NAMED).join(', ')}${more}`;
}
