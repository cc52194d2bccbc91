import type { JsonObject, JsonValue } from '#engine/json';
import { inTurn, turnWithRoom, cached } from '#engine/support';
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

/** Templates and expressions of one workflow, each compiled once as long as the workflow is held. */
class CompiledTexts {
  private readonly compiled = {
    json: new Map<string, CompiledJsonTemplate>(),
    text: new Map<string, CompiledTemplate>(),
    expression: new Map<string, CompiledExpression>(),
  };
  /** What is filled in becomes data of the run. */
  private readonly limits = { maxBytes: workflowLimits.dataBytes };

  json(source: string): Promise<CompiledJsonTemplate> {
    return compiledOnce(this.compiled.json, source, () => compileJsonTemplate(source, this.limits));
  }

  text(source: string): Promise<CompiledTemplate> {
    return compiledOnce(this.compiled.text, source, () => compileTemplate(source, this.limits));
  }

  expression(source: string): Promise<CompiledExpression> {
    return compiledOnce(this.compiled.expression, source, () => compileExpression(source));
  }
}

const known = new WeakMap<RunnableWorkflow, CompiledTexts>();

/** Compiling takes a turn of its own; what does not compile is not remembered. */
async function compiledOnce<Compiled>(
  compiled: Map<string, Compiled>,
  source: string,
  compile: () => Compiled,
): Promise<Compiled> {
  const found = compiled.get(source) ?? (await inTurn(compile));
  compiled.set(source, found);
  await turnWithRoom();
  return found;
}

/** Fills the templates and decides the conditions of one visit of a node. All of them pay out of one budget. */
export class VisitTexts implements NodeTexts {
  /** References that led nowhere. */
  readonly missing = new Set<string>();
  private readonly texts: CompiledTexts;
  private readonly budget = new WorkBudget(processLimits.expressionSteps);

  constructor(
    workflow: RunnableWorkflow,
    private readonly variables: JsonObject,
  ) {
    this.texts = cached(known, workflow, () => new CompiledTexts());
  }

  readonly render = async (template: string): Promise<JsonValue> => {
    const compiled = await this.texts.json(template);
    return this.noted(compiled.render(this.variables, this.budget)).value as JsonValue;
  };

  readonly read = (reference: string): Promise<JsonValue> => this.render(`\${${reference}}`);

  readonly fill = async (template: string, encode?: Encode): Promise<FilledText> => {
    const compiled = await this.texts.text(template);
    const { text, missing } = this.noted(compiled.render(this.variables, this.budget, encode));
    return { text, missing, isFixed: compiled.roots.length === 0 };
  };

  readonly test = async (expression: string): Promise<boolean> => {
    const compiled = await this.texts.expression(expression);
    return compiled.test(this.variables, this.budget);
  };

  private noted<Filled extends { missing: string[] }>(filled: Filled): Filled {
    filled.missing.forEach((reference) => this.missing.add(reference));
    return filled;
  }
}
