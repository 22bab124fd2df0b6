import assert from 'node:assert/strict';
import {setTimeout as delay} from 'node:timers/promises';
import type {HostBackend} from '../backends/built-in.js';
import {backendCalls, callInContext, contextFor} from '../backends/call.js';
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
import type {BundleWish, FormattedWish} from './bundles.js';
import {CallFailure, expectAnswer, expectBytes, notTried, outcomeOf, printableOf, shown} from './expectations.js';
import type {ConformanceFixtures, ConformanceService} from './fixtures.js';
import type {Relay} from './relay.js';

/** Retries without realistic delays. */
export const rateLimit = {maxRetries: 2, baseDelayMs: 1, maxDelayMs: 20};
/** How long to wait between looks at a deployment: longer each time. */
const [firstPauseMs, longestPauseMs] = [2, 200];
/** How many items of a list are asked for at a time: a service may give fewer. */
const pageLimit = 100;

export type Called = Exclude<keyof typeof backendCalls, 'check'>;
type Members = Required<Pick<HostBackend, Called>>;
/** What a member is called with before its context. */
export type RequestOf<Name extends Called> = Name extends 'verify' | 'login' ? undefined : Parameters<Members[Name]>[0];
type AnswerTo<Name extends Called> = Awaited<ReturnType<Members[Name]>>;
export type Lister = 'listBundles' | 'listDeployments' | 'listTargets';
export type ItemOf<Name extends Lister> = AnswerTo<Name>['items'][number];

export type CallOptions = Partial<Pick<BackendLoginContext, 'prompt' | 'openUrl'>> & {
  readonly targetSlug?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** @default an upload has nothing to resume it with */
  readonly state?: UploadState | undefined;
};

