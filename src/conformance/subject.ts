import assert from 'node:assert/strict';
import {setTimeout as delay} from 'node:timers/promises';
import {inspect} from 'node:util';
import type {BuiltInContext, HostBackend} from '../backends/built-in.js';
import {backendCalls, callInContext, contextFor, type OptionalCall} from '../backends/call.js';
import {checkedBackend} from '../backends/checked-backend.js';
import {secretsOf} from '../backends/configuration.js';
import {createBackendContext} from '../backends/context.js';
import type {
  AnyBackend,
  BackendLoginContext,
  BackendVerifyContext,
  Bundle,
  BundleId,
  DeploymentRef,
  ListRange,
  ListResult,
  LoginResult,
  UploadState,
  VerifyResult,
} from '../backends/contract.js';
import {uploadStateOf} from '../backends/upload-state.js';
import {isRuntimeCliError} from '../errors/index.js';
import {containsSecret, createRedactor} from '../http/redact.js';
import type {Logger} from '../http/types.js';
import type {BundleWish} from './bundles.js';
import {CallFailure, expectBytes, notTried, shown} from './expectations.js';
import type {ConformanceFixtures, ConformanceService} from './fixtures.js';
import {printableOf} from './observations.js';
import type {Relay} from './relay.js';

/** Retries without realistic delays. */
export const rateLimit = {maxRetries: 2, baseDelayMs: 1, maxDelayMs: 20};
const pollIntervalMs = 20;
/** How many items of a list are asked for at a time: a service may give fewer. */
const pageLimit = 100;

type Members = Required<Pick<HostBackend, OptionalCall>>;
/** What an optional member is called with. */
export type RequestOf<Name extends OptionalCall> = Parameters<Members[Name]>[0];
/** What it answers. */
export type AnswerTo<Name extends OptionalCall> = Awaited<ReturnType<Members[Name]>>;
/** A member that returns a list. */
export type Lister = 'listBundles' | 'listDeployments' | 'listTargets';
/** An item of a list. */
export type ItemOf<Name extends Lister> = AnswerTo<Name>['items'][number];

/** The parts of a subject. */
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

/** What a request may have. */
interface CallRequest {
  readonly bundleId?: BundleId;
  readonly targetSlug?: string;
  readonly to?: string;
}

/** How a call is made. */
export interface CallOptions {
  readonly targetSlug?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** How a bundle is uploaded. */
export interface UploadOptions extends CallOptions {
  /** Nothing is kept to resume it with. @default false */
  readonly stateless?: boolean | undefined;
}

interface ReportedProgress {
  readonly transferred: number;
  readonly total?: number | undefined;
}

/** A backend and its service. Calls work like those of the host. */
export class Subject {
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
  /** Progress that it reported. */
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

  readonly #logger: Logger = {
    debug: (message) => void this.texts.push(message),
    info: (message) => void this.texts.push(message),
    warn: (message) => void this.texts.push(message),
  };

  /** The same service with a new backend, as another process would see it. */
  again(changes: Partial<Pick<SubjectParts, 'service' | 'projectSlug' | 'states'>> = {}): Subject {
    return new Subject({...this.parts, backend: this.parts.createBackend(), ...changes});
  }

