import type {
  HistoryEvent,
  InstanceResponse,
  ProcessInstanceState,
  SvcClient,
  WorkflowRun,
} from '../index.js';
import { meets, notMet, shown } from './expectation.js';

/** What an instance needs of its service. */
export interface Surroundings {
  client: SvcClient;
  /** Waits until nothing is due and nothing is at work. */
  settle: () => Promise<void>;
}

type Token = InstanceResponse['tokens'][number];

/** An instance of a process. Each call waits first until everything is done that the process does by itself. */
export class TestInstance {
  constructor(
    private readonly surroundings: Surroundings,
    readonly uuid: string,
  ) {}

  /** The instance as the service answers it. */
  async read(): Promise<InstanceResponse> {
    await this.surroundings.settle();
    const { data } = await this.surroundings.client.getProcessInstance({ path: { uuid: this.uuid } });
    return data;
  }

  /** The history, oldest first; of a long one its newest events. */
  async history(): Promise<HistoryEvent[]> {
    return ((await this.read()).history ?? []).toReversed();
  }

  /** The runs of its workflows, oldest first. */
  async runs(): Promise<WorkflowRun[]> {
    await this.surroundings.settle();
    const query = { processInstanceUuid: this.uuid };
    return (await this.surroundings.client.listWorkflowRuns({ query })).data.runs.toReversed();
  }

  /** The instances that it has called, in the order of their starts. */
  async called(process?: string): Promise<TestInstance[]> {
    const children = (await this.read()).children ?? [];
    return children
      .filter(({ processDefinitionName }) => process === undefined || processDefinitionName === process)
      .map(({ uuid }) => new TestInstance(this.surroundings, uuid))
      .toReversed();
  }

  /**
   * Executes a UI action, by its name.
   * @param options.at element where it is open, where it is open at several
   * @throws AssertionError when it is not open
   * @throws ServiceError when the service refuses it
   */
  async act(name: string, body: Record<string, unknown> = {}, { at }: { at?: string } = {}): Promise<void> {
    const instance = await this.read();
    const open = instance.tokens.flatMap((token) => token.uiActions.map((action) => ({ token, action })));
    const meant = open.find(
      ({ token, action }) => action.name === name && (at === undefined || isToken(token, at)),
    );
    if (meant === undefined) {
      throw notMet(`Expected the UI action ${name} to be open${at === undefined ? '' : ` at ${at}`}.`, {
        actual: open.map(({ action }) => action.name),
        expected: name,
        lines: linesOf(instance),
      });
    }
    await this.surroundings.client.executeUiAction({
      path: { processUuid: this.uuid, tokenUuid: meant.token.uuid, uiActionSvcUuid: meant.action.svcUuid },
      body,
    });
    await this.surroundings.settle();
  }

  /** Lets it go on wherever it stopped. @throws ServiceError where there is nothing to retry */
  async retry(): Promise<void> {
    const { client, settle } = this.surroundings;
    const { incidents } = await this.read();
    const stopped = new Set(incidents.flatMap(({ tokenUuid }) => (tokenUuid === null ? [] : [tokenUuid])));
    for (const tokenUuid of stopped) {
      await client.retryToken({ path: { uuid: this.uuid, tokenUuid } });
    }
    if (stopped.size === 0) {
      await client.retryProcessInstance({ path: { uuid: this.uuid } });
    }
    await settle();
  }

  /**
   * It stands at these elements, and at no other.
   * @param elements BPMN ids or names
   * @throws AssertionError
   */
  async isAt(...elements: string[]): Promise<void> {
    const instance = await this.read();
    const tokens = standing(instance);
    const left = [...tokens];
    for (const element of elements) {
      const index = left.findIndex((token) => isToken(token, element));
      if (index < 0) {
        throw this.not(`be at ${elements.join(', ')}`, instance, tokens.map(placeOf), elements);
      }
      left.splice(index, 1);
    }
    if (left.length > 0) {
      throw this.not(`be at ${elements.join(', ')} alone`, instance, tokens.map(placeOf), elements);
    }
  }

  /** Its data hold this, whatever they hold beside it. @throws AssertionError */
  async hasData(expected: Record<string, unknown>): Promise<void> {
    const instance = await this.read();
    if (!meets(instance.data, expected)) {
      throw this.not(`have the data ${shown(expected)}`, instance, instance.data, expected);
    }
  }

  /** It has ended. @param state FINISHED for a usual end @throws AssertionError */
  async hasEnded(state: ProcessInstanceState = 'FINISHED'): Promise<void> {
    const instance = await this.read();
    if (instance.state !== state) {
      throw this.not(`have ended as ${state}`, instance, instance.state, state);
    }
  }

  /** The element was reached, whether it is done or not. @throws AssertionError */
  async hasPassed(element: string): Promise<void> {
    const instance = await this.read();
    const entered = (instance.history ?? []).filter(({ kind }) => kind === 'NODE_ENTERED');
    if (!entered.some(({ bpmnElementId, nodeName }) => [bpmnElementId, nodeName].includes(element))) {
      const passed = entered.map(({ bpmnElementId }) => bpmnElementId).toReversed();
      throw this.not(`have passed ${element}`, instance, passed, element);
    }
  }

  /** @throws AssertionError when an incident is open */
  async hasNoIncident(): Promise<void> {
    const instance = await this.read();
    if (instance.incidents.length > 0) {
      throw this.not('have no incident', instance, instance.incidents, []);
    }
  }

  /**
   * An incident is open.
   * @param code its type, such as `CONDITION_EVALUATION`, or the code of the failed workflow, such as `REST_STATUS`
   * @param element where
   * @throws AssertionError
   */
  async hasIncident(code: string, element?: string): Promise<void> {
    const instance = await this.read();
    const runs = instance.incidents.length > 0 ? await this.runs() : [];
    const codes = new Set(runs.flatMap(({ error }) => (error === null ? [] : [error.code])));
    const isMeant = ({ type, nodeName, bpmnElementId }: InstanceResponse['incidents'][number]): boolean =>
      (type === code || (type === 'WORKFLOW' && codes.has(code))) &&
      (element === undefined || [nodeName, bpmnElementId].includes(element));
    if (!instance.incidents.some(isMeant)) {
      const where = element === undefined ? '' : ` at ${element}`;
      const actual = [...instance.incidents.map(({ type }) => type), ...codes];
      throw this.not(`have the incident ${code}${where}`, instance, actual, code);
    }
  }

  private not(what: string, instance: InstanceResponse, actual: unknown, expected: unknown): Error {
    const message = `Expected the instance of ${instance.processDefinitionName} to ${what}.`;
    return notMet(message, { actual, expected, lines: linesOf(instance) });
  }
}

/** Where it stands: a token whose branches run stands nowhere itself. */
function standing({ tokens }: InstanceResponse): Token[] {
  return tokens.filter(({ state }) => state === 'ACTIVE');
}

function isToken({ bpmnElementId, currentNodeName }: Token, element: string): boolean {
  return [bpmnElementId, currentNodeName].includes(element);
}

function placeOf({ bpmnElementId, currentNodeName }: Token): string {
  return bpmnElementId ?? currentNodeName ?? '';
}

function linesOf(instance: InstanceResponse): string[] {
  const places = standing(instance).map(placeOf).join(', ');
  return [
    `It is ${instance.state}${places === '' ? '' : ` at ${places}`}.`,
    ...instance.incidents.map(({ type, nodeName, message }) => `Incident ${type} at ${nodeName}: ${message}`),
    `Data: ${shown(instance.data)}`,
  ];
}
