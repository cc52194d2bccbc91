/**
 * Camunda Modeler plugin: registers our BPMN extensions, and adds extension elements that element templates cannot contain. It is a single
 * file, because the modeler loads one script. Tests compare its descriptor with packages/modeler/svc.json.
 */
(() => {
  // The content of packages/modeler/svc.json on one line.
  const DESCRIPTOR = JSON.parse(
    '{"name":"svc","prefix":"svc","uri":"urn:svc:bpmn:1","xml":{"tagAlias":"lowerCase"},"types":[{"name":"ProcessAttributes","extends":["bpmn:Process"],"properties":[{"name":"uuid","isAttr":true,"type":"String"},{"name":"processName","isAttr":true,"type":"String"},{"name":"expiresAfter","isAttr":true,"type":"String"},{"name":"searchable","isAttr":true,"type":"String"},{"name":"start","isAttr":true,"type":"String"}]},{"name":"NodeAttributes","extends":["bpmn:FlowNode"],"properties":[{"name":"uuid","isAttr":true,"type":"String"},{"name":"canGoBack","isAttr":true,"type":"String"}]},{"name":"StartAttributes","extends":["bpmn:StartEvent"],"properties":[{"name":"startCondition","isAttr":true,"type":"String"},{"name":"start","isAttr":true,"type":"String"}]},{"name":"SendAttributes","extends":["bpmn:SendTask","bpmn:Message","bpmn:MessageEventDefinition"],"properties":[{"name":"correlation","isAttr":true,"type":"String"}]},{"name":"ReceiveAttributes","extends":["bpmn:ReceiveTask"],"properties":[{"name":"correlation","isAttr":true,"type":"String"},{"name":"timeout","isAttr":true,"type":"String"}]},{"name":"BoundaryAttributes","extends":["bpmn:BoundaryEvent"],"properties":[{"name":"priority","isAttr":true,"type":"String"},{"name":"condition","isAttr":true,"type":"String"}]},{"name":"LaneAttributes","extends":["bpmn:Lane"],"properties":[{"name":"execute","isAttr":true,"type":"String"}]},{"name":"LoopAttributes","extends":["bpmn:MultiInstanceLoopCharacteristics"],"properties":[{"name":"collection","isAttr":true,"type":"String"}]},{"name":"CallAttributes","extends":["bpmn:CallActivity"],"properties":[{"name":"appId","isAttr":true,"type":"String"},{"name":"startCondition","isAttr":true,"type":"String"},{"name":"waits","isAttr":true,"type":"String"},{"name":"copy","isAttr":true,"type":"String"},{"name":"copyKeys","isAttr":true,"type":"String"},{"name":"outputKey","isAttr":true,"type":"String"}]},{"name":"InputSchema","superClass":["Element"],"properties":[{"name":"body","type":"String","isBody":true}]},{"name":"Actions","superClass":["Element"],"properties":[{"name":"actions","type":"Action","isMany":true}]},{"name":"Action","superClass":["Element"],"properties":[{"name":"uuid","isAttr":true,"type":"String"},{"name":"name","isAttr":true,"type":"String"},{"name":"kind","isAttr":true,"type":"String"},{"name":"order","isAttr":true,"type":"String"},{"name":"manual","isAttr":true,"type":"String"},{"name":"optional","isAttr":true,"type":"String"},{"name":"repeatable","isAttr":true,"type":"String"},{"name":"keys","isAttr":true,"type":"String"},{"name":"parent","isAttr":true,"type":"String"},{"name":"autoRunChildren","isAttr":true,"type":"String"},{"name":"delay","isAttr":true,"type":"String"},{"name":"allowBack","isAttr":true,"type":"String"},{"name":"removeKeys","isAttr":true,"type":"String"},{"name":"restoreKeys","isAttr":true,"type":"String"},{"name":"workflow","isAttr":true,"type":"String"},{"name":"process","isAttr":true,"type":"String"},{"name":"appId","isAttr":true,"type":"String"},{"name":"startCondition","isAttr":true,"type":"String"},{"name":"copy","isAttr":true,"type":"String"},{"name":"copyKeys","isAttr":true,"type":"String"},{"name":"resultKey","isAttr":true,"type":"String"},{"name":"message","isAttr":true,"type":"String"},{"name":"correlation","isAttr":true,"type":"String"},{"name":"data","type":"String"},{"name":"input","type":"String"},{"name":"payload","type":"String"},{"name":"paths","type":"Path","isMany":true}]},{"name":"Path","superClass":["Element"],"properties":[{"name":"from","isAttr":true,"type":"String"},{"name":"to","isAttr":true,"type":"String"}]},{"name":"UiActions","superClass":["Element"],"properties":[{"name":"uiActions","type":"UiAction","isMany":true}]},{"name":"UiAction","superClass":["Element"],"properties":[{"name":"uuid","isAttr":true,"type":"String"},{"name":"name","isAttr":true,"type":"String"},{"name":"action","isAttr":true,"type":"String"},{"name":"excludeKeys","isAttr":true,"type":"String"},{"name":"body","type":"String"},{"name":"bodySchema","type":"String"}]}]}',
  );

  /** Adds the `svcElements` in the metadata of a template to the element to which it is applied, unless they already exist. */
  function TemplateElements(eventBus, moddle, modeling) {
    const make = ({ $type, ...members }, parent) => {
      const made = moddle.create($type, {});
      made.$parent = parent;
      for (const [name, value] of Object.entries(members)) {
        made.set(name, Array.isArray(value) ? value.map((one) => make(one, made)) : value);
      }
      return made;
    };
    eventBus.on('commandStack.propertiesPanel.camunda.changeTemplate.postExecuted', ({ context }) => {
      const wanted = context.newTemplate?.metadata?.svcElements ?? [];
      const { businessObject } = context.element;
      const present = businessObject.extensionElements?.values ?? [];
      const missing = wanted.filter(({ $type }) => !present.some((value) => value.$type === $type));
      if (missing.length > 0) {
        const extensionElements = moddle.create('bpmn:ExtensionElements', {});
        extensionElements.$parent = businessObject;
        extensionElements.values = [...present, ...missing.map((one) => make(one, extensionElements))];
        modeling.updateProperties(context.element, { extensionElements });
      }
    });
  }
  TemplateElements.$inject = ['eventBus', 'moddle', 'modeling'];

  const plugins = (window.plugins ??= []);
  plugins.push({ type: 'bpmn.modeler.moddleExtension', plugin: DESCRIPTOR });
  plugins.push({
    type: 'bpmn.modeler.additionalModules',
    plugin: { __init__: ['svcTemplateElements'], svcTemplateElements: ['type', TemplateElements] },
  });
})();
