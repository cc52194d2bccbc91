import { setTimeout as sleep } from 'node:timers/promises';
import type { ChatRequest } from '../../../src/evaluation/scripted-model/chat-request.js';
import { parseModelScript } from '../../../src/evaluation/scripted-model/model-script.js';
import { ScriptedModel } from '../../../src/evaluation/scripted-model/scripted-model.server.js';
import { AGENT_SCRIPT, modelCall, ORDER_NAME } from './agent-orders.js';
import { countCalls } from './helper-process.js';

/** Runs the model of the orders in a separate process and counts each turn of each order. */
const ANSWER_MS = 20;

const model = await ScriptedModel.start(parseModelScript(AGENT_SCRIPT), {
  onRequest: async ({ messages }) => {
    count(modelCall(orderOf(messages), messages.filter(({ role }) => role === 'assistant').length));
    await sleep(ANSWER_MS * Math.random());
  },
});
const count = countCalls(model.url);

function orderOf(messages: ChatRequest['messages']): string {
  return ORDER_NAME.exec(JSON.stringify(messages))?.[0] ?? '';
}
