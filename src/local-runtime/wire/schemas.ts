import * as v from 'valibot';
import {characterCount} from '../../text/entry-names.js';
import {isRecord} from '../../text/json.js';
import {matchModeSchema, maxMessage, maxPath, v2Defaults} from '../../settings/schemas.js';

// What goes over the wire. Requests are validated by these schemas, handlers return what they describe, and the OpenAPI
// document is generated from them. `say` completes a schema for the document: with a sentence for people, and with what
// valibot cannot express.

/** A JSON Schema, or any other part of the document. */
export type Part = Readonly<Record<string, unknown>>;

/** Marks what only hosted services send or answer, and the local runtime does not. */
export const onlyHosted = {'x-only-hosted': true};

/** Marks what only the local runtime sends or serves. */
export const onlyLocal = {'x-only-local': true};

export const say = <T>(description: string, json: Part = {}) => v.metadata<T, Part>({description, ...json});

export const object = <const Entries extends v.ObjectEntries>(description: string, entries: Entries, json?: Part) =>
  v.pipe(v.object(entries), say(description, json));

export const text = (description: string, json?: Part) => v.pipe(v.string(), say(description, json));
export const word = <const Words extends readonly string[]>(words: Words, description: string) =>
  v.pipe(v.picklist(words), say(description));
export const texts = (description: string, json?: Part) => v.pipe(v.array(v.string()), say(description, json));
export const time = (description: string, json?: Part) => text(description, {format: 'date-time', ...json});
export const uri = (description: string, json?: Part) => text(description, {format: 'uri', ...json});

/** A member that may be null, and that a server may leave out. */
export const optional = <Schema extends v.GenericSchema>(schema: Schema) => v.nullish(schema);

/** An integer from `least` to `most`. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER) {
  const message = `must be a whole number from ${least} to ${most}`;
  return v.pipe(v.number(message), v.integer(message), v.minValue(least, message), v.maxValue(most, message));
}

/** A JSON object with members of `schema`. valibot's own schema accepts arrays. */
export const objectOf = <Value>(schema: v.GenericSchema<Value>, description: string, json?: Part) =>
  v.pipe(
    v.custom<Readonly<Record<string, Value>>>(
      (value) => isRecord(value) && Object.values(value).every((member) => v.is(schema, member)),
      'must be an object',
    ),
    say(description, {type: 'object', ...json}),
  );

/** Characters, as the client counts them. */
const atMost = (most: number) =>
  v.check((value: string) => characterCount(value) <= most, `must have at most ${most} characters`);

export const message = v.pipe(
  v.string(),
  atMost(maxMessage),
  say('What the bundle contains, for people.', {maxLength: maxMessage}),
);

const relativePath = (description: string) =>
  v.pipe(
    v.string(),
    atMost(maxPath),
    v.regex(
      /^(?!\.{1,2}(?:\/|$))[^/\\\u0000]+(?:\/(?!\.{1,2}(?:\/|$))[^/\\\u0000]+)*$/,
      'must be a relative path without "." and ".."',
    ),
    say(`${description} A relative path with \`/\` between its parts, without \`.\` and \`..\`.`, {maxLength: maxPath}),
  );

export const bundleId = v.pipe(
  wholeNumber(0),
  say('ID of a bundle. It is never reused, even after the bundle was deleted.'),
);
export const warnings = optional(texts('Problems that did not stop the request. Clients show them.'));
export const total = optional(v.pipe(wholeNumber(0), say('Length of the whole list.')));
export const ssrParameters = objectOf(v.unknown(), 'Parameters of the server, such as `SSRFunctionNodeVersion`.');
export const exampleId = '0b9f6a1e-3f43-4b5e-9d0c-5a1f6f6d2c11';

export const bundleFields = v.strictObject({
  message: v.optional(message, ''),
  rootDir: v.optional(relativePath('The folder of the archive that contains the files.'), v2Defaults.rootDir),
  configPath: v.optional(relativePath('The configuration file, relative to `rootDir`.'), v2Defaults.configPath),
  matchMode: v.optional(
    v.pipe(
      matchModeSchema,
      say(
        'What happens if a pattern of the configuration matches no file: `strict` refuses the bundle (422), `ignore_missing` accepts it with a warning.',
      ),
    ),
    v2Defaults.matchMode,
  ),
});

const patterns = (description: string) =>
  v.pipe(v.array(v.pipe(v.string(), v.nonEmpty(), v.maxLength(4096))), say(description));

