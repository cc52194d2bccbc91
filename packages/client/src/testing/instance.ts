import {
  pagesOf,
  type HistoryEvent,
  type InstanceResponse,
  type ProcessInstanceState,
  type SvcClient,
  type WorkflowRun,
} from '../index.js';
import { format, matches, mismatch, withDetails } from './expectation.js';

/** Service of a test instance. */
export interface TestContext {
  client: SvcClient;
  /** Waits until no work is due or running. */
  settle: () => Promise<void>;
}

type Token = InstanceResponse['tokens'][number];
type OpenIncident = InstanceResponse['incidents'][number] & { code: string | undefined };

/** Process instance. Each call first waits until all automatic work is done. */
export class TestInstance {
  constructor(
    private readonly context: TestContext,
    readonly uuid: string,
  ) {}

  /** Reads the instance. */
  async read(): Promise<InstanceResponse> {
    await this.context.settle();
    const { data } = await this.context.client.getProcessInstance({ path: { uuid: this.uuid } });
    return data;
  }

  /** Reads the history, oldest first. Long histories contain only the newest events. */
  async history(): Promise<HistoryEvent[]> {
    return ((await this.read()).history ?? []).toReversed();
  }

  /** Lists the workflow runs, oldest first. */
  async runs(): Promise<WorkflowRun[]> {
    await this.context.settle();
    const query = { processInstanceUuid: this.uuid };
    return (await this.context.client.listWorkflowRuns({ query })).data.runs.toReversed();
  }

  /** Lists the called processes in the order of their start. */
  async called(process?: string): Promise<TestInstance[]> {
    const children = (await this.read()).children ?? [];
    return children
      .filter(({ processDefinitionName }) => process === undefined || processDefinitionName === process)
      .map(({ uuid }) => new TestInstance(this.context, uuid))
      .toReversed();
  }

  /**
   * Executes a UI action by its name.
   * @param options.at element, if the action is open at several
   * @throws AssertionError when it is not open
   * @throws ServiceError when the service rejects it
   */
  async act(name: string, body: Record<string, unknown> = {}, { at }: { at?: string } = {}): Promise<void> {
    const instance = await this.read();
    const open = instance.tokens.flatMap((token) => token.uiActions.map((action) => ({ token, action })));
    const found = open.find(
      ({ token, action }) => action.name === name && (at === undefined || isToken(token, at)),
    );
    if (found === undefined) {
      throw mismatch(`Expected the UI action ${name} to be open${at === undefined ? '' : ` at ${at}`}.`, {
        actual: open.map(({ action }) => action.name),
        expected: name,
        lines: await this.linesOf(instance),
      });
    }
    const path = {
      processUuid: this.uuid,
      tokenUuid: found.token.uuid,
      uiActionSvcUuid: found.action.svcUuid,
    };
    const headers = {
      'If-Match': `"${found.token.visit}"`,
      ...(found.action.back ? { 'svc-back': 'true' as const } : {}),
    };
    await withDetails(this.context.client.executeUiAction({ path, headers, body }));
    await this.context.settle();
  }

  /**
   * Retries all open incidents.
   * @param options.data JSON merge patch (RFC 7396) that corrects the process data first
   * @throws ServiceError when there is nothing to retry, or the instance stops again at once
   */
  async retry({ data }: { data?: Record<string, unknown> } = {}): Promise<void> {
    const { client, settle } = this.context;
    const { incidents } = await this.read();
    const stopped = new Set(incidents.flatMap(({ tokenUuid }) => (tokenUuid === null ? [] : [tokenUuid])));
    // Only once, because the data belongs to the whole instance.
    let corrected = data === undefined ? {} : { body: { data } };
    for (const tokenUuid of stopped) {
      await withDetails(client.retryToken({ path: { uuid: this.uuid, tokenUuid }, ...corrected }));
      corrected = {};
    }
    if (stopped.size === 0) {
      await withDetails(client.retryProcessInstance({ path: { uuid: this.uuid }, ...corrected }));
    }
    await settle();
  }

  /**
   * Asserts that the instance is at exactly these elements.
   * @param elements BPMN ids or names
   * @throws AssertionError
   */
  async isAt(...elements: string[]): Promise<void> {
    const instance = await this.read();
    const tokens = activeTokens(instance);
    const left = [...tokens];
    for (const element of elements) {
      const index = left.findIndex((token) => isToken(token, element));
      if (index < 0) {
        throw await this.not(`be at ${elements.join(', ')}`, instance, tokens.map(placeOf), elements);
      }
      left.splice(index, 1);
    }
    if (left.length > 0) {
      throw await this.not(`be only at ${elements.join(', ')}`, instance, tokens.map(placeOf), elements);
    }
  }

  /** Asserts that the data contains these members. @throws AssertionError */
  async hasData(expected: Record<string, unknown>): Promise<void> {
    const instance = await this.read();
    if (!matches(instance.data, expected)) {
      throw await this.not(`have the data ${format(expected)}`, instance, instance.data, expected);
    }
  }

