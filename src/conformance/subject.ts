import assert from 'node:assert/strict';
import {createHash} from 'node:crypto';
import {setTimeout as delay} from 'node:timers/promises';
import type {BuiltInContext, HostBackend} from '../backends/built-in.js';
import {backendCalls, callInContext, contextFor, type HostContext, type OptionalCall} from '../backends/call.js';
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
import type {StreamedBundle} from '../bundle/types.js';
import {createRedactor} from '../http/index.js';
import type {Logger} from '../http/types.js';
import type {BundleWish} from './bundles.js';
import type {ConformanceFixtures, ConformanceService} from './fixtures.js';
import {findLeak, printableOf, snapshotOf} from './observations.js';
import type {Relay} from './relay.js';

/** Retries without realistic delays. */
const rateLimit = {maxRetries: 2, baseDelayMs: 1, maxDelayMs: 20};
const pollIntervalMs = 20;
/** How many items of a list are asked for at a time: a service may give fewer. */
const pageLimit = 100;

type Members = Required<Pick<HostBackend, OptionalCall>>;
/** What an optional member is called with. */
export type RequestOf<Name extends OptionalCall> = Parameters<Members[Name]>[0];
/** What it answers. */
export type AnswerTo<Name extends OptionalCall> = Awaited<ReturnType<Members[Name]>>;
type Lister = 'listBundles' | 'listDeployments' | 'listTargets';
/** An item of a list. */
export type ItemOf<Name extends Lister> = AnswerTo<Name>['items'][number];

/** The parts of a subject. */
export interface SubjectParts {
  readonly backend: AnyBackend;
  readonly service: ConformanceService;
  readonly projectSlug: string;
  readonly fixtures: ConformanceFixtures;
  /** The states of unfinished uploads, by the digest of the archive. */
  readonly states: Map<string, unknown>;
  /** What stands between the backend and its service. */
  readonly relay: Relay;
  /** Builds a bundle with unique content for the project. */
  makeBundle(wish?: BundleWish): Promise<Bundle>;
  /** Creates a bundle that is too large to be kept in memory. `onRead` is told how many bytes are read from it. */
  makeHugeBundle(format: Bundle['format'], onRead: (bytes: number) => void): Promise<Bundle>;
}

/** How a call is made. */
export interface CallOptions {
  readonly targetSlug?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** How a bundle is uploaded. */
export interface UploadOptions extends CallOptions {
  /** Packed while it is sent. */
  readonly streamed?: boolean | undefined;
  /** Nothing is kept to resume it with. @default `streamed` */
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
  readonly projectSlug: string;
  readonly targetSlug: string;
  /** Another target, which bundles are promoted to. */
  readonly otherTarget: string;
  readonly makeBundle: SubjectParts['makeBundle'];
  /** How often the host retries a request. */
  readonly maxRetries = rateLimit.maxRetries;

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
    const {backend, service, projectSlug, relay, makeBundle} = parts;
    this.parts = parts;
    this.backend = {...checkedBackend(backend, 'this package'), ...builtInMembers(backend)};
    this.service = service;
    this.relay = relay;
    this.projectSlug = projectSlug;
    this.targetSlug = service.targetSlug ?? 'staging';
    this.otherTarget = service.promotionTargetSlug ?? 'production';
    this.makeBundle = makeBundle;
  }

