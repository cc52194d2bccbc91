import { isJsonObject, type JsonValue } from '#engine/json';
import type { ChatMessage, ChatRequest } from './chat-request.js';
import type { ModelScript, ScriptRule } from './model-script.js';

/** Answer of the model. */
export interface ScriptedAnswer {
  readonly content: string | null;
  readonly calls: readonly { readonly tool: string; readonly arguments: string }[];
}

type Values = Readonly<Record<string, string>>;

const REFERENCE = /\$\{(\w+)\}/g;
const FINGERPRINT = /_[0-9a-f]{10}$/;
const ONLY_REFERENCE = /^\$\{(\w+)\}$/;

/**
 * Returns the answer of the first rule whose conditions all match. The same request always gets the same answer.
 * @returns null when no rule matches
 */
export function scriptedAnswer(script: ModelScript, request: ChatRequest): ScriptedAnswer | null {
  const conversation = new Conversation(request);
  for (const rule of script.rules) {
    const values = conversation.valuesOf(rule);
    if (values !== null) {
      return answerOf(rule, values, conversation);
    }
  }
  return null;
}

function answerOf(rule: ScriptRule, values: Values, conversation: Conversation): ScriptedAnswer {
  const says = rule.says === undefined ? null : fillText(rule.says, values);
  if (rule.answers !== undefined) {
    const answer = fill(rule.answers, values);
    return { content: typeof answer === 'string' ? answer : JSON.stringify(answer), calls: [] };
  }
  const calls = (rule.calls ?? []).map((call) => {
    const tool = conversation.offeredName(call.tool) ?? call.tool;
    return {
      tool,
      arguments: JSON.stringify(argumentsOf(call.arguments, values, conversation.textsOf(tool))),
    };
  });
  return { content: says, calls };
}

/**
 * Fills references in arguments. @param texts names of arguments of type string, which stay texts even if they look like numbers
 * @param texts names of the arguments that the tool wants as texts, also where a text looks like a number
 */
function argumentsOf(
  given: Readonly<Record<string, JsonValue>>,
  values: Values,
  texts: ReadonlySet<string>,
): JsonValue {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      typeof value === 'string' && texts.has(name) ? fillText(value, values) : fill(value, values),
    ]),
  );
}

/** The conversation so far, in which a script refers to tools by the names that their servers use. */
class Conversation {
  readonly offered: readonly string[];
  private readonly prompt: string;
  private readonly tools: NonNullable<ChatRequest['tools']>;
  readonly called: readonly string[];
  private readonly results = new Map<string, string>();

  constructor({ messages, tools }: ChatRequest) {
    this.tools = tools ?? [];
    this.offered = this.tools.map(({ function: { name } }) => name);
    this.prompt = messages.flatMap((message) => promptOf(message)).join('\n');
    const calls = messages.flatMap((message) =>
      message.role === 'assistant' ? (message.tool_calls ?? []) : [],
    );
    this.called = calls.map(({ function: { name } }) => name);
    const names = new Map(calls.map(({ id, function: { name } }) => [id, name]));
    for (const message of messages) {
      if (message.role === 'tool') {
        this.results.set(names.get(message.tool_call_id) ?? '', message.content);
      }
    }
  }

  /** Returns the name under which a tool is offered: its own, with or without the name of its system as prefix. */
  offeredName(tool: string): string | undefined {
    return this.offered.find((name) => isNameOf(tool, name));
  }

  /** Returns the names of arguments of type string of an offered tool. */
  textsOf(tool: string): Set<string> {
    const found = this.tools.find(({ function: { name } }) => name === tool)?.function.parameters;
    const properties = isJsonObject(found?.['properties']) ? found['properties'] : {};
    return new Set(
      Object.entries(properties).flatMap(([name, schema]) =>
        isJsonObject(schema) && schema['type'] === 'string' ? [name] : [],
      ),
    );
  }

