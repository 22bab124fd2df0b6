import {setTimeout as delay} from 'node:timers/promises';
import {callBackend} from '../../backends/call.js';
import {checkedBackend} from '../../backends/checked-backend.js';
import {createBackendContext} from '../../backends/context.js';
import type {Backend, BackendContext, Bundle, BundleFormat, BundleId, StreamedBundle} from '../../backends/contract.js';
import {readLent} from '../../bundle/archive/lent-chunks.js';
import {assertSameBytes, readBytes} from './bytes.js';
import {overwritten} from './overwritten-bodies.js';
import type {ConformanceFixtures, ConformanceService} from './fixtures.js';
import {Recording} from './recording.js';
import {declaredSecrets, usableOptions} from './settings.js';

/** Retries without the waits of real life. */
const rateLimit = {maxRetries: 2, baseDelayMs: 1, maxDelayMs: 20};

/** What a subject is made of. */
export interface SubjectParts {
  readonly backend: Backend;
  readonly service: ConformanceService;
  readonly projectSlug: string;
  readonly fixtures: ConformanceFixtures;
  /** Builds a bundle for the project, with content of its own. */
  makeBundle(format: BundleFormat): Promise<Bundle>;
}

/** How one call differs from others. */
export interface CallOptions {
  readonly targetSlug?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A backend and the service that it talks to. Calls are made as the host makes them. */
export class Subject {
  /** Its answers are checked. */
  readonly backend: Backend;
  readonly service: ConformanceService;
  readonly projectSlug: string;
  readonly targetSlug: string;
  readonly fixtures: ConformanceFixtures;
  /** Builds a bundle for the project, with content of its own; in the format that the backend prefers. */
  readonly makeBundle: (format?: BundleFormat) => Promise<Bundle>;
  /** What the backend said in all calls so far. */
  readonly recording = new Recording();

  constructor({backend, service, projectSlug, fixtures, makeBundle}: SubjectParts) {
    this.backend = checkedBackend(backend, 'this package');
    this.service = service;
    this.projectSlug = projectSlug;
    this.targetSlug = service.targetSlug ?? 'staging';
    this.fixtures = fixtures;
    this.makeBundle = (format = backend.formats[0] ?? 'v2') => makeBundle(format);
  }

  /**
   * Makes one call of the backend, with a context of its own.
   * @throws RuntimeCliError whatever the backend throws; `signal.reason` when aborted.
   */
  async call<Result>(
    doing: string,
    call: (context: BackendContext) => Promise<Result>,
    {targetSlug, signal = new AbortController().signal}: CallOptions = {},
  ): Promise<Result> {
    const {backend, service, projectSlug, recording} = this;
    const context = await createBackendContext({
      projectSlug,
      targetSlug,
      wait: true,
      options: await usableOptions(backend, service.options),
      env: service.env ?? {},
      logger: recording.logger,
      signal,
      userAgent: 'mycli/1.0.0 conformance',
      rateLimit,
      secrets: declaredSecrets(backend, service.options),
      onRetry: () => {
        recording.addRetry();
      },
      onProgress: (progress) => {
        recording.addProgress(progress);
      },
      readLent,
    });
    return callBackend(backend, doing, signal, () => call({...context, bodies: overwritten(context.bodies)}));
  }

  /** Uploads a bundle without deploying it, and returns its id. `streamed`: as one that is packed while it is sent. */
  async upload(
    bundle: Bundle,
    {streamed = false, ...options}: Pick<CallOptions, 'signal'> & {readonly streamed?: boolean} = {},
  ): Promise<BundleId> {
    const {backend} = this;
    const {bundleId} = await this.call(
      'uploading',
      (context) =>
        streamed && backend.uploadStream
          ? backend.uploadStream(withoutFile(bundle), context)
          : backend.upload(bundle, context),
      options,
    );
    return bundleId;
  }

  /** Asserts that the service has every byte of `bundle`. */
  async assertArrived(bundle: Bundle, bundleId: BundleId): Promise<void> {
    assertSameBytes(bundle, await readBytes(await this.service.readUploaded(bundleId)), 'the service has');
  }

  /** Waits until the service can tell what comes next from what came before. */
  async nextInstant(): Promise<void> {
    await delay(this.fixtures.timeResolutionMs ?? 10);
  }
}

function withoutFile({format, message, projectSlug, config, files, size, createReadStream}: Bundle): StreamedBundle {
  return {format, message, projectSlug, config, files, size, read: () => createReadStream()};
}
