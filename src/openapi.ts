import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { publishedSchemas } from './delivery/packages/schema/published-schemas.js';
import { ErrorResponseDto } from './platform/errors/error.response.dto.js';
import { operationsOf, withSharedComponents } from './openapi-components.js';
import { SERVICE_NAME, SERVICE_VERSION } from './platform/service-version.js';

const PACKAGE = 'ApplicationPackage';
const NODE_REQUEST = 'PackageNodeRequest';
const NODE = 'WorkflowNode';
const ID = 'id';
const SCHEMAS = '#/components/schemas/';
const PART_PREFIX = 'Package';
const DEFINITIONS = '#/$defs/';

interface Node {
  description?: string;
  properties?: Record<string, object>;
  required?: string[];
}

/**
 * Returns the published JSON Schema of application packages as components of the OpenAPI document: the package, and its
 * definitions with the prefix `Package`. In a request for a single node, `id` is optional, because it is generated or
 * part of the path.
 */
function packageComponents(): Record<string, unknown> {
  const {
    $schema: _schema,
    $id: _id,
    $defs = {},
    ...root
  } = withComponentReferences(publishedSchemas()['application-package.schema.json']);
  const parts = Object.entries($defs).map(([name, schema]) => [PART_PREFIX + name, schema]);
  const { [NODE]: node = {} } = $defs as Record<string, Node>;
  const request = { ...node, required: node.required?.filter((member) => member !== ID) };
  const named = { type: 'object', properties: { [ID]: node.properties?.[ID] }, required: [ID] };
  const whole = { description: node.description, allOf: [{ $ref: SCHEMAS + NODE_REQUEST }, named] };
  const own = { [NODE_REQUEST]: request, [PART_PREFIX + NODE]: whole };
  return { [PACKAGE]: root, ...Object.fromEntries(parts), ...own };
}

function withComponentReferences(schema: unknown): Record<string, unknown> & { $defs?: object } {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      key === '$ref' && typeof value === 'string' && value.startsWith(DEFINITIONS)
        ? `${SCHEMAS}${PART_PREFIX}${value.slice(DEFINITIONS.length)}`
        : value,
    ),
  ) as Record<string, unknown>;
}

const DESCRIPTION = `Registers MCP servers as systems of application versions, tests their connections and switches their tools. Takes
applications as packages, makes builds of them, starts their processes and executes UI actions.

**Authentication.** Every operation outside *Health*, but for the settings of the console, needs \`Authorization: Bearer <token>\` of your company's SSO. The
permission an operation asks for is shown as its \`x-permission\`; \`x-permission-setting\` is the setting by which a deployment
can ask for one. Which claims grant it is up to the deployment. In evaluation mode \`npm run -s dev:token\` prints a token;
paste it into *Authorize*.

**First steps.** Create a system, test the connection with the same \`baseUrl\` and \`authorization\`, read the system's tools,
switch one off. To run a process: take the \`buildId\` from *build info*, look at *processes of a build* for its name, start
conditions and \`inputSchema\`, start it, read the instance for the \`uiActions\` of its tokens and their \`bodySchema\`, execute
one. Operations that are not in the interface contract are marked as extensions.

**Ids.** A system has three: \`resourceId\` names it in paths, \`id\` stands beside it in the path of a tool, and
\`resourceDefinitionId\` is the same in every version of the application. \`appId\` and \`versionId\` are yours to choose; a
version comes into being with its first system or package. Instances, tokens and UI actions are named by UUID in paths; the
numbers beside them (\`id\`, \`processInstanceId\`, \`currentNodeId\`) are for display. Times are UTC with milliseconds.

**Errors.** Every error has one body: \`error\`, \`message\`, \`status\` and, where there is more to say, \`details\`. With
\`Accept: application/problem+json\` the members of RFC 9457 are added. Checks come in the order 401, 403, 404 of the path,
400, 404, 409. Unknown body fields and query parameters are refused by name; what starts a process or executes
a UI action is process data, whose shape the process definition tells.

**Repeats.** Starting a process, executing a UI action, making a build and beginning a test run take an \`Idempotency-Key\`: the same
call with the same key takes effect once and gets the same answer. Send one wherever a call may be sent twice.

**Concurrent changes.** Where others may change the same resource, send \`If-Match\` with the \`ETag\` that you read: 412 if it has changed since.

**Limits.** Requests are limited by client address and by caller, connection tests on top of that; the numbers depend on
the deployment. A 429 carries \`Retry-After\` in seconds.

**Tracing.** Every response repeats the \`X-Request-Id\` of its request, or has a new one; logs and audit events also have an id that the service gave the request; \`traceparent\` (W3C Trace Context) is
continued towards MCP servers.

**Tools.** A tool keeps its id and its flag for ever. The first successful connection test enables every tool, unless
\`TOOL_CHANGE_POLICY\` holds them back; tools that are new or changed in a later test stay disabled until someone has looked at
them.`;