  /** Returns the named groups of the conditions of a rule; null when a condition does not match. */
  valuesOf(rule: ScriptRule): Values | null {
    if (this.mismatchOf(rule) !== undefined) {
      return null;
    }
    const { prompt, results } = rule.when;
    const matches = [
      prompt?.exec(this.prompt),
      ...Object.entries(results).map(([tool, pattern]) => pattern.exec(this.resultOf(tool) ?? '')),
    ];
    return Object.assign({}, ...matches.map((match) => match?.groups)) as Values;
  }

  mismatchOf({ when }: ScriptRule): string | undefined {
    if (when.prompt !== undefined && !when.prompt.test(this.prompt)) {
      return '"prompt" does not match';
    }
    const result = Object.entries(when.results).find(([tool, pattern]) => {
      const text = this.resultOf(tool);
      return text === undefined || !pattern.test(text);
    });
    const [tool] = result ?? [];
    return (
      this.toolMismatch(when) ??
      (tool === undefined
        ? undefined
        : `${tool} has ${this.resultOf(tool) === undefined ? 'not answered' : 'answered something else'}`)
    );
  }

  private toolMismatch({ offered, notOffered, notCalled }: ScriptRule['when']): string | undefined {
    const missing = offered.find((tool) => this.offeredName(tool) === undefined);
    const there = notOffered.find((tool) => this.offeredName(tool) !== undefined);
    const called = notCalled.find((tool) => this.called.some((name) => isNameOf(tool, name)));
    if (missing !== undefined) {
      return `${missing} is not offered`;
    }
    if (there !== undefined) {
      return `${there} is offered`;
    }
    return called === undefined ? undefined : `${called} was called`;
  }

  private resultOf(tool: string): string | undefined {
    return [...this.results].findLast(([name]) => isNameOf(tool, name))?.[1];
  }
}

function promptOf(message: ChatMessage): string[] {
  switch (message.role) {
    case 'system':
    case 'developer':
    case 'user':
      return [message.content];
    case 'assistant':
    case 'tool':
      return [];
  }
}

/** Returns whether a tool is offered under a name: `echo` is under `echo`, `everything__echo` and `everything__echo_<fingerprint>`. */
function isNameOf(tool: string, offered: string): boolean {
  const name = offered.replace(FINGERPRINT, '');
  return offered === tool || [offered, name].some((each) => each.endsWith(`__${tool}`));
}

/** Fills references. A string that is a single reference becomes a number or boolean if its text is one. */
function fill(value: JsonValue, values: Values): JsonValue {
  if (typeof value === 'string') {
    const name = ONLY_REFERENCE.exec(value)?.[1];
    return name === undefined ? fillText(value, values) : typed(values[name] ?? '');
  }
  if (Array.isArray(value)) {
    return value.map((item) => fill(item, values));
  }
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item ?? null, values)]))
    : value;
}

function fillText(text: string, values: Values): string {
  return text.replaceAll(REFERENCE, (_whole, name: string) => values[name] ?? '');
}

function typed(text: string): JsonValue {
  return /^(true|false|-?(0|[1-9]\d{0,14})(\.\d{1,15})?)$/.test(text)
    ? (JSON.parse(text) as JsonValue)
    : text;
}

const NO_RULE = 'No rule of the script matches this request.';
const TEXT_MAX_LENGTH = 200;
const MAX_NAMED = 20;

/** Explains why no rule of the script matched a request, so the author can add the missing one. */
export function missingRule({ rules }: ModelScript, request: ChatRequest): string {
  const conversation = new Conversation(request);
  const details = [
    ...textOf(request, ['system', 'developer'], 'The task'),
    ...textOf(request, ['user'], 'The last user message'),
    `Tools offered: ${namesOf(conversation.offered)}.`,
    `Tools called so far: ${namesOf([...new Set(conversation.called)])}.`,
    ...rules
      .slice(0, MAX_NAMED)
      .map((rule, index) => `rules.${index}: ${conversation.mismatchOf(rule) ?? 'matches'}.`),
    ...(rules.length > MAX_NAMED ? [`${rules.length - MAX_NAMED} more rules.`] : []),
  ];
  return [NO_RULE, ...details].join(' ');
}

/** Returns the end of a message, because the task of an agent follows rules common to all agents. */
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
