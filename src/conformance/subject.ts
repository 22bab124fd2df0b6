import assert from 'node:assert/strict';
import {createHash} from 'node:crypto';
import {setTimeout as delay} from 'node:timers/promises';
import {callInContext} from '../backends/call.js';
import {checkedBackend} from '../backends/checked-backend.js';
import {secretsOf} from '../backends/configuration.js';
import {createBackendContext} from '../backends/context.js';
import type {BuiltInContext, HostBackend} from '../backends/built-in.js';
import type {BuiltInBodies} from '../http/types.js';
import type {StreamedBundle} from '../bundle/types.js';
import type {AnyBackend, Bundle, BundleFormat, BundleId, BodyOptions, UploadState} from '../backends/contract.js';
import {uploadStateOf} from '../backends/upload-state.js';
import type {BundleSize, ConformanceFixtures, ConformanceService} from './fixtures.js';
import {protectedFrom, Recording} from './observations.js';
import type {Relay} from './relay.js';

/** Retries without realistic delays. */
const rateLimit = {maxRetries: 2, baseDelayMs: 1, maxDelayMs: 20};

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
  makeBundle(format: BundleFormat, size: BundleSize): Promise<Bundle>;
  /** Creates a bundle that is too large to be kept in memory. */
  makeHugeBundle(format: BundleFormat): Promise<Bundle>;
}

/** Options of one call. */
export interface CallOptions {
  readonly targetSlug?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The archive that is uploaded, whose state is kept. */
  readonly archive?: Pick<Bundle, 'sha256'> | undefined;
}

/** A backend and its service. Calls work like those of the host. */
export class Subject {
  /** With its answers checked. */
  readonly backend: HostBackend;
  readonly service: ConformanceService;
  readonly projectSlug: string;
  readonly targetSlug: string;
  readonly configDirectory: string;
  readonly fixtures: ConformanceFixtures;
  readonly relay: Relay;
  /** The states of unfinished uploads, by the digest of the archive. */
  readonly states: Map<string, unknown>;
  /**
   * Builds a bundle with unique content for the project; by default in the backend's preferred format. Its archive
   * keeps within the backend's limit.
   */
  readonly makeBundle: (format?: BundleFormat, size?: BundleSize) => Promise<Bundle>;
  /** Creates a bundle that is too large to be kept in memory. */
  readonly makeHugeBundle: SubjectParts['makeHugeBundle'];
  /** What the backend reported in all calls so far. */
  readonly recording = new Recording();
  /** Names of what the backend tried to change, although it was only lent: `options.origin`. */
  readonly changes: string[] = [];
  /** What the backend passed to `maskSecret`. */
  readonly learnedSecrets = new Set<string>();

  /** How often the host retries a request. */
  readonly maxRetries = rateLimit.maxRetries;

  /** What calls have cleaned up, or are cleaning up, after an abort. */
  readonly cleanups: Promise<void>[] = [];

  constructor({backend, service, projectSlug, fixtures, relay, states, makeBundle, makeHugeBundle}: SubjectParts) {
    this.backend = {...checkedBackend(backend, 'this package'), ...builtInMembers(backend)};
    this.service = service;
    this.projectSlug = projectSlug;
    this.targetSlug = service.targetSlug ?? 'staging';
    this.configDirectory = service.configDirectory ?? '/';
    this.fixtures = fixtures;
    this.relay = relay;
    this.states = states;
    this.makeBundle = (format = backend.formats[0] ?? 'v2', size = {}) => makeBundle(format, size);
    this.makeHugeBundle = makeHugeBundle;
  }

  /** What the backend gets. `protectLent()` replaces it. */
  given: <Value>(value: Value, name: string) => Value = (value) => value;

  /** Refuses and records changes of all that the backend gets from now on. */
  protectLent(): void {
    this.given = (value, name) => protectedFrom(value, name, (change) => this.changes.push(change));
  }

