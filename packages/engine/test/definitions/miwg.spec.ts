import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compileXml } from './compile.js';

/** Reference models of the BPMN Model Interchange Working Group (CC BY 3.0), kept outside the project. */
const FOLDER = resolve(import.meta.dirname, '../../../../../shared/bpmn/miwg');
const files = existsSync(FOLDER)
  ? readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.bpmn'))
  : [];

describe('third-party models: interchange', () => {
  it.skipIf(files.length > 0)(
    `skipped: ${FOLDER} is missing, so 21 models of other tools were not read`,
    () => undefined,
  );

  it.each(files)('reads %s and explains what is not executed', async (file) => {
    const { definitions, problems } = await compileXml(readFileSync(join(FOLDER, file), 'utf8'));
    expect(definitions.length > 0).toBe(problems.every(({ severity }) => severity === 'warning'));
    expect(problems.filter(({ code }) => code === 'NOT_BPMN' || code === 'UNPARSABLE_CONTENT')).toEqual([]);
    for (const { code, message } of problems) {
      expect(code).toMatch(/^[A-Z_]+$/);
      expect(message).toMatch(/\S[.…)]$/);
    }
  });
});
