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

/** File of the folder form that describes the application. Problems of the package as a whole are reported for it. */
export const APPLICATION_FILE = 'application.json';

type List = 'systems' | 'workflows' | 'processes';

/** Member from which the file name of an entry without `file` is derived. */
const NAMES = { systems: 'resourceName', workflows: 'name', processes: 'file' } as const;

const NOTHING_READ = { systems: null, workflows: null, processes: null };

/** Placeholder for members that are read separately, so that hints for misspelt members include their names. */
const readSeparately = z.undefined().optional();
const envelopeSchema = packageSchema.extend({
  application: readSeparately,
  systems: readSeparately,
  workflows: readSeparately,
  processes: readSeparately,
});
const workflowHeadSchema = workflowSchema.extend({ nodes: readSeparately });

/** Validates a document against the schemas, part by part, which limits the cost of hostile ones. */
export class PackageReader {
  /** The valid parts, even if others have the wrong shape. */
  readable: ReadableParts = { systems: [], workflows: [], processes: [], unread: NOTHING_READ };
  /** Names of entries with the wrong shape. */
  private readonly faulty: Record<List, UnreadNames> = { systems: [], workflows: [], processes: [] };
  private readonly problems = new PackageProblems();

  constructor(private readonly document: unknown) {}

  /** Returns the package with defaults for missing members, or null and the problems. */
  read(): { package: ApplicationPackage | null; problems: PackageProblem[] } {
    const { document, problems } = this;
    if (!isJsonObject(document)) {
      this.fileError('VALUE_INVALID', 'A package must be a JSON object with "application".');
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
      this.fileError('PACKAGE_TOO_LARGE', `A package can have at most ${max} bytes.`);
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
      this.fileError('VALUE_INVALID', `"${list}" must be an array.`);
      return [];
    }
    const max = packageLimits[list];
    if (value.length > max) {
      this.faulty[list] = null;
      this.fileError('TOO_MANY', `A package can have at most ${max} ${list}; this one has ${value.length}.`);
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

  /** Records the name of an invalid entry. If the name is unknown, it could be any. */
  private noteFaulty(list: List, entry: unknown): void {
    const name = isJsonObject(entry) ? entry[NAMES[list]] : undefined;
    const known = this.faulty[list];
    this.faulty[list] = known === null || typeof name !== 'string' ? null : [...known, name];
  }

  private system(entry: unknown, file: string): PackageSystem | undefined {
    const secret = secretIn(entry);
    if (secret !== undefined) {
      const message =
        'A package must not contain secrets. Remove this one, replace it, and set the new one in the version.';
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
    const isReported = nodes === undefined && isMisspelt('nodes', rest, Object.keys(workflowSchema.shape));
    const read = isReported ? undefined : this.nodes(nodes, file);
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
        `A workflow can have at most ${max} nodes; this one has ${nodes.length}.`,
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

  /** Returns the file of the folder form for a path in the document. */
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

  private fileError(code: string, message: string): void {
    this.problems.error(code, { file: APPLICATION_FILE, element: null }, message);
  }
}

/** Returns the file of an entry in the folder form: as given, else by its name, else by its index. */
function fileOf(list: List, entry: unknown, index: number): string {
  const extension = list === 'processes' ? 'bpmn' : 'json';
  const { file, [NAMES[list]]: name } = isJsonObject(entry) ? entry : {};
  if (typeof file === 'string' && file.startsWith(`${list}/`) && file.length <= 255) {
    return file;
  }
  const isName = list !== 'processes' && typeof name === 'string' && /^[\w.()[\]-]{1,200}$/.test(name);
  return `${list}/${isName ? name : index}.${extension}`;
}

/** Returns the member that contains a secret: values of headers, or a credential. */
function secretIn(entry: unknown): string | undefined {
  const { authorization, headers } = isJsonObject(entry) ? entry : {};
  if (isJsonObject(headers)) {
    return '/headers';
  }
  return isJsonObject(authorization) && hasSecret(authorization) ? '/authorization' : undefined;
}

function hasSecret(authorization: JsonObject): boolean {
  const { configuration, config } = authorization;
  return [authorization, configuration, config].some(
    (holder) =>
      isJsonObject(holder) && Object.keys(holder).some((name) => /secret|^(api|private)_?key$/i.test(name)),
  );
}
