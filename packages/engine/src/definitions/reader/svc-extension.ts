/** Namespace of our extensions in a BPMN file. */
export const SVC_NAMESPACE = 'urn:svc:bpmn:1';

const text = (...names: string[]) => names.map((name) => ({ name, isAttr: true, type: 'String' }));
const child = (...names: string[]) => names.map((name) => ({ name, type: 'String' }));
const many = (name: string, type: string) => ({ name, type, isMany: true });
const attributesOf = (name: string, extended: string[], ...names: string[]) => ({
  name,
  extends: extended.map((type) => `bpmn:${type}`),
  properties: text(...names),
});
const element = (name: string, properties: object[]) => ({ name, superClass: ['Element'], properties });

/**
 * The moddle descriptor of our extensions: attributes on standard elements, and elements within `extensionElements`, where
 * every BPMN tool keeps them. Flags and numbers are declared as strings: the library would read `"yes"` as false.
 */
export const SVC_EXTENSION = {
  name: 'svc',
  prefix: 'svc',
  uri: SVC_NAMESPACE,
  xml: { tagAlias: 'lowerCase' },
  types: [
    attributesOf(
      'ProcessAttributes',
      ['Process'],
      'uuid',
      'processName',
      'expiresAfter',
      'searchable',
      'start',
    ),
    attributesOf('NodeAttributes', ['FlowNode'], 'uuid', 'canGoBack'),
    attributesOf('StartAttributes', ['StartEvent'], 'startCondition', 'start'),
    attributesOf('SendAttributes', ['SendTask', 'Message', 'MessageEventDefinition'], 'correlation'),
    attributesOf('ReceiveAttributes', ['ReceiveTask'], 'correlation', 'timeout'),
    attributesOf('BoundaryAttributes', ['BoundaryEvent'], 'priority', 'condition'),
    attributesOf('LaneAttributes', ['Lane'], 'execute'),
    attributesOf('LoopAttributes', ['MultiInstanceLoopCharacteristics'], 'collection'),
    attributesOf(
      'CallAttributes',
      ['CallActivity'],
      'appId',
      'startCondition',
      'waits',
      'copy',
      'copyKeys',
      'outputKey',
    ),
    element('InputSchema', [{ name: 'body', type: 'String', isBody: true }]),
    element('Actions', [many('actions', 'Action')]),
    element('Action', [
      ...text('uuid', 'name', 'kind', 'order', 'manual', 'optional', 'repeatable', 'keys', 'parent'),
      ...text('autoRunChildren', 'delay', 'allowBack', 'removeKeys', 'restoreKeys'),
      ...text('workflow', 'process', 'appId', 'startCondition', 'copy', 'copyKeys', 'resultKey'),
      ...text('message', 'correlation'),
      ...child('data', 'input', 'payload'),
      many('paths', 'Path'),
    ]),
    element('Path', text('from', 'to')),
    element('UiActions', [many('uiActions', 'UiAction')]),
    element('UiAction', [...text('uuid', 'name', 'action', 'excludeKeys'), ...child('body', 'bodySchema')]),
  ],
};
