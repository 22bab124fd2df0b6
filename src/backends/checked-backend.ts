import * as v from 'valibot';
import {createError} from '../errors/index.js';
import {isRecord} from '../errors/json.js';
import {reasonOf} from '../errors/system-failure.js';
import {backendCalls, callBackend, withTimeout, pluginTimeoutMs} from './call.js';
import {BACKEND_API_VERSION, type Backend} from './contract.js';
import {asSentence} from '../errors/sentence.js';

/**
 * Wraps a plugin's backend and checks its answers. One that violates the contract becomes an error that names the
 * backend and the plugin, instead of a failure somewhere in the host. Its metadata is copied, so it cannot change
 * later.
 */
export function checkedBackend(backend: Backend, plugin: string): Backend {
  const {
    login,
    verify,
    uploadStream,
    deploy,
    promote,
    getDeployment,
    listBundles,
    listDeployments,
    listTargets,
    readLogs,
    download,
    deleteBundle,
  } = backend;
  const withValidAnswer = async <Answer>(
    schema: v.GenericSchema,
    member: keyof typeof backendCalls,
    call: () => Promise<Answer>,
  ): Promise<Answer> => {
    const answer = await call();
    const {issues} = v.safeParse(schema, answer);
    if (issues) throw wrongAnswer(backend, plugin, backendCalls[member].doing, issues);
    return answer;
  };
  const answered = <Answer>(member: keyof typeof answerSchemas, call: () => Promise<Answer>): Promise<Answer> =>
    withValidAnswer(answerSchemas[member], member, call);
  return {
    apiVersion: backend.apiVersion,
    name: backend.name,
    summary: backend.summary,
    formats: [...backend.formats],
    bundleIds: backend.bundleIds,
    deploysOnUpload: backend.deploysOnUpload && [...backend.deploysOnUpload],
    limits: backend.limits && {...backend.limits},
    secrets: backend.secrets && [...backend.secrets],
    secretEnv: backend.secretEnv && [...backend.secretEnv],
    options: checkedOptions(backend),
    check: (context) =>
      answered('check', () => withoutNetwork(backend, backendCalls.check.doing, async () => backend.check(context))),
    ...(login && {
      login: (context) =>
        withValidAnswer(loginAnswer([...(backend.secrets ?? []), ...(backend.secretEnv ?? [])]), 'login', () =>
          login.call(backend, context),
        ),
    }),
    ...(verify && {verify: (context) => answered('verify', () => verify.call(backend, context))}),
    upload: (bundle, context) => answered('upload', () => backend.upload(bundle, context)),
    ...(uploadStream && {
      uploadStream: (bundle, context) => answered('upload', () => uploadStream.call(backend, bundle, context)),
    }),
    ...(deploy && {
      deploy: (request, context) => answered('deploy', () => deploy.call(backend, request, context)),
    }),
    ...(promote && {
      promote: (request, context) => answered('promote', () => promote.call(backend, request, context)),
    }),
    ...(getDeployment && {
      getDeployment: (ref, context) => answered('getDeployment', () => getDeployment.call(backend, ref, context)),
    }),
    ...(listBundles && {
      listBundles: (range, context) => answered('listBundles', () => listBundles.call(backend, range, context)),
    }),
    ...(listDeployments && {
      listDeployments: (request, context) =>
        answered('listDeployments', () => listDeployments.call(backend, request, context)),
    }),
    ...(listTargets && {
      listTargets: (range, context) => answered('listTargets', () => listTargets.call(backend, range, context)),
    }),
    ...(readLogs && {
      readLogs: (request, context) => answered('readLogs', () => readLogs.call(backend, request, context)),
    }),
    ...(download && {download: (request, context) => download.call(backend, request, context)}),
    ...(deleteBundle && {deleteBundle: (request, context) => deleteBundle.call(backend, request, context)}),
  };
}

/** A plugin's schema. It may throw where it should report issues. */
function checkedOptions(backend: Backend): Backend['options'] {
  const standard = backend.options?.['~standard'];
  if (!standard) return undefined;
  const validate: typeof standard.validate = (value) =>
    withoutNetwork(backend, 'checking its options', async () => standard.validate(value));
  return {'~standard': {version: 1, vendor: standard.vendor, validate}};
}

