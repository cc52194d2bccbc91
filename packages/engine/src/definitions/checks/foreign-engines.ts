/** What an extension of another engine says about the execution of its element. */
export type ForeignPart =
  /** What runs in the place of the element. */
  | 'implementation'
  /** What runs beside the element, when a token comes or goes. */
  | 'listener'
  /** Which data go in and come out. */
  | 'data'
  /** Who may work on it. */
  | 'people';

interface ForeignEngine {
  /** Its name for people. */
  readonly engine: string;
  /** URIs; prefixes say nothing. */
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

/** Extensions of other engines that say what runs. What is not here tells nothing about execution that we know of. */
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

/** What is known of an attribute or element of another engine. */
export interface ForeignMeaning {
  part: ForeignPart;
  engine: string;
}

/**
 * Looks up an extension of another engine.
 * @param name local name, without prefix
 * @returns undefined when it tells nothing about execution that we know of
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
