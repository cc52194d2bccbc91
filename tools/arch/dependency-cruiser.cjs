/** Folders below src that are Nest modules: those that have modules inside, those inside, and all others but the floors below them. */
const MODULES =
  'systems/(?:tools|mcp-connection)|delivery/[^/]+|runtime/(?:calls/[^/]+|quotas)|(?!platform/|store/|evaluation/)[^/]+';

/**
 * Architecture rules of the service. Each one has a sentence that says why; `npm run arch` checks them.
 * Rules about text rather than imports (who reads process.env, who imports ciphers) are in tools/scripts/source-rules.ts.
 *
 * @type {import('dependency-cruiser').IConfiguration}
 */
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment:
        'Files that import each other, be it for types only, can only be read, moved and tested together. At run time ' +
        'the order of their start is an accident. What a generator wrote is read by nobody.',
      severity: 'error',
      from: { pathNot: '^packages/client/src/generated/' },
      to: { circular: true },
    },
    {
      name: 'no-folder-cycles',
      comment:
        'Floors, modules and rooms have one order: what lies below knows nothing of what lies above. So a newcomer can ' +
        'read from the bottom, and a room can be replaced alone.',
      severity: 'error',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment:
        'A file nobody imports is dead code. Entry points (main, command lines, workers) are no orphans.',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: ['(^|/)main\\.tsx?$', '\\.cli\\.ts$', '\\.worker\\.ts$', '\\.spec\\.ts$', '\\.d\\.ts$'],
      },
      to: {},
    },
    {
      name: 'platform-stays-below-rooms',
      comment:
        'src/platform serves every room; if it knew one above, nothing there could be read or replaced alone.',
      severity: 'error',
      from: { path: '^src/platform/' },
      to: { path: '^src/(?!platform/)' },
    },
    {
      name: 'engine-stands-alone',
      comment:
        'packages/engine is pure: it runs in browsers, knows no process instance but those given to it, and no table.',
      severity: 'error',
      from: { path: '^packages/engine/src/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^(src|migrations|test|tools|packages/(?!engine/))' },
    },
    {
      name: 'engine-needs-no-node',
      comment: 'The engine runs in browsers as well, which have no modules of Node.',
      severity: 'error',
      from: { path: '^packages/engine/src/', pathNot: '\\.spec\\.ts$' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'store-stays-below-rooms',
      comment:
        'src/store connects, migrates and runs transactions. Tables are handed down by src/schema.ts, so that a new one changes nothing here.',
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
        "A module reaches another only by its service or module file and by its types, errors and DTOs. Another module's " +
        'repositories, entities and helpers may change any day.',
      severity: 'error',
      from: { path: `^src/(${MODULES})/` },
      to: {
        path: `^src/(?:${MODULES})/`,
        pathNot: ['^src/$1/', '\\.(module|service|types|errors|decorator|dto|examples)\\.ts$'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'controllers-only-translate-http',
      comment:
        'A controller turns HTTP into one call of a service. With a repository or TypeORM in it, rules end up beside ' +
        'the routes and outside transactions.',
      severity: 'error',
      from: { path: '\\.controller\\.ts$' },
      to: { path: '\\.(repository|entity)\\.ts$|^node_modules/(typeorm|mysql2|libsql)/|^src/store/' },
    },
    {
      name: 'services-do-not-know-http',
      comment:
        'A service is called by routes, commands and other modules alike; the error filter chooses the status.',
      severity: 'error',
      from: { path: '\\.(service|repository)\\.ts$' },
      to: { path: '\\.controller\\.ts$|^node_modules/(express|@nestjs/platform-express)/' },
    },
    {
      name: 'entities-are-rows',
      comment:
        'An entity describes a table. If it knew a DTO, a change of the interface would change the schema.',
      severity: 'error',
      from: { path: '\\.entity\\.ts$' },
      to: { path: '\\.(dto|service|repository|controller)\\.ts$' },
    },
    {
      name: 'migrations-stand-alone',
      comment: 'A migration describes the past. Code that it imported from src would change under it.',
      severity: 'error',
      from: { path: '^migrations/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^src/' },
    },
    {
      name: 'evaluation-stays-outside',
      comment:
        'Evaluation mode issues its own tokens. Nothing that runs in production may be able to load it.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/evaluation/', '\\.spec\\.ts$'] },
      to: { path: '^src/evaluation/' },
    },
    {
      name: 'clients-stand-alone',
      comment: 'The client is a package of its own, for callers who have nothing of the service.',
      severity: 'error',
      from: { path: '^packages/client/src/(?!command-line/)' },
      to: { path: '^(src|migrations|node_modules|packages/client/src/command-line)/' },
    },
    {
      name: 'only-commands-are-clients',
      comment:
        'The service never calls its own API. Evaluation mode brings the command line of the checkout.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/evaluation/', '\\.spec\\.ts$'] },
      to: { path: '^packages/client/' },
    },
    {
      name: 'console-is-a-client',
      comment:
        'The console runs in browsers and knows the service by the typed client only, as every other caller does.',
      severity: 'error',
      from: { path: '^packages/console/' },
      to: { path: '^(src|migrations|test|tools)/|^packages/client/src/(?!index\\.ts)' },
    },
    {
      name: 'console-parts-stay-below-pages',
      comment:
        'Parts, live answers and the frame of the console serve every page. Pages are loaded one by one; what lies below may not pull one in.',
      severity: 'error',
      from: { path: '^packages/console/src/(texts|app|live|parts|diagram|shell)/' },
      to: { path: '^packages/console/src/pages/' },
    },
    {
      name: 'console-areas-stand-alone',
      comment:
        'An area of the console is read and changed alone. What two of them show becomes a part, and one leads to another by a link.',
      severity: 'error',
      from: { path: '^packages/console/src/pages/([^/]+)/' },
      to: { path: '^packages/console/src/pages/[^/]+/', pathNot: '^packages/console/src/pages/$1/' },
    },
    {
      name: 'service-does-not-know-the-console',
      comment:
        'The service sends the built console as files. Its sources are for browsers and run nowhere else.',
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
        'A deployment installs dependencies only, so an import of a development package would stop the start.',
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
      comment: 'A package that is only there because another one needs it can vanish with the next update.',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'unknown', 'undetermined'] },
    },
    {
      name: 'imports-resolve',
      comment: 'An import that leads nowhere stops the service at start.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^#' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Constants that import nothing; others read them, as a bound of one module often holds for what another gives it.
    exclude: { path: '\\.limits\\.ts$' },
    tsPreCompilationDeps: 'specify',
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
    reporterOptions: { text: { highlightFocused: true } },
  },
};