  /** Asserts that the instance has ended. @param state default: FINISHED @throws AssertionError */
  async hasEnded(state: ProcessInstanceState = 'FINISHED'): Promise<void> {
    const instance = await this.read();
    if (instance.state !== state) {
      throw await this.not(`have ended as ${state}`, instance, instance.state, state);
    }
  }

  /** Asserts that an element was entered, whether or not it is done. @throws AssertionError */
  async hasPassed(element: string): Promise<void> {
    const instance = await this.read();
    const entered = (instance.history ?? []).filter(({ kind }) => kind === 'NODE_ENTERED');
    if (!entered.some(({ bpmnElementId, nodeName }) => [bpmnElementId, nodeName].includes(element))) {
      const passed = entered.map(({ bpmnElementId }) => bpmnElementId).toReversed();
      throw await this.not(`have passed ${element}`, instance, passed, element);
    }
  }

  /** Asserts that no incident is open. @throws AssertionError */
  async hasNoIncident(): Promise<void> {
    const instance = await this.read();
    if (instance.incidents.length > 0) {
      throw await this.not('have no incident', instance, instance.incidents, []);
    }
  }

  /**
   * Asserts that an incident is open.
   * @param code type, such as `CONDITION_EVALUATION`, or code of the failed workflow, such as `REST_STATUS`. Default: any
   * @param element default: any
   * @throws AssertionError
   */
  async hasIncident(code?: string, element?: string): Promise<void> {
    const instance = await this.read();
    const open = await this.openIncidents(instance);
    const isExpected = ({ type, code: failure, nodeName, bpmnElementId }: OpenIncident): boolean =>
      (code === undefined || [type, failure].includes(code)) &&
      (element === undefined || [nodeName, bpmnElementId].includes(element));
    if (!open.some(isExpected)) {
      const where = element === undefined ? '' : ` at ${element}`;
      const actual = open.flatMap(({ type, code: failure }) =>
        failure === undefined ? [type] : [type, failure],
      );
      const what = code === undefined ? 'an incident' : `the incident ${code}`;
      throw await this.not(`have ${what}${where}`, instance, actual, code ?? 'an incident');
    }
  }

  /** Adds the error codes of failed workflows, which only the list of incidents contains. */
  private async openIncidents({
    incidents,
    applicationId,
    processDefinitionName,
  }: InstanceResponse): Promise<OpenIncident[]> {
    const left = new Set(incidents.flatMap(({ type, uuid }) => (type === 'WORKFLOW' ? [uuid] : [])));
    const codes = new Map<string, string>();
    const pages = pagesOf((cursor) =>
      this.context.client.listProcessIncidents({
        query: { applicationId, processDefinitionName, ...cursor },
      }),
    );
    for await (const page of left.size === 0 ? [] : pages) {
      for (const { uuid, workflowError } of page.incidents) {
        if (left.delete(uuid) && workflowError !== null) {
          codes.set(uuid, workflowError.code);
        }
      }
      if (left.size === 0) {
        break;
      }
    }
    return incidents.map((incident) => ({ ...incident, code: codes.get(incident.uuid) }));
  }

  private async not(
    what: string,
    instance: InstanceResponse,
    actual: unknown,
    expected: unknown,
  ): Promise<Error> {
    const message = `Expected the instance of ${instance.processDefinitionName} to ${what}.`;
    return mismatch(message, { actual, expected, lines: await this.linesOf(instance) });
  }

  private async linesOf(instance: InstanceResponse): Promise<string[]> {
    const places = activeTokens(instance).map(placeOf).join(', ');
    return [
      `It is ${instance.state}${places === '' ? '' : ` at ${places}`}.`,
      ...instance.incidents.map(
        ({ type, nodeName, message }) => `Incident ${type} at ${nodeName}: ${message}`,
      ),
      ...(await this.failuresOf(instance)),
      `Data: ${format(instance.data)}`,
    ];
  }

  /** Returns why workflows failed, which is more specific than the incidents. */
  private async failuresOf({ incidents }: InstanceResponse): Promise<string[]> {
    const runs = incidents.some(({ type }) => type === 'WORKFLOW') ? await this.runs() : [];
    return runs.flatMap(({ workflow, error }) => {
      const details = error?.details ?? null;
      return details === null ? [] : [`Workflow ${workflow}${nodeOf(error?.node ?? null)}: ${details}`];
    });
  }
}

/** Returns the active tokens, without tokens that wait for their branches. */
function activeTokens({ tokens }: InstanceResponse): Token[] {
  return tokens.filter(({ state }) => state === 'ACTIVE');
}

function isToken({ bpmnElementId, currentNodeName }: Token, element: string): boolean {
  return [bpmnElementId, currentNodeName].includes(element);
}

function placeOf({ bpmnElementId, currentNodeName }: Token): string {
  return bpmnElementId ?? currentNodeName ?? '';
}

function nodeOf(node: string | null): string {
  return node === null ? '' : ` at ${node}`;
}