type PushOptions = Pick<BundleWish, 'format'> & Pick<CallOptions, 'targetSlug'>;

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
  readonly build: (wish: FormattedWish) => Promise<Bundle>;
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
  readonly #log = (message: string) => void this.texts.push(message);
  readonly #logger = {debug: this.#log, info: this.#log, warn: this.#log};

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
   * Calls a member of the backend.
   * @throws CallFailure if the backend fails; `signal.reason` when aborted.
   */
  async call<Name extends Called>(
    name: Name,
    request: RequestOf<Name>,
    {state, signal = new AbortController().signal, targetSlug, ...dialogue}: CallOptions = {},
  ): Promise<AnswerTo<Name>> {
    const {backend, service} = this;
    type Member = (...given: readonly unknown[]) => Promise<AnswerTo<Name>>;
    const member = backend[name] as unknown as Member | undefined;
    assert.ok(member, `This case requires ${name}(), which the backend does not have.`);
    const given = request === undefined || name === 'upload' ? request : this.#asTyped(request);
    const {targetSlug: own, to = own} = Object(request) as {readonly targetSlug?: string; readonly to?: string};
    const validated = await this.#validated(service.options);
    const problems = (validated.issues ?? []).map(({message}) => message).join('; ');
    assert.equal(problems, '', `The options of the service do not match the schema: ${problems}`);
    const secrets = [...this.declaredSecrets()];
    const logger = this.#logger;
    const context = await createBackendContext({
      projectSlug: this.parts.projectSlug,
      targetSlug: targetSlug ?? to,
      options: validated.issues ? undefined : validated.value,
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
    const {doing} = backendCalls[name];
    try {
      return await callInContext(backend, {doing}, {...context, logger}, (ready) =>
        member(...(given === undefined ? [] : [given]), {...contextFor(name, ready), ...dialogue}),
      );
    } catch (error) {
      this.texts.push(printableOf(error));
      if (!isRuntimeCliError(error)) throw error;
      const {writeTo: _, ...printed} = Object(given) as {readonly writeTo?: unknown};
      const words = given === undefined || name === 'upload' ? '' : shown(printed);
      throw new CallFailure(`${name}(${words})`, error, createRedactor(secrets));
    }
  }

  /** A request as the host makes it: users type text. */
  #asTyped(request: object): object {
    const {bundleId} = request as {readonly bundleId?: BundleId};
    const isText = bundleId === undefined || this.backend.bundleIds === 'number';
    return isText ? request : {...request, bundleId: String(bundleId)};
  }

  async check({options = this.service.options, env = this.service.env ?? {}} = {}): Promise<readonly string[]> {
    const validated = await this.#validated(options);
    if (validated.issues) return validated.issues.map(({message}) => message);
    const {targetSlug, service} = this;
    const place = {configDirectory: service.configDirectory ?? '/', projectSlug: this.parts.projectSlug, targetSlug};
    return (await this.backend.check({...place, options: validated.value, env, logger: this.#logger})).missing ?? [];
  }

  /** The options as the schema of the backend returns them; without one, they stay unchanged. */
  async #validated(options: unknown) {
    return (await this.backend.options?.['~standard'].validate(options)) ?? {value: options, issues: undefined};
  }

  declaredSecrets(): readonly string[] {
    const {options, env} = this.service;
    return secretsOf(this.backend, {backendOptions: {...(Object(options) as object)}}, env);
  }

  makeBundle({format = this.backend.formats[0] ?? 'v2', ...wish}: BundleWish = {}): Promise<Bundle> {
    const projectSlug = format === 'v1' ? this.parts.projectSlug : undefined;
    return this.parts.build({...wish, format, projectSlug});
  }

  /** Uploads a bundle as the host does, which keeps what to resume it with, by default without deploying it. */
  async uploadResult(bundle: Bundle, targetSlug?: string): Promise<AnswerTo<'upload'>> {
    const {states} = this.parts;
    const {sha256} = bundle;
    const state: UploadState = {
      read: async () => states.get(sha256),
      write: async (value) => void states.set(sha256, value),
      remove: async () => void states.delete(sha256),
    };
    const result = await this.call('upload', bundle, {targetSlug, state});
    states.delete(sha256);
    return result;
  }

  async upload(bundle?: Bundle): Promise<BundleId> {
    return (await this.uploadResult(bundle ?? (await this.makeBundle()))).bundleId;
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

  /** Pushes a bundle to a target like the host: with an upload that deploys, or an upload and then a deployment. */
  async push({format, targetSlug = this.targetSlug}: PushOptions = {}): Promise<Pushed> {
    const {bundleId, deployment} = await this.uploadResult(await this.makeBundle({format}), targetSlug);
    if (deployment) return {bundleId, deployment};
    return {bundleId, ...(await this.call('deploy', {bundleId, targetSlug}))};
  }

  /** Pushes a bundle, and waits until it runs on the target. */
  async pushed(options?: PushOptions): Promise<Pushed> {
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
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      const found = await read();
      if (wanted.includes(found)) return found;
      const expected = `Expected ${what} to become ${wanted.map(String).join(' or ')}.`;
      assert.ok(Date.now() < tooLate, `${expected} When the time was up, the backend reported ${shown(found)}.`);
      await delay(pauseMs);
    }
  }

  /** All items of a list, in pages of at most `limit`. */
  async list<Name extends Lister>(name: Name, request: Omit<RequestOf<Name>, keyof ListRange>, limit = pageLimit) {
    const pages: ListResult<ItemOf<Name>>[] = [];
    const cursors = new Set<string | undefined>();
    let cursor: string | undefined;
    do {
      assert.ok(!cursors.has(cursor), `Expected a new cursor. ${name}() has returned ${shown(cursor)} before.`);
      cursors.add(cursor);
      const range = {...request, limit, cursor} as unknown as RequestOf<Name>;
      const page = (await this.call(name, range)) as ListResult<ItemOf<Name>>;
      pages.push(page);
      cursor = page.cursor;
    } while (cursor !== undefined);
    const items = pages.flatMap((page) => page.items);
    const totals = pages.map(({total = items.length}) => total);
    const what = `the totals of the pages of a list, which have ${items.length} items together,`;
    expectAnswer(what, totals, Array<number>(pages.length).fill(items.length));
    return items;
  }

  async history(targetSlug = this.targetSlug): Promise<readonly ItemOf<'listDeployments'>[]> {
    return this.list('listDeployments', {targetSlug});
  }

  /** The deployments to a target, of which there may be no history yet. */
  async historyIfAny(targetSlug?: string): Promise<readonly unknown[]> {
    return (await outcomeOf(this.history(targetSlug))).result ?? [];
  }

  endOf(deployment: DeploymentRef): Promise<string> {
    return this.becomes('the deployment', ['finished', 'failed'], async () => {
      return (await this.call('getDeployment', deployment)).status;
    });
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
    assert.ok(kept <= most, `After ${after} the service should keep at most ${most} uploads. It keeps ${kept}.`);
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

/** Without an optional function of the service, the case cannot try anything. */
export function notOffered(name: keyof ConformanceService): never {
  return notTried(`The service of the fixtures has no ${name}(), which this case needs.`);
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
