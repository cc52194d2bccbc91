import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { canonicalJson } from '../../common/canonical-json.js';
import { UnreadableBodyError } from '../../common/errors/request.errors.js';
import { isJsonObject } from '../../common/json.js';
import { canonicalCertificates } from '../../common/tls/certificates.js';
import type { CheckedPackage, PackageSystem } from './model/package.types.js';
import type { PackagesService } from './packages.service.js';
import type {
  CheckResult,
  CheckTask,
  JudgedPackage,
  PackageJson,
  PackageTask,
  PackageTaskAnswer,
  ReadPackage,
  ReadTask,
} from './thread/package-task.types.js';

/** What a worker does with packages. */
export class PackageTasks {
  constructor(private readonly packages: PackagesService) {}

  /** Never rejects: a defect of ours must be an answer too. */
  async answer(task: PackageTask): Promise<PackageTaskAnswer> {
    try {
      return task.task === 'read' ? { read: await this.read(task) } : { checked: await this.check(task) };
    } catch (error) {
      return error instanceof UnreadableBodyError
        ? { refused: error.message }
        : { fault: error instanceof Error ? (error.stack ?? error.message) : 'unknown' };
    }
  }

  private async read({ json, appId }: ReadTask): Promise<ReadPackage> {
    const { package: pkg, problems, readable } = this.packages.parse(documentOf(json));
    if (pkg === null) {
      const others = await this.packages.checkParts(readable, appId);
      return { outline: null, problems: [...problems, ...others] };
    }
    const outline = {
      libraries: pkg.application.libraries,
      systems: pkg.systems.map(({ resourceName }) => ({ resourceName })),
      workflows: pkg.workflows.map(({ name }) => ({ name })),
    };
    return { outline, problems };
  }

  private async check({ json, context, withProcesses }: CheckTask): Promise<CheckResult> {
    const document = documentOf(json);
    const { package: pkg, problems } = this.packages.parse(document);
    if (pkg === null) {
      return { judged: null, problems };
    }
    const { checked, problems: found } = await this.packages.check(pkg, context);
    return { judged: checked && judgedOf(checked, document, withProcesses), problems: found };
  }
}

/** @throws UnreadableBodyError */
function documentOf(json: PackageJson): object {
  const document = parsed(typeof json === 'string' ? json : new TextDecoder().decode(json));
  if (!isJsonObject(document)) {
    throw new UnreadableBodyError('Request body must be a JSON object.');
  }
  return document;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UnreadableBodyError('Request body is not valid JSON.');
  }
}

/** Certificates in the one form that is stored, so that a delivery has nothing to read within its transaction. */
function withCanonicalTls(system: PackageSystem): PackageSystem {
  const { tls } = system;
  return tls === undefined || tls === null
    ? system
    : { ...system, tls: { ...tls, caCertificates: canonicalCertificates(tls.caCertificates) } };
}

function judgedOf(
  { processes, systems, ...rest }: CheckedPackage,
  document: object,
  withProcesses: boolean,
): JudgedPackage {
  return {
    ...rest,
    systems: systems.map(withCanonicalTls),
    processCount: processes.reduce((sum, { graphs }) => sum + graphs.length, 0),
    processes: withProcesses
      ? processes.map(({ file, bpmn, graphs }) => ({
          file,
          bpmn,
          graphs: graphs.map((graph) => JSON.stringify(graph)),
        }))
      : [],
    checksum: createHash('sha256').update(canonicalJson(document)).digest('hex'),
    packed: gzipSync(JSON.stringify(document)).toString('base64'),
  };
}
