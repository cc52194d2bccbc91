import type { Random } from './random.js';

/** A structured part of a process: one way in, one way out. */
export type Block =
  | { kind: 'user'; id: string; actions: string }
  | { kind: 'sequence'; parts: Block[] }
  | { kind: 'exclusive' | 'parallel' | 'inclusive'; id: string; branches: Block[] }
  | { kind: 'loop'; id: string; body: Block }
  | { kind: 'subProcess'; id: string; body: Block };

/** Data that decides the path of an instance: a branch, several, or a number of iterations, by block. */
export type Decisions = Record<string, unknown>;

/** How large a random process may become. */
export interface GeneratorLimits {
  readonly blocks: number;
  readonly depth: number;
  readonly branches: number;
}

const LIMITS: GeneratorLimits = { blocks: 5, depth: 3, branches: 3 };

/**
 * A random process of blocks (exclusive, parallel, inclusive, loop, embedded subprocess, user task) as BPMN text. The same
 * random numbers give the same process; elements are written in random order, which must not matter.
 */
export class GeneratedProcess {
  readonly root: Block;
  readonly xml: string;
  private count = 0;

  constructor(
    private readonly random: Random,
    readonly name: string,
    private readonly limits = LIMITS,
  ) {
    this.root = this.sequence(limits.depth, random.between(1, limits.blocks));
    this.xml = this.write();
  }

  /** Start data of one instance. */
  decide(random: Random): Decisions {
    const decisions: Decisions = {};
    for (const block of blocksOf(this.root)) {
      if (block.kind === 'exclusive') {
        decisions[block.id] = random.between(0, block.branches.length - 1);
      } else if (block.kind === 'inclusive') {
        decisions[block.id] = block.branches.map(() => random.chance(0.5));
      } else if (block.kind === 'loop') {
        decisions[`${block.id}_rounds`] = random.between(1, 2);
      }
    }
    return decisions;
  }

  /** Sorted ids of the user tasks that an instance reaches if it never goes back. */
  visits(decisions: Decisions): string[] {
    return visitsOf(this.root, decisions).toSorted();
  }

  private block(depth: number): Block {
    const kinds = ['user', 'exclusive', 'parallel', 'inclusive', 'loop', 'subProcess'] as const;
    const kind = depth === 0 ? 'user' : this.random.pick(kinds);
    const id = `${kind}${(this.count += 1)}`;
    switch (kind) {
      case 'user':
        return { kind, id, actions: this.actions() };
      case 'loop':
      case 'subProcess':
        return { kind, id, body: this.sequence(depth - 1, 1) };
      default: {
        const branches = Array.from({ length: this.random.between(2, this.limits.branches) }, () =>
          this.sequence(depth - 1, this.random.pick([0, 1, 1, 2])),
        );
        return { kind, id, branches };
      }
    }
  }

  private sequence(depth: number, length: number): Block {
    return { kind: 'sequence', parts: Array.from({ length }, () => this.block(depth)) };
  }

  private actions(): string {
    const back = this.random.chance(0.6) ? ' allowBack="true"' : '';
    const extra = this.random.pick([
      '',
      '<svc:action name="more" manual="true" keys="*"/>',
      '<svc:action name="note" manual="true" optional="true" repeatable="true" keys="*"/>',
      '<svc:action name="auto" keys="*"><svc:data>{"auto": true}</svc:data></svc:action>',
      '<svc:action name="child" keys="*" parent="done"><svc:data>{"child": true}</svc:data></svc:action>',
    ]);
    return `<svc:action name="done" manual="true" keys="*" autoRunChildren="true"${back}/>${extra}`;
  }

  private write(): string {
    const scope = new Scope(this.random);
    scope.add('start', '<bpmn:startEvent id="start"/>');
    scope.add('end', '<bpmn:endEvent id="end"/>');
    const last = scope.write(this.root, 'start');
    scope.flow(last, 'end');
    return `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xmlns:svc="urn:svc:bpmn:1" id="definitions" targetNamespace="urn:generated">
  <bpmn:process id="${this.name}" isExecutable="true">${scope.text()}</bpmn:process>
</bpmn:definitions>`;
  }
}

/** The elements of a process or an embedded subprocess. */
class Scope {
  private readonly elements: string[] = [];

  constructor(
    private readonly random: Random,
    private readonly prefix = '',
  ) {}

  add(_id: string, element: string): void {
    this.elements.push(element);
  }

  flow(from: string, to: string, condition?: string): string {
    const id = `${this.prefix}f${this.elements.length}_${from}`;
    const inner =
      condition === undefined
        ? ''
        : `<bpmn:conditionExpression xsi:type="bpmn:tFormalExpression"><![CDATA[${condition}]]></bpmn:conditionExpression>`;
    this.elements.push(
      `<bpmn:sequenceFlow id="${id}" sourceRef="${from}" targetRef="${to}">${inner}</bpmn:sequenceFlow>`,
    );
    return id;
  }

  text(): string {
    return this.random.shuffled(this.elements).join('\n');
  }

  /** Writes a block after an element. Returns its last element. */
  write(block: Block, before: string, condition?: string): string {
    switch (block.kind) {
      case 'user':
        return this.user(block, before, condition);
      case 'sequence':
        return block.parts.reduce(
          (last, part, index) => this.write(part, last, index === 0 ? condition : undefined),
          before,
        );
      case 'loop':
        return this.loop(block, before, condition);
      case 'subProcess':
        return this.subProcess(block, before, condition);
      default:
        return this.branches(block, before, condition);
    }
  }

