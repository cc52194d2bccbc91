import { dirname, normalize } from 'node:path';

/** A rule about the text of files that import rules and linters cannot check. */
interface SourceRule {
  /** Files that the rule applies to. */
  files: RegExp;
  /** Files in which the text is allowed. */
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
const ANY_TEXT = /(\.(ts|mts|mjs|cjs|js|json|md|ya?ml|sql|bpmn|txt|example|sh)|\/run|rc)$/;

/** Code of the tables that every start, step, call and job uses, and files with statements that the entity manager cannot express. */
const HOT_TABLES =
  '^src/(store|((runtime|jobs|idempotency)/(.+/)?|delivery/builds/)storage)/|\\.statements\\.ts$|\\.spec\\.ts$';
/** Other files with SQL, for the reasons in docs/adr/0010-tables.md. */
const OTHER_SQL =
  '^src/platform/secrets/(sealed-columns|secret-keys)\\.ts$|^src/discovery/storage/scan-turns\\.repository\\.ts$';

const RULES: readonly SourceRule[] = [
  {
    files: PRODUCT_CODE,
    except: /^src\/platform\/config\//,
    forbidden: /\bprocess\.env\b/,
    why: 'only src/platform/config reads the environment, so that every setting is listed, checked and documented',
  },
  {
    files: PRODUCT_CODE,
    except: /^src\/platform\/secrets\/|\.spec\.ts$/,
    forbidden: /\b(create(Cipher|Decipher)iv|scrypt(Sync)?|pbkdf2(Sync)?)\b/,
    why: 'only src/platform/secrets uses ciphers, so that there is only one encryption format to review',
  },
  {
    files: PRODUCT_CODE,
    except: /^src\/platform\/clock\.ts$|\.spec\.ts$/,
    forbidden: /\bnew Date\(\)/,
    why: 'the time comes from the injected Clock, so that tests can control it',
  },
  {
    files: /^src\/.*\.ts$/,
    except: new RegExp(`${HOT_TABLES}|${OTHER_SQL}`),
    forbidden: /\b(manager|executor|dataSource|\w*[rR]unner)\.query\b|\bcreateQueryBuilder\b|\bRaw\(/,
    why: 'modules use the entity manager; a statement it cannot express is in *.statements.ts, with the reason (docs/adr/0010-tables.md)',
  },
  {
    files: /^src\/.*\.ts$/,
    except: new RegExp(HOT_TABLES),
    forbidden: /\/tables\/(table|selection|read-together)\.js'/,
    why: 'Table and Selection are for the hot tables only; other modules use the entity manager (docs/adr/0010-tables.md)',
  },
  {
    files: /^src\/.*\.ts$/,
    except:
      /^src\/store\/connection\/(mysql2-internals|typeorm-hooks)\.ts$|^src\/platform\/http\/request-routes\.ts$|\.spec\.ts$/,
    forbidden:
      /\b_(allConnections|freeConnections|connectionQueue|commands?|released|host)\b|\.addCommand\b|\bstack: Layer\b|\b(runner|manager)\.query = |\bcreateQueryRunner = |\bdriver as (unknown as )?\{|\bas Server & \{/,
    why: 'each private API of a driver or framework is used in one file only, with a test that fails when it changes',
  },
  {
    files: /^(src|test)\/.*\.ts$/,
    forbidden: /\bsynchronize: true\b/,
    why: 'only migrations change the schema',
  },
  {
    files: /^(src|test|tools|packages|migrations)\/.*\.ts$/,
    forbidden: /\b(describe|it|test)\.only\(/,
    why: 'a focused test disables all others',
  },
  {
    files: ANY_TEXT,
    forbidden: /(?<![\w.$}-])\/(home|Users)\/\w|(?<![\w.$}-])\/(root|work)\//,
    why: 'an absolute path of one machine does not exist on others',
  },
  {
    files: ANY_TEXT,
    forbidden:
      /\bregistry\.(npmjs|yarnpkg)\.\w|\b(deb|security|ftp|snapshot)\.debian\.org\b|\bnpm\.pkg\.github\b/,
    why: "packages come from the registry and mirror in the machine's own settings",
  },
  {
    files: ANY_TEXT,
    // The prompt of agents is behavior, and this file lists the words.
    except: /^src\/runtime\/calls\/agents\/run\/agent-prompt\.ts$|^test\/support\/source-rules\.ts$/,
    forbidden: /\b(told|whoever|gladly|goes on|comes to|who has|by itself|at one time|beside)\b/i,
    why: 'plain English: name who acts, with the verb that engineers use every day',
  },
];

/** Maximum number of files at the root of a module, not counting specs. Move related files into subfolders instead. */
const ROOT_FILES = 12;

/** Returns a violation for each module with too many files at its root. */
export function moduleRootViolations(paths: readonly string[]): SourceViolation[] {
  const counts = new Map<string, number>();
  for (const path of paths.filter((each) => !each.endsWith('.spec.ts'))) {
    const folder = /^(src\/[^/]+)\/[^/]+\.ts$/.exec(path)?.[1];
    if (folder !== undefined) {
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
  }
  return [...counts]
    .filter(([, count]) => count > ROOT_FILES)
    .map(([path, count]) => ({
      path,
      line: 1,
      why: `has ${count} files at its root, more than ${ROOT_FILES}; move related files into a subfolder`,
    }));
}

/** Returns the lines of a file that break a rule. */
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

/** Headings of a document: section numbers (`4.2`) and link anchors (`42-endpoint-8-execute-a-ui-action`). */
interface Headings {
  sections: ReadonlySet<string>;
  anchors: ReadonlySet<string>;
}

const CITATION =
  /(docs\/[\w/-]+\.md)(?:,[\s*]+sections?[\s*]+(\d[\d.]*(?:(?:,[\s*]+|[\s*]+and[\s*]+)\d[\d.]*)*))?/g;
const LINK = /\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)/g;
const ELSEWHERE =
  /\bdecisions,[\s*]+sections?\b|\bsemantics,[\s*]+(?:section|")|\(semantics[,:]\s|\binterface contract,[\s*]+(?:"|endpoint)|\(contract,\s/gi;

/**
 * Finds broken references to documents: citations in code (`docs/contract.md, section 4.2`), links in
 * documents (`[rules](contract.md#5-workflows)`) to files, folders and headings, and names of documents that are not in the repository.
 */
export class DocumentReferences {
  private readonly headings: ReadonlyMap<string, Headings>;
  /** Files and folders that links may name. */
  private readonly targets: ReadonlySet<string>;

  /**
   * @param documents text of each Markdown file by its path in the repository
   * @param paths all files of the repository
   */
  constructor(documents: ReadonlyMap<string, string>, paths: Iterable<string>) {
    this.targets = new Set([...paths].flatMap(withFolders));
    this.headings = new Map([...documents].map(([path, text]) => [path, headingsOf(text)]));
  }

  /** Returns the lines of a file with broken references. */
  violations(path: string, text: string): SourceViolation[] {
    if (path.endsWith('.md')) {
      return this.ofLinks(path, text);
    }
    return /\.(ts|cjs)$/.test(path) ? [...this.ofCitations(path, text), ...ofNames(path, text)] : [];
  }

  private ofCitations(path: string, text: string): SourceViolation[] {
    return [...text.matchAll(CITATION)].flatMap(({ 0: citation, 1: document = '', 2: numbers, index }) => {
      const headings = this.headings.get(document);
      const wanted = numbers?.match(/\d+(?:\.\d+)*/g) ?? [];
      const isValid = headings !== undefined && wanted.every((number) => headings.sections.has(number));
      return isValid
        ? []
        : [violation(path, text, index, `broken reference: ${citation.replace(/[\s*]+/g, ' ')}`)];
    });
  }

  private ofLinks(path: string, text: string): SourceViolation[] {
    return [...text.matchAll(LINK)].flatMap(({ 1: file = '', 2: anchor, index }) => {
      const target = file === '' ? path : normalize(`${dirname(path)}/${file}`).replace(/\/$/, '');
      const isValid =
        anchor === undefined
          ? this.targets.has(target)
          : this.headings.get(target)?.anchors.has(anchor) === true;
      return isValid ? [] : [violation(path, text, index, `broken reference: ${file}#${anchor ?? ''}`)];
    });
  }
}

/** Returns a path and the folders that contain it. */
function withFolders(path: string): string[] {
  return path.split('/').map((_name, index, names) => names.slice(0, index + 1).join('/'));
}

function ofNames(path: string, text: string): SourceViolation[] {
  return [...text.matchAll(ELSEWHERE)].map(({ 0: name, index }) =>
    violation(
      path,
      text,
      index,
      `no such document in the repository: ${name.replace(/[\s*]+/g, ' ')}; cite a section of a file in docs`,
    ),
  );
}

function violation(path: string, text: string, index: number, why: string): SourceViolation {
  return { path, line: text.slice(0, index).split('\n').length, why };
}

function headingsOf(text: string): Headings {
  const titles = text
    .replace(/^```[\s\S]*?^```/gm, '')
    .split('\n')
    .flatMap((line) => /^#{1,6} (.+)$/.exec(line)?.[1] ?? []);
  return {
    sections: new Set(titles.flatMap((title) => /^(\d+(?:\.\d+)*)\.? /.exec(title)?.[1] ?? [])),
    anchors: new Set(titles.map(anchorOf)),
  };
}

/** Returns the anchor that code hosts generate for a heading. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}
