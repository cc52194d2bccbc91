/** Rule for application ids. */
export const APP_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Returns the files of a small runnable application that asks for a name and greets. Paths are relative to its folder. */
export function starterApplication(appId: string): Record<string, string> {
  const application = {
    formatVersion: 1,
    appId,
    name: 'Greeting',
    description: 'Asks for a name, and greets.',
  };
  return {
    'application.json': `${JSON.stringify(application, null, 2)}\n`,
    'processes/greeting.bpmn': GREETING,
  };
}

const GREETING = `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:bpmndi="http://www.omg.org/spec/BPMN/20100524/DI" xmlns:dc="http://www.omg.org/spec/DD/20100524/DC" xmlns:di="http://www.omg.org/spec/DD/20100524/DI" xmlns:svc="urn:svc:bpmn:1" id="greeting_definitions" targetNamespace="urn:svc:greeting">
  <bpmn:process id="greeting_process" name="Greeting" isExecutable="true" svc:processName="greeting">
    <bpmn:startEvent id="start" name="Visitor arrives">
      <bpmn:outgoing>to_name</bpmn:outgoing>
    </bpmn:startEvent>
    <bpmn:userTask id="tell_name" name="Tell your name">
      <bpmn:extensionElements>
        <svc:actions>
          <svc:action name="save_name" kind="saveData" manual="true" keys="name" />
        </svc:actions>
        <svc:uiActions>
          <svc:uiAction name="tell" action="save_name">
            <svc:bodySchema>{
  "type": "object",
  "properties": { "name": { "type": "string", "minLength": 1 } },
  "required": ["name"]
}</svc:bodySchema>
          </svc:uiAction>
        </svc:uiActions>
      </bpmn:extensionElements>
      <bpmn:incoming>to_name</bpmn:incoming>
      <bpmn:outgoing>to_greeting</bpmn:outgoing>
    </bpmn:userTask>
    <bpmn:serviceTask id="greet" name="Greet">
      <bpmn:extensionElements>
        <svc:actions>
          <svc:action name="write" kind="saveData" keys="greeting">
            <svc:data>{ "greeting": "Hello \${name}" }</svc:data>
          </svc:action>
        </svc:actions>
      </bpmn:extensionElements>
      <bpmn:incoming>to_greeting</bpmn:incoming>
      <bpmn:outgoing>to_end</bpmn:outgoing>
    </bpmn:serviceTask>
    <bpmn:endEvent id="end" name="Greeted">
      <bpmn:incoming>to_end</bpmn:incoming>
    </bpmn:endEvent>
    <bpmn:sequenceFlow id="to_name" sourceRef="start" targetRef="tell_name" />
    <bpmn:sequenceFlow id="to_greeting" sourceRef="tell_name" targetRef="greet" />
    <bpmn:sequenceFlow id="to_end" sourceRef="greet" targetRef="end" />
  </bpmn:process>
  <bpmndi:BPMNDiagram id="greeting_diagram">
    <bpmndi:BPMNPlane id="greeting_plane" bpmnElement="greeting_process">
      <bpmndi:BPMNShape id="start_di" bpmnElement="start">
        <dc:Bounds x="152" y="102" width="36" height="36" />
      </bpmndi:BPMNShape>
      <bpmndi:BPMNShape id="tell_name_di" bpmnElement="tell_name">
        <dc:Bounds x="240" y="80" width="100" height="80" />
      </bpmndi:BPMNShape>
      <bpmndi:BPMNShape id="greet_di" bpmnElement="greet">
        <dc:Bounds x="392" y="80" width="100" height="80" />
      </bpmndi:BPMNShape>
      <bpmndi:BPMNShape id="end_di" bpmnElement="end">
        <dc:Bounds x="544" y="102" width="36" height="36" />
      </bpmndi:BPMNShape>
      <bpmndi:BPMNEdge id="to_name_di" bpmnElement="to_name">
        <di:waypoint x="188" y="120" />
        <di:waypoint x="240" y="120" />
      </bpmndi:BPMNEdge>
      <bpmndi:BPMNEdge id="to_greeting_di" bpmnElement="to_greeting">
        <di:waypoint x="340" y="120" />
        <di:waypoint x="392" y="120" />
      </bpmndi:BPMNEdge>
      <bpmndi:BPMNEdge id="to_end_di" bpmnElement="to_end">
        <di:waypoint x="492" y="120" />
        <di:waypoint x="544" y="120" />
      </bpmndi:BPMNEdge>
    </bpmndi:BPMNPlane>
  </bpmndi:BPMNDiagram>
</bpmn:definitions>
`;
