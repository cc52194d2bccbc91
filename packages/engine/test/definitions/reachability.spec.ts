import { describe, expect, it } from 'vitest';
import type { ProcessGraph } from '../../src/definitions/model/process-graph.types.js';
import { Reachability } from '../../src/tokens/state/reachability.js';
import { bpmn, flows, graphOf, nodeOf, nodes } from './compile.js';

/** Returns the keys of the nodes that satisfy a predicate. */
function keysWhere(graph: ProcessGraph, holds: (node: number) => boolean): string {
  return graph.nodes
    .filter(({ index }) => holds(index))
    .map(({ key }) => key)
    .join(' ');
}

/** Returns the nodes from which each incoming flow of a gateway can be reached, by the key of the flow. */
function waysTo(graph: ProcessGraph, key: string): Record<string, string> {
  const reachability = new Reachability(graph.nodes, graph.flows);
  return Object.fromEntries(
    nodeOf(graph, key).incoming.map((flow) => [
      graph.flows[flow]?.key ?? '?',
      keysWhere(graph, (from) => reachability.canArriveOver(flow, from)),
    ]),
  );
}

const back = (id: string, attributes = '') =>
  `<bpmn:userTask id="${id}" ${attributes}><bpmn:extensionElements><svc:actions><svc:action name="ok" manual="true" keys="*" allowBack="true"/></svc:actions></bpmn:extensionElements></bpmn:userTask>`;
function backOf(graph: ProcessGraph, key: string): string {
  const reachability = new Reachability(graph.nodes, graph.flows);
  const to = nodeOf(graph, key).index;
  return keysWhere(graph, (from) => reachability.canReturnTo(to, from));
}

describe('inclusive joins', () => {
  it('lists for each incoming flow the nodes from which a token can still arrive', async () => {
    const graph = await graphOf(
      bpmn(
        nodes('startEvent:s inclusiveGateway:g task:a task:b task:c inclusiveGateway:j endEvent:z') +
          flows('s>g g>a[x] g>b[y] a>c c>j b>j j>z'),
      ),
    );
    expect(waysTo(graph, 'j')).toEqual({ b_j: 'b g s', c_j: 'a c g s' });
  });

  it('does not pass the join itself, and follows loops', async () => {
    const graph = await graphOf(
      bpmn(
        nodes(
          'startEvent:s inclusiveGateway:g task:a task:b inclusiveGateway:j exclusiveGateway:x task:r endEvent:z',
        ) + flows('s>g g>a[p] g>b[q] a>j b>j j>x x>r[again] r>j x>z'),
      ),
    );
    // r is after the join: a token there reaches only r_j, and none that waits at x reaches the others.
    expect(waysTo(graph, 'j')).toEqual({ a_j: 'a g s', b_j: 'b g s', r_j: 'r x' });
  });

  it('includes paths that begin at boundary events', async () => {
    const error =
      '<bpmn:boundaryEvent id="e" attachedToRef="a"><bpmn:errorEventDefinition/></bpmn:boundaryEvent>';
    const graph = await graphOf(
      bpmn(
        error +
          nodes('startEvent:s inclusiveGateway:g task:a task:b task:r inclusiveGateway:j endEvent:z') +
          flows('s>g g>a[p] g>b[q] a>j b>j e>r r>j j>z'),
      ),
    );
    expect(waysTo(graph, 'j')).toEqual({ a_j: 'a g s', b_j: 'b g s', r_j: 'a e g r s' });
  });

  it('stays within its subprocess', async () => {
    const inside =
      nodes('startEvent:is inclusiveGateway:ig task:ia inclusiveGateway:ij endEvent:iz') +
      flows('is>ig ig>ia[x] ig>ij[y] ia>ij ij>iz');
    const graph = await graphOf(
      bpmn(
        `${nodes('startEvent:s endEvent:z')}<bpmn:subProcess id="sub">${inside}</bpmn:subProcess>${flows('s>sub sub>z')}`,
      ),
    );
    expect(waysTo(graph, 'ij')).toEqual({ ia_ij: 'ia ig is', ig_ij: 'ig is' });
  });
});

describe('going back', () => {
  it('is possible from every later node, but not across one that forbids it', async () => {
    const graph = await graphOf(
      bpmn(
        nodes('startEvent:s task:a') +
          back('b') +
          '<bpmn:userTask id="c" svc:canGoBack="false"/>' +
          back('d') +
          nodes('endEvent:z') +
          flows('s>b b>a a>c c>d d>z'),
      ),
    );
    expect(backOf(graph, 'b')).toBe('a c');
    expect(backOf(graph, 'd')).toBe('z');
  });

  it('is possible from subprocesses that start later, and across boundary events', async () => {
    const timer =
      '<bpmn:boundaryEvent id="t" attachedToRef="sub"><bpmn:timerEventDefinition><bpmn:timeDuration xsi:type="bpmn:tFormalExpression">PT1S</bpmn:timeDuration></bpmn:timerEventDefinition></bpmn:boundaryEvent>';
    const inside = nodes('startEvent:is') + back('ib') + nodes('endEvent:iz') + flows('is>ib ib>iz');
    const graph = await graphOf(
      bpmn(
        `${nodes('startEvent:s endEvent:y endEvent:z')}${back('b')}<bpmn:subProcess id="sub">${inside}</bpmn:subProcess>${timer}${flows('s>b b>sub sub>z t>y')}`,
      ),
    );
    expect(backOf(graph, 'b')).toBe('ib is iz sub t y z');
    expect(backOf(graph, 'ib')).toBe('iz');
  });

  it('is possible from the node itself in a loop', async () => {
    const graph = await graphOf(
      bpmn(
        nodes('startEvent:s exclusiveGateway:m exclusiveGateway:x endEvent:z') +
          back('b') +
          flows('s>m m>b b>x x>m[again] x>z'),
      ),
    );
    expect(backOf(graph, 'b')).toBe('b m x z');
  });
});