export const common = {
  BundleForm: v.pipe(
    v.strictObject({
      bundle: text(
        'The archive: a tar file, gzipped or not, sent as a file with a name. All its files are below `{rootDir}/`; a server ignores other entries. Exactly one entry is the configuration file `{rootDir}/{configPath}`, a `BundleConfig`. Entries are files, folders and symbolic links that stay inside `{rootDir}/`. Absolute paths, `..`, duplicates, hard links and devices make an archive invalid (422).',
        {format: 'binary', contentMediaType: 'application/octet-stream'},
      ),
      ...bundleFields.entries,
    }),
    say('A v2 bundle as `multipart/form-data`. The same for both backends.'),
  ),
  BundleConfig: object(
    'The configuration file inside a v2 archive. The patterns are globs, matched by the server against paths relative to `rootDir`; one that starts with `!` excludes. Unknown keys are allowed here, but not in `bundleMetadata`.',
    {
      ssrOnly: patterns('Files for the server only. They must never be served.'),
      ssrShared: patterns('Files for the server and for browsers.'),
      ssrParameters,
      bundleMetadata: v.optional(
        v.strictObject({
          dependencies: v.optional(
            objectOf(v.string(), 'Packages of the project and their versions.', {
              additionalProperties: {type: 'string'},
            }),
          ),
          ccOverrides: v.optional(texts('Files that override those of a template.')),
        }),
      ),
    },
  ),
  BundleMatches: optional(
    object('The files that the patterns match, relative to `rootDir`.', {
      ssrOnly: texts('Server-only files.'),
      ssrShared: texts('Shared files.'),
    }),
  ),
};

export const bundleForm = {type: 'multipart/form-data', schema: common.BundleForm};

const apiBundle = object('A bundle.', {
  bundleId,
  description: optional(text('The message of the upload.')),
  status: optional(
    word(['ok', 'broken', 'preparing'], '`ok`: it can be deployed. `preparing`: not yet. `broken`: it never can.'),
  ),
  lifecycleStatus: optional(text('`active`, or a word that starts with `cleanup` or `delet`: it is being deleted.')),
  createdBy: optional(text('The user or client that uploaded it.')),
  creationDate: optional(time('When it was uploaded.')),
  lastModified: optional(time('When it last changed.')),
  type: optional(word(['ssr', 'legacy'], '`ssr`, or `legacy` for bundles without server code.')),
  ssrParameters: optional(objectOf(v.unknown(), 'From the configuration of the bundle.')),
  inUseBy: optional(texts('The environments that run it.')),
});

const apiDeployment = object(
  'A deployment. All members but `deploymentId` may be missing or null; without `status`, a deployment counts as queued.',
  {
    deploymentId: text('ID of the deployment. A part of its URL.', {format: 'uuid'}),
    status: optional(word(['queued', 'in_progress', 'finished', 'failed'], '`finished` and `failed` are final.')),
    statusMessage: optional(text('The status in words, and the reason of a failure.')),
    progress: optional(
      object('Null until the deployment has started.', {
        description: optional(text('What is being done.')),
        percentage: optional(v.pipe(v.number(), v.minValue(0), v.maxValue(100), say('Of the whole.'))),
      }),
    ),
    duration: optional(v.pipe(v.number(), say('Seconds that it took; null until it has ended.'))),
    bundle: optional(
      v.object({bundleId: optional(bundleId), description: optional(text('The message of the bundle.'))}),
    ),
    createdBy: optional(text('The user or client that requested it.')),
    creationDate: optional(time('When it was requested.')),
    lastModified: optional(time('When its status last changed.')),
    url: optional(uri('Where the environment is served. Clients show it and open it.', onlyLocal)),
    warnings: optional(texts('Problems that did not stop the request. Clients show them.', onlyHosted)),
  },
);

const apiPage = <Row extends v.GenericSchema>(row: Row, rows: string) =>
  object(`One page of ${rows}.`, {
    limit: optional(v.pipe(wholeNumber(1), say('The `limit` of the request, or the default.'))),
    offset: optional(v.pipe(wholeNumber(0), say('The `offset` of the request, or 0.'))),
    total,
    data: v.array(row),
  });

export const api = {
  TokenRequest: object('A request of the client credentials grant.', {
    grant_type: v.literal('client_credentials', 'The grant type must be client_credentials.'),
    scope: v.optional(text('The requested scopes, separated by spaces. None: all.'), ''),
  }),
  AccessToken: object('An access token.', {
    access_token: text(
      'A JWT. Clients send it as it is. They also decode its claims, but only to show whose it is and when it expires.',
      {pattern: '^[!-~]+$'},
    ),
    token_type: optional(word(['Bearer'], '`Bearer`.')),
    expires_in: optional(
      v.pipe(v.number(), v.integer(), say('Lifetime in seconds. If missing, the token is used until a 401.')),
    ),
    scope: optional(text('The granted scopes, separated by spaces.')),
  }),
  OAuthError: object('A refusal of the token endpoint (RFC 6749, section 5.2).', {
    error: text(
      'Such as `invalid_client`, `invalid_scope`, `invalid_request` or `unsupported_grant_type`. A client that may fall back to the legacy backend does so after `invalid_scope`.',
    ),
    error_description: optional(text('The reason, for people.')),
  }),
  Problem: object('A refusal, as problem details (RFC 9457).', {
    type: optional(text('A URI for the kind of problem, or `about:blank`.')),
    title: optional(text('The phrase of the status, or a short name of the problem.')),
    detail: optional(text('The reason, for people. Clients show it.')),
  }),
  ApiUploaded: object('An accepted bundle.', {bundleId, warnings, matches: common.BundleMatches}),
  ApiBundle: apiBundle,
  ApiDeployRequest: object('A bundle to deploy.', {bundleId}, {examples: [{bundleId: 42}]}),
  ApiDeployment: apiDeployment,
  ApiBundlePage: apiPage(apiBundle, 'bundles'),
  ApiDeploymentPage: apiPage(apiDeployment, 'deployments'),
};