  readonly #logger: Logger = {
    debug: (message) => void this.texts.push(message),
    info: (message) => void this.texts.push(message),
    warn: (message) => void this.texts.push(message),
  };

  /**
   * Calls an optional member.
   * @throws RuntimeCliError whatever the backend throws; `signal.reason` when aborted.
   */
  async call<Name extends OptionalCall>(
    name: Name,
    request: RequestOf<Name>,
    options: CallOptions = {},
  ): Promise<AnswerTo<Name>> {
    const member = this.#member(name) as (request: unknown, context: BuiltInContext) => Promise<AnswerTo<Name>>;
    const given = this.#typed(request);
    const {targetSlug, to = targetSlug} = request as {readonly targetSlug?: string; readonly to?: string};
    return this.#run(backendCalls[name].doing, {targetSlug: to, ...options}, given, (context) =>
      member(given, contextFor(name, context)),
    );
  }

  /** Asks the backend to verify the credentials. */
  async verify(options: CallOptions = {}): Promise<VerifyResult> {
    const member = this.#member('verify');
    return this.#run(backendCalls.verify.doing, options, undefined, (context) =>
      member({...servicePart(context), http: context.http.extend({repeatable: true})}),
    );
  }

  /** Logs in. */
  async login(
    dialogue: Pick<BackendLoginContext, 'prompt' | 'openUrl'>,
    options: CallOptions = {},
  ): Promise<LoginResult> {
    const member = this.#member('login');
    const call = (context: BuiltInContext) => member({...servicePart(context), ...dialogue});
    return this.#run(backendCalls.login.doing, options, undefined, call);
  }

  /** Calls `check`. Resolves to the settings that it reports as missing. */
  async check({options = this.service.options, env = this.service.env ?? {}} = {}): Promise<readonly string[]> {
    const {backend, service, projectSlug, targetSlug} = this;
    const {value, problems} = await validateOptions(backend, options);
    if (problems.length > 0) return problems;
    const {configDirectory = '/'} = service;
    const context = {options: value, env, configDirectory, projectSlug, targetSlug, logger: this.#logger};
    const {configured, missing = []} = await backend.check(context);
    assert.equal(configured, missing.length === 0, 'check() does not say what is missing.');
    return missing;
  }

  /** Uploads a bundle, by default without deploying it. */
  async uploadResult(bundle: Bundle, {streamed = false, stateless = streamed, ...options}: UploadOptions = {}) {
    const {backend, parts} = this;
    const {sha256} = bundle;
    const state: UploadState = {
      read: () => Promise.resolve(parts.states.get(sha256)),
      write: (value) => Promise.resolve(void parts.states.set(sha256, value)),
      remove: () => Promise.resolve(void parts.states.delete(sha256)),
    };
    const result = await this.#run(
      backendCalls.upload.doing,
      {...options, ...(!stateless && {state})},
      bundle,
      (context) =>
        streamed && backend.uploadStream
          ? backend.uploadStream(withoutFile(bundle), context)
          : backend.upload(bundle, context),
    );
    parts.states.delete(sha256);
    return result;
  }

  /** Uploads a bundle, by default a new one, and returns its ID. */
  async upload(bundle?: Bundle, options?: UploadOptions): Promise<BundleId> {
    return (await this.uploadResult(bundle ?? (await this.makeBundle()), options)).bundleId;
  }

  /** Uploads bundles one after the other, and returns their IDs, newest first. */
  async uploadInOrder(count: number): Promise<readonly BundleId[]> {
    const ids: BundleId[] = [];
    while (ids.length < count) {
      ids.unshift(await this.upload());
      await this.nextInstant();
    }
    return ids;
  }

  /** Deploys a bundle, by default to the target, and waits until it runs there. */
  async deploy(bundleId: BundleId, targetSlug = this.targetSlug): Promise<DeploymentRef> {
    const {deployment} = await this.call('deploy', {bundleId, targetSlug});
    await this.finished(deployment);
    await this.nextInstant();
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
    await this.nextInstant();
    return {bundleId, deployment: fromJson(deployment)};
  }

  /** Waits until a deployment has finished, if the backend can tell. */
  async finished(deployment: DeploymentRef): Promise<void> {
    if (!this.backend.getDeployment) return;
    let status = 'unknown';
    const isOver = await this.eventually(async () => {
      const state = await this.call('getDeployment', deployment);
      const {percentage = 0} = state;
      status = state.status;
      assert.ok(percentage >= 0 && percentage <= 100, `The deployment reports a progress of ${String(percentage)} %.`);
      assert.notEqual(status, 'failed', `The deployment failed: ${state.description ?? 'no description'}`);
      return status === 'finished';
    });
    assert.ok(isOver, `The deployment was still ${status} when the time was up.`);
  }

  /** All pages of a list, and all of their items. */
  async pages<Name extends Lister>(name: Name, request: Omit<RequestOf<Name>, keyof ListRange>, limit = pageLimit) {
    const pages: ListResult<ItemOf<Name>>[] = [];
    const cursors = new Set<string | undefined>();
    for (let cursor: string | undefined; !cursors.has(cursor); cursor = pages.at(-1)?.cursor) {
      cursors.add(cursor);
      const range = {...request, limit, cursor} as unknown as RequestOf<Name>;
      const page = (await this.call(name, range)) as ListResult<ItemOf<Name>>;
      pages.push(page);
      if (page.cursor === undefined) return {pages, items: pages.flatMap(({items}) => items)};
    }
    assert.fail(`The list is repeated: its cursor ${JSON.stringify(pages.at(-1)?.cursor)} is returned again.`);
  }

  /** All items of a list. */
  async list<Name extends Lister>(name: Name, request: Omit<RequestOf<Name>, keyof ListRange>) {
    return (await this.pages(name, request)).items;
  }

  /** The deployments to a target, by default to the target. */
  async history(targetSlug = this.targetSlug): Promise<readonly ItemOf<'listDeployments'>[]> {
    return this.list('listDeployments', {targetSlug});
  }

  /** Polls until `isDone`, at most as long as a deployment may take. Resolves to whether it was done in time. */
  async eventually(isDone: () => Promise<boolean>): Promise<boolean> {
    const tooLate = Date.now() + (this.parts.fixtures.deploymentTimeoutMs ?? 30_000);
    while (!(await isDone())) {
      if (Date.now() > tooLate) return false;
      await delay(pollIntervalMs);
    }
    return true;
  }

  /** Waits until the service can order what happened before and what happens after. */
  async nextInstant(): Promise<void> {
    await delay(this.parts.fixtures.timeResolutionMs ?? 10);
  }

  /** Asserts that the service has every byte of `bundle`: its archive, its files, or both. */
  async assertArrived(bundle: Bundle, bundleId: BundleId): Promise<void> {
    const {service, projectSlug} = this;
    const {readUploaded, readUploadedFile} = service;
    assert.ok(
      readUploaded ?? readUploadedFile,
      'The service of the fixtures has neither readUploaded() nor readUploadedFile().',
    );
    if (readUploaded) {
      assertSameBytes(bundle, await readBytes(await readUploaded(bundleId, projectSlug)), 'The service has');
    }
    for await (const entry of readUploadedFile ? bundle.entries() : []) {
      if (entry.linkTarget !== undefined || !readUploadedFile) continue;
      const found = await readBytes(await readUploadedFile(bundleId, entry.path, projectSlug));
      assertSameBytes(entry, found, `Of ${entry.path}, the service has`);
    }
  }

  /** Whether the service still has `bundle`. */
  async hasArrived(bundle: Bundle, bundleId: BundleId): Promise<boolean> {
    return this.assertArrived(bundle, bundleId).then(
      () => true,
      () => false,
    );
  }

  /** Asserts how many uploads the service keeps, complete or not, if it can be asked. */
  async assertKept(most: number, after: string): Promise<void> {
    const kept = (await this.service.countUploads?.()) ?? 0;
    assert.ok(kept <= most, `After ${after}, the service keeps ${String(kept)} uploads, not ${String(most)}.`);
  }

  /** Asserts that nothing that the backend logged, threw or returned contains a secret. */
  async assertNoLeak(): Promise<void> {
    const secrets = [...(this.service.secrets ?? []), ...((await this.service.issuedSecrets?.()) ?? [])];
    const redact = createRedactor(secrets);
    for (const text of this.texts) {
      assert.ok(
        findLeak(text, secrets) === undefined,
        `An error, a log or a result contains a secret: ${redact(text)}`,
      );
    }
  }

  #member<Name extends keyof HostBackend>(name: Name): NonNullable<HostBackend[Name]> {
    const member = this.backend[name];
    assert.ok(member, `This case requires ${name}(), which the backend does not have.`);
    return member;
  }

  /** A request as the host makes it: users type text. */
  #typed(request: object): object {
    const {bundleId} = request as {readonly bundleId?: BundleId};
    const isText = bundleId === undefined || this.backend.bundleIds === 'number';
    return isText ? request : {...request, bundleId: String(bundleId)};
  }

  /** Makes a call with its own context. `lent`: what it must not change. */
  async #run<Result>(
    doing: string,
    {targetSlug, signal = new AbortController().signal, state}: CallOptions & {readonly state?: UploadState},
    lent: unknown,
    call: (context: BuiltInContext) => Promise<Result>,
  ): Promise<Result> {
    const {backend, texts} = this;
    const context = await this.#context({targetSlug, signal, state});
    const all = {request: lent, options: context.options, env: context.env};
    const before = Object.values(all).map(snapshotOf);
    try {
      const result = await callInContext(backend, {doing}, {...context, logger: this.#logger}, call);
      const {raw: _, ...rest} = Object(result) as Readonly<Record<string, unknown>>;
      texts.push(JSON.stringify(rest));
      return result;
    } catch (error) {
      texts.push(printableOf(error));
      throw error;
    } finally {
      const after = Object.entries(all).filter(([, value], index) => snapshotOf(value) !== before[index]);
      this.changes.push(...after.map(([name]) => `the ${name} while ${doing}`));
    }
  }

  async #context({
    targetSlug,
    signal,
    state,
  }: Omit<CallOptions, 'signal'> & {
    readonly signal: AbortSignal;
    readonly state: UploadState | undefined;
  }): Promise<HostContext> {
    const {backend, service, projectSlug} = this;
    const logger = this.#logger;
    const {value: options, problems} = await validateOptions(backend, service.options);
    assert.deepEqual(problems, [], `The options of the service do not match the schema: ${problems.join('; ')}`);
    const secrets = [...declaredSecrets(backend, service)];
    return createBackendContext({
      projectSlug,
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
      onRetry: () => {
        this.progress.length = 0;
      },
      onProgress: (progress) => {
        this.progress.push(progress);
        this.onProgress(progress);
      },
      onCleanup: (work) => void this.cleanups.push(work),
    });
  }
}