  /** The same for another project. */
  elsewhere(): Subject {
    if (this.service.projectSlug !== undefined) {
      notTried('The service of the fixtures has a projectSlug, so there is no other project.');
    }
    return this.again({projectSlug: `${this.parts.projectSlug}-2`, states: new Map()});
  }

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
    const {bundleId, targetSlug, to = targetSlug} = request as CallRequest;
    // As the host makes it: users type text.
    const isText = bundleId === undefined || this.backend.bundleIds === 'number';
    const given = isText ? request : {...request, bundleId: String(bundleId)};
    return this.#run(name, given, {targetSlug: to, ...options}, (context) => member(given, contextFor(name, context)));
  }

  /** Asks the backend to verify the credentials. */
  async verify(options: CallOptions = {}): Promise<VerifyResult> {
    const member = this.#member('verify');
    return this.#run('verify', undefined, options, (context) =>
      member({...servicePart(context), http: context.http.extend({repeatable: true})}),
    );
  }

  /** Logs in. */
  async login(
    dialogue: Pick<BackendLoginContext, 'prompt' | 'openUrl'>,
    options: CallOptions = {},
  ): Promise<LoginResult> {
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

  /** Builds a bundle with unique content for the project. */
  makeBundle(wish: BundleWish = {}): Promise<Bundle> {
    return this.parts.makeBundle(wish, this.parts);
  }

  /** Uploads a bundle, by default without deploying it. */
  async uploadResult(bundle: Bundle, {stateless = false, ...options}: UploadOptions = {}) {
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

  /** Uploads a bundle, by default a new one, and returns its ID. */
  async upload(bundle?: Bundle, options?: UploadOptions): Promise<BundleId> {
    return (await this.uploadResult(bundle ?? (await this.makeBundle()), options)).bundleId;
  }

  /** Uploads two bundles, and returns their IDs. */
  async uploadTwo(): Promise<{readonly older: BundleId; readonly newer: BundleId}> {
    const older = await this.upload();
    await this.nextInstant();
    const newer = await this.upload();
    await this.nextInstant();
    return {older, newer};
  }

  /** Deploys a bundle to the target, and waits until it runs there. */
  async deploy(bundleId: BundleId): Promise<DeploymentRef> {
    const {deployment} = await this.call('deploy', {bundleId, targetSlug: this.targetSlug});
    await this.finished(deployment);
    return deployment;
  }

  /**
   * Pushes a bundle, by default to the target, like the host: with an upload that deploys, or an upload and then a
   * deployment.
   */
  async push({format, targetSlug = this.targetSlug}: Pick<BundleWish, 'format'> & CallOptions = {}) {
    const {bundleId, deployment} = await this.uploadResult(await this.makeBundle({format}), {targetSlug});
    if (deployment) return {bundleId, deployment};
    return {bundleId, deployment: (await this.call('deploy', {bundleId, targetSlug})).deployment};
  }

  /** Pushes a bundle, and waits until it runs on the target. */
  async pushed(options?: CallOptions): Promise<{readonly bundleId: BundleId; readonly deployment: DeploymentRef}> {
    const {bundleId, deployment} = await this.push(options);
    await this.finished(deployment);
    return {bundleId, deployment: fromJson(deployment)};
  }

  /** Waits until a deployment has finished, if the backend can tell, and until lists show it. */
  async finished(deployment: DeploymentRef): Promise<void> {
    if (this.backend.getDeployment) {
      const what = `the deployment ${shown(deployment)}`;
      await this.becomes(what, ['finished'], async () => {
        const {status, percentage = 0, description = 'no description'} = await this.call('getDeployment', deployment);
        assert.notEqual(status, 'failed', `Expected ${what} to finish. The backend reports "failed": ${description}`);
        assert.ok(percentage >= 0 && percentage <= 100, `Expected 0 to 100 %. The backend reports ${percentage}.`);
        return status;
      });
    }
    await this.nextInstant();
  }

  /** Polls, at most as long as a deployment may take, until `read` resolves to one of `wanted`, and returns that. */
  async becomes<Value>(what: string, wanted: readonly Value[], read: () => Promise<Value>): Promise<Value> {
    const tooLate = Date.now() + (this.parts.fixtures.deploymentTimeoutMs ?? 30_000);
    for (;;) {
      const found = await read();
      if (wanted.includes(found)) return found;
      const expected = `Expected ${what} to become ${wanted.map(String).join(' or ')}.`;
      assert.ok(Date.now() < tooLate, `${expected} When the time was up, the backend reported ${shown(found)}.`);
      await delay(pollIntervalMs);
    }
  }

  /** All items of a list, in pages of at most `limit`. */
  async list<Name extends Lister>(name: Name, request: Omit<RequestOf<Name>, keyof ListRange>, limit = pageLimit) {
    const pages: ListResult<ItemOf<Name>>[] = [];
    const cursors = new Set<string>();
    for (let cursor: string | undefined; ; cursors.add(cursor)) {
      const range = {...request, limit, cursor} as unknown as RequestOf<Name>;
      const page = (await this.call(name, range)) as ListResult<ItemOf<Name>>;
      pages.push(page);
      ({cursor} = page);
      if (cursor === undefined) break;
      assert.ok(!cursors.has(cursor), `Expected a new cursor. ${name}() has returned ${shown(cursor)} before.`);
    }
    const items = pages.flatMap((page) => page.items);
    const {total = items.length} = pages.find((page) => page.total !== items.length) ?? {};
    assert.equal(
      total,
      items.length,
      `Expected the total of each page to be that of all, ${items.length}, not ${total}.`,
    );
    return items;
  }

  /** The deployments to a target, by default to the target. */
  async history(targetSlug = this.targetSlug): Promise<readonly ItemOf<'listDeployments'>[]> {
    return this.list('listDeployments', {targetSlug});
  }

  /** Waits until the service can order what happened before and what happens after. */
  async nextInstant(): Promise<void> {
    await delay(this.parts.fixtures.timeResolutionMs ?? 10);
  }

  /** Asserts that the service has every byte of `bundle`: its archive, its files, or both. */
  async assertArrived(bundle: Bundle, bundleId: BundleId): Promise<void> {
    const {readUploaded, readUploadedFile} = this.service;
    const {projectSlug} = this.parts;
    assert.ok(
      readUploaded ?? readUploadedFile,
      'The service of the fixtures has neither readUploaded() nor readUploadedFile().',
    );
    const what = `the bundle ${shown(bundleId)} in the service`;
    if (readUploaded) await expectBytes(what, bundle, () => readUploaded(bundleId, projectSlug));
    for await (const entry of readUploadedFile ? bundle.entries() : []) {
      if (entry.linkTarget !== undefined || !readUploadedFile) continue;
      await expectBytes(`${entry.path} of ${what}`, entry, () => readUploadedFile(bundleId, entry.path, projectSlug));
    }
  }

  /** Asserts how many uploads the service keeps, complete or not, if it can be asked. */
  async assertKept(most: number, after: string): Promise<void> {
    const kept = (await this.service.countUploads?.()) ?? 0;
    assert.ok(kept <= most, `Expected the service to keep ${most} uploads after ${after}. It keeps ${kept}.`);
  }

  /** The secrets that the backend has learned. */
  async issuedSecrets(): Promise<readonly string[]> {
    return (await this.service.issuedSecrets?.()) ?? [];
  }

  /** Asserts that nothing that the backend logged, threw or returned contains a secret. */
  async assertNoLeak(): Promise<void> {
    const secrets = [...(this.service.secrets ?? []), ...(await this.issuedSecrets())];
    const leak = this.texts.find((text) => containsSecret(text, secrets));
    assert.equal(
      leak,
      undefined,
      `An error, a log or a result contains a secret: ${createRedactor(secrets)(leak ?? '')}`,
    );
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

/** A deployment as another process would have it, which only has the JSON. */
export function fromJson(deployment: DeploymentRef): DeploymentRef {
  return JSON.parse(JSON.stringify(deployment)) as DeploymentRef;
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
