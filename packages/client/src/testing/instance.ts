import {
  pagesOf,
  type HistoryEvent,
  type InstanceResponse,
  type ProcessInstanceState,
  type SvcClient,
  type WorkflowRun,
} from '../index.js';
import { explained, meets, notMet, shown } from './expectation.js';

/** What an instance needs of its service. */
export interface Surroundings {
  client: SvcClient;
  /** Waits until nothing is due and nothing is at work. */
  settle: () => Promise<void>;
}

type Token = InstanceResponse['tokens'][number];
type OpenIncident = InstanceResponse['incidents'][number] & { code: string | undefined };

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
        lines: await this.linesOf(instance),
      });
    }
    const path = {
      processUuid: this.uuid,
      tokenUuid: meant.token.uuid,
      uiActionSvcUuid: meant.action.svcUuid,
    };
    const headers = {
      'If-Match': `"${meant.token.visit}"`,
      ...(meant.action.back ? { 'svc-back': 'true' as const } : {}),
    };
    await explained(this.surroundings.client.executeUiAction({ path, headers, body }));
    await this.surroundings.settle();
  }

  /**
   * Lets it go on wherever it stopped.
   * @param options.data corrects the process data first, as a JSON merge patch (RFC 7396)
   * @throws ServiceError where there is nothing to retry, or it stops again at once
   */
  async retry({ data }: { data?: Record<string, unknown> } = {}): Promise<void> {
    const { client, settle } = this.surroundings;
    const { incidents } = await this.read();
    const stopped = new Set(incidents.flatMap(({ tokenUuid }) => (tokenUuid === null ? [] : [tokenUuid])));
    // Once is enough: the data are those of the whole instance.
    let corrected = data === undefined ? {} : { body: { data } };
    for (const tokenUuid of stopped) {
      await explained(client.retryToken({ path: { uuid: this.uuid, tokenUuid }, ...corrected }));
      corrected = {};
    }
    if (stopped.size === 0) {
      await explained(client.retryProcessInstance({ path: { uuid: this.uuid }, ...corrected }));
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
        throw await this.not(`be at ${elements.join(', ')}`, instance, tokens.map(placeOf), elements);
      }
      left.splice(index, 1);
    }
    if (left.length > 0) {
      throw await this.not(`be at ${elements.join(', ')} alone`, instance, tokens.map(placeOf), elements);
    }
  }

  /** Its data hold this, whatever they hold beside it. @throws AssertionError */
  async hasData(expected: Record<string, unknown>): Promise<void> {
    const instance = await this.read();
    if (!meets(instance.data, expected)) {
      throw await this.not(`have the data ${shown(expected)}`, instance, instance.data, expected);
    }
  }

  /** It has ended. @param state FINISHED for a usual end @throws AssertionError */
  async hasEnded(state: ProcessInstanceState = 'FINISHED'): Promise<void> {
    const instance = await this.read();
    if (instance.state !== state) {
      throw await this.not(`have ended as ${state}`, instance, instance.state, state);
    }
  }

  /** The element was reached, whether it is done or not. @throws AssertionError */
  async hasPassed(element: string): Promise<void> {
    const instance = await this.read();
    const entered = (instance.history ?? []).filter(({ kind }) => kind === 'NODE_ENTERED');
    if (!entered.some(({ bpmnElementId, nodeName }) => [bpmnElementId, nodeName].includes(element))) {
      const passed = entered.map(({ bpmnElementId }) => bpmnElementId).toReversed();
      throw await this.not(`have passed ${element}`, instance, passed, element);
    }
  }

  /** @throws AssertionError when an incident is open */
  async hasNoIncident(): Promise<void> {
    const instance = await this.read();
    if (instance.incidents.length > 0) {
      throw await this.not('have no incident', instance, instance.incidents, []);
    }
  }

  /**
   * An incident is open.
   * @param code any without it; else its type, such as `CONDITION_EVALUATION`, or the code of the failed workflow, such as `REST_STATUS`
   * @param element where
   * @throws AssertionError
   */
  async hasIncident(code?: string, element?: string): Promise<void> {
    const instance = await this.read();
    const open = await this.openIncidents(instance);
    const isMeant = ({ type, code: failure, nodeName, bpmnElementId }: OpenIncident): boolean =>
      (code === undefined || [type, failure].includes(code)) &&
      (element === undefined || [nodeName, bpmnElementId].includes(element));
    if (!open.some(isMeant)) {
      const where = element === undefined ? '' : ` at ${element}`;
      const actual = open.flatMap(({ type, code: failure }) =>
        failure === undefined ? [type] : [type, failure],
      );
      const what = code === undefined ? 'an incident' : `the incident ${code}`;
      throw await this.not(`have ${what}${where}`, instance, actual, code ?? 'an incident');
    }
  }

  /** Those of a failed workflow with the code of the failure, which only the list of all incidents tells. */
  private async openIncidents({
    incidents,
    applicationId,
    processDefinitionName,
  }: InstanceResponse): Promise<OpenIncident[]> {
    const left = new Set(incidents.flatMap(({ type, uuid }) => (type === 'WORKFLOW' ? [uuid] : [])));
    const codes = new Map<string, string>();
    const pages = pagesOf((cursor) =>
      this.surroundings.client.listProcessIncidents({
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
    return notMet(message, { actual, expected, lines: await this.linesOf(instance) });
  }

  private async linesOf(instance: InstanceResponse): Promise<string[]> {
    const places = standing(instance).map(placeOf).join(', ');
    return [
      `It is ${instance.state}${places === '' ? '' : ` at ${places}`}.`,
      ...instance.incidents.map(
        ({ type, nodeName, message }) => `Incident ${type} at ${nodeName}: ${message}`,
      ),
      ...(await this.failuresOf(instance)),
      `Data: ${shown(instance.data)}`,
    ];
  }

  /** Why workflows failed says more than the incidents. */
  private async failuresOf({ incidents }: InstanceResponse): Promise<string[]> {
    const runs = incidents.some(({ type }) => type === 'WORKFLOW') ? await this.runs() : [];
    return runs.flatMap(({ workflow, error }) => {
      const details = error?.details ?? null;
      return details === null ? [] : [`Workflow ${workflow}${nodeOf(error?.node ?? null)}: ${details}`];
    });
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

function nodeOf(node: string | null): string {
  return node === null ? '' : ` at ${node}`;
}
