/** Matches the folders of Nest modules below src, including nested ones, but not the lower layers. */
const MODULES =
  'systems/(?:tools|mcp-connection)|delivery/[^/]+|runtime/(?:calls/[^/]+|quotas)|(?!platform/|store/|evaluation/)[^/]+';

/**
 * Architecture rules of the service, checked by `npm run arch`. Each rule explains its reason. Rules about text rather than
 * imports (who reads process.env, who imports ciphers) are in tools/scripts/source-rules.ts.
 * @type {import('dependency-cruiser').IConfiguration}
 */
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment:
        'Files that import each other, even for types only, can only be read, moved and tested together, and their ' +
        'initialization order is arbitrary. Generated files are exempt.',
      severity: 'error',
      from: { pathNot: '^packages/client/src/generated/' },
      to: { circular: true },
    },
    {
      name: 'no-folder-cycles',
      comment:
        'Layers, modules and folders have one order: lower ones do not know higher ones. So a newcomer can read from ' +
        'the bottom up, and a folder can be replaced independently.',
      severity: 'error',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment:
        'A file that no other file imports is dead code, unless it is an entry point (main, command lines, workers).',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: ['(^|/)main\\.tsx?$', '\\.cli\\.ts$', '\\.worker\\.ts$', '\\.spec\\.ts$', '\\.d\\.ts$'],
      },
      to: {},
    },
    {
      name: 'platform-stays-below-modules',
      comment:
        'src/platform serves all modules. If it depended on one of them, it could not be read or replaced ' +
        'independently.',
      severity: 'error',
      from: { path: '^src/platform/' },
      to: { path: '^src/(?!platform/)' },
    },
    {
      name: 'engine-stands-alone',
      comment:
        'packages/engine is pure: it runs in browsers and accesses neither tables nor any process instance it was not ' +
        'given.',
      severity: 'error',
      from: { path: '^packages/engine/src/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^(src|migrations|test|tools|packages/(?!engine/))' },
    },
    {
      name: 'engine-needs-no-node',
      comment: 'The engine also runs in browsers, which have no Node modules.',
      severity: 'error',
      from: { path: '^packages/engine/src/', pathNot: '\\.spec\\.ts$' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'store-stays-below-modules',
      comment:
        'src/store connects, migrates and runs transactions. It receives the tables from src/schema.ts, so adding a ' +
        'table changes nothing here.',
      severity: 'error',
      from: { path: '^src/store/' },
      to: { path: '^src/(?!(platform|store)/)' },
    },
    {
      name: 'config-depends-on-nothing',
      comment:
        'Settings are read before anything else exists, so src/platform/config imports only itself and libraries.',
      severity: 'error',
      from: { path: '^src/platform/config/' },
      to: { path: '^src/', pathNot: '^src/platform/config/' },
    },
    {
      name: 'modules-meet-through-services',
      comment:
        'A module uses another only through its service or module file and its types, errors, limits and DTOs. ' +
        'Repositories, entities and helpers are internal and may change at any time.',
      severity: 'error',
      from: { path: `^src/(${MODULES})/` },
      to: {
        path: `^src/(?:${MODULES})/`,
        pathNot: ['^src/$1/', '\\.(module|service|types|errors|limits|decorator|dto|examples)\\.ts$'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'controllers-only-translate-http',
      comment:
        'A controller translates HTTP into one service call. With a repository or TypeORM in it, business rules would ' +
        'move into routes, outside transactions.',
      severity: 'error',
      from: { path: '\\.controller\\.ts$' },
      to: { path: '\\.(repository|entity)\\.ts$|^node_modules/(typeorm|mysql2|libsql)/|^src/store/' },
    },
    {
      name: 'services-do-not-know-http',
      comment:
        'Routes, commands and other modules call services in the same way; the error filter chooses the status.',
      severity: 'error',
      from: { path: '\\.(service|repository)\\.ts$' },
      to: { path: '\\.controller\\.ts$|^node_modules/(express|@nestjs/platform-express)/' },
    },
    {
      name: 'entities-are-rows',
      comment: 'An entity describes a table. If it depended on a DTO, an API change would change the schema.',
      severity: 'error',
      from: { path: '\\.entity\\.ts$' },
      to: { path: '\\.(dto|service|repository|controller)\\.ts$' },
    },
    {
      name: 'migrations-stand-alone',
      comment: 'A migration describes a past schema. Code imported from src would change it retroactively.',
      severity: 'error',
      from: { path: '^migrations/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^src/' },
    },
    {
      name: 'evaluation-stays-outside',
      comment: 'Evaluation mode issues its own tokens. Production code must not be able to load it.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/evaluation/', '\\.spec\\.ts$'] },
      to: { path: '^src/evaluation/' },
    },
    {
      name: 'clients-stand-alone',
      comment: 'The client is a separate package for callers that do not have the service installed.',
      severity: 'error',
      from: { path: '^packages/client/src/(?!command-line/)' },
      to: { path: '^(src|migrations|node_modules|packages/client/src/command-line)/' },
    },
    {
      name: 'only-commands-are-clients',
      comment: 'The service never calls its own API. Only evaluation mode includes the command line.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/evaluation/', '\\.spec\\.ts$'] },
      to: { path: '^packages/client/' },
    },
    {
      name: 'console-is-a-client',
      comment:
        'The console runs in browsers and uses the service through the typed client only, like any other caller.',
      severity: 'error',
      from: { path: '^packages/console/' },
      to: { path: '^(src|migrations|test|tools)/|^packages/client/src/(?!index\\.ts)' },
    },
    {
      name: 'console-parts-stay-below-pages',
      comment:
        'Parts, live answers and the frame of the console serve every page. Pages are loaded lazily, so shared code ' +
        'must not import one.',
      severity: 'error',
      from: { path: '^packages/console/src/(texts|app|live|parts|diagram|shell)/' },
      to: { path: '^packages/console/src/pages/' },
    },
    {
      name: 'console-areas-stand-alone',
      comment:
        'Each area of the console can be read and changed independently. Shared UI becomes a part; areas refer to ' +
        'each other by links.',
      severity: 'error',
      from: { path: '^packages/console/src/pages/([^/]+)/' },
      to: { path: '^packages/console/src/pages/[^/]+/', pathNot: '^packages/console/src/pages/$1/' },
    },
    {
      name: 'service-does-not-know-the-console',
      comment: 'The service sends the built console as files. The console sources run in browsers only.',
      severity: 'error',
      from: { path: '^(src|migrations|packages/client)/' },
      to: { path: '^packages/console/' },
    },
    {
      name: 'no-tests-in-production',
      comment: 'Test code, benchmarks and development packages are absent from a deployment.',
      severity: 'error',
      from: { path: '^(src|migrations)/', pathNot: '\\.spec\\.ts$' },
      to: {
        path: '^(test|tools)/|\\.spec\\.ts$',
      },
    },
    {
      name: 'no-development-packages-in-production',
      comment:
        'A deployment installs production dependencies only, so importing a development package would fail at ' +
        'startup.',
      severity: 'error',
      from: { path: '^(src|migrations)/', pathNot: '\\.spec\\.ts$' },
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only'],
        pathNot: '^node_modules/@types/',
      },
    },
    {
      name: 'packages-are-declared',
      comment:
        'A transitive dependency can disappear with the next update, so every imported package must be declared.',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'unknown', 'undetermined'] },
    },
    {
      name: 'imports-resolve',
      comment: 'An import that cannot be resolved fails at startup.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^#' },
    },
  ],
  options: {
    // Test support depends on the folders whose unit tests use it, which is no cycle of the service.
    doNotFollow: { path: ['node_modules', '^test/'] },
    tsPreCompilationDeps: 'specify',
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
    reporterOptions: { text: { highlightFocused: true } },
  },
};