/** Calls something that needs no network. It is never aborted, but must not keep the command waiting either. */
function withoutNetwork<Result>(backend: Backend, doing: string, call: () => Promise<Result>): Promise<Result> {
  const {signal} = new AbortController();
  return callBackend(backend, doing, signal, () => withTimeout(call(), pluginTimeoutMs, signal));
}

function wrongAnswer({name}: Backend, plugin: string, doing: string, issues: readonly v.BaseIssue<unknown>[]): Error {
  const problems = issues.map((issue) => [v.getDotPath(issue), issue.message].filter(Boolean).join(': '));
  return createError(
    'ERR_BACKEND_FAILED',
    asSentence(
      `The ${name} backend of plugin ${plugin} returned an invalid result while ${doing}: ${problems.join('; ')}`,
    ),
    {
      suggestions: [`This is a bug in plugin ${plugin}. Report it to its authors.`],
      details: {backend: name, plugin, problems},
    },
  );
}

/** What a backend may be called. */
export const backendNamePattern = /^[a-z][a-z0-9-]{0,31}$/;
const formats: ReadonlySet<unknown> = new Set(['v1', 'v2']);

/** Whether `value` has the shape of a backend of this version of the contract; never by `instanceof`. */
export function checkBackendShape(
  value: unknown,
): {readonly ok: true; readonly backend: Backend} | {readonly ok: false; readonly problem: string} {
  try {
    if (!isRecord(value)) return {ok: false, problem: 'a backend must be an object'};
    const problem = problemOf(value);
    return problem === undefined ? {ok: true, backend: value as unknown as Backend} : {ok: false, problem};
  } catch (error) {
    // A getter or proxy of the plugin threw.
    return {ok: false, problem: `a backend cannot be read: ${reasonOf(error)}`};
  }
}

function problemOf(value: Readonly<Record<string, unknown>>): string | undefined {
  const name = value['name'];
  if (typeof name !== 'string' || !backendNamePattern.test(name)) {
    return `the backend name ${JSON.stringify(name)} does not match ${backendNamePattern.source}`;
  }
  if (value['apiVersion'] !== BACKEND_API_VERSION) {
    return `backend "${name}" implements version ${String(value['apiVersion'])} of the contract, but this host requires version ${String(BACKEND_API_VERSION)}`;
  }
  if (typeof value['summary'] !== 'string') return `backend "${name}" has no summary`;
  if (!isListOf(value['formats'], (item) => formats.has(item)) || value['formats'].length === 0) {
    return `backend "${name}": formats must contain v1, v2 or both`;
  }
  if (value['bundleIds'] !== undefined && value['bundleIds'] !== 'number') {
    return `backend "${name}": bundleIds must be "number" or absent`;
  }
  if (value['deploysOnUpload'] !== undefined && !isListOf(value['deploysOnUpload'], (item) => formats.has(item))) {
    return `backend "${name}": deploysOnUpload must list v1, v2 or both`;
  }
  const {maxBundleBytes, maxFiles} = isRecord(value['limits']) ? value['limits'] : {};
  if (value['limits'] !== undefined && !(isRecord(value['limits']) && [maxBundleBytes, maxFiles].every(isLimit))) {
    return `backend "${name}": limits must be {maxBundleBytes, maxFiles}, positive integers`;
  }
  if (value['options'] !== undefined && !isStandardSchema(value['options'])) {
    return `backend "${name}": options must be a Standard Schema`;
  }
  if (value['secrets'] !== undefined && !isListOf(value['secrets'], (item) => typeof item === 'string')) {
    return `backend "${name}": secrets must be an array of option names`;
  }
  if (value['secretEnv'] !== undefined && !isListOf(value['secretEnv'], (item) => typeof item === 'string')) {
    return `backend "${name}": secretEnv must be an array of names of environment variables`;
  }
  const missing = ['check', 'upload'].find((member) => value[member] === undefined);
  if (missing !== undefined) return `backend "${name}" has no function ${missing}`;
  const wrong = [...Object.keys(backendCalls), 'uploadStream'].find(
    (member) => value[member] !== undefined && typeof value[member] !== 'function',
  );
  return wrong === undefined ? undefined : `backend "${name}": ${wrong} must be a function`;
}

