import type { JsonObject, JsonValue } from '#engine/json';
import { runAfterYield, yieldEventLoop, cached } from '#engine/support';
import {
  type CompiledExpression,
  type CompiledJsonTemplate,
  type CompiledTemplate,
  type Encode,
  compileExpression,
  compileJsonTemplate,
  compileTemplate,
  WorkBudget,
} from '#engine/expressions';
import type { FilledText, NodeTexts } from '../model/node-executor.js';
import type { RunnableWorkflow } from '../model/workflow.types.js';
import { processLimits } from '../../../process.limits.js';
import { workflowLimits } from '../workflow.limits.js';

/** Compiled templates and expressions of a cached workflow. */
class CompiledTexts {
  private readonly compiled = {
    json: new Map<string, CompiledJsonTemplate>(),
    text: new Map<string, CompiledTemplate>(),
    expression: new Map<string, CompiledExpression>(),
  };
  /** Filled templates become data of the run. */
  private readonly limits = { maxBytes: workflowLimits.dataBytes };

  json(source: string): Promise<CompiledJsonTemplate> {
    return compileOnce(this.compiled.json, source, () => compileJsonTemplate(source, this.limits));
  }

  text(source: string): Promise<CompiledTemplate> {
    return compileOnce(this.compiled.text, source, () => compileTemplate(source, this.limits));
  }

  expression(source: string): Promise<CompiledExpression> {
    return compileOnce(this.compiled.expression, source, () => compileExpression(source));
  }
}

const compiledTexts = new WeakMap<RunnableWorkflow, CompiledTexts>();

/** Compiles a text in its own turn of the event loop. Failures are not cached. */
async function compileOnce<Compiled>(
  compiled: Map<string, Compiled>,
  source: string,
  compile: () => Compiled,
): Promise<Compiled> {
  const found = compiled.get(source) ?? (await runAfterYield(compile));
  compiled.set(source, found);
  await yieldEventLoop();
  return found;
}

/** Fills templates and evaluates conditions of one node visit, within one budget. */
export class VisitTexts implements NodeTexts {
  /** Unresolved references. */
  readonly missing = new Set<string>();
  private readonly texts: CompiledTexts;
  private readonly budget = new WorkBudget(processLimits.expressionSteps);

  constructor(
    workflow: RunnableWorkflow,
    private readonly variables: JsonObject,
  ) {
    this.texts = cached(compiledTexts, workflow, () => new CompiledTexts());
  }

  readonly render = async (template: string): Promise<JsonValue> => {
    const compiled = await this.texts.json(template);
    return this.noteMissing(compiled.render(this.variables, this.budget)).value as JsonValue;
  };

  readonly read = (reference: string): Promise<JsonValue> => this.render(`\${${reference}}`);

  readonly fill = async (template: string, encode?: Encode): Promise<FilledText> => {
    const compiled = await this.texts.text(template);
    const { text, missing } = this.noteMissing(compiled.render(this.variables, this.budget, encode));
    return { text, missing, isFixed: compiled.roots.length === 0 };
  };

  readonly test = async (expression: string): Promise<boolean> => {
    const compiled = await this.texts.expression(expression);
    return compiled.test(this.variables, this.budget);
  };

  private noteMissing<Filled extends { missing: string[] }>(filled: Filled): Filled {
    filled.missing.forEach((reference) => this.missing.add(reference));
    return filled;
  }
}
