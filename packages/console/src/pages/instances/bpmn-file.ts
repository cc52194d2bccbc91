export interface Flow {
  id: string;
  source: string;
  target: string;
}

/** Lists the sequence flows of a BPMN file. */
export function flowsOf(xml: string): Flow[] {
  return named(parsed(xml), 'sequenceFlow').map((flow) => ({
    id: attribute(flow, 'id'),
    source: attribute(flow, 'sourceRef'),
    target: attribute(flow, 'targetRef'),
  }));
}

/** Maps work to the data paths that it writes. Keys are `<element id> <action name>` for actions and element ids for calls. */
export function writesOf(xml: string): ReadonlyMap<string, readonly string[]> {
  const writes = new Map<string, readonly string[]>();
  for (const element of named(parsed(xml), '*')) {
    const id = attribute(element, 'id');
    const output = attribute(element, 'outputKey');
    if (element.localName === 'callActivity' && output !== '') {
      writes.set(id, [output]);
    }
  }
  for (const action of named(parsed(xml), 'action')) {
    const paths = ['keys', 'resultKey'].flatMap((name) => pathsOf(attribute(action, name)));
    const owner = action.closest('[id]');
    if (paths.length > 0 && owner !== null) {
      writes.set(`${owner.getAttribute('id')} ${attribute(action, 'name')}`, paths);
    }
  }
  return writes;
}

function parsed(xml: string): Document {
  return new DOMParser().parseFromString(xml, 'application/xml');
}

function named(file: Document, localName: string): Element[] {
  return [...file.getElementsByTagNameNS('*', localName)];
}

/** Reads an attribute by its local name in any namespace. */
function attribute(element: Element, localName: string): string {
  return [...element.attributes].find((one) => one.localName === localName)?.value ?? '';
}

function pathsOf(text: string): string[] {
  return text
    .split(',')
    .map((path) => path.trim())
    .filter((path) => path !== '');
}
