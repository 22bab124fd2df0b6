import assert from 'node:assert/strict';
import {inspect} from 'node:util';
import type {BuiltInContext, HostBackend} from '../backends/built-in.js';
import {backendCalls, callInContext, contextFor, type OptionalCall} from '../backends/call.js';
import {checkedBackend} from '../backends/checked-backend.js';
import {secretsOf} from '../backends/configuration.js';
import {createBackendContext} from '../backends/context.js';
import type {
  AnyBackend,
  BackendContext,
  BackendLoginContext,
  BackendVerifyContext,
  Bundle,
  BundleId,
  UploadState,
  VerifyResult,
} from '../backends/contract.js';
import {uploadStateOf} from '../backends/upload-state.js';
import {isRuntimeCliError} from '../errors/index.js';
import {createRedactor} from '../http/redact.js';
import type {Logger} from '../http/types.js';
import type {BundleWish} from './bundles.js';
import {CallFailure, shown} from './expectations.js';
import type {ConformanceFixtures, ConformanceService} from './fixtures.js';
import {printableOf} from './observations.js';
import type {Relay} from './relay.js';

/** Retries without realistic delays. */
export const rateLimit = {maxRetries: 2, baseDelayMs: 1, maxDelayMs: 20};

type Members = Required<Pick<HostBackend, OptionalCall>>;
/** What an optional member is called with. */
export type RequestOf<Name extends OptionalCall> = Parameters<Members[Name]>[0];
/** What it answers. */
export type AnswerTo<Name extends OptionalCall> = Awaited<ReturnType<Members[Name]>>;
export interface SubjectParts {
  readonly backend: AnyBackend;
  readonly createBackend: () => AnyBackend;
  readonly service: ConformanceService;
  readonly projectSlug: string;
  readonly fixtures: ConformanceFixtures;
  /** The states of unfinished uploads, by the digest of the archive. */
  readonly states: Map<string, unknown>;
  /** What stands between the backend and its service. */
  readonly relay: Relay;
  /** Builds a bundle with unique content. */
  makeBundle(wish: BundleWish, subject: Pick<SubjectParts, 'backend' | 'projectSlug'>): Promise<Bundle>;
}

/** How a call is made. */
export interface CallOptions {
  readonly targetSlug?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For uploads: nothing is kept to resume it with. @default false */
  readonly stateless?: boolean | undefined;
}

type ReportedProgress = Parameters<BackendContext['onProgress']>[0];

/** Calls a backend like the host, and keeps what it says and does. */
export class Host {
  readonly parts: SubjectParts;
  /** With its answers checked. */
  readonly backend: HostBackend;
  readonly service: ConformanceService;
  readonly relay: Relay;
  readonly targetSlug: string;
  /** Another target, which bundles are promoted to. */
  readonly otherTarget: string;

  /** Everything that the backend logged, threw or returned so far. */
  readonly texts: string[] = [];
  readonly progress: ReportedProgress[] = [];
  /** Called after each report of progress. */
  onProgress: (progress: ReportedProgress) => void = () => undefined;
  /** What it has changed, although it was only lent. */
  readonly changes: string[] = [];
  /** What it passed to `maskSecret`. */
  readonly learnedSecrets = new Set<string>();
  /** What calls have cleaned up, or are cleaning up, after an abort. */
  readonly cleanups: Promise<void>[] = [];

  constructor(parts: SubjectParts) {
    const {backend, service, relay} = parts;
    this.parts = parts;
    // What only built-in backends have is not copied.
    const {deploysOnUpload}: Partial<HostBackend> = backend;
    this.backend = {...checkedBackend(backend, 'this package'), deploysOnUpload};
    this.service = service;
    this.relay = relay;
    this.targetSlug = service.targetSlug ?? 'staging';
    this.otherTarget = service.promotionTargetSlug ?? 'production';
  }

  readonly #log = (message: string) => void this.texts.push(message);
  readonly #logger: Logger = {debug: this.#log, info: this.#log, warn: this.#log};

  /**
   * Calls an optional member.
   * @throws CallFailure if the backend fails; `signal.reason` when aborted.
   */
  async call<Name extends OptionalCall>(
    name: Name,
    request: RequestOf<Name>,
    options: CallOptions = {},
  ): Promise<AnswerTo<Name>> {
    const member = this.#member(name) as (request: unknown, context: BuiltInContext) => Promise<AnswerTo<Name>>;
    const {bundleId, targetSlug, to = targetSlug} = request as {bundleId?: BundleId; targetSlug?: string; to?: string};
    // As the host makes it: users type text.
    const isText = bundleId === undefined || this.backend.bundleIds === 'number';
    const given = isText ? request : {...request, bundleId: String(bundleId)};
    return this.#run(name, given, {targetSlug: to, ...options}, (context) => member(given, contextFor(name, context)));
  }

  /** Asks the backend to verify the credentials. */
  async verify(options: CallOptions = {}): Promise<VerifyResult> {
    const member = this.#member('verify');
    return this.#run('verify', undefined, options, (context) => member(servicePart(contextFor('verify', context))));
  }

  async login(dialogue: Pick<BackendLoginContext, 'prompt' | 'openUrl'>, options: CallOptions = {}) {
    const member = this.#member('login');
    return this.#run('login', undefined, options, (context) => member({...servicePart(context), ...dialogue}));
  }

