import { z } from 'zod';
import { isJsonObject, type JsonObject, jsonSize } from '#engine/json';
import { checkBounds } from './json-bounds.js';
import { pointerTo, PackageProblems, type Place } from '../model/package-problems.js';
import type {
  ApplicationPackage,
  PackageProblem,
  PackageProcessFile,
  PackageSystem,
  PackageWorkflow,
  ReadableParts,
  UnreadNames,
  WorkflowNode,
} from '../model/package.types.js';
import { applicationSchema } from '../schema/application.schema.js';
import { packageSchema, processFileSchema } from '../schema/package.schema.js';
import { systemSchema } from '../schema/system.schema.js';
import { workflowNodeSchema, workflowSchema } from '../schema/workflow.schema.js';
import { isMisspelt, readBySchema } from './read-by-schema.js';
import { packageLimits } from '../package.limits.js';

/** File of the folder form that names the application, and that stands for the package where no other file does. */
export const APPLICATION_FILE = 'application.json';

type List = 'systems' | 'workflows' | 'processes';

/** Member that names the file of an entry which does not say where it stands. */
const NAMES = { systems: 'resourceName', workflows: 'name', processes: 'file' } as const;

const NOTHING_READ = { systems: null, workflows: null, processes: null };

/** Members that are read by themselves; a misspelt one is told with their names. */
const apart = z.undefined().optional();
const envelopeSchema = packageSchema.extend({
  application: apart,
  systems: apart,
  workflows: apart,
  processes: apart,
});
const workflowHeadSchema = workflowSchema.extend({ nodes: apart });

/** Holds a document against the schemas, part by part, so that a hostile one costs no more than its parts. */
export class PackageReader {
  /** The parts that could be read, also of a package with a wrong shape elsewhere. */
  readable: ReadableParts = { systems: [], workflows: [], processes: [], unread: NOTHING_READ };
  /** Names of entries with a wrong shape. */
  private readonly faulty: Record<List, UnreadNames> = { systems: [], workflows: [], processes: [] };
  private readonly problems = new PackageProblems();

  constructor(private readonly document: unknown) {}

  /** @returns null and why, or the package with defaults for what was left out */
  read(): { package: ApplicationPackage | null; problems: PackageProblem[] } {
    const { document, problems } = this;
    if (!isJsonObject(document)) {
      this.wrong('VALUE_INVALID', 'A package is a JSON object with "application".');
      return { package: null, problems: problems.list() };
    }
    checkBounds(document, packageLimits.bytes, problems, (path) => this.placeOf(path));
    if (!problems.hasErrors) {
      this.checkSize(document);
    }
    const pkg = problems.hasErrors ? null : this.parts(document);
    return { package: problems.hasErrors ? null : pkg, problems: problems.list() };
  }

  private checkSize(document: object): void {
    const max = packageLimits.bytes;
    if (jsonSize(document) > max) {
      this.wrong('PACKAGE_TOO_LARGE', `A package has at most ${max} bytes.`);
    }
  }

  private parts(document: Record<string, unknown>): ApplicationPackage | null {
    const { application, systems, workflows, processes, ...rest } = document;
    const at = { file: APPLICATION_FILE, path: [] };
    readBySchema(envelopeSchema, rest, at, this.problems);
    const head = readBySchema(applicationSchema, application, at, this.problems);
    const pkg = {
      systems: this.list('systems', systems, (entry, file) => this.system(entry, file)),
      workflows: this.list('workflows', workflows, (entry, file) => this.workflow(entry, file)),
      processes: this.list('processes', processes, (entry, file) => this.process(entry, file)),
    };
    const { faulty } = this;
    const whole = pkg.workflows.filter(({ name }) => !(faulty.workflows ?? []).includes(name));
    this.readable = { ...pkg, workflows: whole, unread: faulty };
    if (head === undefined) {
      return null;
    }
    const { $schema: _ignored, ...kept } = head;
    return { application: kept, ...pkg };
  }

  private list<Part>(
    list: List,
    value: unknown = [],
    read: (entry: unknown, file: string) => Part | undefined,
  ): Part[] {
    if (!Array.isArray(value)) {
      this.faulty[list] = null;
      this.wrong('VALUE_INVALID', `"${list}" must be an array.`);
      return [];
    }
    const max = packageLimits[list];
    if (value.length > max) {
      this.faulty[list] = null;
      this.wrong('TOO_MANY', `A package has at most ${max} ${list}, this one has ${value.length}.`);
      return [];
    }
    return value.flatMap((entry: unknown, index) => {
      const before = this.problems.count;
      const part = this.problems.isFull ? undefined : read(entry, fileOf(list, entry, index));
      if (part === undefined || this.problems.count > before) {
        this.noteFaulty(list, entry);
      }
      return part === undefined ? [] : [part];
    });
  }