  /**
   * Makes one call to the backend, with its own context.
   * @throws RuntimeCliError whatever the backend throws; `signal.reason` when aborted.
   */
  async call<Result>(
    doing: string,
    call: (context: BuiltInContext) => Promise<Result>,
    {targetSlug, signal = new AbortController().signal, archive}: CallOptions = {},
  ): Promise<Result> {
    const {backend, service, projectSlug, configDirectory, recording} = this;
    const secrets = [...declaredSecrets(backend, service)];
    const context = await createBackendContext({
      projectSlug,
      targetSlug,
      wait: true,
      options: this.given(await usableOptions(backend, service.options), 'options'),
      configDirectory,
      env: this.given(service.env ?? {}, 'env'),
      logger: recording.logger,
      signal,
      userAgent: 'mycli/1.0.0 conformance',
      rateLimit,
      reroute: (url) => this.relay.reroute(url),
      secrets,
      state: archive && uploadStateOf(backend, this.#stateOf(archive), {secrets, logger: recording.logger}),
      onSecret: (secret) => {
        secrets.push(secret);
        this.learnedSecrets.add(secret);
      },
      onRetry: () => {
        recording.addRetry();
      },
      onProgress: (progress) => {
        recording.addProgress(progress);
      },
      onCleanup: (work) => {
        this.cleanups.push(work);
      },
    });
    const own = {...context, logger: recording.logger, bodies: overwritten(context.bodies)};
    return callInContext(backend, {doing}, own, call);
  }

  #stateOf({sha256}: Pick<Bundle, 'sha256'>): UploadState {
    const {states} = this;
    return {
      read: () => Promise.resolve(states.get(sha256)),
      write: (state) => Promise.resolve(void states.set(sha256, state)),
      remove: () => Promise.resolve(void states.delete(sha256)),
    };
  }

  /** Calls `check`. Resolves to the settings that it reports as missing. */
  async check(): Promise<readonly string[]> {
    const {backend, service, projectSlug, targetSlug, configDirectory, recording} = this;
    const options = this.given(await usableOptions(backend, service.options), 'options');
    const env = this.given(service.env ?? {}, 'env');
    const {missing = []} = await backend.check({
      ...{options, env, configDirectory, projectSlug, targetSlug},
      logger: recording.logger,
    });
    return missing;
  }

  /**
   * Uploads a bundle without deploying it, and returns its ID. `streamed`: packed while it is sent. `stateless`:
   * nothing is kept to resume it with.
   */
  async upload(
    bundle: Bundle,
    {
      streamed = false,
      stateless = streamed,
      ...options
    }: Pick<CallOptions, 'signal'> & {readonly streamed?: boolean; readonly stateless?: boolean} = {},
  ): Promise<BundleId> {
    const {backend, states} = this;
    const given = this.given(bundle, 'bundle');
    const {bundleId} = await this.call(
      'uploading',
      (context) =>
        streamed && backend.uploadStream
          ? backend.uploadStream(withoutFile(given), context)
          : backend.upload(given, context),
      {...options, ...(!stateless && {archive: bundle})},
    );
    states.delete(bundle.sha256);
    return bundleId;
  }

  /** Asserts that the service has every byte of `bundle`: its archive, its files, or both. */
  async assertArrived(bundle: Bundle, bundleId: BundleId): Promise<void> {
    const {readUploaded, readUploadedFile} = this.service;
    assert.ok(
      readUploaded ?? readUploadedFile,
      'The service of the fixtures has neither readUploaded() nor readUploadedFile().',
    );
    if (readUploaded) assertSameBytes(bundle, await readBytes(await readUploaded(bundleId)), 'The service has');
    if (!readUploadedFile) return;
    for await (const entry of bundle.entries()) {
      if (entry.linkTarget !== undefined) continue;
      const found = await readBytes(await readUploadedFile(bundleId, entry.path));
      assertSameBytes(entry, found, `Of ${entry.path}, the service has`);
    }
  }

  /** Whether the service still has any of `bundle`. */
  async hasUploaded(bundle: Bundle, bundleId: BundleId): Promise<boolean> {
    const {readUploaded, readUploadedFile} = this.service;
    const read = readUploaded ?? ((id) => readUploadedFile?.(id, bundle.files[0]?.path ?? ''));
    try {
      const bytes = await read(bundleId);
      return bytes !== undefined && (await readBytes(bytes)).size >= 0;
    } catch {
      return false;
    }
  }

