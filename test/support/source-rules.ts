/** A rule on the text of files, for what import rules and linters cannot see. */
interface SourceRule {
  /** Files the rule looks at. */
  files: RegExp;
  /** Files in which the text is right. */
  except?: RegExp;
  forbidden: RegExp;
  why: string;
}

/** One line that breaks a rule. */
export interface SourceViolation {
  path: string;
  /** Counted from 1. */
  line: number;
  why: string;
}

const PRODUCT_CODE = /^(src|migrations)\/.*\.ts$/;
const ANY_TEXT = /(\.(ts|mts|mjs|cjs|js|json|md|ya?ml|sql|bpmn|txt|example|sh)|Makefile|\/run|rc)$/;

const RULES: readonly SourceRule[] = [
  {
    files: PRODUCT_CODE,
    except: /^src\/config\//,
    forbidden: /\bprocess\.env\b/,
    why: 'only src/config reads the environment, so that every setting is listed, checked and documented',
  },
  {
    files: PRODUCT_CODE,
    except: /^src\/common\/secrets\/|\.spec\.ts$/,
    forbidden: /\b(create(Cipher|Decipher)iv|scrypt(Sync)?|pbkdf2(Sync)?)\b/,
    why: 'only src/common/secrets uses ciphers, so that there is one envelope to review',
  },
  {
    files: PRODUCT_CODE,
    except: /^src\/common\/clock\.ts$|\.spec\.ts$/,
    forbidden: /\bnew Date\(\)/,
    why: 'the time comes from the injected Clock, so that tests decide what it is',
  },
  {
    files: /^(src|test)\/.*\.ts$/,
    forbidden: /\bsynchronize: true\b/,
    why: 'the schema changes by migrations only',
  },
  {
    files: /^(src|test|scripts|bench|migrations)\/.*\.ts$/,
    forbidden: /\b(describe|it|test)\.only\(/,
    why: 'a focused test silences all the others',
  },
  {
    files: ANY_TEXT,
    forbidden: /(?<![\w.$}-])\/(home|Users)\/\w|(?<![\w.$}-])\/(root|work)\//,
    why: 'a path of one machine means nothing on another',
  },
  {
    files: ANY_TEXT,
    forbidden:
      /\bregistry\.(npmjs|yarnpkg)\.\w|\b(deb|security|ftp|snapshot)\.debian\.org\b|\bnpm\.pkg\.github\b/,
    why: "packages come from whatever registry and mirror the machine's own settings name",
  },
];

/** Files without specs that the root of a module may have. Beyond, files with one purpose move into a room. */
const ROOT_FILES = 12;

/** The modules with too many files outside of rooms; each as a violation of the folder. */
export function moduleRootViolations(paths: readonly string[]): SourceViolation[] {
  const counts = new Map<string, number>();
  for (const path of paths.filter((each) => !each.endsWith('.spec.ts'))) {
    const folder = /^(src\/modules\/[^/]+)\/[^/]+\.ts$/.exec(path)?.[1];
    if (folder !== undefined) {
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
  }
  return [...counts]
    .filter(([, count]) => count > ROOT_FILES)
    .map(([path, count]) => ({
      path,
      line: 1,
      why: `has ${count} files at its root, more than ${ROOT_FILES}; put those with one purpose into a room`,
    }));
}

/** The lines of one file that break a rule. */
export function sourceViolations(path: string, text: string): SourceViolation[] {
  const rules = RULES.filter(({ files, except }) => files.test(path) && except?.test(path) !== true);
  return text
    .split('\n')
    .flatMap((content, index) =>
      rules
        .filter(({ forbidden }) => forbidden.test(content))
        .map(({ why }) => ({ path, line: index + 1, why })),
    );
}