function isLimit(value: unknown): boolean {
  return value === undefined || (typeof value === 'number' && Number.isSafeInteger(value) && value > 0);
}

/** Some libraries' schemas are functions. */
function isStandardSchema(value: unknown): boolean {
  if (!isRecord(value) && typeof value !== 'function') return false;
  const standard: unknown = Reflect.get(value, '~standard');
  return isRecord(standard) && typeof standard['validate'] === 'function';
}

function isListOf<Item>(
  value: unknown,
  is: ((item: unknown) => item is Item) | ((item: unknown) => boolean),
): value is Item[] {
  return Array.isArray(value) && value.every((item) => is(item));
}

// What the host relies on in a backend's answers. Other members are left alone.

const bundleIdRule = 'must be a number or a string without control characters';
const bundleId = v.union(
  [v.pipe(v.string(), v.regex(/^\P{Cc}+$/u, bundleIdRule)), v.pipe(v.number(), v.finite())],
  bundleIdRule,
);
const json = v.check(isJson, 'must be plain JSON');
const deployment = v.pipe(v.unknown(), json, v.record(v.string(), v.unknown()));
const raw = v.optional(v.pipe(v.unknown(), json));
const warnings = v.optional(v.array(v.string()));
const text = v.optional(v.string());
const statuses = ['queued', 'in_progress', 'finished', 'failed'] as const;
const status = v.picklist(statuses);

function listOf<Item extends v.GenericSchema>(item: Item) {
  return v.looseObject({items: v.array(item), total: v.optional(v.number()), raw});
}

const deployAnswer = v.looseObject({deployment, status, url: text, warnings, raw});

/** The schema for what a login returns. Its messages must not repeat a value. */
function loginAnswer(names: readonly string[]) {
  const name = v.picklist(names, 'is listed neither in secrets nor in secretEnv');
  const value = v.pipe(v.string('must be a string'), v.nonEmpty('must not be empty'));
  const listed = names.join(', ') || 'none are listed';
  const some = `must have at least one of: ${listed}`;
  const secrets = v.pipe(
    v.record(name, value, some),
    v.check((given) => Object.keys(given).length > 0, some),
  );
  return v.looseObject({secrets}, 'must be {secrets: {...}}');
}

/** Schemas for the other members that return something. */
const answerSchemas = {
  check: v.union(
    [
      v.looseObject({configured: v.literal(true), missing: v.optional(v.never())}),
      v.looseObject({configured: v.literal(false), missing: v.array(v.string())}),
    ],
    'must be {configured: true}, or {configured: false, missing: [...]}',
  ),
  verify: v.looseObject({account: text}, 'must be an object, such as {}'),
  upload: v.looseObject({
    bundleId,
    warnings,
    matches: v.optional(v.record(v.string(), v.unknown())),
    deployment: v.optional(deployment),
    url: text,
    raw,
  }),
  deploy: deployAnswer,
  promote: deployAnswer,
  getDeployment: v.looseObject({
    status,
    description: text,
    percentage: v.optional(v.number()),
    url: text,
    logUrl: text,
    raw,
  }),
  listBundles: listOf(
    v.looseObject({
      bundleId,
      message: text,
      status: v.picklist(['ready', 'preparing', 'broken', 'deleting', 'unknown']),
      createdAt: text,
      createdBy: text,
      inUseBy: v.optional(v.array(v.string())),
      sha256: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 digest in hexadecimal'))),
      metadata: v.optional(v.pipe(v.unknown(), json, v.record(v.string(), v.unknown()))),
    }),
  ),
  listDeployments: listOf(
    v.looseObject({
      deployment,
      bundleId: v.optional(bundleId),
      status: v.picklist([...statuses, 'unknown']),
      message: text,
      createdAt: text,
      createdBy: text,
      description: text,
      logUrl: text,
      url: text,
    }),
  ),
  readLogs: v.looseObject({lines: v.array(v.string()), cursor: text, done: v.optional(v.boolean())}),
  listTargets: listOf(v.looseObject({targetSlug: v.pipe(v.string(), v.nonEmpty()), url: text})),
} as const;

/** Printing with `--json` must not fail after everything else has succeeded. */
function isJson(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}
