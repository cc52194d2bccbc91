/** Aspect of execution that an extension of another engine affects. */
export type ForeignPart =
  /** Code that runs in place of the element. */
  | 'implementation'
  /** Code that runs in addition, when a token arrives or leaves. */
  | 'listener'
  /** Input and output data. */
  | 'data'
  /** Who may work on it. */
  | 'people';

interface ForeignEngine {
  /** Display name. */
  readonly engine: string;
  /** Namespace URIs. */
  readonly namespaces: readonly string[];
  /** Local names of attributes. */
  readonly attributes: Readonly<Record<string, ForeignPart>>;
  /** Local names of elements within `extensionElements`. */
  readonly elements: Readonly<Record<string, ForeignPart>>;
}

const all = (part: ForeignPart, ...names: string[]): Record<string, ForeignPart> =>
  Object.fromEntries(names.map((name) => [name, part]));

const CODE = all('implementation', 'class', 'expression', 'delegateExpression', 'type', 'topic');
const PEOPLE = all('people', 'assignee', 'owner', 'candidateUsers', 'candidateGroups');
const LISTENERS = all('listener', 'executionListener', 'taskListener');

/** Extensions of other engines that are known to affect execution. */
const FOREIGN_ENGINES: readonly ForeignEngine[] = [
  {
    engine: 'Camunda 7',
    namespaces: [
      'http://camunda.org/schema/1.0/bpmn',
      'http://operaton.org/schema/1.0/bpmn',
      'http://cibseven.org/schema/1.0/bpmn',
      'http://www.camunda.com/fox',
    ],
    attributes: {
      ...CODE,
      ...PEOPLE,
      ...all('implementation', 'decisionRef', 'caseRef', 'resource'),
      ...all('data', 'variableMappingClass', 'variableMappingDelegateExpression'),
    },
    elements: {
      ...LISTENERS,
      ...all('implementation', 'connector'),
      ...all('data', 'inputOutput', 'in', 'out'),
    },
  },
  {
    engine: 'Camunda 8',
    namespaces: ['http://camunda.org/schema/zeebe/1.0'],
    attributes: {},
    elements: {
      ...all('implementation', 'taskDefinition', 'calledDecision', 'script'),
      ...all('listener', 'executionListeners', 'taskListeners'),
      ...all('data', 'ioMapping'),
      ...all('people', 'assignmentDefinition'),
    },
  },
  {
    engine: 'Flowable or Activiti',
    namespaces: ['http://flowable.org/bpmn', 'http://activiti.org/bpmn'],
    attributes: { ...CODE, ...PEOPLE },
    elements: {
      ...LISTENERS,
      ...all('listener', 'eventListener'),
      ...all('implementation', 'eventType'),
      ...all('data', 'in', 'out', 'eventInParameter', 'eventOutParameter'),
    },
  },
  {
    engine: 'jBPM',
    namespaces: ['http://www.jboss.org/drools'],
    attributes: all(
      'implementation',
      'taskName',
      'ruleFlowGroup',
      'serviceimplementation',
      'serviceinterface',
      'serviceoperation',
    ),
    elements: all('listener', 'onEntry-script', 'onExit-script'),
  },
  {
    engine: 'W4',
    namespaces: ['http://www.w4.eu/spec/BPMN/20110701/MODEL'],
    attributes: all('implementation', 'serviceName'),
    elements: {},
  },
];

const BY_NAMESPACE: ReadonlyMap<string, ForeignEngine> = new Map(
  FOREIGN_ENGINES.flatMap((engine) => engine.namespaces.map((uri) => [uri, engine] as const)),
);

/** Meaning of an attribute or element of another engine. */
export interface ForeignMeaning {
  part: ForeignPart;
  engine: string;
}

/**
 * Looks up an extension of another engine.
 * @param name local name, without prefix
 * @returns undefined when it is not known to affect execution
 */
export function foreignMeaning(
  uri: string,
  where: 'attributes' | 'elements',
  name: string,
): ForeignMeaning | undefined {
  const engine = BY_NAMESPACE.get(uri);
  const parts = engine?.[where] ?? {};
  const part = Object.hasOwn(parts, name) ? parts[name] : undefined;
  return engine === undefined || part === undefined ? undefined : { part, engine: engine.engine };
}
