import { ARRAY_KEYWORDS } from './array-keywords.js';
import { GENERAL_KEYWORDS } from './general-keywords.js';
import type { Keyword } from './keyword.types.js';
import { OBJECT_KEYWORDS } from './object-keywords.js';
import { SCALAR_KEYWORDS } from './scalar-keywords.js';

/** The keywords that say something about values (JSON Schema Core and Validation, draft 2020-12). */
export const KEYWORDS: Readonly<Record<string, Keyword>> = {
  ...GENERAL_KEYWORDS,
  ...SCALAR_KEYWORDS,
  ...OBJECT_KEYWORDS,
  ...ARRAY_KEYWORDS,
};