  /** Asserts how many uploads the service keeps, complete or not. */
  async assertKept(count: number, after: string): Promise<void> {
    const kept = await this.service.countUploads?.();
    assert.ok(
      kept === undefined || kept === count,
      `After ${after}, the service keeps ${String(kept)} uploads, not ${String(count)}.`,
    );
  }

  /** Waits until the service can distinguish the time of what comes next. */
  async nextInstant(): Promise<void> {
    await delay(this.fixtures.timeResolutionMs ?? 10);
  }
}

/** What only built-in backends have. */
export function builtInMembers(
  backend: AnyBackend & Partial<HostBackend>,
): Pick<HostBackend, 'deploysOnUpload' | 'uploadStream'> {
  return {
    ...(backend.deploysOnUpload && {deploysOnUpload: backend.deploysOnUpload}),
    ...(backend.uploadStream && {uploadStream: backend.uploadStream}),
  };
}

function withoutFile({format, message, projectSlug, config, files, size, createReadStream}: Bundle): StreamedBundle {
  return {format, message, projectSlug, config, files, size, read: () => createReadStream()};
}

/** Validates options with a backend's schema; without one, they stay unchanged. */
export async function validateOptions(
  {options: schema}: AnyBackend,
  given: unknown,
): Promise<{readonly value: unknown; readonly problems: readonly string[]}> {
  const result = await schema?.['~standard'].validate(given);
  if (!result) return {value: given, problems: []};
  return result.issues
    ? {value: undefined, problems: result.issues.map(({message}) => message)}
    : {value: result.value, problems: []};
}

/** The validated options of a service. */
export async function usableOptions(backend: AnyBackend, given: unknown): Promise<unknown> {
  const {value, problems} = await validateOptions(backend, given);
  assert.deepEqual(problems, [], `The options of the service do not match the schema: ${problems.join('; ')}`);
  return value;
}

/** The values of a backend's secret options and variables, which the host masks. */
export function declaredSecrets(backend: AnyBackend, {options, env}: ConformanceService): readonly string[] {
  return secretsOf(backend, {backendOptions: asRecord(options)}, env);
}

/** Every string in the options, as if all were declared secret. */
export function optionTexts(options: unknown): readonly string[] {
  const all = asRecord(options);
  return secretsOf({secrets: Object.keys(all)}, {backendOptions: all});
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? {...value} : {};
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

/** A backend need not report an archive's digest, but if it does, it must be that of the upload. */
export function assertDigestTold(
  {sha256}: Bundle,
  told: {readonly sha256?: string | undefined} | undefined,
  where: string,
): void {
  assert.ok([undefined, sha256].includes(told?.sha256), `${where} reports a sha256 that is not the archive's.`);
}

const overwriting = 0xee;
/** Smaller than usual, so that each of the suite's bundles has several. */
const chunkBytes = 64 * 1024;

/**
 * Bodies that overwrite each chunk as soon as the next one is requested. `context.http` has sent it by then. Using a
 * body with another client, which may keep chunks, always sends garbage instead of only when memory is reused. A
 * bundle's own `read()` and `createReadStream()` are left alone: their chunks belong to the reader.
 */
function overwritten(bodies: BuiltInBodies): BuiltInBodies {
  return {
    multipart: (parts) => overwrittenBody(bodies.multipart(parts)),
    base64Json: (body) => overwrittenBody(bodies.base64Json(body)),
    file: (source, range) => overwrittenBody(bodies.file(source, range)),
  };
}

function overwrittenBody({headers, context}: BodyOptions): BodyOptions {
  const {createBody} = context;
  if (!isCreateBody(createBody)) throw new TypeError('Client bodies are made by createBody().');
  return {headers, context: {...context, createBody: (attempt: number) => overwriteEach(createBody(attempt))}};
}

function isCreateBody(value: unknown): value is (attempt: number) => AsyncIterable<Buffer> {
  return typeof value === 'function';
}

async function* overwriteEach(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += chunkBytes) {
      // A copy, because the chunk itself may be needed for a retry.
      const copy = Buffer.from(chunk.subarray(start, start + chunkBytes));
      yield copy;
      copy.fill(overwriting);
    }
  }
}