const LICENSE = { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' };
const REQUEST_ID = {
  description:
    'Id of the request: the one that was sent, where it has 8 to 64 letters, digits, `_` or `-`, which log lines and audit events name as ' +
    '`callerRequestId`; otherwise that of the service, which they name as `requestId`. Every answer to a request that is valid HTTP has it.',
  required: true,
  schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{8,64}$' },
  example: '0a6f2c4e-2a57-4f0c-9a55-0d6d3f6c8f11',
} as const;

/**
 * Documents a rate limit header: a list (RFC 9651) with one member per limit of the request. Absent when no limit is
 * set.
 */
const rateLimit = (description: string, example: string): object => ({
  description: `${description} (draft-ietf-httpapi-ratelimit-headers-10).`,
  schema: { type: 'string' },
  example,
});

/** Response headers that no route decorator declares. */
const HEADERS = {
  RequestId: REQUEST_ID,
  RateLimitPolicy: rateLimit('Limits of a minute: `q` requests in `w` seconds', '"caller";q=600;w=60'),
  RateLimit: rateLimit('What is left of them: `r` requests for `t` seconds', '"caller";r=599;t=60'),
};

const TAGS = [
  {
    name: 'Systems',
    description: 'MCP servers and other data sources of an application version: create, read, change, delete',
  },
  { name: 'Connection test', description: 'Does the server answer, and with which tools?' },
  { name: 'Tools', description: 'Single tools of MCP systems, on or off' },
  { name: 'Applications', description: 'Which applications and versions there are' },
  {
    name: 'Application packages',
    description: 'Deliver an application: store its package, commit the version, make a build',
  },
  { name: 'Workflows', description: 'Workflows of a version and their nodes, one by one' },
  { name: 'Builds', description: 'Builds of an application and which of them is active' },
  { name: 'Processes', description: 'What can be started and how; start a process, execute a UI action' },
  {
    name: 'Process instances',
    description: 'Where instances stand: read, follow, hold, release, terminate, retry',
  },
  { name: 'Incidents', description: 'Where processes have stopped, over all instances' },
  { name: 'Workflow runs', description: 'What workflows did, node by node' },
  { name: 'Platform discovery', description: 'What runs on the platform, how it is, and what changed' },
  { name: 'Audit', description: 'Who did what, when, and how it ended' },
  { name: 'Console', description: 'What the console in the browser asks first' },
  { name: 'Health', description: 'Probes; no token needed' },
];

/** Builds the OpenAPI document, a pure function of the application's routes. */
export function buildOpenApi(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle(SERVICE_NAME)
    .setDescription(DESCRIPTION)
    .setVersion(SERVICE_VERSION)
    .addServer('/', 'This deployment: production, staging or test')
    .addBearerAuth(
      {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description: 'Access token of the SSO, without the word Bearer; a JWT is checked as RFC8725 says.',
      },
      'bearer',
    )
    .build();
  const document = SwaggerModule.createDocument(
    app,
    { ...config, tags: TAGS },
    { extraModels: [ErrorResponseDto] },
  );
  closeRequestSchemas(document);
  return withSharedComponents(withCommonParts(document));
}

type Components = NonNullable<OpenAPIObject['components']>;

/**
 * Adds what no route decorator declares: the headers that middleware puts on every response, and the schema of
 * application packages.
 */
function withCommonParts(document: OpenAPIObject): OpenAPIObject {
  removeOptionalExamples(document);
  const header = (name: keyof typeof HEADERS): object => ({ $ref: `#/components/headers/${name}` });
  const limits = { 'RateLimit-Policy': header('RateLimitPolicy'), RateLimit: header('RateLimit') };
  for (const { security = [], responses } of operationsOf(document)) {
    for (const response of Object.values(responses)) {
      const ofGuarded = security.length === 0 ? {} : limits;
      response.headers = { 'X-Request-Id': header('RequestId'), ...ofGuarded, ...response.headers };
    }
  }
  const schemas = { ...document.components?.schemas, ...packageComponents() } as NonNullable<
    Components['schemas']
  >;
  const info = { ...document.info, license: LICENSE };
  const servers = document.servers?.map((server) => ({ ...server, 'x-internal': false }));
  return {
    ...document,
    info,
    ...(servers === undefined ? {} : { servers }),
    components: { ...document.components, schemas, headers: HEADERS },
  };
}

interface Parameter {
  required?: boolean;
  example?: unknown;
  schema?: { example?: unknown };
}

/** Removes the examples of optional parameters: /docs would send them with every request. */
function removeOptionalExamples(document: OpenAPIObject): void {
  for (const { parameters = [] } of operationsOf(document)) {
    for (const parameter of (parameters as Parameter[]).filter(({ required }) => required !== true)) {
      delete parameter.example;
      // Copied, because a required parameter may share the schema.
      parameter.schema = { ...parameter.schema, example: undefined };
    }
  }
}

/**
 * Documents that request schemas reject undeclared members. Bodies whose shape is data declare `additionalProperties`
 * themselves.
 */
function closeRequestSchemas(document: OpenAPIObject): void {
  const schemas = (document.components?.schemas ?? {}) as Record<string, object>;
  const seen = new Set<object>();
  const close = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) {
      return;
    }
    seen.add(value);
    if ('properties' in value && !('additionalProperties' in value)) {
      Object.assign(value, { additionalProperties: false });
    }
    const named = '$ref' in value ? schemas[String(value.$ref).split('/').at(-1) ?? ''] : undefined;
    [...Object.values(value), named].forEach(close);
  };
  for (const { requestBody } of operationsOf(document)) {
    Object.values(requestBody?.content ?? {}).forEach(({ schema }) => close(schema));
  }
}
