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

const DESCRIPTION = `Registers MCP servers as systems of application versions, tests their connections and switches their tools. Stores
applications as packages, makes builds of them, starts their processes and executes UI actions.

**Authentication.** Every operation except those of *Health* and the settings of the console requires \`Authorization: Bearer <token>\` of your
company's SSO. \`x-permission\` is the permission that an operation requires, \`x-permission-setting\` the setting by which a deployment can
require one. The deployment decides which claims grant a permission. In evaluation mode \`npm run -s dev:token\` prints a token; paste it into
*Authorize*.

**First steps.** Create a system, test the connection with the same \`baseUrl\` and \`authorization\`, read the system's tools, disable one. To run
a process: take the \`buildId\` from *build info*, find the process with its start conditions and \`inputSchema\` in *processes of a build*, start
it, read the \`uiActions\` of the instance's tokens with their \`bodySchema\`, and execute one. Operations outside the interface contract are marked
as extensions.

**Ids.** A system has three: \`resourceId\` identifies it in paths, \`id\` is a second part of the paths of its tools, and \`resourceDefinitionId\` is
the same in every version of the application. You choose \`appId\` and \`versionId\`; the first system or package creates the version. Paths
identify instances, tokens and UI actions by UUID; their numbers (\`id\`, \`processInstanceId\`, \`currentNodeId\`) are for display. Times are UTC
with milliseconds.

**Errors.** All errors have the same body: \`error\`, \`message\`, \`status\` and often \`details\`. With \`Accept: application/problem+json\` it also has
the members of RFC 9457. Checks run in the order 401, 403, 404 of the path, 400, 404, 409. Unknown body fields and query parameters are rejected
by name. The body that starts a process or executes a UI action is process data, so the process definition determines its fields.

**Idempotency.** Starting a process, executing a UI action, making a build and starting a test run accept an \`Idempotency-Key\`: equal calls with
the same key take effect once and get the same response. Send one whenever you may retry a call.

**Concurrent changes.** Where others may change the same resource, send \`If-Match\` with the \`ETag\` that you read: 412 if it has changed since.

**Limits.** Requests are limited per client address and per caller, connection tests and rescans additionally; the limits depend on the
deployment. A 429 carries \`Retry-After\` in seconds.

**Tracing.** Every response returns the \`X-Request-Id\` of its request, or a new one. Logs and audit events also have an id that the service
assigned. \`traceparent\` (W3C Trace Context) is passed on to MCP servers.

**Tools.** A tool keeps its id and its flag for ever. The first successful connection test enables every tool, unless \`TOOL_CHANGE_POLICY\`
requires a review. Tools that are new or changed in a later test stay disabled until someone has reviewed them.`;

const LICENSE = { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' };
const REQUEST_ID = {
  description:
    'Id of the request: the one that was sent, if it has 8 to 64 letters, digits, `_` or `-` (`callerRequestId` in logs and audit events), ' +
    'otherwise the one that the service assigned (`requestId`). Every response to a valid HTTP request has it.',
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
  RateLimitPolicy: rateLimit('Limits per minute: `q` requests in `w` seconds', '"caller";q=600;w=60'),
  RateLimit: rateLimit('Remaining requests: `r` for the next `t` seconds', '"caller";r=599;t=60'),
};

const TAGS = [
  {
    name: 'Systems',
    description: 'MCP servers and other data sources of an application version: create, read, change, delete',
  },
  { name: 'Connection test', description: 'Check whether a server responds and which tools it has' },
  { name: 'Tools', description: 'Enable or disable single tools of MCP systems' },
  { name: 'MCP endpoints', description: 'Use the tools of an application over MCP' },
  { name: 'Applications', description: 'List applications and their versions' },
  {
    name: 'Application packages',
    description: 'Deliver an application: store its package, commit the version, make a build',
  },
  { name: 'Workflows', description: 'Read and edit single nodes of the workflows of a version' },
  { name: 'Builds', description: 'Builds of an application and which of them is active' },
  { name: 'Processes', description: 'List the processes of a build, start a process, execute a UI action' },
  {
    name: 'Process instances',
    description: 'Read, follow, hold, release, terminate and retry instances',
  },
  { name: 'Incidents', description: 'Stopped work of all instances' },
  { name: 'Workflow runs', description: 'What workflows did, node by node' },
  { name: 'Platform discovery', description: 'Components of the platform, their health and their changes' },
  { name: 'Audit', description: 'Who did what and when, with the outcome' },
  { name: 'Console', description: 'Settings that the console loads in the browser' },
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
        description:
          'Access token of the SSO, without the word Bearer. JWTs are validated as RFC8725 recommends.',
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
