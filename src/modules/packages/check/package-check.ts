import type { PlainHttp } from '../../../common/outbound/address-policy.js';
import { PackageProblems } from '../model/package-problems.js';
import type {
  ApplicationPackage,
  CheckContext,
  CheckedPackage,
  PackageProblem,
  ReadableParts,
} from '../model/package.types.js';
import { checkApplication, type ApplicationLimits } from './application-check.js';
import { checkDisplayNames } from './display-names.js';
import { requireUniqueNames } from './names.js';
import { Hints } from './hints.js';
import { withPlaces } from './problem-places.js';
import { ProcessesCheck, type CompileProcess } from './processes-check.js';
import { References } from './references.js';
import { WorkflowInputs } from './workflow-input.js';
import { checkSystems } from './systems-check.js';
import { WorkflowsCheck } from './workflows-check.js';

/** Bounds of a package that the operator sets. */
export interface CheckLimits extends ApplicationLimits {
  schemaBytes: number;
  /** Which systems may have an http address. @default 'allow' */
  plainHttp?: PlainHttp;
  problems: number;
}

/**
 * Checks a package as a whole, so that its author reads everything that is wrong at once.
 * @returns null when there is an error; warnings come with the package
 */
export async function checkPackage(
  pkg: ApplicationPackage,
  context: CheckContext,
  compile: CompileProcess,
  limits: CheckLimits,
): Promise<{ checked: CheckedPackage | null; problems: PackageProblem[] }> {
  const problems = new PackageProblems(limits.problems);
  checkApplication(pkg.application, context, limits, problems);
  const files = [...pkg.systems, ...pkg.workflows].map(({ file }) => ({ name: file, file, element: null }));
  requireUniqueNames('files', 'FILE_NOT_UNIQUE', files, problems);
  checkSystems(pkg.systems, problems, limits.plainHttp);
  checkDisplayNames(pkg, problems);
  const hints = new Hints();
  const references = new References(pkg, context, problems, hints);
  const schemas = { maxBytes: limits.schemaBytes };
  const inputs = new WorkflowInputs(problems, hints);
  const check = new WorkflowsCheck(context.appId, references, schemas, problems, inputs, hints);
  const workflows = await check.check(pkg.workflows);
  const parts = { references, problems, hints, inputs };
  const processes = await new ProcessesCheck(pkg, context, parts).check(compile);
  const { application, systems } = pkg;
  return {
    checked: problems.hasErrors ? null : { application, systems, workflows, processes },
    problems: withPlaces(problems.list(), pkg),
  };
}

/**
 * Checks what can be read of a package that has a wrong shape elsewhere, so that its author reads everything at once. References
 * to what could not be read, and to what lies outside of the package, are left out.
 */
export async function checkParts(
  { unread, ...parts }: ReadableParts,
  appId: string,
  compile: CompileProcess,
  limits: Pick<CheckLimits, 'schemaBytes' | 'problems'>,
): Promise<PackageProblem[]> {
  const problems = new PackageProblems(limits.problems);
  const { systems, workflows, processes } = parts;
  checkSystems(systems, problems);
  const hints = new Hints();
  const context = { appId, libraries: [] };
  const pkg = { application: { libraries: [] }, ...parts };
  const references = new References(pkg, context, problems, hints, unread);
  const schemas = { maxBytes: limits.schemaBytes };
  const inputs = new WorkflowInputs(problems, hints);
  await new WorkflowsCheck(appId, references, schemas, problems, inputs, hints).check(workflows);
  await new ProcessesCheck(pkg, context, { references, problems, hints, inputs, unread }).check(compile);
  return withPlaces(problems.list(), { workflows, processes });
}