  private user(block: Extract<Block, { kind: 'user' }>, before: string, condition?: string): string {
    const names = [...block.actions.matchAll(/name="(\w+)" manual/g)].map(([, name]) => name ?? '');
    const uiActions = names.map((name) => `<svc:uiAction name="${name}" action="${name}"/>`).join('');
    const returns = block.actions.includes('allowBack');
    const closed = !returns && this.random.chance(0.2) ? ' svc:canGoBack="false"' : '';
    this.elements.push(`<bpmn:userTask id="${block.id}"${closed}><bpmn:extensionElements>
<svc:actions>${block.actions}</svc:actions><svc:uiActions>${uiActions}</svc:uiActions></bpmn:extensionElements></bpmn:userTask>`);
    this.flow(before, block.id, condition);
    return block.id;
  }

  private branches(
    block: Extract<Block, { branches: Block[] }>,
    before: string,
    condition: string | undefined,
  ): string {
    const { id, kind } = block;
    this.flow(before, `${id}_split`, condition);
    const gateway = `bpmn:${kind}Gateway`;
    this.elements.push(`<${gateway} id="${id}_join"/>`);
    let defaultFlow = '';
    block.branches.forEach((branch, index) => {
      const own = kind === 'parallel' ? undefined : conditionOf(block, index);
      const isEmpty = branch.kind === 'sequence' && branch.parts.length === 0;
      // Every branch begins with a task, so that none is empty.
      const first = `${id}_b${index}`;
      this.elements.push(`<bpmn:task id="${first}"/>`);
      const flow = this.flow(`${id}_split`, first, own);
      defaultFlow = own === undefined && kind !== 'parallel' ? flow : defaultFlow;
      this.flow(isEmpty ? first : this.write(branch, first), `${id}_join`);
    });
    const attribute = defaultFlow === '' ? '' : ` default="${defaultFlow}"`;
    this.elements.push(`<${gateway} id="${id}_split"${attribute}/>`);
    return `${id}_join`;
  }

  private loop(block: Extract<Block, { kind: 'loop' }>, before: string, condition?: string): string {
    const { id } = block;
    const counted = (key: string, value: string) =>
      `<bpmn:task id="${id}_${key}"><bpmn:extensionElements><svc:actions><svc:action name="count" keys="${id}"><svc:data>{"${id}": ${value}}</svc:data></svc:action></svc:actions></bpmn:extensionElements></bpmn:task>`;
    this.elements.push(counted('begin', '0'), counted('count', `"\${${id} + 1}"`));
    this.elements.push(`<bpmn:exclusiveGateway id="${id}_merge"/>`);
    this.flow(before, `${id}_begin`, condition);
    this.flow(`${id}_begin`, `${id}_merge`);
    this.flow(this.write(block.body, `${id}_merge`), `${id}_count`);
    this.flow(`${id}_count`, `${id}_again`);
    this.flow(`${id}_again`, `${id}_merge`, `${id} < ${id}_rounds`);
    const out = this.flow(`${id}_again`, `${id}_out`);
    this.elements.push(`<bpmn:exclusiveGateway id="${id}_again" default="${out}"/>`);
    this.elements.push(`<bpmn:task id="${id}_out"/>`);
    return `${id}_out`;
  }

  private subProcess(
    block: Extract<Block, { kind: 'subProcess' }>,
    before: string,
    condition?: string,
  ): string {
    const { id } = block;
    const scope = new Scope(this.random, `${id}_`);
    scope.add(id, `<bpmn:startEvent id="${id}_start"/>`);
    scope.add(id, `<bpmn:endEvent id="${id}_end"/>`);
    scope.flow(scope.write(block.body, `${id}_start`), `${id}_end`);
    this.elements.push(`<bpmn:subProcess id="${id}">${scope.text()}</bpmn:subProcess>`);
    this.flow(before, id, condition);
    return id;
  }
}

/** Returns the condition of a branch; undefined for the last one, which is the default. */
function conditionOf(block: Extract<Block, { branches: Block[] }>, index: number): string | undefined {
  if (index === block.branches.length - 1) {
    return undefined;
  }
  return block.kind === 'exclusive' ? `${block.id} == ${index}` : `${block.id}[${index}]`;
}

function blocksOf(block: Block): Block[] {
  switch (block.kind) {
    case 'user':
      return [block];
    case 'sequence':
      return block.parts.flatMap(blocksOf);
    case 'loop':
    case 'subProcess':
      return [block, ...blocksOf(block.body)];
    default:
      return [block, ...block.branches.flatMap(blocksOf)];
  }
}

function visitsOf(block: Block, decisions: Decisions): string[] {
  switch (block.kind) {
    case 'user':
      return [block.id];
    case 'sequence':
      return block.parts.flatMap((part) => visitsOf(part, decisions));
    case 'loop': {
      const rounds = Number(decisions[`${block.id}_rounds`]);
      return Array.from({ length: rounds }, () => visitsOf(block.body, decisions)).flat();
    }
    case 'subProcess':
      return visitsOf(block.body, decisions);
    default:
      return takenBranches(block, decisions[block.id]).flatMap((branch) => visitsOf(branch, decisions));
  }
}

function takenBranches(
  { kind, branches }: Extract<Block, { branches: Block[] }>,
  decision: unknown,
): Block[] {
  if (kind === 'parallel') {
    return branches;
  }
  if (kind === 'exclusive') {
    return branches.filter((_, index) => index === decision);
  }
  const chosen = branches.slice(0, -1).filter((_, index) => (decision as boolean[])[index]);
  return chosen.length > 0 ? chosen : branches.slice(-1);
}
