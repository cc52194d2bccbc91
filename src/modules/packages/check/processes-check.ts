import type {
  ActionOperation,
  DefinitionProblem,
  GraphNode,
  ProcessGraph,
} from '../../process-definitions/process-graph.types.js';
import { quoted, type Place, type Problems } from '../package-problems.js';
import type {
  ApplicationPackage,
  CheckContext,
  CheckedProcessFile,
  LibraryBuild,
  PackageProcessFile,
} from '../package.types.js';
import { requireUniqueNames } from './names.js';
import { namedLibraries, type References } from './references.js';

/** Compiles one BPMN file. */
export type CompileProcess = (file: {
  name: string;
  xml: string;
}) => Promise<{ definitions: ProcessGraph[]; problems: DefinitionProblem[] }>;

type Callable = LibraryBuild['processes'][number];

/** Compiles the processes of a package and checks what they start: processes and workflows, own ones and of libraries. */
export class ProcessesCheck {
  /** Processes by application and name. */
  private readonly callable = new Map<string, Callable>();

  constructor(
    private readonly pkg: ApplicationPackage,
    private readonly context: CheckContext,
    private readonly references: References,
    private readonly problems: Problems,
  ) {}

  /** @returns the files with their graphs; a file that does not compile has none */
  async check(compile: CompileProcess): Promise<CheckedProcessFile[]> {
    const { processes } = this.pkg;
    const files = processes.map(({ file }) => ({ name: file, file, element: null }));
    requireUniqueNames('files', 'FILE_NOT_UNIQUE', files, this.problems);
    const compiled: CheckedProcessFile[] = [];
    for (const process of processes) {
      // One after the other: a large package must not keep everybody else from the processor for long.
      compiled.push({ ...process, graphs: await this.compile(process, compile) });
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.checkNames(compiled);
    this.learn(compiled);
    for (const { file, graphs } of compiled) {
      for (const node of graphs.flatMap(({ nodes }) => nodes)) {
        this.checkNode(node, file);
      }
    }
    return compiled;
  }

  private async compile(
    { file, bpmn }: PackageProcessFile,
    compile: CompileProcess,
  ): Promise<ProcessGraph[]> {
    const { definitions, problems } = await compile({ name: file, xml: bpmn });
    for (const problem of problems) {
      this.problems.add(problem);
    }
    return definitions;
  }

  private checkNames(compiled: readonly CheckedProcessFile[]): void {
    const names = compiled.flatMap(({ file, graphs }) =>
      graphs.map(({ name, key }) => ({ name, file, element: key })),
    );
    requireUniqueNames('processes', 'PROCESS_NAME_NOT_UNIQUE', names, this.problems);
  }

  private learn(compiled: readonly CheckedProcessFile[]): void {
    for (const { appId, processes } of namedLibraries(this.pkg, this.context)) {
      for (const process of processes) {
        this.callable.set(keyOf(appId, process.name), process);
      }
    }
    for (const graph of compiled.flatMap(({ graphs }) => graphs)) {
      this.callable.set(keyOf(this.context.appId, graph.name), graph);
    }
  }

  private checkNode({ key, call, actions }: GraphNode, file: string): void {
    const place = { file, element: key };
    if (call !== null) {
      this.checkCall(call, place);
    }
    for (const { operation } of actions) {
      this.checkOperation(operation, place);
    }
  }

  private checkOperation(operation: ActionOperation, place: Place): void {
    switch (operation.kind) {
      case 'START_SUBPROCESS':
        this.checkCall(operation, place);
        return;
      case 'START_WORKFLOW': {
        const { workflow, appId } = operation;
        const found = this.references.workflow({ resourceName: workflow, appId }, place);
        if (found !== undefined && found.resourceName !== workflow) {
          const message = `The workflow is called "${found.resourceName}": a process names it to the letter.`;
          this.problems.error('WORKFLOW_NOT_FOUND', place, message);
        }
        return;
      }
      case 'SAVE_DATA':
      case 'APPEND_TO_PARENT':
      case 'SEND_MESSAGE':
        return;
    }
  }

  /** The same rules as for a start by the interface (decisions, section 5). */
  private checkCall(
    {
      process,
      appId,
      startCondition,
    }: { process: string; appId: string | null; startCondition: string | null },
    place: Place,
  ): void {
    const target = this.callable.get(keyOf(appId ?? this.context.appId, process));
    if (target === undefined) {
      const where =
        appId === null || appId === this.context.appId
          ? 'this package'
          : `a library "${quoted(appId)}" that this package names`;
      const message = `There is no process "${quoted(process)}" in ${where}.`;
      this.problems.error('PROCESS_NOT_FOUND', place, message);
      return;
    }
    const conditions = startConditionsOf(target);
    if (startCondition !== null && !conditions.includes(startCondition)) {
      const message = `Process "${quoted(process)}" has no start event with the start condition "${quoted(startCondition)}".`;
      this.problems.error('START_CONDITION_NOT_FOUND', place, message);
    } else if (conditions.length === 0) {
      const message = `Process "${quoted(process)}" has no start event that a call can use.`;
      this.problems.error('START_NOT_FOUND', place, message);
    } else if (startCondition === null && conditions.length > 1) {
      const message = `Process "${quoted(process)}" has several start events: name one by its start condition.`;
      this.problems.error('START_CONDITION_MISSING', place, message);
    }
  }
}

/** Start conditions of the plain start events; those with a message or a timer start by themselves. */
function startConditionsOf({ nodes, starts }: Callable): (string | null)[] {
  return starts
    .map((index) => nodes[index])
    .filter((node) => node !== undefined && (node.event === null || node.event.type === 'NONE'))
    .map((node) => node?.startCondition ?? null);
}

function keyOf(appId: string, process: string): string {
  return JSON.stringify([appId, process]);
}