  /** An entry of which not even the name is known could have any. */
  private noteFaulty(list: List, entry: unknown): void {
    const name = isJsonObject(entry) ? entry[NAMES[list]] : undefined;
    const known = this.faulty[list];
    this.faulty[list] = known === null || typeof name !== 'string' ? null : [...known, name];
  }

  private system(entry: unknown, file: string): PackageSystem | undefined {
    const secret = secretIn(entry);
    if (secret !== undefined) {
      const message = 'A package never holds a secret: take it out, replace it, and set it in the version.';
      this.problems.error('SECRET_IN_PACKAGE', { file, element: secret }, message);
      return undefined;
    }
    const system = readBySchema(systemSchema, entry, { file, path: [] }, this.problems);
    if (system === undefined) {
      return undefined;
    }
    const { $schema: _ignored, ...kept } = system;
    return { ...kept, file };
  }

  private workflow(entry: unknown, file: string): PackageWorkflow | undefined {
    const { nodes, ...rest } = isJsonObject(entry) ? entry : { nodes: [] };
    const head = readBySchema(
      workflowHeadSchema,
      isJsonObject(entry) ? rest : entry,
      { file, path: [] },
      this.problems,
    );
    const isTold = nodes === undefined && isMisspelt('nodes', rest, Object.keys(workflowSchema.shape));
    const read = isTold ? undefined : this.nodes(nodes, file);
    if (head === undefined || read === undefined) {
      return undefined;
    }
    const { $schema: _ignored, ...kept } = head;
    return { ...kept, file, nodes: read };
  }

  private nodes(nodes: unknown, file: string): WorkflowNode[] | undefined {
    const place = { file, element: '/nodes' };
    const max = packageLimits.workflowNodes;
    if (!Array.isArray(nodes)) {
      this.problems.error(
        nodes === undefined ? 'MEMBER_MISSING' : 'VALUE_INVALID',
        place,
        '"nodes" must be an array.',
      );
      return undefined;
    }
    if (nodes.length > max) {
      this.problems.error(
        'TOO_MANY',
        place,
        `A workflow has at most ${max} nodes, this one has ${nodes.length}.`,
      );
      return undefined;
    }
    return nodes.flatMap((node: unknown, index) =>
      this.problems.isFull
        ? []
        : (readBySchema(workflowNodeSchema, node, { file, path: ['nodes', index] }, this.problems) ?? []),
    );
  }

  private process(entry: unknown, file: string): PackageProcessFile | undefined {
    return readBySchema(processFileSchema, entry, { file, path: [] }, this.problems);
  }

  /** The file of the folder form that a path of the document leads into. */
  private placeOf([list, index, ...rest]: (string | number)[]): Place {
    if (list === 'application') {
      return { file: APPLICATION_FILE, element: pointerTo(index === undefined ? [] : [index, ...rest]) };
    }
    if ((list === 'systems' || list === 'workflows' || list === 'processes') && typeof index === 'number') {
      const entries = (this.document as Record<List, unknown>)[list];
      const entry: unknown = Array.isArray(entries) ? entries[index] : undefined;
      return { file: fileOf(list, entry, index), element: pointerTo(rest) };
    }
    return { file: APPLICATION_FILE, element: null };
  }

  private wrong(code: string, message: string): void {
    this.problems.error(code, { file: APPLICATION_FILE, element: null }, message);
  }
}

/** Where an entry stands in the folder: as it says, else by its name, else by its position. */
function fileOf(list: List, entry: unknown, index: number): string {
  const extension = list === 'processes' ? 'bpmn' : 'json';
  const { file, [NAMES[list]]: name } = isJsonObject(entry) ? entry : {};
  if (typeof file === 'string' && file.startsWith(`${list}/`) && file.length <= 255) {
    return file;
  }
  const isName = list !== 'processes' && typeof name === 'string' && /^[\w.()[\]-]{1,200}$/.test(name);
  return `${list}/${isName ? name : index}.${extension}`;
}

/** Returns the member that holds a secret: values of headers, or a credential. */
function secretIn(entry: unknown): string | undefined {
  const { authorization, headers } = isJsonObject(entry) ? entry : {};
  if (isJsonObject(headers)) {
    return '/headers';
  }
  return isJsonObject(authorization) && holdsSecret(authorization) ? '/authorization' : undefined;
}

function holdsSecret(authorization: JsonObject): boolean {
  const { configuration, config } = authorization;
  return [authorization, configuration, config].some(
    (holder) =>
      isJsonObject(holder) && Object.keys(holder).some((name) => /secret|^(api|private)_?key$/i.test(name)),
  );
}
