import assert from 'node:assert/strict';
import {setTimeout as delay} from 'node:timers/promises';
import type {BuiltInContext, HostBackend} from '../backends/built-in.js';
import {backendCalls, callInContext, contextFor, type OptionalCall} from '../backends/call.js';
import {checkedBackend} from '../backends/checked-backend.js';
import {secretsOf} from '../backends/configuration.js';
import {createBackendContext} from '../backends/context.js';
import type {
  AnyBackend,
  BackendContext,
  BackendLoginContext,
  Bundle,
  BundleId,
  DeploymentRef,
  DeployResult,
  ListRange,
  ListResult,
  UploadState,
} from '../backends/contract.js';
import {uploadStateOf} from '../backends/upload-state.js';
import {isRuntimeCliError} from '../errors/index.js';
import {containsSecret, createRedactor} from '../http/redact.js';
import type {Logger} from '../http/types.js';
import type {BundleWish} from './bundles.js';
import {CallFailure, expectAnswer, expectBytes, notTried, printableOf, shown} from './expectations.js';
import type {ConformanceFixtures, ConformanceService} from './fixtures.js';
import type {Relay} from './relay.js';

/** Retries without realistic delays. */
export const rateLimit = {maxRetries: 2, baseDelayMs: 1, maxDelayMs: 20};
const pollIntervalMs = 20;
/** How many items of a list are asked for at a time: a service may give fewer. */
const pageLimit = 100;

type Members = Required<Pick<HostBackend, OptionalCall>>;
export type RequestOf<Name extends OptionalCall> = Parameters<Members[Name]>[0];
type AnswerTo<Name extends OptionalCall> = Awaited<ReturnType<Members[Name]>>;
export type Lister = 'listBundles' | 'listDeployments' | 'listTargets';
export type ItemOf<Name extends Lister> = AnswerTo<Name>['items'][number];

export interface CallOptions {
  readonly targetSlug?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For uploads: nothing is kept to resume it with. @default false */
  readonly stateless?: boolean | undefined;
}

interface Pushed extends Pick<DeployResult, 'deployment'>, Partial<Pick<DeployResult, 'status'>> {
  readonly bundleId: BundleId;
}

interface SubjectParts {
  readonly createBackend: () => AnyBackend;
  readonly backend: AnyBackend;
  readonly service: ConformanceService;
  readonly projectSlug: string;
  readonly fixtures: ConformanceFixtures;
  /** The states of unfinished uploads, by the digest of the archive. */
  readonly states: Map<string, unknown>;
  readonly relay: Relay;
  readonly build: (wish: BundleWish, projectSlug: string) => Promise<Bundle>;
}