/** What only built-in backends have. */
export function builtInMembers(
  backend: AnyBackend & Partial<HostBackend>,
): Pick<HostBackend, 'deploysOnUpload' | 'uploadStream'> {
  const {deploysOnUpload, uploadStream} = backend;
  return {...(deploysOnUpload && {deploysOnUpload}), ...(uploadStream && {uploadStream})};
}

/** A deployment as another process would have it, which only has the JSON. */
export function fromJson(deployment: DeploymentRef): DeploymentRef {
  return JSON.parse(JSON.stringify(deployment)) as DeploymentRef;
}

/** The values of a backend's secret options and variables, which the host masks. */
export function declaredSecrets(backend: AnyBackend, {options, env}: ConformanceService): readonly string[] {
  return secretsOf(backend, {backendOptions: {...(Object(options) as object)}}, env);
}

/** The part of a context that is not about a project. */
function servicePart(context: BackendVerifyContext): BackendVerifyContext {
  const {options, configDirectory, env, logger, http, error, waitToRetry, signal, maskSecret} = context;
  return {options, configDirectory, env, logger, http, error, waitToRetry, signal, maskSecret};
}

function withoutFile({format, message, projectSlug, config, files, size, createReadStream}: Bundle): StreamedBundle {
  return {format, message, projectSlug, config, files, size, read: () => createReadStream()};
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

/** How many bytes there were, and their digest, hex. */
interface BytesRead {
  readonly size: number;
  readonly sha256: string;
}

/** Reads all bytes. */
export async function readBytes(bytes: AsyncIterable<Uint8Array> | Uint8Array): Promise<BytesRead> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const piece of bytes instanceof Uint8Array ? [bytes] : bytes) {
    hash.update(piece);
    size += piece.length;
  }
  return {size, sha256: hash.digest('hex')};
}

/** Asserts that these are exactly the bytes of an archive, or of one of its files. */
export function assertSameBytes({size, sha256}: BytesRead, found: BytesRead, where: string): void {
  assert.equal(found.size, size, `${where} ${String(found.size)} of ${String(size)} bytes.`);
  assert.equal(found.sha256, sha256, `${where} different bytes: the sha256 does not match.`);
}
