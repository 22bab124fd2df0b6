import {mkdir, rm, symlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {asSentence} from '../../errors/sentence.js';
import {reasonOf} from '../../errors/system-failure.js';
import {exists} from '../../files/read-file.js';
import {findServer} from '../../frameworks/detect-framework.js';
import {HttpFailure} from '../answer.js';
import type {DeploymentRecord, Store} from '../store/store.js';
import {unpackBundle} from '../upload/unpack-bundle.js';
import {AppFailure, startApp, type AppProcess, type AppProcessOptions} from './app-process.js';
import {appProgram} from './app-program.js';
import {forward, type ForwardedRequest} from './forward.js';
import {sitePath} from './site-address.js';

/** Modules that start a server or export a handler in a build of an unknown framework: the first that exists. */
const otherEntries = ['ssr.mjs', 'ssr.js', 'server.mjs', 'server.js', 'index.mjs', 'index.js'];

interface AppServersOptions {
  readonly store: Store;
  readonly environment: Readonly<Record<string, string>>;
  /** Seconds in which a server must listen, and answer a request. */
  readonly timeoutSeconds: number;
  readonly onWarning: (message: string) => void;
  readonly onOutput: (line: string) => void;
}

/** How long after its connections break the end of a process may become known, in milliseconds. */
const endMs = 1000;

/** The servers of the deployed apps, one for each target. Each is started by the first request for it. */
export class AppServers {
  readonly #options: AppServersOptions;
  readonly #apps = new Map<string, App>();
  /** Those of earlier deployments, until they have ended. */
  readonly #stopping = new Set<Promise<void>>();
  #isClosed = false;

  constructor(options: AppServersOptions) {
    this.#options = options;
  }

  /**
   * Has the server of a deployment answer, and stops that of an earlier one. Undefined if its bundle has none.
   * @throws HttpFailure 502 with what the server printed if it has crashed, 504 if it takes too long.
   */
  async answer(call: ForwardedRequest, deployment: DeploymentRecord): Promise<Response | undefined> {
    if (this.#isClosed) throw new HttpFailure(502, 'The local runtime is stopping.');
    const key = sitePath(deployment);
    const known = this.#apps.get(key);
    // A request may still be for the deployment before.
    if (known !== undefined && known.deployment.number >= deployment.number) return known.answer(call);
    if (known) this.#stop(known);
    const app = new App(deployment, this.#options);
    this.#apps.set(key, app);
    return app.answer(call);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const app of this.#apps.values()) this.#stop(app);
    await Promise.all(this.#stopping);
  }

  #stop(app: App): void {
    const stopping = app.stop().finally(() => this.#stopping.delete(stopping));
    this.#stopping.add(stopping);
  }
}

/** A bundle that was unpacked with all its files into `cwd`, a folder in `folder`. */
interface UnpackedBundle extends Pick<AppProcessOptions, 'program' | 'cwd' | 'entry' | 'environment'> {
  readonly folder: string;
}

/** The server of one deployment: its files, and its process while there is one. */
class App {
  readonly deployment: DeploymentRecord;
  readonly #options: AppServersOptions;
  readonly #name: string;
  #unpacked: Promise<UnpackedBundle | undefined> | undefined;
  #process: Promise<AppProcess> | undefined;
  readonly #stopping = new AbortController();

  constructor(deployment: DeploymentRecord, options: AppServersOptions) {
    this.deployment = deployment;
    this.#options = options;
    this.#name = `${deployment.projectSlug}/${deployment.targetSlug}`;
  }

  async answer(call: ForwardedRequest): Promise<Response | undefined> {
    this.#unpacked ??= this.#unpack();
    const bundle = await this.#unpacked;
    if (bundle === undefined) return undefined;
    try {
      const {port, ended} = await (this.#process ??= this.#start(bundle));
      return await forward(call, {port, timeoutMs: this.#options.timeoutSeconds * 1000}).catch(
        async (error: unknown) => {
          if (error instanceof HttpFailure) throw error;
          const failure = await Promise.race([ended, delay(endMs, undefined, {ref: false})]);
          throw failure ?? new HttpFailure(502, 'The server of the app closed the connection without an answer.');
        },
      );
    } catch (error) {
      if (!(error instanceof AppFailure)) throw error;
      const output = error.output.length === 0 ? [] : ['', 'What it printed last:', '', ...error.output];
      const summary = `The server of ${this.#name} ${error.message}. The next request starts it again.`;
      throw new HttpFailure(502, [summary, ...output].join('\n'));
    }
  }

  /** Stops the process and removes the files. Never rejects: what cannot be removed is a warning. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const process = await this.#process?.catch(() => undefined);
    await process?.ended;
    const bundle = await this.#unpacked?.catch(() => undefined);
    if (!bundle) return;
    await rm(bundle.folder, {recursive: true, force: true, maxRetries: 3}).catch((error: unknown) => {
      const files = `The files of the server of ${this.#name} in ${bundle.folder}`;
      this.#options.onWarning(asSentence(`${files} could not be removed: ${reasonOf(error)}`));
    });
  }

  async #start(bundle: UnpackedBundle): Promise<AppProcess> {
    const {environment, timeoutSeconds, onOutput, onWarning} = this.#options;
    const {signal} = this.#stopping;
    const onEnd = (failure: unknown): void => {
      this.#process = undefined;
      if (!signal.aborted) onWarning(asSentence(`The server of ${this.#name} ${reasonOf(failure)}`));
    };
    try {
      const process = await startApp({
        ...bundle,
        signal,
        environment: {...bundle.environment, ...environment},
        timeoutMs: timeoutSeconds * 1000,
        onLine: (line) => {
          onOutput(`${this.#name}: ${line}`);
        },
      });
      void process.ended.then(onEnd);
      return process;
    } catch (error) {
      onEnd(error);
      throw error;
    }
  }

  async #unpack(): Promise<UnpackedBundle | undefined> {
    const {store} = this.#options;
    const {bundleId} = this.deployment;
    const folder = await store.createTemporaryFolder();
    try {
      const cwd = path.join(folder, 'app');
      const program = path.join(folder, 'start.mjs');
      await mkdir(cwd, {mode: 0o700});
      await writeFile(program, appProgram, {mode: 0o600});
      // So that no package.json above the data folder decides the module type of the bundle.
      await writeFile(path.join(folder, 'package.json'), '{}\n', {mode: 0o600});
      const {root} = await store.contents(bundleId);
      await unpackBundle(store.archivePath(bundleId), {root, folder: cwd});
      const server = await findServer(cwd);
      const entry = server?.entry ?? (await otherEntry(cwd));
      if (entry !== undefined) {
        const {environment = {}, linkToBuild} = server?.framework ?? {};
        if (linkToBuild !== undefined) await symlink('.', path.join(cwd, linkToBuild)).catch(() => undefined);
        return {folder, program, cwd, entry: path.join(cwd, entry), environment};
      }
    } catch (error) {
      this.#unpacked = undefined;
      await rm(folder, {recursive: true, force: true});
      throw error;
    }
    await rm(folder, {recursive: true, force: true});
    return undefined;
  }
}

async function otherEntry(folder: string): Promise<string | undefined> {
  for (const name of otherEntries) if (await exists(path.join(folder, name))) return name;
  return undefined;
}