/** A backend and its service. Calls the backend as mycli does, and keeps what it says. */
export class Subject {
  readonly parts: SubjectParts;
  /** With its answers checked. */
  readonly backend: HostBackend;
  readonly service: ConformanceService;
  readonly relay: Relay;
  readonly targetSlug: string;
  readonly otherTarget: string;
  /** Everything that the backend has logged or thrown so far, before anything is masked. */
  readonly texts: string[] = [];
  readonly learnedSecrets = new Set<string>();
  readonly progress: Parameters<BackendContext['onProgress']>[0][] = [];
  onProgress: BackendContext['onProgress'] = () => undefined;
  /** What calls are cleaning up after an abort. */
  readonly cleanups: Promise<void>[] = [];
  readonly #logger: Logger;

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
    const log = (message: string) => void this.texts.push(message);
    this.#logger = {debug: log, info: log, warn: log};
  }

  /** The same service with a new backend, as another process would see it. */
  again(changes: Partial<Pick<SubjectParts, 'service' | 'projectSlug' | 'states'>> = {}): Subject {
    return new Subject({...this.parts, backend: this.parts.createBackend(), ...changes});
  }

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
    const {bundleId, targetSlug, to = targetSlug} = request as {bundleId?: BundleId; targetSlug?: string; to?: string};
    // As the host makes it: users type text.
    const isText = bundleId === undefined || this.backend.bundleIds === 'number';
    const given = isText ? request : {...request, bundleId: String(bundleId)};
    const {writeTo: _, ...printed} = given as {readonly writeTo?: unknown};
    return this.#run(name, shown(printed), {targetSlug: to, ...options}, (context) =>
      member(given, contextFor(name, context)),
    );
  }

  async verify(options: CallOptions = {}): Promise<unknown> {
    const member = this.#member('verify');
    return this.#run('verify', '', options, (context) => member(contextFor('verify', context)));
  }

  async login(dialogue: Pick<BackendLoginContext, 'prompt' | 'openUrl'>, options: CallOptions = {}) {
    const member = this.#member('login');
    return this.#run('login', '', options, (context) => member({...context, ...dialogue}));
  }

  async check({options = this.service.options, env = this.service.env ?? {}} = {}): Promise<readonly string[]> {
    const {value, problems} = await this.#validated(options);
    if (problems.length > 0) return problems;
    const {projectSlug} = this.parts;
    const {configDirectory = '/'} = this.service;
    const place = {configDirectory, projectSlug, targetSlug: this.targetSlug};
    const {missing = []} = await this.backend.check({...place, options: value, env, logger: this.#logger});
    return missing;
  }

  /** Uploads a bundle, by default without deploying it. */
  async uploadResult(bundle: Bundle, {stateless = false, ...options}: CallOptions = {}) {
    const {states} = this.parts;
    const {sha256} = bundle;
    const kept: UploadState = {
      read: async () => states.get(sha256),
      write: async (value) => void states.set(sha256, value),
      remove: async () => void states.delete(sha256),
    };
    const state = stateless ? undefined : kept;
    const upload = (context: BuiltInContext) => this.backend.upload(bundle, context);
    const result = await this.#run('upload', '', {...options, state}, upload);
    states.delete(sha256);
    return result;
  }

  #member<Name extends keyof HostBackend>(name: Name): NonNullable<HostBackend[Name]> {
    const member = this.backend[name];
    assert.ok(member, `This case requires ${name}(), which the backend does not have.`);
    return member;
  }

  /** The options as the schema of the backend returns them; without one, they stay unchanged. */
  async #validated(options: unknown): Promise<{readonly value: unknown; readonly problems: readonly string[]}> {
    const result = await this.backend.options?.['~standard'].validate(options);
    if (result?.issues) return {value: undefined, problems: result.issues.map(({message}) => message)};
    return {value: result ? result.value : options, problems: []};
  }

  declaredSecrets(): readonly string[] {
    const {options, env} = this.service;
    return secretsOf(this.backend, {backendOptions: {...(Object(options) as object)}}, env);
  }

  /** Makes a call with its own context. `request`: in words, for messages. */
  async #run<Result>(
    name: keyof typeof backendCalls,
    request: string,
    {
      targetSlug,
      signal = new AbortController().signal,
      state,
    }: CallOptions & {readonly state?: UploadState | undefined},
    call: (context: BuiltInContext) => Promise<Result>,
  ): Promise<Result> {
    const {backend, service} = this;
    const logger = this.#logger;
    const {value: options, problems} = await this.#validated(service.options);
    assert.deepEqual(problems, [], `The options of the service do not match the schema: ${problems.join('; ')}`);
    const secrets = [...this.declaredSecrets()];
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
    try {
      return await callInContext(backend, {doing: backendCalls[name].doing}, {...context, logger}, call);
    } catch (error) {
      this.texts.push(printableOf(error));
      if (!isRuntimeCliError(error)) throw error;
      throw new CallFailure(`${name}(${request})`, error, createRedactor(secrets));
    }
  }

  makeBundle(wish: BundleWish = {}): Promise<Bundle> {
    return this.parts.build(wish, this.parts.projectSlug);
  }

  async upload(bundle?: Bundle, options?: CallOptions): Promise<BundleId> {
    return (await this.uploadResult(bundle ?? (await this.makeBundle()), options)).bundleId;
  }

  /** Uploads a bundle, by default a new one, and waits until lists show it. */
  async uploaded(bundle?: Bundle): Promise<BundleId> {
    const bundleId = await this.upload(bundle);
    await this.nextInstant();
    return bundleId;
  }

  /** Deploys a bundle to the target, and waits until it runs there. */
  async deploy(bundleId: BundleId): Promise<DeploymentRef> {
    const result = await this.call('deploy', {bundleId, targetSlug: this.targetSlug});
    await this.finished(result);
    return result.deployment;
  }

  /**
   * Pushes a bundle, by default to the target, like the host: with an upload that deploys, or an upload and then a
   * deployment.
   */
  async push({format, targetSlug = this.targetSlug}: Pick<BundleWish, 'format'> & CallOptions = {}): Promise<Pushed> {
    const {bundleId, deployment} = await this.uploadResult(await this.makeBundle({format}), {targetSlug});
    if (deployment) return {bundleId, deployment};
    return {bundleId, ...(await this.call('deploy', {bundleId, targetSlug}))};
  }

  /** Pushes a bundle, and waits until it runs on the target. */
  async pushed(options?: CallOptions): Promise<Pushed> {
    const {bundleId, ...result} = await this.push(options);
    await this.finished(result);
    return {bundleId, deployment: fromJson(result.deployment)};
  }

  /** Waits until a deployment has finished, if the backend can tell, and until lists show it. */
  async finished({deployment, status: reported}: Omit<Pushed, 'bundleId'>): Promise<void> {
    if (this.backend.getDeployment) {
      const what = `the deployment ${shown(deployment)}`;
      const advice = 'Until it is live, report "in_progress".';
      await this.becomes(what, ['finished'], async () => {
        const {status, percentage = 0, description} = await this.call('getDeployment', deployment);
        assert.notEqual(status, 'failed', `Expected ${what} to finish. The backend reports "failed": ${description}`);
        if (reported === 'finished') expectAnswer(`${what}, which was reported as finished,`, status, reported, advice);
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
    const total = items.length;
    const totals = pages.map((page) => page.total ?? total);
    const what = `the totals of the pages of a list, which have ${total} items together,`;
    expectAnswer(what, totals, Array<number>(pages.length).fill(total));
    return items;
  }

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
    const advice = 'The service of the fixtures has neither readUploaded() nor readUploadedFile().';
    assert.ok(readUploaded ?? readUploadedFile, advice);
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

  async issuedSecrets(): Promise<readonly string[]> {
    return (await this.service.issuedSecrets?.()) ?? [];
  }

  /** Asserts that nothing that the backend logged or threw contains a secret. */
  async assertNoLeak(): Promise<void> {
    const secrets = [...(this.service.secrets ?? []), ...(await this.issuedSecrets())];
    const leak = this.texts.find((text) => containsSecret(text, secrets));
    const masked = createRedactor(secrets)(leak ?? '');
    assert.equal(leak, undefined, `An error or a log contains a secret: ${masked}`);
  }
}

/** A deployment as another process would have it, which only has the JSON. */
export function fromJson(deployment: DeploymentRef): DeploymentRef {
  return JSON.parse(JSON.stringify(deployment)) as DeploymentRef;
}

/** Opens another service, for `backend` or a new one. It is closed at the end of the case. */
export type Open = (backend?: AnyBackend) => Promise<Subject>;

/** What a case proves, and how. */
export interface Case {
  readonly name: string;
  /** The members without which there is no such case. @default none */
  readonly needs?: readonly (keyof HostBackend)[] | undefined;
  /** What a backend that passes does, as a sentence. */
  readonly proves: string;
  /** Rejects when the backend breaks the contract. */
  run(subject: Subject, open: Open): Promise<void>;
}