  /** Calls `check`. Resolves to the settings that it reports as missing. */
  async check({options = this.service.options, env = this.service.env ?? {}} = {}): Promise<readonly string[]> {
    const {backend, service, targetSlug} = this;
    const {value, problems} = await validateOptions(backend, options);
    if (problems.length > 0) return problems;
    const {projectSlug} = this.parts;
    const {configDirectory = '/'} = service;
    const context = {options: value, env, configDirectory, projectSlug, targetSlug, logger: this.#logger};
    const {missing = []} = await backend.check(context);
    return missing;
  }

  /** Uploads a bundle, by default without deploying it. */
  async uploadResult(bundle: Bundle, {stateless = false, ...options}: CallOptions = {}) {
    const {backend} = this;
    const {states} = this.parts;
    const {sha256} = bundle;
    const kept: UploadState = {
      read: async () => states.get(sha256),
      write: async (value) => void states.set(sha256, value),
      remove: async () => void states.delete(sha256),
    };
    const state = stateless ? undefined : kept;
    const result = await this.#run('upload', bundle, {...options, state}, (context) => backend.upload(bundle, context));
    states.delete(sha256);
    return result;
  }

  #member<Name extends keyof HostBackend>(name: Name): NonNullable<HostBackend[Name]> {
    const member = this.backend[name];
    assert.ok(member, `This case requires ${name}(), which the backend does not have.`);
    return member;
  }

  /** Makes a call with its own context. `request`: what it must not change. */
  async #run<Result>(
    name: keyof typeof backendCalls,
    request: object | undefined,
    {
      targetSlug,
      signal = new AbortController().signal,
      state,
    }: CallOptions & {readonly state?: UploadState | undefined},
    call: (context: BuiltInContext) => Promise<Result>,
  ): Promise<Result> {
    const {backend, service, texts} = this;
    const logger = this.#logger;
    const {value: options, problems} = await validateOptions(backend, service.options);
    assert.deepEqual(problems, [], `The options of the service do not match the schema: ${problems.join('; ')}`);
    const secrets = [...declaredSecrets(backend, service)];
    const context = await createBackendContext({
      projectSlug: this.parts.projectSlug,
      targetSlug,
      options,
      signal,
      logger,
      rateLimit,
      secrets,
      wait: true,
      configDirectory: service.configDirectory ?? '/',
      env: {...service.env},
      userAgent: 'mycli/1.0.0 conformance',
      reroute: (url) => this.relay.reroute(url),
      state: state && uploadStateOf(backend, state, {secrets, logger}),
      onSecret: (secret) => {
        secrets.push(secret);
        this.learnedSecrets.add(secret);
      },
      onRetry: () => void (this.progress.length = 0),
      onProgress: (progress) => {
        this.progress.push(progress);
        this.onProgress(progress);
      },
      onCleanup: (work) => void this.cleanups.push(work),
    });
    const lent = Object.entries({request, options, env: context.env});
    const before = lent.map(([, value]) => snapshotOf(value));
    const {doing} = backendCalls[name];
    try {
      // What is logged is read as the backend says it, before anything is masked.
      const result = await callInContext(backend, {doing}, {...context, logger}, call);
      const {raw: _, ...rest} = Object(result) as Readonly<Record<string, unknown>>;
      texts.push(JSON.stringify(rest));
      return result;
    } catch (error) {
      texts.push(printableOf(error));
      if (!isRuntimeCliError(error)) throw error;
      const shownRequest = request === undefined || name === 'upload' ? '' : shown(withoutStream(request));
      throw new CallFailure(`${name}(${shownRequest})`, error, createRedactor(secrets));
    } finally {
      const changed = lent.filter(([, value], index) => snapshotOf(value) !== before[index]);
      this.changes.push(...changed.map(([what]) => `the ${what} while ${doing}`));
    }
  }
}

/** The values of a backend's secret options and variables, which the host masks. */
export function declaredSecrets(
  backend: Pick<AnyBackend, 'secrets' | 'secretEnv'>,
  {options, env}: ConformanceService,
): readonly string[] {
  return secretsOf(backend, {backendOptions: {...(Object(options) as object)}}, env);
}

/** The part of a context that is not about a project. */
function servicePart(context: BackendVerifyContext): BackendVerifyContext {
  const {options, configDirectory, env, logger, http, error, waitToRetry, signal, maskSecret} = context;
  return {options, configDirectory, env, logger, http, error, waitToRetry, signal, maskSecret};
}

/** What a backend could change of `value`, as text. */
function snapshotOf(value: unknown): string {
  return inspect(withoutStream(value), {depth: null, maxArrayLength: null, maxStringLength: null});
}

/** The stream of a download changes by itself. */
function withoutStream(value: unknown): object {
  const {writeTo: _, ...rest} = Object(value) as {readonly writeTo?: unknown};
  return rest;
}

/** Validates options with a backend's schema; without one, they stay unchanged. */
async function validateOptions(
  {options: schema}: Pick<AnyBackend, 'options'>,
  given: unknown,
): Promise<{readonly value: unknown; readonly problems: readonly string[]}> {
  const result = await schema?.['~standard'].validate(given);
  if (!result?.issues) return {value: result ? result.value : given, problems: []};
  return {value: undefined, problems: result.issues.map(({message}) => message)};
}
