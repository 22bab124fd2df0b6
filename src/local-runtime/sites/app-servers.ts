import {access, mkdir, rm, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {asSentence} from '../../errors/sentence.js';
import {reasonOf} from '../../errors/system-failure.js';
import {findServer} from '../../frameworks/detect-framework.js';
import {HttpFailure} from '../answer.js';
import {sitePath} from './site-address.js';
import type {ArchiveLimits} from '../options.js';
import {removeFolder} from '../store/data-folder.js';
import type {Deployments} from '../store/deployments.js';
import type {DeploymentRecord, Store} from '../store/store.js';
import {unpackBundle, type ReadingTurns} from '../upload/read-archive.js';
import {AppFailure, AppProcess} from './app-process.js';
import {appProgram} from './app-program.js';
import {forward, type ForwardedRequest} from './forward.js';

/** Modules that start a server or export a handler in a build of an unknown framework: the first that exists. */
const otherEntries = ['ssr.mjs', 'ssr.js', 'server.mjs', 'server.js', 'index.mjs', 'index.js'];

/** Options of `AppServers`. */
interface AppServersOptions {
  readonly store: Store;
  readonly deployments: Deployments;
  readonly limits: ArchiveLimits;
  readonly turns: ReadingTurns;
  readonly environment: Readonly<Record<string, string>>;
  /** Seconds in which a server must listen, and answer a request. */
  readonly timeoutSeconds: number;
  readonly onWarning: (message: string) => void;
  readonly onOutput: (line: string) => void;
}

/** The file, beside the files of a bundle, that its process starts. */
const programName = 'start.mjs';
/** How often to look for servers whose target runs another deployment by now, in milliseconds. */
const sweepMs = 1000;
const firstDelayMs = 500;
const maxDelayMs = 30_000;

/** The line of a stack trace that says what was wrong. */
const errorLine = /^\s*(?:Uncaught )?(?:[A-Z]\w*Error\b|FATAL ERROR)[^:]*:/;
const maxReason = 300;

/** The servers of the deployed apps. Each is started by the first request for it. */
export class AppServers {
  readonly #options: AppServersOptions;
  readonly #apps = new Map<string, App>();
  /** Those of earlier deployments, until they have ended. */
  readonly #stopping = new Set<Promise<void>>();
  #sweeping: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: AppServersOptions) {
    this.#options = options;
  }

  /**
   * Has the server of a deployment answer. Undefined if its bundle has none.
   * @throws HttpFailure 502 with what the server printed if it has crashed, 504 if it takes too long.
   */
  async answer(call: ForwardedRequest, deployment: DeploymentRecord): Promise<Response | undefined> {
    if (this.#isClosed) throw new HttpFailure(502, 'The local runtime is stopping.');
    this.#sweeping ??= setInterval(() => {
      this.#sweep();
    }, sweepMs).unref();
    const key = keyOf(deployment);
    let app = this.#apps.get(key);
    // A request may still be for the deployment before.
    if (app === undefined || app.deployment.number < deployment.number) {
      if (app) this.#stop(app);
      app = new App(deployment, this.#options);
      this.#apps.set(key, app);
    }
    return app.answer(call);
  }

  /** Stops all servers, and waits for those that are being stopped. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweeping);
    for (const app of this.#apps.values()) this.#stop(app);
    await Promise.all(this.#stopping);
  }

  #sweep(): void {
    for (const [key, app] of this.#apps) {
      const {deployment} = app;
      const current = this.#options.deployments.current(deployment.projectSlug, deployment.targetSlug);
      if (current?.deploymentId === deployment.deploymentId) continue;
      this.#apps.delete(key);
      this.#stop(app);
    }
  }

  #stop(app: App): void {
    const stopping = app.stop().finally(() => this.#stopping.delete(stopping));
    this.#stopping.add(stopping);
  }
}

function keyOf({projectSlug, targetSlug}: DeploymentRecord): string {
  return JSON.stringify([projectSlug, targetSlug]);
}

/** A bundle that was unpacked with all its files. */
interface UnpackedBundle {
  /** What to remove. */
  readonly folder: string;
  /** The folder of its files. */
  readonly root: string;
  /** Absolute path of the module that is its server. */
  readonly entry: string;
  /** What its framework needs to answer here. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The server of one deployment: its files, and its process while there is one. */
class App {
  readonly deployment: DeploymentRecord;
  readonly #options: AppServersOptions;
  #unpacked: Promise<UnpackedBundle | undefined> | undefined;
  #process: Promise<AppProcess> | undefined;
  readonly #stopping = new AbortController();
  /** Crashes since it answered last. */
  #crashes = 0;
  #lastFailure: AppFailure | undefined;
  /** Not to be started before, by `performance.now()`. */
  #retryAt = 0;

  constructor(deployment: DeploymentRecord, options: AppServersOptions) {
    this.deployment = deployment;
    this.#options = options;
  }

  async answer(call: ForwardedRequest): Promise<Response | undefined> {
    this.#unpacked ??= this.#unpack();
    const bundle = await this.#unpacked.catch((error: unknown) => {
      this.#unpacked = undefined;
      throw error;
    });
    if (bundle === undefined) return undefined;
    try {
      const answer = await forward(call, await this.#running(bundle), {
        prefix: call.base ?? sitePath(this.deployment),
        timeoutMs: this.#options.timeoutSeconds * 1000,
      });
      this.#crashes = 0;
      return answer;
    } catch (error) {
      throw error instanceof AppFailure ? this.#page(error) : error;
    }
  }

  /** Stops the process and removes the files. Never rejects: what cannot be removed is a warning. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const process = await this.#process?.catch(() => undefined);
    await process?.ended;
    const bundle = await this.#unpacked?.catch(() => undefined);
    if (!bundle) return;
    await removeFolder(bundle.folder).catch((error: unknown) => {
      const files = `The files of the server of ${this.#name} in ${bundle.folder}`;
      this.#options.onWarning(asSentence(`${files} could not be removed: ${reasonOf(error)}`));
    });
  }

  get #name(): string {
    return `${this.deployment.projectSlug}/${this.deployment.targetSlug}`;
  }

  async #running(bundle: UnpackedBundle): Promise<AppProcess> {
    if (this.#process) return this.#process;
    if (this.#lastFailure && performance.now() < this.#retryAt) throw this.#lastFailure;
    if (this.#stopping.signal.aborted) throw new HttpFailure(502, `The server of ${this.#name} was stopped.`);
    const {environment, timeoutSeconds, onOutput} = this.#options;
    this.#process = AppProcess.start({
      program: path.join(bundle.folder, programName),
      entry: bundle.entry,
      cwd: bundle.root,
      environment: {...bundle.environment, ...environment},
      timeoutMs: timeoutSeconds * 1000,
      onLine: (line) => {
        onOutput(`${this.#name}: ${line}`);
      },
      signal: this.#stopping.signal,
    });
    void this.#process.then(
      async (process) => {
        this.#crashed(process.failure(await process.ended));
      },
      (error: unknown) => {
        this.#crashed(error instanceof AppFailure ? error : new AppFailure(String(error), []));
      },
    );
    return this.#process;
  }

  #crashed(failure: AppFailure): void {
    this.#process = undefined;
    if (this.#stopping.signal.aborted) return;
    this.#lastFailure = failure;
    // After a first crash, the next request may start it at once.
    const delay = this.#crashes === 0 ? 0 : Math.min(maxDelayMs, firstDelayMs * 2 ** (this.#crashes - 1));
    this.#crashes += 1;
    this.#retryAt = performance.now() + delay;
    const {message, output} = failure;
    const said = output.findLast((line) => errorLine.test(line)) ?? output.findLast((line) => line.trim() !== '');
    const why = said === undefined ? '' : `: ${said.trim().slice(0, maxReason)}`;
    this.#options.onWarning(asSentence(`The server of ${this.#name} ${message}${why}`));
  }

  #page(failure: AppFailure): HttpFailure {
    const seconds = Math.ceil(Math.max(0, this.#retryAt - performance.now()) / 1000);
    const next = seconds === 0 ? 'The next request starts it again.' : `It is started again in ${String(seconds)} s.`;
    const output = failure.output.length === 0 ? [] : ['', 'What it printed last:', '', ...failure.output];
    const page = [`The server of ${this.#name} ${failure.message}. ${next}`, ...output].join('\n');
    return new HttpFailure(502, page, seconds === 0 ? {} : {'retry-after': String(seconds)});
  }

  async #unpack(): Promise<UnpackedBundle | undefined> {
    const {store, limits, turns} = this.#options;
    const {bundleId} = this.deployment;
    const folder = await store.createTemporaryFolder();
    try {
      const root = path.join(folder, 'app');
      await mkdir(root, {mode: 0o700});
      await writeFile(path.join(folder, programName), appProgram, {mode: 0o600});
      // So that no package.json above the data folder decides the module type of the bundle.
      await writeFile(path.join(folder, 'package.json'), '{}\n', {mode: 0o600});
      const {root: inArchive} = await store.contents(bundleId);
      await turns.take(() =>
        unpackBundle(store.archivePath(bundleId), {root: inArchive, folder: root, limits, isWanted: () => true}),
      );
      const server = await findServer(root);
      const name = server?.entry ?? (await firstFile(root, otherEntries));
      if (name !== undefined) {
        return {folder, root, entry: path.join(root, name), environment: server?.framework.environment ?? {}};
      }
      await rm(folder, {recursive: true, force: true});
      return undefined;
    } catch (error) {
      await rm(folder, {recursive: true, force: true});
      throw error;
    }
  }
}

async function firstFile(folder: string, names: readonly string[]): Promise<string | undefined> {
  for (const name of names) {
    const isThere = await access(path.join(folder, name)).then(
      () => true,
      () => false,
    );
    if (isThere) return name;
  }
  return undefined;
}
