import assert from 'node:assert/strict';
import {setTimeout as delay} from 'node:timers/promises';
import type {HostBackend} from '../backends/host-backend.js';
import {callInContext} from '../backends/call.js';
import {
  backendMembers,
  type AnswerTo,
  type MemberName,
  type OptionalMember,
  type RequestOf,
} from '../backends/members.js';
import {checkedBackend} from '../backends/plugins/checked-backend.js';
import {secretsOf} from '../backends/resolve-backend.js';
import {createBackendContext, type BackendContextOptions} from '../backends/backend-context.js';
import type {
  AnyBackend,
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
import {jsonProblem} from '../text/json.js';
import {containsSecret} from '../http/redact.js';
import {makeBundle, type BundleWish} from './make-bundles.js';
import {CallFailure, expectAnswer, expectBytes, notTried, outcomeOf, printableOf, shown} from './expectations.js';
import type {ConformanceFixtures, ConformanceService} from './fixtures.js';
import type {Relay} from './relay.js';

/** Retries without realistic delays. */
export const fastRetries = {maxRetries: 2, baseDelayMs: 1, maxDelayMs: 20};

/** Settings of targets that are on or off. */
const flags = ['sourceMaps', 'cookies', 'tracing', 'production'] as const;
type Flag = (typeof flags)[number];

/** The first one that a service does not lack. */
export function flagIn(unsupported: readonly string[] = []): Flag | undefined {
  return flags.find((name) => !unsupported.includes(name));
}

export type Called = Exclude<MemberName, 'check'>;
export type Lister = Extract<OptionalMember, `list${string}`>;
export type ItemOf<Name extends Lister> = AnswerTo<Name>['items'][number];

/** By default, an upload has nothing to resume it with. */
export type MemberCallOptions = Partial<
  Pick<BackendLoginContext, 'prompt' | 'openUrl'> &
    Pick<BackendContextOptions, 'targetSlug' | 'signal' | 'state' | 'timeouts' | 'onProgress' | 'onRetry'>
>;

type Deployed = DeployResult & {readonly bundleId: BundleId};

interface SubjectParts {
  readonly createBackend: () => AnyBackend;
  readonly service: ConformanceService;
  readonly projectSlug: string;
  readonly fixtures: ConformanceFixtures;
  readonly relay: Relay;
  /** What an unfinished upload has saved. */
  readonly saved: {state?: unknown};
  /** What the host masks in this case: what the backend declares, and what it has learned so far. */
  readonly masked: string[];
  /** Everything that the backend has logged or thrown so far, before anything is masked. */
  readonly texts: string[];
  /** How often the backend was called in this case, and which functions have not answered. */
  readonly calls: {made: number; readonly pending: string[]};
  /** Where bundles are packed. */
  readonly directory: string;
  /** Aborted at the end of the case. */
  readonly ended: AbortSignal;
}

/** A backend and its service. Calls the backend as mycli does, and keeps what it says. */
export class Subject {
  /** With its answers checked. */
  readonly backend: HostBackend;
  readonly service: ConformanceService;
  readonly targetSlug: string;
  readonly otherTarget: string;

  constructor(readonly parts: SubjectParts) {
    const {createBackend, service, masked} = parts;
    const backend = createBackend();
    const options = Object(service.options) as object;
    this.backend = checkedBackend(backend, 'this package');
    this.service = service;
    this.targetSlug = service.targetSlug ?? 'staging';
    this.otherTarget = service.promotionTargetSlug ?? 'production';
    const secrets = secretsOf(backend, {backendOptions: {...options}}, service.env);
    masked.push(...secrets.filter((secret) => !masked.includes(secret)));
  }

  /** The same service with a new backend, as another process would see it. */
  again(changes: Partial<SubjectParts> = {}): Subject {
    return new Subject({...this.parts, ...changes});
  }

  /** Another project. @throws NotTried if the service of the fixtures has only one */
  otherProject(projectSlug = `${this.parts.projectSlug}-2`): Subject {
    if (this.service.projectSlug !== undefined)
      notTried('The service has a projectSlug, so there is no other project.');
    return this.again({projectSlug});
  }

  /** Calls a member of the backend. @throws CallFailure if the backend fails; `signal.reason` when aborted. */
  async call<Name extends Called>(
    name: Name,
    request: RequestOf<Name>,
    {state, prompt, openUrl, signal, ...options}: MemberCallOptions = {},
  ): Promise<AnswerTo<Name>> {
    const {backend, service} = this;
    const {projectSlug, relay, masked, texts, calls, ended} = this.parts;
    calls.made += 1;
    type Member = (...given: readonly unknown[]) => Promise<AnswerTo<Name>>;
    const member = backend[name] as unknown as Member | undefined;
    assert.ok(member, `This case requires ${name}(), which the backend does not have.`);
    const {value, missing} = await this.#validated(service.options);
    expectAnswer('what the schema refuses of the options of the service', missing, []);
    const named = Object(request) as {readonly bundleId?: BundleId; readonly targetSlug?: string; readonly to?: string};
    // Users type IDs as text.
    const isTyped = named.bundleId !== undefined && backend.bundleIds !== 'number';
    const given = isTyped ? {...named, bundleId: String(named.bundleId)} : request;
    const logger = this.#logger();
    const context = await createBackendContext({
      projectSlug,
      targetSlug: named.to ?? named.targetSlug,
      options: value,
      signal: AbortSignal.any([ended, signal ?? []].flat()),
      logger,
      rateLimit: fastRetries,
      secrets: masked,
      wait: true,
      configDirectory: service.configDirectory ?? '/',
      env: {...service.env},
      userAgent: 'mycli/1.0.0 conformance',
      reroute: (url) => relay.reroute(url),
      state: state && uploadStateOf(state, {backend, secrets: masked, logger}),
      // Each one that is masked makes every call slower.
      onSecret: (secret) => void (masked.includes(secret) || masked.push(secret)),
      ...options,
    });
    calls.pending.push(name);
    try {
      const row = {...backendMembers[name], effect: undefined};
      return await callInContext(backend, row, {...context, logger}, (ready) =>
        member(...(given === undefined ? [] : [given]), {...ready, prompt, openUrl}),
      );
    } catch (error) {
      texts.push(printableOf(error));
      if (!isRuntimeCliError(error)) throw error;
      const {writeTo: _, ...printed} = Object(request) as {readonly writeTo?: unknown};
      const isLong = request === undefined || name === 'upload';
      throw new CallFailure(`${name}(${isLong ? '' : shown(printed)})`, error);
    } finally {
      calls.pending.splice(calls.pending.indexOf(name), 1);
    }
  }

  #logger() {
    const log = (message: string) => void this.parts.texts.push(message);
    return {debug: log, info: log, warn: log};
  }

  /** What the backend lacks with these settings. */
  async check({options = this.service.options, env = this.service.env ?? {}} = {}): Promise<readonly string[]> {
    const {value, missing} = await this.#validated(options);
    if (missing.length > 0) return missing;
    const {configDirectory = '/'} = this.service;
    const place = {configDirectory, projectSlug: this.parts.projectSlug, targetSlug: this.targetSlug};
    return (await this.backend.check({...place, options: value, env, logger: this.#logger()})).missing ?? [];
  }

  /** The options as the schema of the backend returns them, and what it refuses. */
  async #validated(options: unknown): Promise<{readonly value?: unknown; readonly missing: readonly string[]}> {
    const {issues, ...valid} = (await this.backend.options?.['~standard'].validate(options)) ?? {value: options};
    return {...valid, missing: (issues ?? []).map(({message}) => message)};
  }

  makeBundle({format = this.backend.formats[0], ...wish}: BundleWish = {}): Promise<Bundle> {
    const {directory, projectSlug} = this.parts;
    return makeBundle({...wish, format, projectSlug}, directory, this.backend.limits);
  }

  /** Uploads a bundle, by default a new one, and keeps what to resume it with, like the host. */
  async upload(bundle?: Bundle, options?: MemberCallOptions): Promise<BundleId> {
    const {saved} = this.parts;
    const state: UploadState = {
      read: async () => saved.state,
      write: async (value) => void (saved.state = value),
      remove: async () => void (saved.state = undefined),
    };
    const {bundleId} = await this.call('upload', bundle ?? (await this.makeBundle()), {state, ...options});
    saved.state = undefined;
    if (this.backend.bundleIds === 'number') expectAnswer('the type of an ID', typeof bundleId, 'number');
    return bundleId;
  }

  /** Uploads a bundle and waits until lists show it. */
  async uploaded(bundle?: Bundle): Promise<BundleId> {
    const bundleId = await this.upload(bundle);
    await this.nextInstant();
    return bundleId;
  }

  /** Deploys a bundle, by default a new one, and waits until it runs on the target. */
  async deployed(bundleId?: BundleId, targetSlug = this.targetSlug): Promise<Deployed> {
    const result = await this.deploy(bundleId, targetSlug);
    await this.finished(result);
    return result;
  }

  /** Deploys a bundle. A change of variables or a deletion before may keep the target busy for a while. */
  async deploy(given?: BundleId, targetSlug = this.targetSlug): Promise<Deployed> {
    const bundleId = given ?? (await this.upload());
    for (let tries = 0; ; tries += 1) {
      try {
        return {bundleId, ...(await this.call('deploy', {bundleId, targetSlug}))};
      } catch (error) {
        const isBusy = error instanceof CallFailure && error.cause.code === 'ERR_TARGET_BUSY';
        if (!isBusy || tries === 100) throw error;
      }
      await delay(100);
    }
  }

  /**
   * Waits until a deployment has finished, if the backend can tell, and until lists show it. Looks at it like another
   * process, which has the reference as JSON.
   */
  async finished({deployment, status: reported}: Pick<Deployed, 'deployment'> & Partial<Deployed>): Promise<void> {
    const what = `the deployment ${shown(deployment)}`;
    const problem = jsonProblem(deployment);
    assert.ok(problem === undefined, `Expected the reference of ${what} to be plain JSON. It ${problem}.`);
    const other = this.again();
    const look = async () => {
      const {status, description} = await other.call('getDeployment', fromJson(deployment));
      assert.ok(status !== 'failed', `Expected ${what} to finish. The backend reports "failed": ${description}`);
      const advice = 'Until it is live, report "in_progress".';
      if (reported === 'finished')
        expectAnswer(`the status of ${what}, reported as finished,`, status, reported, advice);
      return status;
    };
    if (this.backend.getDeployment) await this.becomes(what, ['finished'], look);
    await this.nextInstant();
  }

  /** Polls, at most as long as a deployment may take, until `read` resolves to one of `wanted`, and returns that. */
  async becomes<Value>(what: string, wanted: readonly Value[], read: () => Promise<Value>): Promise<Value> {
    const tooLate = Date.now() + (this.parts.fixtures.deploymentTimeoutMs ?? 30_000);
    for (let pauseMs = 2; ; pauseMs = Math.min(2 * pauseMs, 200)) {
      const found = await read();
      if (wanted.includes(found)) return found;
      const expected = `Expected ${what} to become ${wanted.map(String).join(' or ')}.`;
      assert.ok(Date.now() < tooLate, `${expected} When the time was up, the backend reported ${shown(found)}.`);
      await delay(pauseMs);
    }
  }

  /** All items of a list in pages of at most `limit`. `between`: changes it after each page. */
  async list<Name extends Lister>(
    name: Name,
    request: Omit<RequestOf<Name>, keyof ListRange>,
    {limit}: Pick<ListRange, 'limit'> = {limit: 100},
    between?: (pages: readonly ListResult<ItemOf<Name>>[]) => Promise<unknown>,
  ) {
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
      await between?.(pages);
    } while (cursor !== undefined);
    const items = pages.flatMap((page) => page.items);
    const advice = 'Pages end when there is no cursor.';
    if (between) return items;
    for (const {total = items.length} of pages) expectAnswer(`the total of ${name}()`, total, items.length, advice);
    return items;
  }

  /** Waits until a target is ready after a change, if the backend can tell. `isNew`: and until it is listed. */
  async ready(targetSlug: string, {isNew = false} = {}): Promise<void> {
    if (this.backend.listTargets === undefined) return;
    await this.becomes(`the state of the target "${targetSlug}"`, ['ready', undefined], async () => {
      const item = (await this.list('listTargets', {})).find((one) => one.targetSlug === targetSlug);
      return item === undefined && isNew ? 'creating' : item?.state;
    });
  }

  /** A setting that a target of the service can have, and that is on or off. */
  async flagOf(targetSlug: string): Promise<Flag | undefined> {
    if (this.backend.readTarget === undefined) return flags[0];
    const {result} = await outcomeOf(this.call('readTarget', {targetSlug}));
    return flagIn(result?.unsupported);
  }

  /** The bundles of the project; none if the backend does not list them. */
  async bundles(): Promise<readonly ItemOf<'listBundles'>[]> {
    return this.backend.listBundles ? this.list('listBundles', {}) : [];
  }

  /** The deployments to a target; none if the backend does not list them. */
  async history(targetSlug = this.targetSlug): Promise<readonly ItemOf<'listDeployments'>[]> {
    return this.backend.listDeployments ? this.list('listDeployments', {targetSlug}) : [];
  }

  /** Waits until the service can order what happened before and what happens after. */
  async nextInstant(): Promise<void> {
    await delay(this.parts.fixtures.timeResolutionMs ?? 10);
  }

  /** Asserts that the service has every byte of `bundle`: its archive, its files, or both. `after`: what was done. */
  async assertArrived(bundle: Bundle, bundleId: BundleId, after = 'its upload'): Promise<void> {
    const {readUploaded, readUploadedFile} = this.service;
    const {projectSlug} = this.parts;
    const advice = 'The service of the fixtures has neither readUploaded() nor readUploadedFile().';
    assert.ok(readUploaded ?? readUploadedFile, advice);
    const what = `the bundle ${shown(bundleId)} in the service after ${after}`;
    if (readUploaded) await expectBytes(what, bundle.createReadStream(), () => readUploaded(bundleId, projectSlug));
    if (!readUploadedFile) return;
    for await (const entry of bundle.entries()) {
      const read = () => readUploadedFile(bundleId, entry.path, projectSlug);
      await expectBytes(`${entry.path} of ${what}`, entry.open(), read);
    }
  }

  /** Asserts that a bundle is neither listed nor in the service. `after`: what was done. */
  async assertGone(bundle: Bundle, bundleId: BundleId, after: string): Promise<void> {
    await this.nextInstant();
    const gone = `Expected the bundle ${shown(bundleId)} to be gone after ${after}.`;
    assert.ok(!idsOf(await this.bundles()).includes(bundleId), `${gone} It is still listed.`);
    const reading = this.assertArrived(bundle, bundleId);
    await assert.rejects(reading, assert.AssertionError, `${gone} The service still has it.`);
  }

  /** Asserts how many uploads the service keeps, complete or not, if it can be named. */
  async assertKept(most: number, after: string): Promise<void> {
    const uploads = (await this.service.countUploads?.()) ?? 0;
    assert.ok(uploads <= most, `After ${after} the service should keep at most ${most} uploads. It keeps ${uploads}.`);
  }

  /** Asserts that the backend masks whatever the service has issued to it. */
  async assertMasked(): Promise<void> {
    const issued = (await this.service.issuedSecrets?.()) ?? [];
    const areMasked = issued.every((secret) => this.parts.masked.includes(secret));
    assert.ok(areMasked, 'The backend does not mask every secret that it learns with "context.maskSecret".');
  }

  /** Everything that must not be printed. */
  async secrets(): Promise<readonly string[]> {
    const {secrets = [], issuedSecrets} = this.service;
    return [...secrets, ...this.parts.masked, ...((await issuedSecrets?.()) ?? [])];
  }

  /** Asserts that nothing that the backend logged or threw contains a secret. */
  async assertNoLeak(): Promise<void> {
    const secrets = await this.secrets();
    const {texts} = this.parts;
    // Each look makes all forms of all secrets.
    const leak = containsSecret(texts.join('\n'), secrets)
      ? texts.find((text) => containsSecret(text, secrets))
      : undefined;
    assert.ok(leak === undefined, `An error or a log contains a secret: ${leak}`);
  }
}

/** Without an optional function of the service, the case cannot try anything. */
export function notOffered(name: keyof ConformanceService): never {
  return notTried(`The service of the fixtures has no ${name}(), which this case needs.`);
}

export function idsOf(items: readonly {readonly bundleId?: BundleId | undefined}[]): readonly (BundleId | undefined)[] {
  return items.map(({bundleId}) => bundleId);
}

/** A deployment as another process would have it, which only has the JSON. */
function fromJson(deployment: DeploymentRef): DeploymentRef {
  return JSON.parse(JSON.stringify(deployment)) as DeploymentRef;
}

/** Opens another service. It is closed at the end of the case. */
export type Open = () => Promise<Subject>;

/** What a case proves, and how. */
export interface Case {
  readonly name: string;
  /** The members without which there is no such case. @default none */
  readonly needs?: readonly (keyof HostBackend)[] | undefined;
  /** Whether it is for a backend that has these. @default it is */
  readonly isFor?: ((backend: AnyBackend) => boolean) | undefined;
  /** What a backend that passes does, as a sentence. */
  readonly proves: string;
  /** Rejects when the backend breaks the contract. */
  run(subject: Subject, open: Open): Promise<void>;
}

/** Cases for functions that a backend can have: they need no other, unless they say so. */
export type MemberCases = {readonly [Name in OptionalMember]?: readonly Case[]};
