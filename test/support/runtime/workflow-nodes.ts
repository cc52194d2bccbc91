type Members = Record<string, unknown>;

/** A workflow of a package: START, the nodes given, END, each leading to the next one. */
export function workflowOf(name: string, nodes: Members[] = [], members: Members = {}): Members {
  const all: Members[] = [
    { id: 'start', type: 'START' },
    ...nodes,
    { id: 'end', type: 'END', ...(members['end'] as Members) },
  ];
  return {
    name,
    ...Object.fromEntries(Object.entries(members).filter(([member]) => member !== 'end')),
    nodes: all.map((node, index) => {
      const id = String(node['id']);
      const target = all[index + 1]?.['id'] as string | undefined;
      const sequences = target === undefined ? [] : [leading(id, target)];
      return { name: id, outgoingSequences: sequences, ...node };
    }),
  };
}

/** An outgoing sequence. */
export function leading(sourceNodeId: string, targetNodeId: string): Members {
  return { id: `${sourceNodeId}-${targetNodeId}`, sourceNodeId, targetNodeId };
}

/** A mapping of `body` to `key`. */
export function mapping(id: string, body: unknown, responseKey: string | null = id): Members {
  return { id, type: 'DATA_MAPPING', inputBody: JSON.stringify(body), responseKey };
}

/** A node that runs another workflow. */
export function calling(id: string, resourceName: string, appId?: string, members: Members = {}): Members {
  const workflow = appId === undefined ? { resourceName } : { resourceName, appId };
  return { id, type: 'SUBWORKFLOW', payload: { workflow }, responseKey: id, ...members };
}
